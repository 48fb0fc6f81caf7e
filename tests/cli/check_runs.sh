#!/usr/bin/env bash
# Every history of `alar run` on the simulator must PASS, every report recomputed: schedules x
# normalizations x encodings x over x wait x check, then what else changes a history.
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar
data=tests/data/gpt-losses
verdicts=$SCRATCH/verdicts

# record NAME CODE ARGUMENT...: one run, quick and quiet, its history under $SCRATCH/h/NAME
record() {
    local name=$1 code=$2 found=0
    shift 2
    mkdir -p "$SCRATCH/h" "$SCRATCH/raised"
    "$alar" run --backend sim --quiet --compare none --history "$SCRATCH/h/$name" "$@" \
        >"$SCRATCH/run" 2>&1 || found=$?
    [ "$found" -eq "$code" ] || { echo "run $*: exit code $found, expected $code"; return 1; }
}

# judge: all histories recorded so far, then forgotten; each passes, with all its reports.
judge() {
    local code=0
    "$alar" check --quiet "$SCRATCH"/h/* >"$verdicts" 2>&1 || code=$?
    awk -F '\t' -v code="$code" '
        $2 != "PASS" { print; bad = 1; next }
        match($3, /[0-9]+ of [0-9]+ reports recomputed/) {
            split(substr($3, RSTART, RLENGTH), word, " ")
            if (word[1] != word[3]) { print; bad = 1 }
            reports += word[1]
            next
        }
        { print "no reports: " $0; bad = 1 }
        END { print NR " histories, " reports + 0 " reports"; exit bad || code || NR == 0 }' "$verdicts" || code=4
    rm -rf "$SCRATCH/h"
    return "$code"
}

# grid NORMALIZATION: the steps hold an empty rank (7), an empty microbatch (60) and a lone token (33)
grid() {
    local schedule encoding over wait check
    for schedule in {sync,async}-{microbatch,step,window}; do
        for encoding in pair32 pair64; do
            for over in steps pooled; do
                for wait in step log; do
                    for check in count off agree; do
                        record "$schedule.$encoding.$over.$wait.$check" 0 --steps 5:62 \
                            --log-interval 3 --schedule "$schedule" --normalization "$1" \
                            --encoding "$encoding" --over "$over" --wait "$wait" \
                            --check-for-nan "$check" || return
                    done
                done
            done
        done
    done
    judge
}

for normalization in token-weighted rank-mean microbatch-mean seed-undivided; do
    expect_text "$normalization: 144 ways to run it" 0 "144 histories" grid "$normalization"
done

# orders: whatever the order of additions, and whatever arrives first
orders() {
    local order
    for order in left-fold right-fold recursive-doubling binomial ring arrival; do
        record "$order" 0 --input sums --steps 0:40 --async-log-allreduce --wait log \
            --reduce-order "$order" --compute-us 300 --straggler rotate:700 || return
    done
    judge
}
expect_text "any order of additions" 0 "6 histories" orders

# ranks: as many as the data set has, and fewer
ranks() {
    local n
    for n in 1 2 3 4; do
        record "$n" 0 --ranks "$n" --steps 0:8 --log-interval 2 --async-log-allreduce || return
    done
    judge
}
expect_text "from 1 to 4 ranks" 0 "4 histories" ranks

# diverging: losses that end in Inf and NaN, under each policy
diverging() {
    local schedule normalization
    for schedule in sync-microbatch async-microbatch async-step async-window; do
        for normalization in token-weighted rank-mean microbatch-mean seed-undivided; do
            record "count.$schedule.$normalization" 0 --losses "$data/diverge" --log-interval 4 \
                --input sums --schedule "$schedule" --normalization "$normalization" \
                --check-for-nan count || return
            record "off.$schedule.$normalization" 0 --losses "$data/diverge" --log-interval 4 \
                --input sums --schedule "$schedule" --normalization "$normalization" \
                --check-for-nan off || return
            record "agree.$schedule.$normalization" 1 --losses "$data/diverge" --log-interval 4 \
                --input sums --schedule "$schedule" --normalization "$normalization" \
                --check-for-nan agree || return
            record "../raised/$schedule.$normalization" 1 --losses "$data/diverge" --log-interval 4 \
                --input sums --schedule "$schedule" --normalization "$normalization" \
                --check-for-nan raise --wait log || return
        done
    done
    judge
}
expect_text "runs that diverge, under each policy" 0 "48 histories" diverging
# Ranks that raise leave at once, with handles that they have not waited for: right so far, and never a pass.
raised() { "$alar" check --quiet "$SCRATCH"/raised/* | cut -f 2- | cut -d : -f 1 | sort | uniq -c; }
expect_text "runs that raise stop without an end" 0 "16 UNKNOWN	a rank's recording stops without an end (4 times)" raised

# small windows and blocking calls
windows() {
    local n
    for n in 1 2 3 7; do
        record "window.$n" 0 --steps 0:40 --async-log-allreduce --wait log --window "$n" || return
    done
    record blocking 0 --steps 0:40 --deadline-ms 0 || return
    judge
}
expect_text "small windows, and blocking calls" 0 "5 histories" windows

# --- the judgement can fail -----------------------------------------------------------------------
# One bit of one report, one token, one report: each is seen, and named.
tamper() { # tamper SED-EXPRESSION: run, change every rank's record, judge
    rm -rf "$SCRATCH/h"
    record tampered 0 --steps 0:33 --log-interval 3 || return
    sed -i -E -e "$1" -e 's/"i":[0-9]+,//' "$SCRATCH"/h/tampered/*.jsonl
    "$alar" check --quiet "$SCRATCH/h/tampered"
}
expect_text "records without their running numbers" 0 "PASS" tamper ''
expect_text "bits in a report" 1 "illegal-report" \
    tamper '/"ev":"report"/s/"bits":"(......)../"bits":"\100/'
expect_text "a token beside a report" 1 "wrong-count" \
    tamper '/"ev":"report"/s/"tokens":([0-9]+)/"tokens":1\1/'
expect_text "a report under another rule" 1 "other-normalization" \
    tamper '/"ev":"(report|trace)"/s/"token-weighted"/"microbatch-mean"/'
expect_text "a last report that was never written" 1 "report-lost" tamper '/"ev":"report".*"step":3[0-9]/d'
tally
