#!/usr/bin/env python3
"""Exact sums, hulls, sets of sums: what deciding equality costs, by number of ranks."""

import json
import os

import bench

WHAT = ["plain loop", "exact sum", "mpfr_sum", "hull", "hull f16", "hull bf16", "set", "set f16", "set bf16"]


def main():
    bench.heading("sums: nanoseconds a call, loss-like fp32 values (aim: exact 8-rank sum at most 4 x plain)",
                  "one process, not pinned; processor time, medians of 41 rounds of many calls")
    print(f"  {'':<12}{'n':>4}" + "".join(f"{what:>13}" for what in WHAT) + f"{'exact x plain':>15}")
    rows = []
    for build, folder in bench.BUILDS.items():
        lines = bench.measured(os.path.join(folder, "tests/bench/sums"))[2].splitlines()
        found = [{"build": build, **json.loads(line)} for line in lines]
        for n in sorted({row["n"] for row in found}):
            ns = {row["what"]: row["ns"] for row in found if row["n"] == n}
            print(f"  {build:<12}{n:>4}" + "".join(f"{ns[what]:>13.1f}" if what in ns else f"{'-':>13}" for what in WHAT)
                  + f"{ns['exact sum'] / ns['plain loop']:>15.1f}")
        rows += found
    bench.save("sums", {"rows": rows})


main()
