#!/usr/bin/env python3
"""What the torch recorder costs the thread that reduces: microseconds an operation above the bare program.

The aim is 15 an operation, and 3 with values off. Debian's torch and today's, from the package index, where
they can be had; with the recorder's compiled part, and in Python alone. The parts are what an operation's recording is
made of: what is left."""

import json
import os
import subprocess
import tempfile
import textwrap

import bench

PINS = ["torch==2.13.0", "numpy==2.4.6"]


def pythons():
    """Those that have torch."""
    made = bench.output("ci/venv.sh", "torch", *PINS)
    for python in ("/usr/bin/python3", made):
        if bench.output(python, "-c", "import torch; print('yes')") == "yes":
            yield python
        else:
            print(f"  not measured: {python} has no torch")


def measured(python, compiled):
    built = os.path.join(bench.BUILD, "python")
    environment = {**os.environ, "PYTHONPATH": "ref/python:" + built, "ALAR_NATIVE": "1" if compiled else "0", "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo",
                   "PYTHONWARNINGS": "ignore", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["timeout", "-k", "2", "600", python, "tests/torch/cost.py", folder, os.path.join(folder, "store")],
            env=environment, check=True, text=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout.splitlines()[-1])


def above(values, bare):
    """Round by round: median, interval, and the least against the least."""
    differences = [a - b for a, b in zip(values, bare)]
    low, high = bench.interval(differences)
    return f"{bench.median(differences):+.1f} [{low:+.1f}, {high:+.1f}] {min(values) - min(bare):+.1f}"


def show(data):
    modes = [mode for mode in next(iter(data["wholes"].values())) if mode != "bare"]
    way = "" if data["compiled"] else ", Python alone"
    print(f"| torch {data['torch']}{way} | bare | " + " | ".join(modes) + " |")
    print("|---|--:|" + "--:|" * len(modes))
    for name, of in data["wholes"].items():
        print(f"| {name} | {bench.median(of['bare']):.1f} | "
              + " | ".join(above(of[mode], of["bare"]) for mode in modes) + " |")
    parts = "parts, the least of 50: " + "; ".join(f"{name} {us:.2f}" for name, us in data["parts"].items())
    print(textwrap.indent(textwrap.fill(parts, 150), "  "), flush=True)


def main():
    bench.heading("recording: microseconds of the calling thread an operation, above the bare program",
                  "one rank of gloo, 2 floats, 300 operations a round, not pinned; median of rounds by turns [95 % "
                  "interval]\n  and then the least of them against the least of the bare ones")
    found = []
    for python in pythons():
        for compiled in (True, False):
            found.append(measured(python, compiled))
            show(found[-1])
    bench.save("recording", {"versions": found})


main()
