"""The losses of tests/data through alar.Log on four ranks, as `alar run --input sums` logs them:

    log_runs.py [--schedule S] [--wait W] [--lag N] [--encoding E] [--log-interval N] [--steps N] [--deadline-ms N]
                [--check-for-nan C] [--faults PLAN]

Prints what rank 0 logged, one JSON line a report with the fields of `alar run --log-json`; leaves with the exit code of the
documented classes. A plan breaks what faults/points.def names, where Python touches the world."""
import argparse
import json
import os
import re
import signal
import struct
import sys
import tempfile
import time

import torch
import torch.distributed as dist

import alar

SHAPE = (4, 200, 4, 2)  # ranks, steps, microbatches, loss sum and tokens
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
POINTS = re.findall(r'^POINT\(\w+, +"([^"]+)"', open(os.path.join(ROOT, "faults/points.def")).read(), re.M)


def losses():
    with open(os.path.join(ROOT, "tests/data/gpt-losses/train/local_sum_tokens.npy"), "rb") as file:
        data = file.read()
    count = SHAPE[0] * SHAPE[1] * SHAPE[2] * SHAPE[3]
    return torch.frombuffer(bytearray(data[-4 * count:]), dtype=torch.float32).reshape(SHAPE)


class Faults:
    """A plan on one rank: `hit(point)` counts, and gives the value where the point fires."""

    def __init__(self, path, rank):
        self.lines, self.hits = [], {}
        for line in open(path) if path else ():
            if line.strip() and not line.startswith("#"):
                point, where, first, repeat, value = line.split()
                assert point in POINTS, point
                if where in ("*", str(rank)):
                    last = float("inf") if repeat == "*" else int(first) + int(repeat) - 1
                    self.lines.append((point, int(first), last, int(value)))

    def hit(self, point):
        self.hits[point] = count = self.hits.get(point, 0) + 1
        return next((value for name, first, last, value in self.lines if name == point and first <= count <= last), None)

    def contribution(self, value, tokens):
        delay, mute = self.hit("alar/rank/delay"), self.hit("alar/rank/mute")
        if delay:
            time.sleep(delay / 1e6)
        if mute is not None:
            os.kill(os.getpid(), signal.SIGSTOP)
        if tokens and self.hit("alar/loss/nan") is not None:
            value = float("nan")
        if self.hit("alar/loss/empty") is not None:
            value, tokens = 0.0, 0
        return value, tokens

    def wrap(self, carrier):
        """Refuses posts, tells completions late or never."""
        post, is_completed = carrier.post, {}

        def faulty(slot, op):
            if self.hit("alar/post/fail") is not None:
                raise RuntimeError("out of resources")
            work = post(slot, op)
            late, never = self.hit("alar/complete/late"), self.hit("alar/complete/never")
            if late or never is not None:
                work = Late(work, time.monotonic() + (1e9 if never is not None else late / 1e6))
            return is_completed.setdefault(slot, work) and work
        carrier.post = faulty


class Late:
    def __init__(self, work, until):
        self.work, self.until = work, until

    def is_completed(self):
        return time.monotonic() >= self.until and self.work.is_completed()

    def wait(self):
        return self.work.wait()


def train(rank, options):
    sums = losses()[rank]
    faults = Faults(options.faults, rank)
    log = alar.Log(["lm loss"], schedule=options.schedule, wait=options.wait, lag=options.lag, encoding=options.encoding,
                   log_interval=options.log_interval, microbatches=SHAPE[2], check_for_nan=options.check_for_nan,
                   deadline=options.deadline_ms / 1000)
    faults.wrap(log._carrier)
    code, said = 0, ""
    try:
        for step in range(options.steps):
            for m in range(SHAPE[2]):
                value, tokens = sums[step, m].tolist()
                log.add("lm loss", *faults.contribution(value, tokens))
                log.microbatch()
            log.step()
        log.close()
    except alar.NonFinite as error:
        code, said = 1, str(error)
    except alar.Lost as error:
        code, said = 1 if error.status == "E_NONFINITE" else 2, str(error)
    for one in log.reports():
        if rank == 0:
            print(json.dumps({"step": one.step, "first_step": one.first_step, "logged_at_step": one.logged_at_step, "loss": one.value,
                              "bits": struct.pack(">d", one.value).hex(), "tokens": int(one.tokens)}))
    if said:
        print("rank %d: %s" % (rank, said), file=sys.stderr)
    sys.stdout.flush()
    return code


def run(rank, options, store):
    code = 4
    try:
        dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=SHAPE[0])
        code = train(rank, options)
    finally:
        if code == 4:
            import traceback
            traceback.print_exc()
        torch_log = sys.modules.get("alar.torch")
        if torch_log is not None and torch_log.recording() is not None:
            torch_log.recording().stop()
        os._exit(code)


def main():
    parser = argparse.ArgumentParser()
    for name, kind, otherwise in (("schedule", str, "async-step"), ("wait", str, "log"), ("lag", int, 0), ("encoding", str, "pair64"),
                                  ("log-interval", int, 10), ("steps", int, SHAPE[1]), ("deadline-ms", int, 30000),
                                  ("check-for-nan", str, "agree"), ("faults", str, None)):
        parser.add_argument("--" + name, type=kind, default=otherwise)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as directory:
        children = {}
        for rank in range(SHAPE[0]):
            pid = os.fork()
            if pid == 0:
                run(rank, options, os.path.join(directory, "store"))
            children[pid] = rank
        codes = set()
        while children:
            pid, status = os.waitpid(-1, os.WUNTRACED)
            if os.WIFSTOPPED(status):  # a mute rank: the others end without it
                others = [other for other in children if other != pid]
                codes |= {os.waitpid(other, 0)[1] >> 8 for other in others}
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                break
            codes.add(status >> 8)
            children.pop(pid)
    return next(code for code in (4, 1, 3, 2, 0) if code in codes)


if __name__ == "__main__":
    sys.exit(main())
