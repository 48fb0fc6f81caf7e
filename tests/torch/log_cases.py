"""What alar.Log must do, as programs of three ranks: log_cases.py CASE... Each case ends with "good", or with an
AssertionError on some rank. Ranks are forked, so that torch is imported once."""
import itertools
import math
import os
import signal
import sys
import tempfile
import threading
import time
import traceback

import torch
import torch.distributed as dist

import alar

RANKS = 3
STEPS = 11
SCHEDULES = ["%s-%s" % (kind, place) for kind in ("async", "sync") for place in ("microbatch", "step", "window")]


def loss_of(rank, step, microbatch):
    """(sum, tokens), uneven: rank 1 has nothing at step 4, and steps differ by far."""
    if rank == 1 and step == 4:
        return 0.0, 0
    tokens = 3 + 29 * rank + step + microbatch
    return tokens * (1.0 / (1 + step) + 0.37 * rank + 0.011 * microbatch), tokens


def truth(first, last):
    """The mean over steps of sum / tokens, each sum rounded once."""
    steps = []
    for step in range(first, last + 1):
        pairs = [loss_of(rank, step, m) for rank in range(RANKS) for m in range(2)]
        steps.append(math.fsum(total for total, _ in pairs) / sum(tokens for _, tokens in pairs))
    return math.fsum(steps) / len(steps)


def train(rank, log, steps=range(STEPS)):
    reports = []
    for step in steps:
        for m in range(2):
            total, tokens = loss_of(rank, step, m)
            log.add("lm loss", torch.tensor(total, dtype=torch.float64), torch.tensor(tokens))
            log.add("norm", step * 10 + rank + m)
            log.microbatch()
        log.step()
        reports += log.reports()
    return reports


def new_log(**more):
    return alar.Log([("norm", "max"), "lm loss"], **{**dict(log_interval=4, microbatches=2, deadline=20), **more})


def close(log, reports):
    log.close()
    return reports + list(log.reports())


def case_schedules(rank):
    """All schedules, waits, lags and encodings give the same reports; exact the same bits."""
    exact = {}
    for schedule, (wait, lag, encoding) in itertools.product(SCHEDULES, (
            ("log", 0, "pair64"), ("log", 1, "pair64"), ("log", 4, "exact"), ("step", 0, "exact"))):
        log = new_log(schedule=schedule, wait=wait, lag=lag, encoding=encoding)
        reports = close(log, train(rank, log))
        assert len(reports) == 2 * 3, reports
        for i, one in enumerate(reports):
            first, last = 4 * (i // 2), min(4 * (i // 2) + 3, STEPS - 1)
            assert (one.first_step, one.step) == (first, last), one
            assert one.logged_at_step == min(last + lag, STEPS - 1), (schedule, lag, one)
            if one.metric == "norm":
                assert (one.value, one.rank, one.kind) == (last * 10 + RANKS, RANKS - 1, "max"), one
                continue
            assert abs(one.value - truth(first, last)) <= 4e-15, (schedule, one, truth(first, last))
            assert one.tokens == sum(loss_of(r, s, m)[1] for r in range(RANKS) for s in range(first, last + 1) for m in (0, 1))
            assert encoding != "exact" or exact.setdefault(first, one.value) == one.value, (schedule, exact, one)
        counts = log.counts()
        assert counts["failed"] == counts["timed_out"] == 0 and counts["posted"] == counts["ready"] + counts["waited"]


def case_empty(rank):
    """No token anywhere is EMPTY; a rank that has no data at all takes part all the same."""
    log = alar.Log(["lm loss"], log_interval=2)
    for step in range(4):
        if rank == 2 and step < 2:
            log.add("lm loss", 6.0, 3)
        log.step()
    first, second = close(log, [])
    assert (first.value, first.tokens, first.empty) == (2.0, 6.0, 0), first
    assert second.value is None and second.empty == 2, second


def case_uneven(rank):
    """Ranks with other numbers of steps: who closes early takes part until all have closed."""
    log = alar.Log(["lm loss"], log_interval=3, uneven=True, lag=1)
    reports = []
    for step in range(4 + 3 * rank):
        log.add("lm loss", 2.0 * (step + 1), 2)
        log.step()
        reports += log.reports()
    reports = close(log, reports)
    steps = [(one.first_step, one.step, one.tokens) for one in reports]
    assert steps == [(0, 2, 18.0), (3, 5, 14.0), (6, 8, 8.0), (9, 11, 2.0)], steps
    assert [one.value for one in reports] == [2.0, 5.0, 8.0, 10.0], reports


def case_nan(rank):
    """agree: all raise after the same step, which is logged; raise: the others name it; count goes on."""
    for lag in (0, 1):
        log = alar.Log(["lm loss"], log_interval=1, lag=lag, microbatches=2)
        try:
            for step in range(5):
                for m in range(2):
                    log.add("lm loss", math.nan if (rank, step, m) == (1, 2, 1) else 1.0, 1)
                    log.microbatch()
                log.step()
            assert False, "it went on"
        except alar.NonFinite as error:
            assert error.findings == [(1, 2, 1)] and step == 2 + lag, (error, step)
            assert str(error) == "a local loss is NaN or infinite: first: step 2, microbatch 1, rank 1", error
        last = list(log.reports())[-2 if lag else -1]
        assert last.step == 2 and math.isnan(last.value), last
        refused("the log is closed: a local loss is NaN", log.add, "lm loss", 1.0)
    log = alar.Log(["lm loss"], check_for_nan="count")
    log.add("lm loss", math.inf if rank == 1 else 1.0, 1)
    log.step()
    one, = close(log, [])
    assert one.nonfinite == 1 and one.nan_steps == 1 and math.isinf(one.value), one
    log = alar.Log(["lm loss"], check_for_nan="raise", deadline=1.5)
    try:
        log.add("lm loss", math.nan if rank == 1 else 1.0, 1)
        log.step()
        log.close()
        assert False
    except alar.NonFinite as error:
        assert rank == 1 and error.findings == [(1, 0, 0)], error
        time.sleep(4)
    except alar.Lost as error:
        assert error.status == "E_NONFINITE" and error.ranks == [1] and rank != 1, error


def case_resume(rank):
    """state_dict in the middle of an interval, and with a line that lags: each step is logged once."""
    for lag, stop in itertools.product((0, 1), range(1, STEPS, 2)):
        whole = new_log(lag=lag)
        expected = close(whole, train(rank, whole))
        log = new_log(lag=lag)
        reports = train(rank, log, range(stop))
        state = log.state_dict()
        log.close()
        log = new_log(lag=lag)
        log.load_state_dict(state)
        reports += log.reports()
        found = close(log, reports + train(rank, log, range(stop, STEPS)))
        assert [one[:4] for one in found] == [one[:4] for one in expected], (stop, found, expected)


def refused(words, call, *arguments, **more):
    try:
        call(*arguments, **more)
    except alar.BadInput as error:
        assert isinstance(error, ValueError) and words in str(error), (words, error)
        return
    raise AssertionError("not refused: %s %s" % (arguments, more))


def case_bad(rank):
    """What can't be used is an exception at the call, in the words of the C side, and changes nothing."""
    log = alar.Log(["lm loss", ("norm", "max")])
    for count in (-1, 0.5, math.nan, math.inf, torch.tensor(1.5), torch.tensor(-2)):
        refused("expected a count, a whole number from 0", log.add, "lm loss", 1.0, count)
    refused("the input can't be used: expected one of the metrics", log.add, "accuracy", 1.0, 1)
    refused("expected a value without gradient", log.add, "lm loss", torch.ones(1, requires_grad=True), 1)
    refused("expected one element, found 3", log.add, "lm loss", torch.ones(3), 1)
    log.add("lm loss", 8.0, 4)
    refused("has a log that is open", alar.Log, ["lm loss"])
    log.microbatch()
    refused("a value is out of range: step 0 has 1 microbatches", log.microbatch)
    refused("expected the end of a step, found step 0 begun", log.state_dict)
    log.step()
    refused("expected a new log, found step 1", log.load_state_dict, log.state_dict())
    log.close()
    log.close()
    assert [one.value for one in log.reports()] == [2.0, None]
    for call in (log.step, log.microbatch):
        refused("the log is closed", call)
    for more in (dict(schedule="async"), dict(lag=2), dict(lag=1, wait="step"), dict(log_interval=0.5), dict(deadline=0),
                 dict(normalization="mean"), dict(encoding="fp8"), dict(check_for_nan=True), dict(window=1 << 20)):
        refused("", alar.Log, ["lm loss"], **more)
    for metrics in (["a,b"], ["a", "a"], [""], [("a", "median")], ["m%d" % i for i in range(17)]):
        refused("", alar.Log, metrics)


def case_groups(rank):
    """A group of some ranks; one without this rank; ranks with other metrics."""
    some = dist.new_group([0, 2])
    if rank == 1:
        refused("expected a group with this rank, 1, in it", alar.Log, ["lm loss"], group=some)
        if torch.__version__.startswith("1."):
            dist.new_group([0, 2])  # there all ranks of the world make a group
    else:
        log = alar.Log([("norm", "max")], group=some)
        log.add("norm", 10 - rank)
        log.step()
        one, = close(log, [])
        assert (one.value, one.rank) == (10, 0), one
    dist.barrier()
    try:
        alar.Log(["lm loss", "loss" if rank == 2 else "z loss"], deadline=10)
        assert False
    except alar.Error as error:
        assert error.status == "E_SCHEMA" and "rank 2: expected [" in str(error) and "('z loss', 'mean')" in str(error), error


def case_devices(rank):
    """Sums that are kept on a device: the way of a GPU, with the host in its place and copies that take their time."""
    from alar.sums import Fetched
    asked = []
    Fetched.is_here = lambda self: asked.append(1) or len(asked) % 3 == 0
    for lag in (0, 1):
        log = new_log(lag=lag)
        log.add = lambda name, value, count=1: log._device.add(log._index[name], value, count)
        reports = close(log, train(rank, log))
        values = [one.value for one in reports if one.metric == "lm loss"]
        assert len(values) == 3 and all(abs(value - truth(first, last)) <= 4e-15 for value, (first, last) in zip(
            values, ((0, 3), (4, 7), (8, 10)))), reports
        assert [one.value for one in reports if one.metric == "norm"] == [33, 73, 103] and asked, reports


class Oversleep(threading.Thread):
    """By how much the machine was late at most, in a thread that does nothing but sleep: its load, not the log's doing."""

    def __init__(self):
        super().__init__(daemon=True)
        self.worst = 0.0
        self.start()

    def run(self):
        while True:
            since = time.monotonic()
            time.sleep(0.01)
            self.worst = max(self.worst, time.monotonic() - since - 0.01)


def stopped(rank, deadline, silent, words, ranks):
    """One rank is stopped by SIGSTOP: the others raise by their deadline, and at most 0.1 s later."""
    log = alar.Log(["lm loss"], deadline=deadline)
    log.add("lm loss", 1.0)
    log.step()
    if rank == silent:
        os.kill(os.getpid(), signal.SIGSTOP)
    log.add("lm loss", 1.0)
    machine, since = Oversleep(), time.monotonic()
    try:
        log.step()
        assert False
    except alar.Lost as error:
        took = time.monotonic() - since
        assert error.status == "E_LOST" and error.ranks == ranks and str(error) == "a rank is silent: " + words, (error, error.ranks)
        assert deadline <= took <= deadline + 0.1 + 5 * machine.worst, (took, machine.worst)
    refused("the log is closed: a rank is silent", log.step)


def case_stopped(rank):
    """A rank that is stopped: the others raise by their deadline and name it."""
    stopped(rank, 3.0, 2, "rank 2 did not answer within the deadline", [2])


def case_host(rank):
    """The same where that rank keeps the store in which the others would say where they stand."""
    stopped(rank, 1.0, 0, "the program's store did not answer within the deadline, which rank 0 keeps", [0])


def case_died(rank):
    """A rank whose process ends: the others say so, and do not hang."""
    log = alar.Log(["lm loss"], deadline=20.0)
    log.add("lm loss", 1.0)
    log.step()
    if rank == 2:
        os._exit(0)
    try:
        for _ in range(3):
            log.add("lm loss", 1.0)
            log.step()
        assert False
    except alar.Lost as error:
        assert error.status in ("E_LOST", "E_BACKEND"), error


def store_of(rank, case, path):
    """A file; for `host` a server within rank 0, whose port the others read."""
    if case != "host":
        return dist.FileStore(path, RANKS)
    server = dist.TCPStore("127.0.0.1", 0, RANKS, True, wait_for_workers=False) if rank == 0 else None
    if server:
        with open(path + ".port", "w") as file:
            file.write(str(server.port))
        os.rename(path + ".port", path)
        return server
    while not os.path.exists(path):
        time.sleep(0.01)
    with open(path) as file:
        return dist.TCPStore("127.0.0.1", int(file.read()), RANKS, False)


def run(rank, case, store):
    status = 1
    try:
        dist.init_process_group("gloo", store=store_of(rank, case, store), rank=rank, world_size=RANKS)
        globals()["case_" + case](rank)
        status = 0
    except BaseException:
        print("rank %d:" % rank, traceback.format_exc(), flush=True)
    sys.stdout.flush()
    os._exit(status)  # torch's own groups would wait for ranks that are gone


def main(case):
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as directory:
        children = []
        for rank in range(RANKS):
            pid = os.fork()
            if pid == 0:
                run(rank, case, os.path.join(directory, "store"))
            children.append(pid)
        silent = {"stopped": children[2:], "host": children[:1]}.get(case, [])
        codes = [os.waitpid(pid, 0)[1] for pid in children if pid not in silent]
        for pid in silent:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    print("%s: %s" % (case, "bad" if any(codes) else "good"), flush=True)
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(max(main(case) for case in sys.argv[1:]))
