"""A program that is started anew as torchrun does: elastic.py STORE, with torchrun's environment. The first attempt
ends badly after step 3 on rank 1, the second one goes on from step 2, as from a checkpoint."""
import os
import sys

import torch
import torch.distributed as dist

import alar.torch

attempt = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
dist.init_process_group("gloo", init_method="file://%s.%d" % (sys.argv[1], attempt), rank=int(os.environ["RANK"]),
                        world_size=int(os.environ["WORLD_SIZE"]))
rank = dist.get_rank()
for step in range(2 * attempt, 6):
    pair = torch.tensor([1.5 * step + rank, 2.0])
    with alar.torch.label(key="lm loss", step=step, pairs=1):
        handle = dist.all_reduce(pair, async_op=True)
    handle.wait()
    alar.torch.report("lm loss", (pair[0] / pair[1]).item(), step, ops=handle, normalization="token-weighted")
    if attempt == 0 and step == 3 and rank == 1:
        sys.exit(5)
dist.barrier()
dist.destroy_process_group()
