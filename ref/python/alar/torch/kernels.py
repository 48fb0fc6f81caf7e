"""Collectives that are made below Python, seen in torch's dispatcher: the functional ones, and on request
those of DistributedDataParallel. Each gets a kernel that records and then calls torch's own."""
import warnings

import torch
from torch.distributed import distributed_c10d as c10d

from . import calls, pending
from .caller import caller

_libraries = []
_functional = {}   # address of a result: its operation, until it is waited for
_names = []        # what is seen
_recorder = None


def seen():
    return list(_names)


def install(recorder):
    global _recorder
    _recorder = recorder
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _try(_install_functional, "functional")
        if recorder.with_gradients:
            _try(_install_gradients, "gradients")


def _try(install_one, name):
    """An older torch without the means is no mistake: what is not seen is not listed."""
    try:
        install_one()
        _names.append(name)
    except Exception:
        pass


def uninstall():
    global _recorder
    _recorder = None
    while _libraries:
        _libraries.pop()._destroy()
    _functional.clear()
    _names.clear()


def _keys():
    return ["CPU"] + (["CUDA"] if torch.cuda.is_available() else [])


def _install_functional():
    namespace = torch.ops._c10d_functional
    namespace.all_reduce.default  # an AttributeError before there was one
    below = torch._C.DispatchKey.CompositeExplicitAutograd
    library = torch.library.Library("_c10d_functional", "IMPL")
    _libraries.append(library)
    for name in list(calls.FUNCTIONAL) + ["wait_tensor"]:
        packet = getattr(namespace, name, None)
        if packet is None:
            continue
        made = _wait_tensor_of if name == "wait_tensor" else _functional_of
        for key in _keys():
            library.impl(name, made(name, packet.default, below), key)


def _functional_of(name, operator, below):
    from . import capture

    def kernel(*arguments, **named):
        recorder, made = _recorder, None
        if recorder is not None and recorder.is_on:
            try:
                made = calls.FUNCTIONAL[name](*arguments)
                group = arguments[-1]
                if isinstance(group, str):
                    group = c10d._resolve_process_group(group)
                recorder.issue(group, made, False, caller(2))
            except Exception as error:
                recorder.spoil(error)
                made = None
        capture._inside.is_set = True  # what it calls below is not another operation
        try:
            result = operator._op_dk(below, *arguments, **named)
        finally:
            capture._inside.is_set = False
        if made is not None:
            for op, one in zip(made, result if isinstance(result, (list, tuple)) else [result]):
                op.is_quiet = True
                _functional[one.data_ptr()] = op
        return result
    return kernel


def _wait_tensor_of(name, operator, below):
    def kernel(tensor):
        recorder = _recorder
        op = _functional.pop(tensor.data_ptr(), None) if recorder is not None else None
        if op is None or not recorder.is_on:
            return operator._op_dk(below, tensor)
        recorder.add("wait", op, None, caller(2))
        try:
            result = operator._op_dk(below, tensor)
        except BaseException as error:
            recorder.fail(op, error)
            raise
        op.targets = (tensor,)
        recorder.finish(op)
        if recorder.with_watch:
            pending.put_results((result,), op)
        return result
    return kernel


def _install_gradients():
    """The kernel for c10d::allreduce_ before torch's own; the methods of the process group end in it too.

    torch's own must be called without Python's lock: gloo's thread holds the lock of its queue while it frees a
    reduction, and may need Python's for a tensor of it. `redispatch` lets go of it, a kernel's `call_boxed` does not."""
    from . import capture
    capture.Work.unbox, _work_of_future()  # an AttributeError before there were these
    library = torch.library.Library("c10d", "IMPL")
    _libraries.append(library)
    for key in _keys():
        library.impl("allreduce_", _reducer_kernel, "Autograd" + key, with_keyset=True)


def _work_of_future():
    return torch._C._distributed_c10d._create_work_from_future


def _reducer_kernel(keys, *arguments):
    from . import capture
    recorder, made = _recorder, None
    if recorder is not None and recorder.is_on and not capture._inside.is_set:
        try:
            made = _of_reducer(recorder, capture.ProcessGroup.unbox(arguments[1]), arguments[0])
        except Exception as error:
            recorder.spoil(error)
    result = torch.ops.c10d.allreduce_.default.redispatch(keys & torch._C._after_autograd_keyset, *arguments)
    return _ended_after_copy(recorder, made, *result) if made else result


def _of_reducer(recorder, group, tensors):
    """The operations, recorded as issued; none for sparse gradients and for tensors without elements."""
    if not all(type(one) is torch.Tensor and one.layout is torch.strided for one in tensors):
        return None
    made = calls.METHODS["allreduce"](tensors)
    recorder.issue(group, made, False, caller(4))
    for op in made:
        op.is_quiet = True
    return made


def _ended_after_copy(recorder, made, tensors, work):
    """The same result, with a handle that ends when the sum is copied: the reducer waits in C++, and would fill its
    bucket again before Python had a turn."""
    from . import capture

    def ended(future):
        value = future.value()  # raises what the reduction did
        try:
            for op in made:
                recorder.complete(op)
        except Exception as error:
            recorder.spoil(error)
        return value
    try:
        future = capture.Work.unbox(work).get_future().then(ended)
        return tensors, _work_of_future()(future).boxed()
    except Exception as error:
        recorder.spoil(error)  # this back end has no future
        return tensors, work
