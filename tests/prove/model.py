"""Small histories as data, and what spec/semantics.md says of each: nothing here knows the judge.

A history is a contract and a list of records for each rank. `verdict` goes through them rule by rule and
answers with the worst of

    WRONG    a rule is broken: the judge must not pass it
    OPEN     the documents leave room: counted by reason, and nothing is asked
    LESS     something that would be needed was not recorded: the judge must say UNKNOWN
    HEALTHY  the judge must pass it

together with the reason. All contributions here are powers of two, so a sum has one legal value.
"""

from fractions import Fraction

HEALTHY, LESS, OPEN, WRONG = range(4)
LEFT = "goes on after its exit"
NAMES = ("healthy", "less", "open", "wrong")


class Rec:
    """A record without its rank and time; `rest` is its text from the operation on."""

    __slots__ = ("ev", "op", "field", "rest")

    def __init__(self, ev, op=None, **field):
        self.ev, self.op, self.field = ev, op, field
        parts = [] if op is None else ['"op":%d' % op]
        parts += ['"%s":%s' % (name.rstrip("_"), text_of(value)) for name, value in field.items()]
        self.rest = "".join("," + part for part in parts)

    def get(self, name, default=None):
        return self.field.get(name, default)

    def but(self, **changed):
        """The same with other fields; a field of None goes."""
        field = {name: value for name, value in {**self.field, **changed}.items() if value is not None}
        return Rec(self.ev, self.op, **field)

    def line(self, rank, t=None):
        time = "" if t is None else ',"t":%d' % t
        return '{"ev":"%s","rank":%d%s%s}\n' % (self.ev, rank, self.rest, time)


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"%s"' % value
    if isinstance(value, (list, tuple)):
        return "[%s]" % ",".join(map(text_of, value))
    return str(value)


class Contract:
    def __init__(self, wait="blocking", once=False):
        self.is_stream, self.is_once = wait == "stream", once
        words = {"wait": wait} if self.is_stream else {}
        if once:
            words["use"] = "once"
        self.text = ""
        if words:
            self.text = '{"ev":"contract",%s}\n' % ",".join('"%s":"%s"' % item for item in words.items())


def length(issue):
    """Elements of an operation."""
    return issue.get("n") or len(issue.get("in_"))


class Op:
    """One operation on one rank, as far as its records have told."""

    __slots__ = ("issue", "told", "streams", "waits", "is_open_wait", "is_done", "outs", "twins", "is_aborted",
                 "has_failed", "is_gone", "reads", "written", "issue_t", "told_t")

    def __init__(self, issue, t):
        self.issue, self.issue_t, self.told_t = issue, t, None
        self.told = None      # the first record that says that it is complete for the host
        self.streams = set()  # ordered by a wait that returned
        self.waits = 0        # that returned
        self.is_open_wait = self.is_done = self.is_aborted = self.has_failed = False
        self.is_gone = False  # the handle
        self.outs, self.twins = [], []
        self.reads = 0
        self.written = False  # by the program, after completion

    def is_ordered(self, stream):
        """Whether an action on the stream, or the host, comes after the end of the operation (O-03)."""
        return self.told is not None or (stream is not None and stream in self.streams)

    def meets(self, other):
        """Whether the two use an element of one storage."""
        mine, its = self.issue, other.issue
        if mine.get("buf") is None or mine.get("buf") != its.get("buf"):
            return False
        a, b = mine.get("at", 0), its.get("at", 0)
        return a < b + length(its) and b < a + length(mine)


class Life:
    """One rank, record by record: what its own records are enough to say."""

    def __init__(self, contract):
        self.contract = contract
        self.ops = {}
        self.fetched = {}  # times at which the back end fetched a peer's input, by operation
        self.reports = []  # (record, operations issued by then, operations complete by then)
        self.is_freed = set()  # names of storage
        self.is_torn = False
        self.has_left = self.has_ended = False
        self.worst, self.reason = HEALTHY, "-"

    def say(self, what, reason):
        if what > self.worst:
            self.worst, self.reason = what, reason

    def see(self, record, t=None):
        if self.has_left and record.ev != "end":
            self.say(WRONG, LEFT)
        op = self.ops.get(record.op)
        if op is not None and record.ev != "issue" and op.is_gone and record.ev not in ("read", "write"):
            self.say(OPEN, "a handle that is gone is named")
        self.t = t
        getattr(self, "see_" + record.ev)(record, op)

    # ---- the operation ---------------------------------------------------------------------------

    def see_issue(self, record, _):
        new = Op(record, self.t)
        if self.is_torn:
            self.say(WRONG, "O-15 issued after the communicator was torn down")
        if record.get("buf") in self.is_freed:
            self.say(OPEN, "issued on storage whose name was freed: it may have come back")
        for old in self.ops.values():
            if old.meets(new) and not old.is_ordered(record.get("stream")):
                self.say(WRONG, "O-14 storage issued again while pending")
        self.ops[record.op] = new

    def tell(self, record, op):
        """A record that says: complete for the host."""
        if op.is_aborted:
            self.say(WRONG, "O-15 torn down and told as complete")
        if op.told is None:
            op.told, op.told_t = record, self.t

    def deny(self, op):
        """A record that says: not complete."""
        if op.told is not None:
            self.say(WRONG, "O-16 complete, then not complete")

    def see_test(self, record, op):
        if record.get("done"):
            self.tell(record, op)
        else:
            self.deny(op)

    def see_wait(self, record, op):
        op.is_open_wait = True
        if record.get("ver") is not None and op.issue.get("ver") is not None:
            if record.get("ver") < op.issue.get("ver"):
                self.say(OPEN, "a counter that falls")
            elif record.get("ver") > op.issue.get("ver") and op.told is None and not record.get("done"):
                self.say(WRONG, "O-13 the counter of writes rose while pending")
        if self.contract.is_once and op.waits:
            self.say(WRONG, "O-40 waited for twice")
        if record.get("done") is True:
            self.tell(record, op)
        elif record.get("done") is False:
            self.deny(op)

    def see_done(self, record, op):
        if op.is_aborted:
            self.say(WRONG, "O-15 torn down and ended in success")
        op.waits += 1
        op.is_open_wait = False
        if op.is_done and (record.get("out") is None) != (not op.outs):
            self.say(OPEN, "a done without its value beside one with it")
        if self.contract.is_once and op.waits > 1:
            self.say(WRONG, "O-40 waited for twice")
        op.is_done = True
        if self.contract.is_stream:
            if record.get("stream") is not None:
                op.streams.add(record.get("stream"))
        else:
            self.tell(record, op)
        self.see_out(record, op)

    def see_complete(self, record, op):
        if op.is_done and not self.contract.is_stream:
            self.say(WRONG, "O-16 the wait returned before the operation ended")
        self.tell(record, op)
        self.see_out(record, op)

    def see_out(self, record, op):
        if record.get("out") is not None:
            op.outs.append(record.get("out"))

    def see_twin(self, record, op):
        """The twin's value is judged as well, but is no result of this rank."""
        if op.is_done:
            self.say(OPEN, "a twin after the done of its rank")
        op.twins.append(record.get("out"))

    def see_fail(self, record, op):
        op.has_failed, op.is_open_wait = True, False
        self.say(WRONG, "O-21 told as timed out" if record.get("error") == "timeout" else "O-23 ended in an error")

    def see_sync(self, record, _):
        for op in self.ops.values():
            if record.get("stream") is None or record.get("stream") in op.streams:
                self.tell(record, op)
            elif record.get("stream") == op.issue.get("stream") and not op.told:
                self.say(OPEN, "does sync of the issue's stream complete the operation")

    # ---- storage and handles ---------------------------------------------------------------------

    def touched(self, op):
        """Operations whose storage an action through `op` touches: those that share an element of it."""
        return [other for other in self.ops.values() if other is op or other.meets(op)]

    def see_read(self, record, op):
        if record.get("by") == "backend":
            self.fetched.setdefault(record.op, []).extend([] if self.t is None else [self.t])
            return
        stream = record.get("stream")
        if op.issue.get("buf") in self.is_freed:
            self.say(WRONG, "O-14 read after it was freed")
        if op.has_failed:
            self.say(WRONG, "O-19 read of an operation that failed")
        for other in self.touched(op):
            if not other.is_ordered(stream):
                self.say(WRONG, "O-18 read before it was complete")
        if any(other is not op for other in self.touched(op)) and max(
                self.touched(op), key=lambda o: o.issue.op) is not op:
            self.say(OPEN, "read by the name of an older operation on that storage")
        op.reads += 1
        if self.contract.is_once and op.reads > 1:
            self.say(WRONG, "O-41 an element read twice")
        if record.get("bits") is not None and not op.written:
            op.outs.append(record.get("bits"))

    def see_write(self, record, op):
        if record.get("by") == "backend":
            if op.told is not None:
                self.say(WRONG, "O-17 written by the back end after completion")
            return
        if op.issue.get("buf") in self.is_freed:
            self.say(WRONG, "O-14 written after it was freed")
        for other in self.touched(op):
            if not other.is_ordered(record.get("stream")):
                self.say(WRONG, "O-13 written while pending")
        op.written = True

    def pending_on(self, record):
        return [op for op in self.ops.values()
                if op.issue.get("buf") == record.get("buf") and not op.is_ordered(record.get("stream"))]

    def see_free(self, record, op):
        if op is not None:
            if op.told is None and not op.is_done:
                self.say(WRONG, "O-12 handle freed while active")
            op.is_gone = True
            return
        if self.pending_on(record):
            self.say(WRONG, "O-14 storage freed while pending")
        if record.get("buf") in self.is_freed:
            self.say(WRONG, "O-14 freed twice")
        self.is_freed.add(record.get("buf"))

    def see_alloc(self, record, _):
        if self.pending_on(record):
            self.say(WRONG, "O-14 storage handed out while pending")
        if self.ops and record.get("buf") not in self.is_freed:
            self.say(OPEN, "storage handed out that nobody gave back")
        self.is_freed.discard(record.get("buf"))

    def see_drop(self, record, op):
        if not op.is_done:
            self.say(OPEN if op.told else WRONG, "O-42 dropped without a wait")
        op.is_gone = True

    def see_cancel(self, record, op):
        if op.told is None:
            self.say(OPEN if op.is_done else WRONG, "O-12 cancelled while active")

    # ---- log lines -------------------------------------------------------------------------------

    def see_report(self, record, _):
        done = {number for number, op in self.ops.items() if op.told or op.is_done}
        self.reports.append((record, set(self.ops), done))

    # ---- ends ------------------------------------------------------------------------------------

    def see_abort(self, record, _):
        self.is_torn = True
        for op in self.ops.values():
            if op.told is None:
                op.is_aborted = True
                self.say(LESS, "O-06 torn down while pending")

    def see_exit(self, record, _):
        self.has_left = True
        self.say(LESS, "O-06 left without an end")

    def see_end(self, record, _):
        self.has_ended = True

    def finish(self, is_framed):
        """What can be said when nothing of the rank follows: where there is a frame, after its end."""
        if is_framed and not self.has_ended:
            self.say(LESS, "O-06 no end")
        if self.has_left or (is_framed and not self.has_ended):
            return
        for op in self.ops.values():
            if not op.is_done and not op.is_aborted:
                if op.is_open_wait:
                    self.say(OPEN if op.told else LESS, "O-06 a wait that never returned")
                elif op.told is None:
                    self.say(WRONG, "O-42 never waited for")
                elif op.told.ev == "sync":
                    self.say(OPEN, "O-42 a sync and no wait")
            elif op.is_open_wait and not op.is_aborted:
                self.say(OPEN, "a second wait that never returned")
            if self.contract.is_once and op.is_done and not op.reads:
                self.say(WRONG, "O-43 waited for and never taken")


class History:
    """ranks: for each, a list of (record, t or None) in its order. frame: "" for a bare history, else
    the line of its header."""

    def __init__(self, contract, ranks, frame=""):
        self.contract, self.ranks, self.frame = contract, ranks, frame

    def verdict(self):
        lives = [life_of(self.contract, program, bool(self.frame)) for program in self.ranks]
        worst = max(lives, key=lambda life: life.worst)
        return max((worst.worst, worst.reason), self.across(lives), key=lambda pair: pair[0])

    def across(self, lives):
        """Members, labels, values and, on the one clock of a bare history, times."""
        ops = sorted({number for life in lives for number in life.ops})
        mine = {}
        for number in ops:
            mine[number] = row = [life.ops.get(number) for life in lives]
            if None in row:
                if any(life.has_left or (self.frame and not life.has_ended) for life in lives):
                    return LESS, "O-06 a rank left before it issued"
                return WRONG, "O-11 not all ranks issued it"
            for field in ("key", "red", "dtype", "members", "step", "mb"):
                if len({str(op.issue.get(field)) for op in row}) > 1:
                    return WRONG, "O-10 another %s" % field
            if len({length(op.issue) for op in row}) > 1:
                return WRONG, "O-10 another n"
        worst = HEALTHY, "-"
        for number in ops:
            worst = max(worst, self.value(mine[number]),
                        self.times(mine[number], [t for life in lives for t in life.fetched.get(number, ())]), key=lambda pair: pair[0])
        told = [log_lines(life, mine) for life in lives if life.reports]
        return max([worst, *told], key=lambda pair: pair[0])

    @staticmethod
    def value(mine):
        given = [op.issue.get("in_") for op in mine]
        if None in given:
            return LESS, "O-06 a contribution was not recorded"
        right = [sum(parts) for parts in zip(*given)]
        for op in mine:
            for out in op.outs + op.twins:
                if list(out) != right[:len(out)]:
                    return WRONG, "O-31 no legal value"
        if not all(op.is_aborted or any(len(out) == len(right) for out in op.outs) for op in mine):
            return LESS, "O-06 a value was not recorded"
        return HEALTHY, "-"

    @staticmethod
    def times(mine, fetched):
        """On the one clock of a bare history; a time that is equal proves nothing."""
        given = [op.issue_t for op in mine if op.issue_t is not None] + fetched
        told = [op.told_t for op in mine if op.told_t is not None]
        if given and told and min(told) < max(given):
            return WRONG, "O-16 told before all had contributed"
        return HEALTHY, "-"


LIVES = {}


def life_of(contract, program, is_framed):
    """Of a list anew; of a tuple, which the caller uses again and again, once."""
    key = (contract, is_framed, id(program)) if isinstance(program, tuple) else None
    if key in LIVES:
        return LIVES[key][0]
    life = Life(contract)
    for record, t in program:
        life.see(record, t)
    life.finish(is_framed)
    if key:
        LIVES[key] = life, program  # held, so that its id stays its own
    return life


def log_lines(life, mine):
    """The reports of one rank: every step in one line of each sink, right, and after its operation."""
    steps = {row[0].issue.get("step"): number for number, row in mine.items()}
    worst = HEALTHY, "-"
    seen = {}
    for record, issued, done in life.reports:
        covered = range(record.get("first_step", record.get("step")), record.get("step") + 1)
        named = {steps[step] for step in covered if step in steps}
        if record.get("ops") is not None and set(record.get("ops")) != named:
            worst = max(worst, (WRONG, "O-53 operations of other steps"), key=lambda pair: pair[0])
        if not named <= done:
            worst = max(worst, (WRONG, "O-50 reported before its operation was complete"), key=lambda pair: pair[0])
        elif not is_right(record, [mine[number] for number in sorted(named)]):
            worst = max(worst, (WRONG, "O-50 no value of its steps"), key=lambda pair: pair[0])
        for step in covered:
            seen.setdefault(record.get("sink", ""), []).append(step)
    for lines in seen.values():
        if len(lines) != len(set(lines)):
            worst = max(worst, (WRONG, "a step in two lines"), key=lambda pair: pair[0])
        if set(lines) != set(steps):
            worst = max(worst, (WRONG, "O-60 a step in no line"), key=lambda pair: pair[0])
        if lines != sorted(lines):
            worst = max(worst, (OPEN, "lines in another order than their steps"), key=lambda pair: pair[0])
    return worst


def is_right(record, rows):
    """Token-weighted: one ratio of all sums, or the mean of the steps' ratios; and the tokens beside it."""
    sums = [[sum(part) for part in zip(*(op.issue.get("in_") for op in row))] for row in rows]
    over = record.get("over", "steps")
    if not sums:
        return False
    if over == "pooled":
        value = Fraction(sum(s[0] for s in sums), sum(s[1] for s in sums))
    else:
        value = sum(Fraction(s[0], s[1]) for s in sums) / len(sums)
    return record.get("loss") == value and record.get("tokens", sum(s[1] for s in sums)) == sum(s[1] for s in sums)
