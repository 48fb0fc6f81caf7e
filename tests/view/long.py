#!/usr/bin/python3
"""A long history's page: long.py ALAR SCRATCH. 984,016 records of 8 ranks, one of whose values is wrong."""
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Page  # noqa: E402 (beside this file)

ALAR, SCRATCH = sys.argv[1:]
RANKS, OPERATIONS, WRONG = 8, 41000, 23456


def write(rank, draw):
    with open(os.path.join(SCRATCH, "rank%d.jsonl" % rank), "w") as file:
        file.write('{"ev":"trace","rank":%d,"t":0,"v":1,"world":%d,"clock":"monotonic_ns","host":"h","t0":0}\n' % (rank, RANKS))
        for k in range(OPERATIONS):
            issued = k * 1000000 + draw.randrange(1000)
            waited = issued + 600000 + draw.randrange(100000)
            file.write('{"ev":"issue","rank":%d,"t":%d,"op":%d,"n":2,"in":[%d,4],"step":%d,"src":"train.py:31"}\n'
                       '{"ev":"wait","rank":%d,"t":%d,"op":%d,"done":false}\n'
                       '{"ev":"done","rank":%d,"t":%d,"op":%d,"out":[%d,32]}\n' % (
                           rank, issued, k, rank + 1, k, rank, waited, k,
                           rank, waited + draw.randrange(200000), k, 35 if k == WRONG else 36))
        file.write('{"ev":"end","rank":%d}\n' % rank)


draw = random.Random(1)
for rank in range(RANKS):
    write(rank, draw)
page_path = os.path.join(SCRATCH, "long.html")
subprocess.run([ALAR, "view", SCRATCH, "-o", page_path], check=True, timeout=300)
page = Page()
try:
    page.open(page_path)
    busy = page.busy()
    assert not page.errors, page.errors
    assert page.js("history_.records") == 984016 and not page.js("history_.is_all")
    assert page.js("picture.finding.op") == WRONG and page.count(".witness") >= RANKS
    assert page.count("#lanes .span") > RANKS, "what lies around the finding is shown one by one"
    page.key("0")
    assert page.js("lanes.firstChild.dataset.dense") == "yes" and page.count("path.density") == 2 * RANKS
    size = os.path.getsize(page_path) / 1e6
    print("the page has %.1f MB; opening it kept its thread busy for %.2f s" % (size, busy))
    assert size < 8 and busy < 3, (size, busy)
finally:
    page.close()
