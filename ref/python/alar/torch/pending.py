"""Sees what the program does with a tensor whose result is still to come.

While an operation is pending the tensor object that was handed over has the class `Pending`: a Tensor in all that a program can ask, but torch asks it
before every function that gets it. So reads through arithmetic are seen, and no other tensor costs
anything. While the function itself runs, the tensor is a plain one again. Views made on the way are
watched like the tensor they come from; other tensors that share its memory are not (see `watch`).

After a wait that the host waited in, looks are no mistakes any more: the tensor is a plain one again.
With `watch`, or where a wait only orders a stream, it is watched on. The first function that gets the
result then ends the watch, and is recorded as a read of all of it: nobody must have written since.
"""
import threading
import weakref

import torch

from . import values
from .caller import caller

Tensor = torch.Tensor
KEY = "_alar_operation"

# Functions that say or make something without looking at the elements. Getters of attributes, such as
# shape and grad, and what only makes a view, need no name here.
NO_READS = frozenset("""
    numel nelement dim ndimension size stride storage_offset element_size data_ptr is_contiguous
    is_floating_point is_complex is_signed is_shared is_pinned is_set_to is_same_size get_device type
    untyped_storage storage _typed_storage requires_grad_ retain_grad register_hook record_stream
    dim_order itemsize has_names __len__ __dir__ __hash__ __get__ __set__ __delete__ empty_like
    zeros_like ones_like full_like rand_like randn_like randint_like new_empty new_zeros new_ones
    new_full new_empty_strided new_tensor new _is_view _has_symbolic_sizes_strides result_type
    promote_types can_cast fill_ zero_ broadcast_tensors is_tensor is_storage is_inference
    resolve_conj resolve_neg is_conj is_neg backward detach_ share_memory_ pin_memory
""".split()) - {"resolve_conj", "resolve_neg"}
_busy = threading.local()
SHARING = (Tensor, list, tuple)  # results that may share memory with what they were made of
VIEWS = 64       # of one result that are let go when it was looked at
recorder = None  # the one that records


class _Alike(type(Tensor)):
    """A class that equals Tensor, for programs that compare classes."""

    def __eq__(cls, other):
        return other is Tensor or type.__eq__(cls, other)

    def __hash__(cls):
        return hash(Tensor)


class Pending(Tensor, metaclass=_Alike):
    """Never made; a tensor's class while its operation is pending."""

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), named=None):
        named = named or {}
        seen = []
        _collect(arguments, seen)
        if named:
            _collect(named.values(), seen)
        if len(seen) == 1 and _is_over(seen[0]):
            return _looked_at(function, arguments, named, seen[0])
        before = [(tensor, take(tensor), values.version(tensor)) for tensor in seen]
        return _watched(function, arguments, named, before)


Pending.__name__ = Pending.__qualname__ = "Tensor"
Pending.__module__ = "torch"


def _collect(arguments, seen):
    """The watched tensors among arguments, lists of them included."""
    for one in arguments:
        if type(one) is Pending:
            if not any(one is known for known in seen):
                seen.append(one)
        elif type(one) in (list, tuple):
            _collect(one, seen)


def put(tensor, op):
    """Watches it for that operation; only torch's plain tensors can be."""
    if type(tensor) is Tensor:
        tensor.__dict__[KEY] = op
        tensor.__class__ = Pending


def put_view(tensor, op):
    """A view of what is watched for that operation is watched, and let go, with it."""
    put(tensor, op)
    if op.views is None:
        op.views = []
    if len(op.views) < VIEWS:
        op.views.append(weakref.ref(tensor))


def put_results(tensors, op):
    """Watches what was no pending tensor of its own: the results of a blocking call, or several. When one is looked at
    is told, not what was seen in it: nothing kept others from writing there."""
    op.is_blind = True
    for one in tensors:
        put_view(one, op)


def let_go(op):
    """Ends the watch of all views of a result."""
    views, op.views = op.views, None
    for reference in views or ():
        take(reference())


def _is_over(tensor):
    op = tensor.__dict__.get(KEY)
    return op is None or (op.is_over and recorder is not None and not recorder.is_stream)


def _looked_at(function, arguments, named, tensor):
    """The first look at a result that is the program's."""
    op = take(tensor)
    active = _recorder_of(op)
    if active is None:
        return function(*arguments, **named)
    if getattr(function, "__name__", "") in NO_READS:
        result = function(*arguments, **named)
        if type(result) not in SHARING and (op.is_blind or values.version(tensor) == op.written):
            put(tensor, op)
        return result
    try:
        active.add("read", op, snapshot(tensor, op), caller(3))
        let_go(op)
    except Exception as error:
        active.spoil(error)
    return function(*arguments, **named)


def take(tensor):
    """Makes it a plain tensor again. Returns its operation, or None."""
    if type(tensor) is not Pending:
        return None
    tensor.__class__ = Tensor
    return tensor.__dict__.pop(KEY, None)


def is_busy():
    """Is this thread inside a function whose reads have been noted?"""
    return getattr(_busy, "is_inside", False)


def quietly(function, *arguments, **named):
    """Calls it. What torch does in it with a result, as a wait that copies it to its place, is no look of the program."""
    was_inside, _busy.is_inside = is_busy(), True
    try:
        return function(*arguments, **named)
    finally:
        _busy.is_inside = was_inside


def _watched(function, arguments, named, before):
    """Calls the function, and notes what it did with each watched tensor."""
    name = getattr(function, "__name__", "")
    reads = [] if name in NO_READS else [
        (tensor, op, snapshot(tensor, op)) for tensor, op, _ in before if op is not None]
    was_inside, _busy.is_inside = is_busy(), True
    try:
        result = function(*arguments, **named)
    finally:
        _busy.is_inside = was_inside
        try:
            result_or_none = locals().get("result")
            views = _views(result_or_none, before)
            for tensor, op, version in before:
                _note(tensor, op, _is_written(tensor, op, version, name), views, reads)
        except Exception as error:
            _spoil(before, error)
    return result


def _is_written(tensor, op, version, name):
    """Did the function write into it? Where torch itself counts up, its name tells: add_, __iadd__."""
    if op is None or op.has_version or not op.is_pending:
        return values.version(tensor) != version
    return name == "__setitem__" or (
        name.startswith("__i") and name.endswith("__") and name not in ("__int__", "__index__",
                                                                        "__invert__", "__iter__")) or (
        name.endswith("_") and not name.endswith("__"))


def _note(tensor, op, is_written, views, reads):
    """What happened to one tensor: a write, a view of it, a read, or nothing."""
    active = _recorder_of(op)
    if active is None:
        return
    if is_written and op.is_pending:
        at, count, copied = snapshot(tensor, op)
        active.add("write", op, (at, count, copied), caller(4))
    shared = [one for one, owner in views if owner is tensor]
    read = next((shot for one, _, shot in reads if one is tensor), None)
    is_read = read is not None and not is_written and not shared
    if is_read:
        active.add("read", op, read, caller(4))
    if op.is_pending or not (is_read or is_written):
        for one in shared:
            put_view(one, op)
        put(tensor, op)
    else:
        let_go(op)  # looked at, through whichever view; the others need no more watching


def _views(result, before):
    """The tensors in a result that share the memory of a watched one, each with it."""
    found = []
    if isinstance(result, Tensor):
        results = (result,)
    elif isinstance(result, (list, tuple)):
        results = [one for one in result if isinstance(one, Tensor)]
    else:
        return found
    for one in results:
        for tensor, op, _ in before:
            if one is tensor or (type(one) is Tensor and storage(one) == storage(tensor)):
                found.append((one, tensor))
                break
    return found


def storage(tensor):
    """The address of the memory that views of one tensor share."""
    return tensor.data_ptr() - tensor.storage_offset() * tensor.element_size()


def snapshot(tensor, op):
    """Which elements of the operation's result the tensor holds, and their bits where that is simple."""
    if op.is_blind:
        return 0, op.n, None
    offset = tensor.data_ptr() - op.address
    size = tensor.element_size()
    is_simple = (values.DTYPES.get(tensor.dtype) == op.dtype and op.dtype is not None
                 and offset >= 0 and tensor.is_contiguous())
    # What the program wrote since the end is no result.
    if not is_simple or op.part is not None or (
            op.written is not None and op.written != values.version(tensor)):
        return 0, op.n, None
    return offset // size, tensor.numel(), values.copy(tensor)


def _recorder_of(op):
    return recorder if op is not None and recorder is not None and recorder.is_on else None


def _spoil(before, error):
    for _, op, _ in before:
        active = _recorder_of(op)
        if active is not None:
            active.spoil(error)
