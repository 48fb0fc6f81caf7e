#!/usr/bin/python3
"""stops.py ALAR SIGNAL TIMES [SEED]: SIGSTOP or SIGKILL for a drawn rank at a drawn moment of the life of `alar run` on 4 MPICH ranks.

Each time: is the run over by its deadline, a tenth (at least 100 ms) and the 1.2 s in which it takes leave (and 0.1 s for
each unit of load); does it end with code 2; does each survivor name the rank; is no process left? Ends with a table of what
was found by the phase that was hit, and with 1 when something above did not hold. Who was hit after its last word is missed by nobody. Of a killed rank hydra makes the
end of all at once: then the run is over, no process is left, and its code is not 0."""
import collections
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ALAR, SIGNAL, TIMES = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3])
RANKS, DEADLINE_MS, START_MS = 4, 1000, 4000
draw = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
TOP = os.getcwd()
WORDS = ["--losses", TOP + "/tests/data/gpt-losses/train", "--async-log-allreduce", "--steps", "0:60", "--compute-us", "1000",
         "--deadline-ms", str(DEADLINE_MS), "--start-deadline-ms", str(START_MS), "--quiet"]


def start(folder):
    line = 'echo $$ >pid.$PMI_RANK; exec "$0" run "$@" --history h >out.$PMI_RANK 2>&1'
    return subprocess.Popen(["mpiexec.mpich", "-n", str(RANKS), "bash", "-c", line, ALAR, *WORDS], cwd=folder,
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def read(folder, name):
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read()
    except OSError:
        return ""


def is_running(pid):
    state = read("/proc", "%d/stat" % pid).rpartition(")")[2].split()
    return bool(state) and state[0] != "Z"


def phase(folder, rank):
    history = read(folder, "h/rank%d.jsonl" % rank) or read(folder, "h/rank%d.jsonl.tmp" % rank)
    if not history:
        return "start"
    return "twin and end" if '"ev":"end"' in history else "pass"


def once(length):
    folder = tempfile.mkdtemp()
    job, began = start(folder), time.monotonic()
    victim, moment = draw.randrange(RANKS), draw.random() * length
    try:
        while time.monotonic() - began < moment or not read(folder, "pid.%d" % victim):
            time.sleep(0.001)
        pid = int(read(folder, "pid.%d" % victim))
        hit, is_late = phase(folder, victim), job.poll() is not None or not is_running(pid)
        if not is_late:
            os.kill(pid, getattr(signal, "SIG" + SIGNAL))
        hurt = time.monotonic()
        limit = (START_MS if hit == "start" else DEADLINE_MS) / 1000
        try:
            job.wait(limit + 10)
        except subprocess.TimeoutExpired:
            pass
        took = time.monotonic() - hurt
        others = [r for r in range(RANKS) if r != victim]
        left = [int(read(folder, "pid.%d" % r)) for r in range(RANKS) if read(folder, "pid.%d" % r)]
        until = time.monotonic() + 3  # for those who have been told to end
        while any(map(is_running, left)) and job.poll() is not None and time.monotonic() < until:
            time.sleep(0.05)
        left = [p for p in left if is_running(p)]
        named = [bool(re.search(r"(silent|on this host):.* %d\b" % victim, read(folder, "out.%d" % r))) for r in others]
        unknown = any("none that can be seen" in read(folder, "out.%d" % r) for r in others)
        is_end = any("in the end of the library" in read(folder, "out.%d" % r) for r in others)  # who had left has left
        done = [read(folder, "out.%d" % r).startswith("summary") or not read(folder, "out.%d" % r) for r in others]
        if is_late or SIGNAL == "STOP" and (all(done) and not any(named) and not unknown and not left):
            what = "over before it was missed"
        elif job.poll() is None or left:
            what = "LEFT BEHIND" if job.poll() is not None else "STILL RUNNING"
        elif SIGNAL == "KILL" and job.returncode != 0:
            what = "ended at once by the launcher"
        elif took > limit + max(0.1 * limit, 0.1) + 1.2 + 0.1 * os.getloadavg()[0]:
            what = "LATE, %.1f s" % took
        elif job.returncode & 2 == 0 and hit != "start" and not is_end:  # where the exit code is hydra's to choose
            what = "CODE %d" % job.returncode
        else:
            what = "named by all who were there" if is_end else "named by all" if all(named) else "the library did not return: not named" if unknown else "NOT NAMED by all"
        return hit, what, took, [read(folder, "out.%d" % r) for r in range(RANKS)]
    finally:
        for r in range(RANKS):
            try:
                os.kill(int(read(folder, "pid.%d" % r) or "x"), signal.SIGKILL)
            except (OSError, ValueError):
                pass
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    folder, began = tempfile.mkdtemp(), time.monotonic()
    assert start(folder).wait(120) == 0, "a healthy run"
    length = time.monotonic() - began
    shutil.rmtree(folder)
    found, longest = collections.Counter(), 0.0
    for k in range(TIMES):
        hit, what, took, said = once(length)
        found[hit, what.split(",")[0]] += 1
        longest = max(longest, took)
        if what.split()[0].isupper():
            print("%d: hit in the %s: %s" % (k, hit, what), *said, sep="\n  ", flush=True)
    print("SIG%s, %d times over %.2f s of %d ranks, deadline %d ms, start %d ms, load %.0f; longest %.2f s" % (
        SIGNAL, TIMES, length, RANKS, DEADLINE_MS, START_MS, os.getloadavg()[0], longest))
    for (hit, what), count in sorted(found.items()):
        print("| %s | %s | %d |" % (hit, what, count))
    bad = sum(count for (_, what), count in found.items() if what.split()[0].isupper())
    print("%d of %d ended as promised" % (TIMES - bad, TIMES))
    sys.exit(bad > 0)


main()
