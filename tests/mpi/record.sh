#!/usr/bin/env bash
# `alar record` on MPICH.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

programs=$BUILD/tests/mpi
launcher=(mpiexec.mpich -genv LD_PRELOAD "$PWD/$BUILD/tests/preload/yield.so")
other=openmpi
. tests/lib/record.sh

expect_text "no command" 3 "expected -- and the command to record" "$alar" record -o "$SCRATCH/x"
expect_text "no directory" 3 "expected -o DIR" "$alar" record -- true
expect_text "no such program" 3 "expected a program, found none" \
    "$alar" record -o "$SCRATCH/x" -- /nowhere/prog
expect_text "a command that tells nothing of MPI" 3 "say which with --mpi" \
    "$alar" record -o "$SCRATCH/x" -- true
expect_text "a program without a launcher is one rank" 0 "1 all-reduces of 1 ranks" \
    "$alar" record -o "$SCRATCH/one" -- "$programs/stray" plain

"${CC:-gcc}" -shared -fPIC -o "$SCRATCH/old.so" -x c - \
    <<<'int PMPI_Get_version(int *v, int *s); int PMPI_Get_version(int *v, int *s) { *v = 2; *s = 2; return 0; }'
launcher=(mpiexec.mpich -genv LD_PRELOAD "$SCRATCH/old.so")
expect_text "a library that is too old" 3 \
    "expected MPI 3.0 or later, which has MPI_Iallreduce, found MPI 2.2" \
    recorded 2 "$programs/stray" plain
tally
