"""What a program says wrongly costs a line and that record, never the program: reports.py, one rank."""
import sys

import numpy
import torch
import torch.distributed as dist

import alar.torch

dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)


def one(key="lm loss", step=1, value=1.0):
    with alar.torch.label(key=key, step=step):
        handle = dist.all_reduce(torch.tensor([value]), async_op=True)
    handle.wait()
    return handle


class Odd:
    def __repr__(self):
        raise ValueError("no text")


def taken(*arguments, **named):
    assert alar.torch.report(*arguments, **named) is True, (arguments, named)


def left(*arguments, **named):
    assert alar.torch.report(*arguments, **named) is False, (arguments, named)


for step, good in enumerate((torch.tensor(1), 1.0, numpy.int64(1), 1, torch.tensor([1.0]))):
    taken("lm loss", 1.0, good, ops=[one()])
taken("lm loss", torch.tensor([1.0]), 1, ops=one())         # one handle, not a list of one
taken("lm loss", torch.tensor([0.5], dtype=torch.float64), 2, ops=[one(step=2, value=0.5)], kind="mean")
handle = one(step=3)
taken("lm loss", 1.0, 3, ops="world/%d" % 7)
with alar.torch.label(key="lm loss", step=4, pairs=1):
    dist.all_reduce(torch.zeros(2))
taken("lm loss", None, 4, normalization="token-weighted")
taken("lm loss", 1.0, 3, ops=[handle], normalization="token-weighted", over="steps", tokens=1.0, empty=False)
for number, key in enumerate(("loss \U0001F600", "loss \U0001F680", 'a "quoted" \\ one', "\n\t")):
    taken(key, 1.0, 10 + number, ops=[one(key, 10 + number)])

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
