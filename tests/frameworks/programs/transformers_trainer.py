"""transformers' Trainer, as it logs a training loss. AVERAGE=0: average_tokens_across_devices=False."""
import os

import torch
import torch.distributed as dist
from transformers import Trainer, TrainingArguments

import ledger
import toy
import trainer


class Model(torch.nn.Module):
    """Its loss is what the row says for each of its valid tokens; it takes the count as today's models do."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(()))

    def forward(self, value=None, labels=None, num_items_in_batch=None, **others):
        valid = labels != -100
        tokens = int(valid.sum())
        total = (self.scale * value * valid).sum() if tokens else self.scale * 0
        ledger.contributed(*trainer.next_part(), float(total), tokens)
        return {"loss": total / (valid.sum() if num_items_in_batch is None else num_items_in_batch)}


class InOrder(trainer.InOrder, Trainer):
    pass


def row(part):
    """The loss of a row of a gathered batch stands in `value`, its tokens are the labels that count."""
    labels = [1] * part.tokens + [-100] * (toy.TOKENS - part.tokens)
    return {"value": [part.loss] * toy.TOKENS, "labels": labels}


arguments = TrainingArguments(**trainer.ARGUMENTS, average_tokens_across_devices=os.environ.get("AVERAGE", "1") == "1")
InOrder(model=Model(), args=arguments, train_dataset=trainer.rows(row), callbacks=[trainer.Lines("loss")]).train()
dist.destroy_process_group()
