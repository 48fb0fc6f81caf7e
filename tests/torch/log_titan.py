"""A trainer of torchtitan on the CPU, for log_frameworks.py: its own `Trainer.train_step`, over its own functions of
torchtitan.distributed.utils. The step is taken out of trainer.py, which imports kernels for GPUs; model, mesh and metrics_processor,
whose own one asks a GPU for its memory, are stand-ins."""
import ast
import contextlib
import importlib.util
import math
import os
import types

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor
from torchtitan.components.loss import IGNORE_INDEX
from torchtitan.distributed import utils

STEPS, MICROBATCHES, EMPTY = 8, 2, 3  # in step EMPTY rank 1 has no valid token


def own_train_step():
    path = os.path.join(os.path.dirname(importlib.util.find_spec("torchtitan").origin), "trainer.py")
    with open(path) as file:
        tree = ast.parse(file.read())
    trainer = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Trainer")
    step = next(node for node in trainer.body if isinstance(node, ast.FunctionDef) and node.name == "train_step")
    step.decorator_list = []
    spans = types.SimpleNamespace(log_trace_span=lambda name: contextlib.nullcontext(), log_trace_scalar=lambda values: None)
    names = {"torch": torch, "math": math, "dist_utils": utils, "IGNORE_INDEX": IGNORE_INDEX, "DTensor": DTensor, "sl": spans, "Any": None,
             "Iterator": __import__("collections").abc.Iterator}
    exec(compile(ast.Module([step], []), path, "exec"), names)
    return names["train_step"]


class Processor:
    """Of the metrics: when lines are written, and the lines."""

    def __init__(self, log_freq):
        self.config, self.lines = types.SimpleNamespace(log_freq=log_freq), []

    def should_log(self, step):
        return step == 1 or step % self.config.log_freq == 0

    def log(self, step, global_avg_loss, global_max_loss, grad_norm, extra_metrics=None):
        self.lines.append((step, global_avg_loss, global_max_loss, grad_norm, extra_metrics))


class Trainer:
    def __init__(self, rank, ranks, log_freq):
        self.rank, self.step, self.ntokens_seen, self.device = rank, 0, 0, torch.device("cpu")
        self.mesh = init_device_mesh("cpu", (ranks,), mesh_dim_names=("loss",))
        self.metrics_processor, self.parallel_dims = Processor(log_freq), self
        self.dp_enabled, self.dp_cp_enabled, self.pp_enabled, self.ep_enabled = True, True, False, False
        self.gradient_accumulation_steps, self.num_pipeline_parallel_microbatches, self.num_pp_microbatches = MICROBATCHES, 1, 1
        self.config = types.SimpleNamespace(training=types.SimpleNamespace(max_norm=1.0, disable_cuda_graphs=False))
        torch.manual_seed(3)
        self.model_parts = [torch.nn.Linear(8, 8)]
        nothing = types.SimpleNamespace(zero_grad=lambda **more: self.model_parts[0].zero_grad(), step=lambda: None,
                                        maybe_wait_for_staging=lambda: None)
        self.optimizers = self.checkpointer = nothing
        self.lr_schedulers = types.SimpleNamespace(step=lambda: None, get_metrics=lambda: {"lr": 0.5 ** self.step})
        self.train_step = types.MethodType(own_train_step(), self)
        self.shares, self.sums = [], []  # a list a step, of a microbatch: its share of the loss; its loss and valid tokens

    def get_mesh(self, name):
        return self.mesh

    def get_optional_mesh(self, name):
        return self.mesh if name == "loss" else None

    def batches(self):
        generator = torch.Generator().manual_seed(11 + self.rank)
        while True:
            labels = torch.randint(0, 8, (32,), generator=generator)
            labels[32 - (3 if self.rank else 29):] = IGNORE_INDEX
            if self.step == EMPTY and self.rank == 1:
                labels[:] = IGNORE_INDEX
            yield {"input": torch.randn(32, 8, generator=generator)}, labels

    def forward_backward_step(self, *, input_dict, labels, global_valid_tokens):
        self.ntokens_seen += labels.numel()
        logits = self.model_parts[0](input_dict["input"])
        loss = torch.nn.functional.cross_entropy(logits, labels, ignore_index=IGNORE_INDEX, reduction="sum") / global_valid_tokens
        loss.backward()
        self.shares[-1].append(float(loss))
        self.sums[-1].append((float(loss) * int(global_valid_tokens), int((labels != IGNORE_INDEX).sum())))
        return loss

    def train(self):
        batches = self.batches()
        while self.step < STEPS:
            self.step += 1
            self.shares.append([])
            self.sums.append([])
            self.train_step(batches)
