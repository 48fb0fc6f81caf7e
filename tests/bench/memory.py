#!/usr/bin/env python3
"""Peak resident memory of `alar run`, simulated and on MPICH, and of `alar check` by length of history."""

import os
import subprocess
import sys
import tempfile

import bench

RUN = ["run", "--async-log-allreduce", "--quiet", "--compare", "none"]
EVENTS = (10**4, 10**5, 10**6)


def peak(command):
    """The most MiB that any `alar` of this command held."""
    with tempfile.NamedTemporaryFile("r") as file:
        preload = os.path.abspath(os.path.join(bench.BUILD, "tests/preload/peak.so"))
        done = subprocess.run(command, capture_output=True, text=True,
                              env={**os.environ, "LD_PRELOAD": preload, "PEAK_FILE": file.name})
        found = [int(line.split()[1]) for line in file if line.startswith("alar ")]
    if done.returncode != 0 or not found:
        sys.exit(f"memory: {' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return max(found) / 1024


def runs():
    """Each (what, command); more steps must not take more memory."""
    mpi = ["timeout", "-k", "2", "120", "mpiexec.mpich", "-n", "4", bench.ALAR]
    for steps in (10, 40):
        yield f"run, simulated, 4 ranks, {steps} steps", [bench.ALAR, *RUN, "--backend", "sim",
                                                          "--steps", f"0:{steps}"]
    yield "run, simulated, exact, 40 steps", [bench.ALAR, *RUN, "--backend", "sim", "--encoding", "exact"]
    for steps in (10, 40):
        yield f"run, MPICH, a rank of 4, {steps} steps", [*mpi, *RUN, "--steps", f"0:{steps}"]
    yield "run, MPICH, exact, 40 steps", [*mpi, *RUN, "--encoding", "exact"]


def main():
    bench.heading("memory: most that was resident in one process, MiB, most of 3 runs")
    rows = []

    def row(what, command):
        rows.append({"what": what, "peak_mib": max(peak(command) for _ in range(3))})
        print(f"  {what:<44}{rows[-1]['peak_mib']:>8.1f}")

    for what, command in runs():
        row(what, command)
    for events in EVENTS:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["tests/bench/history.sh", str(events), folder], check=True)
            row(f"check, {events} events", [bench.ALAR, "check", "-q", folder])
    bench.save("memory", {"rows": rows})


main()
