# nanochat base_train logs rank 0's last microbatch, and a NaN in it stays in all lines that follow.
#   NANOCHAT=DIR python nanochat_rank0.py
# Its microbatch loop's `train_loss = loss.detach()` keeps the last of 2 and 4; then its average, through one NaN.
import ast
import os

import torch

path = "scripts/base_train.py"
with open(os.path.join(os.environ["NANOCHAT"], path)) as file:
    tree = ast.parse(file.read())
found = {ast.unparse(node): node for node in ast.walk(tree) if isinstance(node, ast.Assign)}
keep = compile(ast.Module([found["train_loss = loss.detach()"]], []), path, "exec")
means = [node for text, node in found.items() if text.startswith(("smooth_train_loss = ema", "debiased_smooth"))]
average = compile(ast.Module(means, []), path, "exec")
space, shown = {"smooth_train_loss": 0, "ema_beta": 0.9}, []
for step, losses in enumerate(((2.0, 4.0), (4.0, float("nan")), (4.0, 4.0))):
    for loss in losses:
        space["loss"] = torch.tensor(loss)
        exec(keep, space)
    space.update(step=step, train_loss_f=space["train_loss"].item())
    exec(average, space)
    shown.append("%g" % space["debiased_smooth_loss"])
print("lines of (2, 4), (4, nan), (4, 4):", ", ".join(shown))
