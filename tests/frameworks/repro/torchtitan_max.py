# torchtitan's global_max_loss: what dist_max makes of a NaN on rank 0, on rank 1, and of a rank without a token.
#   TORCHTITAN=DIR torchrun --nproc-per-node 2 torchtitan_max.py
# local_avg_loss of the trainer, 0/0 on the rank without tokens, through dist_max over gloo.
import ast
import os

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
import torch.distributed.distributed_c10d as c10d
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor

path = "torchtitan/distributed/utils.py"
with open(os.path.join(os.environ["TORCHTITAN"], path)) as file:
    tree = ast.parse(file.read())
names = ("_dist_reduce", "_dist_reduce_tensor", "dist_max")
tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in names]
exec(compile(tree, path, "exec"), globals())
dist.init_process_group("gloo")
rank, mesh, shown = dist.get_rank(), init_device_mesh("cpu", (2,)), []
for case, losses, tokens in (("NaN on rank 0", (float("nan"), 2.0), (4, 4)), ("NaN on rank 1", (2.0, float("nan")), (4, 4)),
                             ("no token on rank 1", (2.0, 0.0), (4, 0))):
    accumulated, counted = torch.tensor(losses[rank] * tokens[rank] / sum(tokens)), torch.tensor(float(tokens[rank]))
    shown.append("%s: %g" % (case, dist_max(accumulated * sum(tokens) / counted, mesh)))  # noqa: F821
if rank == 0:
    print("max of 2 and", ", ".join(shown))
