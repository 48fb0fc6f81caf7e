"""Do two recordings of one program say the same? same.py DIR DIR: what differs between any two runs is left out: clocks,
addresses, who recorded, how often a poll found nothing, and when a future told of an end. Exit 1, with the first record
that differs."""
import glob
import json
import os
import sys

OF_A_RUN = ("i", "t", "t0", "tag", "buf", "boot_id", "host")


def said(path):
    """The records of a file, without those fields: in their order, those of a thread of torch's behind them."""
    with open(path, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    kept = [{name: value for name, value in one.items() if name not in OF_A_RUN} for one in records
            if one["ev"] != "test" or one["done"]]
    return sorted(kept, key=lambda one: one["ev"] == "complete")


def main(one, other):
    paths = sorted(os.path.relpath(path, one) for path in glob.glob(one + "/**/*.jsonl", recursive=True))
    if not paths or paths != sorted(os.path.relpath(path, other)
                                    for path in glob.glob(other + "/**/*.jsonl", recursive=True)):
        return "%s, %s: expected the same files, at least one" % (one, other)
    count = 0
    for path in paths:
        lines = said(os.path.join(one, path)), said(os.path.join(other, path))
        for number, (a, b) in enumerate(zip(*lines), 1):
            if a != b:
                return "%s, record %d: %s\n%s" % (path, number, json.dumps(a), json.dumps(b))
        if len(lines[0]) != len(lines[1]):
            return "%s: %d and %d records" % (path, len(lines[0]), len(lines[1]))
        count += len(lines[0])
    print("%d records the same" % count)
    return 0


sys.exit(main(*sys.argv[1:]))
