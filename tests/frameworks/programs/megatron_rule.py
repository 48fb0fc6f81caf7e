"""Megatron-LM's reduction of [sum, tokens] in train_step and the rule of its log line, both taken out of
training.py of the checkout in MEGATRON: what stands in a line, and what is left out of it."""
import re

import torch
import torch.distributed as dist

import extract
import ledger
import toy

PATH = "megatron/training/training.py"
reduce_step = extract.loop("MEGATRON", PATH, "train_step", "losses_reduced[0].keys()", "all_reduce")
log_key = extract.loop("MEGATRON", PATH, "training_log", "total_loss_dict", "log_string")
names = {"advanced_iters_key": "advanced iterations", "skipped_iters_key": "skipped iterations", "nan_iters_key": "nan iterations"}


class OnCpu:
    """torch, for which "cuda" is the CPU."""

    def __getattr__(self, name):
        return getattr(torch, name)

    def tensor(self, *values, device=None, **others):
        return torch.tensor(*values, **others)


dist.init_process_group("gloo")
totals, first = {names["advanced_iters_key"]: 0, names["skipped_iters_key"]: 0, names["nan_iters_key"]: 0}, 1
everything = toy.microbatches()
for step in range(1, toy.steps + 1):
    parts = [p for p in everything if p.step == step]
    for part in parts:
        ledger.contributed(step, part.number, part.loss * part.tokens, part.tokens)
    space = {"torch": torch, "dp_cp_group": dist.group.WORLD, "loss_reduced": {},
             "losses_reduced": [{"lm loss": torch.tensor([p.loss * p.tokens, p.tokens])} for p in parts]}
    exec(reduce_step, space)
    totals[names["advanced_iters_key"]] += 1
    totals["lm loss"] = totals.get("lm loss", torch.tensor([0.0])) + space["loss_reduced"]["lm loss"]
    if step % toy.interval == 0:
        line = dict(names, torch=OnCpu(), total_loss_dict=totals, log_string="", should_reset=True)
        exec(log_key, line)
        shown = re.search(r"lm loss: ([-+.\w]+)", line["log_string"])
        if shown:
            ledger.logged(first, step, float(shown.group(1)))
        first = step + 1
        totals[names["advanced_iters_key"]] = 0
dist.destroy_process_group()
