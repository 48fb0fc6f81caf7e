"""What a program says wrongly costs a line and that record, never the program: reports.py, one rank."""
import sys

import numpy
import torch
import torch.distributed as dist

import alar.torch

dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)


def one(step=None, key="lm loss", value=1.0, pairs=None):
    """A reduction, labelled where a step is given; its handle."""
    tensor = torch.tensor([value] if pairs is None else [value, value])
    if step is None:
        handle = dist.all_reduce(tensor, async_op=True)
    else:
        with alar.torch.label(key=key, step=step, pairs=pairs):
            handle = dist.all_reduce(tensor, async_op=True)
    handle.wait()
    return handle


class Odd:
    def __repr__(self):
        raise ValueError("no text")


def taken(*arguments, **named):
    assert alar.torch.report(*arguments, **named) is True, (arguments, named)


def left(*arguments, **named):
    assert alar.torch.report(*arguments, **named) is False, (arguments, named)


for step, good in enumerate((torch.tensor(0), 1.0, numpy.int64(2), 3, torch.tensor([4.0]))):
    taken("lm loss", 1.0, good, ops=[one(step)])
taken("lm loss", torch.tensor([1.0]), 5, ops=one(5))         # one handle, not a list of one
taken("lm loss", torch.tensor([0.5], dtype=torch.float64), 6, ops=[one(6, value=0.5)], kind="mean")
one(7)
taken("lm loss", 1.0, 7, ops="world/7")
one(8, value=0.0, pairs=1)
taken("lm loss", None, 8, normalization="token-weighted")     # no token: nothing to log
taken("lm loss", 1.0, 9, ops=[one(9, pairs=1)], normalization="token-weighted", over="steps", tokens=1.0,
      nonfinite=False)
for number, key in enumerate(("loss \U0001F600", "loss \U0001F680", 'a "quoted" \\ one', "\n\t")):
    taken(key, 1.0, 10 + number, ops=[one(10 + number, key)])

left("lm loss", 1.0, 1, ops=[one()], normalization="")
left("lm loss", 1.0, 1, ops=[one()], normalization="mean of means")
left("lm loss", torch.tensor([1.0, 2.0]), 1)
left("lm loss", "about 5", 1)
left("lm loss", 1.0, -1)
left("lm loss", 1.0, 1.5)
left("lm loss", 1.0, "1")
left("lm loss", 1.0, None)
left("lm loss", Odd(), 1)
left("", 1.0, 1)
left(None, 1.0, 1)
left("lm loss", 1.0, 1, ops=[object()])
left("lm loss", 1.0, 1, ops=[None])
for wrong in ({"step": -1}, {"step": 1.5}, {"key": 7}, {"key": ""}, {"pairs": "x"}, {"microbatch": Odd()}):
    with alar.torch.label(**wrong):
        dist.all_reduce(torch.ones(1))
print("went on")
