"""A Llama and a tokenizer small enough for a test, made on the spot: nothing is downloaded."""
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

WORDS = 64


def tokenizer():
    words = Tokenizer(models.WordLevel({"token%d" % i: i for i in range(WORDS)}, unk_token="token63"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="token62", eos_token="token61", unk_token="token63")


def model(seed, head):
    """Its logits are `head` times what they would be at random."""
    torch.manual_seed(seed)
    made = LlamaForCausalLM(LlamaConfig(vocab_size=WORDS, hidden_size=32, intermediate_size=32, num_hidden_layers=1,
                                        num_attention_heads=2, max_position_embeddings=256, tie_word_embeddings=False))
    with torch.no_grad():
        made.lm_head.weight *= head
    return made


def answer(part):
    """A row with as many tokens that count as the part has; as large a share of them as its loss says is token 0, in threes:
    a microbatch of 96 tokens then has a share that is a binary fraction."""
    zeros = int(part.tokens * (part.loss if part.loss == part.loss else 5) / 30) * 3
    counted = [0] * zeros + [1 + at % 50 for at in range(part.tokens - zeros)]
    return {"input_ids": [5, 6, 7] + counted, "labels": [-100] * 3 + counted}
