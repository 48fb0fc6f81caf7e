"""First looks at results after the end: looks.py STORE, a rank that is alone, recorded with --watch. Prints the line of the
program on which each operation was looked at, in their order; before torch 2 there is no functional one."""
import inspect
import sys

import torch
import torch.distributed as dist

lines = []


def here():
    lines.append("looks.py:%d" % inspect.currentframe().f_back.f_lineno)


def whole():
    one = torch.ones(3)
    dist.all_reduce(one)
    one.numel(), one.shape
    return (one[0] / one[1]).item(), here()


def rows(is_async):
    out = [torch.zeros(2)]
    handle = dist.all_gather(out, torch.ones(2), async_op=is_async)
    if handle:
        handle.wait()
    return torch.cat(out).mean(), here()


def own():
    one = torch.ones(3)
    dist.all_reduce(one, async_op=True).wait()
    return one.sum(), here()


def unread():
    dist.broadcast(torch.ones(1), 0)
    lines.append("never")


def functional():
    import torch.distributed._functional_collectives as functional
    one = functional.all_reduce(torch.ones(1), "sum", dist.group.WORLD)
    return one.item(), here()


dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
whole(), rows(False), rows(True), own(), unread()
if torch.__version__ >= "2":
    functional()
dist.destroy_process_group()
print(*lines)
