"""What the benchmarks share: the machine, interleaved rounds, medians with intervals, one JSON file.

    python3 tests/bench/bench.py [NAME]...      runs them, by default all, and says what each took

What a benchmark printed replaces its section of tests/bench/README.md, so that the page shows what was
measured; the prose around the sections is written by hand.

BENCH_ROUNDS=N changes the rounds of what takes turns, BENCH_FULL=1 adds what takes minutes."""

import json
import os
import platform
import random
import re
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("BUILD", "build")
ALAR = os.path.join(BUILD, "alar")
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "0"))
FULL = os.environ.get("BENCH_FULL") == "1"
BUILDS = {"as shipped": BUILD, "FAULTS=0": os.path.join(BUILD, "plain")}
BENCHMARKS = ["step", "overhead", "progress", "oracle", "sums", "memory", "scale", "ranks", "worst", "power", "diagnosis",
              "recording", "recorder", "conform"]
PAGE = "tests/bench/README.md"
MEDIANS = "medians, 95 % intervals by bootstrap, variants take turns in a drawn order"


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
        "torch": output("dpkg-query", "-W", "-f", "${Version}", "python3-torch"),
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


def launcher(ranks):
    """MPICH's, with a bound; ranks are pinned one a core when they fit."""
    pinning = ["-bind-to", "core"] if ranks <= os.cpu_count() else []
    return ["timeout", "-k", "2", "120", "mpiexec.mpich", "-n", str(ranks), *pinning]


def pinned(ranks):
    """How so many ranks sit on the cores, for headings."""
    if ranks <= os.cpu_count():
        return f"{ranks} ranks pinned one a core"
    return f"{ranks} ranks on {os.cpu_count()} cores, OVERSUBSCRIBED"


def run(launch, *arguments, build=BUILD):
    """A run of `alar run` behind a launcher; its stats."""
    with tempfile.NamedTemporaryFile(suffix=".json") as stats:
        measured(*launch, os.path.join(build, "alar"), "run", "--quiet", "--stats-json", stats.name,
                 *arguments)
        return json.load(stats)


def processor_seconds():
    """Of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measured(*command):
    """Processor seconds of a command that ends well, MiB of its largest process, standard output.

    GNU time tells the memory: the kernel counts a parent's as that of the child it forks, and we are large."""
    with tempfile.NamedTemporaryFile("r") as kilobytes:
        before = processor_seconds()
        done = subprocess.run(["/usr/bin/time", "-o", kilobytes.name, "-f", "%M", *command], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}exit code {done.returncode}")
        return processor_seconds() - before, int(kilobytes.read()) / 1024, done.stdout


def losses_write(directory, ranks, steps):
    """Local sums of every rank: float32 [ranks, steps, 1, 2], tokens drawn, about 2 to 11 nats each."""
    draw = random.Random(ranks)
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, 1, 2), }" % (ranks, steps)
    header = header.ljust(117) + "\n"
    with open(os.path.join(directory, "local_sum_tokens.npy"), "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for _ in range(ranks):
            tokens = [draw.randint(1, 512) for _ in range(steps)]
            pairs = [number for count in tokens for number in (count * draw.uniform(2, 11), count)]
            file.write(struct.pack("<%df" % len(pairs), *pairs))


def interleaved(variants, rounds, measure):
    """Measures every variant once a round, in an order drawn anew each round; {name: [values]}."""
    draw = random.Random(1)
    found = {name: [] for name in variants}
    for turn in range(rounds):
        names = list(variants)
        draw.shuffle(names)
        for name in names:
            found[name].append(measure(variants[name]))
    return found


def save(name, data):
    """Writes build/bench/NAME.json with the machine beside the data."""
    folder = os.path.join(BUILD, "bench")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"machine": machine(), **data}, file, indent=1)
        file.write("\n")
    print(f"  written: {path}")


def heading(text, how):
    """What is measured, where, and how: pinning, repetitions, what a figure stands for."""
    where = machine()
    print(f"\n{text}\n  {where['cpu']}, {where['cores']} cores, load {where['load']:.2f}; Linux "
          f"{where['kernel']}, gcc {where['compiler']}, MPICH {where['mpich']}, torch {where['torch']}"
          f"\n  {how}")


def shown(name):
    """Runs one benchmark, shows its output as it comes, and returns it; None when it failed."""
    lines = []
    with subprocess.Popen([sys.executable, f"tests/bench/{name}.py"], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip())
    return "\n".join(lines).strip("\n") if process.returncode == 0 else None


def publish(name, text):
    """Replaces what stands between the two marks of `name` in the page."""
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    block = f"<!-- {name} -->\n\n```\n{text}\n```\n\n<!-- end of {name} -->"
    page, count = re.subn(f"<!-- {name} -->.*?<!-- end of {name} -->", lambda _: block, page, flags=re.S)
    if count != 1:
        sys.exit(f"{PAGE}: expected one section '<!-- {name} -->', found {count}")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page)


def main():
    names = sys.argv[1:] or BENCHMARKS
    took, failed = {}, []
    for name in names:
        start = time.monotonic()
        text = shown(name)
        took[name] = time.monotonic() - start
        if text is None:
            failed.append(name)
        elif not text.startswith("skip "):
            publish(name, text)
    print("\n" + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in took.items())
          + f"; in all {sum(took.values()):.0f} s")
    if failed:
        sys.exit("failed: " + ", ".join(failed))


if __name__ == "__main__":
    main()
