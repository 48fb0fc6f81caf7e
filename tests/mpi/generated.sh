#!/usr/bin/env bash
# Small programs, right and wrong in pairs, as a recorder and a judge meet them: MPICH. The default is
# 20 of them; 100 with VARIANTS=5. spec: O-05, H-34
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

compiler=mpicc.mpich
launcher=(mpiexec.mpich -genv LD_PRELOAD "$PWD/$BUILD/tests/preload/yield.so")
variants=${VARIANTS:-1}
. tests/lib/generated.sh
tally
