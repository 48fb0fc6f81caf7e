"""DeepSpeed's PipelineEngine: what train_batch() returns, which its line and its monitor show. STAGES: of the pipeline."""
import os

import deepspeed
import torch
import torch.distributed as dist
from deepspeed.pipe import LayerSpec, PipelineModule

import ledger
import toy

deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # a kernel for inference, which asks for a compiler

stages = int(os.environ.get("STAGES", "1"))


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(toy.GRADIENT))

    def forward(self, loss):
        return loss * torch.nan_to_num(self.scale, nan=1.0).mean()


deepspeed.init_distributed(dist_backend="gloo")
config = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": toy.accumulation, "steps_per_print": 1000,
          "optimizer": {"type": "SGD", "params": {"lr": 0.0}}}
module = PipelineModule([LayerSpec(Scale) for _ in range(stages)], num_stages=stages, loss_fn=lambda output, label: output.mean())
engine, *_ = deepspeed.initialize(model=module, model_parameters=module.parameters(), config=config)
# Ranks of one stage differ in their data; those of the first say for all stages what it is worth.
toy.ranks //= stages
everything = toy.microbatches(toy.rank % toy.ranks)
rows = iter([(torch.tensor([toy.mean_of(part)]), torch.zeros(1)) for part in everything])
values, first = [], 1
for step in range(1, toy.steps + 1):
    for part in (p for p in everything if p.step == step and toy.rank < toy.ranks):
        ledger.contributed(step, part.number, part.loss * part.tokens, part.tokens)
    values.append(float(engine.train_batch(rows)))
    if step % toy.interval == 0:
        ledger.logged(first, step, sum(values) / len(values))
        first, values = step + 1, []
dist.destroy_process_group()
