"""The same training bare and recorded, for 50 seeds: seeds.py DIR STORE, two spawned ranks. Prints how many
losses were compared; any bit that differs is an error. Every third seed trains with DistributedDataParallel,
whose own reductions are recorded too, where torch lets them be seen."""
import os
import struct
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import alar.torch

SEEDS, STEPS = 50, 4


def train(seed, rank):
    """Losses of a small model: gradients averaged, the loss pair reduced asynchronously."""
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    is_by_hand = seed % 3 != 0
    if not is_by_hand:
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    data = torch.Generator().manual_seed(1000 * seed + rank)
    losses, pending = [], []
    for step in range(STEPS):
        count = int(torch.randint(1, 9, (1,), generator=data))
        inputs = torch.randn(count, 4, generator=data)
        loss = (model(inputs) - inputs.sum(1, keepdim=True)).pow(2).sum()
        optimizer.zero_grad()
        (loss / count).backward()
        for one in model.parameters() if is_by_hand else ():
            dist.all_reduce(one.grad)
            one.grad /= 2
        optimizer.step()
        pair = torch.stack([loss.detach(), torch.tensor(float(count))])
        pending.append((pair, dist.all_reduce(pair, async_op=True)))
        if step % 2:
            for pair, handle in pending:
                handle.wait()
                losses.append(struct.pack("f", (pair[0] / pair[1]).item()))
            pending = []
    return losses


def run(rank, directory, place):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + place, rank=rank, world_size=2)
    for seed in range(SEEDS):
        bare = train(seed, rank)
        with alar.torch.record(os.path.join(directory, "%02d" % seed), watch=seed % 2 == 1,
                               gradients=seed % 3 == 0):
            recorded = train(seed, rank)
        assert bare == recorded, seed
    if rank == 0:
        print("%d losses the same to the bit" % (SEEDS * STEPS))
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, args=sys.argv[1:3], nprocs=2)
