"""The adapters against the real packages: log_frameworks.py transformers|lightning|torchtitan|megatron RANKS... Each program computes what it
should log, in fp64 from what each rank added, and holds the log against it."""
import json
import math
import os
import sys
import tempfile
import traceback
import types

import torch
import torch.distributed as dist

import alar

RANKS = 0  # of the world that runs


def taken(log_class):
    """What this rank adds, step by step: [[(sum, count)]]."""
    steps = [[]]

    class Watched(log_class):
        def add(self, name, value, count=1):
            steps[-1].append((float(value), int(count)))
            super().add(name, value, count)

        def step(self):
            steps.append([])
            super().step()
    return Watched, steps


def everyone(steps):
    gathered = [None] * RANKS
    dist.all_gather_object(gathered, steps)
    return gathered


def ratio(gathered, first, last):
    pairs = [pair for rank in gathered for step in rank[first:last + 1] for pair in step]
    return math.fsum(total for total, _ in pairs) / sum(count for _, count in pairs)


# ---- transformers --------------------------------------------------------------------------------------


def rows():
    """Rows of 3 and of 29 labels, as a corpus has them: ranks get unequal shares."""
    generator = torch.Generator().manual_seed(7)
    made = []
    for i in range(12 * RANKS):
        tokens = torch.randint(1, 64, (32,), generator=generator)
        labels = tokens.clone()
        labels[: 32 - (3 if i % 4 < 2 else 29)] = -100
        made.append({"input_ids": tokens, "labels": labels})
    return made


def trainer_of(directory, logging_steps, average=True):
    from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments
    torch.manual_seed(3)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
                                         max_position_embeddings=64))
    arguments = TrainingArguments(directory, per_device_train_batch_size=1, gradient_accumulation_steps=2, logging_steps=logging_steps,
                                  max_steps=6, learning_rate=0.0, optim="sgd", use_cpu=True, report_to=[], save_strategy="no",
                                  disable_tqdm=True, average_tokens_across_devices=average, seed=5)
    return Trainer(model=model, args=arguments, train_dataset=rows())


def case_transformers(rank, directory):
    from alar import transformers as adapter
    for logging_steps, lag in ((1, 1), (5, 1)):
        adapter.Log, steps = taken(alar.Log)
        trainer = trainer_of(directory, logging_steps)
        adapter.AsyncLogCallback(trainer, lag=lag, encoding="exact")
        trainer.train()
        lines = [line for line in trainer.state.log_history if "num_tokens" in line]
        gathered = everyone(steps)
        assert len(lines) == (6 if logging_steps == 1 else 2), trainer.state.log_history
        first = 0
        for line in lines:
            last = line["loss_step"] - 1
            assert line["loss"] == ratio(gathered, first, last), (line, ratio(gathered, first, last))
            first = last + 1
        assert first == 6
    trainer = trainer_of(directory, 1, average=False)
    trainer.train()
    own = [line["loss"] for line in trainer.state.log_history if "loss" in line]
    truth = [ratio(gathered, step, step) for step in range(6)]
    assert any(abs(a - b) > 1e-3 for a, b in zip(own, truth)), (own, truth)
    if rank == 0:
        worst = max(zip(own, truth), key=lambda both: abs(both[0] - both[1]))
        print("Trainer's own with average_tokens_across_devices=False: %.6f where sum / tokens is %.6f" % worst)


# ---- Lightning -----------------------------------------------------------------------------------------


def case_lightning(rank, directory):
    import pytorch_lightning as lightning
    from alar import lightning as adapter

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def training_step(self, batch, index):
            loss = self.layer(batch).square().mean() + index + 10 * rank
            return {"loss": loss}

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.0)

    class Kept(lightning.pytorch.loggers.logger.Logger if hasattr(lightning, "pytorch") else lightning.loggers.logger.Logger):
        name, version = "kept", 0

        def __init__(self):
            super().__init__()
            self.lines = []

        def log_metrics(self, metrics, step=None):
            self.lines.append((metrics, step))

        def log_hyperparams(self, *unused):
            pass

    adapter.Log, steps = taken(alar.Log)
    batches = [torch.ones(1 + rank, 2) * i for i in range(7)]  # one row on rank 0, two on rank 1
    kept = Kept()
    trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", devices=1, num_nodes=RANKS, strategy="ddp", logger=kept, log_every_n_steps=3,
                                callbacks=[adapter.AsyncLogCallback(lag=1, over="pooled", encoding="exact")], enable_progress_bar=False,
                                enable_checkpointing=False, enable_model_summary=False, use_distributed_sampler=False)
    trainer.fit(Module(), torch.utils.data.DataLoader(batches, batch_size=None))
    gathered = everyone(steps)
    lines = [(metrics, step) for metrics, step in kept.lines if "loss samples" in metrics]
    assert [step for _, step in lines] == [2, 5, 6] or rank, kept.lines
    for (metrics, step), first in zip(lines, (0, 3, 6)):
        assert metrics["loss"] == ratio(gathered, first, step), (metrics, ratio(gathered, first, step))


# ---- torchtitan ----------------------------------------------------------------------------------------


def case_torchtitan(rank, directory):
    """Its own line is its last step's, with three reductions; the log's is that of all its steps, with none."""
    import log_titan
    from alar import torchtitan as adapter
    reduced, reduce = [], log_titan.utils._dist_reduce
    log_titan.utils._dist_reduce = lambda *arguments, **named: reduced.append(1) or reduce(*arguments, **named)
    own = {}
    for log_freq in (1, 4):
        before = log_titan.Trainer(rank, RANKS, log_freq)
        before.train()
        own[log_freq] = {line[0]: line for line in before.metrics_processor.lines}
        assert len(reduced) == 3 * len(own[log_freq]), reduced
        reduced.clear()
        for lag in (0, 1):
            clip = log_titan.utils.clip_grad_norm_
            trainer = log_titan.Trainer(rank, RANKS, log_freq)
            adapter.patch(trainer, lag=lag, encoding="exact")
            trainer.train()
            log_titan.utils.clip_grad_norm_ = clip
            assert not reduced, reduced
            titan_lines(log_freq, everyone(trainer.shares), everyone(trainer.sums), trainer.metrics_processor.lines, own[log_freq])
    if rank == 0:
        print("torchtitan's own line of step 8: %.6f, of its last step; of all its steps it is %.6f"
              % (own[4][8][1], trainer.metrics_processor.lines[-1][1]))


def titan_lines(log_freq, shares, sums, lines, own):
    assert [line[0] for line in lines] == list(range(log_freq, 9, log_freq)), lines
    for step, loss, worst, norm, extra in lines:
        steps = range(step - log_freq, step)
        assert loss == math.fsum(share for rank in shares for i in steps for share in rank[i]) / log_freq, (step, loss)
        means = [math.fsum(total for total, _ in rank[i]) / sum(count for _, count in rank[i]) for rank in sums for i in steps
                 if any(count for _, count in rank[i])]
        assert abs(worst - max(means)) <= 1e-15 * worst, (worst, max(means))
        assert extra == {"n_tokens_seen": 64 * RANKS * step, "lr": 0.5 ** step} and norm > 0, extra
        if log_freq == 1:
            assert abs(loss - own[step][1]) <= 1e-6 * loss and extra == own[step][4], (loss, own[step])
            assert abs(worst - own[step][2]) <= 1e-6 * worst or step == 3 and math.isnan(own[step][2]), (worst, own[step])
        else:
            assert abs(loss - own[step][1]) > 1e-3 * loss, (loss, own[step])


# ---- Megatron-LM: its functions, as far as its log goes, in its words ------------------------------------


def case_megatron(rank, directory):
    """`train_step` reduces what has two elements, and takes the mean of what has one: a stand-in says when it would reduce."""
    from alar import megatron as adapter
    training, reduced, lines = types.SimpleNamespace(), [], []

    def schedule(step):
        def run(**named):
            reports = []
            for microbatch in range(2):
                mask = torch.tensor([1, 1, 0, rank]) if step else torch.ones(4)
                losses = torch.tensor([1.0, 2.0, float("nan") if step else 4.0, 3.0]) + step + 10 * rank + microbatch
                reports.append(adapter.loss_func(mask, losses)[2])
            return reports
        return run
    training.get_forward_backward_func = lambda step: schedule(step)

    def training_log(losses, totals, step):
        totals[adapter.ADVANCED] = totals.get(adapter.ADVANCED, 0) + 1
        lines.append((step, {key: float(value) for key, value in losses.items()}))
    training.training_log = training_log

    def train_step(step):
        reports, losses = training.get_forward_backward_func(step)(forward_only=False), {}
        for key in reports[0]:
            values = [report[key] for report in reports]
            if values[0].numel() == 2:
                reduced.append(key)
            losses[key] = sum(values) / len(values)
        training.training_log(losses, totals, step)

    adapter.Log, steps, totals = *taken(alar.Log), {}
    log = adapter.patch(training, encoding="exact")
    for step in range(5):
        train_step(step)
    gathered = everyone(steps)
    assert not reduced, reduced
    assert lines[0] == (0, {}) and totals == {adapter.ADVANCED: 4}, (lines[0], totals)
    for step, losses in lines[1:]:
        assert losses["lm loss"] == float(torch.tensor(ratio(gathered, step - 1, step - 1))), (step, losses)
    log().close()
    assert adapter.add_arguments(__import__("argparse").ArgumentParser()).parse_args(["--async-log-allreduce"]).async_log_allreduce


def run(case, rank, directory):
    code = 1
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(RANKS), LOCAL_RANK="0" if case == "lightning" else str(rank), NODE_RANK=str(rank),
                      MASTER_ADDR="127.0.0.1", MASTER_PORT=str(20000 + (os.getppid() + 17 * RANKS) % 20000))
    try:
        if case != "lightning":
            dist.init_process_group("gloo", rank=rank, world_size=RANKS)
        globals()["case_" + case](rank, directory)
        code = 0
    except BaseException:
        print("rank %d:" % rank, traceback.format_exc(), flush=True)
    sys.stdout.flush()
    os._exit(code)


def main(case, ranks):
    global RANKS
    RANKS = ranks
    with tempfile.TemporaryDirectory() as directory:
        children = []
        for rank in range(RANKS):
            pid = os.fork()
            if pid == 0:
                run(case, rank, os.path.join(directory, str(rank)))
            children.append(pid)
        codes = [os.waitpid(pid, 0)[1] for pid in children]
    print(json.dumps({"case": case, "ranks": RANKS, "good": not any(codes)}))
    return int(any(codes))


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1] == "transformers":
        import transformers  # noqa: F401, once for all ranks
    sys.exit(max(main(sys.argv[1], int(ranks)) for ranks in sys.argv[2:]))
