#!/usr/bin/env python3
"""Enumerates small histories, healthy ones and their faults, and asks `alar check` of each.

    tests/prove/prove_judge.py [--full] [--alar FILE] [--floor N] [SECTION]...

What is healthy is said by life.py and model.py, from spec/semantics.md alone. The judge must pass what is
healthy, answer UNKNOWN where something needed was not recorded, pass nothing that breaks a rule, and name no
rank for what another one did.
"""

import argparse
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import small  # noqa: E402
import worlds  # noqa: E402
from life import HEALTHY, LEFT, LESS, NAMES, WRONG  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BATCH = 10000


# ---- asking the judge ----------------------------------------------------------------------------

class Asked:
    """Writes histories, has them judged by the thousand, and counts what came of them."""

    def __init__(self, alar):
        self.alar = alar
        self.folder = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.waiting = []
        self.counts = collections.defaultdict(collections.Counter)  # by section
        self.shy = collections.Counter()  # wrong and answered UNKNOWN, by reason
        self.faults = collections.Counter()
        self.blamed = 0  # convictions of which it is known whose record it was
        self.sound = collections.Counter()  # by fault: variants that say nothing wrong all the same
        self.wrong = collections.defaultdict(list)  # what was judged otherwise than it must be

    def add(self, section, history, order, fault=None):
        what, reason, wrong = history.verdict()
        if fault and what == HEALTHY:
            self.sound[fault] += 1
        path = os.path.join(self.folder, "%d.jsonl" % len(self.waiting))
        text = history.contract.text + "".join(
            history.ranks[rank][k][0].line(rank, history.ranks[rank][k][1]) for rank, k in order)
        with open(path, "w", encoding="ascii") as file:
            file.write(history.frame + text)
        self.waiting.append((section, what, reason, wrong))
        if len(self.waiting) == BATCH:
            self.flush()

    def flush(self):
        if not self.waiting:
            return
        paths = [os.path.join(self.folder, "%d.jsonl" % k) for k in range(len(self.waiting))]
        told = subprocess.run([self.alar, "check", "-q", *paths], capture_output=True, text=True, timeout=300)
        found = {}
        for line in told.stdout.splitlines():
            path, kind, reason = line.split("\t")
            found[path] = kind, reason
        for line in told.stderr.splitlines():
            found.setdefault(line.split(": ", 2)[1].rsplit(":", 2)[0], ("REFUSED", line))
        for path, (section, what, reason, wrong) in zip(paths, self.waiting):
            self.compare(section, what, reason, wrong, path, *found.get(path, ("NOTHING", told.stderr[-200:])))
        self.waiting = []

    def compare(self, section, what, reason, wrong, path, kind, words):
        self.counts[section][what, kind] += 1
        if what == WRONG:
            self.faults[reason] += 1
            self.shy[reason] += kind == "UNKNOWN"
        must = {HEALTHY: ("PASS",), LESS: ("UNKNOWN",), WRONG: ("FAIL", "UNKNOWN")}[what]
        if reason == LEFT:  # the format may say so as well
            must += ("REFUSED",)
        is_blamed = kind != "FAIL" or wrong is None or bool(named(words)) and named(words) <= wrong
        self.blamed += kind == "FAIL" and wrong is not None
        if kind not in must or not is_blamed:
            anomaly = words.split(":")[0] if kind == "FAIL" else ""
            kind = kind if is_blamed else "ANOTHER'S"
            kept = self.wrong[what, kind, reason, anomaly]
            if len(kept) < 3:
                with open(path, encoding="ascii") as file:
                    kept.append((section, file.read(), words))
            else:
                kept.append(None)

    def close(self):
        shutil.rmtree(self.folder)


def named(words):
    """The ranks that a verdict names."""
    found = re.search(r"\branks? ([0-9, ]+):", words)
    return set(map(int, found.group(1).split(", "))) if found else set()


# ---- the whole -----------------------------------------------------------------------------------

def sections(full):
    return {
        "lives": lambda asked: small.lives(asked, 4 if full else 2, 0),
        "pairs": lambda asked: small.pairs(asked, 4 if full else 3, 0),
        "timed": lambda asked: [
            small.timed(asked, 2, 1, True, 1), small.timed(asked, 3, 1, True, 1 if full else 5),
            small.timed(asked, 2, 2, True, 1 if full else 3), small.timed(asked, 3, 2, False, 1 if full else 97)],
        "ties": lambda asked: small.ties(asked, 4 if full else 2),
        "worlds": lambda asked: worlds.worlds(asked, (2, 2, 1) if full else (1, 1, 0)),
        "drawn": lambda asked: worlds.drawn(asked, 5000 if full else 100, 2 if full else 1, random.Random(1)),
        "long": worlds.long,
        "faults": lambda asked: worlds.faults(asked, 1 if full else 0),
        "reports": lambda asked: worlds.reported(asked, 3 if full else 2),
    }


def show(asked, seconds):
    total = collections.Counter()
    print("%-8s %9s %9s %7s %9s" % ("section", "histories", "healthy", "less", "wrong"))
    for section, counts in asked.counts.items():
        by_what = collections.Counter()
        for (what, _), count in counts.items():
            by_what[what] += count
        print("%-8s %9d %9d %7d %9d" % (section, sum(by_what.values()), *(by_what[k] for k in range(3))))
        total.update(by_what)
    print("%-8s %9d %9d %7d %9d" % ("all", sum(total.values()), *(total[k] for k in range(3))))
    for reason, count in sorted(asked.faults.items()):
        print("  wrong: %-55s %8d, of these UNKNOWN %d" % (reason, count, asked.shy[reason]))
    for fault, count in sorted(asked.sound.items()):
        print("  observationally healthy: %-37s %8d" % (fault, count))
    print("%d convictions name no rank but one that broke a rule" % asked.blamed)
    bad = 0
    for (what, kind, reason, anomaly), cases in sorted(asked.wrong.items()):
        bad += len(cases)
        print("MISJUDGED %d: %s" % (len(cases), ("%s (%s) and judged %s %s" % (NAMES[what], reason, kind, anomaly)).rstrip()))
        print("  " + cases[0][1].rstrip().replace("\n", "\n  ") + "\n  -> " + cases[0][2][:200])
    print("%d histories in %.0f s: %d misjudged" % (sum(total.values()), seconds, bad))
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--alar", default=os.path.join(TOP, os.environ.get("BUILD", "build"), "alar"))
    parser.add_argument("--floor", type=int, default=1, help="how many histories there are at least")
    parser.add_argument("section", nargs="*")
    options = parser.parse_args()
    asked, began = Asked(options.alar), time.monotonic()
    try:
        for name, go in sections(options.full).items():
            if not options.section or name in options.section:
                go(asked)
        asked.flush()
    finally:
        asked.close()
    bad = show(asked, time.monotonic() - began)
    count = sum(sum(of.values()) for of in asked.counts.values())
    if count < options.floor:
        print("expected at least %d histories, found %d" % (options.floor, count))
    return 1 if bad or count < options.floor else 0


if __name__ == "__main__":
    sys.exit(main())
