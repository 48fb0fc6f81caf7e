"""On request (`watch`): a dispatch mode that looks at every operator, for tensors that share their memory
with a pending result but are other objects: views and aliases made before the collective was called."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import pending
from .caller import caller

_mode = None


def seen():
    return ["reads-of-aliases"] if _mode is not None else []


def _effects(function, _known={}):
    """Of an operator's arguments: (is it a view, which of them it writes)."""
    known = _known.get(function)
    if known is None:
        arguments = function._schema.arguments
        aliases = [one.alias_info for one in arguments]
        known = _known[function] = (
            any(one is not None and not one.is_write for one in aliases),
            [one is not None and one.is_write for one in aliases])
    return known


class _Watch(TorchDispatchMode):
    def __init__(self, recorder):
        super().__init__()
        self.recorder = recorder

    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        recorder = self.recorder
        if recorder.live and recorder.is_on and not pending.is_busy():
            if not str(function).startswith(("c10d", "_c10d")):
                self._look(function, arguments)
        return function(*arguments, **(named or {}))

    def _look(self, function, arguments):
        is_view, writes = _effects(function)
        if is_view:
            return
        for k, argument in enumerate(arguments):
            is_write = k < len(writes) and writes[k]
            for one in argument if isinstance(argument, (list, tuple)) else (argument,):
                if isinstance(one, torch.Tensor):
                    self._note(one, is_write)

    def _note(self, tensor, is_write):
        recorder = self.recorder
        with torch._C.DisableTorchFunction():
            try:
                storage = pending.storage(tensor)
            except RuntimeError:
                return  # no memory of its own: sparse, or one that only stands for a tensor
            for op in list(recorder.live.get(storage, ())):
                if not op.is_pending:
                    recorder.live[storage].remove(op)
                    continue
                begin = tensor.data_ptr() - op.address
                if begin < op.n * op.size and begin + tensor.numel() * tensor.element_size() > 0:
                    shot = pending.snapshot(tensor, op) if type(tensor) is torch.Tensor else (0, op.n, None)
                    recorder.add("write" if is_write else "read", op, shot, caller(4))
            if not recorder.live.get(storage, True):
                del recorder.live[storage]


def install(recorder):
    global _mode
    _mode = _Watch(recorder)
    _mode.__enter__()


def uninstall():
    """Modes are a stack: where the program has left one of its own above ours, ours only falls silent."""
    global _mode
    mode, _mode = _mode, None
    if mode is None:
        return
    get = getattr(torch.utils._python_dispatch, "_get_current_dispatch_mode", None)
    if get is None or get() is mode:
        try:
            mode.__exit__(None, None, None)
        except Exception:
            pass
