#!/usr/bin/env bash
# `alar order` on MPICH: the trees of its default and of two algorithms that are broken in this
# version, known from elsewhere.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh
YIELD=1

reveal() { # reveal RANKS OPTION...
    local n=$1
    shift
    ranks "$n" "$BUILD/alar" order --counts 2 "$@"
}
expect_text "non-blocking, 5 ranks" 0 "    (((0+1)+2)+(3+4))  recursive-doubling  every rank, every element" \
    reveal 5 --call non-blocking
expect_text "blocking, 5 ranks" 0 "    (((0+1)+2)+(3+4))  recursive-doubling  every rank, every element" \
    reveal 5 --call blocking
expect_text "from every pair" 0 "    ((0+1)+(2+3))  recursive-doubling" reveal 4 --all-pairs
expect_text "fp64 adds in fp64" 0 "accumulator: 53 bits" reveal 3 --dtype f64
expect_text "one line of complaint, all leave with 3" 3 "can't do this" reveal 3 --dtype bf16
check "said once" test "$(grep -c '^alar order: ' "$SCRATCH/.output")" -eq 1

exchange() { # exchange RADIX
    MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM=tsp_recexch_single_buffer \
        MPIR_CVAR_IALLREDUCE_RECEXCH_KVAL=$1 reveal 5 --call non-blocking
}
for radix in 3 4; do
    expect_text "recursive exchange of radix $radix: ranks disagree" 1 "ranks disagree" \
        exchange $radix
done
arrival() {
    MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM=tsp_tree MPIR_CVAR_IALLREDUCE_TREE_BUFFER_PER_CHILD=1 \
        reveal 5 --call non-blocking --repeat 80 --strict
}
expect_code "a tree with a buffer for each child: the order changes" 1 arrival
tally
