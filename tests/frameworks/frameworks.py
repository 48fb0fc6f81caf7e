#!/usr/bin/env python3
"""What frameworks really log: runs them on data whose right answers are known, and has alar judge.

    python3 tests/frameworks/frameworks.py [--out FILE | --against FILE] [--short | ROW...]

Each row is a program of programs/, run on two to four processes with gloo under the recorder. The number
it logs is held against its contributions; the collectives are counted in the recording.
"""
import argparse
import datetime
import os
import platform
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import ledger  # noqa: E402
import readers  # noqa: E402
import rows as table  # noqa: E402
import runs as programs  # noqa: E402
import toy  # noqa: E402

SEEDS = 20
CLEAN = SEEDS * toy.STEPS  # steps of the run on even data
CASES = ("empty", "nan", "short")


def found(verdict):
    """The oracle's word for a history that does not pass."""
    return verdict["findings"][0]["anomaly"] if verdict["findings"] else "UNKNOWN: " + verdict["reason"]


def meaning(run):
    """(what the logged number is, is it that of the last step of its line alone?): a normalization that alone fits, or
    a mistake by its name."""
    for is_last in (False, True):
        verdict = ledger.verdict(ledger.history(run.parts, run.lines, is_last=is_last))
        if verdict["reports_fit"] and not verdict["findings"]:
            return verdict["reports_fit"][0], is_last
        if found(verdict) != "illegal-report":
            return found(verdict), is_last
    return "no mean that alar knows", False


def cell(run, word, is_last):
    """What becomes of a case, held against what the same loop logs otherwise."""
    if run.end():
        return run.end()
    if not run.lines:
        return "logs nothing"
    # Pairs are sums and counts; a declaration of another mean would say that they hold it already.
    declared = tuple(word.split(" over ")) if word.startswith("token-weighted") else None
    verdict = ledger.verdict(ledger.history(run.parts, run.lines, declared, is_last))
    is_same = declared or word in verdict["reports_fit"]
    return "right" if verdict["verdict"] == "PASS" and is_same else found(verdict)


def counts(sparse, dense, clean, interval):
    """Collectives a step and a line, without what starts a run: from runs of 4 steps with two lines and with four, and
    of CLEAN steps. Where each step has its line the two can't be told apart."""
    sparse, dense, clean = (run.collectives()[0] for run in (sparse, dense, clean))
    if interval == 1:
        return "%g with its line" % ((clean - dense) / (CLEAN - 4)), "-"
    line = (dense - sparse) / (4 - 4 / interval)
    return "%g" % ((clean - sparse) / (CLEAN - 4) - line / interval), "%g" % line


def version(row, python):
    """The packages' versions, or the commit of the checkout."""
    if row.needs:
        commit = subprocess.run(["git", "-C", os.environ[row.needs], "log", "-1", "--format=%h of %cs"],
                                capture_output=True, text=True)
        return (commit.stdout.strip() or "a checkout without a commit") + ", run " + datetime.date.today().isoformat()
    names = row.packages or ("torch",)
    code = "import importlib.metadata as m; print(', '.join('%%s %%s' %% (n, m.version(n)) for n in %r))" % (names,)
    return subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()


def clean(run, word, is_last):
    """What becomes of data on which all means agree."""
    return cell(run, word if " over " in word else "token-weighted over steps", is_last)


def examine(row, python):
    """One row of the table, as a list of cells."""
    cases = {"uneven": {"case": "uneven", "interval": row.interval},
             "even": {"case": "even", "interval": row.interval, "steps": CLEAN},
             "watched": {"case": "even", "interval": 3 if row.interval > 1 else 1, "steps": 9, "recorder": ["--watch"]},
             **{case: {"case": case, "interval": 1} for case in CASES if case not in row.skips}}
    runs = programs.run_all(row, python, cases)
    end = runs["uneven"].end()
    word, is_last = (end, False) if end else meaning(runs["uneven"]) if runs["uneven"].lines else ("nothing", False)
    step, line = counts(runs["uneven"], runs.get("empty", runs["uneven"]), runs["even"], row.interval if "empty" in runs else 1)
    count, blocking = runs["even"].collectives()
    cells = [cell(runs[case], word, is_last) if case in runs else "-" for case in CASES]
    reads = runs["watched"].end() or readers.words(runs["watched"])
    even = clean(runs["even"], word, is_last)
    if even != "right" and runs["even"].lines:
        runs.update(programs.run_all(row, python, {"same": {"case": "same", "interval": row.interval, "steps": CLEAN}}))
        even += "; one loss everywhere: " + clean(runs["same"], word, is_last)
    for run in runs.values():
        run.close()
    return [row.name, version(row, python), word + (" of the last step" if is_last else ""), step, line,
            "all" if count and blocking == count else "%d of %d" % (blocking, count), reads] + cells + [even, row.upstream or "-", row.place]


HEAD = ("what logs", "version", "the logged number is", "collectives a step", "a line", "blocking", "who reads when", "a rank without tokens",
        "NaN on one rank", "a short last batch", "even data", "upstream", "`alar.Log` in its place")


FOUND = ("what", "script", "what it printed")
CELL = re.compile(r"(?<=\|)(?:[^|\\]|\\.)+")  # of a row; what is behind a backslash ends none


def shipped(path):
    """{first cell: cells} of the tables as they were last written."""
    with open(path) as file:
        rows = [CELL.findall(line.strip()) for line in file if line.startswith("| ")]
    return {cells[0].strip(): [cell.strip() for cell in cells] for cells in rows}


def written(head, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows))


def code(text):
    """A code span in a cell."""
    return "`%s`" % text.replace("`", "'").replace("|", "\\|")


def not_run(name, reason, head):
    return [name, "not run: " + reason] + ["-"] * (len(head) - 2)


def page(results, printed, before):
    """The whole page; what did not run keeps its last cells."""
    with open(os.path.join(HERE, "page.md")) as file:
        text = file.read()
    def kept(name, why, head):
        cells = before.get(name, ())
        return cells if len(cells) == len(head) else not_run(name, why, head)
    rows = [results.get(row.name) or kept(row.name, why_not(row), HEAD) for row in table.ROWS]
    findings = [[one.what, "[%s](../tests/frameworks/repro/%s)" % (one.script, one.script), code(printed[one.script])]
                if one.script in printed else kept(one.what, why_not(one), FOUND) for one in table.FINDINGS]
    machine = "%s, Python %s, %d cores, %s" % (platform.machine(), platform.python_version(), os.cpu_count(),
                                              datetime.date.today().isoformat())
    for mark, words in (("@TABLE@", written(HEAD, rows)), ("@FINDINGS@", written(FOUND, findings)), ("@MACHINE@", machine),
                        ("@PINS@", " ".join(table.PINS))):
        text = text.replace(mark, words)
    return text


def why_not(row):
    return "give %s=DIR, a checkout" % row.needs if row.needs else "it was not asked for"


def environment(name, pins):
    """The python that has the packages, or None with the reason."""
    run = subprocess.run([os.path.join(ROOT, "ci", "venv.sh"), name, *pins], capture_output=True, text=True)
    return (run.stdout.strip(), "") if run.returncode == 0 else (None, run.stderr.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="parts of the names of rows and findings to run; all when none is given")
    parser.add_argument("--out", help="write the page here [print the rows]")
    parser.add_argument("--against", help="a page as it was written before: its rows must come out again")
    parser.add_argument("--short", action="store_true", help="the two rows that run with every change")
    options = parser.parse_args()
    python, why = environment(*(("frameworks-short", table.SHORT_PINS) if options.short else ("live", table.PINS)))
    wanted = table.SHORT if options.short else options.rows
    chosen = [row for row in table.ROWS if not wanted or any(part in row.name for part in wanted)]
    if not python:
        print("skip all %d rows: %s; the tables stay as they are" % (len(chosen), why))
        return 0
    can = [row for row in chosen if not row.needs or os.environ.get(row.needs)]
    for row in chosen:
        if row not in can:
            print("skip %s: %s" % (row.name, why_not(row)))
    results = {}
    for at, row in enumerate(can):
        if sys.stderr.isatty():
            print("%d of %d: %s" % (at + 1, len(can), row.name), file=sys.stderr)
        try:
            results[row.name] = examine(row, python)
        except programs.Broken as error:
            results[row.name] = not_run(row.name, str(error), HEAD)
        print("| " + " | ".join(results[row.name]) + " |", flush=True)
    printed = reproduce(python, wanted)
    before = shipped(options.against or options.out) if os.path.exists(options.against or options.out or "") else {}
    if options.out and (results or printed):
        text = page(results, printed, before)
        with open(options.out, "w") as file:
            file.write(text)
    return compare(results, before) if options.against else 0


def reproduce(python, wanted):
    """{script: what it printed} of the findings whose framework is here; scripts that import the same share it."""
    shared, printed = {}, {}
    for finding in table.FINDINGS:
        is_wanted = not wanted or any(part in finding.what + finding.script for part in wanted)
        if is_wanted and (not finding.needs or os.environ.get(finding.needs)):
            shared.setdefault((finding.modules, tuple(finding.env)), []).append(finding)
    for findings in shared.values():
        printed.update(programs.reproduce(findings, python))
        for finding in findings:
            print("| %s | %s |" % (finding.script, printed[finding.script]), flush=True)
    return printed


def compare(results, before):
    """1 when a row comes out otherwise than it was written, its version aside."""
    bad = 0
    for name, cells in results.items():
        was = before.get(name, [name] + ["none"] * (len(HEAD) - 1))
        for head, now, then in zip(HEAD, cells, was):
            if now != then and head != "version":
                print("%s, %s: expected %s as in the table, found %s" % (name, head, then, now))
                bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
