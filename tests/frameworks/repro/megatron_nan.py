# Megatron-LM leaves a loss that is NaN, or negative, out of its line without a word.
#   MEGATRON=DIR python megatron_nan.py
# The loop of training_log that writes the losses, with "cuda" read as "cpu". Found "lm loss" for 2 alone.
import ast
import os

import torch

path = "megatron/training/training.py"
with open(os.path.join(os.environ["MEGATRON"], path)) as file:
    tree = ast.parse(file.read().replace("'cuda'", "'cpu'").replace('"cuda"', '"cpu"'))
function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "training_log")
loops = [node for node in ast.walk(function) if isinstance(node, ast.For) and ast.unparse(node.iter) == "total_loss_dict"]
loop = compile(ast.Module([node for node in loops if "log_string" in ast.unparse(node)], []), path, "exec")
found = []
for loss in (2.0, float("nan"), -2.0):
    space = {"torch": torch, "log_string": "", "should_reset": True, "total_loss_dict": {"lm loss": torch.tensor([loss]), "advanced": 1},
             "advanced_iters_key": "advanced", "skipped_iters_key": "skipped", "nan_iters_key": "nan"}
    exec(loop, space)
    found.append("%g: '%s'" % (loss, space["log_string"].strip(" |")))
print("what the line says of", ", of ".join(found))
