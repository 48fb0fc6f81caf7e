# torchmetrics MeanMetric: a NaN on rank 1 is left out of the mean, and rank 1 does not even warn.
#   torchrun --nproc-per-node 2 torchmetrics_nan.py
# Expected NaN, or a warning where it happened; found 1.0 and no warning on rank 1.
import os
import warnings

import torch
import torch.distributed as dist
from torchmetrics import MeanMetric

dist.init_process_group("gloo")
rank, metric = int(os.environ["RANK"]), MeanMetric()
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    metric.update(torch.tensor(float("nan") if rank == 1 else 1.0))
    value = metric.compute()
print("rank %d: mean %s, warnings of NaN: %d" % (rank, float(value), sum("nan" in str(w.message) for w in seen)))
dist.destroy_process_group()
