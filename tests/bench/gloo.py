#!/usr/bin/env python3
"""The same step table for torch with gloo, where both are installed: real losses, four microbatches a
step, compute slept, one all-reduce of (loss sum, tokens) a microbatch, a log line every ten steps.

All schedules are measured in one run of two processes, a core each, in rounds of drawn order. The
processes are this file again, as `gloo.py RANK FILE SECONDS LATE`; rank 0 prints the times."""

import json
import os
import random
import subprocess
import sys
import tempfile
import time

import bench

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's torch
SCHEDULES = ("no log", "sync-microbatch", "async-microbatch, wait step", "async-microbatch, wait log")
RANKS, STEPS, MICROBATCHES, LOG_INTERVAL = 2, 40, 4, 10


def run(schedule, rank, losses, seconds, late):
    """Seconds of one pass over all steps."""
    import torch
    import torch.distributed as dist

    dist.barrier()
    start = time.monotonic()
    pending = []
    for step in range(STEPS):
        time.sleep(late if step % RANKS == rank else 0)
        for microbatch in range(MICROBATCHES):
            time.sleep(seconds / MICROBATCHES)
            if schedule == "no log":
                continue
            pair = torch.tensor(losses[step][microbatch])
            handle = dist.all_reduce(pair, async_op=not schedule.startswith("sync"))
            pending.append((pair, handle))
        is_log = (step + 1) % LOG_INTERVAL == 0
        if is_log or schedule.endswith("wait step"):
            for _, handle in pending:
                if handle is not None:
                    handle.wait()
        if is_log:
            mean = sum(pair[0].item() / pair[1].item() for pair, _ in pending if pair[1] > 0)
            assert schedule == "no log" or mean > 0
            pending = []
    return time.monotonic() - start


def process(rank, file, seconds, late):
    import numpy
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank]})
    losses = numpy.load("tests/data/gpt-losses/train/local_sum_tokens.npy")[rank].tolist()
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=RANKS)
    measure = {name: name for name in SCHEDULES}
    found = bench.interleaved(measure, 5, lambda name: run(name, rank, losses, seconds, late))
    if rank == 0:
        print(json.dumps(found))
    dist.destroy_process_group()


def table(step_ms, is_late):
    with tempfile.TemporaryDirectory() as folder:
        words = [os.path.join(folder, "meet"), str(step_ms / 1000), str(step_ms / 2000 if is_late else 0)]
        command = ["timeout", "-k", "2", "120", PYTHON, __file__]
        ranks = [subprocess.Popen([*command, str(rank), *words], stdout=subprocess.PIPE, text=True,
                                  stderr=None if rank == 0 else subprocess.DEVNULL) for rank in range(RANKS)]
        texts = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode != 0 for rank in ranks):
        sys.exit(f"gloo: exit codes {[rank.returncode for rank in ranks]}")
    found = json.loads(texts[0])
    title = (f"{RANKS} processes, {step_ms} ms compute a step, "
             f"{'one in turn half a step late' if is_late else 'no straggler'}")
    return {"title": title, "step_ms": step_ms, "straggler": is_late,
            "rows": bench.step_rows(title, {name: [1000 * value / STEPS for value in values]
                                            for name, values in found.items()})}


def main():
    version = bench.output(PYTHON, "-c", "import numpy, torch; print(torch.__version__)")
    if version == "-":
        print("\ngloo: python3-torch and python3-numpy are not installed: no table of torch with gloo")
        return
    bench.heading(f"gloo: time of a step by schedule, torch {version} with gloo, 2 processes pinned one a core")
    tables = [table(step_ms, is_late) for step_ms in (5, 20) for is_late in (False, True)]
    bench.save("gloo", {"torch": version, "tables": tables})


if len(sys.argv) > 1:
    process(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))
else:
    main()
