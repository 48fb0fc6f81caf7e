#!/bin/sh
# Installs the Debian packages that a job needs and this machine lacks:
#
#   ci/install-deps.sh [run|default|matrix|applications|view|bench|network|proofs]
#
# Silent when nothing is missing. Otherwise it installs as root or through sudo; without either it
# prints the command to type and leaves with 3.
set -eu

build="gcc libc6-dev make pkg-config mpich libmpich-dev libyajl-dev libfiu-dev"
check="libcriterion-dev fiu-utils libmpfr-dev spin valgrind gcovr clang-14 libclang-rt-14-dev
       clang-format jq python3 python3-jsonschema python3-yaml git
       lintian dpkg-dev locales man-db"

profile=${1:-default}
case $profile in
    run) wanted=$build ;;
    default) wanted="$build $check" ;;
    matrix) wanted="$build $check openmpi-bin libopenmpi-dev python3-torch python3-numpy
        python3-venv" ;;
    applications) wanted="$build jq openmpi-bin libopenmpi-dev hpcc scalapack-mpi-test lammps" ;;
    view) wanted="$build $check chromium fonts-dejavu-core" ;;
    bench) wanted="$build $check gnuplot-nox time" ;;
    network) wanted="$build openmpi-bin libopenmpi-dev iproute2 util-linux" ;;
    proofs) wanted="coq libcoq-flocq" ;;
    *)
        echo "install-deps.sh: expected run, default, matrix, applications, view, bench, network or proofs, found '$profile'" >&2
        exit 3
        ;;
esac

missing=
for package in $wanted; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

install="apt-get install -y -q --no-install-recommends$missing"
if [ "$(id -u)" -eq 0 ]; then
    sudo=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo="sudo -n"
else
    echo "install-deps.sh: packages are missing and this user can't install them. As root, type:" >&2
    echo "  apt-get update && $install" >&2
    exit 3
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
{
    $sudo apt-get update -q
    $sudo env DEBIAN_FRONTEND=noninteractive $install
} >&2
