#!/usr/bin/env bash
# Runs the tests that `make tests` built and counts them: ci/check.sh [--full] [PART | PART/NAME]...
#
# A part is `unit` (the Criterion binary) or a directory of scripts, tests/PART/*.sh. Two lines in a
# script's head are read here: `# seconds: N` (its limit, default 120) and `# only: full` (left to
# `make check-full`). Nothing stops at the first failure. The last line is "N passed, N failed"; the
# exit code is 0 only when nothing failed and everything that was asked for ran at least one test.
set -u
cd "$(dirname "$0")/.." || exit 4

parts=(unit cli example mpi gates)
apart=(matrix fuzz bench) # asked for by name, or with a target of their own

export BUILD=${BUILD:-build} LC_ALL=C
# A make started by a test has no part in the job server of the make that started us.
MAKEFLAGS=$(sed -E 's/ -j[0-9]*| --jobserver-[a-z]+=[^ ]*//g' <<<"${MAKEFLAGS:-}")
export MAKEFLAGS
results=$BUILD/results
passed=0 failed=0 skipped=0
full=
asked=()
declare -A spent=() # seconds by part
for argument in "$@"; do
    if [ "$argument" = --full ]; then full=1; else asked+=("$argument"); fi
done

add() { # add NAME SECONDS PASSED FAILED SKIPPED LOG
    passed=$((passed + $3)) failed=$((failed + $4)) skipped=$((skipped + $5))
    local part=${1%%/*}
    spent[$part]=$(awk "BEGIN { print ${spent[$part]:-0} + $2 }")
    printf '%-24s %5d passed %4d failed %4d skipped %7.1f s, cores %7.1f s\n' "$1" "$3" "$4" "$5" "$2" "$cores"
    if [ "$4" -gt 0 ]; then
        grep -v '^ok ' "$6" | tail -n 200 | sed 's/^/    /'
    elif [ "$5" -gt 0 ]; then
        grep '^skip ' "$6" | sed 's/^/    /'
    fi
}

# bounded SECONDS LOG COMMAND...: its exit code; the time it took in $took, all cores' in $cores.
bounded() {
    local seconds=$1 log=$2 code=0 user system TIMEFORMAT='%R %U %S'
    shift 2
    { time timeout -k 2 "$seconds" "$@" >"$log" 2>&1 </dev/null || code=$?; } 2>"$results/.time"
    read -r took user system < <(tail -n 1 "$results/.time")
    cores=$(awk "BEGIN { print $user + $system }")
    [ "$code" -ne 124 ] && [ "$code" -ne 137 ] || echo "out of time after $seconds s" >>"$log"
    return "$code"
}

# Criterion exits 0 when a filter matches nothing, so its closing line is read and not its exit code
# alone. A crash counts among its failures.
run_unit() {
    local log=$results/unit.log code=0 good bad
    bounded 300 "$log" "$BUILD/unit" -j2 || code=$?
    read -r good bad < <(sed -n \
        's/.*Synthesis: Tested: \([0-9]*\) | Passing: \([0-9]*\) |.*/\2 \1/p' "$log") || true
    good=${good:-0} bad=$((${bad:-0} - ${good:-0}))
    if [ "$bad" -eq 0 ] && { [ "$good" -eq 0 ] || [ "$code" -ne 0 ]; }; then
        echo "$BUILD/unit: $good tests passed, exit code $code" >>"$log"
        bad=1
    fi
    add unit "$took" "$good" "$bad" 0 "$log"
}

run_script() { # run_script PART/NAME
    local script=tests/$1.sh record=$results/${1//\//-} code=0 seconds good=0 bad=0 passed_over=0
    seconds=$(sed -n '1,20s/^# seconds: //p' "$script")
    rm -f "$record"
    TALLY_RECORD=$PWD/$record bounded "${seconds:-120}" "$record.log" bash "$script" || code=$?
    if [ -s "$record" ]; then read -r good bad passed_over <"$record"; fi
    if [ "$bad" -eq 0 ] && { [ $((good + passed_over)) -eq 0 ] || [ "$code" -ne 0 ]; }; then
        echo "$script: $good tests passed, exit code $code" >>"$record.log"
        bad=1
    fi
    add "$1" "$took" "$good" "$bad" "$passed_over" "$record.log"
}

run_part() {
    local script name
    if [ "$1" = unit ]; then
        run_unit
        return
    fi
    for script in tests/"$1"/*.sh; do
        [ -e "$script" ] || continue
        name=${script#tests/}
        if [ -n "$full" ] || ! sed -n 1,20p "$script" | grep -q '^# only: full'; then
            run_script "${name%.sh}"
        fi
    done
}

mkdir -p "$results"
took=0 cores=0
if [ ${#asked[@]} -eq 0 ]; then
    for part in "${parts[@]}"; do run_part "$part"; done
    # A script in a directory that no part names would never run.
    for script in tests/*/*.sh; do
        part=$(basename "$(dirname "$script")")
        if [[ " ${parts[*]} ${apart[*]} lib " != *" $part "* ]]; then
            echo "$script: tests/$part is not among the parts of ci/check.sh" >"$results/parts.log"
            add "$part" 0 0 1 0 "$results/parts.log"
        fi
    done
else
    for name in "${asked[@]}"; do
        before=$((passed + failed + skipped))
        if [ -f "tests/$name.sh" ]; then run_script "$name"; else run_part "$name"; fi
        if [ $((passed + failed + skipped)) -eq "$before" ]; then
            echo "$name: nothing ran" >"$results/parts.log"
            add "$name" 0 0 1 0 "$results/parts.log"
        fi
    done
fi

for part in "${!spent[@]}"; do
    printf '%-24s %52.1f s\n' "all of $part" "${spent[$part]}"
done | sort -rn -k 4
echo "in all $SECONDS s"
summary="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || summary="$summary, $skipped skipped"
echo "$summary"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
