"""The simulator and the judge by number of ranks: time and memory, and what a long run comes to.

    python3 tests/bench/scale.py [RANKS]...    (default 100 300 1000 4096 10000, with BENCH_FULL=1 also 100000)

`alar run` of drawn losses, one microbatch a step, asynchronous, without flag lanes, history and twin;
then the same with a history, judged by `alar check`, where that is small enough to write.
"""

import os
import re
import shutil
import sys
import tempfile

import bench

STEPS = 20
HISTORY_RANKS = 1024
TARGET_RANKS = 4096
TARGET_STEPS = 10**6


def row(directory, ranks):
    bench.losses_write(directory, ranks, STEPS)
    common = [bench.ALAR, "run", "--backend", "sim", "--input", "sums", "--losses", directory, "--ranks", str(ranks),
              "--schedule", "async-microbatch", "--check-for-nan", "off", "--compare", "none", "--quiet",
              "--log-interval", "10"]
    seconds, peak, _ = bench.measured(*common)
    result = {"ranks": ranks, "steps": STEPS, "run_seconds": seconds, "run_peak_mib": peak,
              "us_per_rank_step": seconds * 1e6 / ranks / STEPS}
    if ranks <= HISTORY_RANKS:
        history = os.path.join(directory, "history")
        shutil.rmtree(history, ignore_errors=True)
        bench.measured(*common, "--history", history)
        size = sum(entry.stat().st_size for entry in os.scandir(history))
        seconds, peak, text = bench.measured(bench.ALAR, "check", history)
        judged = int(re.search(r"(\d+) of \d+ operations judged", text).group(1))
        result.update(history_bytes_per_rank_step=size / ranks / STEPS, check_seconds=seconds,
                      check_peak_mib=peak, judged=judged,
                      check_us_per_rank_step=seconds * 1e6 / ranks / STEPS)
    return result


def show(result):
    line = "%7d %9.2f %10.1f %12.2f" % (result["ranks"], result["run_seconds"], result["run_peak_mib"],
                                        result["us_per_rank_step"])
    if "check_seconds" in result:
        line += " %11.0f %10.2f %10.1f %12.2f" % (result["history_bytes_per_rank_step"], result["check_seconds"],
                                                  result["check_peak_mib"], result["check_us_per_rank_step"])
    print(line, flush=True)


def estimate(results):
    """4,096 ranks x 10^6 steps, from the costs a rank and step has at the sizes measured."""
    run = [result for result in results if result["ranks"] == TARGET_RANKS]
    check = [result for result in results if "check_seconds" in result][-1:]
    cells = TARGET_RANKS * TARGET_STEPS
    if run and check:
        print("\n%d ranks x %d steps: simulated in %.1f h; a history of %.1f TB, judged in %.1f h" % (
            TARGET_RANKS, TARGET_STEPS, run[0]["us_per_rank_step"] * cells / 3.6e9,
            check[0]["history_bytes_per_rank_step"] * cells / 1e12,
            check[0]["check_us_per_rank_step"] * cells / 3.6e9))


def main():
    bench.heading("scale: the simulator and the judge by number of ranks, 20 steps",
                  "one process, not pinned; processor seconds of one run each")
    sizes = [int(word) for word in sys.argv[1:]] or [100, 300, 1000, TARGET_RANKS, 10000] + [100000] * bench.FULL
    results = []
    print("  ranks     run s   peak MiB  us/rank/step   bytes/r/s    check s   peak MiB  us/rank/step")
    for ranks in sizes:
        with tempfile.TemporaryDirectory() as directory:
            results.append(row(directory, ranks))
            show(results[-1])
    estimate(results)
    bench.save("scale", {"rows": results})


if __name__ == "__main__":
    main()
