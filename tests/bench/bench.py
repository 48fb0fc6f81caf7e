"""What the benchmarks share: the machine, interleaved rounds, medians with intervals, one JSON file."""

import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD", "build")
ALAR = os.path.join(BUILD, "alar")
PLAIN = os.path.join(BUILD, "plain", "alar")  # built with FAULTS=0
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "0"))


def output(*command):
    """Standard output of a command, or a dash when there is no such command."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "-"


def machine():
    """Where and with what this was measured."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"model name\s*: (.*)", file.read())
    return {
        "cpu": found.group(1) if found else platform.machine(),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "compiler": output("gcc", "-dumpfullversion"),
        "mpich": output("dpkg-query", "-W", "-f", "${Version}", "mpich"),
        "alar": output(ALAR, "--version"),
        "load": os.getloadavg()[0],
    }


def median(values):
    return statistics.median(values)


def interval(values, seed=1):
    """95 % interval of the median, by the bootstrap (2,000 draws, seeded)."""
    draw = random.Random(seed)
    medians = sorted(median(draw.choices(values, k=len(values))) for _ in range(2000))
    return medians[49], medians[1949]


def ratios(values, base):
    """Ratios round by round: both of a pair were measured one after the other."""
    return [a / b for a, b in zip(values, base)]


def mpi(ranks, *arguments, alar=ALAR):
    """A run of `alar run` on MPICH ranks, pinned one a core when they fit; its stats."""
    with tempfile.NamedTemporaryFile(suffix=".json") as stats:
        pinning = ["-bind-to", "core"] if ranks <= os.cpu_count() else []
        command = ["timeout", "-k", "2", "120", "mpiexec.mpich", "-n", str(ranks), *pinning, alar,
                   "run", "--quiet", "--stats-json", stats.name, *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}exit code {done.returncode}")
        return json.load(open(stats.name, encoding="utf-8"))


def interleaved(variants, rounds, measure):
    """Measures every variant once a round, in an order drawn anew each round; {name: [values]}."""
    draw = random.Random(1)
    found = {name: [] for name in variants}
    for turn in range(ROUNDS or rounds):
        names = list(variants)
        draw.shuffle(names)
        for name in names:
            found[name].append(measure(variants[name]))
        print(f"\r  round {turn + 1} of {ROUNDS or rounds}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return found


def step_rows(title, found):
    """Prints a table of step times in milliseconds, {schedule: [values]}, and returns its rows. Ratios
    are to no log, round by round."""
    print(f"\n  {title}, {len(found['no log'])} rounds\n  {'':<40}{'ms a step':>10}{'ratio':>8}   95 % interval")
    rows = []
    for name, values in found.items():
        ratio = ratios(values, found["no log"])
        low, high = interval(ratio)
        rows.append({"schedule": name, "ms": median(values), "ratio": median(ratio), "low": low,
                     "high": high, "values": values})
        print(f"  {name:<40}{rows[-1]['ms']:>10.3f}{rows[-1]['ratio']:>8.3f}   {low:.3f} .. {high:.3f}")
    return rows


def save(name, data):
    """Writes build/bench/NAME.json with the machine beside the data."""
    folder = os.path.join(BUILD, "bench")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"machine": machine(), **data}, file, indent=1)
        file.write("\n")
    print(f"  written: {path}")


def heading(text):
    where = machine()
    print(f"\n{text}\n  {where['cpu']}, {where['cores']} cores, load {where['load']:.2f}; Linux "
          f"{where['kernel']}, gcc {where['compiler']}, MPICH {where['mpich']}")
