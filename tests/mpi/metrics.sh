#!/usr/bin/env bash
# Several metrics of all kinds in one post through the library, and ranks that do not post the same ones.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

plugin=$BUILD/alar-mpich.so
metrics=$BUILD/tests/mpi/metrics
for encoding in pair32 pair64 exact; do
    for n in 1 2 3; do
        claims "$n" "$metrics" "$plugin" "$encoding" "$SCRATCH/$encoding-$n"
        expect_text "$encoding, $n ranks: every metric's reports are recomputed" 0 \
            "$((10 * n)) of $((10 * n)) reports recomputed" "$BUILD/alar" check "$SCRATCH/$encoding-$n"
    done
done
expect_text "exact: the rank with other metrics is named" 1 \
    "E_SCHEMA: rank 1 has other metrics than the others in all-reduce 0 (step 0, microbatch 0)" \
    ranks 4 "$metrics" "$plugin" exact name
expect_text "exact: the rank that makes something else of a metric is named" 1 \
    "E_SCHEMA: rank 1 has other metrics than the others in all-reduce 0 (step 0, microbatch 0)" \
    ranks 4 "$metrics" "$plugin" exact kind
tally
