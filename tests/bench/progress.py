#!/usr/bin/env python3
"""Why progress matters: blocked time by polls and depth, one rank in turn late, on MPICH and simulated.

A pending all-reduce of several rounds moves only when somebody calls the library. At depth 1 every
post waits for the one before; at depth 8 eight are pending at once. Dropped polls are what a program
looks like that never calls while it computes. The default of --poll-us is chosen from this table."""

import bench

RUN = ["--input", "sums", "--steps", "0:40", "--log-interval", "40", "--wait", "log",
       "--async-log-allreduce", "--compare", "none", "--compute-us", "2000",
       "--straggler", "rotate:2000"]
POLLS = {"polled every 0.2 ms": "200", "polled every 1 ms": "1000", "never polled": "0"}
CASES = {f"depth {depth}, {polls}": ["--window", str(depth), "--poll-us", POLLS[polls]]
         for depth in (1, 8) for polls in POLLS}


def blocked(stats):
    """Milliseconds a rank stood still, a step."""
    return stats["pass"]["blocked_us"] / stats["ranks"] / stats["steps"] / 1000


def main():
    rounds = bench.ROUNDS or 5
    bench.heading("progress: milliseconds blocked a rank and step, 4 x 2 ms compute, one rank in turn 2 ms late",
                  f"{bench.pinned(4)}; {rounds} rounds; {bench.MEDIANS}; the simulator's repeat exactly")
    variants = {(build, name): (build, name) for build in bench.BUILDS for name in CASES}
    real = bench.interleaved(variants, rounds, lambda variant: blocked(
        bench.run(bench.launcher(4), *RUN, *CASES[variant[1]], build=bench.BUILDS[variant[0]])))
    rows = []
    print(f"  {'':<42}{'MPICH':>8}   95 % interval      {'simulated':>10}")
    for (build, name), values in real.items():
        low, high = bench.interval(values)
        simulated = bench.run([], "--backend", "sim", "--ranks", "4", *RUN, *CASES[name],
                              build=bench.BUILDS[build])
        rows.append({"build": build, "variant": name, "mpich_ms": bench.median(values), "low": low,
                     "high": high, "simulated_ms": blocked(simulated)})
        print(f"  {build:<12}{name:<30}{rows[-1]['mpich_ms']:>8.3f}   {low:.3f} .. {high:.3f}   "
              f"{rows[-1]['simulated_ms']:>10.3f}")
    often, default, never = [row["simulated_ms"] for row in rows[:3]]
    print(f"  --poll-us 1000 is the default: of the {never:.3f} ms a step that a rank without polls stands still "
          f"(simulated, depth 1)\n  it leaves {default:.3f}; five times as many polls leave {often:.3f}")
    bench.save("progress", {"rows": rows})


main()
