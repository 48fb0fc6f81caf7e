# DeepSpeed: the documented event Train/Samples/train_loss is not written by the engine any more.
#   DS_ACCELERATOR=cpu torchrun --nproc-per-node 1 deepspeed_event.py
# Expected a file of it beside that of the learning rate; found the learning rate alone.
import glob
import os
import tempfile

import deepspeed
import torch

deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # a kernel for inference, which asks for a compiler
directory, model = tempfile.mkdtemp(), torch.nn.Linear(1, 1)
config = {"train_micro_batch_size_per_gpu": 1, "optimizer": {"type": "SGD", "params": {"lr": 0.0}},
          "csv_monitor": {"enabled": True, "output_path": directory, "job_name": "job"}}
engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config, dist_init_required=True)
for _ in range(3):
    engine.backward(engine(torch.ones(1)).mean())
    engine.step()
print("written:", sorted(os.path.basename(path) for path in glob.glob(directory + "/job/*")))
