# nanochat chat_sft: the first line shows 0.526 of the loss; the debiased average counts one step too many.
#   NANOCHAT=DIR python nanochat_sft.py
# The two statements that average, after the `step += 1` that precedes them, on a loss that is 1 everywhere.
import ast
import os

import torch

path = "scripts/chat_sft.py"
with open(os.path.join(os.environ["NANOCHAT"], path)) as file:
    tree = ast.parse(file.read())
names = ("smooth_train_loss", "debiased_smooth_loss", "step")
found = {ast.unparse(node): node for node in ast.walk(tree) if isinstance(node, (ast.Assign, ast.AugAssign)) and (
    getattr(node, "targets", [None])[0] or node.target).__dict__.get("id") in names}
wanted = sorted((node for text, node in found.items() if text == "step += 1" or "ema_beta" in text), key=lambda node: node.lineno)
lines, shown = compile(ast.Module(wanted, []), path, "exec"), []
space = {"step": 0, "smooth_train_loss": 0, "ema_beta": 0.9, "train_loss": torch.tensor(1.0)}
for _ in range(3):
    exec(lines, space)
    shown.append("%.3f" % space["debiased_smooth_loss"])
print("lines of a loss that is 1:", *shown)
