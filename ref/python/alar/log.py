"""alar.Log: logs a loss over all ranks of a PyTorch program without waiting for the slowest one.

    log = alar.Log(["lm loss", ("grad norm", "max")], log_interval=10, lag=1)
    for step, batch in enumerate(data):
        ...
        log.add("lm loss", loss_sum, tokens)         # once or more a step; tensors or numbers
        log.add("grad norm", norm)
        log.step()
        for report in log.reports():
            print(report.step, report.metric, report.value)
    log.close()
    for report in log.reports(): ...

The engine of `alar run` decides when a reduction is issued, in which order values are taken and what a number
means; torch.distributed carries. What is logged can be judged: run the program under alar.torch, then alar check.
"""
import collections
import math
import os
import sys

import torch

from . import embed
from .carrier import GRACE_SECONDS, LATE_SECONDS, _named, carrier
from .embed import BadInput, Error
from .outcome import Lost, NonFinite, Report
from .sums import DeviceSums

ACTIVE = "alar ranks with data"  # of uneven logs: a sum, EMPTY where every rank has closed
RAISED = 1 << 62  # a rank that raised answers whatever is asked


class Log:
    """One rank's log. All ranks of `group` make one at the same time, add and step in the same order, and close.

    metrics         names, or (name, kind) with kind mean, sum, min or max; at most 16
    group           its ranks (default: all); the log makes a gloo group of its own for them
    log_interval    steps that a report covers
    schedule        async-step (default): one all-reduce a step; async-window: one a log line; async-microbatch;
                    and sync-... , which wait for each at once
    microbatches    of a step; what matters for rank-mean, microbatch-mean, *-microbatch and for naming a NaN
    wait            "log": at the log line; "step": at the end of each step
    lag             steps by which a log line is written late, at most log_interval, so that not even the last
                    all-reduce is waited for; needs wait="log"
    normalization   token-weighted, rank-mean, microbatch-mean or seed-undivided; over: steps or pooled
    encoding        pair64 (default), pair32, or exact: integers, correctly rounded, the same bits everywhere
    check_for_nan   agree: all ranks raise NonFinite after the step; raise: that rank at once; count; off
    deadline        seconds of one wait; then Lost, at most 0.1 s later, which names who is missing
    window          pending all-reduces at most; default: all of an interval
    uneven          ranks may have other numbers of steps: who closes early takes part until all have closed
    device          where sums of tensors that are not on the host are kept; default: the current CUDA device

    Raises BadInput for what can't be used; Error (E_SCHEMA) where ranks differ in any of this.
    """

    def __init__(self, metrics=("loss",), *, group=None, log_interval=1, schedule="async-step", microbatches=1, wait="log",
                 lag=0, normalization="token-weighted", over="steps", encoding="pair64", check_for_nan="agree", deadline=30.0,
                 window=0, uneven=False, device=None):
        named = [(one, "mean") if isinstance(one, str) else tuple(one) for one in metrics]
        self._uneven = uneven
        self._all = named + [(ACTIVE, "sum")] * uneven
        words = (("schedule", schedule, embed.SCHEDULES), ("normalization", normalization, embed.NORMALIZATIONS),
                 ("over", over, embed.OVER), ("encoding", encoding, embed.ENCODINGS), ("check_for_nan", check_for_nan, embed.CHECKS),
                 ("wait", wait, embed.WAITS)) + tuple(("kind of " + name, kind, embed.KINDS) for name, kind in named)
        number = {name: _word(name, word, known) for name, word, known in words}
        if not deadline > 0:
            raise BadInput("E_RANGE", "deadline: expected seconds, found %r" % (deadline,))
        config = embed.Config(
            placement=number["schedule"] % 3, is_sync=number["schedule"] >= 3, normalization=number["normalization"],
            over=number["over"], encoding=number["encoding"], check=number["check_for_nan"], log_interval=_whole(log_interval),
            microbatches=_whole(microbatches), window=_whole(window, 1 << 14), waits_at_log=wait == "log", lag=_whole(lag))
        self._words = {"normalization": normalization, "over": over}
        self._microbatches, self._is_placed = microbatches, config.placement == 0
        self._carrier, self._is_over, self._error, self._is_refused = None, False, None, False
        self._check(config)
        self._carrier = carrier(group, float(deadline))
        self._engine = embed.Engine(config, embed.Place(rank=self._carrier.rank, ranks=self._carrier.ranks), self._all)
        text = "%s|%s|%s|%s|%s|%d|%d|%d|%s|%s" % (sorted(self._all), normalization, over, encoding, schedule, log_interval,
                                               microbatches, lag, wait, check_for_nan)
        try:
            self._carrier.compare(text)
        except Error:
            self._carrier.close(False)
            raise
        self._carrier.open_slots(self._engine)
        self._index = {name: i for i, (name, _) in enumerate(self._all)}
        self._kinds = [kind for _, kind in self._all]
        self._is_mean = [kind in ("mean", "sum") for kind in self._kinds]
        self._key = ",".join(sorted(name for name, _ in self._all))
        self._sum, self._count = [0.0] * len(self._all), [0] * len(self._all)
        self._device = DeviceSums(self._kinds, device)
        self._late = collections.deque()  # microbatches whose sums are still on their way from the device
        self._is_late = lag > 0
        self._recorded = {}  # handles by number, where alar.torch records
        self._work, self._numbers, self._lines = {}, collections.deque(), collections.deque()
        self._kept = collections.deque()  # (step, [samples of a microbatch]) of what no report covers yet
        self._next, self._microbatch, self._interval = 0, 0, log_interval
        self._has_data = True  # on some rank, in the last line of an uneven log
        self._number = 0  # of the operation that is waited for

    def _check(self, config):
        """What the library refuses is refused before a group is made."""
        embed.Engine(config, embed.Place(rank=0, ranks=1), self._all)

    # ---- the program's side ----------------------------------------------------------------------------

    def add(self, name, value, count=1):
        """Adds to the current microbatch. mean and sum: `value` is a sum over `count` tokens, or samples; min, max:
        it is the value itself. Tensors of one element, of any device, or numbers; nothing is synchronised."""
        i = self._index.get(name)
        if i is None:
            raise BadInput("E_INPUT", "expected one of the metrics that the log was made with, found %r" % (name,))
        if self._is_over:
            self._refuse()
        if isinstance(value, torch.Tensor):
            if value.requires_grad:
                raise BadInput("E_INPUT", "%s: expected a value without gradient: detach() it" % name)
            if not value.is_cpu or isinstance(count, torch.Tensor) and not count.is_cpu:
                return self._device.add(i, value, count)
            value = _item(name, value)
        if isinstance(count, torch.Tensor):
            if not count.is_cpu:
                return self._device.add(i, value, count)
            count = _item(name, count)
        if not 0 <= count <= 1 << 53 or count % 1:
            raise BadInput("E_INPUT", "%s: expected a count, a whole number from 0, found %r" % (name, count))
        if self._is_mean[i]:
            self._sum[i] += value
        elif count:
            self._sum[i] = _extreme(self._kinds[i], self._sum[i], value) if self._count[i] else float(value)
        self._count[i] += count

    def microbatch(self):
        """Ends a microbatch. Needed where there are several a step; the last one is ended by step(), too."""
        if self._is_over:
            self._refuse()
        if self._microbatch == self._microbatches:
            raise BadInput("E_RANGE", "step %d has %d microbatches: step() ends it" % (self._next, self._microbatches))
        self._microbatch += 1
        samples = list(zip(self._sum, self._count))
        self._sum, self._count = [0.0] * len(samples), [0] * len(samples)
        if self._late or self._device.is_used:
            self._late.append((self._next, samples, self._device.fetch()))
        else:
            self._contribute(self._next, samples)

    def step(self):
        """Ends the step: microbatches that are missing are empty. Waits where the schedule says so, and raises
        NonFinite or Lost as the run ends; reports() has by then all that is still to be logged."""
        if self._is_over:
            self._refuse()
        if self._uneven:
            self._sum[-1] = self._count[-1] = 1
        self._end_step()

    def reports(self):
        """Takes the reports that have become due, in order."""
        while self._lines:
            yield self._lines.popleft()

    def close(self):
        """Waits for what is pending, so that the last reports can be read, and ends the log. All ranks call.
        Again, or after the log has raised: nothing."""
        if self._is_over:
            return
        if any(self._count) or self._microbatch:
            self.step()
        while self._uneven and self._has_data and not self._is_over:
            self._end_step()
        self._drain(0)
        if not self._is_over:
            self._tell(embed.FINISH)

    def state_dict(self):
        """What a resumed run needs, so that each step is logged once: this rank's own sums of the steps that no
        report covers yet, reports that were not read, and the number of the next step. Between steps only."""
        if any(self._count) or self._microbatch:
            raise BadInput("E_ILLEGAL", "state_dict: expected the end of a step, found step %d begun" % self._next)
        self._drain(0)
        return {"step": self._next, "schema": self._engine.schema, "ranks": self._carrier.ranks,
                "kept": [(step, list(samples)) for step, samples in self._kept], "reports": [tuple(one) for one in self._lines]}

    def load_state_dict(self, state):
        """Goes on where state_dict() was called; all ranks call, each with its own, before the first step."""
        if self._next or self._microbatch or any(self._count):
            raise BadInput("E_ILLEGAL", "load_state_dict: expected a new log, found step %d" % self._next)
        if (state["schema"], state["ranks"]) != (self._engine.schema, self._carrier.ranks):
            raise BadInput("E_SCHEMA", "load_state_dict: expected the state of the same metrics on %d ranks" % self._carrier.ranks)
        self._lines.extend(Report(*one) for one in state["reports"])
        for i, (step, samples) in enumerate(state["kept"]):
            self._contribute(step, [tuple(one) for one in samples])
            if i + 1 == len(state["kept"]) or state["kept"][i + 1][0] != step:
                self._tell(embed.STEP_END)
        self._next = state["step"]

    def counts(self):
        """{posted, ready, waited, failed, timed_out, peak}: all-reduces, and how many were complete before
        anybody waited for them."""
        return self._engine.counts()

    # ---- towards the engine ------------------------------------------------------------------------------

    def _end_step(self):
        while self._microbatch < self._microbatches:
            self.microbatch()
        self._microbatch = 0
        self._next += 1
        self._has_data = True
        if self._late:
            self._late.append(None)
            self._drain(1 if self._is_late else 0 if self._next % self._interval == 0 else 2)
        else:
            self._tell(embed.STEP_END)

    def _drain(self, steps):
        """Contributes what has come from the device; waits for it where more than `steps` steps are behind."""
        late = self._late
        while late:
            if late[0] is None:
                late.popleft()
                self._tell(embed.STEP_END)
            elif late[0][2] is None or late[0][2].is_here() or late.count(None) > steps:
                step, samples, fetched = late.popleft()
                self._contribute(step, samples if fetched is None else fetched.merge(samples))
            else:
                return

    def _contribute(self, step, samples):
        self._engine.samples[:] = [number for sample in samples for number in sample]
        self._kept.append((step, samples))
        self._tell(embed.CONTRIBUTE, step=step)

    def _tell(self, kind, **more):
        """An event of the program, and everything that the engine then wants done."""
        if kind == embed.STEP_END and self._work:
            self._look()
        engine = self._engine
        action = engine.tell(kind, **more)
        while action != embed.READY and action != embed.CLOSED:
            action = self._SERVE[action](self, engine)
        if action == embed.CLOSED:
            self._end(engine)

    def _look(self):
        """What is complete by now was not waited for."""
        while self._numbers:
            slot, _ = self._numbers[0]
            if not self._carrier.is_done(self._work[slot]):
                return
            self._numbers.popleft()
            self._engine.tell(embed.COMPLETE, slot)

    def _post(self, engine):
        slot = engine.action.slot
        op = engine.op(slot)
        torch_log = _recording()
        try:
            if torch_log is None:
                self._work[slot] = self._carrier.post(slot, op)
            else:
                for name, kind in self._all:
                    kind == "mean" or torch_log.declare(name, kind)
                placed = {"microbatch": op.microbatch} if self._is_placed else {}
                with torch_log.label(key=self._key, step=op.step, pairs=op.pairs, elements=op.elements, **placed):
                    self._work[slot] = self._recorded[op.number] = self._carrier.post(slot, op)
        except Exception as error:
            self._error, self._is_refused = error, True
            return engine.tell(embed.POST_REFUSED)
        self._numbers.append((slot, op.number))
        return engine.tell(embed.POSTED)

    def _await(self, engine):
        slot, self._number = self._numbers.popleft()
        try:
            is_here = self._carrier.wait(self._work[slot], self._note)
        except Exception as error:
            self._error = error
            return engine.tell(embed.FAIL, slot)
        return engine.tell(embed.COMPLETE, slot) if is_here else engine.tell(embed.EXPIRE)

    def _retire(self, engine):
        return engine.tell(embed.RETIRED)

    def _report(self, engine):
        made, ops = engine.reports()
        last = made[0].step
        self._has_data = not any(one.metric == ACTIVE.encode() and one.is_empty for one in made)
        for one in made:
            if one.metric == ACTIVE.encode():
                continue
            kind = self._kinds[self._index[one.metric.decode()]]
            line = Report(one.metric.decode(), None if one.is_empty else one.loss, one.first_step, one.step, max(one.logged_at_step, self._next - 1),
                          one.steps, kind, one.tokens, one.nonfinite, one.nan_steps, one.empty,
                          self._carrier.world_ranks[one.extreme_rank] if kind in ("min", "max") and not one.is_empty else None)
            if self._has_data:  # else it stands behind the last step of all ranks, and is said to the oracle alone
                self._lines.append(line)
            self._record(line, [self._recorded[number] for number in ops if number in self._recorded])
        for number in ops:
            self._recorded.pop(number, None)
        while self._kept and self._kept[0][0] <= last:
            self._kept.popleft()
        return engine.tell(embed.REPORTED)

    def _record(self, line, works):
        torch_log = _recording()
        if torch_log is not None and works:
            torch_log.report(line.metric, line.value, line.step, works, first_step=line.first_step, logged_at_step=line.logged_at_step,
                             kind=line.kind, nonfinite=line.nonfinite, **self._words)

    def _stop(self, engine):
        self._is_over = True
        return engine.tell(embed.TORN_DOWN)

    _SERVE = {embed.POST: _post, embed.AWAIT: _await, embed.RETIRE: _retire, embed.REPORT: _report, embed.STOP: _stop}

    # ---- the end -------------------------------------------------------------------------------------

    def _note(self):
        return self._engine.note(), self._number

    def _end(self, engine):
        """The run is over: well, or with an exception that says why."""
        status = next(name for name, code in embed.NAMES.items() if code == engine.action.status)
        try:
            self._raise(status, engine)
        except Error as error:
            self._error = error
            raise
        finally:
            self._carrier.close(status in ("OK", "E_NONFINITE"))

    def _raise(self, status, engine):
        if status == "E_NONFINITE":
            found = [(self._carrier.world_ranks[rank], step, microbatch) for rank, step, microbatch in engine.findings()]
            rank, step, microbatch = found[0]
            self._carrier.say((engine.note(), RAISED))
            raise NonFinite(status, "first: step %d, microbatch %d, rank %d" % (step, microbatch, rank), found)
        if status in ("E_MISCOUNT", "E_SCHEMA"):
            raise Error(status, engine.why())
        if status != "OK":
            self._raise_lost(status, engine)

    def _raise_lost(self, status, engine):
        note, number = self._note()
        is_failure = status == "E_BACKEND"
        why = " (%s)" % str(self._error).strip().splitlines()[0] if is_failure and self._error else ""
        if is_failure and not self._is_refused:
            note.status = 0  # the failure tells of another rank
        notes, is_answered = self._carrier.ask((note, number), GRACE_SECONDS if is_failure else LATE_SECONDS)
        if not is_answered:
            host = [] if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True" else [0]
            raise Lost("E_LOST", "the program's store did not answer within the deadline, which %s keeps%s"
                       % ("rank 0" if host else "torchrun", why), host)
        missing = [self._carrier.world_ranks[rank] for rank in range(self._carrier.ranks) if rank not in notes]
        ending, culprit = engine.judge(notes)
        if ending == "E_LOST":
            raise Lost(ending, "%s did not answer within the deadline%s" % (_named(missing), why), missing)
        if ending == "E_TIMEOUT" and is_failure:
            raise Lost(status, "all ranks answer" + why, [])
        at = self._carrier.world_ranks[culprit]
        raise Lost(ending, "rank %d, at step %d, microbatch %d%s" % (at, notes[culprit].step, notes[culprit].microbatch, why), [at])

    def _refuse(self):
        raise BadInput("E_ILLEGAL", "the log is closed%s" % (": %s" % self._error if self._error else ""))


def _recording():
    """alar.torch, while it records this program."""
    recorder = sys.modules.get("alar.torch")
    return recorder if recorder is not None and recorder.recording() is not None else None


def _word(name, word, known):
    if word not in known:
        raise BadInput("E_INPUT", "%s: expected one of %s, found %r" % (name, ", ".join(known), word))
    return known.index(word)


def _whole(number, most=(1 << 32) - 1):
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= most:
        raise BadInput("E_RANGE", "expected a whole number up to %d, found %r" % (most, number))
    return number


def _item(name, tensor):
    try:
        return tensor.item()
    except (RuntimeError, ValueError):
        raise BadInput("E_INPUT", "%s: expected one element, found %d" % (name, tensor.numel())) from None


def _extreme(kind, a, b):
    if math.isnan(a) or math.isnan(b):
        return math.nan
    return float(min(a, b) if kind == "min" else max(a, b))
