"""<alar/embed.h> in Python: the engine of libalar.so, event in, action out. Needs the standard library only.

By ctypes and not cffi: nothing is compiled and nothing installed beside the library, which is the same for
every Python; a call costs half a microsecond, and a step makes a few. The structures stand here as they do in
api/alar.h and api/embed.h, where everything is explained.
"""
import ctypes
import itertools
import os
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

READY, POST, AWAIT, RETIRE, REPORT, STOP, CLOSED = range(7)
(CONTRIBUTE, STEP_END, FINISH, ABANDON, POSTED, POST_REFUSED, RETIRED, REPORTED, TORN_DOWN, COMPLETE, FAIL,
 EXPIRE) = range(12)
DTYPES = {2: "float32", 3: "float64", 5: "int64"}  # of enum alar_dtype, those that are posted


def _structure(name, *fields):
    return type(name, (ctypes.Structure,), {"_fields_": fields})


Metric = _structure("Metric", ("name", c_char_p), ("kind", c_int))
Config = _structure(
    "Config", ("backend", c_char_p), ("placement", c_int), ("normalization", c_int), ("encoding", c_int), ("over", c_int),
    ("check", c_int), ("microbatches", c_uint32), ("log_interval", c_uint32), ("window", c_uint16), ("deadline_ms", c_uint64),
    ("is_sync", c_bool), ("waits_at_log", c_bool), ("history", c_char_p), ("metrics", POINTER(Metric)),
    ("metric_count", c_uint32), ("lag", c_uint32))
Place = _structure("Place", ("rank", c_uint32), ("ranks", c_uint32), ("first_rank", c_uint32), ("cp", c_uint32), ("cp_rank", c_uint32))
Sample = _structure("Sample", ("sum", c_double), ("tokens", c_double))
Event = _structure("Event", ("kind", c_int), ("slot", c_uint16), ("status", c_int), ("step", c_int64), ("samples", POINTER(Sample)))
Action = _structure("Action", ("kind", c_int), ("slot", c_uint16), ("outcome", c_int), ("status", c_int))
Op = _structure(
    "Op", ("send", c_void_p), ("receive", c_void_p), ("elements", c_size_t), ("dtype", c_int), ("number", c_uint64),
    ("step", c_int64), ("microbatch", c_uint32), ("pairs", c_size_t))
Report = _structure(
    "Report", ("metric", c_char_p), ("kind", c_int), ("first_step", c_int64), ("step", c_int64), ("logged_at_step", c_int64),
    ("steps", c_uint32), ("loss", c_double), ("extreme_rank", c_uint32), ("is_empty", c_bool), ("tokens", c_double),
    ("nonfinite", c_uint64), ("nan_steps", c_uint32), ("empty", c_uint64))
Finding = _structure("Finding", ("step", c_int64), ("microbatch", c_uint32), ("rank", c_uint32))
Note = _structure("Note", ("status", ctypes.c_int32), ("step", c_uint32), ("microbatch", c_uint32), ("posted", c_uint32))
Counts = _structure("Counts", *((name, c_uint64) for name in "posted ready waited failed timed_out peak".split()))


def _load():
    """The package's own libalar.so, else what $ALAR_LIBRARY names, else the one the loader knows."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "libalar.so")
    path = own if os.path.exists(own) else os.environ.get("ALAR_LIBRARY") or "libalar.so.0"
    try:
        library = ctypes.CDLL(path)
        library.alar_embed_init
    except (OSError, AttributeError) as error:
        raise ImportError("alar.Log: expected the library libalar.so, from `pip install ./ref/python`, or named in "
                          "$ALAR_LIBRARY: %s" % error) from None
    log, text = c_void_p, c_char_p
    for name, result, arguments in (
            ("bytes", c_size_t, (POINTER(Config), POINTER(Place))),
            ("init", c_int, (POINTER(log), POINTER(Config), POINTER(Place), c_void_p, c_size_t)),
            ("step", c_int, (log, c_void_p, c_void_p)), ("op", c_int, (log, c_uint16, POINTER(Op))),
            ("report", c_int, (log, c_uint32, POINTER(Report))), ("window", c_uint16, (log,)), ("schema", c_uint64, (log,)),
            ("line", None, (log, POINTER(c_uint64), POINTER(c_uint64))), ("finding", c_int, (log, c_uint64, POINTER(Finding))),
            ("why", c_int, (log, text)), ("note", None, (log, POINTER(Note))), ("counts", None, (log, POINTER(Counts))),
            ("judge", c_int, (log, POINTER(c_uint8), POINTER(Note), POINTER(c_uint32)))):
        function = getattr(library, "alar_embed_" + name)
        function.restype, function.argtypes = result, arguments
    for name in ("alar_status_text", "alar_status_name"):
        function = getattr(library, name)
        function.restype, function.argtypes = text, (c_int,)
    return library


LIBRARY = _load()
def _terms(name):
    """The words of one of the library's lists, in the order of their numbers."""
    first = ctypes.pointer(c_char_p.in_dll(LIBRARY, "alar_%s_names" % name))
    return tuple(word.decode() for word in iter(map(first.__getitem__, itertools.count()).__next__, None))


SCHEDULES, NORMALIZATIONS, OVER, ENCODINGS, CHECKS, KINDS, WAITS = map(
    _terms, "schedule normalization over encoding check metric_kind wait_at".split())
NAMES = {LIBRARY.alar_status_name(i).decode(): i for i in range(64) if LIBRARY.alar_status_name(i) != b"?"}


class Error(RuntimeError):
    """The log can't go on, or a call was refused. `status` is the code's name, E_TIMEOUT for one; the text is
    the library's."""

    def __init__(self, status, text=""):
        code = NAMES[status] if isinstance(status, str) else status
        self.status = LIBRARY.alar_status_name(code).decode()
        said = LIBRARY.alar_status_text(code).decode()
        super().__init__("%s: %s" % (said, text) if text else said)


class BadInput(Error, ValueError):
    """An argument that can't be used; nothing has changed."""


class Engine:
    """One rank's engine in memory of its own; `memory` is a ctypes array, `base` its address."""

    def __init__(self, config, place, metrics):
        names = (Metric * len(metrics))(*((name.encode(), KINDS.index(kind)) for name, kind in metrics))
        config.metrics, config.metric_count = names, len(metrics)
        size = LIBRARY.alar_embed_bytes(config, place)
        if size == 0:
            raise BadInput("E_RANGE", "the configuration of the log")
        self.memory = (c_uint8 * (size + 16))()
        self.base = ctypes.addressof(self.memory)
        self._log, self._names, self.metrics, self.ranks = c_void_p(), names, metrics, place.ranks
        status = LIBRARY.alar_embed_init(self._log, config, place, (self.base + 15) // 16 * 16, size)
        if status:
            raise BadInput(status)
        self.window, self.schema = LIBRARY.alar_embed_window(self._log), LIBRARY.alar_embed_schema(self._log)
        samples = (Sample * len(metrics))()
        self.samples = (c_double * (2 * len(metrics))).from_buffer(samples)  # [sum, tokens] of each metric
        self._event, self.action, self._op = Event(samples=samples), Action(), Op()
        self._step = LIBRARY.alar_embed_step
        self._call = (self._log, ctypes.addressof(self._event), ctypes.addressof(self.action))

    def tell(self, kind, slot=None, step=None):
        """Gives an event, with what it has; the kind of the action that answers it, which `action` holds whole."""
        event = self._event
        event.kind = kind
        if slot is not None:
            event.slot = slot
        if step is not None:
            event.step = step
        code = self._step(*self._call)
        if code:
            raise (BadInput if code in (NAMES["E_INPUT"], NAMES["E_RANGE"]) else Error)(code)
        return self.action.kind

    def op(self, slot):
        """The all-reduce of a slot, until the next call."""
        LIBRARY.alar_embed_op(self._log, slot, self._op)
        return self._op

    def reports(self):
        """At a REPORT: the reports of the line, in the order of the sorted metrics, and its operations."""
        found, first, count = [], c_uint64(), c_uint64()
        for i in range(len(self.metrics)):
            found.append(Report())
            LIBRARY.alar_embed_report(self._log, i, found[-1])
        LIBRARY.alar_embed_line(self._log, first, count)
        return found, range(first.value, first.value + count.value)

    def findings(self):
        """[(rank, step, microbatch)] of what was not finite."""
        found, finding = [], Finding()
        while LIBRARY.alar_embed_finding(self._log, len(found), finding) == 0:
            found.append((finding.rank, finding.step, finding.microbatch))
        return found

    def why(self):
        text = ctypes.create_string_buffer(256)
        return text.value.decode() if LIBRARY.alar_embed_why(self._log, text) == 0 else ""

    def note(self):
        note = Note()
        LIBRARY.alar_embed_note(self._log, note)
        return note

    def judge(self, notes):
        """Who ends the run: (status name, rank); `notes` has a Note for each rank that answered."""
        presence = (c_uint8 * self.ranks)(*(rank in notes for rank in range(self.ranks)))
        told = (Note * self.ranks)(*(notes.get(rank, Note()) for rank in range(self.ranks)))
        culprit = c_uint32()
        status = LIBRARY.alar_embed_judge(self._log, presence, told, culprit)
        return LIBRARY.alar_status_name(status).decode(), culprit.value

    def counts(self):
        counts = Counts()
        LIBRARY.alar_embed_counts(self._log, counts)
        return {name: getattr(counts, name) for name, _ in Counts._fields_}
