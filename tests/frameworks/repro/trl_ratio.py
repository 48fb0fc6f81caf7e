# TRL's metrics are a mean of the microbatches' ratios: a microbatch of 3 tokens counts as much as one of 29.
#   python trl_ratio.py
# 3 tokens, all right, then 29, all wrong: 0.09375 of the tokens. Found mean_token_accuracy 0.5.
import tempfile

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

words = Tokenizer(models.WordLevel({"w%d" % i: i for i in range(64)}, unk_token="w1"))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="w2", eos_token="w3", unk_token="w1")
model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=32, num_hidden_layers=1,
                                     num_attention_heads=2))
torch.nn.init.zeros_(model.lm_head.weight)  # token 0 everywhere
rows = [{"input_ids": [5] + [0] * 3, "labels": [-100] + [0] * 3}, {"input_ids": [5] + [7] * 29, "labels": [-100] + [7] * 29}]
arguments = SFTConfig(tempfile.mkdtemp(), use_cpu=True, bf16=False, max_steps=1, per_device_train_batch_size=1, report_to=[],
                      gradient_accumulation_steps=2, learning_rate=0.0, logging_steps=1, save_strategy="no", disable_tqdm=True,
                      dataset_kwargs={"skip_prepare_dataset": True})
trainer = SFTTrainer(model=model, args=arguments, train_dataset=Dataset.from_list(rows), processing_class=tokenizer)
trainer.train()
print("mean_token_accuracy:", trainer.state.log_history[0]["mean_token_accuracy"])
