"""What programs with a transformers Trainer share: its settings, its order of rows, its lines."""
import os

import torch
from transformers import TrainerCallback

import ledger
import toy

ARGUMENTS = dict(
    output_dir=os.environ["SCRATCH"], use_cpu=True, bf16=False, max_steps=toy.steps, per_device_train_batch_size=1, learning_rate=0.0,
    gradient_accumulation_steps=toy.accumulation, logging_steps=toy.interval, report_to=[], save_strategy="no", disable_tqdm=True,
    gradient_checkpointing=False)
_forwards = 0


def next_part():
    """(step, microbatch) of the forward that begins now."""
    global _forwards
    _forwards += 1
    return (_forwards - 1) // toy.accumulation + 1, (_forwards - 1) % toy.accumulation


def contributed(part, total, count):
    """A rank's part of a metric; a row that the loader repeats, as it has one left for all ranks, is none."""
    is_repeated = toy.case == "short" and part == (toy.steps, 0) and toy.rank > 0
    ledger.contributed(*part, *((0, 0) if is_repeated else (float(total), int(count))))


def hostile(part, model, forward):
    """What `forward` gives; where the case says so, that of a model whose head is NaN."""
    if not (toy.case == "nan" and toy.rank == toy.ranks - 1 and part == (2, 0)):
        return forward()
    weights = model.lm_head.weight.data  # apart from what backward watches
    saved = weights.clone()
    weights.fill_(float("nan"))
    answer = forward()
    weights.copy_(saved)
    return answer


def rows(row):
    """Row after row as the sampler deals them out: rank by rank, microbatch by microbatch."""
    of_ranks = [toy.microbatches(rank) for rank in range(toy.ranks)]
    dealt = [row(part) for parts in zip(*of_ranks) for part in parts]
    return dealt[:len(dealt) - toy.accumulation * toy.ranks + 1] if toy.case == "short" else dealt


class InOrder:
    """A Trainer that takes the rows as they come, and keeps a NaN out of the weights: 0 times NaN is NaN."""

    def _get_train_sampler(self, *others):
        return torch.utils.data.SequentialSampler(self.train_dataset)

    def training_step(self, *arguments, **named):
        loss = super().training_step(*arguments, **named)
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad.nan_to_num_()
        return loss


class Lines(TrainerCallback):
    """Hands a metric's lines on. `step` is a key of a line that says which step it stands for, where it isn't the last."""

    def __init__(self, metric, step=None):
        self.metric, self.step, self.first = metric, step, 1

    def on_log(self, args, state, control, logs=None, **others):
        if self.metric in logs and (self.step is None or self.step in logs) and state.is_world_process_zero:
            last = logs.get(self.step, state.global_step)
            ledger.logged(self.first, last, logs[self.metric])
            self.first = last + 1
