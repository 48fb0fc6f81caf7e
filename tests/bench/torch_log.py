#!/usr/bin/env python3
"""What alar.Log buys in PyTorch: step time over no log, beside what the frameworks do, and what its calls cost.

Ranks of torch/gloo on one host, four microbatches a step, a line every ten steps, compute slept; with a straggler each rank in
turn is late by half a step; "gradients" is a blocking all-reduce of 1 MB a step. Ratios round by round."""

import json
import os
import subprocess
import sys
import tempfile

import bench

STEPS, ROUNDS = 30, bench.ROUNDS or (21 if bench.FULL else 9)
PYTHON = os.environ.get("TORCH_PYTHON", "/usr/bin/python3")
COLUMNS = {  # ranks, milliseconds of a step, late, bytes of gradients
    "2 ranks, 5 ms": (2, 5, False, 0), "2, 5 ms, one late": (2, 5, True, 0), "2, 20 ms": (2, 20, False, 0),
    "2, 20 ms, one late": (2, 20, True, 0), "2, 5 ms, one late, gradients": (2, 5, True, 1 << 20),
    "4 on 2 cores, 5 ms, one late": (4, 5, True, 0), "4 on 2 cores, 20 ms, one late": (4, 20, True, 0)}
VARIANTS = {
    "no log": "Bare", "blocking, each microbatch": "EachMicrobatch", "blocking, each step (Megatron-LM)": "EachStep",
    "as transformers' Trainer": "Trainer", "as Lightning, sync_dist": "Lightning", "as torchtitan": "Titan", "sync-window": "SyncWindow",
    "alar.Log": "AlarLog", "alar.Log, lag=1": "Lagging"}


class World:
    """Ranks that stay up between runs, since they take seconds to start."""

    def __init__(self, ranks, folder):
        environment = dict(os.environ, OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo", PYTHONPATH="ref/python",
                           ALAR_LIBRARY=os.path.abspath(os.path.join(bench.BUILD, "libalar.so")))
        self.ranks = [subprocess.Popen(
            ["timeout", "-k", "2", "900", PYTHON, "tests/bench/torch_log_rank.py", str(rank), str(ranks), os.path.join(folder, f"store{ranks}")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) for rank in range(ranks)]

    def run(self, **how):
        for rank in self.ranks:
            rank.stdin.write(json.dumps(how) + "\n")
            rank.stdin.flush()
        answers = [json.loads(rank.stdout.readline()) for rank in self.ranks]
        return {name: bench.median([one[name] for one in answers]) for name in answers[0]}

    def close(self):
        for rank in self.ranks:
            rank.stdin.close()
            rank.wait()


def main():
    version = bench.output(PYTHON, "-c", "import torch; print(torch.__version__)")
    if version == "-":
        sys.exit("torch_log: expected python3-torch, found none")
    bench.heading("Step time as a multiple of no log", f"torch {version} on gloo, {ROUNDS} rounds of {STEPS} steps; {bench.MEDIANS}")
    cells, calls = {name: [] for name in VARIANTS}, {"add_us": [], "step_us": []}
    with tempfile.TemporaryDirectory() as folder:
        worlds = {ranks: World(ranks, folder) for ranks in {column[0] for column in COLUMNS.values()}}
        for ranks, milliseconds, is_late, grad_bytes in COLUMNS.values():
            found = bench.interleaved(VARIANTS, ROUNDS, lambda kind: worlds[ranks].run(  # noqa: B023
                kind=kind, steps=STEPS, interval=10, compute_us=milliseconds * 250, grad_bytes=grad_bytes,
                late_us=milliseconds * 500 if is_late else 0))
            base = [one["ms"] for one in found["no log"]]
            for name, values in found.items():
                ratios = bench.ratios([one["ms"] for one in values], base)
                low, high = bench.interval(ratios)
                cells[name].append((bench.median(ratios), low, high))
            if ranks == 2:
                for call in calls:
                    calls[call] += [one[call] for one in found["alar.Log"]]
        for world in worlds.values():
            world.close()
    print("\n| | " + " | ".join(COLUMNS) + " |\n|---|" + "---|" * len(COLUMNS))
    for name, row in cells.items():
        print(f"| {name} | " + " | ".join("%.3f (%.3f to %.3f)" % cell for cell in row) + " |")
    for call, what in (("add_us", "add, of a tensor"), ("step_us", "step without a log line")):
        low, high = bench.interval(calls[call])
        print(f"  alar.Log: {what}: {bench.median(calls[call]):.1f} us ({low:.1f} to {high:.1f})")
    bench.save("torch_log", {"columns": COLUMNS, "cells": cells, "calls": calls})


if __name__ == "__main__":
    main()
