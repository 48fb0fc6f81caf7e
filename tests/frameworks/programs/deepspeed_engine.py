"""DeepSpeed's engine and its monitor: the loss event that its documentation names, read from the monitor's own file.
The engine reduces gradients alone; what it calls a training loss is in `Train/Samples/train_loss`, where there is one.
LOG=1: alar.Log says what the engine does not."""
import csv
import glob
import os

import deepspeed
import torch
import torch.distributed as dist

import ledger
import toy
import watched

deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # a kernel for inference, which asks for a compiler


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(toy.GRADIENT))

    def forward(self, loss):
        return torch.nan_to_num(self.scale, nan=1.0).mean() * loss


config = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": toy.accumulation, "steps_per_print": 1000,
          "optimizer": {"type": "SGD", "params": {"lr": 0.0}},
          "csv_monitor": {"enabled": True, "output_path": os.environ["SCRATCH"], "job_name": "monitor"}}
model = Model()
engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config, dist_init_required=True)
log = watched.Log(["loss"], log_interval=toy.interval, check_for_nan="count") if os.environ.get("LOG") else None
for part in toy.microbatches():
    if not log:
        ledger.contributed(part.step, part.number, part.loss * part.tokens, part.tokens)
    engine.backward(engine(torch.tensor(toy.mean_of(part))))
    engine.step()
    if log:
        log.add("loss", part.loss * part.tokens, part.tokens)
        if part.number + 1 == toy.accumulation:
            log.step()
            log.write()
if log:
    log.close()
    log.write()
for path in glob.glob(os.path.join(os.environ["SCRATCH"], "monitor", "*train_loss*")) if toy.rank == 0 else ():
    with open(path) as file:
        for samples, loss in list(csv.reader(file))[1:]:
            step = int(samples) // (toy.accumulation * toy.ranks)
            ledger.logged(step, step, float(loss))
dist.destroy_process_group()
