#!/usr/bin/env bash
# Runs the benchmarks named, tests/bench/NAME.py, and ends with the time each took. BENCH_ROUNDS=N sets
# the repetitions, BENCH_FULL=1 adds sizes that take minutes.
set -eu
cd "$(dirname "$0")/../.."

times=
for name in "$@"; do
    start=$SECONDS
    python3 "tests/bench/$name.py"
    times+=", $name $((SECONDS - start)) s"
done
echo
echo "${times#, }; in all $SECONDS s"
