"""All-reduces that are not quite the usual one, on one rank: unusual.py STORE. What each leaves behind must be the same
whether the recorder's hot part is compiled or not. Prints how each ended."""
import gc
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.overrides import TorchFunctionMode

import alar.torch


class Mode(TorchFunctionMode):
    def __torch_function__(self, function, types, arguments=(), named=None):
        return function(*arguments, **(named or {}))


class Kind(torch.Tensor):
    pass


def plain():
    return torch.arange(4, dtype=torch.float32)


def waited(tensor, **named):
    work = dist.all_reduce(tensor, async_op=True, **named)
    work.wait()
    return work


def labelled():
    with alar.torch.label(key="loss", step=3, microbatch=0, pairs=2, elements=2):
        waited(plain())
        dist.all_reduce(plain())


def inference():
    with torch.inference_mode():
        tensor = torch.ones(2)
        dist.all_reduce(tensor)
        waited(tensor)


def moded():
    with Mode():
        waited(plain())
        dist.all_reduce(plain())


def resized():
    """Its elements are elsewhere when it ends."""
    tensor = torch.ones(2)
    work = dist.all_reduce(tensor, async_op=True)
    while not work.is_completed():
        pass
    with torch._C.DisableTorchFunction():
        tensor.resize_(4096)
        tensor.fill_(2.0)
    work.wait()


def refused():
    """gloo has no such sum."""
    dist.all_reduce(torch.ones(2, dtype=torch.int16))


def again():
    work = waited(plain())
    work.wait()
    work.wait(timedelta(seconds=5))


def polled():
    work = dist.all_reduce(plain(), async_op=True)
    while not work.is_completed():
        pass
    work.wait()


def with_future():
    work = dist.all_reduce(plain(), async_op=True)
    work.get_future().wait()
    work.wait()


def dropped():
    work = dist.all_reduce(plain(), async_op=True)
    while not work.is_completed():
        pass
    del work
    gc.collect()


def methods():
    """Of the process group, without torch.distributed's function."""
    group = dist.distributed_c10d._get_default_group()
    options = dist.AllreduceOptions()
    options.reduceOp = dist.ReduceOp.MAX
    group.allreduce([plain()], options).wait()
    group.allreduce([plain()]).wait()
    group.allreduce(plain()).wait()
    bound = group.allreduce
    bound([plain(), plain()][:1], opts=options).wait()


CASES = {
    "reductions": lambda: [waited(plain(), op=op) for op in (
        dist.ReduceOp.SUM, dist.ReduceOp.MAX, dist.ReduceOp.MIN, dist.ReduceOp.PRODUCT)],
    "dtypes": lambda: [waited(torch.ones(3, dtype=dtype)) for dtype in (
        torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8)],
    "long": lambda: waited(torch.ones(1000)), "empty": lambda: waited(torch.ones(0)),
    "strided": lambda: waited(torch.ones(4, 4)[:, 1]), "view": lambda: waited(torch.ones(4, 4)[2]),
    "parameter": lambda: waited(torch.nn.Parameter(plain()).requires_grad_(False)),
    "class": lambda: waited(plain().as_subclass(Kind)), "complex": lambda: waited(torch.ones(2, dtype=torch.complex64)),
    "bool": lambda: waited(torch.ones(2, dtype=torch.bool)), "labelled": labelled, "inference": inference, "moded": moded,
    "resized": resized, "refused": refused, "again": again, "polled": polled, "with_future": with_future,
    "dropped": dropped, "methods": methods,
}


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
    for name, case in CASES.items():
        try:
            case()
            print(name, "ended")
        except Exception as error:
            print(name, type(error).__name__)
    dist.destroy_process_group()


main()
