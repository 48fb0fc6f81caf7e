"""transformers' Trainer with alar's callback in the place of its own line."""
import alar.transformers
import torch.distributed as dist
from transformers import Trainer, TrainingArguments

import tiny
import trainer
import watched


class Hostile(trainer.InOrder, Trainer):
    def compute_loss(self, model, inputs, **others):
        compute = super().compute_loss
        return trainer.hostile(trainer.next_part(), self.model, lambda: compute(model, inputs, **others))


alar.transformers.Log = watched.Log
made = Hostile(model=tiny.model(3, 40), args=TrainingArguments(**trainer.ARGUMENTS), train_dataset=trainer.rows(tiny.answer),
               callbacks=[trainer.Lines("loss", step="loss_step")])
alar.transformers.AsyncLogCallback(made, lag=1, over="steps", check_for_nan="count")
made.train()
dist.destroy_process_group()
