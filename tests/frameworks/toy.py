"""Microbatches whose losses are known in closed form: every token of a microbatch has the same loss, a small
binary fraction, so that sums are exact in single precision, and the right mean of the uneven case too.

    CASE     what is hostile about it
    even     nothing: as many tokens everywhere
    same     nothing: as many tokens and the same loss everywhere, for loops that show one rank's
    uneven   3 tokens beside 29, other counts in the other microbatches and steps
    empty    the last rank has no token in step 2
    nan      the last rank's loss is NaN in step 2
    short    the last step has one row only, of rank 0
"""
import collections
import os
import random

STEPS, TOKENS = 4, 176
GRADIENT = 1021  # elements of a parameter whose gradient a framework reduces in the recorder's sight
case = os.environ.get("CASE", "uneven")
seed = int(os.environ.get("SEED", "0"))
steps = int(os.environ.get("STEPS", STEPS))
accumulation = int(os.environ.get("ACCUMULATION", "2"))
interval = int(os.environ.get("INTERVAL", "1"))
rank = int(os.environ.get("RANK", "0"))
ranks = int(os.environ.get("WORLD_SIZE", "1"))

Microbatch = collections.namedtuple("Microbatch", "step number loss tokens")


def tokens_of(of_rank, step, number):
    if case in ("even", "same"):
        return 16
    if case == "empty" and step == 2:
        return 0 if of_rank == ranks - 1 else 16 * (1 + 2 * number)
    few = (of_rank + number) % 2 == 0
    tokens = (3 if few else 29) if number == 0 else (8 if few else 88)
    return tokens * (1 + step % 2)


def loss_of(of_rank, step, number):
    if case == "nan" and step == 2 and number == 0 and of_rank == ranks - 1:
        return float("nan")
    block = seed + (step - 1) // STEPS  # a longer run is one of several seeds
    draw = random.Random("%d" % block if case == "same" else "%d/%d/%d/%d" % (block, of_rank, step, number))
    return draw.randrange(4, 40) / 4


def microbatches(of_rank=None):
    """Those of one rank, in order; by default of this one. Steps count from 1, microbatches from 0."""
    of_rank = rank if of_rank is None else of_rank
    return [Microbatch(step, number, loss_of(of_rank, step, number), tokens_of(of_rank, step, number))
            for step in range(1, steps + 1) for number in range(accumulation)]


def mean_of(part):
    """A microbatch's loss as cross_entropy gives it: the mean of no token is NaN."""
    return part.loss if part.tokens else float("nan")
