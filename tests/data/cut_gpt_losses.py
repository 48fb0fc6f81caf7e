#!/usr/bin/env python3
"""Cuts the full gpt-losses data down to what is shipped here. Standard library only.

    tests/data/cut_gpt_losses.py FULL [TO]

FULL is the directory that holds train/ and diverge/ in full; TO is where the cut goes, by default
gpt-losses/ beside this script. A second run over the same data writes the same bytes.
"""
import ast
import os
import shutil
import struct
import sys

RANKS = 4
WHOLE = ("local_sum_tokens.npy", "reduced_async.npy", "logged.npy")

# Steps of train whose losses are kept. EVENTS: a rank without a token in one microbatch (7, 27, ...
# 187), a microbatch without any (60), a step without any (150), a rank with a single token (33), the
# steps where the mean of rank means is furthest off (39, 190), and the last one. Each is kept with the
# step before it, some with the step after it, and the run's first two steps: 40 in all.
EVENTS = (7, 27, 33, 39, 47, 60, 67, 87, 107, 127, 147, 150, 167, 187, 190, 199)
STEPS = sorted({0, 1} | set(EVENTS) | {step - 1 for step in EVENTS}
               | {step + 1 for step in (7, 33, 39, 60, 150, 190)})


def read_npy(path):
    """The header as a dictionary, and the data as bytes."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x93NUMPY\x01\x00":
        sys.exit("%s: expected a NumPy 1.0 file, found something else" % path)
    end = 10 + struct.unpack("<H", data[8:10])[0]
    return ast.literal_eval(data[10:end].decode("latin1")), data[end:]


def write_npy(path, descr, shape, data):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (descr, tuple(shape))
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data)


def cut_steps(source, target, steps):
    """Keeps some rows of the first axis, which is the step."""
    header, data = read_npy(source)
    shape = header["shape"]
    row = len(data) // shape[0]
    kept = b"".join(data[step * row:(step + 1) * row] for step in steps)
    write_npy(target, header["descr"], (len(steps),) + shape[1:], kept)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    full = sys.argv[1]
    to = sys.argv[2] if len(sys.argv) == 3 else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "gpt-losses")
    for run in ("train", "diverge"):
        os.makedirs(os.path.join(to, run), exist_ok=True)
        tokens = ["%s.rank%d.npy" % (kind, rank)
                  for kind in ("losses", "mask") for rank in range(RANKS)]
        for name in WHOLE + (tuple(tokens) if run == "diverge" else ()):
            shutil.copyfile(os.path.join(full, run, name), os.path.join(to, run, name))
        if run == "train":
            for name in tokens:
                cut_steps(os.path.join(full, run, name), os.path.join(to, run, name), STEPS)
            write_npy(os.path.join(to, run, "steps.npy"), "<i8", (len(STEPS),),
                      struct.pack("<%dq" % len(STEPS), *STEPS))


if __name__ == "__main__":
    main()
