"""Processes, threads and groups that come and go: life.py WHAT STORE [RANK]. WHAT:

plain    a few all-reduces; the rank from RANK, WORLD_SIZE and so on (torchrun), or from the command line
again    the process group is destroyed and made anew, with a subgroup of other ranks each time
threads  two threads, each with a group of its own
ring     many all-reduces, for --last
slow     writes a line after ten all-reduces, and waits to be killed
fork     a child that is forked and makes a group of its own
raises, exits, nothing, groupless
"""
import os
import sys
import threading
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

WHAT, PLACE = sys.argv[1], sys.argv[2]


def start(rank, world, number=0):
    dist.init_process_group("gloo", init_method="file://%s.%d" % (PLACE, number), rank=rank,
                            world_size=world)


def reduce(count, rank, group=None):
    for k in range(count):
        tensor = torch.tensor([rank + 1.0, float(k)])
        if k % 2:
            dist.all_reduce(tensor, group=group)
        else:
            dist.all_reduce(tensor, group=group, async_op=True).wait()
    return tensor.tolist()


def again(rank):
    for number in range(3):
        start(rank, 2, number)
        first, second = dist.new_group([0, 1]), dist.new_group([1 if number % 2 else 0])
        reduce(4, rank)
        reduce(2, rank, first)
        if rank == (1 if number % 2 else 0):
            reduce(2, rank, second)
        dist.barrier()
        dist.destroy_process_group()


def threads(rank):
    start(rank, 2)
    groups = [dist.new_group([0, 1]) for _ in range(2)]
    workers = [threading.Thread(target=reduce, args=(200, rank, group)) for group in groups]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    dist.barrier()


def child(rank):
    start(rank, 2, 1)
    reduce(4, rank)
    sys.exit(0)


def spawned(rank):
    torch.set_num_threads(1)
    if WHAT == "again":
        return again(rank)
    if WHAT == "threads":
        return threads(rank)
    start(rank, 2)
    reduce({"ring": 95, "plain": 6}.get(WHAT, 10), rank)
    if WHAT == "raises" and rank == 0:
        dist.barrier()
        raise ValueError("a mistake of the program's")
    if WHAT == "slow":
        print("reduced", flush=True)
        time.sleep(300)
    dist.barrier()


if __name__ == "__main__":
    torch.set_num_threads(1)
    if WHAT == "nothing":
        sys.exit(0)
    if WHAT == "exits":
        sys.exit(7)
    if WHAT == "groupless":
        dist.all_reduce(torch.ones(1))
    if WHAT == "torchrun":
        dist.init_process_group("gloo")
        print(reduce(6, dist.get_rank()))
        dist.barrier()
    elif WHAT == "alone" or WHAT == "slow":
        if WHAT == "slow":
            dist.init_process_group("gloo", init_method="file://" + PLACE, rank=0, world_size=1)
            reduce(10, 0)
            print("reduced", flush=True)
            time.sleep(300)
        dist.init_process_group("gloo", init_method="file://" + PLACE, rank=0, world_size=1)
        print(reduce(3000, 0))
        dist.destroy_process_group()  # gloo sometimes aborts at the end of a process that does not
    elif WHAT == "fork":
        if os.fork() == 0:
            child(1)
        start(0, 2, 1)
        reduce(4, 0)
        os.wait()
    else:
        mp.spawn(spawned, nprocs=2)
