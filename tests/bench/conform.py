#!/usr/bin/env python3
"""What a full conformance run of each back end of ours costs, one after the other as a user would: seconds and processor
seconds, every process of it included. Fails when a must is broken, or when all together take longer than LIMIT_S."""

import os
import re
import subprocess
import sys
import tempfile
import time

import bench

LIMIT_S = 180
PINS = ["torch==2.13.0", "numpy==2.4.6"]
BACKENDS = ["sim", "mpi:mpich", "mpi:openmpi", "torch:gloo"]


def environment():
    made = bench.output("ci/venv.sh", "torch", *PINS)
    return {**os.environ, "PYTHONPATH": "ref/python", "ALAR_PYTHON": made if made != "-" else "python3"}


def full(backend, folder):
    """Of one back end: how it went, seconds, processor seconds."""
    before, since = bench.processor_seconds(), time.monotonic()
    done = subprocess.run(["timeout", "-k", "2", "300", bench.ALAR, "conform", backend, "--full", "--output", folder],
                          env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    took, cores = time.monotonic() - since, bench.processor_seconds() - before
    said = re.search(r"\d+ of \d+ musts broken", done.stdout)
    if done.returncode != 0 or not said:
        print(done.stdout)
        sys.exit(f"{backend}: exit code {done.returncode}")
    tried = re.search(r"(\d+) worlds, (\d+) scenes, (\d+) all-reduces judged", done.stdout)
    return {"backend": backend, "said": said.group(0), "worlds": int(tried.group(1)), "scenes": int(tried.group(2)),
            "judged": int(tried.group(3)), "seconds": took, "processor": cores}


def main():
    bench.heading("conform: seconds of `alar conform BACKEND --full`, worlds of 1 to 9 ranks",
                  f"one run each, one after the other; together at most {LIMIT_S} s")
    print(f"  {'back end':<14}{'seconds':>9}{'processor':>11}{'scenes':>8}{'judged':>8}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for backend in BACKENDS:
            rows.append(full(backend, os.path.join(folder, "failures")))
            print("  {backend:<14}{seconds:>9.1f}{processor:>11.1f}{scenes:>8}{judged:>8}  {said}".format(**rows[-1]), flush=True)
    total = sum(row["seconds"] for row in rows)
    print(f"  {'together':<14}{total:>9.1f}{sum(row['processor'] for row in rows):>11.1f}")
    bench.save("conform", {"rows": rows})
    return 0 if total <= LIMIT_S else 1


sys.exit(main())
