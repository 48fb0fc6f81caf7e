#!/usr/bin/env python3
"""Step time and faults between two sites: four hosts on one machine, 10 ms apart each way (tests/network/sites.py).

Real losses, four microbatches a step of 5 ms each, slept; a line every 10 steps; --deadline-ms 0. Ratios to no log
are taken round by round, all variants of a round one after the other in a drawn order. Then one run for each fault,
from which the network is cut on. Needs root; says so and ends well where network namespaces can't be made."""

import json
import sys
import tempfile

import bench

sys.path.insert(0, "tests/network")
from faults import DEADLINE_MS, FAULTS, RUN, START_MS, fault, launch  # noqa: E402
from sites import NoNamespaces, Sites  # noqa: E402

ROUNDS = bench.ROUNDS or (7 if bench.FULL else 3)
PACE = ["--deadline-ms", "0", "--compute-us", "5000"]
SCHEDULES = {
    "no log": ["--no-log"],
    "sync-microbatch": ["--schedule", "sync-microbatch"],
    "sync-window": ["--schedule", "sync-window"],
    "async-microbatch, wait step": ["--schedule", "async-microbatch", "--wait", "step"],
    "async-microbatch, wait log": ["--schedule", "async-microbatch", "--wait", "log"],
    "async-microbatch, wait log, lag 1": ["--schedule", "async-microbatch", "--wait", "log", "--lag", "1"],
    "async-window, wait log, lag 1": ["--schedule", "async-window", "--wait", "log", "--lag", "1"],
}
RAW = {"raw MPI, no log": "-1", "raw MPI, wait log": "0", "raw MPI, wait log, lag 1": "1"}  # tests/mpi/raw_log.c, by lag
STRAGGLER = ["--straggler", "rotate:10000"]  # one rank in turn half a step late
PLACES = ["MPICH, 4 hosts", "Open MPI, 4 hosts"]


def step_ms(sites, place, name, late):
    if name in RAW:
        program = "tests/openmpi/raw_log" if place.startswith("Open") else "tests/mpi/raw_log"
        command = [program, RAW[name], "5000", "10000" if late else "0"]
        code, out, err = sites.run(launch(sites, place, command), 60)
        if code != 0:
            sys.exit(f"{place}, {' '.join(command)}: exit code {code}\n{err}")
        return float(out)
    options = [*SCHEDULES[name], *(STRAGGLER if late else [])]
    with tempfile.NamedTemporaryFile(suffix=".json") as stats:
        code, _, err = sites.run(launch(sites, place, [*RUN, *PACE, "--stats-json", stats.name, *options]), 60)
        if code != 0:
            sys.exit(f"{place}, {' '.join(options)}: exit code {code}\n{err}")
        found = json.load(stats)
        return found["pass"]["elapsed_us"] / found["steps"] / 1000


def steps(sites, place):
    names = [*SCHEDULES, *RAW]
    variants = {(name, late): (name, late) for name in names for late in (False, True)}
    found = bench.interleaved(variants, ROUNDS, lambda variant: step_ms(sites, place, *variant))
    bench.heading(f"step time, {place}", f"{ROUNDS} rounds: median ms a step, its ratio to no log of its own program (least to most)")
    print("| schedule | even ranks | one in turn 10 ms late |\n|---|--:|--:|")
    for name in names:
        cells = []
        for late in (False, True):
            ratio = bench.ratios(found[name, late], found["raw MPI, no log" if name in RAW else "no log", late])
            cells.append(f"{bench.median(found[name, late]):.2f}: {bench.median(ratio):.3f} ({min(ratio):.3f} to {max(ratio):.3f})")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return {f"{name}, late" if late else name: values for (name, late), values in found.items()}


def faults(sites):
    bench.heading(f"faults between the sites in the midst of a run, deadline {DEADLINE_MS / 1000:g} s, start {START_MS / 1000:g} s",
                  "one run each; seconds from the fault on, 3 s later the ranks that are still there, what alar check says")
    print("| fault | library | exit code | over after, s | said to be silent | left | verdict |\n|---|---|--:|--:|---|--:|---|")
    rows = []
    for name in FAULTS:
        for place in ("MPICH, 4 hosts", "Open MPI, 4 hosts"):
            rows.append([name, place.split(",")[0], *fault(sites, place, name)])
            print("| " + " | ".join(map(str, rows[-1])) + " |", flush=True)
    return rows


def main():
    try:
        with Sites(bench.BUILD) as sites:
            data = {place: steps(sites, place) for place in PLACES}
            data["faults"] = faults(sites)
    except NoNamespaces as why:
        print(f"skip network: {why}")
        return
    bench.save("network", data)


if __name__ == "__main__":
    main()
