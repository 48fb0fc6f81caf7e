"""torchmetrics' MeanMetric, updated with each microbatch's loss and tokens, computed at the log line."""
import torch
import torch.distributed as dist
from torchmetrics import MeanMetric

import ledger
import toy

dist.init_process_group("gloo")
metric, first = MeanMetric(), 1
for part in toy.microbatches():
    ledger.contributed(part.step, part.number, part.loss * part.tokens, part.tokens)
    metric.update(torch.tensor(part.loss), weight=part.tokens)
    if part.number + 1 == toy.accumulation and part.step % toy.interval == 0:
        ledger.logged(first, part.step, metric.compute())
        metric.reset()
        first = part.step + 1
dist.destroy_process_group()
