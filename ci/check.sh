#!/usr/bin/env bash
# Runs the tests that `make tests` built and counts them: ci/check.sh [--full] [PART | PART/NAME]...
#
# A part is `unit` (the Criterion binary) or a directory of scripts, tests/PART/*.sh. Two lines in a
# script's head are read here: `# seconds: N` (its limit, default 120) and `# only: full` (left to
# `make check-full`). A third, `# cores: 1`, promises that the script keeps one core busy, writes
# where no other does and looks at no clock: those of a part run first, two at a time, the longest
# limit before the others. Nothing stops at the first failure. The last line is "N passed, N failed";
# the exit code is 0 only when nothing failed and everything that was asked for ran at least one test.
set -u
cd "$(dirname "$0")/.." || exit 4

parts=(unit cli example mpi prove gates)
apart=(matrix view fuzz bench torch) # asked for by name, or with a target of their own

export BUILD=${BUILD:-build} LC_ALL=C
# A make started by a test has no part in the job server of the make that started us.
MAKEFLAGS=$(sed -E 's/ -j[0-9]*| --jobserver-[a-z]+=[^ ]*//g' <<<"${MAKEFLAGS:-}")
export MAKEFLAGS
# ... and what a test makes is up to date: other flags would build all of it again.
if grep -q -e ' -Werror ' "$BUILD/flags" 2>/dev/null; then export WERROR=1; fi
results=$BUILD/results
passed=0 failed=0 skipped=0
full=
asked=()
declare -A spent=() # seconds by the clock, by part
for argument in "$@"; do
    if [ "$argument" = --full ]; then full=1; else asked+=("$argument"); fi
done

add() { # add NAME SECONDS PASSED FAILED SKIPPED LOG
    passed=$((passed + $3)) failed=$((failed + $4)) skipped=$((skipped + $5))
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
    { time timeout -k 2 "$seconds" "$@" >"$log" 2>&1 </dev/null || code=$?; } 2>"$log.time"
    read -r took user system < <(tail -n 1 "$log.time")
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

has_line() { sed -n 1,20p "tests/$1.sh" | grep -q "^# $2"; } # has_line PART/NAME TEXT

# Runs the script and leaves its exit code and time in $results/PART-NAME.end.
start() { # start PART/NAME
    local script=tests/$1.sh record=$results/${1//\//-} code=0 seconds
    seconds=$(sed -n '1,20s/^# seconds: //p' "$script")
    rm -f "$record" "$record.end"
    TALLY_RECORD=$PWD/$record bounded "${seconds:-120}" "$record.log" bash "$script" || code=$?
    echo "$code $took $cores" >"$record.end"
}

finish() { # finish PART/NAME: counts what `start` has left
    local script=tests/$1.sh record=$results/${1//\//-} code=1 took=0 cores=0 good=0 bad=0 passed_over=0
    read -r code took cores <"$record.end"
    if [ -s "$record" ]; then read -r good bad passed_over <"$record"; fi
    if [ "$bad" -eq 0 ] && { [ $((good + passed_over)) -eq 0 ] || [ "$code" -ne 0 ]; }; then
        echo "$script: $good tests passed, exit code $code" >>"$record.log"
        bad=1
    fi
    add "$1" "$took" "$good" "$bad" "$passed_over" "$record.log"
}

finish_all() { # what was started, in its order
    local name
    wait
    for name in ${started[@]+"${started[@]}"}; do finish "$name"; done
    started=()
}

run_script() { # run_script PART/NAME: beside one other where it allows that, else alone
    if has_line "$1" 'cores: 1$'; then
        while [ "$(jobs -r | wc -l)" -ge 2 ]; do wait -n; done
        start "$1" &
        started+=("$1")
    else
        finish_all
        start "$1"
        finish "$1"
    fi
}

ordered() { # ordered SCRIPT...: names in the order in which they start
    local script seconds name
    for script in "$@"; do
        [ -e "$script" ] || continue
        name=${script#tests/} name=${name%.sh} seconds=0
        if has_line "$name" 'cores: 1$'; then
            seconds=$(sed -n '1,20s/^# seconds: //p' "$script")
            seconds=${seconds:-120}
        fi
        echo "$seconds $name"
    done | sort -s -k 1,1rn | cut -d ' ' -f 2
}

run_part() {
    local name began=$EPOCHREALTIME
    if [ "$1" = unit ]; then
        run_unit
    fi
    for name in $(ordered tests/"$1"/*.sh); do
        if [ -n "$full" ] || ! has_line "$name" 'only: full'; then
            run_script "$name"
        fi
    done
    finish_all
    spent[$1]=$(awk "BEGIN { print $EPOCHREALTIME - $began }")
}

mkdir -p "$results"
took=0 cores=0 started=()
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
        if [ -f "tests/$name.sh" ]; then run_script "$name" && finish_all; else run_part "$name"; fi
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
