# MindSpeed --async-log-allreduce: all handles of a step are waited for when that step ends, none is open at the next.
#   MINDSPEED=DIR python mindspeed_waits.py
# The end of its train_step on stand-ins for handles. Found 6 waits in 2 steps of 3, at once; and what a report of
# today's Megatron, one tensor [sum, tokens], becomes: two numbers in place of a loss.
import ast
import os
import types

import torch

path = "mindspeed/core/data_parallel/async_log_allreduce.py"
with open(os.path.join(os.environ["MINDSPEED"], path)) as file:
    tree = ast.parse(file.read())
waiter = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "get_async_reduced_loss_value")
step = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "train_step")
loop = next(node for node in ast.walk(step) if isinstance(node, ast.For) and ast.unparse(node.iter) == "losses_reduced_keys")
waits = []
handle = type("Handle", (torch.distributed.Work,), {"wait": lambda self: waits.append(1)})
space, shown = {"torch": torch, "losses_reduced_keys": ["lm loss"], "loss_reduced": {}}, []
exec(compile(ast.Module([waiter], []), path, "exec"), space)
pair = torch.tensor([6.0, 3.0])
for is_async, report in ((True, tuple(pair)), (True, tuple(pair)), (False, pair)):
    microbatch = {"lm loss": report}
    space.update(args=types.SimpleNamespace(async_log_allreduce=is_async),
                 losses_reduced=[(microbatch, handle()) if is_async else microbatch] * 3)
    exec(compile(ast.Module([loop], []), path, "exec"), space)
    shown.append("%s after %d waits" % (space["loss_reduced"]["lm loss"].tolist(), len(waits)))
print("; ".join(shown))
