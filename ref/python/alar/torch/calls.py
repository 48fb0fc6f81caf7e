"""What each method of a process group does with its arguments: tables, one row a method.

torch.distributed's functions, and all that is built upon them in Python, end in these methods. A row
turns the arguments of a call into the operations it makes.
"""
import torch

from .operation import Operation


def _reduction(option):
    """Of an options object, or of a bare ReduceOp; None: torch's default, a sum."""
    return getattr(option, "reduceOp", option)


def _root(option):
    return getattr(option, "rootRank", option)


def _list(one):
    return [one] if isinstance(one, torch.Tensor) else list(one)


def _all_reduce(tensors, option=None, *timeout):
    if type(tensors) is list and len(tensors) == 1:  # nearly all calls
        return [Operation("all_reduce", tuple(tensors), None, _reduction(option))]
    return [Operation("all_reduce", (one,), None, _reduction(option)) for one in _list(tensors)]


def _all_reduce_coalesced(tensors, option=None, *timeout):
    made = _all_reduce(tensors, option)
    for op in made:
        op.has_version = False
    return made


def _broadcast(tensors, option=0, *timeout):
    return [Operation("broadcast", (one,), None, None, _root(option)) for one in _list(tensors)]


def _reduce(tensors, option=0, reduction=None):
    if hasattr(option, "reduceOp"):
        reduction = option.reduceOp
    return [Operation("reduce", (one,), None, reduction, _root(option)) for one in _list(tensors)]


def _all_gather(outputs, inputs, option=None):
    if isinstance(inputs, torch.Tensor):
        outputs, inputs = [outputs], [inputs]
    return [Operation("all_gather", (one,), tuple(out)) for out, one in zip(outputs, inputs)]


def _all_gather_coalesced(outputs, inputs, option=None):
    """One list of all inputs a rank."""
    return [Operation("all_gather", (one,), tuple(rank[k] for rank in outputs))
            for k, one in enumerate(inputs)]


def _all_gather_single(output, one, option=None):
    return [Operation("all_gather", (one,), (output,))]


def _all_gather_singles(outputs, inputs, option=None):
    return [Operation("all_gather", (one,), (out,)) for out, one in zip(outputs, inputs)]


def _gather(outputs, inputs, option=0):
    if isinstance(inputs, torch.Tensor):
        outputs, inputs = [outputs], [inputs]
    return [Operation("gather", (one,), tuple(outputs[k]) if k < len(outputs) else (), None,
                      _root(option)) for k, one in enumerate(inputs)]


def _reduce_scatter(outputs, inputs, option=None):
    if isinstance(outputs, torch.Tensor):
        outputs, inputs = [outputs], [inputs]
    return [Operation("reduce_scatter", tuple(one), (out,), _reduction(option))
            for out, one in zip(outputs, inputs)]


def _reduce_scatter_single(output, one, option=None):
    return [Operation("reduce_scatter", (one,), (output,), _reduction(option))]


def _reduce_scatter_singles(outputs, inputs, option=None):
    return [Operation("reduce_scatter", (one,), (out,), _reduction(option))
            for out, one in zip(outputs, inputs)]


METHODS = {
    "allreduce": _all_reduce,
    "allreduce_coalesced": _all_reduce_coalesced,
    "broadcast": _broadcast,
    "reduce": _reduce,
    "allgather": _all_gather,
    "allgather_coalesced": _all_gather_coalesced,
    "_allgather_base": _all_gather_single,
    "all_gather_single": _all_gather_single,
    "allgather_into_tensor_coalesced": _all_gather_singles,
    "all_gather_single_coalesced": _all_gather_singles,
    "gather": _gather,
    "reduce_scatter": _reduce_scatter,
    "_reduce_scatter_base": _reduce_scatter_single,
    "reduce_scatter_single": _reduce_scatter_single,
    "reduce_scatter_tensor_coalesced": _reduce_scatter_singles,
    "reduce_scatter_single_coalesced": _reduce_scatter_singles,
}

# The names torch gives those arguments, in their order: a call may use either.
_FIRST = ("tensors", "tensor", "output_tensors", "output_lists", "output_tensor", "output", "outputs")
_SECOND = ("input_tensors", "input_list", "input_tensor", "input", "inputs", "input_lists",
           "input_tensor_list")
_OPTION = ("opts", "root", "op")


def in_order(arguments, named):
    """The arguments of a method as one list. What is handed over beyond tensors, options and a root is not
    looked at."""
    arguments = list(arguments)
    for names in (_FIRST, _SECOND, _OPTION):
        arguments += [named[name] for name in names if name in named]
    return arguments[:3]


# Functional collectives: the operator's name, and its operations before there is a result.
def _f_reduce(kind):
    def made(inputs, reduction, *group):
        return [Operation(kind, (one,), (), reduction) for one in _list(inputs)]
    return made


def _f_gather(inputs, size, *group, **out):
    return [Operation("all_gather", (one,), ()) for one in _list(inputs)]


def _f_broadcast(one, root, *group):
    return [Operation("broadcast", (one,), (), None, root)]


FUNCTIONAL = {
    "all_reduce": _f_reduce("all_reduce"),
    "all_reduce_": _f_reduce("all_reduce"),
    "all_reduce_coalesced": _f_reduce("all_reduce"),
    "all_reduce_coalesced_": _f_reduce("all_reduce"),
    "reduce_scatter_tensor": _f_reduce("reduce_scatter"),
    "reduce_scatter_tensor_out": _f_reduce("reduce_scatter"),
    "reduce_scatter_tensor_coalesced": _f_reduce("reduce_scatter"),
    "all_gather_into_tensor": _f_gather,
    "all_gather_into_tensor_out": _f_gather,
    "all_gather_into_tensor_coalesced": _f_gather,
    "broadcast": _f_broadcast,
    "broadcast_": _f_broadcast,
}
