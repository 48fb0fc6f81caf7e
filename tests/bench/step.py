#!/usr/bin/env python3
"""Step time by schedule: what a log costs, with and without a straggler and a gradient all-reduce.

Real losses, four microbatches a step, compute slept. One table a compute time; ratios to no logging
are taken round by round, all variants of a round one after the other in a drawn order."""

import bench

STEPS = ["--input", "sums", "--steps", "0:40", "--log-interval", "10", "--compare", "none",
         "--deadline-ms", "0"]
SCHEDULES = {
    "no log": ["--no-log"],
    "sync-microbatch": ["--schedule", "sync-microbatch"],
    "sync-step": ["--schedule", "sync-step"],
    "sync-window": ["--schedule", "sync-window"],
    "async-microbatch, wait step": ["--schedule", "async-microbatch", "--wait", "step"],
    "async-microbatch, wait log": ["--schedule", "async-microbatch", "--wait", "log"],
    "async-step, wait log": ["--schedule", "async-step", "--wait", "log"],
    "async-window": ["--schedule", "async-window", "--wait", "log"],
}

PLAIN_TOO = ("sync-microbatch", "async-microbatch, wait step", "async-microbatch, wait log")


def table(ranks, step_ms, straggler, grad, rounds, has_plain=False):
    """One table; compute is a quarter of the step for each microbatch, the straggler half a step late."""
    pace = ["--compute-us", str(step_ms * 250)]
    if straggler:
        pace += ["--straggler", f"rotate:{step_ms * 500}"]
    if grad:
        pace += ["--grad-bytes", "262144"]
    title = (f"{ranks} ranks, {step_ms} ms compute a step, "
             f"{'one rank in turn half a step late' if straggler else 'no straggler'}, "
             f"{'256 KiB gradient all-reduce' if grad else 'no gradient all-reduce'}")

    def measure(variant):
        alar, schedule = variant
        stats = bench.mpi(ranks, *STEPS, *pace, *schedule, alar=alar)
        return stats["pass"]["elapsed_us"] / stats["steps"] / 1000

    variants = {name: (bench.ALAR, schedule) for name, schedule in SCHEDULES.items()}
    if has_plain:
        variants |= {f"{name}, FAULTS=0": (bench.PLAIN, SCHEDULES[name]) for name in PLAIN_TOO}
    rows = bench.step_rows(title, bench.interleaved(variants, rounds, measure))
    return {"title": title, "ranks": ranks, "step_ms": step_ms, "straggler": straggler,
            "grad": grad, "rows": rows}


def main():
    bench.heading("step: time of a step by reduction schedule (2 ranks pinned one a core; 4 ranks on "
                  "2 cores are oversubscribed)")
    tables = []
    for step_ms in (1, 5, 20):
        for straggler in (False, True):
            tables.append(table(2, step_ms, straggler, False, 5, has_plain=step_ms == 5))
    for straggler in (False, True):
        tables.append(table(2, 5, straggler, True, 5))
    tables.append(table(4, 5, True, False, 3))
    bench.save("step", {"tables": tables})
    print(bench.output("tests/bench/report.sh"))


main()
