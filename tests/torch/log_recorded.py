"""Two ranks with a log, to be recorded: log_recorded.py STORE ENCODING SCHEDULE LAG."""
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing

import alar


def main(rank, store, encoding, schedule, lag):
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
    log = alar.Log(["lm loss"], log_interval=5, lag=int(lag), encoding=encoding, schedule=schedule, microbatches=2)
    for step in range(12):
        for microbatch in range(2):
            log.add("lm loss", torch.tensor(2.1 * step * (rank + 1) + microbatch), 10 * (rank + 1))
            log.microbatch()
        log.step()
    log.close()
    assert len(list(log.reports())) == 3
    dist.destroy_process_group()


if __name__ == "__main__":
    multiprocessing.spawn(main, sys.argv[1:], 2)
