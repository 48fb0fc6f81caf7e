#!/usr/bin/env bash
# A virtual environment with pinned Python packages, made once:
#
#   ci/venv.sh NAME REQUIREMENT...        prints the path of its python
#   ci/venv.sh torch torch==2.13.0 numpy==2.2.6
#
# It goes to $BUILD/venv/NAME, or to $ALAR_VENVS/NAME where several trees share theirs. The first
# requirement is installed by itself and binds the others, so that what depends on torch can't bring another
# one. Leaves with 3, and a line that says why, where the packages can't be had: tests then skip.
set -u
cd "$(dirname "$0")/.." || exit 4

if [ $# -lt 2 ]; then
    echo "venv.sh: expected NAME REQUIREMENT..., found '$*'" >&2
    exit 3
fi
name=$1 place=${ALAR_VENVS:-${BUILD:-build}/venv}/$1
shift
mkdir -p "$(dirname "$place")" || exit 4
place=$(cd "$(dirname "$place")" && pwd)/$name

exec 9>"$place.lock"
flock 9
if [ "$(cat "$place/made-of" 2>/dev/null)" != "$*" ]; then
    log=$place.log
    rm -rf "$place"
    {
        /usr/bin/python3 -m venv "$place" &&
            printf '%s\n' "$1" >"$place/bound" &&
            "$place/bin/python" -m pip install -q --disable-pip-version-check "$1" &&
            { [ $# -eq 1 ] || "$place/bin/python" -m pip install -q --disable-pip-version-check \
                -c "$place/bound" "$@"; }
    } >"$log" 2>&1 </dev/null || {
        echo "venv.sh: $* can't be installed: $(grep -i error "$log" | tail -n 1)" >&2
        exit 3
    }
    printf '%s\n' "$*" >"$place/made-of"
fi
echo "$place/bin/python"
