"""The rows of the table: which program, with which settings, from which packages."""
import collections

# needs: a variable that names a checkout. interval: steps a line, where the loop has lines. skips: cases that the loop
# can't have.
Row = collections.namedtuple("Row", "name program env packages needs interval skips upstream ranks", defaults=(
    {}, (), None, 2, ("short",), "", 2))

# The rows that run with every change, and what they need of PINS.
SHORT = ("accelerate `gather_for_metrics`, mean", "torchmetrics MeanMetric")
SHORT_PINS = ("torch==2.13.0", "numpy==2.4.6", "accelerate==1.15.0", "torchmetrics==1.9.0")

PINS = ("torch==2.13.0", "numpy==2.4.6", "transformers==5.18.0", "accelerate==1.15.0", "trl==1.13.0",
        "lightning==2.6.6", "torchmetrics==1.9.0", "datasets==5.2.0")

ROWS = (
    Row("plain loop, `loss.item()` of rank 0", "plain_loop.py", {"WAY": "own"}, interval=1),
    Row("plain loop, mean of rank means", "plain_loop.py", {"WAY": "rank-means"}),
    Row("plain loop, sums over tokens", "plain_loop.py", {"WAY": "weighted"}),
    Row("alar.Log", "alar_log.py"),
    Row("transformers Trainer", "transformers_trainer.py", packages=("transformers", "accelerate"), skips=(),
        upstream="transformers PR 13619, TRL issue 6702"),
    Row("transformers Trainer, `average_tokens_across_devices=False`", "transformers_trainer.py", {"AVERAGE": "0"},
        packages=("transformers", "accelerate"), skips=(), upstream="the same"),
    Row("accelerate `gather_for_metrics`, mean", "accelerate_gather.py", packages=("accelerate",), interval=1, skips=(),
        upstream="TRL issue 7010"),
    Row("Lightning `self.log(sync_dist=True)`", "lightning_log.py", {"ACCUMULATION": "1"}, packages=("lightning",), interval=1,
        upstream="Lightning issue 19106"),
    Row("Lightning `self.log(sync_dist=True, on_epoch=True)`", "lightning_log.py", {"EPOCH": "1"}, packages=("lightning",),
        interval=1, upstream="Lightning issues 21838, 21859"),
    Row("torchmetrics MeanMetric", "torchmetrics_mean.py", packages=("torchmetrics",)),
    Row("Megatron-LM, `lm loss` of the line", "megatron_rule.py", needs="MEGATRON"),
    Row("torchtitan, `global_avg_loss`", "torchtitan_sums.py", needs="TORCHTITAN", upstream="torchtitan PR 779"),
    Row("nanochat, `train/loss`", "nanochat_lines.py", needs="NANOCHAT", interval=1, upstream="nanochat PR 515"),
    Row("MindSpeed `--async-log-allreduce`", "mindspeed_async.py", needs="MINDSPEED"),
)
