"""Records the all-reduces of a torch program as histories that `alar check` judges.

    python3 -m alar_torch -o DIR script.py [ARGUMENT]...     # or, inside the program:
    with alar_torch.record(DIR):
        ...

One file for each rank, DIR/rankR.jsonl, in the format of spec/history.md. Needs torch and the
standard library only; made for torch 1.13 and later, with any back end.

What is seen: torch.distributed.all_reduce, the functional collectives where torch has them, the
handle (wait, is_completed, get_future, and being dropped), values taken out of a tensor while its
operation is pending or by the first read after it (item, tolist, float, int, bool, numpy), and the
tensor's version counter. What is not: arithmetic on a pending tensor, DistributedDataParallel's own
reductions (they are made in C++), and an all_reduce that was imported by name before recording began.

The calling thread copies at most 16 elements and appends a tuple; a background thread makes text of
it, twice a second. So a process that is killed loses what it recorded in its last half second. Its
file then has no `end`, and never passes. An exception or a normal exit loses nothing.
"""
import atexit
import ctypes
import os
import socket
import sys
import threading
import time
from collections import deque
from multiprocessing import util

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

LANES = 16
FLUSH_SECONDS = 0.5
REMEMBERED = 1024  # operations whose first read is still waited for

DTYPES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16",
          torch.int32: "i32", torch.int64: "i64", torch.uint8: "u8"}
BYTES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i32": 4, "i64": 8, "u8": 1}
REDUCTIONS = [(getattr(dist.ReduceOp, name), word) for name, word in (
    ("SUM", "sum"), ("AVG", "avg"), ("MAX", "max"), ("MIN", "min"), ("PRODUCT", "product"))
    if hasattr(dist.ReduceOp, name)]

_now = time.monotonic_ns
_string_at = ctypes.string_at
_recorder = None  # the one that records, or None
_recordings = 0   # of this process so far; all ranks make the same ones


def _quote(text):
    """JSON of a text, without importing what a text needs only rarely."""
    out = []
    for c in str(text):
        out.append(c if " " <= c <= "~" and c not in '"\\' else "\\u%04x" % min(ord(c), 0xFFFF))
    return '"%s"' % "".join(out)


def _hex(copy, dtype):
    """The bits of each value that was copied, in hex, most significant digit first."""
    if isinstance(copy, torch.Tensor):
        copy = _copy(copy.cpu().contiguous())
    size = BYTES[dtype]
    return "[%s]" % ",".join(
        '"%s"' % copy[at:at + size][::-1].hex() for at in range(0, len(copy), size))


def _copy(tensor):
    """At most LANES elements, as they are now: bytes, or a tensor where the memory is a device's.
    Four times as fast as a clone of a small tensor."""
    if tensor.is_contiguous() and tensor.is_cpu:
        count = tensor.numel()
        return _string_at(tensor.data_ptr(),
                          (count if count < LANES else LANES) * tensor.element_size())
    tensor = tensor.detach()
    return (tensor.reshape(-1)[:LANES] if tensor.numel() > LANES else tensor).clone()


def _caller(depth):
    """File and line of the program's call: the first frame outside torch and this file."""
    frame = sys._getframe(depth)
    while frame.f_back is not None and (
            frame.f_code.co_filename == __file__ or "/torch/" in frame.f_code.co_filename):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _version(tensor):
    """Counts the program's writes in place; inference tensors have no counter."""
    try:
        return tensor._version
    except RuntimeError:
        return 0


def _storage(tensor):
    """The address of the tensor's storage, and which of its elements the tensor begins at."""
    offset = tensor.storage_offset()
    return tensor.data_ptr() - offset * tensor.element_size(), offset


class _Op:
    """One all-reduce of this rank."""
    __slots__ = ("group", "number", "tensor", "dtype", "storage", "begin", "end", "buffer",
                 "is_pending", "is_over", "is_dropped_quietly", "has_polled")

    def __init__(self, group, number, tensor, dtype):
        self.group, self.number, self.dtype = group, number, dtype
        self.is_pending = True                           # as far as the program knows
        self.is_over = self.is_dropped_quietly = False   # waited for, or failed; has a future
        self.has_polled = False
        self.place(tensor)

    def place(self, tensor):
        """Where its result will be."""
        self.tensor, self.buffer, self.begin = tensor, tensor.data_ptr(), tensor.storage_offset()
        self.storage = self.buffer - self.begin * tensor.element_size()
        self.end = self.begin + tensor.numel()


class Handle:
    """Stands for the handle that torch returned, and passes everything on to it."""

    def __init__(self, work, op, recorder):
        self._work, self._op, self._recorder = work, op, recorder

    def wait(self, *arguments, **named):
        op, recorder = self._op, self._recorder
        if not recorder.is_on:
            return self._work.wait(*arguments, **named)
        if op.is_over:
            result = self._work.wait(*arguments, **named)
            recorder.add("wait", op, None, _caller(2))
            recorder.add("done", op, None, None)
            return result
        recorder.add("wait", op, _version(op.tensor), _caller(2))
        try:
            result = self._work.wait(*arguments, **named)
        except BaseException as error:
            recorder.fail(op, error)
            raise
        recorder.finish(op)
        return result

    def is_completed(self):
        done = self._work.is_completed()
        # One that failed is "completed" too, and has no value.
        if self._recorder.is_on and not (done and self._has_failed()):
            self._recorder.test(self._op, done)
        return done

    def _has_failed(self):
        try:
            future = self._work.get_future()
        except Exception:
            return False  # this back end has none to ask
        try:
            if future.done():
                future.value()
            return False
        except Exception:
            return True

    def get_future(self):
        future = self._work.get_future()
        op, recorder = self._op, self._recorder
        op.is_dropped_quietly = True
        future.add_done_callback(lambda unused: recorder.complete(op))
        return future

    def __getattr__(self, name):
        return getattr(self._work, name)

    def __del__(self):
        op = self._op
        if self._recorder.is_on and not (op.is_over or op.is_dropped_quietly):
            self._recorder.add("drop", op, None, None)


class _Label(threading.local):
    fields = ""


_label = _Label()


class label:
    """Says what the all-reduces inside are: key="lm loss", step=3, mb=0, pairs=1."""

    def __init__(self, key=None, step=None, mb=None, pairs=None):
        fields = [] if key is None else ['"key":' + _quote(key)]
        fields += ['"%s":%d' % item for item in (("step", step), ("mb", mb), ("pairs", pairs))
                   if item[1] is not None]
        self.fields = "".join("," + field for field in fields)

    def __enter__(self):
        self.before, _label.fields = _label.fields, self.fields

    def __exit__(self, *unused):
        _label.fields = self.before


class record:
    """Records from `with` to its end, or from start() to stop(). The file is made once the process
    group is there. `contract` are fields of the history's header, such as {"nan": "propagate"}."""

    def __init__(self, directory, contract=None):
        self.directory, self.contract = str(directory), dict(contract or {})
        self.is_on, self.file, self.rank, self.pid = False, None, None, None
        self.queue, self.lines, self.count, self.last = deque(), 0, 0, 0
        self.groups, self.live = {}, {}
        self.lock, self.wake = threading.Lock(), threading.Event()

    # ---- life -------------------------------------------------------------------------------

    def start(self):
        global _recorder
        if _recorder is not None:
            raise RuntimeError("alar_torch: already recording to " + _recorder.directory)
        os.makedirs(self.directory, exist_ok=True)
        _recorder, self.is_on, self.pid = self, True, os.getpid()
        _install()
        atexit.register(self.stop)
        return self

    def stop(self):
        """Writes what is left and the regular end."""
        global _recorder
        if not self.is_on:
            return
        self.is_on = False
        _recorder = None
        _uninstall()
        atexit.unregister(self.stop)
        self.wake.set()
        if os.getpid() != self.pid:
            self.forget()
        if self.file is not None:
            self.queue.append(("end", None, _now(), None, None))
            self.flush()
            self.file.close()

    __enter__ = start

    def __exit__(self, kind, error, trace):
        is_wrong = kind is not None and not (kind is SystemExit and not error.code)
        if is_wrong and self.file is not None:
            self.queue.append(("exit", None, _now(), error, None))
        self.stop()

    def forget(self):
        """In a forked child: what the parent recorded is the parent's to write."""
        self.file, self.groups, self.live, self.pid = None, {}, {}, os.getpid()
        self.queue, self.lines, self.count, self.last = deque(), 0, 0, 0
        self.lock, self.wake = threading.Lock(), threading.Event()

    def open(self):
        """The rank's file, with its first record. Refuses one that is there."""
        if os.getpid() != self.pid:
            self.forget()
        self.rank = dist.get_rank()
        path = os.path.join(self.directory, "rank%d.jsonl" % self.rank)
        try:
            self.file = open(path, "x", encoding="utf-8")
        except FileExistsError:
            raise RuntimeError(
                "alar_torch: %s: expected a directory without a history, found one" % path) from None
        self.t0 = _now()
        backend = str(dist.get_backend())
        fields = {"wait": "stream"} if backend == "nccl" else {}
        fields.update(self.contract)
        self.file.write(
            '{"ev":"trace","rank":%d,"i":0,"t":0,"v":1,"world":%d,"backend":%s,"tag":%s,'
            '"clock":"monotonic_ns","t0":%d,"host":%s%s}\n' % (
                self.rank, dist.get_world_size(),
                _quote("%s of torch %s" % (backend, torch.__version__)), _quote(self.tag()), self.t0,
                _quote(socket.gethostname()),
                "".join(",%s:%s" % (_quote(k), _quote(v)) for k, v in fields.items())))
        self.lines = 1
        # Children of multiprocessing leave without running what atexit knows.
        util.Finalize(None, self.stop, exitpriority=100)
        threading.Thread(target=self.work, daemon=True, name="alar_torch").start()

    def tag(self):
        """The same on all ranks, another in each run, so that a foreign file is not judged along."""
        global _recordings
        key, _recordings = "alar_torch/%d" % _recordings, _recordings + 1
        try:
            store = c10d._get_default_store()
            if self.rank == 0:
                store.set(key, "torch %x.%x" % (time.time_ns(), os.getpid()))
            return store.get(key).decode()
        except Exception:
            return "torch"

    # ---- the calling thread: nothing here makes text ------------------------------------------

    def add(self, event, op, value, where):
        self.queue.append((event, op, _now(), value, where))

    def issue(self, tensor, op, group, is_async, where):
        if self.file is None or os.getpid() != self.pid:
            self.open()
        name = self.groups.get(group)
        if name is None:
            name = self.groups[group] = self.group_made(self.group_name(group))
        dtype = DTYPES.get(tensor.dtype)
        made = _Op(name[0], name[1], tensor, dtype)
        name[1] += 1
        self.count += 1
        self.live.setdefault(made.storage, []).append(made)
        self.queue.append(("issue", made, _now(), (
            _copy(tensor) if dtype else None, op, is_async, made.end - made.begin,
            tensor.element_size(), _version(tensor), _label.fields), where))
        return made

    def finish(self, op):
        """The wait, or the blocking call, returned."""
        op.is_over, op.is_pending = True, False
        self.queue.append(("done", op, _now(), (
            _copy(op.tensor) if op.dtype else None, _version(op.tensor)), None))
        self.settle(op)

    def complete(self, op):
        """Whoever asked for a future learns of the end from another thread."""
        if op.is_pending and self.is_on:
            op.is_pending = False
            self.queue.append(("complete", op, _now(), (
                _copy(op.tensor) if op.dtype else None, _version(op.tensor)), None))

    def fail(self, op, error):
        """A wait that only ran out of its own time may be tried again."""
        op.is_over = not str(error).startswith("Operation timed out")
        self.add("fail", op, (type(error).__name__, str(error)[:200]), None)

    def settle(self, op):
        """The tensor is the program's again; the operation is remembered until it is read."""
        op.tensor = None
        if len(self.live) > REMEMBERED:
            for storage, ops in list(self.live.items()):
                kept = [one for one in ops if one.is_pending]
                if kept:
                    self.live[storage] = kept
                else:
                    del self.live[storage]

    def test(self, op, done):
        """Programs poll by the thousand: of the polls that find nothing the first is kept."""
        if op.is_pending and (done or not op.has_polled):
            op.has_polled = not done
            self.add("test", op, done, None)

    def read(self, tensor):
        """A value is taken out of a tensor that may carry an operation."""
        storage, begin = _storage(tensor)
        ops = self.live.get(storage)
        if ops is None:
            return
        end = begin + tensor.numel()
        for op in list(ops):
            if begin < op.end and op.begin < end and DTYPES.get(tensor.dtype) == op.dtype:
                at = max(begin - op.begin, 0)
                self.add("read", op, (_copy(tensor), at, tensor.numel()), _caller(3))
                if not op.is_pending:
                    ops.remove(op)
        if not ops:
            self.live.pop(storage, None)

    def pending(self, tensor):
        """The pending operation whose result that tensor is."""
        storage, begin = _storage(getattr(tensor, "elem", tensor))
        return next((op for op in self.live.get(storage, ()) if op.is_pending and
                     op.begin == begin), None)

    def move(self, op, tensor):
        """Its result will be in another tensor than its input was in."""
        ops = self.live.get(op.storage, [])
        if op in ops:
            ops.remove(op)
        op.place(tensor)
        self.live.setdefault(op.storage, []).append(op)

    def group_made(self, name):
        """Its name and how many all-reduces it has had; one group may be known by two objects."""
        return next((made for made in self.groups.values() if made[0] == name), [name, 0])

    def group_name(self, group):
        if group is None or group is c10d._get_default_group():
            return "world"
        ranks = getattr(c10d, "get_process_group_ranks", dist.get_process_group_ranks)(group)
        names = c10d._pg_names if hasattr(c10d, "_pg_names") else c10d._world.pg_names
        name = "group %s" % str(names.get(group, "?")).replace("/", "-")
        self.add("declare", None, (name, sorted(ranks)), None)
        return name

    # ---- the background thread ------------------------------------------------------------------

    def work(self):
        wake, pid = self.wake, self.pid
        while not wake.wait(FLUSH_SECONDS):
            if os.getpid() == pid:
                self.flush()

    def flush(self):
        with self.lock:
            while self.queue:
                count = min(len(self.queue), 500)
                self.file.write("".join(self.line(*self.queue.popleft()) for _ in range(count)))
            self.file.flush()

    def line(self, event, op, t, value, where):
        # Threads take their time before they take their place: time must not run backwards.
        self.last = max(self.last, t - self.t0)
        text = '{"ev":"%s","rank":%d,"i":%d,"t":%d' % (event, self.rank, self.lines, self.last)
        self.lines += 1
        if op is not None:
            text += ',"op":%s' % _quote("%s/%d" % (op.group, op.number))
        if where is not None:
            text += ',"src":%s' % _quote("%s:%d" % (os.path.basename(where[0]), where[1]))
        text_of = getattr(self, "text_" + event, None)
        return text + (text_of(op, value) if text_of else "") + "}\n"

    def text_issue(self, op, value):
        copy, red, is_async, n, size, version, fields = value
        if copy is None:
            return ',"dtype":"u8","n":%d,"sync":%s,"buf":"%x","refused":"dtype"' % (
                n * size, "false" if is_async else "true", op.buffer)
        word = next((word for known, word in REDUCTIONS
                     if (red == word if isinstance(red, str) else red == known)), None)
        # Without a word for the reduction there is no value to judge.
        values = "" if word is None else ',"in":' + _hex(copy, op.dtype)
        return ',"red":"%s","dtype":"%s","n":%d,"sync":%s,"buf":"%x","ver":%d%s%s' % (
            word or "sum", op.dtype, n, "false" if is_async else "true", op.buffer, version, values,
            fields)

    def text_wait(self, op, version):
        return "" if version is None else ',"ver":%d' % version

    def text_done(self, op, value):
        if value is None or value[0] is None:
            return ""
        return ',"ver":%d,"out":%s' % (value[1], _hex(value[0], op.dtype))

    text_complete = text_done

    def text_test(self, op, done):
        return ',"done":%s' % ("true" if done else "false")

    def text_fail(self, op, value):
        return ',"error":%s,"text":%s' % (_quote(value[0]), _quote(value[1]))

    def text_read(self, op, value):
        return ',"at":%d,"n":%d,"bits":%s' % (value[1], value[2], _hex(value[0], op.dtype))

    def text_declare(self, op, value):
        return ',"group":%s,"members":%s' % (_quote(value[0]), str(value[1]).replace(" ", ""))

    def text_exit(self, op, error):
        return ',"code":1,"text":%s' % _quote("%s: %s" % (type(error).__name__, str(error)[:200]))

    def text_report(self, op, value):
        return value


def report(metric, loss, step, ops=(), logged_at_step=None, first_step=None, normalization=None,
           over=None, tokens=None, nonfinite=None, empty=None, sink="log"):
    """One logged value. `loss` is a number, a tensor of one element, or None for EMPTY; `ops` the
    handles it was made of, or their numbers."""
    if _recorder is None or _recorder.file is None:
        return
    bits = None
    if isinstance(loss, torch.Tensor):
        bits = _hex(_copy(loss.float()), "f32")[1:-1]
        loss = loss.detach().double().sum().tolist()
    fields = [("metric", _quote(metric)), ("step", step), ("first_step", first_step),
              ("logged_at_step", logged_at_step),
              ("normalization", normalization and _quote(normalization)),
              ("over", over and _quote(over)), ("loss", _number(loss)), ("bits", bits),
              ("tokens", None if tokens is None else int(tokens)), ("nonfinite", nonfinite),
              ("empty", empty), ("sink", _quote(sink)), ("ops", _names(ops) if ops else None)]
    _recorder.add("report", None, "".join(
        ',"%s":%s' % field for field in fields if field[1] is not None), _caller(2))


def _number(value):
    if value is None:
        return "null"
    if value != value:
        return '"nan"'
    if value in (float("inf"), float("-inf")):
        return '"inf"' if value > 0 else '"-inf"'
    return repr(float(value))


def _names(ops):
    return "[%s]" % ",".join(
        _quote("%s/%d" % (op._op.group, op._op.number)) if isinstance(op, Handle)
        else str(op) if isinstance(op, int) else _quote(op) for op in ops)


# ---- what is put in the place of torch's own ------------------------------------------------------

_original = {}  # (object, name): what was there


def _replace(owner, name, made):
    _original[owner, name] = getattr(owner, name), name in vars(owner)
    setattr(owner, name, made)


def _uninstall():
    for (owner, name), (before, was_own) in _original.items():
        if was_own:
            setattr(owner, name, before)
        else:
            delattr(owner, name)
    _original.clear()


def _all_reduce_of(original):
    def all_reduce(tensor, op=dist.ReduceOp.SUM, group=None, async_op=False):
        recorder = _recorder
        if recorder is None or c10d._rank_not_in_group(group):
            return original(tensor, op, group, async_op)
        made = recorder.issue(tensor, op, group, async_op, _caller(2))
        try:
            work = original(tensor, op, group, async_op)
        except BaseException as error:
            recorder.fail(made, error)
            raise
        if async_op and work is not None:
            return Handle(work, made, recorder)
        recorder.finish(made)
        return work
    return all_reduce


def _reader_of(original):
    def reader(self, *arguments, **named):
        recorder = _recorder
        if recorder is not None and recorder.live:
            recorder.read(self)
        return original(self, *arguments, **named)
    return reader


def _functional_of(original):
    """The functional all-reduce returns a new tensor at once; a wait for that tensor ends it."""
    def all_reduce(tensor, reduce_op, group=None, *arguments, **named):
        recorder = _recorder
        if recorder is None:
            return original(tensor, reduce_op, group, *arguments, **named)
        made = recorder.issue(tensor, reduce_op.lower(), group, True, _caller(2))
        result = original(tensor, reduce_op, group, *arguments, **named)
        recorder.move(made, getattr(result, "elem", result))
        return result
    return all_reduce


def _wait_tensor_of(original):
    def wait_tensor(tensor):
        recorder = _recorder
        op = recorder.pending(tensor) if recorder is not None else None
        if op is None:
            return original(tensor)
        recorder.add("wait", op, _version(op.tensor), _caller(2))
        try:
            result = original(tensor)
        except BaseException as error:
            recorder.fail(op, error)
            raise
        recorder.finish(op)
        return result
    return wait_tensor


def _install():
    made = _all_reduce_of(c10d.all_reduce)
    _replace(c10d, "all_reduce", made)
    _replace(dist, "all_reduce", made)
    for name in ("item", "tolist", "numpy", "__float__", "__int__", "__bool__"):
        _replace(torch.Tensor, name, _reader_of(getattr(torch.Tensor, name)))
    functional = sys.modules.get("torch.distributed._functional_collectives")
    if functional is not None:
        _replace(functional, "all_reduce", _functional_of(functional.all_reduce))
        _replace(functional, "wait_tensor", _wait_tensor_of(functional.wait_tensor))


def main():
    """python3 -m alar_torch -o DIR script.py [ARGUMENT]..."""
    import runpy
    arguments = sys.argv[1:]
    if len(arguments) < 3 or arguments[0] != "-o":
        print("alar_torch: expected -o DIR script.py [ARGUMENT]...", file=sys.stderr)
        return 3
    directory, sys.argv = arguments[1], arguments[2:]
    if not os.path.exists(sys.argv[0]):
        print("alar_torch: %s: expected a script, found none" % sys.argv[0], file=sys.stderr)
        return 3
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    # The script's `import alar_torch` must find this very module, not a second one.
    sys.modules["alar_torch"] = sys.modules["__main__"]
    code = 0
    try:
        with record(directory):
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        code = end.code
    if code:
        return code
    if not any(name.startswith("rank") for name in os.listdir(directory)):
        print("alar_torch: %s: no all-reduce was recorded: does the program call "
              "torch.distributed.all_reduce, by that name, in this process or in forked ones? "
              "Spawned ones need `with alar_torch.record(DIR)` of their own" % directory,
              file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
