"""Runs of a row's program, one for each case, and what they left: output, recording, end."""
import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile

import ledger
import toy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SECONDS = 200


class Broken(Exception):
    """What a row imports can't be imported."""


class Run:
    """One run of a program: what its ranks printed, what was recorded, how it ended."""

    def __init__(self, row, directory, codes):
        self.directory, self.codes, self.norms = directory, codes, row.norms
        said = [ledger.read(self.text("out%d" % rank)) for rank in range(len(codes))]
        self.parts, self.lines = [parts for parts, _ in said], said[0][1]
        self.errors = [self.text("err%d" % rank) for rank in range(len(codes))]

    def text(self, name):
        with open(os.path.join(self.directory, name), errors="replace") as file:
            return file.read()

    def recorded(self, rank):
        """The records of a rank, the header first; without the issues of gradients and of their norms, which follow them."""
        aside = 0
        for path in sorted(glob.glob(os.path.join(self.directory, "recording", "**", "rank%d.jsonl" % rank), recursive=True)):
            with open(path) as file:
                for record in map(json.loads, file):
                    if record["ev"] in ("issue", "call"):
                        if record.get("n") == toy.GRADIENT:
                            aside = self.norms
                            continue
                        if aside:
                            aside -= 1
                            continue
                    yield record

    def collectives(self):
        """Collectives of the last rank, and how many of them blocked; a gradient's, and those of its norm after it, aside."""
        made = [record for record in self.recorded(len(self.codes) - 1) if record["ev"] in ("issue", "call")]
        return len(made), sum(bool(record.get("sync")) for record in made)

    def end(self):
        """How it ended when it did not end well; None when it did."""
        nothing = "no collective was recorded"
        if all(code == 0 or code == 3 and nothing in text for code, text in zip(self.codes, self.errors)):
            return None
        if -signal.SIGALRM in self.codes:
            return "hangs"
        last = [text.strip().splitlines()[-1] for text in self.errors if text.strip()]
        return "stops: " + (last[0][:80] if last else "code %d" % max(self.codes))

    def close(self):
        shutil.rmtree(self.directory, ignore_errors=True)


def surroundings(env):
    """The environment of all runs of a row."""
    return dict(os.environ, GLOO_SOCKET_IFNAME="lo", OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore", PYTHONDONTWRITEBYTECODE="1",
                PYTHONPATH=os.pathsep.join((HERE, os.path.join(ROOT, "ref", "python"))), HF_HUB_OFFLINE="1", DS_ACCELERATOR="cpu",
                TOKENIZERS_PARALLELISM="false", ALAR_LIBRARY=os.path.join(ROOT, os.environ.get("BUILD", "build"), "libalar.so"), **env)


def launch(python, modules, env, runs):
    """The exit codes of the ranks of each run, and where each left what it printed: [(directory, codes)]."""
    runs = [dict(run, directory=tempfile.mkdtemp(), seconds=SECONDS) for run in runs]
    warm = subprocess.run([python, os.path.join(HERE, "warm.py"), *modules], input=json.dumps(runs), capture_output=True,
                          text=True, env=surroundings(env))
    if warm.returncode:
        raise Broken("%s: %s" % (" ".join(modules), warm.stderr.strip().splitlines()[-1]))
    return [(run["directory"], codes) for run, codes in zip(runs, json.loads(warm.stdout))]


def run_all(row, python, cases):
    """{name: Run} for {name: variables of toy.py}."""
    runs = [{"program": os.path.join(HERE, "programs", row.program), "ranks": row.ranks, "recorder": case.pop("recorder", []),
             "env": {name.upper(): str(value) for name, value in case.items()}} for case in cases.values()]
    ended = launch(python, ("alar.torch.launch", *row.modules), row.env, runs)
    return {name: Run(row, directory, codes) for name, (directory, codes) in zip(cases, ended)}


def reproduce(findings, python):
    """{script: what it printed at the end, rank by rank} for findings of the same modules and environment."""
    runs = [{"program": os.path.join(HERE, "repro", finding.script), "ranks": finding.ranks, "recorder": None, "env": {}}
            for finding in findings]
    printed = {}
    for finding, (directory, codes) in zip(findings, launch(python, findings[0].modules, findings[0].env, runs)):
        said = []
        for rank in range(finding.ranks):
            with open(os.path.join(directory, "out%d" % rank), errors="replace") as file:
                said += [line.strip() for line in file][-1:]
        printed[finding.script] = "; ".join(dict.fromkeys(said)) if not any(codes) else "stops with %s" % codes
        shutil.rmtree(directory, ignore_errors=True)
    return printed
