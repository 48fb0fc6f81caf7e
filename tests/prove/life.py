"""What spec/semantics.md says of the records of one rank: nothing here knows the judge.

`Life` goes through them rule by rule and keeps the worst of

    WRONG    a rule is broken: the judge must not pass it
    LESS     something that would be needed was not recorded: the judge must say UNKNOWN
    HEALTHY  the judge must pass it

together with the reason.
"""

HEALTHY, LESS, WRONG = range(3)
LEFT = "goes on after its exit"
NAMES = ("healthy", "less", "wrong")  # of the three above
ONLY = "only"  # the one stream of a rank that names none (O-74)


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
    def __init__(self, wait="blocking", once=False, deadline=None):
        self.is_stream, self.is_once, self.deadline = wait == "stream", once, deadline
        words = {"wait": wait} if self.is_stream else {}
        if once:
            words["use"] = "once"
        if deadline:
            words["deadline"] = deadline
        self.text = ""
        if words:
            self.text = '{"ev":"contract",%s}\n' % ",".join('"%s":%s' % (name, text_of(word)) for name, word in words.items())


def length(issue):
    """Elements of an operation."""
    return issue.get("n") or len(issue.get("in_"))


class Op:
    """One operation on one rank, as far as its records have told."""

    __slots__ = ("issue", "told", "streams", "waits", "wait_stream", "is_open_wait", "is_done", "is_ended", "is_called",
                 "results", "found", "twins", "is_aborted", "has_failed", "is_gone", "reads", "is_overwritten", "ver",
                 "after", "issue_t", "told_t")

    def __init__(self, issue, t):
        self.issue, self.issue_t, self.told_t = issue, t, None
        self.told = None      # the first record that says that it is complete for the host
        self.streams = set()  # ordered by a wait that returned
        self.waits = 0        # that returned
        self.wait_stream = None
        self.is_open_wait = self.is_done = self.is_aborted = self.has_failed = False
        self.is_ended = False   # by a query, a sync or its own `complete`, a wait apart
        self.is_called = False  # likewise, but for a sync: that ends operations and no handles (O-78)
        self.is_gone = False    # the handle
        self.results, self.twins = [], []
        self.found = []  # (bits, does a counter show that the program did not write?) of reads
        self.reads = 0
        self.is_overwritten = False  # after its end, by the program or for another operation
        self.ver = issue.get("ver")
        self.after = []  # older operations whose end its issue comes after: a wait ordered its stream

    def is_ordered(self, stream):
        """Whether an action on the stream, or the host, comes after the end of the operation (O-03)."""
        return self.told is not None or (stream is not None and stream in self.streams)

    def is_over(self, stream=None):
        """Whether its storage is the program's again there: what was torn down or failed convicts nobody (O-79)."""
        return self.is_ordered(stream) or self.is_aborted or self.has_failed

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
        self.fetched = []      # (operation, rank whose input the back end fetched, time)
        self.reports = []      # (record, operations issued by then, operations complete by then)
        self.is_freed, self.is_named = set(), set()  # names of storage; those that came, or that an operation used
        self.is_asked = set()                        # and those that went
        self.is_torn = False
        self.has_left = self.has_ended = False
        self.worst, self.reason = HEALTHY, "-"

    def say(self, what, reason):
        if what > self.worst:
            self.worst, self.reason = what, reason

    def see(self, record, t=None):
        if self.has_left and record.ev != "end":
            self.say(WRONG, LEFT)
        self.t = t
        getattr(self, "see_" + record.ev)(record, self.ops.get(record.op))

    # ---- the operation ---------------------------------------------------------------------------

    def see_issue(self, record, _):
        new = Op(record, self.t)
        self.is_named.add(record.get("buf"))
        if self.is_torn:
            self.say(LESS, "O-79 issued after the communicator was torn down")
        if record.get("buf") in self.is_freed:
            self.say(WRONG, "O-81 issued on storage that was freed")
        stream = record.get("stream", ONLY) if self.contract.is_stream else None
        new.after = [old for old in self.ops.values() if old.is_ordered(stream)]
        for old in self.ops.values():
            if old.meets(new):
                if not old.is_over(stream):
                    self.say(WRONG, "O-14 storage issued again while pending")
                old.is_overwritten = True
        self.ops[record.op] = new

    def tell(self, record, op):
        """A record that says: complete for the host; so is what ended before it was issued (O-83). What was
        torn down ends in no success (O-79)."""
        if op.told is None and not op.is_aborted:
            op.told, op.told_t = record, self.t
            for old in op.after:
                self.tell(record, old)

    def order(self, op, stream):
        op.streams.add(stream)
        for old in op.after:
            self.order(old, stream)

    def deny(self, op):
        """A record that says: not complete."""
        if op.told is not None:
            self.say(WRONG, "O-77 complete, then not complete")

    def see_query(self, record, op):
        """A query, in `test` or where a wait begins. Of what was torn down it may say anything."""
        if record.get("done"):
            op.is_ended = op.is_called = True
            self.tell(record, op)
        elif record.get("done") is False:
            self.deny(op)

    def see_test(self, record, op):
        self.see_query(record, op)

    def see_wait(self, record, op):
        self.see_ver(record, op)
        if self.contract.is_once and op.waits:
            self.say(WRONG, "O-40 waited for twice")
        op.is_open_wait = True
        op.wait_stream = record.get("stream", op.wait_stream)
        self.see_query(record, op)

    def see_ver(self, record, op):
        """The counter of the program's own writes: one that rose before completion is evidence (O-13)."""
        if record.get("ver") is None or op.ver is None or record.get("ver") <= op.ver:
            return
        op.ver = record.get("ver")
        if op.is_over():
            op.is_overwritten = True
        elif record.get("done") is True:
            self.say(LESS, "O-13 the counter rose, maybe before completion")
        else:
            self.say(WRONG, "O-13 the counter of writes rose while pending")

    def see_done(self, record, op):
        if op.is_aborted:
            self.say(WRONG, "O-79 torn down and ended in success")
        if self.contract.is_once and op.waits:
            self.say(WRONG, "O-40 waited for twice")
        op.waits += 1
        op.is_open_wait = False
        op.is_done = True
        if self.contract.is_stream:
            named = [record.get("stream"), op.wait_stream, op.issue.get("stream"), ONLY]
            self.order(op, next(stream for stream in named if stream is not None))
        else:
            self.tell(record, op)
        self.see_out(record, op)

    def see_complete(self, record, op):
        if op.is_aborted:
            self.say(WRONG, "O-79 torn down and ended in success")
        if op.is_done and not op.is_ended and not self.contract.is_stream:
            self.say(WRONG, "O-16 the wait returned before the operation ended")
        op.is_ended = op.is_called = True
        self.tell(record, op)
        self.see_out(record, op)

    def see_out(self, record, op):
        if record.get("out") is not None:
            op.results.append(record.get("out"))

    def see_twin(self, record, op):
        """The twin's value is judged as well, but is no result of this rank."""
        op.twins.append(record.get("out"))

    def see_fail(self, record, op):
        op.has_failed, op.is_open_wait = True, False
        self.say(WRONG, "O-21 told as timed out" if record.get("error") == "timeout" else "O-23 ended in an error")

    def see_sync(self, record, _):
        """Of a stream: what a wait ordered on it is complete, and nothing else (O-74)."""
        for op in self.ops.values():
            is_ordered = record.get("stream") is None or record.get("stream") in op.streams
            if is_ordered and not op.is_aborted:
                op.is_ended = True
                self.tell(record, op)

    # ---- storage and handles ---------------------------------------------------------------------

    def touched(self, op):
        """Operations whose storage an action through `op` touches: those that share an element of it."""
        return [other for other in self.ops.values() if other is op or other.meets(op)]

    def see_read(self, record, op):
        if record.get("by") == "backend":
            self.fetched.append((record.op, record.get("of"), self.t))
            return
        if op.issue.get("buf") in self.is_freed:
            self.say(WRONG, "O-81 read after it was freed")
        for other in self.touched(op):
            if not other.is_over(record.get("stream")):
                self.say(WRONG, "O-18 read before it was complete")
        mine = self.held(op)
        if mine.has_failed:
            self.say(WRONG, "O-19 read of an operation that failed")
        if mine.is_aborted:
            self.say(WRONG, "O-79 read of an operation that was torn down")
        mine.reads += 1
        if self.contract.is_once and mine.reads > 1:
            self.say(WRONG, "O-41 an element read twice")
        if record.get("bits") is not None and not mine.is_overwritten:
            mine.found.append((record.get("bits"), record.get("ver") is not None and record.get("ver") == mine.ver))

    def held(self, op):
        """Whose result the storage of the operation holds: that of the youngest there, by whatever name (O-75)."""
        return max(self.touched(op), key=lambda other: other.issue.op)

    def see_write(self, record, op):
        if record.get("by") == "backend":
            if op.told is not None:
                self.say(WRONG, "O-17 written by the back end after completion")
            return
        if op.issue.get("buf") in self.is_freed:
            self.say(WRONG, "O-81 written after it was freed")
        for other in self.touched(op):
            if not other.is_over(record.get("stream")):
                self.say(WRONG, "O-13 written while pending")
            other.is_overwritten = True

    def pending_on(self, record):
        return [op for op in self.ops.values()
                if op.issue.get("buf") == record.get("buf") and not op.is_over(record.get("stream"))]

    def see_free(self, record, op):
        if op is not None:
            if not op.is_over() and not op.is_done:
                self.say(WRONG, "O-12 handle freed while active")
            op.is_gone = True
            return
        if self.pending_on(record):
            self.say(WRONG, "O-14 storage freed while pending")
        if record.get("buf") in self.is_freed:
            self.say(WRONG, "O-81 freed twice")
        self.is_freed.add(record.get("buf"))
        self.is_asked.add(record.get("buf"))
        self.overwrite(record)

    def overwrite(self, record):
        for op in self.ops.values():
            op.is_overwritten = op.is_overwritten or op.issue.get("buf") == record.get("buf")

    def see_alloc(self, record, _):
        if self.pending_on(record):
            self.say(WRONG, "O-14 storage handed out while pending")
        self.is_freed.discard(record.get("buf"))
        self.is_named.add(record.get("buf"))
        self.overwrite(record)

    def see_drop(self, record, op):
        if not op.is_over() and not op.is_done:
            self.say(WRONG, "O-42 dropped without a wait")
        op.is_gone = True

    def see_cancel(self, record, op):
        if not op.is_over() and not op.is_done:
            self.say(WRONG, "O-12 cancelled while active")
        op.is_gone = True

    # ---- log lines -------------------------------------------------------------------------------

    def see_report(self, record, _):
        done = {number for number, op in self.ops.items() if op.told or op.is_done}
        self.reports.append((record, set(self.ops), done))

    # ---- ends ------------------------------------------------------------------------------------

    def see_abort(self, record, _):
        self.is_torn = True
        for op in self.ops.values():
            if op.told is None and not op.has_failed:
                op.is_aborted = True
                self.say(LESS, "O-79 torn down while pending")

    def see_exit(self, record, _):
        self.has_left = True
        self.say(LESS, "O-114 ended by a signal" if record.get("code") < 0 else "O-06 left without an end")

    def see_end(self, record, _):
        self.has_ended = True

    def finish(self, is_framed):
        """What can be said when nothing of the rank follows: where there is a frame, after its end."""
        if is_framed and not self.has_ended:
            self.say(LESS, "O-06 no end")
        if self.has_left or (is_framed and not self.has_ended):
            return
        if not self.is_asked <= self.is_named:
            self.say(LESS, "O-115 storage that no operation uses")
        for op in self.ops.values():
            if not op.is_done and not op.is_aborted and not op.has_failed:
                if op.told is None and op.is_open_wait:
                    self.say(LESS, "O-06 a wait that never returned")
                elif op.told is None:
                    self.say(WRONG, "O-42 never waited for")
                elif not op.is_gone and not op.is_open_wait and not op.is_called:
                    self.say(WRONG, "O-78 a sync, and then no wait")
            if self.contract.is_once and op.is_done and not op.reads:
                self.say(WRONG, "O-43 waited for and never taken")
