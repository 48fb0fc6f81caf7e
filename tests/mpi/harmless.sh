#!/usr/bin/env bash
# seconds: 900
# A program recorded behaves as bare, and a hang is a verdict: MPICH.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

programs=$BUILD/tests/mpi
launcher=(mpiexec.mpich -genv LD_PRELOAD "$PWD/$BUILD/tests/preload/yield.so")
. tests/lib/harmless.sh

check "a session: bare and recorded alike" same 2 "$programs/odd" session
expect_text "a session: judged" 0 "1 of 1 operations judged" judged
if command -v mpifort.mpich >/dev/null; then
    printf '%s\n' "use mpi_f08" "call MPI_Init()" "call MPI_Finalize()" "end" >"$SCRATCH/f08.f90"
    mpifort.mpich -o "$SCRATCH/f08" "$SCRATCH/f08.f90"
    expect_text "mpi_f08" 0 "calls MPI through mpi_f08" unrecorded f08
else
    skip "mpi_f08" "there is no mpifort.mpich"
fi
tally
