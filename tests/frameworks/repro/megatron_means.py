# Megatron-LM optimizes a mean of microbatch means and logs a mean over tokens (without --calculate-per-token-loss).
#   MEGATRON=DIR python megatron_means.py
# forward_step_calc_loss on 3 tokens of loss 1, then on 29 of loss 3. Found 2 optimized, 2.8125 logged.
import ast
import os
import types

import torch

path = "megatron/core/pipeline_parallel/schedules.py"
with open(os.path.join(os.environ["MEGATRON"], path)) as file:
    tree = ast.parse(file.read())
function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "forward_step_calc_loss")
function.body = [node for node in function.body if not isinstance(node, ast.ImportFrom)]
space = {"torch": torch, "_get_experimental_attention_variant_loss_scale_func": lambda config: None}
exec(compile(ast.Module([function], []), path, "exec"), space)
config, reports, optimized = types.SimpleNamespace(calculate_per_token_loss=False, timers=None), [], 0.0
for loss, count in ((1.0, 3), (3.0, 29)):
    total, tokens = torch.tensor(loss * count), torch.tensor(count)
    optimized += float(space["forward_step_calc_loss"](
        None, total, lambda output: (output.clone(), tokens, {"lm loss": torch.stack([output, tokens])}), config, vp_stage=None,
        collect_non_loss_data=False, num_microbatches=2, forward_data_store=reports, cp_group_size=1, is_last_stage=True)[0])
totals = sum(report["lm loss"] for report in reports)  # as train_step adds them
print("optimized %g, logged %g" % (optimized, totals[0] / totals[1]))
