# TRL SFTTrainer gathers four numbers for its metrics in each microbatch, and waits for each, whatever logging_steps is.
#   torchrun --nproc-per-node 2 trl_gathers.py
# 4 steps of 2 microbatches, one line at the end: 32 gathers of metrics, beside 1 a step and a few of the line itself.
import tempfile

import torch.distributed as dist
from datasets import Dataset
from tokenizers import Tokenizer, models
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

calls, gather = [], dist.all_gather
dist.all_gather = lambda *a, **k: (calls.append(a[1].numel()), gather(*a, **k))[1]
words = Tokenizer(models.WordLevel({"w%d" % i: i for i in range(64)}, unk_token="w1"))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="w2", eos_token="w3", unk_token="w1")
model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=32, num_hidden_layers=1,
                                     num_attention_heads=2))
arguments = SFTConfig(tempfile.mkdtemp(), use_cpu=True, bf16=False, max_steps=4, per_device_train_batch_size=1, report_to=[],
                      gradient_accumulation_steps=2, logging_steps=4, save_strategy="no", disable_tqdm=True)
rows = Dataset.from_list([{"input_ids": list(range(4, 12))}] * 16)
trainer = SFTTrainer(model=model, args=arguments, train_dataset=rows, processing_class=tokenizer)
trainer.train()
if trainer.is_world_process_zero():
    print("all_gathers in 4 steps of 2 microbatches with one line:", len(calls))
