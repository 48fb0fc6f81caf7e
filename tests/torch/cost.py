"""What recording costs: cost.py DIR STORE, one rank. Median over rounds of the calling thread's processor time an
operation, bare and recorded by turns in one process; what else the machine does counts for none of them."""
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist

import alar.torch

ROUNDS, COUNT = 15, 300


def operations(tensor):
    """Issue and wait, the result read once: seconds an operation."""
    start = time.thread_time()
    for _ in range(COUNT):
        dist.all_reduce(tensor, async_op=True).wait()
        tensor[0].item()
    return (time.thread_time() - start) / COUNT


def blocking(tensor):
    start = time.thread_time()
    for _ in range(COUNT):
        dist.all_reduce(tensor)
    return (time.thread_time() - start) / COUNT


def others(tensor):
    """Small operators that have nothing to do with a pending tensor."""
    start = time.thread_time()
    for _ in range(COUNT):
        tensor + 1
    return (time.thread_time() - start) / COUNT


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=0, world_size=1)
    tensor, free = torch.ones(2), torch.ones(8)
    modes = {"bare": None, "recorded": {}, "without values": {"values": False}, "watched": {"watch": True}}
    times = {(mode, work.__name__): [] for mode in modes for work in (operations, blocking, others)}
    for number in range(ROUNDS):
        for mode, settings in modes.items():
            recorder = settings is not None and alar.torch.record(
                os.path.join(sys.argv[1], "%s-%d" % (mode.replace(" ", "-"), number)), **settings)
            if recorder:
                recorder.start()
            for work, over in ((operations, tensor), (blocking, tensor), (others, free)):
                work(over)
                times[mode, work.__name__].append(work(over) * 1e6)
            if recorder:
                recorder.stop()
    print("torch %s, median of %d rounds of %d; microseconds, and above bare" % (
        torch.__version__, ROUNDS, COUNT))
    for work in ("operations", "blocking", "others"):
        base = statistics.median(times["bare", work])
        for mode in modes:
            median = statistics.median(times[mode, work])
            low, *_, high = statistics.quantiles(times[mode, work], n=20)
            print("%-11s %-15s %7.1f  [%.1f, %.1f]  %+.1f" % (work, mode, median, low, high, median - base))


main()
