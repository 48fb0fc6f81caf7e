# Lightning self.log(sync_dist=True): a barrier and an all_reduce for each key and step, whatever log_every_n_steps is.
#   torchrun --nproc-per-node 2 lightning_step.py
# 10 steps, 2 keys, a line every 50 steps, that is none. Found 20 of each.
import lightning
import torch
import torch.distributed as dist

calls, reduce, barrier = [], dist.all_reduce, dist.barrier
dist.all_reduce = lambda *a, **k: (calls.append("all_reduce"), reduce(*a, **k))[1]
dist.barrier = lambda *a, **k: (calls.append("barrier"), barrier(*a, **k))[1]


class Module(lightning.LightningModule):
    def training_step(self, batch, at):
        self.log_dict({"loss": 1.0, "other": 2.0}, sync_dist=True)
        if at == 9:
            print("in 10 steps: %d all_reduces, %d barriers" % (calls.count("all_reduce"), calls.count("barrier")))
        return self.layer(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.0)

    on_train_start = lambda self: calls.clear()  # noqa: E731


trainer = lightning.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_steps=10, logger=False, log_every_n_steps=50,
                            enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False)
module = Module()
module.layer = torch.nn.Linear(1, 1)
trainer.fit(module, torch.utils.data.DataLoader(torch.ones(20, 1)))
