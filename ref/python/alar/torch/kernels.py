"""Collectives that are made below Python, seen in torch's dispatcher: the functional ones, and on request
those of DistributedDataParallel. Each gets a kernel that records and then calls torch's own."""
import warnings

import torch
from torch.distributed import distributed_c10d as c10d

from . import calls
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
        return result
    return kernel


_flying = {}  # address of a bucket: (its last reductions, their future)


def _overtake(recorder, made):
    """The reducer waits in C++ and fills its bucket again, maybe before the callback of the future had its turn."""
    for op in made:
        before, future = _flying.pop(op.targets[0].data_ptr(), ((), None))
        for one in before if future is not None and future.done() else ():
            recorder.overtake(one)


def _install_gradients():
    """The kernel before c10d::allreduce_, which also the methods of the process group end in."""
    from . import capture
    library = torch.library.Library("c10d", "IMPL")
    for key in _keys():
        before = torch.library.get_kernel("c10d::allreduce_", key)
        keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))

        def kernel(*arguments, before=before, keys=keys):
            recorder = _recorder
            if recorder is None or capture._inside.is_set:
                return before.call_boxed(keys, *arguments)
            made = None
            try:
                made = calls.METHODS["allreduce"](arguments[0], None)
                group = capture.ProcessGroup.unbox(arguments[1])
                _overtake(recorder, made)
                recorder.issue(group, made, False, caller(2))
            except Exception as error:
                recorder.spoil(error)
                made = None
            result = before.call_boxed(keys, *arguments)
            if made is not None:
                future = capture.Work.unbox(result[1]).get_future()
                for op in made:
                    op.is_quiet = True
                    _flying[op.targets[0].data_ptr()] = made, future
                future.add_done_callback(lambda unused: [recorder.complete(op) for op in made])
            return result
        library.impl("allreduce_", kernel, key)
    _libraries.append(library)
