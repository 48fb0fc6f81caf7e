#!/bin/sh
# An MPI library that lies outside of the system's paths, under the names that Debian gives to its own:
#
#   ci/mpi.sh DIR BIN      writes BIN/mpicc.FAMILY and BIN/mpiexec.FAMILY; prints the family
#
# DIR holds bin/mpicc and bin/mpiexec. The family, mpich or openmpi, is what handles look like: Intel MPI
# is of MPICH's. With BIN first in PATH everything here runs on that library. Leaves with 3 when there is none.
set -eu

dir=$1 bin=$2
if [ ! -x "$dir/bin/mpicc" ] || [ ! -x "$dir/bin/mpiexec" ]; then
    echo "mpi.sh: expected bin/mpicc and bin/mpiexec in $dir, found none" >&2
    exit 3
fi
dir=$(cd "$dir" && pwd)
family=mpich
[ ! -e "$dir/bin/ompi_info" ] || family=openmpi
mkdir -p "$bin"
for path in bin/mpicc bin/mpiexec; do
    tool=${path#bin/}
    cat >"$bin/.$tool.$$" <<END
#!/bin/sh
export I_MPI_ROOT="$dir"
exec "$dir/$path" "\$@"
END
    chmod +x "$bin/.$tool.$$"
    mv "$bin/.$tool.$$" "$bin/$tool.$family"
done
echo "$family"
