#!/usr/bin/env python3
"""Our share: nanoseconds an operation beside raw MPI, and instructions a step of the core."""

import json
import os
import re
import subprocess
import sys

import bench


def pairs(build, what):
    command = [*bench.launcher(2), os.path.join(build, "tests/bench/overhead"), os.path.join(build, "alar-mpich.so"), what]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def operations():
    rows = []
    for work, what in (("post, poll, retire", "post"), ("with a report each", "report")):
        for name, build in bench.BUILDS.items():
            found = pairs(build, what)
            raw = [pair["raw_ns"] for pair in found]
            ours = [pair["alar_ns"] for pair in found]
            ratio = bench.ratios(ours, raw)
            low, high = bench.interval(ratio)
            rows.append({"work": what, "build": name, "raw_ns": bench.median(raw),
                         "alar_ns": bench.median(ours), "ratio": bench.median(ratio),
                         "low": low, "high": high, "pairs": len(found)})
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
                  f"{bench.pinned(2)}; blocks of 400 of both take turns, 200 pairs; medians, 95 % intervals by bootstrap")
    print(f"  {'':<32}{'raw ns':>10}{'alar ns':>10}{'ratio':>8}   95 % interval (aim at most 1.05)")
    rows = operations()
    counts = instructions()
    bench.save("overhead", {"operations": rows, "instructions": counts})
    if not all(row["repeats"] for row in counts):
        sys.exit("instruction counts do not repeat")


main()
