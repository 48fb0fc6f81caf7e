#!/usr/bin/env python3
"""What a run says when the network between two sites breaks: tests/network/faults.py [NAME]...

Prints a row for each fault on MPICH, and exits with 1 when a run is not over in time, calls others silent than the fault
cut off, or leaves ranks behind. What the bench prints of both libraries is made here as well."""

import os
import re
import subprocess
import sys
import tempfile
import time

from sites import NoNamespaces, Sites

BUILD = os.environ.get("BUILD", "build")
ALAR = os.path.join(BUILD, "alar")
DEADLINE_MS, START_MS = 1000, 4000
RUN = ["alar", "run", "--input", "sums", "--steps", "0:40", "--log-interval", "10", "--compare", "none", "--quiet"]
PACE = ["--async-log-allreduce", "--compute-us", "25000", "--deadline-ms", str(DEADLINE_MS)]
STARTING = "cut while the library starts"
ENDS_S = 3  # past its deadline, on a busy machine, until ranks and launcher are gone
FAULTS = {  # how it begins, after how many seconds it ends, options
    "cut for ever, wait log": (["cut"], None, ["--wait", "log"]),
    "cut for ever, wait step": (["cut"], None, ["--wait", "step"]),
    "cut for 0.3 s": (["cut"], 0.3, ["--wait", "step"]),
    "cut from site 1 to site 0 alone": (["cut 1"], None, ["--wait", "step"]),
    "link of host 4 down": ([("wan0", [4])], None, ["--wait", "step"]),
    "links of hosts 3 and 4 down": ([("wan0", [3, 4])], None, ["--wait", "step"]),
    "cut, the launcher's network as well": (["cut", ("ctl0", [3, 4])], None, ["--wait", "step"]),
    STARTING: (["cut"], None, ["--start-deadline-ms", str(START_MS)]),
}


def launch(sites, place, command):
    command = [os.path.abspath(os.path.join(BUILD, command[0])), *command[1:]]
    if place.startswith("Open"):
        return sites.openmpi(command)
    return sites.mpich(command)


def begin(sites, actions):
    for action in actions:
        if isinstance(action, str):
            sites.tell(action)
        else:
            sites.link(action[0], "down", action[1])


def heal(sites, actions):
    sites.tell("mend")
    for action in actions:
        if not isinstance(action, str):
            sites.link(action[0], "up", action[1])


def wait_for_steps(history, process):
    """Until rank 0 has issued a few of its all-reduces, or has ended, or is late."""
    path = os.path.join(history, "rank0.jsonl")
    late = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < late:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                if file.read().count('"ev":"issue"') > 20:
                    return
        except OSError:
            pass
        time.sleep(0.05)


def verdict(history):
    done = subprocess.run([ALAR, "check", "-q", history], capture_output=True, text=True, check=False)
    words = done.stdout.split("\t")
    return " ".join(words[1:]).split(" (")[0].strip()[:120] or f"exit code {done.returncode}"


def fault(sites, place, name):
    """Exit code, seconds from the fault to the end, who is called silent, how many ranks are left, the verdict."""
    actions, heals_after, options = FAULTS[name]
    with tempfile.TemporaryDirectory() as folder:
        history = os.path.join(folder, "history")
        process = sites.start(launch(sites, place, [*RUN, *PACE, "--history", history, *options]))
        if name != STARTING:
            wait_for_steps(history, process)
        began = time.monotonic()
        begin(sites, actions)
        if heals_after:
            time.sleep(heals_after)
            heal(sites, actions)
        try:
            _, err = process.communicate(timeout=20)
            code, ended = process.returncode, f"{time.monotonic() - began:.1f}"
            time.sleep(3)
        except subprocess.TimeoutExpired:
            code, ended, err = 124, "not within 20", None
        left = ours(sites)
        sites.end_all()
        if err is None:
            err = process.communicate()[1]
        heal(sites, actions)
        silent = sorted(set(re.findall(r"silent: ([0-9,]+)", err)))
        return [code, ended, " or ".join(silent) or "-", left, verdict(history)]


def ours(sites):
    """How many ranks are still there."""
    count = 0
    for pid in sites.processes():
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                count += file.read().startswith(os.path.abspath(ALAR))
        except OSError:
            pass
    return count


# The exit code of a launcher that lost a rank itself is its own, and its host is heard no longer.
SILENT = {"cut for ever, wait log": "0,1 or 2,3", "cut for ever, wait step": "0,1 or 2,3", "cut for 0.3 s": "-",
          "cut from site 1 to site 0 alone": "0,1 or 2,3", "link of host 4 down": "0,1,2 or 3",
          "links of hosts 3 and 4 down": "0,1,2 or 0,1,3 or 2,3", "cut, the launcher's network as well": "2,3", STARTING: "-"}


def main():
    names = sys.argv[1:] or list(FAULTS)
    wrong = 0
    with Sites(BUILD) as sites:
        for name in names:
            code, ended, silent, left, said = fault(sites, "MPICH, 4 hosts", name)
            bound = START_MS / 1000 if name == STARTING else 10 if FAULTS[name][1] else DEADLINE_MS / 1000
            good = (code == (0 if FAULTS[name][1] else 2) and silent == SILENT[name] and left == 0
                    and ended.replace(".", "").isdigit() and float(ended) <= bound + ENDS_S)
            wrong += not good
            print(f"{'as it should' if good else 'WRONG'}: {name}: exit code {code}, over after {ended} s, silent: {silent}, "
                  f"{left} left, {said}", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    try:
        main()
    except NoNamespaces as why:
        print(f"skip: {why}")
        sys.exit(77)
