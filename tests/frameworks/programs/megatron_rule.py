"""Megatron-LM's reduction of [sum, tokens] in train_step and the rule of its log line, both taken out of
training.py of the checkout in MEGATRON: what stands in a line, and what is left out of it. LOG=1: with alar.megatron
between them, whose lines are of the steps up to the one before."""
import os
import re
import types

import torch
import torch.distributed as dist

import alar.megatron
import extract
import ledger
import toy
import watched

PATH = "megatron/training/training.py"
reduce_step = extract.loop("MEGATRON", PATH, "train_step", "losses_reduced[0].keys()", "all_reduce")
log_key = extract.loop("MEGATRON", PATH, "training_log", "total_loss_dict", "log_string")
names = {"advanced_iters_key": "advanced iterations", "skipped_iters_key": "skipped iterations", "nan_iters_key": "nan iterations"}
totals, first = {name: 0 for name in names.values()}, 1
is_late = bool(os.environ.get("LOG"))


class OnCpu:
    """torch, for which "cuda" is the CPU."""

    def __getattr__(self, name):
        return getattr(torch, name)

    def tensor(self, *values, device=None, **others):
        return torch.tensor(*values, **others)


def schedule(parts):
    """The reports of a step's microbatches."""
    for part in parts if not is_late else ():
        ledger.contributed(part.step, part.number, part.loss * part.tokens, part.tokens)
    return [{"lm loss": torch.tensor([part.loss * part.tokens, part.tokens])} for part in parts]


def training_log(losses, totals, step):
    """As far as it is about losses: their sums, and at a line the means of them."""
    global first
    totals[names["advanced_iters_key"]] += 1
    for key in losses:
        totals[key] = totals.get(key, torch.tensor([0.0])) + losses[key]
    if step % toy.interval == 0:
        line, last = dict(names, torch=OnCpu(), total_loss_dict=totals, log_string="", should_reset=True), step - is_late
        exec(log_key, line)
        shown = re.search(r"lm loss: ([-+.\w]+)", line["log_string"])
        if shown:
            ledger.logged(first, last, float(shown.group(1)))
        first = last + 1
        totals[names["advanced_iters_key"]] = 0


dist.init_process_group("gloo")
training = types.SimpleNamespace(get_forward_backward_func=lambda: schedule, training_log=training_log)
if is_late:
    alar.megatron.Log = watched.Log
    log = alar.megatron.patch(training, check_for_nan="count")
everything = toy.microbatches()
for step in range(1, toy.steps + 1):
    reports = training.get_forward_backward_func()([part for part in everything if part.step == step])
    space = {"torch": torch, "dp_cp_group": dist.group.WORLD, "loss_reduced": {}, "losses_reduced": reports}
    exec(reduce_step, space)
    training.training_log(space["loss_reduced"], totals, step)
if is_late:
    log().close()
    for report in log().reports():
        ledger.logged(first, toy.steps, report.value)
dist.destroy_process_group()
