# Runs under `exact` that must all log the same, to be sourced after tally.sh.
#
#   split NAME RANKS MICROBATCHES    the recorded tokens, split anew, in $SCRATCH/NAME
#   as_one "claim" COMMAND...        the command, which takes --log-json FILE, logs what the first
#                                    one logged: the same bits, tokens and empty counts

split() {
    tests/lib/split.py tests/data/gpt-losses/train "$SCRATCH/$1" "$2" "$3"
}

as_one() {
    local claim=$1 log=$SCRATCH/log.jsonl code=0
    shift
    rm -f "$log"
    tally_run "$@" --log-json "$log" || code=$?
    # shellcheck disable=SC2016
    jq -c '[.step, .metric, .bits, .tokens, .nonfinite]' "$log" >"$SCRATCH/log.now" 2>>"$SCRATCH/.output"
    [ -e "$SCRATCH/log.first" ] || cp "$SCRATCH/log.now" "$SCRATCH/log.first"
    if [ "$code" -ne 0 ]; then
        tally_fail "$claim" "expected exit code 0, found $code from: $*"
    elif [ ! -s "$SCRATCH/log.now" ] || ! cmp -s "$SCRATCH/log.first" "$SCRATCH/log.now"; then
        tally_fail "$claim" "another log from: $* $(diff "$SCRATCH/log.first" "$SCRATCH/log.now" | head -n 5)"
    else
        tally_pass "$claim"
    fi
}
