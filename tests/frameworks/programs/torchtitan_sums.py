"""torchtitan's dist_sum over a device mesh as its trainer calls it: each rank's sum over the global count of
valid tokens, at the log line, of the last step only. The functions are read from the checkout in TORCHTITAN."""
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
import torch.distributed.distributed_c10d as c10d
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor

import extract
import ledger
import toy

utils = extract.functions("TORCHTITAN", "torchtitan/distributed/utils.py",
                          ("_dist_reduce", "_dist_reduce_tensor", "dist_sum", "dist_sum_tensor"),
                          torch=torch, dist=dist, funcol=funcol, c10d=c10d, DeviceMesh=DeviceMesh, DTensor=DTensor)
dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (toy.ranks,))
everything = toy.microbatches()
for step in range(1, toy.steps + 1):
    parts = [p for p in everything if p.step == step]
    for part in parts:
        ledger.contributed(step, part.number, part.loss * part.tokens, part.tokens)
    tokens = utils.dist_sum_tensor(torch.tensor(float(sum(p.tokens for p in parts))), mesh)
    accumulated = sum(torch.tensor(p.loss * p.tokens) / tokens for p in parts)
    if step % toy.interval == 0:
        ledger.logged(step - toy.interval + 1, step, utils.dist_sum(accumulated, mesh))
dist.destroy_process_group()
