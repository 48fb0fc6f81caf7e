"""What alar.Log asks of torch.distributed: one all-reduce at a time handed over, looked at and waited for,
on a gloo group of its own; and who is there, when a wait lasts too long."""
import ctypes
import datetime
import inspect
import threading
import time

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from .embed import DTYPES, BadInput, Error, Note

NOTE_SECONDS = 0.05  # a rank that has stood still for so long says where it stands
ASK_SECONDS = 1.0  # so long before its deadline a rank begins to ask for the others, or after a quarter of it
LATE_SECONDS = 0.08  # so long it asks on after its deadline, which it outlasts by 0.1 s at most
GRACE_SECONDS = 2.0  # so long others may take to say so after an operation failed
OPEN = {}  # ranks of a group: the log on it
MADE = {}  # ranks of a group: logs made on it so far


def carrier(group, deadline):
    """For this group, or for a program that is alone."""
    if group is None and not (dist.is_available() and dist.is_initialized()):
        return Alone()
    return Gloo(group, deadline)


class Alone:
    """A program without torch.distributed: every sum is its own contribution."""
    rank, ranks, world_ranks = 0, 1, [0]

    def compare(self, text):
        pass

    def open_slots(self, engine):
        pass

    def post(self, slot, op):
        ctypes.memmove(op.receive, op.send, op.elements * 8)

    def is_done(self, work):
        return True

    def wait(self, work, note):
        return True

    def ask(self, own, seconds):
        return {}, True

    def say(self, note):
        pass

    def close(self, is_whole):
        pass


class Gloo:
    """gloo runs two operations of a group at a time, in order: so that a log that stalls takes none of the
    program's, it has a group of its own. Collective: all ranks of `group` make one."""

    def __init__(self, group, deadline):
        self.world_ranks = _ranks_of(group)
        self.rank, self.ranks, self.deadline = self.world_ranks.index(dist.get_rank()), len(self.world_ranks), deadline
        self.key = tuple(self.world_ranks)
        if self.key in OPEN:
            raise BadInput("E_ILLEGAL", "this group has a log that is open: close it, or give it all metrics")
        wanted = {"backend": "gloo", "timeout": datetime.timedelta(seconds=max(1800.0, 4 * deadline))}
        if self.ranks < dist.get_world_size() and "use_local_synchronization" in inspect.signature(dist.new_group).parameters:
            wanted["use_local_synchronization"] = True  # before torch 2.1 all ranks of the world call
        self.group = dist.new_group(self.world_ranks, **wanted)
        MADE[self.key] = MADE.get(self.key, 0) + 1
        self.store = c10d.PrefixStore("alar.log/%d/%s" % (MADE[self.key], "-".join(map(str, self.key))), c10d._get_default_store())
        self._tensors = {}
        self._call = None
        self._said = self._memory = None
        OPEN[self.key] = self

    def compare(self, text):
        """Do all ranks log the same? E_SCHEMA, on all of them, when not."""
        mine = torch.zeros(2048, dtype=torch.uint8)
        said = text.encode()[:2048]
        mine[:len(said)] = torch.frombuffer(bytearray(said), dtype=torch.uint8)
        all_of_them = [torch.zeros_like(mine) for _ in range(self.ranks)]
        work = dist.all_gather(all_of_them, mine, group=self.group, async_op=True)
        if not self.wait(work, lambda: (Note(), 0)):
            raise Error("E_LOST", "in the first exchange of the log, within %g s" % self.deadline)
        texts = [bytes(one.tolist()).rstrip(b"\0").decode() for one in all_of_them]
        common = max(texts, key=texts.count)
        odd = [self.world_ranks[rank] for rank, one in enumerate(texts) if one != common]
        if odd:
            raise Error("E_SCHEMA", "%s: expected [%s], found [%s]" % (_named(odd), common, next(one for one in texts if one != common)))

    def open_slots(self, engine):
        """Tensors over the engine's own memory, one a slot: nothing is copied on the way to gloo's side."""
        self._memory, self._base = engine.memory, engine.base

    def post(self, slot, op):
        ctypes.memmove(op.receive, op.send, op.elements * (4 if DTYPES[op.dtype] == "float32" else 8))
        key = op.receive, op.elements
        tensor = self._tensors.get(key)
        if tensor is None:
            tensor = self._tensors[key] = torch.frombuffer(self._memory, dtype=getattr(torch, DTYPES[op.dtype]), count=op.elements,
                                                           offset=op.receive - self._base)
        return self.group.allreduce(tensor)

    def is_done(self, work):
        """Complete, and well. What failed says why to whoever waits for it."""
        if not work.is_completed():
            return False
        try:
            work.wait()
        except Exception:
            return False
        return True

    def wait(self, work, note):
        """True when it is complete, False when the deadline passed first. Raises what gloo says of a failure.
        `note` gives a Note and the operation that is waited for."""
        since = time.monotonic()
        ask_after = self.deadline - min(ASK_SECONDS, 0.75 * self.deadline)
        while not work.is_completed():
            waited = time.monotonic() - since
            if waited > self.deadline:
                return False
            if waited > min(NOTE_SECONDS, ask_after) and self._said != note()[1]:
                self.say(note())
            if waited > ask_after and self._call is None:
                self._call = RollCall(self.store, self.rank, self.ranks, note())
            time.sleep(min(max(waited / 20, 2e-5), 2e-3, self.deadline / 100))
        self._call = self._call and self._call.end()
        work.wait()
        return True

    def say(self, note):
        self._said = note[1]
        text = "%d %d %d %d %d" % (note[0].status, note[0].step, note[0].microbatch, note[0].posted, note[1])
        _apart(lambda: self.store.set("%d" % self.rank, text))

    def ask(self, own, seconds):
        """{rank: Note} of those that stand still, or have raised, at operation own[1] or later; and whether the
        store answered at all."""
        self.say(own)
        call = self._call or RollCall(self.store, self.rank, self.ranks, own)
        call.is_over.wait(seconds)
        call.end()
        return {**call.notes, self.rank: own[0]}, call.is_answered

    def close(self, is_whole):
        """Gives the group up. What is pending on it would keep its destructor, and so the end of the program,
        waiting for ranks that do not come: then it is left to the end of the process."""
        OPEN.pop(self.key, None)
        if is_whole:
            dist.destroy_process_group(self.group)
        else:
            for kept in (self.group, self.store, self._memory, self._tensors):
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


class RollCall:
    """Who is there? Each rank that stands still writes where it stands into the store of the program. The host of that
    may be the one that is stopped, so what asks it is a thread that nobody waits for."""

    def __init__(self, store, rank, ranks, own):
        self.store, self.ranks, self.number = store, ranks, own[1]
        self.notes, self.is_answered, self.is_over = {rank: own[0]}, False, threading.Event()
        _apart(self._look)

    def end(self):
        self.is_over.set()

    def _look(self):
        self.store.add("asked", 1)  # comes back when the store answers
        self.is_answered = True
        while len(self.notes) < self.ranks and not self.is_over.is_set():
            for rank in range(self.ranks):
                if rank not in self.notes and self._has("%d" % rank):
                    status, step, microbatch, posted, number = map(int, self.store.get("%d" % rank).split())
                    if number + 1 >= self.number or status:
                        self.notes[rank] = Note(status, step, microbatch, posted)
            self.is_over.wait(0.02)
        self.is_over.set()

    def _has(self, key):
        if hasattr(self.store, "check"):
            return self.store.check([key])
        try:  # torch 1.13
            self.store.wait([key], datetime.timedelta(milliseconds=20))
            return True
        except RuntimeError:
            return False


def _apart(what):
    def quietly():
        try:
            what()
        except Exception:  # the store has gone with its rank, which is what is found out
            pass
    thread = threading.Thread(target=quietly, daemon=True)
    thread.start()
    return thread


def _named(ranks):
    return "rank%s %s" % ("s" if len(ranks) > 1 else "", ", ".join(map(str, ranks)))


def _ranks_of(group):
    """The world's numbers of its ranks, in the group's order."""
    if group is None:
        return list(range(dist.get_world_size()))
    if group is getattr(c10d.GroupMember, "NON_GROUP_MEMBER", None) or dist.get_rank(group) < 0:
        raise BadInput("E_INPUT", "expected a group with this rank, %d, in it" % dist.get_rank())
    return [c10d.get_global_rank(group, rank) for rank in range(dist.get_world_size(group))]
