#!/usr/bin/env python3
"""Exact sums, hulls: what deciding equality costs, by number of ranks."""

import json
import os

import bench


def main():
    bench.heading("sums: nanoseconds a call, loss-like fp32 values (aim: exact 8-rank sum at most 4 x plain)")
    lines = bench.output(os.path.join(bench.BUILD, "tests/bench/sums")).splitlines()
    rows = [json.loads(line) for line in lines]
    found = {(row["what"], row["n"]): row["ns"] for row in rows}
    print(f"  {'n':>4}{'plain loop':>12}{'exact sum':>12}{'x plain':>9}{'mpfr_sum':>12}{'hull':>14}")
    for n in sorted({row["n"] for row in rows}):
        plain, exact = found["plain loop", n], found["exact sum", n]
        print(f"  {n:>4}{plain:>12.1f}{exact:>12.1f}{exact / plain:>9.1f}{found['mpfr_sum', n]:>12.1f}"
              f"{found['hull', n]:>14.0f}")
    bench.save("sums", {"rows": rows})


main()
