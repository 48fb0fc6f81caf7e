#!/usr/bin/env python3
"""How well drawn faults are named, on real losses and on ledgers, as Markdown; fails when a claim does.

    tests/bench/diagnosis.py [FAULTS [SUMS [SEED]]]      default: 10000 on each input, 100000, 1"""

import os
import subprocess
import sys

import bench

SIZES = ["3", "4", "5", "8"]


def cell(row):
    """Percent of the faults that show: truth alone / truth among the best explanations."""
    visible = int(row["drawn"]) - int(row["hidden"])
    if visible == 0:
        return "-"
    unique, best = int(row["unique"]), int(row["best"])
    return "%d / %d" % (100 * unique // visible, 100 * (unique + best) // visible)


def main():
    given = sys.argv[1:] + ["10000", "100000", "1"][len(sys.argv) - 1:]
    program = os.path.join(bench.BUILD, "tests/bench/diagnosis")
    text = subprocess.run([program, *given], capture_output=True, text=True, check=True).stdout
    table, rungs = text.split("rung\tsums\n")
    head, *lines = [line.split("\t") for line in table.splitlines()]
    rows = [dict(zip(head, line)) for line in lines]
    sums = dict(line.split("\t") for line in rungs.splitlines())

    bench.heading("diagnosis: percent of drawn faults named alone / among the best explanations",
                  f"not pinned; nothing is timed, seed {given[2]} repeats exactly")
    print("| fault | " + " | ".join("%s, n = %s" % (name, n) for name in ("losses", "ledger")
                                    for n in SIZES) + " |")
    print("|---" + "|--:" * 8 + "|")
    for fault in dict.fromkeys(row["fault"] for row in rows):
        print("| %s | %s |" % (fault, " | ".join(cell(row) for row in rows if row["fault"] == fault)))

    def count(what, **where):
        return sum(int(row[what]) for row in rows if all(row[k] == v for k, v in where.items()))

    for name in ("losses", "ledger"):
        print("%s: %d drawn, %d hidden (the faulty value is legal), %d told behind an explanation that "
              "needs less, %d missed" % (name, *(count(what, input=name) for what in
                                                 ("drawn", "hidden", "told", "missed"))))
    print("legal sums in drawn orders: " + ", ".join("%s %s" % pair for pair in sums.items()))
    bench.save("diagnosis", {"seed": given[2], "rows": rows, "sums": sums})
    wrong = [row for row in rows if row["input"] == "ledger" and row["unique"] != row["drawn"]
             and row["fault"] in ("rank missing", "rank doubled")]
    if wrong or int(sums["illegal"]) or int(sums["undecided"]):
        sys.exit("FAIL: a ledger did not name its rank, or a legal sum was not passed")


if __name__ == "__main__":
    main()
