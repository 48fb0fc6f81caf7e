"""Megatron-LM's reported losses, reduced late, with the original's switch --async-log-allreduce.

    from megatron.training import training
    alar.megatron.patch(training, group=mpu.get_data_parallel_group(with_context_parallel=True))
    pretrain(..., extra_args_provider=alar.megatron.add_arguments)

before  a blocking all_reduce of [loss sum, tokens] for each key and step, also between log lines
now     one all-reduce a step for all keys, that nobody waits for before the next step ends: what training_log is handed is the
        value of the step before, over all ranks; in the first step nothing, so that the first line is the mean of one step
        less. The last step's is in reports() of the log, which patch()'s result gives, once it is closed.
        A loss_func reports [sum, tokens], as pretrain_gpt's does; see loss_func below
"""
import math

from .log import Log

ADVANCED = "advanced iterations"  # training_log's count of the steps of a line, by which it divides


def add_arguments(parser):
    parser.add_argument_group("logging").add_argument(
        "--async-log-allreduce", action="store_true", help="reduce the logged losses without waiting for the slowest rank")
    return parser


def loss_func(loss_mask, output_tensor):
    """(loss, tokens, report): for today's Megatron; positions whose mask is 0 are selected away, NaN or not."""
    kept = output_tensor.view(-1).float()[loss_mask.view(-1) != 0]
    total, tokens = kept.sum(), kept.new_tensor(kept.numel())
    return total, tokens.int(), {"lm loss": (total.detach(), tokens)}


def patch(training, metrics=("lm loss",), is_on=lambda: True, **options):
    """Puts the log between the schedule, whose reports it takes, and training_log, which it hands what was reduced. `is_on`
    says whether this rank reports (the last pipeline stage) and the switch was given. Returns a function that gives the log."""
    made, get, log_line = [], training.get_forward_backward_func, training.training_log

    def get_forward_backward_func(*arguments, **named):
        def forward_backward(*arguments, **named):
            reports = run(*arguments, **named)
            if is_on() and not named.get("forward_only"):
                made or made.append(Log(metrics, **{"lag": 1, **options}))
                for report in reports:
                    for name in metrics:
                        total, tokens = report[name]
                        made[0].add(name, total.detach(), tokens.detach())
                        report[name] = total.detach() / tokens.clamp(min=1)  # one element: nothing is reduced
                made[0].step()
            return reports
        run = get(*arguments, **named)
        return forward_backward

    def training_log(losses, totals, *arguments, **named):
        late = list(made[0].reports()) if made else []
        for one in late:
            losses[one.metric] = losses[one.metric].new_tensor(math.nan if one.value is None else one.value)
        if late or not made:
            return log_line(losses, totals, *arguments, **named)
        count = totals.get(ADVANCED, 0)
        totals[ADVANCED] = count - 1  # nothing is reduced yet, and this step is none that counts
        answer = log_line({name: loss for name, loss in losses.items() if name not in metrics}, totals, *arguments, **named)
        if totals[ADVANCED] == count - 1:  # nor did training_log count it, which was skipped
            totals[ADVANCED] = count
        return answer

    training.get_forward_backward_func, training.training_log = get_forward_backward_func, training_log
    return lambda: made[0] if made else None
