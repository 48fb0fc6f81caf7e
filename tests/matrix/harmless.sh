#!/usr/bin/env bash
# seconds: 240
# A program recorded behaves as bare, and a hang is a verdict: Open MPI.
. "$(dirname "$0")/../lib/tally.sh"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
programs=$BUILD/tests/openmpi
launcher=(mpiexec.openmpi)
. tests/lib/harmless.sh
tally
