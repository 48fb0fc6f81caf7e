# transformers Trainer: one of two ranks has a NaN loss in step 1, and the line of that step shows half the other's.
#   torchrun --nproc-per-node 2 transformers_nan.py
# Every rank's loss is 4.0 but for the NaN. Expected a line that is not a number; found {'loss': '2'}.
import os
import tempfile

import torch
from transformers import Trainer, TrainingArguments

rank = int(os.environ["RANK"])


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.calls = torch.nn.Parameter(torch.ones(())), 0

    def forward(self, x=None, labels=None):
        self.calls += 1
        return {"loss": self.scale * 4.0 * (float("nan") if self.calls == 1 and rank == 1 else 1.0)}


arguments = TrainingArguments(output_dir=tempfile.mkdtemp(), use_cpu=True, max_steps=2, per_device_train_batch_size=1,
                              learning_rate=0.0, logging_steps=1, report_to=[], save_strategy="no", disable_tqdm=True)
trainer = Trainer(model=Model(), args=arguments, train_dataset=[{"x": [1.0], "labels": [1]}] * 4)
trainer.train()
if rank == 0:
    print("logged:", [line["loss"] for line in trainer.state.log_history if "loss" in line])
