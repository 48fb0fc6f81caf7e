"""TRL's DPOTrainer: `rewards/chosen` of its line, the first that it gathers with an element for each pair of answers."""
import torch.distributed as dist
from datasets import Dataset
from trl import DPOConfig, DPOTrainer

import tiny
import trainer


def row(part):
    words = " ".join("token%d" % word for word in tiny.answer(part)["input_ids"])
    return {"prompt": "token5 token6", "chosen": " " + words, "rejected": " token7 token8"}


class Trainer(trainer.InOrder, DPOTrainer):
    def _compute_loss(self, model, inputs, return_outputs):
        part, own, compute, gather = trainer.next_part(), [], super()._compute_loss, self.accelerator.gather
        self.accelerator.gather = lambda tensor: own.append(tensor) or gather(tensor)
        answer = trainer.hostile(part, self.model, lambda: compute(model, inputs, return_outputs))
        self.accelerator.gather = gather
        rewards = next(tensor for tensor in own if tensor.dim() == 1)
        trainer.contributed(part, rewards.sum(), rewards.numel())
        return answer


arguments = DPOConfig(**trainer.ARGUMENTS, max_length=None)
Trainer(model=tiny.model(3, 4), ref_model=tiny.model(4, 4), args=arguments, processing_class=tiny.tokenizer(),
        train_dataset=Dataset.from_list(trainer.rows(row)), callbacks=[trainer.Lines("rewards/chosen")]).train()
dist.destroy_process_group()
