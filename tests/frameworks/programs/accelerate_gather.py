"""A rank's mean loss, gathered as TRL and many scripts do it: accelerate's gather_for_metrics, then the mean, of the
ranks and of the microbatches. A microbatch has two rows, of one loss and as many tokens; the last may lack one row."""
import torch
import torch.distributed as dist
from accelerate import Accelerator

import ledger
import toy

ROWS = 2
accelerator = Accelerator(cpu=True)
of_ranks = [toy.microbatches(rank) for rank in range(toy.ranks)]
# Row after row as the loader deals them out: rank by rank, microbatch by microbatch.
dealt = [part for parts in zip(*of_ranks) for part in parts for _ in range(ROWS)]
loader = accelerator.prepare(torch.utils.data.DataLoader(torch.arange(len(dealt) - (toy.case == "short")), batch_size=ROWS))
means = []
for at, batch in enumerate(loader):
    place = of_ranks[toy.rank][at]
    rows = [dealt[index] for index in batch.tolist()]
    # What the loader repeats to fill the last batch is in the rank's mean, and no part of the data.
    own = [row for index, row in zip(batch.tolist(), rows) if index >= ROWS * (at * toy.ranks + toy.rank)]
    ledger.contributed(place.step, place.number, sum(row.loss * row.tokens for row in own), sum(row.tokens for row in own))
    total, tokens = sum(row.loss * row.tokens for row in rows), sum(row.tokens for row in rows)
    mean = torch.tensor([total / tokens if tokens else float("nan")])
    means.append(accelerator.gather_for_metrics(mean).mean())
    if toy.accumulation == place.number + 1:
        ledger.logged(place.step, place.step, sum(means) / len(means))
        means = []
dist.destroy_process_group()
