# accelerate gather_for_metrics: a mean a rank holds the row that the loader repeats; the cut by samples can't take it out.
#   torchrun --nproc-per-node 2 accelerate_remainder.py
# 3 rows, 2 a batch, 2 ranks; their mean is 3.0. Found 2.5: rank 1 has 6 and, once more, 1.
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
loader = accelerator.prepare(torch.utils.data.DataLoader(torch.tensor([1.0, 2.0, 6.0]), batch_size=2))
for batch in loader:
    means = accelerator.gather_for_metrics(batch.mean().reshape(1))
    rows = accelerator.gather_for_metrics(batch)
    if accelerator.is_main_process:
        print("mean of the ranks' means %g, of the rows %g" % (means.mean(), rows.mean()))
torch.distributed.destroy_process_group()
