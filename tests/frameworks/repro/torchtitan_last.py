# torchtitan's line shows the loss of its last step only.
#   TORCHTITAN=DIR python torchtitan_last.py
# Who assigns accumulated_loss that the line reduces, and does anything keep it from one step to the next?
import ast
import os

with open(os.path.join(os.environ["TORCHTITAN"], "torchtitan/trainer.py")) as file:
    tree = ast.parse(file.read())
step = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "train_step")
kept = sorted({ast.unparse(node.targets[0]) for node in ast.walk(step) if isinstance(node, ast.Assign)
               and ast.unparse(node.targets[0]).startswith("self.") and "loss" in ast.unparse(node.targets[0])})
leave = [node.lineno for node in ast.walk(step) if isinstance(node, ast.If) and "should_log" in ast.unparse(node.test)]
line = [node.lineno for node in ast.walk(step) if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("dist_sum")]
made = [node.lineno for node in ast.walk(step) if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "accumulated_loss"]
assert made and leave and line and made[0] < leave[0] < line[0], (made, leave, line)
print("a step without a line returns before its loss is reduced; losses kept over steps:", kept or "none")
