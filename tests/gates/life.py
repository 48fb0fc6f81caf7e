#!/usr/bin/env python3
"""Every row of life.def is missed by some small history: with the row lost, another answer comes out.

    tests/gates/life.py ALAR

ALAR is a program made with life_lost.c. The histories are all ways to come to a state, to act there and
to go on with up to one more act, under both kinds of wait.
"""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

DONE = {"ev": "done", "out": [1], "stream": 1}
YES, NO = {"ev": "test", "done": True}, {"ev": "test", "done": False}
FAIL, EXPIRE = {"ev": "fail", "error": "ECONN"}, {"ev": "fail", "error": "timeout"}
ABORT, SYNC = {"ev": "abort"}, {"ev": "sync"}
PEER = [{"ev": "issue", "rank": 1, "in": [2]}, {"ev": "done", "rank": 1, "out": [9]}]  # who gets a wrong value
ISSUE = {"ev": "issue", "in": [1], "buf": "a", "stream": 1}
STATES = {  # how a rank's part comes to be there
    "PENDING": [[]], "ORDERED": [[DONE]], "SEEN": [[YES], [SYNC]], "DONE": [[DONE]], "KNOWN": [[YES, DONE]],
    "FAILED": [[FAIL]], "EXPIRED": [[EXPIRE]], "LATE": [[EXPIRE, YES]], "ABORTED": [[ABORT]]}
ACTS = {
    "QUERY_NO": NO, "QUERY_YES": YES, "WAIT": {"ev": "wait"}, "RETURN": DONE, "ORDER": DONE,
    "COMPLETE": {"ev": "complete", "out": [1]}, "FAIL": FAIL, "EXPIRE": EXPIRE, "SYNC": SYNC, "ABORT": ABORT,
    "READ": {"ev": "read"}, "WRITE": {"ev": "write"}, "BACK_WRITE": {"ev": "write", "by": "backend"},
    "UNSTORE": {"ev": "free", "buf": "a"}, "REUSE": {"ev": "alloc", "buf": "a"}, "UNHANDLE": {"ev": "free"},
    "DROP": {"ev": "drop"}}
NEVER = {("ORDERED", "RETURN"), ("DONE", "ORDER")}  # a contract has one kind of wait
ONE_WAIT = {"ORDERED": "stream", "DONE": "blocking"}
ONE_ACT = {"ORDER": "stream", "RETURN": "blocking"}


def history(wait, way, act, after):
    records = [{"ev": "contract", "wait": wait}]
    for record in [ISSUE, *way, ACTS[act], *after]:
        record = {"rank": 0, **record}
        if "buf" not in record or record["ev"] == "issue":
            record["op"] = 0
        if record["ev"] in ("sync", "abort"):
            del record["op"]
        records.append(record)
    return "".join(json.dumps(record) + "\n" for record in records)


def judged(alar, paths, lost=""):
    """What comes out of each, without its path; the rows that were looked up."""
    told = subprocess.run([alar, "check", "-q", *paths], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "LIFE_LOST": lost, **({} if lost else {"LIFE_SEEN": "1"})})
    return [line.split("\t", 1)[1] for line in told.stdout.splitlines()], set(re.findall("^row (.*)$", told.stderr, re.M))


def main():
    alar, rows, unseen, missed, histories = sys.argv[1], 0, [], [], 0
    after = {"end": [], "peer": PEER, **{name: [record] for name, record in ACTS.items()}}
    with tempfile.TemporaryDirectory() as folder:
        for state, act in itertools.product(STATES, ACTS):
            paths = []
            for wait, (k, way), (name, more) in itertools.product(
                    ("blocking", "stream"), enumerate(STATES[state]), after.items()):
                if ONE_WAIT.get(state, wait) == wait and ONE_ACT.get(act, wait) == wait:
                    paths.append(os.path.join(folder, "%s-%d-%s-%s-%s.jsonl" % (state, k, act, wait, name)))
                    with open(paths[-1], "w", encoding="ascii") as file:
                        file.write(history(wait, way, act, more))
            rows += 1
            histories += len(paths)
            if (state, act) in NEVER:
                continue
            right, seen = judged(alar, paths)
            row = "%s %s" % (state, act)
            if row not in seen:
                unseen.append(row)
            elif right == judged(alar, paths, row)[0]:
                missed.append(row)
    for row in unseen:
        print("no history comes to", row)
    for row in missed:
        print("nobody misses", row)
    print("%d rows, %d histories: %d never looked up, %d not missed, %d that no contract allows"
          % (rows, histories, len(unseen), len(missed), len(NEVER)))
    return bool(unseen or missed)


if __name__ == "__main__":
    sys.exit(main())
