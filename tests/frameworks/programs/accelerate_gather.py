"""A scalar a rank, gathered as TRL and many scripts do it: accelerate's gather_for_metrics,
then the mean, of the ranks and of the microbatches."""
import torch
import torch.distributed as dist
from accelerate import Accelerator

import ledger
import toy

accelerator = Accelerator(cpu=True)
everything, means = toy.microbatches(), []
# The loader knows how many rows its last batch repeats; with one row left over, the other ranks' are repeats.
rows = toy.steps * toy.accumulation * toy.ranks - (toy.ranks - 1 if toy.case == "short" else 0)
loader = accelerator.prepare(torch.utils.data.DataLoader(torch.arange(rows), batch_size=1))
for at, _ in enumerate(loader):
    part = everything[at]
    ledger.contributed(part.step, part.number, part.loss * part.tokens, part.tokens)
    means.append(accelerator.gather_for_metrics(torch.tensor([toy.mean_of(part)])).mean())
    if toy.accumulation == part.number + 1:
        ledger.logged(part.step, part.step, sum(means) / len(means))
        means = []
dist.destroy_process_group()
