#!/usr/bin/env python3
"""`alar check` on the histories of worst_input.py, each of which asks the most for its size in its own way.

    tests/bench/worst.py [N]      default: 20000, a quarter and a half of that before"""

import os
import sys
import tempfile

import bench
import worst_input

ROUNDS = 3


def row(folder, kind, count):
    """Megabytes, processor seconds and peak MiB: the fastest of some rounds, as others only add to it."""
    path = os.path.join(folder, kind)
    worst_input.write(kind, count, path)
    runs = [bench.measured("sh", "-c", '"$0" check -q "$1" || [ $? -le 2 ]', bench.ALAR, path) for _ in range(ROUNDS)]
    size = os.path.getsize(path) / 1e6
    os.remove(path)
    seconds, peak, _ = min(runs)
    return {"kind": kind, "n": count, "mb": size, "seconds": seconds, "peak_mib": peak, "s_per_mb": seconds / size}


def main():
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    bench.heading(f"worst: alar check on the worst inputs of a size, n = {most}",
                  f"processor seconds of one process, not pinned; the fastest of {ROUNDS} runs; growth is of the "
                  "seconds from n/2 to n: 2 where each operation costs the same")
    print("\n| input | MB | s at n/4 | s at n/2 | s at n | growth | s a MB | MiB |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in worst_input.KINDS:
            sizes = [row(folder, kind, count) for count in (most // 4, most // 2, most)]
            rows += sizes
            last = sizes[-1]
            print("| %s | %.1f | %.2f | %.2f | %.2f | %.1f | %.3f | %.0f |" % (
                kind, last["mb"], *(size["seconds"] for size in sizes), last["seconds"] / max(sizes[1]["seconds"], 1e-3),
                last["s_per_mb"], last["peak_mib"]), flush=True)
    bench.save("worst", {"rows": rows})


main()
