"""nanochat's two logging lines of base_train: rank 0's last microbatch, through a debiased moving average. They are
taken out of scripts/base_train.py of the checkout in NANOCHAT."""
import ast

import torch
import torch.distributed as dist

import extract
import ledger
import toy

PATH = "scripts/base_train.py"
NAMES = ("smooth_train_loss", "debiased_smooth_loss", "ema_beta")


def is_line(node):
    return isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in NAMES and "ema_beta" in ast.unparse(node)


lines = extract.statements("NANOCHAT", PATH, is_line)
dist.init_process_group("gloo")
everything = toy.microbatches()
for step in range(1, toy.steps + 1):
    of_run = (step - 1) % toy.STEPS  # each seed is a run of its own
    if of_run == 0:
        space = {"smooth_train_loss": 0}
    for part in (p for p in everything if p.step == step):
        ledger.contributed(step, part.number, part.loss * part.tokens, part.tokens)
        train_loss = torch.tensor(part.loss)
    space.update(step=of_run, train_loss_f=train_loss.item())
    exec(lines, space)
    ledger.logged(step, step, space["debiased_smooth_loss"])
dist.barrier()  # where there is no collective, gloo's start fails on a rank whose peer has left already
dist.destroy_process_group()
