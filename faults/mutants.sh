#!/usr/bin/env bash
# The score of the oracle: faults/mutants.sh [--quick]
#
# Every mutant of faults/mutants.def on recorded losses and on hostile inputs, over the simulator and
# over four MPICH ranks, and healthy back ends on the same inputs, judged by the code of `alar check`
# from the history files alone. On ledgers a missing and a doubled rank have to be named, uniquely. Prints recall, precision and the rate of false positives, with 95 %
# intervals, per mutant and in all; writes $BUILD/mutants.json; keeps the histories of surprises
# beside $BUILD/scenes. SEED (1) draws everything. --quick: fewer runs, and the simulator only.
# Exit code 0 only when every defect that showed was named, and nothing healthy was.
set -u
cd "$(dirname "$0")/.." || exit 4
build=${BUILD:-build}
seed=${SEED:-1}
runs=20 healthy=1500 mpich_runs=2 mpich_healthy=24
if [ "${1:-}" = --quick ]; then runs=3 healthy=100 mpich_runs=0 mpich_healthy=0; fi

# hwloc's plug-ins and UCX's warnings are none of our business; ranks of one machine share memory.
export UCX_TLS=self,sm HWLOC_PLUGINS_PATH=/nonexistent UCX_LOG_LEVEL=error

mutants=$(grep -c '^MUTANT(' faults/mutants.def)
# Two inputs for all, and a third one for the two mutants whose cause has to be named.
scenes=$((2 * (mutants * mpich_runs + mpich_healthy) + 2 * mpich_runs))
rm -rf "$build/scenes" "$build"/scenes.*
mkdir -p "$build/scenes/mpich"
for ((i = 0; i < scenes; i++)); do mkdir "$build/scenes/mpich/$i"; done
if [ "$scenes" -gt 0 ]; then
    timeout -k 2 240 mpiexec.mpich -n 4 "$build/mutants" play "$PWD/$build/alar-mpich.so" \
        "$build/scenes/mpich" "$seed" "$mpich_runs" "$mpich_healthy" || exit
fi
timeout -k 2 240 "$build/mutants" score "$build/scenes" "$build/mutants.json" "$seed" "$runs" "$healthy" \
    "$mpich_runs" "$mpich_healthy"
