#!/usr/bin/env python3
"""Step time by schedule: what a log costs, with and without a straggler and a gradient all-reduce.

Real losses, four microbatches a step, compute slept. One table a compute time; ratios to no logging
are taken round by round, all variants of a round one after the other in a drawn order. Torch's ratios
are to its own loop without a log. BENCH_FULL=1: twice the steps and rounds, all schedules of both builds."""

import json
import os
import subprocess
import tempfile

import bench

STEPS, INTERVAL = (40 if bench.FULL else 20), 10
RUN = ["--input", "sums", "--steps", f"0:{STEPS}", "--log-interval", str(INTERVAL), "--compare", "none",
       "--deadline-ms", "0"]
SCHEDULES = {
    "no log": ["--no-log"],
    "sync-microbatch": ["--schedule", "sync-microbatch"],
    "sync-step": ["--schedule", "sync-step"],
    "sync-window": ["--schedule", "sync-window"],
    "async-microbatch, wait step": ["--schedule", "async-microbatch", "--wait", "step"],
    "async-microbatch, wait log": ["--schedule", "async-microbatch", "--wait", "log"],
    "async-step, wait step": ["--schedule", "async-step", "--wait", "step"],
    "async-step, wait log": ["--schedule", "async-step", "--wait", "log"],
    "async-window": ["--schedule", "async-window", "--wait", "log"],
}
README = {  # the columns of its table: ranks, step_ms, straggler
    "5 ms, no straggler": (2, 5, False), "5 ms, one rank in turn 2.5 ms late": (2, 5, True),
    "20 ms, one rank in turn 10 ms late": (2, 20, True), "4 ranks on 2 cores, 5 ms, one late": (4, 5, True)}
MAIN = ["no log", "sync-microbatch", "async-microbatch, wait step", "async-microbatch, wait log"]
TORCH = [*MAIN, "sync-window"]


class Torch:
    """Ranks of torch/gloo that stay up between runs, since they take seconds to start; or none."""

    python = "/usr/bin/python3"

    def __init__(self, ranks, folder):
        self.ranks = []
        if bench.output(self.python, "-c", "import torch.distributed as d; print(d.is_gloo_available())") == "True":
            self.ranks = [subprocess.Popen(
                ["timeout", "-k", "2", "900", self.python, "tests/bench/torch_rank.py", str(rank), str(ranks),
                 os.path.join(folder, "store")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                stderr=subprocess.DEVNULL) for rank in range(ranks)]
        else:
            print("  torch/gloo: not measured, python3-torch is not installed")

    def step_ms(self, run):
        for rank in self.ranks:
            rank.stdin.write(json.dumps(run) + "\n")
            rank.stdin.flush()
        answers = [float(rank.stdout.readline()) for rank in self.ranks]
        return sum(answers) / len(answers)

    def close(self):
        for rank in self.ranks:
            rank.stdin.close()
        for rank in self.ranks:
            rank.wait()


def variants(ranks, grad, torch):
    """(who, schedule) in the order of the table."""
    pairs = [("alar", name) for name in SCHEDULES]
    if ranks == 2 and (not grad or bench.FULL):
        pairs += [("alar FAULTS=0", name) for name in (SCHEDULES if bench.FULL else MAIN)]
    if ranks == 2 and torch.ranks:
        pairs += [("torch/gloo", name) for name in TORCH]
    return {pair: pair for pair in pairs}


def table(ranks, step_ms, straggler, grad, rounds, torch):
    """One table; compute is a quarter of the step for each microbatch, the straggler half a step late."""
    run = {"steps": STEPS, "log_interval": INTERVAL, "compute_us": step_ms * 250,
           "late_us": step_ms * 500 * straggler, "grad_bytes": 262144 * grad}
    pace = ["--compute-us", str(run["compute_us"]), "--grad-bytes", str(run["grad_bytes"])]
    if straggler:
        pace += ["--straggler", f"rotate:{run['late_us']}"]
    title = (f"{bench.pinned(ranks)}, {step_ms} ms compute a step, "
             f"{'one rank in turn half a step late' if straggler else 'no straggler'}, "
             f"{'256 KiB gradient all-reduce' if grad else 'no gradient all-reduce'}")

    def measure(variant):
        who, name = variant
        if who == "torch/gloo":
            return torch.step_ms({**run, "schedule": name})
        build = bench.BUILDS["FAULTS=0" if who == "alar FAULTS=0" else "as shipped"]
        stats = bench.run(bench.launcher(ranks), *RUN, *pace, *SCHEDULES[name], build=build)
        return stats["pass"]["elapsed_us"] / stats["steps"] / 1000

    rounds = bench.ROUNDS or rounds * (1 + bench.FULL)
    found = bench.interleaved(variants(ranks, grad, torch), rounds, measure)
    print(f"\n  {title}; {rounds} rounds\n  {'':<44}{'ms a step':>10}{'ratio':>8}   95 % interval")
    rows = []
    for (who, name), values in found.items():
        ratio = bench.ratios(values, found[who, "no log"])
        low, high = bench.interval(ratio)
        rows.append({"who": who, "schedule": name, "ms": bench.median(values),
                     "ratio": bench.median(ratio), "low": low, "high": high, "values": values})
        print(f"  {who:<14}{name:<30}{rows[-1]['ms']:>10.3f}{rows[-1]['ratio']:>8.3f}   {low:.3f} .. {high:.3f}",
              flush=True)
    return {"title": title, "ranks": ranks, "step_ms": step_ms, "straggler": straggler,
            "grad": grad, "rows": rows}


def markdown(tables):
    """The README's table."""
    columns = []
    for ranks, step_ms, straggler in README.values():
        rows = next(table["rows"] for table in tables if not table["grad"] and
                    (table["ranks"], table["step_ms"], table["straggler"]) == (ranks, step_ms, straggler))
        columns.append({(row["who"], row["schedule"]): "%.3f (%.3f to %.3f)" % (row["ratio"], row["low"], row["high"])
                        for row in rows if row["schedule"] != "no log"})
    print("\n| who, schedule | " + " | ".join(README) + " |\n|---" + "|---" * len(README) + "|")
    for who, name in columns[0]:
        print(f"| {who}: {name} | " + " | ".join(column.get((who, name), "") for column in columns) + " |")


def main():
    bench.heading("step: time of a step by reduction schedule, and its ratio to no log",
                  f"{STEPS} steps a run, a log line every {INTERVAL}; " + bench.MEDIANS)
    tables = []
    with tempfile.TemporaryDirectory() as folder:
        torch = Torch(2, folder)
        for step_ms in (1, 5, 20):
            for grad in (False, True):
                for straggler in (False, True):
                    rounds = 5 if not grad and (2, step_ms, straggler) in README.values() else 3
                    tables.append(table(2, step_ms, straggler, grad, rounds, torch))
        torch.close()
        for straggler in (False, True):
            tables.append(table(4, 5, straggler, False, 3, torch))
    markdown(tables)
    bench.save("step", {"tables": tables})
    print(bench.output("tests/bench/report.sh"))


main()
