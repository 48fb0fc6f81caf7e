"""The loss of transformers' Trainer, reduced late: token-weighted over all ranks, microbatches and steps of a line.

    trainer = Trainer(model, args, train_dataset=...)
    alar.transformers.AsyncLogCallback(trainer, lag=1)
    trainer.train()

before  one blocking all_gather a log line; the mean over ranks and steps of means, and under average_tokens_across_devices=False
        weighted as if all ranks had as many tokens; a NaN is replaced by the mean of the line so far, on its rank alone
now     one all-reduce a step that nobody waits for before the line; sum of losses / tokens, with `num_tokens`; NaN as the log says
        (The all_gather a step that counts tokens for the gradient is training's own and stays.)
"""
from torch.nn.functional import cross_entropy, pad
from transformers import TrainerCallback
from transformers.trainer_utils import IntervalStrategy

from .log import Log


class AsyncLogCallback(TrainerCallback):
    """For causal language models. `options` are those of alar.Log; log_interval is the Trainer's logging_steps."""

    def __init__(self, trainer, **options):
        self.trainer, self.log = trainer, None
        self.options = {"log_interval": max(1, int(trainer.args.logging_steps)), "over": "pooled", **options}
        trainer.args.logging_strategy = IntervalStrategy.NO  # its own line, and the gather for it
        trainer.compute_loss_func = self.loss
        trainer.add_callback(self)

    def loss(self, outputs, labels, num_items_in_batch=None):
        labels = pad(labels, (0, 1), value=-100)[..., 1:].flatten()
        total = cross_entropy(outputs["logits"].float().flatten(0, -2), labels, ignore_index=-100, reduction="sum")
        count = (labels != -100).sum()
        if self.trainer.model.training:
            self.log.add("loss", total.detach(), count)
        return total / (count.clamp(min=1) if num_items_in_batch is None else num_items_in_batch)

    def on_train_begin(self, args, state, control, **unused):
        self.log = Log(["loss"], **self.options)

    def on_step_end(self, args, state, control, **unused):
        self.log.step()
        self.write()

    def on_train_end(self, args, state, control, **unused):
        self.log.close()
        self.write()

    def write(self):
        for one in self.log.reports():
            self.trainer.log({"loss": one.value, "num_tokens": one.tokens, "loss_step": one.step + 1})
