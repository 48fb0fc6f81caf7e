# DeepSpeed PipelineEngine.train_batch(): a mean of the microbatches' and ranks' means.
#   DS_ACCELERATOR=cpu torchrun --nproc-per-node 2 deepspeed_pipe.py
# 3 tokens of loss 1 on rank 0, 29 of loss 3 on rank 1: 2.8125 a token. Found 2, and the same in the monitor's file.
import os
import tempfile

import deepspeed
import torch
import torch.distributed as dist
from deepspeed.pipe import PipelineModule

deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # a kernel for inference, which asks for a compiler
deepspeed.init_distributed(dist_backend="gloo")
directory = tempfile.mkdtemp()
config = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 1, "optimizer": {"type": "SGD", "params": {"lr": 0.0}},
          "csv_monitor": {"enabled": True, "output_path": directory, "job_name": "job"}}
layer = torch.nn.Linear(1, 1, bias=False)
torch.nn.init.ones_(layer.weight)
module = PipelineModule([layer], num_stages=1, loss_fn=lambda output, label: output.mean())
engine, *_ = deepspeed.initialize(model=module, model_parameters=module.parameters(), config=config)
rank = dist.get_rank()
tokens = torch.full((1, 3, 1), 1.0) if rank == 0 else torch.full((1, 29, 1), 3.0)
loss = float(engine.train_batch(iter([(tokens, tokens)])))
if rank == 0:
    with open(os.path.join(directory, "job", "Train_Samples_train_loss.csv")) as file:
        print("train_batch: %g, monitor: %s" % (loss, file.read().split()))
