"""What gloo does with sums and with NaN, through torch; prints what probe.c prints for MPI:
gloo.py sum|nan SEED RUN sync|async RANK RANKS DIR STORE. Recorded into DIR."""
import os
import random
import sys
import time

import torch
import torch.distributed as dist

import alar.torch

MODE, SEED, RUN, CALL = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
RANK, RANKS, DIR, STORE = int(sys.argv[5]), int(sys.argv[6]), sys.argv[7], sys.argv[8]
COUNTS, INPUTS, CALLS = (1, 2, 1024), 8, 3
seen = {"digest": 0, "calls": 0, "disagree": 0, "repeated": 0, "changed": 0, "twin": 0}


def same(a, b):
    """Bits, but NaN is NaN whatever its payload."""
    nan = torch.isnan(a) & torch.isnan(b)
    return bool(((a.view(torch.int32) == b.view(torch.int32)) | nan).all())


def anywhere(mine):
    answers = [torch.zeros(1, dtype=torch.int32) for _ in range(RANKS)]
    dist.all_gather(answers, torch.tensor([int(mine)], dtype=torch.int32))
    return int(any(int(answer) for answer in answers))


def ranks_differ(out):
    first = out.clone()
    dist.broadcast(first, 0)
    return anywhere(not same(first, out))


def reduce(values, op, call):
    out = values.clone()
    work = dist.all_reduce(out, op, async_op=call == "async")
    if work is not None:
        work.wait()
    return out


def value(draw, kind):
    return (2000 + 500 * draw.random(), 2.3 + 0.1 * draw.random(), 2 * draw.random() - 1,
            (2 * draw.random() - 1) * 2.0 ** draw.randint(-15, 15))[kind % 4]


def sums(count):
    for item in range(INPUTS):
        draw = random.Random("%d %d %d %d" % (SEED, count, item, RANK))
        values = torch.tensor([value(draw, item) for _ in range(count)], dtype=torch.float32)
        kept = None
        for _ in range(CALLS):
            if (seen["calls"] * 7 + RUN * 3) % RANKS == RANK:
                time.sleep(0.00015)
            out = reduce(values, dist.ReduceOp.SUM, CALL)
            seen["calls"] += 1
            seen["digest"] = hash((seen["digest"], tuple(out.view(torch.int32).tolist())))
            seen["disagree"] += ranks_differ(out)
            if kept is None:
                kept = out
            else:
                seen["repeated"] += 1
                seen["changed"] += anywhere(not same(kept, out))
        other = reduce(values, dist.ReduceOp.SUM, "sync" if CALL == "async" else "async")
        seen["twin"] += anywhere(not same(kept, other))


def nans(op):
    lost = apart = 0
    for bad in range(RANKS):
        for count in (1, 9):
            out = reduce(torch.full((count,), float("nan") if RANK == bad else RANK + 1.0), op, CALL)
            lost |= anywhere(not bool(torch.isnan(out).all()))
            apart |= ranks_differ(out)
    return "ranks differ" if apart else "lost" if lost else "kept"


def tree(leaves, ranks):
    """The order of addition from what masks say: see ref/numbers/tree_probe.h."""
    first, text = ranks[0], str(ranks[0])
    for size in sorted({leaves[first, other] for other in ranks[1:]}):
        text = "(%s+%s)" % (text, tree(leaves, [k for k in ranks[1:] if leaves[first, k] == size]))
    return text


def order():
    leaves = {}
    for i in range(RANKS):
        for j in range(i + 1, RANKS):
            mask = 2.0 ** 127 if RANK == i else -2.0 ** 127 if RANK == j else 1.0
            out = reduce(torch.full((2,), mask), dist.ReduceOp.SUM, CALL)
            leaves[i, j] = RANKS - int(out[0])
    return tree(leaves, list(range(RANKS)))


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + STORE, rank=RANK, world_size=RANKS)
    found = order()
    with alar.torch.record(DIR, {"nan": "propagate"}):
        if MODE == "sum":
            answers = {"nan_sum": nans(dist.ReduceOp.SUM)}
            for count in COUNTS:
                sums(count)
            answers.update(seen)
        else:
            answers = {"nan_max": nans(dist.ReduceOp.MAX), "nan_min": nans(dist.ReduceOp.MIN)}
    if RANK == 0:
        answers["gloo_tree"] = found
        for name, answer in answers.items():
            print("%s='%s'" % (name, answer))
    sys.stdout.flush()
    dist.barrier()
    os._exit(0)


main()
