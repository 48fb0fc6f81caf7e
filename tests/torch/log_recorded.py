"""Two ranks with one log after the other, to be recorded: log_recorded.py STORE. Metrics of all kinds, in all encodings; a
step without data on a rank, one without any, and a NaN that is counted."""
import math
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing

import alar

LOGS = (  # encoding, schedule, lag, normalization, over, uneven
    ("pair64", "async-step", 1, "token-weighted", "steps", False),
    ("pair64", "async-microbatch", 0, "microbatch-mean", "steps", False),
    ("pair32", "sync-window", 0, "rank-mean", "steps", False),
    ("pair32", "async-step", 2, "token-weighted", "pooled", True),
    ("exact", "async-step", 1, "token-weighted", "steps", True),
    ("exact", "async-window", 0, "rank-mean", "steps", False),
    ("exact", "sync-microbatch", 0, "token-weighted", "pooled", False),
    ("exact", "async-microbatch", 5, "microbatch-mean", "steps", False))
STEPS, INTERVAL, NAN, EMPTY, ALONE = 12, 5, 7, 10, 3
LINES = 3  # with the last, shorter one
METRICS = ("loss", None), ("norm", "max"), ("low", "min"), ("seen", "sum")


def log_one(rank, number, encoding, schedule, lag, normalization, over, uneven):
    names = ["%s of log %d" % (name, number) for name, _ in METRICS]
    log = alar.Log([(name, kind or "mean") for name, (_, kind) in zip(names, METRICS)], log_interval=INTERVAL, lag=lag, encoding=encoding,
                   schedule=schedule, normalization=normalization, over=over, uneven=uneven, microbatches=2, check_for_nan="count")
    for step in range(STEPS - uneven * rank):
        for microbatch in range(2):
            if step != EMPTY and (step != ALONE or rank == 0):
                value = 2.1 * step * (rank + 1) + microbatch
                log.add(names[0], torch.tensor(math.nan if (step, rank) == (NAN, 1) else value), 10 * (rank + 1))
                log.add(names[1], value)
                log.add(names[2], torch.tensor(-value))
                log.add(names[3], 0.1 * step)
            log.microbatch()
        log.step()
    log.close()
    assert len(list(log.reports())) == LINES * len(METRICS)


def main(rank, store):
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
    for number, one in enumerate(LOGS):
        log_one(rank, number, *one)
    dist.destroy_process_group()


if __name__ == "__main__":
    multiprocessing.spawn(main, sys.argv[1:], 2)
