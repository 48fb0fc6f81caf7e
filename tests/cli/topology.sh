#!/usr/bin/env bash
# Worlds of pipeline stages and context parallel ranks on the simulator.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/exact.sh

alar=$BUILD/alar
data=tests/data/gpt-losses
run() { "$alar" run --backend sim --quiet --steps 27:62 --log-interval 3 "$@"; }
recomputed() { "$alar" check "$1" | grep -qE '([0-9]+) of \1 reports recomputed'; }
judged() { # judged CLAIM OPTION...: a run whose history passes, every report of it recomputed
    local claim=$1 h
    shift
    h=$(mktemp -d "$SCRATCH/hXXXXXX")/h
    check "$claim" run "$@" --history "$h"
    expect_text "$claim: judged" 0 "PASS" "$alar" check "$h"
    check "$claim: every report recomputed" recomputed "$h"
}

# --- B18: the same tokens, split anew -------------------------------------------------------------
for layout in "--dp 4" "--dp 2 --cp 2" "--cp 4" "--pp 2 --dp 4" "--pp 2 --cp 2" "--pp 3 --cp 4"; do
    # shellcheck disable=SC2086
    {
        as_one "exact, $layout" run --encoding exact $layout
        as_one "exact, $layout, async" run --encoding exact --schedule async-microbatch --wait log $layout
        for encoding in pair32 pair64 exact; do
            judged "$encoding, $layout" --encoding $encoding $layout
        done
    }
done
expect_text "the pairs differ from a twin in another order only as orders explain" 0 \
    "all as some order of addition gives them" \
    "$alar" run --backend sim --quiet --cp 4 --log-interval 1 --input sums --reduce-order left-fold \
    --twin-order right-fold
expect_text "only the last stage reports" 0 "rank 4 of the last stage reports" \
    run --pp 2 --cp 2 --encoding exact

# --- the reductions over context parallel ranks are judged too ----------------------------------------
h=$SCRATCH/shares
check "a reduction for each microbatch in each group" run --cp 4 --history "$h"
expect_text "and all are judged" 0 "240 of 240 operations judged" "$alar" check "$h"
"$alar" run --backend sim --quiet --cp 4 --mutant drop-rank --history "$h-dropped" >"$SCRATCH/out" 2>&1
expect_text "a rank that is dropped there is named" 1 "illegal-value: operation cp0/1, ranks 0, 1, 2, 3" \
    "$alar" check "$h-dropped"
expect_text "with the reason" 1 "diagnosis: rank 2 is missing" "$alar" check "$h-dropped"
"$alar" run --backend sim --quiet --dp 2 --cp 2 --deadline-ms 200 --faults faults/plans/mute-early.plan \
    --history "$h-mute" >"$SCRATCH/out" 2>&1
expect_text "a rank that stays away from it too" 1 \
    "before its deadline; joined {3}, missing {2}; rank 3: told that it timed out" "$alar" check "$h-mute"
"$alar" run --backend sim --quiet --dp 2 --cp 2 --faults faults/plans/post-refused.plan \
    --history "$h-refused" >"$SCRATCH/out" 2>&1
expect_text "what a back end refuses there is on record" 1 "excused by the injected fault" \
    "$alar" check "$h-refused"

# --- B29: a context parallel rank without a token -------------------------------------------------
split none 4 2 # its first microbatch has no token on rank 0
judged "a share without tokens, exact" --losses "$SCRATCH/none" --cp 2 --encoding exact
as_one "and the same log" run --losses "$SCRATCH/none" --cp 2 --encoding exact
judged "a share without tokens, pair32" --losses "$SCRATCH/none" --cp 2 --normalization rank-mean

# --- B25: replicated over context parallel ranks --------------------------------------------------
judged "replicated losses are declared, and count once" --cp 3 --dp 4 --scope replicated --encoding exact
check "the declaration is in the history" \
    grep -q '"key":"lm loss","scope":"replicated"' "$SCRATCH"/h*/h/rank0.jsonl
rm "$SCRATCH/log.first"
as_one "data parallel 4" run --dp 4 --encoding exact
as_one "data parallel 4, each on 3 ranks" run --dp 4 --cp 3 --scope replicated --encoding exact

# --- a loss that is not finite ----------------------------------------------------------------------
for encoding in pair32 exact; do
    expect_text "$encoding: the rank behind the share is named" 1 \
        "first: step 15, microbatch 0, rank 4; all ranks stopped" \
        "$alar" run --backend sim --quiet --losses $data/diverge --pp 2 --cp 2 --encoding $encoding
    expect_text "$encoding: it raises, with those it shares with" 1 \
        "NONFINITE raised at step 15, microbatch 0 by rank" \
        "$alar" run --backend sim --quiet --losses $data/diverge --cp 2 --encoding $encoding \
        --check-for-nan raise
done
# --- a rank of any stage that leaves ----------------------------------------------------------------
# spec: F-04
for rank in 0 1 2 3; do
    for how in mute exit; do
        echo "alar/rank/$how $rank 3 1 0" >"$SCRATCH/plan"
        rm -rf "$SCRATCH/left"
        expect_text "pp 2: rank $rank ($how) is missed" 2 "1 of 4 ranks silent: $rank" \
            run --pp 2 --dp 2 --async-log-allreduce --deadline-ms 300 --faults "$SCRATCH/plan" \
            --history "$SCRATCH/left"
        check "pp 2: rank $rank ($how) is named by the three others, once each" test \
            "$(sed -n "s/^alar run: \(rank .\): .* silent: $rank\$/\1/p" "$SCRATCH/.output" | sort | uniq | wc -l) \
$(grep -c "silent: $rank\$" "$SCRATCH/.output")" = "3 3"
        # The first stage reduces nothing: its rank is missed as a recording without an end.
        if [ "$rank" -lt 2 ]; then
            expect_text "pp 2: rank $rank ($how): judged" 2 "a rank's recording stops without an end: rank $rank" \
                "$alar" check "$SCRATCH/left"
        else
            expect_text "pp 2: rank $rank ($how): judged" 1 \
                "excused by the injected fault alar/rank/$how/$rank on rank $rank" \
                "$alar" check "$SCRATCH/left"
        fi
    done
done

expect_text "no product" 3 "found 4 ranks and 2 x 4 x 1" run --ranks 4 --pp 2 --dp 4
# A NaN in both shares of a microbatch is two flags of one contribution.
for encoding in pair32 pair64 exact; do
    check "two shares that are not finite, $encoding" \
        "$alar" run --backend sim --quiet --losses $data/diverge --steps 15:20 --cp 2 --schedule async-step \
        --check-for-nan count --encoding $encoding --history "$SCRATCH/shares-$encoding"
    expect_text "are counted as such" 0 PASS "$alar" check "$SCRATCH/shares-$encoding"
done
expect_text "too few recorded ranks" 3 "expected losses of 8 ranks, found those of 4" run --dp 4 --cp 2
tally
