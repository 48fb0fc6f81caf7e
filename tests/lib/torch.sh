# For the scripts of tests/torch: which Pythons there are, and how their programs are run. TORCH_VERSIONS="2.13":
# with that version of torch alone. The recorder has its compiled part where make built one; ALAR_NATIVE=0: not used.

# shellcheck source=tally.sh
. "$(dirname "${BASH_SOURCE[0]}")/tally.sh"
alar=$PWD/$BUILD/alar
export PYTHONPATH=$PWD/ref/python:$PWD/$BUILD/python PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore OMP_NUM_THREADS=1
export GLOO_SOCKET_IFNAME=lo
TORCH_PINS="torch==2.13.0 numpy==2.4.6"

# python_of VERSION: sets $python; says why, and fails, where that version can't be had.
python_of() {
    case $1 in
        1.13) python=/usr/bin/python3
            "$python" -c 'import torch, numpy' 2>/dev/null || why="python3-torch and python3-numpy are not installed" ;;
        2.13) python=$(ci/venv.sh torch $TORCH_PINS 2>"$SCRATCH/.why") || why=$(cat "$SCRATCH/.why") ;;
    esac
    [ -z "${why:-}" ] || { skip "torch $1" "$why"; unset why; return 1; }
}

# recorded DIR OPTIONS... -- PROGRAM ARGUMENT...: under the recorder, into an empty directory.
recorded() {
    local directory=$1 options=()
    shift
    rm -rf "$directory" "$SCRATCH"/store*
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    timeout -k 2 "${TORCH_SECONDS:-240}" "$python" -m alar.torch -o "$directory" ${options[@]+"${options[@]}"} "$@"
}

# bare PROGRAM ARGUMENT...
bare() {
    rm -rf "$SCRATCH"/store*
    timeout -k 2 "${TORCH_SECONDS:-240}" "$python" "$@"
}

verdict() { "$alar" check "$1"; } # verdict DIR
