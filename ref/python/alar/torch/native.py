"""The compiled part of the recorder, where there is one: what nearly every all-reduce goes through, at a fraction of
the cost, with the same records. ref/python/native/ has its source; pip builds it as the module _alar_torch, for CPython
3.10 or later. Without it, or with ALAR_NATIVE=0 in the environment, everything is done in Python.
"""
import contextlib
import os
import sys
import types
from collections import deque

import torch
import torch.distributed as dist

from . import caller, pending, values


def _load():
    if sys.version_info < (3, 10) or os.environ.get("ALAR_NATIVE") == "0":
        return None
    try:
        import _alar_torch
        return _alar_torch
    except ImportError:
        return None


part = _load()
Queue = part.Queue if part else deque
held = part.Held() if part else contextlib.nullcontext()  # with it nothing is numbered by the compiled part


def setup(**lent):
    """Hands over what capture and this module have that the compiled part uses."""
    if part is None:
        return
    tensor = torch._C._TensorBase
    part.setup(types.SimpleNamespace(
        Tensor=torch.Tensor, Pending=pending.Pending, KEY=pending.KEY, LAYOUTS=values.LAYOUTS,
        C10D_FILE=dist.distributed_c10d.__file__, is_program=caller._is_program, decide=caller._decide,
        ELEMENTS=values.ELEMENTS, MethodType=types.MethodType,
        has_async_op=hasattr(dist.AllreduceOptions, "asyncOp"), numel=tensor.numel, data_ptr=tensor.data_ptr,
        is_contiguous=tensor.is_contiguous, **lent))
    for name, value in (("kind", "all_reduce"), ("root", None), ("before", 0), ("part", None), ("is_giver", True),
                        ("has_version", True), ("is_blind", False), ("result", _result)):
        setattr(part.Operation, name, value)


def _result(op):
    """Where the tensor was moved since the call, or somebody asked for the future."""
    return values.copy(op.targets[0], op.kept)


def method(name, original, careful):
    """What to put in the place of torch's method: `careful`, or what takes the usual calls off it."""
    return part.method(name, original, careful) if part else careful


def start(recorder):
    """From here on usual calls are recorded by the compiled part. It does not look at operators, and knows no streams."""
    if part and isinstance(recorder.writer.queue, Queue) and not (recorder.with_watch or recorder.with_looks):
        part.start(recorder.writer.queue, recorder.groups, recorder.has_values, recorder.last or 0)


def stop():
    """From here on every call takes the way in Python."""
    if part:
        part.stop()
