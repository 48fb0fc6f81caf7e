# Lightning self.log(sync_dist=True, on_epoch=True): a loss that is 1.0 everywhere is logged as 1.5.
#   python lightning_epoch.py
# One batch on each of two ranks, of one row on rank 0 and of two on rank 1. Expected 1.0; found 1.5.
import lightning
import torch


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(()))

    def train_dataloader(self):
        return torch.utils.data.DataLoader(torch.ones(1 + self.global_rank, 1), batch_size=1 + self.global_rank)

    def training_step(self, batch, at):
        self.log("loss", self.scale, on_step=False, on_epoch=True, sync_dist=True, batch_size=len(batch))
        return self.scale * 1.0

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.0)


trainer = lightning.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=1, logger=False, enable_checkpointing=False,
                            enable_progress_bar=False, enable_model_summary=False, use_distributed_sampler=False)
trainer.fit(Module())
if trainer.is_global_zero:
    print("logged:", float(trainer.callback_metrics["loss"]))
