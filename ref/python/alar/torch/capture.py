"""Where collectives are seen: at the methods of the process group and of its handles.

torch.distributed's functions stay as they are, with their signatures and their identity (torch compares
them), whoever imported them and when. What they return stays torch's own Work. Functional collectives are
seen in the dispatcher, by a kernel before torch's own; so are, on request, the reductions that
DistributedDataParallel makes in C++.
"""
import functools
import sys
import threading
import weakref

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from . import calls, kernels, native, pending, values, watch
from .caller import caller, caller_of

ProcessGroup = dist.ProcessGroup
Work = getattr(dist, "Work", None) or c10d.Work
_C10D_FILE = c10d.__file__

_recorder = None
_replaced = []      # (class, name, what was there)
_handles = {}       # id(work): its _Handle
_coalesced = {}     # id(process group): operations since _start_coalescing


class _Inside(threading.local):
    """Of this thread: is it in a method already? What that calls is not another operation. And the last
    blocking call, (work, operations), until its wait: nobody else has that handle."""
    is_set = False
    blocking = None


if native.part:
    _Inside = native.part.Inside
_inside = _Inside()


class _Handle(weakref.ref):
    """The operations of a Work, for as long as the program holds it."""
    __slots__ = ("key", "operations")


def _gone(handle):
    _handles.pop(handle.key, None)
    _drop(handle)


def _drop(handle):
    for op in handle.operations:
        if not op.is_over and _recorder is not None:
            _recorder.drop(op)


def _attach(work, made):
    handle = _Handle(work, _gone)
    handle.key, handle.operations = id(work), made
    _handles[handle.key] = handle


def operations_of(work):
    """The recorded operations behind a handle; None when there are none."""
    handle = _handles.get(id(work))
    return handle.operations if handle is not None else None


def install(recorder):
    """Puts the recorder's methods in the place of torch's."""
    global _recorder
    _recorder = pending.recorder = recorder
    for owner in _classes(ProcessGroup):
        for name in calls.METHODS:
            _replace(owner, name, _method_of)
        _replace(owner, "_start_coalescing", _start_coalescing_of)
        _replace(owner, "_end_coalescing", _end_coalescing_of)
    for owner in _classes(Work):
        for name, made in (("wait", _wait_of), ("is_completed", _is_completed_of),
                           ("get_future", _get_future_of)):
            _replace(owner, name, made)
    kernels.install(recorder)
    if recorder.with_watch:
        watch.install(recorder)


def uninstall():
    global _recorder, _inside
    native.stop()
    _recorder = pending.recorder = None
    _inside = _Inside()
    watch.uninstall()
    kernels.uninstall()
    while _replaced:
        owner, name, before = _replaced.pop()
        setattr(owner, name, before)
    _handles.clear()
    _coalesced.clear()


def forget():
    """In a forked child: the parent's handles are not this process's."""
    _inside.blocking = None
    _handles.clear()
    _coalesced.clear()


def sees(always):
    """What is seen, for the header of a history."""
    looks = ["reads-of-results"] if _recorder is not None and _recorder.with_looks else []
    return " ".join([always] + looks + kernels.seen() + watch.seen())


def _classes(base):
    """The class, and those made of it in Python that may have methods of their own."""
    found, left = [], [base]
    while left:
        one = left.pop()
        if one not in found:
            found.append(one)
            left += one.__subclasses__()
    return found


def _replace(owner, name, made_of):
    before = vars(owner).get(name)
    if before is None:
        return
    original = getattr(owner, name)
    made = native.method(name, original, made_of(name, original))
    functools.update_wrapper(made, before, assigned=("__name__", "__qualname__", "__doc__"), updated=())
    _replaced.append((owner, name, before))
    setattr(owner, name, made)


def is_blocking(frame, option=None):
    """Is it a function of torch.distributed that waits by itself? Newer ones say so in the options."""
    if frame.f_code.co_filename != _C10D_FILE:
        return False
    is_asynchronous = getattr(option, "asyncOp", None)
    if is_asynchronous is None:
        known = frame.f_locals
        is_asynchronous = known.get("async_op", known.get("async_ops", True))
    return not is_asynchronous


def _plain(made):
    """Takes what is watched out of the watch for the call: (tensor, operation before, is it read only)."""
    taken = None
    for op in made:
        sources, targets = op.sources, op.targets
        if sources is targets and len(targets) == 1 and type(targets[0]) is not pending.Pending:
            continue
        for tensor in targets if sources is targets else sources + targets:
            if type(tensor) is pending.Pending:
                taken = taken or []
                is_source = not any(tensor is one for one in targets)
                taken.append((tensor, pending.take(tensor), is_source))
    return taken


def _read_again(recorder, taken, where):
    """An input that is still the result of another operation is read by handing it over."""
    for tensor, before, is_source in taken:
        if before is None or not is_source:
            continue
        recorder.add("read", before, pending.snapshot(tensor, before), where)
        if before.is_pending:
            pending.put(tensor, before)


def _begin(recorder, group, operations_of, arguments, named, frame):
    """The operations of a call, recorded as issued; None when that failed."""
    made = ()
    try:
        if named:
            arguments = calls.in_order(arguments, named)
        made = operations_of(*arguments[:3])
        taken = _plain(made)
        where = caller_of(frame)
        recorder.issue(group, made, is_blocking(frame, arguments[-1]), where)
        if taken:
            _read_again(recorder, taken, where)
        return made
    except Exception as error:
        if any(one.layout is not torch.strided for op in made for one in op.sources):
            recorder.leave_out("a sparse tensor", caller_of(frame))
        else:
            recorder.spoil(error)
        return None


def _method_of(name, original):
    operations_of = calls.METHODS[name]

    def method(self, *arguments, **named):
        recorder, inside = _recorder, _inside
        if recorder is None or inside.is_set:
            return original(self, *arguments, **named)
        made = _begin(recorder, self, operations_of, arguments, named, sys._getframe(1))
        inside.is_set = True
        try:
            work = original(self, *arguments, **named)
        except BaseException as error:
            for op in made or ():
                recorder.fail(op, error)
            raise
        finally:
            inside.is_set = False
        if made is not None and recorder.is_on:
            _issued(recorder, self, made, work)
        return work
    return method


def _issued(recorder, group, made, work):
    """The call returned: whoever holds the handle holds the operations."""
    together = _coalesced.get(id(group)) if _coalesced else None
    if together is not None:
        together += made
    elif work is None:
        for op in made:
            recorder.finish(op)
    elif made and made[0].is_sync:
        if _inside.blocking is not None:
            _attach(*_inside.blocking)  # torch does not wait for that one
        _inside.blocking = work, made
        return
    else:
        _attach(work, made)
    for op in made:
        if not op.is_sync and len(op.targets) == 1:
            pending.put(op.targets[0], op)


def _start_coalescing_of(name, original):
    def method(self, *arguments, **named):
        if _recorder is not None:
            _coalesced[id(self)] = []
        return original(self, *arguments, **named)
    return method


def _end_coalescing_of(name, original):
    def method(self, *arguments, **named):
        work = original(self, *arguments, **named)
        made = _coalesced.pop(id(self), None)
        if made and work is not None and _recorder is not None:
            _attach(work, made)
        return work
    return method


def _finish(recorder, op):
    """Its value is the program's: only on request the first look at it is waited for."""
    targets = op.targets
    is_watched = len(targets) == 1 and pending.take(targets[0]) is op
    recorder.finish(op)
    if is_watched and recorder.with_looks:
        op.written = values.version(targets[0])
        pending.put(targets[0], op)
    elif recorder.with_watch and not is_watched:
        pending.put_results(targets, op)


def _wait_of(name, original):
    def wait(self, *arguments, **named):
        recorder, blocking = _recorder, _inside.blocking
        if recorder is None or not recorder.is_on:
            return original(self, *arguments, **named)
        if blocking is not None and blocking[0] is self:
            made, _inside.blocking = blocking[1], None
        else:
            handle = _handles.get(id(self))
            if handle is None:
                return original(self, *arguments, **named)
            made, where = handle.operations, caller(2)
            for op in made:
                recorder.add("wait", op, _version(op), where)
        try:
            if recorder.with_watch:
                result = pending.quietly(original, self, *arguments, **named)
            else:
                result = original(self, *arguments, **named)
        except BaseException as error:
            for op in made:
                if not op.is_over:
                    recorder.fail(op, error)
            raise
        if recorder.is_on:
            for op in made:
                if op.is_over:
                    recorder.add("done", op, None, None)
                else:
                    _finish(recorder, op)
        return result
    return wait


def _version(op):
    """The counter of writes, without waking the watch; None once it is the program's again."""
    if op.is_over or not op.has_version:
        return None
    tensor = op.targets[0]
    if type(tensor) is not pending.Pending:
        return values.version(tensor)
    tensor.__class__ = pending.Tensor
    version = values.version(tensor)
    tensor.__class__ = pending.Pending
    return version


def _is_completed_of(name, original):
    def is_completed(self):
        is_done = original(self)
        recorder, handle = _recorder, _handles.get(id(self))
        # One that failed is "completed" too, and has no value.
        if recorder is not None and handle is not None and not (is_done and _has_failed(self)):
            for op in handle.operations:
                recorder.test(op, is_done)
        return is_done
    return is_completed


def _has_failed(work):
    _inside.is_set = True
    try:
        future = work.get_future()
    except Exception:
        return False  # this back end has none to ask
    finally:
        _inside.is_set = False
    try:
        if future.done():
            future.value()
        return False
    except Exception:
        return True


def _get_future_of(name, original):
    def get_future(self):
        future = original(self)
        recorder, handle = _recorder, _handles.get(id(self))
        if recorder is not None and handle is not None and not _inside.is_set:
            made = handle.operations
            for op in made:
                op.is_quiet = True
            future.add_done_callback(lambda unused: [recorder.complete(op) for op in made])
        return future
    return get_future


# ---- what the compiled part asks for ----

def _unusual(group, made):
    """(operation, work): nobody waits for it, or the last blocking one was not waited for."""
    op, work = made
    if _recorder is not None:
        _issued(_recorder, group, [op], work)


def _failed(op, error):
    if _recorder is not None and not op.is_over:
        _recorder.fail(op, error)


def _spoil(error):
    if _recorder is not None:
        _recorder.spoil(error)


native.setup(handles=_handles, coalesced=_coalesced, issued=_unusual, failed=_failed, dropped=_drop, spoil=_spoil)
