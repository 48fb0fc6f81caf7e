#!/usr/bin/env python3
"""`alar check`: MB/s, operations a second and peak memory by length of history, beside jq.

    tests/bench/oracle.py [EVENTS]...      default: 10000 100000 1000000

jq once parses only (`jq empty`) and once writes what it read (`jq -c .`). Processor time of one
thread, so that other work on the machine counts less; packed, in bytes of the text; then seconds by
the clock of one thread and of two, which only an idle machine can show."""

import os
import re
import subprocess
import sys
import tempfile
import time

import bench

REPEATS = 3


def best(*command):
    """Processor seconds of the fastest run, MiB of the largest."""
    runs = [bench.measured(*command) for _ in range(REPEATS)]
    return min(run[0] for run in runs), max(run[1] for run in runs)


def wall(*command):
    """Seconds by the clock, the median."""
    times = []
    for _ in range(REPEATS):
        start = time.monotonic()
        bench.measured(*command)
        times.append(time.monotonic() - start)
    return bench.median(times)


def row(folder, events, build):
    subprocess.run(["tests/bench/history.sh", str(events), folder], check=True)
    files = sorted(entry.path for entry in os.scandir(folder))
    size = sum(os.path.getsize(file) for file in files) / 1e6
    alar = os.path.join(bench.BUILDS[build], "alar")
    operations = int(re.search(r"PASS\t(\d+) of", bench.measured(alar, "check", "-q", folder)[2]).group(1))
    check = (alar, "check", "-q", "--threads")
    ours, peak = best(*check, "1", folder)
    with tempfile.TemporaryDirectory() as packed:
        subprocess.run([alar, "pack", "-q", "-o", packed, folder], check=True)
        small = best(*check, "1", packed)[0]
    parse, copy = best("jq", "empty", *files)[0], best("jq", "-c", ".", *files)[0]
    return {"build": build, "events": events, "mb": size, "alar_mb_s": size / ours, "jq_parse_mb_s": size / parse,
            "jq_copy_mb_s": size / copy, "operations_s": operations / ours, "peak_mib": peak,
            "x_parse": parse / ours, "x_copy": copy / ours, "packed_mb_s": size / small,
            "wall_1": wall(*check, "1", folder), "wall_2": wall(*check, "2", folder)}


def main():
    bench.heading("oracle: alar check on histories of 4 ranks, beside jq on the same bytes",
                  f"one process, not pinned; processor time, best of {REPEATS} runs")
    sizes = [int(word) for word in sys.argv[1:]] or [10**4, 10**5, 10**6]
    print(f"  {'':<12}{'events':>9}{'MB':>8}{'alar MB/s':>11}{'jq empty':>10}{'jq -c .':>9}"
          f"{'operations/s':>14}{'peak MiB':>10}{'x empty':>9}{'x -c .':>8}{'packed MB/s':>13}{'1 thread, s':>13}{'2, s':>7}")
    rows = []
    for events, build in [(events, "as shipped") for events in sizes] + [(sizes[len(sizes) // 2], "FAULTS=0")]:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(row(folder, events, build))
        _, _, mb, ours, parse, copy, operations, peak, x_parse, x_copy, packed, one, two = rows[-1].values()
        print(f"  {build:<12}{events:>9}{mb:>8.1f}{ours:>11.1f}{parse:>10.1f}{copy:>9.1f}"
              f"{operations:>14.0f}{peak:>10.1f}{x_parse:>9.1f}{x_copy:>8.1f}{packed:>13.1f}{one:>13.2f}{two:>7.2f}", flush=True)
    bench.save("oracle", {"rows": rows})


main()
