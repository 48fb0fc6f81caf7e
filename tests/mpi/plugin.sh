#!/usr/bin/env bash
# Where the loader looks for the MPI back end, and what it says when it can't have it.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

TALLY_SECONDS=30
mkdir -p "$SCRATCH/bin" "$SCRATCH/lib/alar"
cp "$BUILD/tests/mpi/table" "$SCRATCH/bin"
table=$SCRATCH/bin/table
installed=$SCRATCH/lib/alar/alar-mpich.so

expect_text "absent: where it was expected" 3 "$SCRATCH/bin/alar-mpich.so" "$table" mpi
expect_text "absent: and how to build it" 3 "make all" "$table" mpi
expect_text "ALAR_MPI chooses the library" 3 "alar-openmpi.so" env ALAR_MPI=openmpi "$table" mpi
expect_text "so does Open MPI's launcher" 3 "alar-openmpi.so" \
    env OMPI_COMM_WORLD_SIZE=1 "$table" mpi
expect_text "ALAR_MPI before the launcher" 3 "alar-mpich.so" \
    env OMPI_COMM_WORLD_SIZE=1 ALAR_MPI=mpich "$table" mpi
expect_text "another library" 3 "expected mpich or openmpi, found 'lam'" \
    env ALAR_MPI=lam "$table" mpi
expect_text "neither name nor path" 3 "found 'mip'" "$table" mip

echo "not a library" >"$installed"
expect_text "a file that is no library" 3 "../lib/alar/alar-mpich.so: file too short" "$table" mpi
cp "$BUILD/alar-mpich.so" "$installed"
expect_text "installed: ../lib/alar" 0 "ok n=1" "$table" mpi
echo "not a library" >"$SCRATCH/bin/alar-mpich.so"
expect_text "beside the executable comes first" 3 "$SCRATCH/bin/alar-mpich.so" "$table" mpi

expect_text "a path is taken as it is" 0 "ok n=1" "$table" "$installed"
expect_text "a path to nothing" 3 "./nothing.so" "$table" ./nothing.so
expect_text "a library that is no back end" 3 "expected the symbol alar_backend" \
    "$table" "$BUILD/libalar.so"

# A back end whose own library is not installed.
cc=${CC:-gcc}
echo 'int lost(void) { return 1; }' | "$cc" -shared -fPIC -x c - -o "$SCRATCH/liblost.so"
echo 'int lost(void); int used(void) { return lost(); }' |
    "$cc" -shared -fPIC -x c - -L"$SCRATCH" -Wl,--no-as-needed -llost -o "$installed"
rm "$SCRATCH/liblost.so" "$SCRATCH/bin/alar-mpich.so"
expect_text "its MPI library is missing: which" 3 "liblost.so: cannot open" "$table" mpi
expect_text "its MPI library is missing: what to type" 3 "apt-get install mpich" "$table" mpi

tally
