#!/usr/bin/env bash
# Runs the tests that `make tests` built and counts them: ci/check.sh [--full] [PART | PART/NAME]...
#
# A part is `unit` (the Criterion binary) or a directory of scripts, tests/PART/*.sh. Two lines in a
# script's head are read here: `# seconds: N` (its limit, default 600) and `# only: full` (left to
# `make check-full`). All that was asked for runs in one pool, one more at a time than there are cores,
# for many scripts mostly wait; the longest limit starts first. So a script writes to $SCRATCH only, and
# holds beside others. Nothing stops at the first failure. The last line is "N passed, N failed"; the exit
# code is 0 only when nothing failed and everything that was asked for ran at least one test.
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
declare -A spent=() # seconds of all cores, by part
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
unit() { # unit RECORD
    local code=0 good bad
    "$BUILD/unit" -j2 >"$1.said" 2>&1 || code=$?
    cat "$1.said"
    read -r good bad < <(sed -n \
        's/.*Synthesis: Tested: \([0-9]*\) | Passing: \([0-9]*\) |.*/\2 \1/p' "$1.said") || true
    good=${good:-0}
    echo "$good $((${bad:-0} - good)) 0" >"$1"
    return "$code"
}

has_line() { [ -e "tests/$1.sh" ] && sed -n 1,20p "tests/$1.sh" | grep -q "^# $2"; } # has_line PART/NAME TEXT

limit() { # limit PART/NAME: in seconds
    local seconds=900
    [ "$1" = unit ] || seconds=$(sed -n '1,20s/^# seconds: //p' "tests/$1.sh")
    echo "${seconds:-600}"
}

# Runs it and leaves its count, its exit code and its time in $results/NAME and $results/NAME.end.
start() { # start unit | PART/NAME
    local record=$results/${1//\//-} code=0
    local run=(bash "tests/$1.sh")
    [ "$1" != unit ] || run=(bash -c "$(declare -f unit); unit \"\$1\"" unit "$record")
    TALLY_RECORD=$PWD/$record bounded "$(limit "$1")" "$record.log" "${run[@]}" || code=$?
    echo "$code $took $cores" >"$record.part" && mv "$record.part" "$record.end"
}

finish() { # finish NAME: counts what `start` has left
    local record=$results/${1//\//-} code=1 good=0 bad=0 passed_over=0
    read -r code took cores <"$record.end"
    if [ -s "$record" ]; then read -r good bad passed_over <"$record"; fi
    if [ "$bad" -eq 0 ] && { [ $((good + passed_over)) -eq 0 ] || [ "$code" -ne 0 ]; }; then
        echo "$1: $good tests passed, exit code $code" >>"$record.log"
        bad=1
    fi
    spent[${1%%/*}]=$(awk "BEGIN { print ${spent[${1%%/*}]:-0} + $cores }")
    add "$1" "$took" "$good" "$bad" "$passed_over" "$record.log"
}

finish_some() { # counts those that have come to their end
    local name left=()
    for name in ${started[@]+"${started[@]}"}; do
        if [ -e "$results/${name//\//-}.end" ]; then finish "$name"; else left+=("$name"); fi
    done
    started=(${left[@]+"${left[@]}"})
}

await() { # until one more has come to its end; what was ended from outside has left nothing
    local name code=0
    wait -n || code=$?
    if [ "$code" -eq 127 ]; then
        for name in "${started[@]}"; do
            [ -e "$results/${name//\//-}.end" ] || echo 1 0 0 >"$results/${name//\//-}.end"
        done
    fi
    finish_some
}

run_all() { # run_all NAME...: in the order given, as many at a time as the pool is wide
    local name
    for name in "$@"; do rm -f "$results/${name//\//-}"{,.end}; done
    for name in "$@"; do
        while [ ${#started[@]} -gt "$(nproc)" ]; do await; done
        start "$name" &
        started+=("$name")
    done
    while [ ${#started[@]} -gt 0 ]; do await; done
}

scripts() { # scripts PART: what it runs, `unit` among them
    local script name
    [ "$1" != unit ] || echo unit
    for script in tests/"$1"/*.sh; do
        name=${script#tests/} name=${name%.sh}
        [ -e "$script" ] || continue
        if [ -n "$full" ] || ! has_line "$name" 'only: full'; then echo "$name"; fi
    done
}

longest_first() { while read -r name; do echo "$(limit "$name") $name"; done | sort -s -k 1,1rn | cut -d ' ' -f 2; }

mkdir -p "$results"
took=0 cores=0 started=() lost=()
names=()
if [ ${#asked[@]} -eq 0 ]; then
    mapfile -t names < <(for part in "${parts[@]}"; do scripts "$part"; done)
    # A script in a directory that no part names would never run.
    for script in tests/*/*.sh; do
        part=$(basename "$(dirname "$script")")
        if [[ " ${parts[*]} ${apart[*]} lib " != *" $part "* ]]; then
            lost+=("$script: tests/$part is not among the parts of ci/check.sh")
        fi
    done
fi
for name in ${asked[@]+"${asked[@]}"}; do
    if [ -f "tests/$name.sh" ]; then found=("$name"); else mapfile -t found < <(scripts "$name"); fi
    [ ${#found[@]} -gt 0 ] || lost+=("$name: nothing ran")
    names+=(${found[@]+"${found[@]}"})
done
mapfile -t names < <(printf '%s\n' ${names[@]+"${names[@]}"} | sed '/^$/d' | longest_first)
run_all ${names[@]+"${names[@]}"}
for line in ${lost[@]+"${lost[@]}"}; do
    echo "$line" >"$results/parts.log"
    add parts 0 0 1 0 "$results/parts.log"
done

for part in "${!spent[@]}"; do
    printf '%-24s %59.1f s\n' "all of $part, cores" "${spent[$part]}"
done | sort -rn -k 5
echo "in all $SECONDS s"
summary="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || summary="$summary, $skipped skipped"
echo "$summary"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
