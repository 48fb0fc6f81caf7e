"""The loop most people write. WAY: what is logged.

    own          loss.item() on rank 0, of the microbatch at hand
    rank-means   all_reduce of the microbatches' mean losses, divided by the number of ranks
    weighted     all_reduce of [sum, tokens], divided at the log line
"""
import os

import torch
import torch.distributed as dist

import ledger
import toy

way = os.environ["WAY"]


def of_step(parts):
    """This rank's number or pair of one step."""
    if way == "own":
        return torch.tensor(parts[-1].loss)
    if way == "weighted":
        return torch.tensor([sum(p.loss * p.tokens for p in parts), sum(p.tokens for p in parts)])
    return torch.stack([torch.tensor(toy.mean_of(p)) for p in parts]).mean()


def reduced(value):
    if way == "own":
        return value.item()
    dist.all_reduce(value)
    return (value[0] / value[1]).item() if way == "weighted" else (value / dist.get_world_size()).item()


dist.init_process_group("gloo")
everything, window = toy.microbatches(), []
for step in range(1, toy.steps + 1):
    parts = [p for p in everything if p.step == step]
    for part in parts:
        ledger.contributed(step, part.number, part.loss * part.tokens, part.tokens)
    window.append(of_step(parts))
    if step % toy.interval == 0:
        ledger.logged(step - toy.interval + 1, step, sum(reduced(value) for value in window) / toy.interval)
        window = []
dist.barrier()  # where there is no collective, gloo's start fails on a rank whose peer has left already
dist.destroy_process_group()
