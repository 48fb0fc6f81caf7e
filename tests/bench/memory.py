#!/usr/bin/env python3
"""Peak memory of `alar run` and `alar check`: the largest process's resident set.

A run by number of steps, without and with a history, and the check of that history; then on MPICH
ranks, where the library itself is most of it: hence a run without a log beside."""

import os
import tempfile

import bench

REPEATS = 3
SIM = ["run", "--backend", "sim", "--input", "sums", "--compare", "none", "--quiet", "--async-log-allreduce"]
MPI = ["run", "--input", "sums", "--compare", "none", "--quiet"]
ON_RANKS = {"no log": ["--no-log"], "pair32, async-microbatch": ["--async-log-allreduce"],
            "exact, async-microbatch": ["--async-log-allreduce", "--encoding", "exact"]}


def peak(build, launch, *arguments):
    """MiB of the largest process; median of a few runs."""
    alar = os.path.join(bench.BUILDS[build], "alar")
    return bench.median([bench.measured(*launch, alar, *arguments)[1] for _ in range(REPEATS)])


def by_length(build, steps):
    with tempfile.TemporaryDirectory() as folder:
        bench.losses_write(folder, 4, steps)
        history = os.path.join(folder, "history")
        run = [*SIM, "--losses", folder]
        bare = peak(build, [], *run)
        recorded = bench.median([bench.measured(os.path.join(bench.BUILDS[build], "alar"), *run, "--history",
                                                f"{history}{i}")[1] for i in range(REPEATS)])
        return {"build": build, "steps": steps, "run": bare, "recorded": recorded,
                "check": peak(build, [], "check", "-q", history + "0")}


def main():
    bench.heading("memory: MiB resident at most, of the largest process",
                  f"not pinned; medians of {REPEATS} runs, which agree within 0.3 MiB")
    print(f"  {'simulator, 4 ranks':<24}{'steps':>8}{'run':>8}{'run --history':>15}{'check of it':>13}")
    lengths = []
    for build in bench.BUILDS:
        for steps in (100, 1000, 10000) if build == "as shipped" else (1000,):
            lengths.append(by_length(build, steps))
            print("  {build:<24}{steps:>8}{run:>8.1f}{recorded:>15.1f}{check:>13.1f}".format(**lengths[-1]), flush=True)
    print(f"  {'MPICH, 40 steps':<50}{'2 ranks':>10}{'4 ranks':>10}")
    ranks = []
    for build in bench.BUILDS:
        for name, options in ON_RANKS.items():
            two, four = (peak(build, bench.launcher(n), *MPI, *options) for n in (2, 4))
            ranks.append({"build": build, "variant": name, "two": two, "four": four})
            print(f"  {build:<24}{name:<26}{two:>10.1f}{four:>10.1f}")
    bench.save("memory", {"by_length": lengths, "on_ranks": ranks})


main()
