"""Lightning with alar's callback in the place of self.log(sync_dist=True)."""
import alar.lightning
import lightning
import torch
import torch.distributed as dist
from lightning.pytorch.loggers.logger import DummyLogger

import ledger
import toy
import watched


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(()))

    def training_step(self, batch, at):
        return {"loss": batch[0, 0] * self.scale}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.0)


class Lines(DummyLogger):
    first = 1

    def log_metrics(self, metrics, step):
        if "loss samples" in metrics and toy.rank == 0:
            ledger.logged(Lines.first, step + 1, metrics["loss"])
            Lines.first = step + 2


# A batch without tokens has the loss 0, not the mean of nothing: it is multiplied by its count.
rows = torch.tensor([[part.loss if part.tokens else 0.0, part.tokens] for part in toy.microbatches()])
alar.lightning.Log = watched.Log
trainer = lightning.Trainer(
    accelerator="cpu", devices=toy.ranks, strategy="ddp", max_epochs=1, logger=Lines(), enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False, use_distributed_sampler=False, log_every_n_steps=toy.interval,
    callbacks=[alar.lightning.AsyncLogCallback(count=lambda batch: int(batch[0, 1]), lag=1, check_for_nan="count")])
trainer.fit(Module(), torch.utils.data.DataLoader(rows, batch_size=1))
dist.destroy_process_group()
