#!/usr/bin/env bash
# Throughput and peak memory of `alar check` by length of history, beside jq on the same bytes:
#
#   tests/bench/oracle.sh [EVENTS]...      default: 10000 100000 1000000
#
# jq once parses only (`jq empty`) and once writes what it read (`jq -c .`). Best of 3 runs each, in
# seconds of processor time, so that other work on the machine counts less.
set -eu
cd "$(dirname "$0")/../.."

alar=${BUILD:-build}/alar
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ $# -gt 0 ] || set -- 10000 100000 1000000

# best COMMAND...: seconds of the fastest of 3 runs, and the most kilobytes of any, as "S KB".
best() {
    local run
    for run in 1 2 3; do
        LC_ALL=C bash -c 'TIMEFORMAT=%U; time "$@" >/dev/null' _ "$@" 2>"$scratch/time" || true
        tail -n 1 "$scratch/time"
    done | sort -n | head -n 1
}
peak() { # kilobytes, from the kernel's own count
    "$@" >/dev/null 2>&1 &
    local child=$! most=0 now
    while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$child/status" 2>/dev/null) && [ -n "$now" ]; do
        most=$now
    done
    wait "$child" || true
    echo "$most"
}

printf '%10s %8s %10s %10s %10s %12s %8s %7s %7s\n' events MB 'alar MB/s' 'jq parse' 'jq -c .' 'operations/s' \
    'peak KB' 'x parse' 'x -c .'
for events in "$@"; do
    directory=$scratch/$events
    tests/bench/history.sh "$events" "$directory"
    bytes=$(cat "$directory"/*.jsonl | wc -c)
    "$alar" check -q "$directory" >"$scratch/verdict"
    grep -q '	PASS	' "$scratch/verdict"
    operations=$(sed -n 's/.*PASS.\([0-9]*\) of.*/\1/p' "$scratch/verdict")
    ours=$(best "$alar" check -q "$directory")
    files=("$directory"/rank{0,1,2,3}.jsonl)
    parse=$(best jq empty "${files[@]}")
    copy=$(best jq -c . "${files[@]}")
    memory=$(peak "$alar" check -q "$directory")
    awk -v events="$events" -v bytes="$bytes" -v ours="$ours" -v parse="$parse" -v copy="$copy" \
        -v operations="$operations" -v memory="$memory" 'BEGIN {
            printf "%10d %8.1f %10.1f %10.1f %10.1f %12.0f %8d %7.1f %7.1f\n", events, bytes / 1e6,
                bytes / ours / 1e6, bytes / parse / 1e6, bytes / copy / 1e6, operations / ours, memory,
                parse / ours, copy / ours
        }'
    rm -r "$directory"
done
