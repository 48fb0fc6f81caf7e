"""The recorder of one process: its operations, its groups, its life."""
import atexit
import json
import os
import socket
import threading
import time
import weakref
from datetime import timedelta
from multiprocessing import util

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from . import capture, native, pending
from .labels import current
from .writer import Writer, now, warn

SEES = ("values polls ends reads writes handles reports "
        "all_reduce all_reduce_coalesced all_gather gather reduce reduce_scatter broadcast "
        "wait is_completed get_future drop reads-of-the-tensor writes-of-the-tensor")

_active = None    # the recorder that records, or None
_recordings = 0   # of this process so far; all ranks make the same ones


def recording():
    """The recorder that is at work in this process, or None."""
    return _active


class Group:
    """A process group as the history knows it."""
    __slots__ = ("name", "members", "place", "count", "issued", "known")

    def __init__(self, name, members, place, known):
        self.name, self.members, self.place, self.known = name, members, place, known
        self.count, self.issued = len(members), 0


class record:
    """Records from `with` to its end, or from start() to stop(). The file is made at the first
    collective.

    directory  where the histories go
    contract   fields of the history's header, such as {"nan": "propagate"}
    values     False: no elements are kept; order, sizes and waits are
    last       keep only the last so many operations of each group, or up to twice as many
    watch      also see reads through other tensors that share the memory: each operator is looked at;
               and the first look at each result after its wait
    gradients  also see what DistributedDataParallel reduces (torch 2)
    """

    def __init__(self, directory, contract=None, values=True, last=None, watch=False,
                 gradients=False):
        self.directory, self.contract = os.fspath(directory), dict(contract or {})
        self.has_values, self.last = values, last and max(int(last), 1)
        self.with_watch, self.with_gradients = watch, gradients
        self.is_on, self.is_inherited, self.was_refused = False, False, False
        self._forget()

    # ---- life -----------------------------------------------------------------------------------

    def start(self):
        global _active
        if _active is not None:
            raise RuntimeError("alar.torch: already recording to " + _active.directory)
        os.makedirs(self.directory, exist_ok=True)
        _active, self.is_on = self, True
        capture.install(self)
        atexit.register(self.stop)
        return self

    def stop(self, is_whole=True):
        """Writes what is left and the regular end."""
        global _active
        if not self.is_on:
            return
        self.is_on = False
        _active = None
        capture.uninstall()
        atexit.unregister(self.stop)
        if self.writer is not None:
            self.writer.stop(is_whole)

    __enter__ = start

    def __exit__(self, kind, error, trace):
        is_wrong = kind is not None and not (kind is SystemExit and not error.code)
        if is_wrong and self.writer is not None:
            code = error.code if kind is SystemExit and isinstance(error.code, int) else 1
            self.add("exit", None, (code, "%s: %s" % (kind.__name__, str(error)[:200])), None)
        self.stop()

    def _forget(self):
        """As at the start. In a forked child what the parent recorded is the parent's to write."""
        native.stop()
        self.writer, self.groups, self.names = None, {}, {}
        self.world, self.generation, self.left_out = None, -1, set()
        self.declared = {}  # of metrics: the records that every file begins with
        self.is_stream = self.with_looks = False
        self.live = {}  # only with `watch`: pending operations by the address of their storage
        self.lock = threading.RLock()

    def forked(self):
        self._forget()
        capture.forget()

    def _open(self):
        """The rank's file, with its first record. Never into one that is there."""
        world = c10d._get_default_group()
        native.stop()
        self.generation += 1
        if self.writer is not None:
            self.writer.stop()
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.world = weakref.ref(world)
        self.groups, self.names, self.starts = {}, {}, 0
        self.t0, self.tag, self.backend = now(), self._tag(), str(dist.get_backend())
        self.is_stream = "nccl" in self.backend  # a wait orders a stream: the host may look before the end
        self.with_looks = self.is_stream or self.with_watch or self.contract.get("use") == "once"
        self.sees = capture.sees(SEES if self.has_values else SEES.replace("values ", "", 1))  # also what is written last
        try:
            self.writer = Writer(self.rank, self._path, self._header, self.t0)
        except OSError as error:
            self.was_refused = True
            what = ("%s: expected a directory without a history, found one" % error.filename
                    if isinstance(error, FileExistsError) else str(error))
            warn("%s: nothing is recorded by rank %d; the program goes on" % (what, self.rank))
            self.writer = _Nowhere()
        for text in self.declared:
            self.add("declare", None, text, None)
        native.start(self)
        util.Finalize(None, self.stop, exitpriority=100)  # multiprocessing's children skip atexit

    def _path(self, segment):
        parts = [self.directory]
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        if attempt not in ("", "0"):
            parts.append("attempt-" + attempt)
        if self.generation > 0:
            parts.append("world-%d" % self.generation)
        if self.last:
            parts.append("from-%08d" % (segment * self.last))
        return os.path.join(*parts, "rank%d.jsonl" % self.rank)

    def _header(self, segment):
        fields = {"ev": "trace", "rank": self.rank, "i": 0, "t": 0, "v": 1, "world": self.size,
                  "backend": "%s of torch %s" % (self.backend, torch.__version__),
                  "tag": self.tag, "clock": "monotonic_ns", "t0": self.t0,
                  "host": socket.gethostname(),
                  "sees": self.sees}
        try:
            with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot:
                fields["boot_id"] = boot.read().strip()  # hosts may share a name
        except OSError:
            pass
        if self.last:
            fields["begins"] = segment * self.last
        if self.is_stream:
            fields["wait"] = "stream"
        fields.update(self.contract)
        return json.dumps(fields, separators=(",", ":"), default=str) + "\n"

    def _tag(self):
        """The same on all ranks, another in each run, so that a foreign file is not judged along.
        Nobody is waited for: whoever comes first says it."""
        global _recordings
        key, _recordings = "alar.torch/%d" % _recordings, _recordings + 1
        mine = "torch %x.%x" % (time.time_ns(), os.getpid())
        try:
            store = c10d._get_default_store()
        except Exception:
            return "torch"
        try:
            return store.compare_set(key, "", mine).decode()
        except Exception:
            pass
        try:  # a store that can't compare: whoever counts to one says it
            if store.add(key + "/count", 1) == 1:
                store.set(key, mine)
            store.wait([key], timedelta(seconds=5))
            return store.get(key).decode()
        except Exception:
            return "torch"

    # ---- the calling thread: nothing here makes text ----------------------------------------------

    def add(self, event, op, value, where):
        self.writer.queue.append((event, op, now(), value, where))

    def _meet(self, process_group):
        """What the history calls a process group; the file is opened with the first one."""
        world = c10d._get_default_group()
        if self.world is None or self.world() is not world:
            is_same = self.world is not None and (dist.get_rank(), dist.get_world_size()) == (
                self.rank, self.size)
            if self.world is None or not is_same:
                self._open()
            self.world = weakref.ref(world)
            self.starts += 1
        if process_group is world:
            name, members = "world", list(range(self.size))
        else:
            members = sorted(getattr(c10d, "get_process_group_ranks", dist.get_process_group_ranks)(
                process_group))
            name = self._name(process_group, members)
        made = self.names.get(name)
        if made is None:
            made = self.names[name] = Group(name, members, members.index(self.rank), None)
            if name != "world":
                self.add("declare", None, ',"group":%s,"members":%s' % (
                    json.dumps(name), json.dumps(members, separators=(",", ":"))), None)
        made.known = weakref.ref(process_group)
        self.groups[id(process_group)] = made
        return made

    def _name(self, process_group, members):
        """torch's own name; after a new start of torch.distributed, which numbers from 0, with its number."""
        names = c10d._pg_names if hasattr(c10d, "_pg_names") else c10d._world.pg_names
        name = "group %s" % str(names.get(process_group, "?")).replace("/", "-")
        base = name = name if self.starts < 2 else "%s of start %d" % (name, self.starts)
        again = 1
        while name in self.names and (self.names[name].members != members or (
                self.names[name].known() is not None)):
            again += 1
            name = "%s.%d" % (base, again)
        return name

    def declare(self, text):
        """What a metric is, as the fields of its record."""
        with self.lock:
            if text not in self.declared:
                self.declared[text] = None
                if self.writer is not None:
                    self.add("declare", None, text, None)

    def issue(self, process_group, made, is_sync, where):
        """Operations of one call are handed to the back end."""
        with self.lock, native.held:
            group = self.groups.get(id(process_group))
            if group is None or group.known() is not process_group:
                group = self._meet(process_group)
            for op in made:
                op.is_sync = is_sync
                op.measure(group, current.elements)
                op.number = group.issued
                group.issued += 1
                if self.last:
                    self._cut(group, op)
                if self.with_watch and op.targets:
                    self.live.setdefault(pending.storage(op.targets[0]), []).append(op)
                self.writer.queue.append(("issue", op, now(), (
                    op.contribution() if self.has_values else False,
                    op.version(), current.fields), where))

    def _cut(self, group, op):
        """In the ring mode a segment holds so many operations of a group."""
        op.segment, op.number = divmod(op.number, self.last)
        if op.number == 0 and op.segment:
            self.add("segment", None, (group.name, op.segment), None)

    def finish(self, op):
        """The wait, or the blocking call, returned."""
        op.is_over, op.is_pending = True, False
        self.writer.queue.append(("done", op, now(), (
            op.result() if self.has_values else None, op.version()), None))
        op.sources = op.targets = ()

    def complete(self, op):
        """Whoever asked for a future learns of the end from another thread."""
        if op.is_pending and self.is_on:
            op.is_pending = False
            with torch._C.DisableTorchFunction():  # it may be watched, and this be another thread
                self.writer.queue.append(("complete", op, now(), (
                    op.result() if self.has_values else None, op.version()), None))

    def fail(self, op, error):
        """A wait that only ran out of its own time may be tried again."""
        op.is_over = not is_patient(error)
        self.add("fail", op, (type(error).__name__, str(error)[:200]), None)

    def test(self, op, is_done):
        """Programs poll by the thousand: of the polls that find nothing the first is kept."""
        if op.is_pending and (is_done or not op.has_polled):
            op.has_polled = not is_done
            self.add("test", op, is_done, None)

    def drop(self, op):
        """The handle is gone, and was never waited for."""
        if self.is_on and not op.is_over and not op.is_quiet:
            op.is_over = True
            self.add("drop", op, None, None)
            op.sources = op.targets = ()

    def leave_out(self, what, where):
        """Said once a kind: an operation that histories have no words for, on all ranks alike."""
        if what not in self.left_out:
            self.left_out.add(what)
            warn("%s:%d: %s: its operation was left out" % (os.path.basename(where[0]), where[1], what))

    def spoil(self, error):
        """A mistake of ours: said once, and nothing more is recorded."""
        if self.is_on:
            warn("%s: %s: nothing more is recorded; the program goes on" % (
                type(error).__name__, error))
            self.stop(is_whole=False)


def is_patient(error):
    """Did only the wait's own time run out? Then the operation goes on."""
    text = str(error)
    return text.startswith("Operation timed out") or "Wait timeout" in text


class _Nowhere:
    """Stands for a writer where there is no file to write to."""

    def __init__(self):
        self.queue = _Nothing()

    def stop(self, is_whole=True):
        pass


class _Nothing:
    def append(self, item):
        pass


def _after_fork():
    if _active is not None:
        _active.forked()


os.register_at_fork(after_in_child=_after_fork)
