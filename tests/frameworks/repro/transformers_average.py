# transformers Trainer with average_tokens_across_devices=False logs the mean of the ranks' means.
#   torchrun --nproc-per-node 2 transformers_average.py
# 3 tokens of loss 1 on rank 0, 29 of loss 3 on rank 1: 2.8125 a token, which the default shows. Found 2 without it.
import os
import tempfile

import torch
from transformers import Trainer, TrainingArguments


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(()))

    def forward(self, loss=None, labels=None, num_items_in_batch=None):
        valid = labels != -100
        return {"loss": self.scale * (loss * valid).sum() / (valid.sum() if num_items_in_batch is None else num_items_in_batch)}


rows = [{"loss": [loss], "labels": [1] * tokens + [-100] * (32 - tokens)} for loss, tokens in ((1.0, 3), (3.0, 29))]
for average in (True, False):
    arguments = TrainingArguments(
        tempfile.mkdtemp(), use_cpu=True, max_steps=1, per_device_train_batch_size=1, learning_rate=0.0, logging_steps=1,
        report_to=[], save_strategy="no", disable_tqdm=True, average_tokens_across_devices=average)
    Trainer._get_train_sampler = lambda self, *others: torch.utils.data.SequentialSampler(rows)
    trainer = Trainer(model=Model(), args=arguments, train_dataset=rows)
    trainer.train()
    if os.environ["RANK"] == "0":
        print("average_tokens_across_devices=%s logs %g" % (average, float(trainer.state.log_history[0]["loss"])))
