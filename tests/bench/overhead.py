#!/usr/bin/env python3
"""Our share: nanoseconds an operation beside raw MPI, and instructions a step of the core."""

import json
import os
import re
import subprocess
import sys

import bench


LAUNCHES = bench.ROUNDS or 31
WORKS = {"post, poll, retire": "post", "with a report each": "report"}


def launch(variant):
    """Medians of one launch: nanoseconds raw, ours, and the ratio of blocks that took turns."""
    what, build = variant
    _, _, lines = bench.measured(*bench.launcher(2), os.path.join(build, "tests/bench/overhead"),
                                 os.path.join(build, "alar-mpich.so"), what)
    pairs = [json.loads(line) for line in lines.splitlines()]
    raw = [pair["raw_ns"] for pair in pairs]
    ours = [pair["alar_ns"] for pair in pairs]
    return bench.median(raw), bench.median(ours), bench.median(bench.ratios(ours, raw))


def operations():
    """Several launches of each: where a process's memory comes to lie moves both sides by a fifth."""
    variants = {(work, name): (what, build) for work, what in WORKS.items() for name, build in bench.BUILDS.items()}
    found = bench.interleaved(variants, LAUNCHES, launch)
    rows = []
    for (work, name), launches in found.items():
        raw, ours, ratio = zip(*launches)
        low, high = bench.interval(ratio)
        rows.append({"work": work, "build": name, "raw_ns": bench.median(raw), "alar_ns": bench.median(ours),
                     "ratio": bench.median(ratio), "low": low, "high": high, "launches": len(launches)})
        print(f"  {work:<20}{name:<12}{rows[-1]['raw_ns']:>10.0f}{rows[-1]['alar_ns']:>10.0f}"
              f"{rows[-1]['ratio']:>8.3f}   {low:.3f} .. {high:.3f}")
    return rows


def counted(kind, count):
    """Instructions of the whole program, by callgrind."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
               os.path.join(bench.BUILD, "tests/bench/instructions"), kind, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def instructions():
    """The difference of two runs, so that start-up does not count; twice, to show that it repeats."""
    rows = []
    for kind, aim in (("handle", 60), ("engine", None)):
        each = [(counted(kind, 60000) - counted(kind, 12000)) / 48000 for _ in range(2)]
        rows.append({"kind": kind, "instructions": each[0], "repeats": each[0] == each[1], "aim": aim})
        print(f"  {kind:<12}{each[0]:>8.1f} instructions an event, loop included; "
              f"{'the same' if each[0] == each[1] else 'NOT the same'} in a second run"
              f"{f'; aim at most {aim}' if aim else ''}")
    return rows


def main():
    bench.heading("overhead: nanoseconds of post + poll + retire of two floats against MPI_Iallreduce + Test/Wait",
                  f"{bench.pinned(2)}; blocks of 400 of both take turns, 40 pairs a launch; {LAUNCHES} launches of each, "
                  f"{bench.MEDIANS}")
    print(f"  {'':<32}{'raw ns':>10}{'alar ns':>10}{'ratio':>8}   95 % interval (aim at most 1.05)")
    rows = operations()
    counts = instructions()
    bench.save("overhead", {"operations": rows, "instructions": counts})
    if not all(row["repeats"] for row in counts):
        sys.exit("instruction counts do not repeat")


main()
