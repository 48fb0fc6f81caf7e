"""transformers' Trainer, as it logs a training loss. AVERAGE=0: average_tokens_across_devices=False."""
import os
import sys

import torch
import torch.distributed as dist
from transformers import Trainer, TrainerCallback, TrainingArguments

import ledger
import toy

first_not_logged = 1
forwards = 0


class Model(torch.nn.Module):
    """Its loss is what the row says for each of its valid tokens; it takes the count as today's models do."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(()))

    def forward(self, value=None, labels=None, num_items_in_batch=None, **others):
        global forwards
        valid = labels != -100
        tokens = int(valid.sum())
        total = (self.scale * value * valid).sum() if tokens else self.scale * 0
        ledger.contributed(forwards // toy.accumulation + 1, forwards % toy.accumulation, float(total), tokens)
        forwards += 1
        return {"loss": total / (valid.sum() if num_items_in_batch is None else num_items_in_batch)}


class Lines(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **others):
        global first_not_logged
        if "loss" in logs and state.is_world_process_zero:
            ledger.logged(first_not_logged, state.global_step, logs["loss"])
            first_not_logged = state.global_step + 1


class InOrder(Trainer):
    def _get_train_sampler(self, *others):
        return torch.utils.data.SequentialSampler(self.train_dataset)


def row(part):
    """The loss of a row of a gathered batch stands in `value`, its tokens are the labels that count."""
    labels = [1] * part.tokens + [-100] * (toy.TOKENS - part.tokens)
    return {"value": [part.loss] * toy.TOKENS, "labels": labels}


def rows():
    """Row after row as the sampler deals them out: rank by rank, microbatch by microbatch."""
    of_ranks = [toy.microbatches(rank) for rank in range(toy.ranks)]
    dealt = [row(part) for parts in zip(*of_ranks) for part in parts]
    return dealt[:len(dealt) - toy.accumulation * toy.ranks + 1] if toy.case == "short" else dealt


arguments = TrainingArguments(
    output_dir=os.environ["SCRATCH"], use_cpu=True, max_steps=toy.steps, per_device_train_batch_size=1, learning_rate=0.0,
    gradient_accumulation_steps=toy.accumulation, logging_steps=toy.interval, report_to=[], save_strategy="no",
    disable_tqdm=True, average_tokens_across_devices=os.environ.get("AVERAGE", "1") == "1")
InOrder(model=Model(), args=arguments, train_dataset=rows(), callbacks=[Lines()]).train()
dist.destroy_process_group()
sys.stdout.flush()
