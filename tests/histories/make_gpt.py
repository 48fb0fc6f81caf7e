#!/usr/bin/env python3
"""Histories of real losses whose log lines are computed by four rules; three of the rules were in use.

    tests/histories/make_gpt.py RULE FIRST:LAST    one merged history on standard output

Contributions and results are torch/gloo's own (tests/data/gpt-losses/train): one all-reduce a microbatch, or
one a step. RULE says which column of logged.npy the report shows, each declared token-weighted:

    token-weighted        sums over tokens: right
    mean-of-rank-means    the ranks' means, averaged
    sum-of-rank-means     the ranks' means, summed and never divided
    token-weighted-step   right, from one reduction a step
"""
import ast
import json
import struct
import sys

DATA = "tests/data/gpt-losses/train/"
RULES = ["token-weighted", "mean-of-rank-means", "sum-of-rank-means", "token-weighted-step"]
RANKS, MICROBATCHES = 4, 4


def npy_f32(path):
    """The shape and the bit patterns of an fp32 array in C order."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:6] != b"\x93NUMPY":
        sys.exit(f"{path}: expected an .npy file")
    start = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:start].decode())
    if header["descr"] != "<f4" or header["fortran_order"]:
        sys.exit(f"{path}: expected little-endian fp32 in C order, found {header['descr']}")
    count = (len(data) - start) // 4
    return header["shape"], struct.unpack(f"<{count}I", data[start:])


def fp32_add(a, b):
    """The sum of two bit patterns in fp32. Adding in fp64 first rounds once: 53 > 2 * 24 + 1 bits."""
    total = sum(struct.unpack("<2f", struct.pack("<2I", a, b)))
    return struct.unpack("<I", struct.pack("<f", total))[0]


def write(record):
    print(json.dumps(record, separators=(",", ":")))


def write_reduction(number, step, microbatch, contributions, result):
    for rank in range(RANKS):
        record = {"ev": "issue", "rank": rank, "op": number, "step": step}
        if microbatch is not None:
            record["mb"] = microbatch
        record.update(key="lm loss", pairs=1)
        record["in"] = [f"{bits:08x}" for bits in contributions[rank]]
        write(record)
    for rank in range(RANKS):
        write({"ev": "done", "rank": rank, "op": number, "out": [f"{bits:08x}" for bits in result]})


def right_fold(values):
    """gloo's order for a log pair: x0 + (x1 + (x2 + x3))."""
    total = values[-1]
    for value in reversed(values[:-1]):
        total = fp32_add(value, total)
    return total


def main(rule, first, last):
    (ranks, steps, microbatches, _), local = npy_f32(DATA + "local_sum_tokens.npy")
    _, logged = npy_f32(DATA + "logged.npy")
    _, reduced = npy_f32(DATA + "reduced_async.npy")
    assert (ranks, microbatches) == (RANKS, MICROBATCHES)

    def pair(array, rank, step, microbatch):
        at = ((rank * steps + step) * MICROBATCHES + microbatch) * 2
        return list(array[at : at + 2])

    write({"ev": "trace", "v": 1, "world": RANKS, "backend": "gloo", "tag": rule,
           "normalization": "token-weighted", "over": "steps", "encoding": "pair32",
           "microbatches": MICROBATCHES, "log_interval": 1})
    number = 0
    for step in range(first, min(last, steps)):
        if rule == "token-weighted-step":
            totals = [pair(local, rank, step, 0) for rank in range(RANKS)]
            for rank in range(RANKS):
                for microbatch in range(1, MICROBATCHES):
                    more = pair(local, rank, step, microbatch)
                    totals[rank] = [fp32_add(*both) for both in zip(totals[rank], more)]
            result = [right_fold(list(lane)) for lane in zip(*totals)]
            write_reduction(number, step, None, totals, result)
            number += 1
        else:
            for microbatch in range(MICROBATCHES):
                given = [pair(local, rank, step, microbatch) for rank in range(RANKS)]
                write_reduction(number, step, microbatch, given, pair(reduced, 0, step, microbatch))
                number += 1
        bits = logged[step * len(RULES) + RULES.index(rule)]
        write({"ev": "report", "rank": 0, "metric": "lm loss", "step": step,
               "normalization": "token-weighted", "bits": f"{bits:08x}"})
    write({"ev": "end"})


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in RULES or sys.argv[2].count(":") != 1:
        sys.exit(__doc__)
    main(sys.argv[1], *(int(word) for word in sys.argv[2].split(":")))
