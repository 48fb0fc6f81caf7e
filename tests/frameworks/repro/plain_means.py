# The loop most people write: a mean of the ranks' means, or rank 0's own, is not the loss of a token.
#   torchrun --nproc-per-node 2 plain_means.py
# 3 tokens of loss 1 on rank 0 and 29 of loss 3 on rank 1: 2.8125 a token. Found 2 and 1.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
losses = torch.full((3 if rank == 0 else 29,), 1.0 if rank == 0 else 3.0)
mean = losses.mean()
own = mean.item()
dist.all_reduce(mean)
pair = torch.tensor([losses.sum(), len(losses)])
dist.all_reduce(pair)
if rank == 0:
    print("mean of means %g, rank 0's own %g, sum over tokens %g" % (mean / 2, own, pair[0] / pair[1]))
dist.destroy_process_group()
