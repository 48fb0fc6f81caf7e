"""torchtitan's log line, reduced late.

    trainer = config.build()
    alar.torchtitan.patch(trainer, lag=1)
    trainer.train()

before  at a log line three all_reduces one after the other (loss, worst loss, tokens seen), each waited for and read; the loss is that
        of the last step alone, and a rank without a valid token makes the worst one NaN
now     one all-reduce a step for all of it and the gradient's norm, that nobody waits for before the line: loss and norm are means over
        the steps of the line, the worst loss is the worst of any rank and step. Step 1 has no line of its own
        (The sum of valid tokens and the MIN of "is finite" of each step are training's own and stay.)
"""
import torch
from torchtitan.components.loss import IGNORE_INDEX
from torchtitan.distributed import utils

from .log import Log

METRICS = (("grad norm", "mean"), ("loss", "sum"), ("tokens seen", "sum"), ("worst loss", "max"))  # sorted, as reports come


def patch(trainer, **options):
    """Writes the trainer's lines from a log over its "loss" mesh, with its own metrics_processor; `options` are those of alar.Log.
    All ranks call, before trainer.train(). Returns the log; None, and nothing is changed, where nothing is reduced: no such mesh, or
    another pipeline stage than the last one."""
    dims, processor, now, line = trainer.parallel_dims, trainer.metrics_processor, {"seen": 0}, {"all": 0}
    mesh, interval = dims.get_optional_mesh("loss"), processor.config.log_freq
    if mesh is None or dims.pp_enabled and not trainer.pp_has_last_stage:
        return None
    log = Log(METRICS, **{"group": mesh.get_group(), "log_interval": interval, **options})
    run_microbatch, run_step, run, clip = trainer.forward_backward_step, trainer.train_step, trainer.train, utils.clip_grad_norm_

    def forward_backward_step(*, labels, global_valid_tokens, **more):
        loss = run_microbatch(labels=labels, global_valid_tokens=global_valid_tokens, **more)
        share = getattr(loss.detach(), "to_local", loss.detach)()  # of the mean over the step's tokens on all ranks
        log.add("loss", share)
        now["total"] = now["total"] + share.double() * global_valid_tokens
        now["tokens"] = now["tokens"] + (torch.cat(labels) if isinstance(labels, list) else labels).ne(IGNORE_INDEX).sum()
        return loss

    def clip_grad_norm_(*arguments, **named):
        now["norm"] = clip(*arguments, **named)
        return now["norm"]

    def train_step(batches):
        now.update({"total": 0, "tokens": 0, trainer.step % (2 * interval): trainer.lr_schedulers.get_metrics()})
        run_step(batches)
        log.add("worst loss", now["total"] / now["tokens"], now["tokens"] > 0)
        log.add("grad norm", now["norm"].detach())
        log.add("tokens seen", trainer.ntokens_seen - now["seen"])
        now["seen"] = trainer.ntokens_seen
        log.step()
        write()

    def write():
        for one in log.reports():
            line[one.metric], step = float("nan") if one.value is None else one.value, trainer.step - one.logged_at_step + one.step
            if one.metric == METRICS[-1][0]:
                line["all"] += int(line["tokens seen"])
                processor.log(step, line["loss"] / one.steps, line["worst loss"], line["grad norm"],
                              extra_metrics={"n_tokens_seen": line["all"], **now[step % (2 * interval)]})

    processor.should_log, utils.clip_grad_norm_ = lambda step: False, clip_grad_norm_
    trainer.forward_backward_step, trainer.train_step = forward_backward_step, train_step
    trainer.train = lambda: (run(), log.close(), write())
    return log
