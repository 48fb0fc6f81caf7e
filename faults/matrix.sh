#!/usr/bin/env bash
# Every plan on every back end, schedule and encoding that applies: faults/matrix.sh [--slice] [PLAN]...
#
# A plan's first line says what should happen:
#
#   # expect exit=CODE log=LOG check=VERDICT: sentence
#     log    same          the log's bits are those of the fault-free synchronous run of the same encoding and placement
#            but:N,M       the same but for lines N and M, counted from 0
#            prefix        the lines that are there are the same, but for the last one
#            any           not compared
#     check  PASS, UNKNOWN, FAIL:ANOMALY, excused (FAIL, and an injected fault excuses it), any
#
# and lines behind it may say: `# run: OPTIONS`, `# launcher: OPTIONS` of mpiexec, `# schedules: NAME...`,
# `# encodings: NAME...`, `# text: TEXT` that the output holds, `# lines: N TEXT` that N lines of it hold. A cell in which no fault
# fired is unexpected whatever else it shows. Exit code 0 only when every cell is as expected.
set -u
cd "$(dirname "$0")/.." || exit 4
build=${BUILD:-build}
scratch=$(mktemp -d) || exit 4
trap 'rm -rf "$scratch"' EXIT
export UCX_LOG_LEVEL=error
# MPICH's blocking calls spin, which is slow with more ranks than cores and not what is asked here.
yield="-genv LD_PRELOAD $PWD/$build/tests/preload/yield.so"

base=(--steps 0:35 --log-interval 5 --deadline-ms 8000 --seed 7)
slice=
if [ "${1:-}" = --slice ]; then slice=1; shift; fi
if [ $# -eq 0 ]; then set -- faults/plans/*.plan; fi

header() { sed -n "2,9s/^# $1: *//p" "$plan"; }
expected() { sed -n "1s/^# expect.* $1=\([^ ]*\).*/\1/p" "$plan" | sed 's/:$//'; }

# bits LOG: one `step bits` a line.
bits() { jq -r '"\(.step) \(.bits)"' "$1" 2>/dev/null; }

# The fault-free synchronous log of this back end, encoding and placement, made once.
reference() {
    local placement=${schedule#*-} file
    placement=${placement%-log}
    file="$scratch/ref-$backend-$placement-$encoding-$(cksum <<<"${run[*]}" | cut -d' ' -f1)"
    if [ ! -e "$file" ]; then
        timeout -k 2 60 "${launch[@]}" "$build/alar" run --backend "$backend" "${base[@]}" "${run[@]}" --schedule "sync-$placement" \
            --encoding "$encoding" --compare none --quiet --log-json "$file.json" >/dev/null 2>&1
        bits "$file.json" >"$file"
    fi
    echo "$file"
}

# log_is_as_expected: compares $scratch/log with the reference.
log_is_as_expected() {
    local want=$1 mine=$scratch/bits theirs count lines
    if [ "$want" = any ]; then return 0; fi
    theirs=$(reference)
    bits "$scratch/log.json" >"$mine"
    count=$(wc -l <"$mine")
    case $want in
    same) [ "$count" -gt 0 ] && cmp -s "$mine" "$theirs" ;;
    prefix) [ "$count" -gt 0 ] && cmp -s <(head -n $((count - 1)) "$mine") <(head -n $((count - 1)) "$theirs") ;;
    but:*)
        lines=$(awk -v RS=, '{ printf "%dd;", $1 + 1 }' <<<"${want#but:}")
        [ "$count" -eq "$(wc -l <"$theirs")" ] && cmp -s <(sed "$lines" "$mine") <(sed "$lines" "$theirs") && ! cmp -s "$mine" "$theirs"
        ;;
    esac
}

# Whether `alar check` passes what is right under an encoding; where it does not, no cell asks it.
judges() {
    if [ ! -e "$scratch/judges-$1" ]; then
        "$build/alar" run "${base[@]}" --encoding "$1" --compare none --quiet --history "$scratch/clean-$1" >/dev/null
        "$build/alar" check --quiet "$scratch/clean-$1" | cut -f 2 >"$scratch/judges-$1"
    fi
    grep -q PASS "$scratch/judges-$1"
}

verdict_is_as_expected() {
    local want=$1 line
    if [ "$want" = any ] || ! judges "$encoding"; then return 0; fi
    line=$("$build/alar" check --quiet "$scratch/history" 2>&1 | head -n 1)
    echo "$line" >"$scratch/verdict"
    case $want in
    excused) grep -q $'\tFAIL\t.*excused by' <<<"$line" ;;
    FAIL:*) grep -q $'\tFAIL\t'"${want#FAIL:}" <<<"$line" ;;
    *) grep -q $'\t'"$want"$'\t' <<<"$line" ;;
    esac
}

# What is wrong with the cell that just ran; empty when nothing is.
cell_problem() {
    local code=$1 text lines
    [ "$code" -eq "$(expected exit)" ] || echo "exit code $code, expected $(expected exit)"
    text=$(header text) lines=$(header lines)
    [ -z "$text" ] || grep -qF -e "$text" "$scratch/output" || echo "no text '$text'"
    if [ -n "$lines" ] && [ "$(grep -cF -e "${lines#* }" "$scratch/output")" -ne "${lines%% *}" ]; then
        echo "expected ${lines%% *} lines with '${lines#* }'"
    fi
    log_is_as_expected "$(expected log)" || echo "log: not $(expected log)"
    verdict_is_as_expected "$(expected check)" || echo "alar check: $(head -c 300 "$scratch/verdict")"
    # A fault whose record can't be written shows in the summary, or in the complaint that names it.
    cat "$scratch"/history/*.jsonl 2>/dev/null | grep -q '"ev":"fault"' ||
        grep -qE 'faults +[1-9][0-9]* fired|memory' "$scratch/output" || echo "no fault fired"
}

cell() { # runs one cell: ".", or "X" and what was wrong in $scratch/problems
    local options=() code=0 problem
    rm -rf "$scratch"/{history,log.json,output}
    case $schedule in
    *-log) options=(--schedule "${schedule%-log}" --wait log) ;;
    *) options=(--schedule "$schedule") ;;
    esac
    timeout -k 2 60 "${launch[@]}" "$build/alar" run --backend "$backend" "${base[@]}" "${run[@]}" "${options[@]}" \
        --encoding "$encoding" --faults "$plan" --quiet --history "$scratch/history" --log-json "$scratch/log.json" \
        >"$scratch/output" 2>&1 </dev/null || code=$?
    problem=$(cell_problem "$code")
    cells=$((cells + 1))
    if [ -z "$problem" ]; then
        printf ' %-7s' ok
        return
    fi
    printf ' %-7s' WRONG
    wrong=$((wrong + 1))
    { echo "$(basename "$plan" .plan) on $backend, $schedule, $encoding:"
        sed 's/^/    /' <<<"$problem"
        head -c 1500 "$scratch/output" | sed 's/^/    | /'; } >>"$scratch/problems"
}

applies() {
    local only
    only=$(header schedules)
    [ -z "$only" ] || [[ " $only " == *" $schedule "* ]] || return 1
    only=$(header encodings)
    [ -z "$only" ] || [[ " $only " == *" $encoding "* ]]
}

# BACKEND SCHEDULE ENCODING. Four MPI ranks share few cores, so there each schedule runs with one encoding.
columns=(
    "sim async-microbatch pair32" "sim async-microbatch exact"
    "sim async-microbatch-log pair64" "sim async-microbatch-log exact"
    "sim async-step pair32" "sim async-step exact"
    "sim async-window pair64" "sim async-window exact"
    "sim sync-microbatch pair32" "sim sync-microbatch pair64"
    "mpi async-microbatch pair32" "mpi async-microbatch-log exact" "mpi async-window pair64"
)
if [ -n "$slice" ]; then columns=("sim async-microbatch-log exact" "mpi async-microbatch pair32"); fi

cells=0 wrong=0
printf '%-24s' plan
for i in "${!columns[@]}"; do printf ' %-7s' "$((i + 1))"; done
echo
for plan in "$@"; do
    printf '%-24s' "$(basename "$plan" .plan)"
    read -ra run <<<"$(header run)"
    for column in "${columns[@]}"; do
        read -r backend schedule encoding <<<"$column"
        launch=()
        if [ "$backend" = mpi ]; then read -ra launch <<<"mpiexec.mpich $(header launcher) $yield -n 4"; fi
        if applies; then cell; else printf ' %-7s' -; fi
    done
    echo
done
for i in "${!columns[@]}"; do echo "$((i + 1)): ${columns[i]}"; done
for encoding in pair32 pair64 exact; do
    judges "$encoding" || echo "$encoding: a fault-free history does not pass alar check, so its cells were judged by code, log and text"
done
if [ -e "$scratch/problems" ]; then cat "$scratch/problems"; fi
echo "$# plans, $cells cells, $wrong unexpected, $SECONDS s"
[ "$wrong" -eq 0 ] && [ "$cells" -gt 0 ]
