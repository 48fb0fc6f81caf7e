# Counts for script tests, to be sourced by a bash script tests/PART/NAME.sh:
#
#   . "$(dirname "$0")/../lib/tally.sh"
#   check       "claim"             COMMAND...   COMMAND exits 0
#   expect_code "claim" CODE        COMMAND...   COMMAND exits with CODE
#   expect_text "claim" CODE "text" COMMAND...   ... and its output holds the text, letter by letter
#   skip        "claim" "reason"                 said aloud, never counted as passed
#   tally                                        the last line: count, record, exit
#
# The script then runs at the top of the tree, with $BUILD (where things were built) and $SCRATCH (an
# empty directory, removed at the end). Programs are bounded by $TALLY_SECONDS (180); a shell function
# is bounded by the script's own limit only. A script that never reaches `tally` leaves no record,
# which ci/check.sh counts as a failure. With TALLY_STOP the first failure ends the script. The output of the last command stays in $SCRATCH/.output.

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 4
export BUILD=${BUILD:-build}
SCRATCH=$(mktemp -d) || exit 4
trap 'rm -rf "$SCRATCH"' EXIT

# Where the count goes; not passed on, so that a script run by this one keeps its own count.
tally_record=${TALLY_RECORD:-}
unset TALLY_RECORD
tally_passed=0 tally_failed=0 tally_skipped=0

tally_pass() {
    tally_passed=$((tally_passed + 1))
    echo "ok   $1"
}

tally_fail() { # tally_fail CLAIM WHAT-HAPPENED
    tally_failed=$((tally_failed + 1))
    echo "FAIL $1: $2"
    # Both ends of a long output: the cause of a failure mostly stands in the last lines.
    if [ "$(wc -c <"$SCRATCH/.output")" -le 8000 ]; then
        cat "$SCRATCH/.output"
    else
        head -c 4000 "$SCRATCH/.output"
        printf '\n[...]\n'
        tail -c 4000 "$SCRATCH/.output"
    fi | sed 's/^/     | /'
    [ -z "${TALLY_STOP:-}" ] || exit 1
}

tally_run() { # tally_run COMMAND...: output to .output, the exit code as it is (124: out of time)
    if declare -F "$1" >/dev/null; then
        "$@" >"$SCRATCH/.output" 2>&1 </dev/null
    else
        timeout -k 2 "${TALLY_SECONDS:-180}" "$@" >"$SCRATCH/.output" 2>&1 </dev/null
    fi
}

expect_code() {
    local claim=$1 code=$2 found=0
    shift 2
    tally_run "$@" || found=$?
    if [ "$found" -eq "$code" ]; then
        tally_pass "$claim"
    else
        tally_fail "$claim" "expected exit code $code, found $found from: $*"
    fi
}

check() {
    local claim=$1
    shift
    expect_code "$claim" 0 "$@"
}

expect_text() {
    local claim=$1 code=$2 text=$3 found=0
    shift 3
    tally_run "$@" || found=$?
    if [ "$found" -ne "$code" ]; then
        tally_fail "$claim" "expected exit code $code, found $found from: $*"
    elif ! grep -qF -e "$text" "$SCRATCH/.output"; then
        tally_fail "$claim" "expected the text '$text' from: $*"
    else
        tally_pass "$claim"
    fi
}

skip() {
    tally_skipped=$((tally_skipped + 1))
    echo "skip $1: $2"
}

tally() {
    if [ -n "$tally_record" ]; then
        echo "$tally_passed $tally_failed $tally_skipped" >>"$tally_record"
    fi
    echo "$tally_passed passed, $tally_failed failed, $tally_skipped skipped"
    [ "$tally_failed" -eq 0 ] && [ $((tally_passed + tally_skipped)) -gt 0 ]
    exit
}
