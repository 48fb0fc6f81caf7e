#!/usr/bin/env bash
# What `alar check` says of log lines, and what a PASS covers: a smallest history for each, right ones
# beside wrong ones.
# spec: O-35, O-50, O-53, O-57, O-59, O-60, O-100, O-101, O-102, O-103, O-104, O-105, O-106, O-107, O-108
# spec: O-109, O-110, O-111, O-112, O-113, O-114, O-115, O-116
. "$(dirname "$0")/../lib/tally.sh"
. "$(dirname "$0")/../lib/words.sh"

shopt -s lastpipe # a history is piped into the check that counts
alar=$BUILD/alar
KEY=loss

# ---- records ---------------------------------------------------------------------------------------
issue() { # issue RANK OP STEP IN [FIELDS]
    echo "{\"ev\":\"issue\",\"rank\":$1,\"op\":$2,\"step\":$3,\"key\":\"$KEY\",\"in\":[$4]${5:+,$5}}"
}
over() { echo "{\"ev\":\"done\",\"rank\":$1,\"op\":$2,\"out\":[$3]}"; } # over RANK OP OUT
alone() { # alone OP STEP SUM,COUNT [FIELDS]: one rank's pair
    issue 0 "$1" "$2" "$3" "\"pairs\":1${4:+,$4}"
    over 0 "$1" "$3"
}
both() { # both OP STEP IN0 IN1 OUT [FIELDS]
    issue 0 "$1" "$2" "$3" "${6:-\"pairs\":1}"
    issue 1 "$1" "$2" "$4" "${6:-\"pairs\":1}"
    over 0 "$1" "$5"
    over 1 "$1" "$5"
}
report() { # report STEP LOSS [FIELDS [RANK]]
    echo "{\"ev\":\"report\",\"rank\":${4:-0},\"metric\":\"$KEY\",\"step\":$1,\"loss\":$2${3:+,$3}}"
}
tokens='"normalization":"token-weighted"'
means='"normalization":"rank-mean"'
steps='"over":"steps"'

judged() { # judged CLAIM VERDICT TEXT: the history on standard input
    local code=0
    case $2 in FAIL) code=1 ;; UNKNOWN) code=2 ;; UNUSABLE) code=3 ;; esac
    cat >"$SCRATCH/h.jsonl"
    expect_text "$1" $code "$3" words_add "$alar" check "$SCRATCH/h.jsonl"
}

# ---- each step in one report -----------------------------------------------------------------------
{ alone 0 1 2,1; report 1 2.0; alone 1 2 3,1; alone 2 3 4,1; report 3 4.0; } |
    judged "a step in the middle is missed" FAIL "report-lost: report of loss of step 2, rank 0"
{ alone 0 1 2,1; alone 1 2 3,1; report 2 3.0; } |
    judged "the first one as well" FAIL "report-lost: report of loss of step 1, rank 0"
{ alone 0 1 2,1; report 1 2.0; alone 1 2 3,1; } |
    judged "and the last" FAIL "report-lost: report of loss of step 2, rank 0"
{ alone 0 1 2,1; alone 1 2 3,1; report 2 3.0; report 1 2.0; } |
    judged "out of turn is not lost" PASS "2 of 2 reports recomputed"
{ alone 0 1 2,1; report 1 2.0 '"sink":"a"'; alone 1 2 4,1; report 2 4.0 '"sink":"a"'
  report 2 3.0 "\"first_step\":1,\"sink\":\"b\",$steps"; } |
    judged "each sink has its own lines" PASS "3 of 3 reports recomputed"
{ alone 0 1 2,1; report 1 2.0 '"sink":"a"'; report 1 2.0 '"sink":"b"'; alone 1 2 4,1; report 2 4.0 '"sink":"a"'; } |
    judged "and may lose one of its own" FAIL "report-lost: report of loss of step 2"
{ alone 0 1 2,1; report 1 2.0; report 1 2.0; } |
    judged "twice in one sink" FAIL "reported-twice: report of loss of step 1, rank 0"
{ alone 0 1 2,1; report 1 2.0 '"sink":"a"'; report 1 2.0 '"sink":"b"'; } |
    judged "once in each of two" PASS "2 of 2 reports recomputed"
{ alone 0 1 2,1; alone 1 2 3,1; report 2 2.5 "\"first_step\":1,$steps"
  alone 2 3 4,1; report 3 3.5 "\"first_step\":2,$steps"; } |
    judged "intervals that overlap" FAIL "reported-twice: report of loss of step 2, rank 0"
{ both 0 1 2,1 4,1 6,2; both 1 2 2,1 6,1 8,2; report 1 3.0 '' 0; report 1 3.0 '' 1; report 2 4.0 '' 1; } |
    judged "the rank that loses one is named" FAIL "report-lost: report of loss of step 2, rank 0"
{ alone 0 1 2,1 '"mb":0'; alone 1 1 4,1 '"mb":1'; report 1 4.0 '"ops":[1]'; } |
    judged "a microbatch that no report cites" FAIL "operation world/0, first of them microbatch 0"
{ alone 0 1 2,1 '"mb":0'; alone 1 1 4,1 '"mb":1'; report 1 2.0 '"ops":[0]'; report 1 4.0 '"ops":[1]'; } |
    judged "a line for each microbatch" PASS "2 of 2 reports recomputed"
{ alone 0 1 2,1; report 2 2.0 '"first_step":1'; alone 1 2 4,1; report 2 4.0; } |
    judged "a label with a step that comes later" FAIL "shifted-label: report of loss of step 2"
{ alone 0 1 2,1; alone 1 2 4,1; report 1 2.0; report 2 4.0 '"first_step":1,"ops":[1]'; } |
    judged "a label with a step of another report" FAIL "shifted-label: report of loss of step 1"
{ alone 0 1 2,1; alone 1 2 '"nan",1'; report 2 2.0 "\"first_step\":1,\"ops\":[0],\"nonfinite\":1"; } |
    judged "a step that is not finite may be left out and counted" FAIL "wrong-count"

# ---- attempts --------------------------------------------------------------------------------------
rolled_back() { # steps 1 to 4 are reported, then 3 and 4 are reduced again
    local step
    for step in 1 2 3 4; do alone $((step - 1)) $step $step,1; report $step $step.0; done
    alone 4 3 30,1
    alone 5 4 40,1
}
{ rolled_back; report 3 30.0; report 4 40.0; } |
    judged "rolled back, and reported again" PASS "6 of 6 reports recomputed"
rolled_back | judged "rolled back, and the last attempt not reported" FAIL \
    "report-lost: report of loss of step 3, rank 0: steps were reduced and stand in no report, although others do: operations world/4, 5"
{ rolled_back; report 3 16.5; report 4 40.0; } |
    judged "both attempts averaged" FAIL "attempts-mixed: report of loss of step 3"
{ rolled_back; report 4 36.8 "\"first_step\":3"; } |
    judged "neither attempt" FAIL "illegal-report: report of loss of step 4"
{ for op in 0 1 2; do alone $op $((op + 1)) 2,1; done; alone 3 2 9,1; alone 4 3 9,1; report 3 6.666667 "\"first_step\":1,$steps"; } |
    judged "resumed from a checkpoint within an interval" PASS "note: step-retried"
{ alone 0 1 8,2 '"mb":0'; alone 1 1 4,2 '"mb":1'; alone 2 1 6,2 '"mb":0'; alone 3 1 2,2 '"mb":1'; report 1 2.0; } |
    judged "all microbatches again" PASS "step-retried"
{ alone 0 1 8,2 '"mb":0'; alone 1 1 4,2 '"mb":1'; alone 2 1 6,2 '"mb":1'; report 1 3.5; } |
    judged "one microbatch again" PASS "step-retried"
{ alone 0 1 8,2 '"mb":0'; alone 1 1 4,2 '"mb":0'; report 1 3.0 '"ops":[0,1]'; } |
    judged "both attempts cited" FAIL "attempts-mixed"
{ alone 0 1 8,2; alone 1 1 4,2; report 1 3.0; } |
    judged "two operations without mb may be microbatches" UNKNOWN "give \`mb\` or \`ops\`"
{ echo '{"ev":"trace","world":1,"microbatches":2}'; alone 0 1 8,2; alone 1 1 4,2; report 1 3.0; echo '{"ev":"end"}'; } |
    judged "a header that says so" PASS "1 of 1 reports recomputed"

# ---- what a report says of itself ------------------------------------------------------------------
{ alone 0 1 2,1; report 1 2.0 "$tokens"; alone 1 2 3,1; report 2 3.0 "$means"; } |
    judged "another definition" FAIL "definition-changed: report of loss of step 2, rank 0"
{ alone 0 1 2,1; report 1 2.0 "$tokens,\"sink\":\"a\""; report 1 2.0 "$means,\"sink\":\"b\""; } |
    judged "another sink may have another" PASS "2 of 2 reports recomputed"
{ echo "{\"ev\":\"trace\",\"world\":1,$means}"; alone 0 1 2,1; report 1 2.0 "$tokens"; echo '{"ev":"end"}'; } |
    judged "another one than the header's" FAIL ": rank-mean, then token-weighted"
{ both 0 1 2,1 4,1 6,2; report 1 3.0 "$tokens" 0; report 1 3.0 "$means" 1; } |
    judged "ranks that differ" FAIL "definition-changed: report of loss of step 1, rank 1"
{ alone 0 1 2,1; report 1 2.0; alone 1 2 3,1; report 2 3.0 '"kind":"max"'; } |
    judged "another kind" FAIL "mean, then max"
{ issue 0 0 1 4,2 '"pairs":1'; report 1 2.0; over 0 0 4,2; } |
    judged "logged before the wait" FAIL "early-read: report of loss of step 1, rank 0"
{ issue 0 0 1 4,2 '"pairs":1'; echo '{"ev":"test","rank":0,"op":0,"done":true}'; report 1 2.0; over 0 0 4,2; } |
    judged "logged once a poll said that it is done" PASS "1 of 1 reports recomputed"
{ echo '{"ev":"contract","wait":"stream"}'; issue 0 0 1 4,2 '"pairs":1'; report 1 2.0; over 0 0 4,2; } |
    judged "under a stream contract nothing is said" PASS "1 of 1 reports recomputed"
{ alone 0 1 4,2; report 1 4.0 '"bits":"40000000"'; } |
    judged "a number that is not its bits" FAIL "shown-differs: report of loss of step 1"
{ alone 0 1 4,3; report 1 1.3 '"bits":"3faaaaab"'; } |
    judged "a short number is what its bits print as" PASS "1 of 1 reports recomputed"
{ alone 0 1 4,2; report 1 null '"bits":"40000000"'; } |
    judged "EMPTY beside bits" FAIL "shown is EMPTY, the bits are 2"

# ---- counts ----------------------------------------------------------------------------------------
{ both 0 1 10,5 26,5 36,10; report 1 3.6 "$tokens,\"tokens\":9"; } |
    judged "wrong tokens are printed" FAIL "it says 9 tokens, its contributions hold 10"
{ both 0 1 '"nan",1' 4,1 '"nan",2'; report 1 '"nan"' "$tokens,\"nonfinite\":0"; } |
    judged "none is a count" FAIL "it says 0 that are not finite, its contributions hold 1"
{ both 0 1 0,0 4,1 4,1; report 1 4.0 "$tokens,\"empty\":2"; } |
    judged "empty ones too" FAIL "it says 2 that are empty, its contributions hold 1"
{ both 0 1 4 2 6 '"dtype":"f32"'; report 1 3.0 "$tokens"; } |
    judged "a mean by counts that nobody carries" UNKNOWN "counts that no operation carries"
{ both 0 1 4 2 6 '"dtype":"f32"'; report 1 3.0 "$means,\"tokens\":640"; } |
    judged "tokens that nobody carries" UNKNOWN "counts that no operation carries"
{ both 0 1 4 2 6 '"dtype":"f32"'; report 1 6.0 "$tokens"; } |
    judged "whatever the counts, it lies outside" FAIL "never-divided"
{ both 0 1 4 4 8 '"dtype":"f32"'; report 1 4.0 "$tokens"; } |
    judged "whatever the counts, it is the value of all" PASS "1 of 1 reports recomputed"

# ---- metrics that bound each other -----------------------------------------------------------------
extreme() { # extreme METRIC RED IN0 IN1 OUT SHOWN [FIELDS]
    both 0 1 30,10 10,2 40,12
    report 1 3.333333 "$tokens"
    KEY=$1 both 1 1 "$3" "$4" "$5" "\"red\":\"$2\""
    KEY=$1 report 1 "$6" "\"kind\":\"$2\"${7:+,$7}"
}
extreme "max loss" max 3.0 5.0 5.0 5.0 | judged "a maximum above the mean" PASS "2 of 2 reports"
extreme "max loss" max 1.5 2.5 2.5 2.5 | judged "and one below, by its name" FAIL "bound-broken: report of max loss of step 1"
extreme "loss_min" min 3.5 5.0 3.5 3.5 | judged "a minimum above the mean" FAIL "bound-broken: report of loss_min"
extreme "max grad" max 1.5 2.5 2.5 2.5 | judged "another name says nothing" PASS "2 of 2 reports"
extreme "max loss" max 3.3125 3.25 3.3125 3.3125 | judged "rounding may do that" PASS "2 of 2 reports"
{ echo '{"ev":"declare","key":"worst","kind":"max","bounds":"loss"}'; extreme worst max 1.5 2.5 2.5 2.5; } |
    judged "one that is declared" FAIL "bound-broken: report of worst"

# ---- a printed extreme -------------------------------------------------------------------------------
# Half of the last digit to either side, the edges with it: both are how some printf rounds. spec: O-62
printed() { # printed RED SHOWN: of 3.25 and 3.75
    both 0 1 3.25 3.75 "$([ "$1" = min ] && echo 3.25 || echo 3.75)" "\"red\":\"$1\""
    report 1 "$2" "\"kind\":\"$1\""
}
printed min 3.2 | judged "the upper edge of what is printed" PASS "1 of 1 reports recomputed"
printed min 3.3 | judged "the lower edge" PASS "1 of 1 reports recomputed"
printed max 3.7 | judged "the upper edge of a maximum" PASS "1 of 1 reports recomputed"
printed max 3.8 | judged "the lower edge of a maximum" PASS "1 of 1 reports recomputed"
printed min 3.1 | judged "a digit below" FAIL "illegal-report"
printed max 3.9 | judged "a digit above" FAIL "illegal-report"
printed min 3.24 | judged "more digits, less room, below" FAIL "illegal-report"
printed min 3.26 | judged "more digits, less room, above" FAIL "illegal-report"

# ---- labels, groups, replicas ----------------------------------------------------------------------
{ alone 0 2 12,5 '"pairs":2' >/dev/null; issue 0 0 2 12,5,20,13 '"pairs":2'; over 0 0 12,5,20,13
  report 2 1.969231 "\"first_step\":1,$tokens,$steps"; } |
    judged "a window named by its last step" PASS "1 of 1 reports recomputed"
{ issue 0 0 1 12,5,20,13 '"pairs":2'; over 0 0 12,5,20,13; report 2 1.969231 "\"first_step\":1,$tokens,$steps"; } |
    judged "or by its first" PASS "1 of 1 reports recomputed"
labelled() { # labelled FIELDS0 FIELDS1 FIELDS2
    local rank=0 fields
    for fields in "$@"; do echo "{\"ev\":\"issue\",\"rank\":$rank,\"op\":0,\"key\":\"loss\",\"in\":[1],$fields}"; rank=$((rank + 1)); done
    for ((rank = 0; rank < $#; rank++)); do over $rank 0 $#; done
}
labelled '"step":1,"mb":0' '"step":1,"mb":0' '"step":1,"mb":3' | judged "one rank with another microbatch" FAIL \
    "mismatch-label: operation world/0 of step 1, rank 2"
labelled '"step":2' '"step":1' '"step":1' | judged "one with another step" FAIL "rank 0: ranks label one all-reduce"
labelled '"step":2' '"step":1' | judged "of two, both" FAIL "ranks 0, 1: ranks label"
labelled '"step":1' '"n":1' '"step":1' | judged "a rank may say nothing" PASS "1 of 1 operations"
{ both 0 1 1 3 4 '"dtype":"f32"'; both 1 2 4 4 8 '"dtype":"f32"'; } |
    judged "a result that is reduced again" PASS "note: reduced-again, 1 time"
tp() { # tp SHOWN: two groups of two ranks, each with the same 20 and 12
    echo '{"ev":"declare","group":"tp0","members":[0,1],"key":"loss","scope":"replicated","kind":"sum"}'
    echo '{"ev":"declare","group":"tp1","members":[2,3]}'
    local rank value
    for rank in 0:20 1:20 2:12 3:12; do value=${rank#*:}; issue "${rank%:*}" 0 1 "$value"; done
    for rank in 0 1 2 3; do over $rank 0 64; done
    report 1 "$1"
}
tp 32 | judged "replicas count once, in all groups alike" PASS "1 of 1 reports recomputed"
tp 64 | judged "and not each" FAIL "replica-counted: report of loss of step 1"
partial() { # partial MEMBERS [GROUP MEMBERS]
    echo "{\"ev\":\"declare\",\"group\":\"cp0\",\"members\":[$1],\"key\":\"loss\",\"scope\":\"partial\"}"
    [ $# -eq 1 ] || echo "{\"ev\":\"declare\",\"group\":\"$2\",\"members\":[$3]}"
    both 0 1 4,4 5,1 9,5
    report 1 1.8 "$tokens"
}
partial 0,1 | judged "a sum over the declared group" PASS "1 of 1 reports recomputed"
partial 0 | judged "a stranger in the sum" FAIL "wrong-group: report of loss of step 1"
partial 0 cp1 1 | judged "a group alike is none" PASS "1 of 1 reports recomputed"

# ---- names of mistakes -----------------------------------------------------------------------------
uneven() { both 0 1 4,4 5,2 9,6; report 1 "$1" "$tokens" "${2:-0}"; }
uneven 1.5 | judged "the right mean" PASS "1 of 1"
uneven 1.75 | judged "the mean of rank means" FAIL "mean-of-rank-means"
uneven 2.25 | judged "the sum over one rank's count" FAIL "own-count"
uneven 2.5 | judged "another rank's own" FAIL "own-only: report of loss of step 1, rank 0: the value of one rank was reported, before the reduction; it is the value of rank 1"
ratios() { # ratios SHOWN: two steps of two microbatches, the second of the first step empty
    alone 0 1 2,1 '"mb":0'; alone 1 1 0,0 '"mb":1'; alone 2 2 6,2 '"mb":0'; alone 3 2 10,2 '"mb":1'
    report 2 "$1" "\"first_step\":1,$tokens,$steps"
}
ratios 3.0 | judged "the mean of two steps" PASS "1 of 1"
ratios 3.333333 | judged "the mean of three microbatches" FAIL "mean-of-microbatch-means"
uneven 2.5 1 | judged "one's own" FAIL "it is the value of rank 1"
{ both 0 1 0,0 6,1 6,1; report 1 3.0 "$means"; } | judged "an empty rank counted" FAIL "empty-counted"
{ alone 0 1 6,2; alone 1 2 0,0; report 2 1.5 "\"first_step\":1,$tokens,$steps"; } |
    judged "an empty step counted" FAIL "empty-counted"
{ alone 0 1 6,2; alone 1 2 0,0; report 2 3.0 "\"first_step\":1,$tokens,$steps"; } |
    judged "and left out" PASS "1 of 1"
interval() { # interval SHOWN: two steps of an interval of ten
    echo '{"ev":"trace","world":1,"log_interval":10}'
    alone 0 1 2,1; alone 1 2 4,1; report 2 "$1" "\"first_step\":1,$tokens,$steps"
    echo '{"ev":"end"}'
}
interval 3.0 | judged "a partial interval" PASS "1 of 1"
interval 0.6 | judged "divided by the configured interval" FAIL "divided-by-configured"
two_batches() {
    both 0 1 4,4 5,1 9,5 '"pairs":1,"mb":0'
    both 1 1 2,2 20,5 22,7 '"pairs":1,"mb":1'
    report 1 "$1" "$tokens"
}
two_batches 2.583 | judged "all microbatches" PASS "1 of 1"
two_batches 3.143 | judged "the last microbatch" FAIL "last-microbatch: "
two_batches 4.0 | judged "the last of one rank" FAIL "last-microbatch-of-one-rank"
{ alone 0 1 4,1; report 1 4.0 "$tokens"; alone 1 2 1,1; report 2 3.7 "$tokens"; } |
    judged "a moving average" FAIL "smoothed: report of loss of step 2"
{ both 0 1 6,2 2,2 8,4; report 1 1.0 "$tokens" 0; report 1 1.0 "$tokens" 1; } |
    judged "several that fit are all said" FAIL "divided-twice: report of loss of step 1, ranks 0, 1: the right value was divided once more; shown is 1 (3ff0000000000000), its contributions give 2 (4000000000000000); not the only explanation: own-only (1 other)"

# ---- what a PASS covers ----------------------------------------------------------------------------
sum() { # sum [TRACE-FIELDS]
    [ -z "${1+set}" ] || echo "{\"ev\":\"trace\",\"world\":2$1}"
    both 0 1 1 2 3 '"dtype":"f32"'
    [ -z "${1+set}" ] || echo '{"ev":"end"}'
}
sum | judged "nothing was logged" PASS \
    "no logged value was recorded: what the log makes of these sums was not judged"
sum '' | judged "nobody said what is seen" PASS "what its recorder can't see is not said"
sum ',"sees":"values polls ends reads writes storage handles streams reports"' |
    judged "all is seen" PASS "any missing rank would have shown"
sum ',"sees":"values polls ends writes storage handles streams reports something"' |
    judged "what is not seen" PASS "; not seen by its recorder: reads of results"
plain() { # the short form, for people who train
    sum ',"sees":"values reports"' >"$SCRATCH/h.jsonl"
    "$alar" check -q "$SCRATCH/h.jsonl" | grep -vE 'provenance|cases|fold'
}
check "the short form is plain" plain
sum | sed '$a{"ev":"end"}' | judged "an end without a beginning" UNKNOWN "has no beginning"
sum '' | sed 's/{"ev":"end"}/{"ev":"exit","rank":1,"code":-9}\n{"ev":"end","rank":0}/' |
    judged "ended by a signal" UNKNOWN "a rank was ended by a signal: rank 1"
sum '' | sed 's/{"ev":"end"}/{"ev":"exit","rank":1,"code":-9}\n&/' |
    judged "also when an end follows" UNKNOWN "a rank was ended by a signal: rank 1"
sum | sed '1i{"ev":"declare","group":"world","members":[0,1,2]}' |
    judged "a member of world that is not there" UNKNOWN "other members than the ranks of this history"
sum | sed '1i{"ev":"declare","group":"g","members":[0,2]}' |
    judged "of another group" UNUSABLE "expected ranks below 2 in \`members\`, found rank 2"
sum | sed '3i{"ev":"write","rank":0,"buf":"gg","bits":[1]}' |
    judged "storage that nobody has" UNKNOWN 'storage that no operation uses: `buf` "gg", rank 0'

# ---- reruns ----------------------------------------------------------------------------------------
run() { # run FIRST LAST: steps of three ranks whose order of additions matters
    local op=0 step rank in
    echo '{"ev":"contract","order":"fixed"}'
    for ((step = $1; step <= $2; step++, op++)); do
        in=(1 ${step}e8 -${step}e8)
        for rank in 0 1 2; do issue $rank $op "$step" "${in[rank]}"; done
        for rank in 0 1 2; do over $rank $op "${3:-0}"; done
    done
}
run 1 4 >"$SCRATCH/whole.jsonl"
run 3 4 >"$SCRATCH/resumed.jsonl"
run 3 4 1 >"$SCRATCH/other.jsonl"
expect_text "a resumed run is held against the steps it repeats" 0 \
    "2 operations with the same bits, 0 with others, 2 not comparable" \
    "$alar" check -q --rerun "$SCRATCH"/{whole,resumed}.jsonl
expect_text "and differs where it does" 1 "0 operations with the same bits, 2 with others" \
    "$alar" check -q --rerun "$SCRATCH"/{whole,other}.jsonl
words_hold reports
tally
