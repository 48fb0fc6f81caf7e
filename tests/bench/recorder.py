#!/usr/bin/env python3
"""What `alar record` adds: processor time of the calling thread a recorded operation, of MPICH on one rank."""

import json
import os
import tempfile

import bench

CALLS = 20000
AIM = 4.0
NAMES = {"allreduce": "MPI_Allreduce", "iallreduce_wait": "MPI_Iallreduce, MPI_Wait", "reduce": "MPI_Reduce",
         "allgather": "MPI_Allgather"}
VARIANTS = {"bare": None, "recorded": [], "recorded, --no-hash": ["--no-hash"]}


def launch(options):
    """Medians of one launch, by call: microseconds."""
    program = [*bench.launcher(1), os.path.join(bench.BUILD, "tests/bench/recorder"), str(CALLS), "3"]
    with tempfile.TemporaryDirectory() as directory:
        command = program if options is None else \
            [bench.ALAR, "record", "--replace", *options, "-o", directory, "--", *program]
        _, _, lines = bench.measured(*command)
    rounds = [json.loads(line) for line in lines.splitlines()]
    return {name: bench.median([found[name] for found in rounds]) for name in NAMES}


def main():
    rounds = bench.ROUNDS or 9
    bench.heading("recorder: processor time of an operation, bare and recorded, 2 floats on one rank of MPICH",
                  f"{CALLS} calls a round, 3 rounds a launch; {rounds} launches of each, {bench.MEDIANS}")
    found = bench.interleaved(VARIANTS, rounds, launch)
    rows = []
    print(f"  {'':<28}{'':<22}{'us':>8}{'added':>8}   95 % interval (aim at most {AIM:.0f})")
    for name, words in NAMES.items():
        bare = [each[name] for each in found["bare"]]
        for variant, launches in found.items():
            values = [each[name] for each in launches]
            added = [a - b for a, b in zip(values, bare)]
            low, high = bench.interval(added)
            rows.append({"call": name, "variant": variant, "us": bench.median(values),
                         "added_us": bench.median(added), "low": low, "high": high})
            more = f"{rows[-1]['added_us']:>8.2f}   {low:.2f} .. {high:.2f}" if variant != "bare" else ""
            print(f"  {words:<28}{variant:<22}{rows[-1]['us']:>8.2f}{more}")
    bench.save("recorder", {"aim_us": AIM, "rows": rows})


main()
