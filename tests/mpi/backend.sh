#!/usr/bin/env bash
# The MPI back end on MPICH through its table, its order of addition, and its memory.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh
YIELD=1

plugin=$BUILD/alar-mpich.so
seed=${SEED:-20240229}
echo "seed $seed"

for n in 1 2 3 4 5 8; do
    claims "$n" "$BUILD/tests/mpi/table" "$plugin"
done
claims 3 "$BUILD/tests/mpi/host" "$plugin"
for n in 2 3 4 5 6 7 8; do
    claims "$n" "$BUILD/tests/mpi/order" "$plugin" "$seed"
done

# The tree is MPICH's default one: with another, on request, the very same claim must break.
other_tree() {
    MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM=tsp_ring ranks 5 "$BUILD/tests/mpi/order" "$plugin" "$seed"
}
expect_text "another tree of MPICH's breaks that claim" 1 "memcmp(f32" other_tree

watched() { # watched PROGRAM...: on 2 ranks under valgrind
    YIELD= ranks 2 valgrind -q --leak-check=full --show-leak-kinds=definite \
        --errors-for-leak-kinds=definite --error-exitcode=99 "$@"
}
check "no leak, overrun or uninitialised read" watched "$BUILD/tests/mpi/table" "$plugin" clean
expect_code "what MPICH can't free is seen" 99 watched "$BUILD/tests/mpi/table" "$plugin"

tally
