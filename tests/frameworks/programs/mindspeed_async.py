"""MindSpeed's --async-log-allreduce: the documented loss function and the end of its train_step, taken out of the
checkout in MINDSPEED, with stand-ins for what they ask of Megatron. Every wait falls in the step of its issue."""
import types

import torch
import torch.distributed as dist

import extract
import ledger
import toy

CONSUMER = "mindspeed/core/data_parallel/async_log_allreduce.py"
DOCUMENT = "docs/zh/features/async-log-allreduce.md"

args = types.SimpleNamespace(context_parallel_size=1, check_for_nan_in_loss_and_grad=False, check_for_spiky_loss=False,
                             async_log_allreduce=True)
megatron = {"torch": torch, "get_args": lambda: args, "get_rerun_state_machine": lambda: None,
            "mpu": types.SimpleNamespace(get_data_parallel_group=lambda: dist.group.WORLD)}
loss_func = extract.documented("MINDSPEED", DOCUMENT, "loss_func", **megatron)
waiter = extract.functions("MINDSPEED", CONSUMER, ("get_async_reduced_loss_value",), torch=torch)
consume = extract.loop("MINDSPEED", CONSUMER, "train_step", "losses_reduced_keys", "numerator")

dist.init_process_group("gloo")
everything, values, first = toy.microbatches(), [], 1
for step in range(1, toy.steps + 1):
    reported = []
    for part in (p for p in everything if p.step == step):
        ledger.contributed(step, part.number, part.loss * part.tokens, part.tokens)
        mask = torch.tensor([1.0] * part.tokens + [0.0] * (toy.TOKENS - part.tokens))
        reported.append(loss_func(mask, torch.full((toy.TOKENS,), part.loss if part.tokens else 0.0))[2])
    space = dict(vars(waiter), args=args, losses_reduced=reported, losses_reduced_keys=reported[0][0].keys(), loss_reduced={})
    exec(consume, space)
    values.append(float(space["loss_reduced"]["lm loss"]))
    if step % toy.interval == 0:
        ledger.logged(first, step, sum(values) / len(values))
        first, values = step + 1, []
dist.destroy_process_group()
