"""Lightning's self.log(sync_dist=True). EPOCH=1: what it logs at the end of the epoch, weighted by batch_size."""
import os

import lightning
import torch
import torch.distributed as dist

import ledger
import toy

at_epoch = os.environ.get("EPOCH") == "1"


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(()))

    def training_step(self, batch, at):
        loss, tokens = batch[0, 0] * self.scale, int(batch[0, 1])
        part = toy.microbatches()[at]
        total = float(loss.detach()) * tokens if tokens else 0.0
        ledger.contributed(1 if at_epoch else part.step, at if at_epoch else part.number, total, tokens)
        self.log("loss", loss, on_step=not at_epoch, on_epoch=at_epoch, sync_dist=True, batch_size=tokens)
        return loss

    def on_train_batch_end(self, *others):
        step = self.trainer.global_step
        if not at_epoch and self.trainer.fit_loop.epoch_loop.batch_idx % toy.accumulation == toy.accumulation - 1:
            ledger.logged(step, step, self.trainer.callback_metrics["loss"])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.0)


rows = torch.tensor([[toy.mean_of(part), part.tokens] for part in toy.microbatches()])
trainer = lightning.Trainer(
    accelerator="cpu", devices=toy.ranks, strategy="ddp", max_epochs=1, accumulate_grad_batches=toy.accumulation, logger=False,
    enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, use_distributed_sampler=False,
    log_every_n_steps=50)
trainer.fit(Module(), torch.utils.data.DataLoader(rows, batch_size=1))
if at_epoch:
    ledger.logged(1, 1, trainer.callback_metrics["loss"])
dist.destroy_process_group()
