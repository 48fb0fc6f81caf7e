"""The rows of the table: which program, with which settings, from which packages."""
import collections

# needs: a variable that names a checkout. interval: steps a line, where the loop has lines. skips: cases that the loop
# can't have. modules: what all runs share, imported once; torchmetrics is not, which asks for its rank as it is imported.
# norms: collectives that follow a gradient's, for its norm. place: what alar offers there.
Row = collections.namedtuple("Row", "name program env packages needs interval skips upstream ranks modules norms place", defaults=(
    {}, (), None, 2, ("short",), "", 2, (), 0, "row `alar.Log`"))

# The rows that run with every change, and what they and tests/torch/log_frameworks.sh need of PINS.
SHORT = ("accelerate `gather_for_metrics`, mean", "torchmetrics MeanMetric")
SHORT_PINS = ("torch==2.13.0", "numpy==2.4.6", "accelerate==1.15.0", "torchmetrics==1.9.0", "transformers==5.18.0")

PINS = ("torch==2.13.0", "numpy==2.4.6", "transformers==5.18.0", "accelerate==1.15.0", "trl==1.13.0",
        "lightning==2.6.6", "torchmetrics==1.9.0", "datasets==5.2.0", "deepspeed==0.19.8")

HF = ("transformers", "accelerate")
OF_HF = ("accelerate", "transformers.trainer", "transformers.models.llama.modeling_llama")
OF_TRL = OF_HF + ("datasets", "trl.trainer.sft_trainer", "trl.trainer.dpo_trainer")
BESIDE = "`alar.transformers` for the loss; `log.add` for this"

ROWS = (
    Row("plain loop, `loss.item()` of rank 0", "plain_loop.py", {"WAY": "own"}, interval=1),
    Row("plain loop, mean of rank means", "plain_loop.py", {"WAY": "rank-means"}),
    Row("plain loop, sums over tokens", "plain_loop.py", {"WAY": "weighted"}),
    Row("alar.Log", "alar_log.py", place="-"),
    Row("transformers Trainer", "transformers_trainer.py", packages=HF, skips=(), modules=OF_HF,
        upstream="transformers PR 13619, TRL issue 6702", place="row `alar.transformers`"),
    Row("transformers Trainer, `average_tokens_across_devices=False`", "transformers_trainer.py", {"AVERAGE": "0"},
        packages=HF, skips=(), modules=OF_HF, upstream="the same", place="row `alar.transformers`"),
    Row("transformers Trainer with `alar.transformers`", "transformers_alar.py", packages=HF, skips=(), modules=OF_HF, place="-"),
    Row("accelerate `gather_for_metrics`, mean", "accelerate_gather.py", packages=("accelerate",), interval=1, skips=(),
        modules=("accelerate",), upstream="TRL issue 7010"),
    Row("TRL SFT, `mean_token_accuracy`", "trl_sft.py", {"METRIC": "mean_token_accuracy"}, packages=("trl",), skips=("nan",),
        modules=OF_TRL, upstream="TRL PR 6943", place=BESIDE),
    Row("TRL SFT, `entropy`", "trl_sft.py", {"METRIC": "entropy"}, packages=("trl",), skips=(), modules=OF_TRL, upstream="TRL PR 6943",
        place=BESIDE),
    Row("TRL DPO, `rewards/chosen`", "trl_dpo.py", packages=("trl",), skips=("empty",), modules=OF_TRL,
        upstream="TRL issue 7010, PR 6943", place=BESIDE),
    Row("Lightning `self.log(sync_dist=True)`", "lightning_log.py", {"ACCUMULATION": "1"}, packages=("lightning",), interval=1,
        modules=("lightning",), upstream="Lightning issue 19106", place="row `alar.lightning`"),
    Row("Lightning `self.log(sync_dist=True, on_epoch=True)`", "lightning_log.py", {"EPOCH": "1"}, packages=("lightning",),
        interval=1, modules=("lightning",), upstream="Lightning issues 21838, 21859", place="row `alar.lightning`"),
    Row("Lightning with `alar.lightning`", "lightning_alar.py", {"ACCUMULATION": "1"}, packages=("lightning",), modules=("lightning",),
        place="-"),
    Row("torchmetrics MeanMetric", "torchmetrics_mean.py", packages=("torchmetrics",)),
    Row("DeepSpeed engine, `Train/Samples/train_loss`", "deepspeed_engine.py", packages=("deepspeed",), interval=1,
        modules=("deepspeed",), norms=1, upstream="DeepSpeed PR 7665", place="row with `alar.Log`"),
    Row("DeepSpeed engine with `alar.Log`", "deepspeed_engine.py", {"LOG": "1"}, packages=("deepspeed",),
        modules=("deepspeed",), norms=1, place="-"),
    Row("DeepSpeed `PipelineEngine.train_batch`, 1 stage", "deepspeed_pipe.py", packages=("deepspeed",),
        modules=("deepspeed.pipe",), norms=2),
    Row("DeepSpeed `PipelineEngine.train_batch`, 2 stages of 2 ranks", "deepspeed_pipe.py", {"STAGES": "2"},
        packages=("deepspeed",), ranks=4, modules=("deepspeed.pipe",), norms=2),
    Row("Megatron-LM, `lm loss` of the line", "megatron_rule.py", needs="MEGATRON",
        place="row `alar.megatron`"),
    Row("Megatron-LM with `alar.megatron`", "megatron_rule.py", {"LOG": "1"}, needs="MEGATRON", place="-"),
    Row("torchtitan, `global_avg_loss`", "torchtitan_sums.py", needs="TORCHTITAN", upstream="torchtitan PR 779"),
    Row("nanochat, `train/loss`", "nanochat_lines.py", needs="NANOCHAT", interval=1, upstream="nanochat PR 515"),
    Row("MindSpeed `--async-log-allreduce`", "mindspeed_async.py", needs="MINDSPEED"),
)

# What a table of numbers can't say, each shown by a script of repro/ that needs the framework alone; what it prints at
# the end is the finding.
Finding = collections.namedtuple("Finding", "what script ranks modules env needs", defaults=(2, ("torch.distributed",), {}, None))

FINDINGS = (
    Finding("a plain loop: neither a mean of the ranks' means nor rank 0's own loss is the loss of a token", "plain_means.py"),
    Finding("transformers: NaN on one of two ranks logs half the other's loss at `logging_steps=1`; NaN on all ranks logs 0",
            "transformers_nan.py", modules=OF_HF),
    Finding("transformers: `average_tokens_across_devices=False` logs a mean of the ranks' means", "transformers_average.py",
            modules=OF_HF),
    Finding("accelerate: `gather_for_metrics` can't take a repeated row out of a mean that a rank made", "accelerate_remainder.py",
            modules=("accelerate",)),
    Finding("TRL: four blocking gathers for each microbatch of SFT, whatever `logging_steps` is", "trl_gathers.py", modules=OF_TRL),
    Finding("TRL: a metric is the mean of the microbatches' ratios; a microbatch of 3 tokens counts as much as one of 29", "trl_ratio.py",
            ranks=1, modules=OF_TRL),
    Finding("Lightning: with batches of one and two rows a constant 1.0 is 1.5 at the end of the epoch", "lightning_epoch.py",
            modules=("lightning",)),
    Finding("Lightning: `sync_dist=True` costs a barrier and an all_reduce for each key and step, whatever `log_every_n_steps` is",
            "lightning_step.py", modules=("lightning",)),
    Finding("torchmetrics: `MeanMetric` removes a NaN, and the rank that has it does not warn", "torchmetrics_nan.py"),
    Finding("DeepSpeed: the documented event `Train/Samples/train_loss` is not written by the engine", "deepspeed_event.py", ranks=1,
            modules=("deepspeed",)),
    Finding("DeepSpeed: `PipelineEngine.train_batch` gives a mean of means", "deepspeed_pipe.py", modules=("deepspeed",)),
    Finding("Megatron-LM: a loss that is NaN or negative is left out of the line without a word", "megatron_nan.py", ranks=1,
            needs="MEGATRON"),
    Finding("Megatron-LM: the optimized loss is a mean of the microbatches' means, the logged one of the tokens", "megatron_means.py",
            ranks=1, needs="MEGATRON"),
    Finding("torchtitan: the line has the loss of its last step alone", "torchtitan_last.py", ranks=1, needs="TORCHTITAN"),
    Finding("torchtitan: `global_max_loss` keeps a NaN of rank 0 and loses one of rank 1, or of a rank without tokens",
            "torchtitan_max.py", needs="TORCHTITAN"),
    Finding("nanochat: `base_train` logs rank 0's last microbatch, and one NaN stays in all lines that follow", "nanochat_rank0.py",
            ranks=1, needs="NANOCHAT"),
    Finding("nanochat: `chat_sft` shows 0.526 of the loss in its first line", "nanochat_sft.py", ranks=1, needs="NANOCHAT"),
    Finding("MindSpeed: each handle is waited for at the end of its own step; a report of today's Megatron-LM, one tensor, gives two "
            "numbers in place of a loss", "mindspeed_waits.py", ranks=1, needs="MINDSPEED"),
)
