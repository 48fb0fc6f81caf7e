#!/usr/bin/env bash
# ci/wheel.sh DIR: builds the wheel of the Python package alar into DIR and prints its path. The program and
# the library in it need glibc and nothing else; the wheel is named for this kind of Linux.
set -u
cd "$(dirname "$0")/.." || exit 4
directory=${1:?wheel.sh: expected a directory}
mkdir -p "$directory" || exit 3
python=$(ci/venv.sh wheel setuptools==80.9.0 wheel==0.45.1) || exit 3
rm -f "$directory"/alar-*.whl
"$python" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w "$directory" ./ref/python || exit 1
ls "$directory"/alar-*.whl
