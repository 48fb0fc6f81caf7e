#!/usr/bin/env python3
"""Why progress matters: blocked time by polls and depth, one rank in turn late, on MPICH and simulated.

A pending all-reduce of several rounds moves only when somebody calls the library. At depth 1 every
post waits for the one before; at depth 8 eight are pending at once. Dropped polls are what a program
looks like that never calls while it computes."""

import bench

RUN = ["--input", "sums", "--steps", "0:50", "--log-interval", "50", "--wait", "log",
       "--async-log-allreduce", "--compare", "none", "--compute-us", "2000",
       "--straggler", "rotate:2000"]
POLLS = {"polled every 0.2 ms": "200", "polled every 1 ms": "1000", "never polled": "0"}
VARIANTS = {f"depth {depth}, {polls}": ["--window", str(depth), "--poll-us", POLLS[polls]]
            for depth in (1, 8) for polls in POLLS}


def simulated(arguments):
    with bench.tempfile.NamedTemporaryFile(suffix=".json") as stats:
        bench.output(bench.ALAR, "run", "--backend", "sim", "--ranks", "4", "--quiet",
                     "--stats-json", stats.name, *RUN, *arguments)
        return bench.json.load(open(stats.name, encoding="utf-8"))


def blocked(stats):
    """Milliseconds a rank stood still, a step."""
    return stats["pass"]["blocked_us"] / stats["ranks"] / stats["steps"] / 1000


def main():
    bench.heading("progress: milliseconds blocked a rank and step, 4 ranks, 4 x 2 ms compute, one rank "
                  "in turn 2 ms late (MPICH: 4 ranks on these cores are oversubscribed)")
    builds = {(name, build): (extra, alar) for name, extra in VARIANTS.items()
              for build, alar in (("as shipped", bench.ALAR), ("FAULTS=0", bench.PLAIN))}
    real = bench.interleaved(builds, 5, lambda it: blocked(bench.mpi(4, *RUN, *it[0], alar=it[1])))
    rows = []
    print(f"  {'':<30}{'':<12}{'MPICH':>8}   95 % interval      {'simulated':>10}")
    for (name, build), values in real.items():
        low, high = bench.interval(values)
        rows.append({"variant": name, "build": build, "mpich_ms": bench.median(values), "low": low,
                     "high": high, "simulated_ms": blocked(simulated(VARIANTS[name]))})
        print(f"  {name:<30}{build:<12}{rows[-1]['mpich_ms']:>8.3f}   {low:.3f} .. {high:.3f}   "
              f"{rows[-1]['simulated_ms']:>10.3f}")
    bench.save("progress", {"rows": rows})


main()
