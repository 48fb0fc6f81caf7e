#!/usr/bin/env bash
# Several metrics in one post through the library, and ranks that do not post the same ones.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

plugin=$BUILD/alar-mpich.so
metrics=$BUILD/tests/mpi/metrics
for encoding in pair32 pair64 exact; do
    for n in 1 2 3; do
        claims "$n" "$metrics" "$plugin" "$encoding" "$SCRATCH/$encoding-$n"
        expect_text "$encoding, $n ranks: every metric's reports are recomputed" 0 \
            "$((6 * n)) of $((6 * n)) reports recomputed" "$BUILD/alar" check "$SCRATCH/$encoding-$n"
    done
done
expect_text "exact: the rank with other metrics is named" 1 \
    "E_SCHEMA: rank 1 has other metrics than the others in all-reduce 0 (step 0, microbatch 0)" \
    ranks 4 "$metrics" "$plugin" exact odd
tally
