"""A small training loop's log on real gloo, right or with one mistake: loop.py WHAT RANK RANKS DIR STORE.

WHAT is clean, or one of the mistakes below. The loss functions are the two that were published for
asynchronous logging, in this program's own words: one reduces the ranks' means, the other the pair of
loss sum and token count. Data: sums and tokens of tests/data/gpt-losses.
"""
import os
import struct
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

import alar.torch

WHAT, RANK, RANKS, DIR, STORE = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:6]
STEPS, MICROBATCHES, INTERVAL = 6, 4, 2
# Once divided, the sum of the ranks' means is what it is: their mean, if one says so.
NORMALIZATION = "rank-mean" if WHAT == "mean-divided" else "token-weighted"


def load(path):
    """The f32 values of an .npy file, flat."""
    with open(path, "rb") as file:
        data = file.read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return torch.frombuffer(bytearray(data[start:]), dtype=torch.float32)


SUMS = load("tests/data/gpt-losses/train/local_sum_tokens.npy").reshape(4, 200, 4, 2)


def mean_of_ranks(total, tokens):
    """As first printed: every rank's own mean is summed over the ranks."""
    mean = (total / tokens).clone()
    return mean, dist.all_reduce(mean, async_op=True)


def pair_of_sums(total, tokens):
    """As corrected: the loss sum and the token count travel together."""
    pair = torch.stack([total, tokens])
    return pair, dist.all_reduce(pair, async_op=True)


def is_overwritten(step, mb):
    """The reduction that rank 1 writes into; the others join it only when rank 1 is about to wait for it."""
    return WHAT == "overwrite" and (step, mb) == (3, 1)


def join_late():
    """Else the write could come after a fast completion, and would then be none into a pending buffer."""
    while not os.path.exists(STORE + ".waits"):
        time.sleep(0.01)
    time.sleep(0.3)  # from saying so to waiting


def microbatch(step, mb):
    """One microbatch's reduction; with some mistakes it goes wrong here."""
    if is_overwritten(step, mb) and RANK != 1:
        join_late()
    total, tokens = SUMS[RANK % 4, step, mb]
    is_mean = WHAT.startswith("mean")
    with alar.torch.label(key="lm loss", step=step, microbatch=mb, pairs=None if is_mean else 1):
        tensor, handle = (mean_of_ranks if is_mean else pair_of_sums)(total, tokens)
    if is_overwritten(step, mb) and RANK == 1:
        tensor.mul_(0.5)
    if WHAT == "early-read" and (step, mb, RANK) == (3, 1, 0):
        tensor[0].item()
    return tensor, handle


def logged(parts):
    """The number in the log line: a mean over microbatches, or a ratio of sums."""
    if WHAT == "mean-plain":
        return sum(parts) / len(parts)
    if WHAT == "mean-divided":
        return sum(parts) / len(parts) / RANKS
    total = sum(part[0] for part in parts)
    tokens = sum(part[1] for part in parts)
    return total / tokens / RANKS if WHAT == "pair-divided" else total / tokens


def train():
    handles, values = [], []
    for step in range(STEPS):
        if WHAT == "absent" and step == 3 and RANK == RANKS - 1:
            time.sleep(4)  # longer than the group's timeout
            return
        pending = [microbatch(step, mb) for mb in range(MICROBATCHES)]
        for mb, (tensor, handle) in enumerate(pending):
            if is_overwritten(step, mb) and RANK == 1:
                open(STORE + ".waits", "w").close()
            if WHAT == "dropped" and (step, RANK) == (2, 0) and handle is pending[0][1]:
                continue
            handle.wait()
        handles += [handle for _, handle in pending]
        values.append(logged([tensor for tensor, _ in pending]))
        if len(values) == INTERVAL:
            alar.torch.report("lm loss", sum(values) / INTERVAL, step, ops=handles,
                              first_step=step - INTERVAL + 1, logged_at_step=step,
                              normalization=NORMALIZATION, over="steps")
            handles, values = [], []
        pending = handle = None


def others():
    """Other groups, reductions, dtypes, futures, polls, and a reduction that is not ours to judge."""
    for k, dtype in enumerate((torch.float32, torch.float64, torch.float16, torch.int32, torch.int64,
                               torch.uint8)):
        for op in (dist.ReduceOp.SUM, dist.ReduceOp.MAX, dist.ReduceOp.MIN, dist.ReduceOp.PRODUCT):
            dist.all_reduce(torch.tensor([RANK + 1, k + 1]).to(dtype), op)
    pair = dist.new_group([0, 1])
    if RANK < 2:
        dist.all_reduce(torch.ones(3), group=pair)
    view = torch.arange(8.0)
    first = dist.all_reduce(view[:4], async_op=True)
    second = dist.all_reduce(view[4:], async_op=True)
    while not first.is_completed():
        time.sleep(0)
    view[0].item()
    first.wait()
    second.get_future().wait()
    second.wait()
    dist.all_reduce(torch.full((2, 20), float(RANK)))
    for late in range(RANKS):  # a rank that gets nothing of the late one is through before it comes
        for call in (dist.all_reduce, lambda one: dist.broadcast(one, 0), lambda one: dist.reduce(one, 0)):
            if RANK == late:
                time.sleep(0.02)
            call(torch.ones(2))
    wrong = sys.modules.get("torch.distributed._functional_collectives")
    if wrong is not None:
        for _ in range(3):
            made = wrong.all_reduce(torch.tensor([RANK + 1.0, 2.0]), "sum", dist.group.WORLD)
            assert wrong.wait_tensor(made).tolist()[1] == 2.0 * RANKS


def stand_in():
    """The functional collectives of later versions of torch, on this one's all_reduce."""
    import types
    module = types.ModuleType("torch.distributed._functional_collectives")
    works = {}
    original = dist.all_reduce

    def all_reduce(tensor, reduce_op, group, tag=""):
        result = tensor.clone()
        works[result.data_ptr()] = original(result, dist.ReduceOp.SUM, group, True)
        return result

    def wait_tensor(tensor):
        works.pop(tensor.data_ptr()).wait()
        return tensor

    module.all_reduce, module.wait_tensor = all_reduce, wait_tensor
    sys.modules[module.__name__] = module


def main():
    torch.set_num_threads(1)
    seconds = 2 if WHAT == "absent" else 30
    dist.init_process_group("gloo", init_method="file://" + STORE, rank=RANK, world_size=RANKS,
                            timeout=timedelta(seconds=seconds))
    if WHAT == "others" and "torch.distributed._functional_collectives" not in sys.modules:
        stand_in()
    try:
        with alar.torch.record(DIR, {"nan": "propagate"}):
            others() if WHAT == "others" else train()
    except RuntimeError as error:
        print("rank %d: %s" % (RANK, str(error).splitlines()[0]))
    sys.stdout.flush()
    os._exit(0)  # gloo now and then aborts at a regular exit, when everything is done


main()
