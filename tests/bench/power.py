#!/usr/bin/env python3
"""Power by number of ranks: of how many ranks would a missing or doubled contribution have been seen?

Real losses (tests/data/gpt-losses/train, four recorded ranks, taken at other steps for every four
more), summed by recursive doubling; `alar check --json` says what each history could have shown.
Writes Markdown."""

import array
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import time

import bench

DATA = "tests/data/gpt-losses/train/local_sum_tokens.npy"
RANKS, STEPS, MICROBATCHES = 4, 200, 4
SIZES = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]
OPERATIONS = 8


def losses():
    """[rank][step][microbatch][loss sum, tokens], flat."""
    with open(DATA, "rb") as file:
        data = file.read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return array.array("f", data[start:])


def local(values, rank, time_index, lane):
    step = (time_index // MICROBATCHES + 7 * (rank // RANKS)) % STEPS
    cell = (rank % RANKS * STEPS + step) * MICROBATCHES + time_index % MICROBATCHES
    return values[2 * cell + lane]


def doubling(column, code):
    """Pairs, and pairs of pairs; a double holds the sum of two floats well enough to be rounded once."""
    while len(column) > 1:
        sums = [a + b for a, b in zip(column[::2], column[1::2])]
        column = [struct.unpack(code, struct.pack(code, value))[0] for value in sums]
    return column[0]


def write(path, columns, dtype, height):
    code = "<f" if dtype == "f32" else "<d"

    def bits(value):
        return struct.pack(code, value)[::-1].hex()

    with open(path, "w", encoding="utf-8") as file:
        if height:
            file.write('{"ev":"contract","height":%d}\n' % height)
        for op, column in enumerate(columns):
            for rank, value in enumerate(column):
                file.write('{"ev":"issue","rank":%d,"op":%d,"dtype":"%s","in":["%s"]}\n'
                           % (rank, op, dtype, bits(value)))
            out = bits(doubling(column, code))
            for rank in range(len(column)):
                file.write('{"ev":"done","rank":%d,"op":%d,"out":["%s"]}\n' % (rank, op, out))


def power(columns, dtype, height=0):
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as history:
        write(history.name, columns, dtype, height)
        start = time.monotonic()
        done = subprocess.run([bench.ALAR, "check", "--json", history.name], capture_output=True,
                              text=True)
        seconds = time.monotonic() - start
    found = json.loads(done.stdout)
    if found["verdict"] != "PASS":
        sys.exit(found["reason"])
    return {**found["power"], "seconds": seconds}


def shown(found):
    """Percent of ranks whose missing and doubled contribution is seen; rounded down."""
    def percent(count):
        return "%d" % (100 * count // found["ranks"])

    return percent(found["missing_seen"]) + " / " + percent(found["doubled_seen"])


def main():
    values = losses()
    rows = []
    bench.heading("power: percent of ranks whose missing / doubled contribution would have been seen",
                  "not pinned; nothing is timed, the figures repeat exactly")
    print("| ranks | loss sum, fp32 | with the height declared | fp64 | token count, fp32 |")
    print("|--:|--:|--:|--:|--:|")
    for n in SIZES:
        lanes = [[[local(values, rank, 4 * 3 + op, lane) for rank in range(n)]
                  for op in range(OPERATIONS)] for lane in (0, 1)]
        found = {
            "loss": power(lanes[0], "f32"),
            "height": power(lanes[0], "f32", math.ceil(math.log2(n))),
            "f64": power(lanes[0], "f64"),
            "tokens": power(lanes[1], "f32"),
        }
        rows.append({"ranks": n, **found})
        print("| %d | %s |" % (n, " | ".join(shown(value) for value in found.values())))
        sys.stdout.flush()
    bench.save("power", {"rows": rows})


if __name__ == "__main__":
    main()
