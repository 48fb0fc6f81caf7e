"""One rank of torch_log.py, no benchmark of its own: torch_log_rank.py RANK RANKS STORE.

Reads one JSON line a run and answers with the milliseconds of a step, and for alar.Log the microseconds of
add and of a step that writes no line. Losses are made up; compute is slept."""

import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist

import alar

RANK, RANKS, STORE = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
MICROBATCHES = 4


class Bare:
    """No log; the others are it, and reduce where the framework they stand for does."""
    add_us, step_us = [0.0], [0.0]

    def __init__(self, interval):
        self.interval, self.pair, self.number, self.logged = interval, torch.zeros(2, dtype=torch.float64), 0, 0.0

    def add(self, value, count):
        self.pair[0] += value
        self.pair[1] += count

    def step(self):
        self.number += 1

    def is_line(self):
        return self.number % self.interval == 0

    def close(self):
        pass


class EachMicrobatch(Bare):
    def add(self, value, count):
        pair = torch.stack([value.double(), torch.tensor(count, dtype=torch.float64)])
        dist.all_reduce(pair)
        self.logged += (pair[0] / pair[1]).item()


class EachStep(Bare):  # Megatron-LM, one key
    def step(self):
        super().step()
        dist.all_reduce(self.pair)
        self.logged += (self.pair[0] / self.pair[1]).item()
        self.pair.zero_()


class SyncWindow(Bare):
    def step(self):
        super().step()
        if self.is_line():
            dist.all_reduce(self.pair)
            self.logged += (self.pair[0] / self.pair[1]).item()
            self.pair.zero_()


class Trainer(Bare):  # transformers: tokens of each step, the loss of each line
    def gather(self, value):
        got = [torch.zeros(1, dtype=torch.float64) for _ in range(RANKS)]
        dist.all_gather(got, value.reshape(1))
        return torch.stack(got)

    def step(self):
        super().step()
        self.gather(self.pair[1]).sum()
        if self.is_line():
            self.logged += self.gather(self.pair[0]).mean().item()
        self.pair.zero_()


class Titan(Bare):  # torchtitan: tokens of each step; loss, worst loss and tokens seen of each line
    def step(self):
        super().step()
        dist.all_reduce(self.pair[1])
        for value in [self.pair[0].clone() for _ in range(3)] if self.is_line() else ():
            dist.all_reduce(value)
            self.logged += value.item()
        self.pair.zero_()


class Lightning(Bare):  # self.log(sync_dist=True)
    def step(self):
        super().step()
        dist.barrier()
        dist.all_reduce(self.pair)
        if self.is_line():
            self.logged += self.pair[0].item()
        self.pair.zero_()


class AlarLog(Bare):
    def __init__(self, interval, lag=0):
        super().__init__(interval)
        self.log, self.add_us, self.step_us = alar.Log(["lm loss"], log_interval=interval, lag=lag), [], []

    def add(self, value, count):
        since = time.perf_counter()
        self.log.add("lm loss", value, count)
        self.add_us.append((time.perf_counter() - since) * 1e6)

    def step(self):
        super().step()
        since = time.perf_counter()
        self.log.step()
        took = (time.perf_counter() - since) * 1e6
        lines = [one.value for one in self.log.reports()]
        if not lines:
            self.step_us.append(took)

    def close(self):
        self.log.close()


class Lagging(AlarLog):
    def __init__(self, interval):
        super().__init__(interval, lag=1)


KINDS = {kind.__name__: kind for kind in (Bare, EachMicrobatch, EachStep, SyncWindow, Trainer, Lightning, Titan, AlarLog, Lagging)}


def train(run):
    log = KINDS[run["kind"]](run["interval"])
    gradient = torch.ones(run["grad_bytes"] // 4)
    loss = torch.tensor(5.3)
    dist.barrier()
    since = time.perf_counter()
    for step in range(run["steps"]):
        is_late = run["late_us"] and step % RANKS == RANK
        for microbatch in range(MICROBATCHES):
            time.sleep((run["compute_us"] + (run["late_us"] if is_late and not microbatch else 0)) / 1e6)
            log.add(loss, 500)
        if len(gradient):
            dist.all_reduce(gradient)
        log.step()
    took = (time.perf_counter() - since) * 1000 / run["steps"]
    log.close()
    return {"ms": took, "add_us": statistics.median(log.add_us), "step_us": statistics.median(log.step_us)}


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{STORE}", rank=RANK, world_size=RANKS)
    for line in sys.stdin:
        print(json.dumps(train(json.loads(line))), flush=True)
    os._exit(0)  # gloo's threads may hang in the ordinary way out


if __name__ == "__main__":
    main()
