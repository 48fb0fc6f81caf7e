#!/usr/bin/env bash
# seconds: 240
# A program recorded behaves as bare, and a hang is a verdict: Open MPI.
. "$(dirname "$0")/../lib/tally.sh"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
programs=$BUILD/tests/openmpi
launcher=(mpiexec.openmpi)
. tests/lib/harmless.sh
if command -v mpifort.openmpi >/dev/null; then
    printf '%s\n' "use mpi" "integer e" "call MPI_Init(e)" "call MPI_Finalize(e)" "end" >"$SCRATCH/old.f90"
    mpifort.openmpi -o "$SCRATCH/old" "$SCRATCH/old.f90"
    expect_text "Fortran" 0 "calls MPI from Fortran, which with Open MPI passes by" unrecorded old
else
    skip "Fortran" "there is no mpifort.openmpi"
fi
tally
