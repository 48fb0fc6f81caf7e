#!/usr/bin/env bash
# seconds: 200
# `alar record` and `alar order` on Open MPI.
. "$(dirname "$0")/../lib/tally.sh"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
programs=$BUILD/tests/openmpi
launcher=(mpiexec.openmpi)
other=mpich
. tests/lib/record.sh

order() { # order OPTION...: on 5 ranks
    timeout -k 2 60 mpiexec.openmpi -n 5 "$alar" order "$@"
}
expect_text "non-blocking: a binomial tree" 0 "    (((0+1)+(2+3))+4)  binomial  every rank, every element" \
    order --counts 2 --call non-blocking
expect_text "blocking: recursive doubling" 0 "    (((0+1)+2)+(3+4))  recursive-doubling" \
    order --counts 2 --call blocking
expect_text "from 64 KiB on another tree" 0 "the order depends on the number of elements" \
    order --counts 2,40000 --call non-blocking
tally
