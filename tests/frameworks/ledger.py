"""What a training loop contributed and what it logged, apart from how its framework reduced it.

A program prints both while it runs; from them a history is written by hand, and `alar check` finds which
mean the logged number is, or which mistake. Nothing of it goes through the framework.
"""
import json
import os
import struct
import subprocess
import time

MARK = "@@ "


def contributed(step, microbatch, total, tokens, dtype="f32"):
    """One rank's part of a microbatch: sum of losses, count of valid tokens, and in what they are added up. Steps count from 1."""
    said({"step": step, "mb": microbatch, "in": [total, tokens], "dtype": dtype})


def logged(first, last, loss, metric="loss"):
    """One logged number, which stands for the steps first .. last."""
    said({"first_step": first, "step": last, "loss": float(loss), "metric": metric})


def said(record):
    """On the recorder's clock, so that both can be laid side by side."""
    print(MARK + json.dumps(dict(record, ns=time.monotonic_ns())), flush=True)


def read(output):
    """(contributions, log lines) of one rank's output."""
    records = [json.loads(line[len(MARK):]) for line in output.splitlines() if line.startswith(MARK)]
    return [r for r in records if "in" in r], [r for r in records if "loss" in r]


def special(value):
    """NaN and infinities by their names: JSON has none."""
    return value if value - value == 0 else str(value)


def rounded(value, dtype):
    return struct.unpack("<f", struct.pack("<f", value))[0] if dtype == "f32" else value


def history(parts, lines, declared=None, is_last=False, metric="loss"):
    """The text of a history: `parts` by rank, `lines` of one of them; None declares no normalization. is_last: a line
    stands for the last of its steps alone, and the others are left out. Ranks that contribute nothing are left out too."""
    parts = [mine for mine in parts if mine]
    if is_last:
        lines = [dict(line, first_step=line["step"]) for line in lines]
        parts = [[p for p in mine if any(p["step"] == line["step"] for line in lines)] for mine in parts]
    records, keys = [], [(p["step"], p["mb"]) for p in parts[0]]
    for op, (step, microbatch) in enumerate(keys):
        mine = [p[op]["in"] for p in parts]
        total = [rounded(sum(values), parts[0][op]["dtype"]) for values in zip(*mine)]
        for rank, values in enumerate(mine):
            records.append({"ev": "issue", "rank": rank, "op": op, "step": step, "mb": microbatch, "key": metric,
                            "dtype": parts[rank][op]["dtype"], "pairs": 1, "in": [special(v) for v in values]})
        for rank in range(len(parts)):
            records.append({"ev": "done", "rank": rank, "op": op, "out": [special(v) for v in total]})
    for line in lines:
        report = dict(line, ev="report", rank=0, loss=special(line["loss"]))
        del report["ns"]
        report["ops"] = [op for op, (step, _) in enumerate(keys) if line["first_step"] <= step <= line["step"]]
        if declared:
            report["normalization"], report["over"] = declared
        records.append(report)
    return "".join(json.dumps(record) + "\n" for record in records)


def verdict(text):
    """What `alar check` says of a history: its JSON."""
    run = subprocess.run([os.environ.get("ALAR", "build/alar"), "check", "--json", "-"], input=text,
                         capture_output=True, text=True)
    if run.returncode not in (0, 1, 2):
        raise SystemExit("alar check: " + run.stderr.strip() + run.stdout.strip())
    return json.loads(run.stdout)
