"""What a LightningModule's training_step returns, reduced late.

    trainer = pl.Trainer(callbacks=[alar.lightning.AsyncLogCallback(["loss"], lag=1)])

before  self.log(..., sync_dist=True): a barrier and an all_reduce for each key and step, whatever log_every_n_steps is; the mean
        over ranks of means, or of an epoch weighted by a truncated batch size; other keys on a rank are a deadlock
now     one all-reduce a step for all keys, that nobody waits for before the line; weighted by what `count` gives of a batch
"""
try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback

from .log import Log


def rows(batch):
    return len(batch[0] if isinstance(batch, (tuple, list)) else batch)


class AsyncLogCallback(Callback):
    """`metrics` are keys of what training_step returns, means over `count(batch)` samples; `options` are those of alar.Log."""

    def __init__(self, metrics=("loss",), count=rows, **options):
        self.metrics, self.count, self.options, self.log = metrics, count, options, None

    def on_train_start(self, trainer, module):
        self.log = Log(self.metrics, **{"log_interval": max(1, trainer.log_every_n_steps), **self.options})

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        count = self.count(batch)
        for name in self.metrics:
            self.log.add(name, outputs[name].detach().double() * count, count)
        self.log.step()
        self.write(trainer)

    def on_train_end(self, trainer, module):
        self.log.close()
        self.write(trainer)

    def write(self, trainer):
        for one in self.log.reports():
            for logger in trainer.loggers:
                logger.log_metrics({one.metric: one.value, one.metric + " samples": one.tokens}, step=one.step)
