"""One rank of torch/gloo for step.py, no benchmark of its own: torch_rank.py RANK RANKS STORE.

Reads one JSON line a run, with the options of `alar run` that it imitates, and answers with the
milliseconds of a step. Losses are the recorded ones; compute is slept."""

import json
import os
import sys
import time

import torch
import torch.distributed as dist

RANK, RANKS, STORE = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
SHAPE = (4, 200, 4, 2)  # ranks, steps, microbatches, loss sum and tokens


def losses():
    path = "tests/data/gpt-losses/train/local_sum_tokens.npy"
    values = SHAPE[0] * SHAPE[1] * SHAPE[2] * SHAPE[3]
    with open(path, "rb") as file:
        data = file.read()
    return torch.frombuffer(bytearray(data[-4 * values:]), dtype=torch.float32).reshape(SHAPE)[RANK]


def train(sums, run):
    """The loop; what a log line would print is summed up, so that it is read."""
    schedule, pending, window, logged = run["schedule"], [], torch.zeros(2), 0.0
    gradient = torch.ones(run["grad_bytes"] // 4)

    def settle():
        total = torch.zeros(2)
        for pair, work in pending:
            work.wait()
            total += pair
        pending.clear()
        return total

    for step in range(run["steps"]):
        is_late = run["late_us"] and step % RANKS == RANK
        for microbatch in range(SHAPE[2]):
            time.sleep((run["compute_us"] + (run["late_us"] if is_late and not microbatch else 0)) / 1e6)
            pair = sums[step, microbatch].clone()
            if schedule == "sync-microbatch":
                dist.all_reduce(pair)
                window += pair
            elif schedule.startswith("async-microbatch"):
                pending.append((pair, dist.all_reduce(pair, async_op=True)))
            else:
                window += pair
        if schedule == "async-microbatch, wait step":
            window += settle()
        if len(gradient):
            dist.all_reduce(gradient)
        if (step + 1) % run["log_interval"] == 0:
            if schedule == "sync-window":
                dist.all_reduce(window)
            window += settle()
            logged += (window[0] / window[1]).item()
            window.zero_()
    return logged


def main():
    os.sched_setaffinity(0, {RANK % os.cpu_count()})
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + STORE, rank=RANK, world_size=RANKS)
    sums = losses()
    for line in sys.stdin:
        run = json.loads(line)
        dist.barrier()
        start = time.monotonic()
        train(sums, run)
        print((time.monotonic() - start) * 1000 / run["steps"], flush=True)
    dist.barrier()
    os._exit(0)  # gloo's threads may hang in the ordinary way out


main()
