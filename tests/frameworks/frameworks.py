#!/usr/bin/env python3
"""What frameworks really log: runs them on data whose right answers are known, and has alar judge.

    python3 tests/frameworks/frameworks.py [--out FILE | --against FILE] [--short | ROW...]

Each row is a program of programs/, run on two processes with gloo under the recorder. The number it
logs is held against its contributions; the collectives are counted in the recording.
"""
import argparse
import datetime
import glob
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import ledger  # noqa: E402
import rows as table  # noqa: E402

SECONDS = 200
CLEAN = 80  # steps of the run on even data, each with other losses
CASES = ("empty", "nan", "short")


class Run:
    """One run of a program: what its ranks printed, what was recorded, how it ended."""

    def __init__(self, row, python, **case):
        self.directory = tempfile.mkdtemp()
        self.recording = os.path.join(self.directory, "recording")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        env = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(row.ranks),
                   LOCAL_WORLD_SIZE=str(row.ranks), GLOO_SOCKET_IFNAME="lo", OMP_NUM_THREADS="1", SCRATCH=self.directory,
                   PYTHONPATH=os.pathsep.join((HERE, os.path.join(ROOT, "ref", "python"))), PYTHONWARNINGS="ignore",
                   ALAR_LIBRARY=os.path.join(ROOT, os.environ.get("BUILD", "build"), "libalar.so"),
                   PYTHONDONTWRITEBYTECODE="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", **row.env)
        env.update({name.upper(): str(value) for name, value in case.items()})
        program = os.path.join(HERE, "programs", row.program)
        command = ["timeout", "-k", "2", str(SECONDS), python, "-m", "alar.torch", "-o", self.recording, program]
        outputs = [open(os.path.join(self.directory, "out%d" % rank), "w+") for rank in range(row.ranks)]
        errors = [open(os.path.join(self.directory, "err%d" % rank), "w+") for rank in range(row.ranks)]
        ranks = [subprocess.Popen(command, stdout=outputs[rank], stderr=errors[rank], stdin=subprocess.DEVNULL,
                                  env=dict(env, RANK=str(rank), LOCAL_RANK=str(rank)))
                 for rank in range(row.ranks)]
        self.codes = [rank.wait() for rank in ranks]
        texts = []
        for file in outputs + errors:
            file.seek(0)
            texts.append(file.read())
            file.close()
        said = [ledger.read(text) for text in texts[:row.ranks]]
        self.parts, self.lines = [parts for parts, _ in said], said[0][1]
        self.errors = texts[row.ranks:]

    def close(self):
        shutil.rmtree(self.directory, ignore_errors=True)

    def collectives(self):
        """Collectives of rank 0, and how many of them blocked."""
        count = blocking = 0
        for path in glob.glob(os.path.join(self.recording, "**", "rank0.jsonl"), recursive=True):
            with open(path) as file:
                for line in file:
                    record = json.loads(line)
                    if record["ev"] in ("issue", "call"):
                        count += 1
                        blocking += bool(record.get("sync"))
        return count, blocking

    def end(self):
        """How it ended when it did not end well; None when it did."""
        nothing = "no collective was recorded"
        if all(code == 0 or code == 3 and nothing in text for code, text in zip(self.codes, self.errors)):
            return None
        if 124 in self.codes or 137 in self.codes:
            return "hangs"
        last = [text.strip().splitlines()[-1] for text in self.errors if text.strip()]
        return "stops: " + (last[0][:80] if last else "code %d" % max(self.codes))



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
        return commit.stdout.strip() or "a checkout without a commit"
    names = row.packages or ("torch",)
    code = "import importlib.metadata as m; print(', '.join('%%s %%s' %% (n, m.version(n)) for n in %r))" % (names,)
    return subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()


def examine(row, python):
    """One row of the table, as a list of cells."""
    runs = {"uneven": Run(row, python, case="uneven", interval=row.interval),
            "clean": Run(row, python, case="even", interval=row.interval, steps=CLEAN)}
    for case in CASES:
        if case not in row.skips:
            runs[case] = Run(row, python, case=case, interval=1)
    end = runs["uneven"].end()
    word, is_last = (end, False) if end else meaning(runs["uneven"]) if runs["uneven"].lines else ("nothing", False)
    step, line = counts(runs["uneven"], runs["empty"], runs["clean"], row.interval)
    count, blocking = runs["clean"].collectives()
    cells = [cell(runs[case], word, is_last) if case in runs else "-" for case in CASES]
    clean = cell(runs["clean"], word if " over " in word else "token-weighted over steps", is_last)
    for run in runs.values():
        run.close()
    return [row.name, version(row, python), word + (" of the last step" if is_last else ""), step, line,
            "all" if count and blocking == count else "%d of %d" % (blocking, count)] + cells + [clean, row.upstream or "-"]


HEAD = ("what logs", "version", "the logged number is", "collectives a step", "a line", "blocking", "a rank without tokens",
        "NaN on one rank", "a short last batch", "even data", "upstream")


def shipped(path):
    """{name: cells} of the table as it was last written."""
    with open(path) as file:
        rows = [line.strip().strip("|").split("|") for line in file if line.startswith("| ")]
    return {cells[0].strip(): [cell.strip() for cell in cells] for cells in rows}


def page(results, before):
    """The whole page; rows that did not run keep their last cells and say so."""
    with open(os.path.join(HERE, "page.md")) as file:
        text = file.read()
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    for row in table.ROWS:
        cells = results.get(row.name) or before.get(row.name) or [row.name, "not run: " + why_not(row)] + ["-"] * (len(HEAD) - 2)
        lines.append("| " + " | ".join(cells) + " |")
    machine = "%s, Python %s, %d cores, %s" % (platform.machine(), platform.python_version(), os.cpu_count(),
                                              datetime.date.today().isoformat())
    return text.replace("@TABLE@", "\n".join(lines)).replace("@MACHINE@", machine).replace("@PINS@", " ".join(table.PINS))


def why_not(row):
    return "give %s=DIR, a checkout" % row.needs if row.needs else "its packages can't be installed"


def environment(name, pins):
    """The python that has the packages, or None with the reason."""
    run = subprocess.run([os.path.join(ROOT, "ci", "venv.sh"), name, *pins], capture_output=True, text=True)
    return (run.stdout.strip(), "") if run.returncode == 0 else (None, run.stderr.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="parts of the names of the rows to run; all when none is given")
    parser.add_argument("--out", help="write the page here [print the rows]")
    parser.add_argument("--against", help="a page as it was written before: its rows must come out again")
    parser.add_argument("--short", action="store_true", help="the two rows that run with every change")
    options = parser.parse_args()
    python, why = environment(*(("live-short", table.SHORT_PINS) if options.short else ("live", table.PINS)))
    wanted = table.SHORT if options.short else options.rows
    chosen = [row for row in table.ROWS if not wanted or any(part in row.name for part in wanted)]
    can = [row for row in chosen if python and (not row.needs or os.environ.get(row.needs))]
    for row in chosen:
        if row not in can:
            print("skip %s: %s" % (row.name, why if not python else why_not(row)))
    results = {}
    for at, row in enumerate(can):
        if sys.stderr.isatty():
            print("%d of %d: %s" % (at + 1, len(can), row.name), file=sys.stderr)
        results[row.name] = examine(row, python)
        print("| " + " | ".join(results[row.name]) + " |", flush=True)
    before = shipped(options.against or options.out) if os.path.exists(options.against or options.out or "") else {}
    if options.out and results:
        text = page(results, before)
        with open(options.out, "w") as file:
            file.write(text)
    return compare(results, before) if options.against else 0


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
