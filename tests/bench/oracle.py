#!/usr/bin/env python3
"""`alar check`: MB/s, operations a second and peak memory by length of history, beside jq.

    tests/bench/oracle.py [EVENTS]...      default: 10000 100000 1000000

jq once parses only (`jq empty`) and once writes what it read (`jq -c .`). Processor time, so that
other work on the machine counts less."""

import os
import re
import subprocess
import sys
import tempfile

import bench

REPEATS = 3


def best(*command):
    """Processor seconds of the fastest run, MiB of the largest."""
    runs = [bench.measured(*command) for _ in range(REPEATS)]
    return min(run[0] for run in runs), max(run[1] for run in runs)


def row(folder, events, build):
    subprocess.run(["tests/bench/history.sh", str(events), folder], check=True)
    files = sorted(entry.path for entry in os.scandir(folder))
    size = sum(os.path.getsize(file) for file in files) / 1e6
    alar = os.path.join(bench.BUILDS[build], "alar")
    operations = int(re.search(r"PASS\t(\d+) of", bench.measured(alar, "check", "-q", folder)[2]).group(1))
    ours, peak = best(alar, "check", "-q", folder)
    parse, copy = best("jq", "empty", *files)[0], best("jq", "-c", ".", *files)[0]
    return {"build": build, "events": events, "mb": size, "alar_mb_s": size / ours, "jq_parse_mb_s": size / parse,
            "jq_copy_mb_s": size / copy, "operations_s": operations / ours, "peak_mib": peak,
            "x_parse": parse / ours, "x_copy": copy / ours}


def main():
    bench.heading("oracle: alar check on histories of 4 ranks, beside jq on the same bytes",
                  f"one process, not pinned; processor time, best of {REPEATS} runs")
    sizes = [int(word) for word in sys.argv[1:]] or [10**4, 10**5, 10**6]
    print(f"  {'':<12}{'events':>9}{'MB':>8}{'alar MB/s':>11}{'jq empty':>10}{'jq -c .':>9}"
          f"{'operations/s':>14}{'peak MiB':>10}{'x empty':>9}{'x -c .':>8}")
    rows = []
    for events, build in [(events, "as shipped") for events in sizes] + [(sizes[len(sizes) // 2], "FAULTS=0")]:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(row(folder, events, build))
        _, _, mb, ours, parse, copy, operations, peak, x_parse, x_copy = rows[-1].values()
        print(f"  {build:<12}{events:>9}{mb:>8.1f}{ours:>11.1f}{parse:>10.1f}{copy:>9.1f}"
              f"{operations:>14.0f}{peak:>10.1f}{x_parse:>9.1f}{x_copy:>8.1f}", flush=True)
    bench.save("oracle", {"rows": rows})


main()
