#!/usr/bin/env python3
"""`alar check` on many ranks: processor and wall seconds, peak memory, and what an operation of a rank costs.

    tests/bench/ranks.py [RANKS [OPERATIONS]]      default: 1024 500

The history has a file for each rank and holds an issue and a done for each operation, nothing else: [loss sum,
token count] pairs, drawn for 100 operations and then again, added up by a balanced tree; 220 bytes a rank and
operation. 1024 10000 are 2.3 GB below the directory for temporary files; the aim is 30 s and 512 MiB."""

import os
import random
import re
import struct
import sys
import tempfile
import time

import bench

DRAWN = 100  # different operations
REPEATS = 3


def f32(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def bits(number):
    return struct.pack(">f", number).hex()


def total(values):
    """Left and right neighbours are added up, again and again."""
    while len(values) > 1:
        values = [f32(sum(values[k:k + 2])) for k in range(0, len(values), 2)]
    return values[0]


def operations(ranks):
    """[(what each rank puts in, what comes out)], as lists of hex digits."""
    draw = random.Random(ranks)
    for _ in range(DRAWN):
        tokens = [float(draw.randint(1, 512)) for _ in range(ranks)]
        losses = [f32(count * draw.uniform(2, 11)) for count in tokens]
        yield ([f'"{bits(a)}","{bits(b)}"' for a, b in zip(losses, tokens)],
               f'"{bits(total(losses))}","{bits(total(tokens))}"')


def write(folder, ranks, count):
    """Bytes written."""
    drawn = list(operations(ranks))
    for rank in range(ranks):
        head = f'"rank":{rank}'
        lines = [f'{{"ev":"trace",{head},"i":0,"t":0,"v":1,"world":{ranks},"clock":"monotonic_ns"}}\n']
        for op in range(count):
            inputs, result = drawn[op % DRAWN]
            lines.append(f'{{"ev":"issue",{head},"i":{2 * op + 1},"t":{2 * op + 1}000,"op":"world/{op}","red":"sum",'
                         f'"dtype":"f32","n":2,"buf":"b{op % 8}","in":[{inputs[rank]}]}}\n'
                         f'{{"ev":"done",{head},"i":{2 * op + 2},"t":{2 * op + 2}000,"op":"world/{op}",'
                         f'"out":[{result}]}}\n')
        lines.append(f'{{"ev":"end",{head},"i":{2 * count + 1},"t":{2 * count + 1}000}}\n')
        with open(os.path.join(folder, f"rank{rank}.jsonl"), "w", encoding="ascii") as file:
            file.write("".join(lines))
    return sum(entry.stat().st_size for entry in os.scandir(folder))


def main():
    ranks, count = [int(word) for word in sys.argv[1:]] or (1024, 500)
    bench.heading(f"ranks: alar check on {ranks} ranks x {count} operations",
                  f"one process, not pinned; median of {REPEATS} runs, after one that is not counted")
    with tempfile.TemporaryDirectory() as folder:
        size = write(folder, ranks, count)
        runs = []
        for _ in range(1 + REPEATS):
            start = time.monotonic()
            seconds, peak, text = bench.measured(bench.ALAR, "check", "-q", folder)
            runs.append((seconds, time.monotonic() - start, peak))
    if not re.search(rf"PASS\t{count} of {count} operations judged", text):
        sys.exit(f"expected {count} operations judged, found: {text}")
    seconds, wall, peak = (bench.median(column) for column in zip(*runs[1:]))
    row = {"ranks": ranks, "operations": count, "mb": size / 1e6, "seconds": seconds, "wall": wall, "peak_mib": peak,
           "us_per_rank_operation": seconds * 1e6 / ranks / count, "mb_s": size / 1e6 / seconds}
    print("  %.0f MB: %.2f s of processor, %.2f s, %.0f MiB at most; %.2f us a rank and operation, %.0f MB/s" % (
        row["mb"], seconds, wall, peak, row["us_per_rank_operation"], row["mb_s"]))
    bench.save("ranks", row)


main()
