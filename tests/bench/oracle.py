#!/usr/bin/env python3
"""`alar check`: MB/s, operations a second and peak memory by length of history, beside jq."""

import subprocess

import bench


def main():
    bench.heading("oracle: alar check on histories of 4 ranks, processor time, best of 3")
    table = subprocess.run(["tests/bench/oracle.sh"], capture_output=True, text=True, check=True).stdout
    print(table, end="")
    names = ["events", "mb", "alar_mb_s", "jq_parse_mb_s", "jq_copy_mb_s", "operations_s", "peak_kb",
             "x_parse", "x_copy"]
    rows = [dict(zip(names, map(float, line.split()))) for line in table.splitlines()[1:]]
    bench.save("oracle", {"rows": rows})


main()
