#!/usr/bin/env python3
"""Splits recorded tokens anew: the same tokens of every step over other ranks and microbatches.

    split.py FROM TO RANKS MICROBATCHES

FROM holds losses.rankR.npy, mask.rankR.npy and perhaps steps.npy; TO is made. Cells get unequal
shares, some of them none; what is left of a cell is masked out and holds NaN.
"""
import array
import os
import re
import shutil
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        head = file.read(10)
        text = file.read(struct.unpack("<H", head[8:10])[0]).decode()
        shape = [int(n) for n in re.search(r"'shape': \(([^)]*)\)", text)[1].split(",") if n.strip()]
        return shape, array.array("f" if "f4" in text else "B", file.read())


def write(path, values, shape):
    kind = "<f4" if values.typecode == "f" else "|u1"
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
        kind, ", ".join(map(str, shape)))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        values.tofile(file)


def cuts(total, cells):
    """Where cells end: shares 0, 1, 2, 3, 4 of each other in turn."""
    weights = [cell % 5 if cells > 1 else 1 for cell in range(cells)]
    weights[-1] = 3
    ends = [sum(weights[:cell + 1]) * total // sum(weights) for cell in range(cells)]
    return list(zip([0] + ends[:-1], ends))


def main(source, target, ranks, microbatches):
    os.mkdir(target)
    losses, masks, steps, each = [], [], 0, 0
    while os.path.exists(f"{source}/losses.rank{len(losses)}.npy"):
        rank = len(losses)
        shape, values = read(f"{source}/losses.rank{rank}.npy")
        steps, each = shape[0], shape[1] * shape[2]
        losses.append(values)
        masks.append(read(f"{source}/mask.rank{rank}.npy")[1])
    shares = cuts(each * len(losses), ranks * microbatches)
    width = max(end - begin for begin, end in shares)
    for rank in range(ranks):
        loss, mask = array.array("f"), array.array("B")
        for step in range(steps):
            own = slice(step * each, (step + 1) * each)
            all_losses, all_masks = array.array("f"), array.array("B")
            for values, bits in zip(losses, masks):
                all_losses += values[own]
                all_masks += bits[own]
            for begin, end in shares[rank * microbatches:(rank + 1) * microbatches]:
                rest = width - (end - begin)
                loss += all_losses[begin:end] + array.array("f", [float("nan")]) * rest
                mask += all_masks[begin:end] + array.array("B", [0]) * rest
        shape = (steps, microbatches, width)
        write(f"{target}/losses.rank{rank}.npy", loss, shape)
        write(f"{target}/mask.rank{rank}.npy", mask, shape)
    if os.path.exists(f"{source}/steps.npy"):
        shutil.copy(f"{source}/steps.npy", target)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
