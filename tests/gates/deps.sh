#!/usr/bin/env bash
# The installer of dependencies, with stand-ins for dpkg-query, apt-get, id and sudo.
. "$(dirname "$0")/../lib/tally.sh"

bin=$SCRATCH/bin
mkdir "$bin"
stand_in() { # stand_in NAME LINE: a program of that name, first in PATH
    printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}
deps() {
    PATH=$bin:$PATH ci/install-deps.sh "$@" || return
    [ ! -e "$SCRATCH/apt" ] || cat "$SCRATCH/apt"
}

stand_in dpkg-query 'echo installed'
stand_in apt-get "echo apt-get \"\$@\" >>$SCRATCH/apt"
stand_in sudo 'exit 1'
stand_in id 'echo 1000'
expect_code "nothing missing: nothing to do, also without rights" 0 deps
expect_code "nothing missing: apt-get is not called" 1 test -e "$SCRATCH/apt"
expect_text "an unknown profile" 3 "found 'nonsense'" deps nonsense

stand_in dpkg-query 'case $* in *mpich|*spin) exit 1 ;; *valgrind) echo config-files ;; *) echo installed ;; esac'
expect_text "without rights: prints the command" 3 \
    "apt-get update && apt-get install -y -q --no-install-recommends mpich spin valgrind" deps
expect_code "without rights: nothing is installed" 1 test -e "$SCRATCH/apt"

stand_in id 'echo 0'
expect_text "as root: installs what is missing" 0 \
    "apt-get install -y -q --no-install-recommends mpich spin valgrind" deps
expect_text "as root: updates first, once" 0 "1" grep -c "apt-get update" "$SCRATCH/apt"
rm "$SCRATCH/apt"
expect_text "the run profile asks for less" 0 "--no-install-recommends mpich" deps run
expect_code "the run profile asks for no checker" 1 grep -q spin "$SCRATCH/apt"

stand_in id 'echo 1000'
stand_in sudo 'shift; [ "$1" = true ] || { echo sudo >>'"$SCRATCH"'/apt; exec "$@"; }'
rm "$SCRATCH/apt"
expect_text "through sudo" 0 "sudo" deps

stand_in apt-get 'exit 100'
expect_code "a failed installation is a failure" 100 deps

tally
