"""TRL's SFTTrainer: a metric beside the loss, as its line shows it. METRIC: entropy or mean_token_accuracy.

The model's head is 0 and says token 0 everywhere, so that the accuracy is the share of labels that are 0, as the data
have it. Its entropy is put in its place: three times the part's loss for each token, NaN where that is."""
import os

import torch
import torch.distributed as dist
from datasets import Dataset
from trl import SFTConfig, SFTTrainer

import tiny
import toy
import trainer

metric = os.environ["METRIC"]
everything = toy.microbatches()
now = None  # the part of the forward that runs


class Trainer(trainer.InOrder, SFTTrainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        global now
        now = trainer.next_part()
        loss, outputs = super().compute_loss(model, inputs, True, num_items_in_batch)
        total = outputs.entropy_sum if metric == "entropy" else outputs.num_correct_tokens
        trainer.contributed(now, total, outputs.num_valid_tokens)
        return (loss, outputs) if return_outputs else loss


def says(model, inputs, outputs):
    part = next(part for part in everything if (part.step, part.number) == now)
    outputs.entropy_sum = torch.tensor(3 * part.loss * part.tokens if part.tokens else 0.0)


arguments = SFTConfig(**trainer.ARGUMENTS, max_length=None, dataset_kwargs={"skip_prepare_dataset": True})
made = Trainer(model=tiny.model(3, 0), args=arguments, processing_class=tiny.tokenizer(),
               train_dataset=Dataset.from_list(trainer.rows(tiny.answer)), callbacks=[trainer.Lines(metric)])
made.model.register_forward_hook(says)
made.train()
dist.destroy_process_group()
