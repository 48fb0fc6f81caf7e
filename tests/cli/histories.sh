#!/usr/bin/env bash
# Every history of tests/histories against tests/histories/expected.tsv: verdict, anomalies, operation,
# step, ranks, value, legal range, notes; for input that can't be used, the complaint with its place.
# The table holds all that is compared; `REWRITE=1 tests/cli/histories.sh` writes it anew, and every line
# that changes has to be explained.
# seconds: 900
. "$(dirname "$0")/../lib/tally.sh"
. "$(dirname "$0")/../lib/cases.sh"

table=tests/histories/expected.tsv
tab=$'\t'
judged=$SCRATCH/judged.tsv

# One line a history. Lists are joined by commas; "-" is nothing.
describe() {
    jq -r 'def list: if length == 0 then "-" else map(tostring) | join(",") end;
        .findings[0] as $worst | [
            (.path | split("/") | last | rtrimstr(".jsonl")),
            .verdict,
            ([.findings[].anomaly] | list),
            (if $worst.op != null then "\($worst.group)/\($worst.op)" else "-" end),
            ($worst.step // "-" | tostring),
            ([$worst.ranks[]?] | list),
            ([$worst.missing[]?] | list),
            ($worst.found // "-"),
            (if $worst.lowest then "\($worst.lowest)..\($worst.highest)" else "-" end),
            ($worst.excused_by // "-"),
            ([.notes[].anomaly] | list),
            ([.unknown[].reason] | list)
        ] | join("\t")'
}

# Input that can't be used is told on standard error, with exit code 3.
judge_all() {
    local file name code complaint
    : >"$SCRATCH/all"
    : >"$SCRATCH/refused"
    for file in tests/histories/*.jsonl; do
        name=${file##*/}
        name=${name%.jsonl}
        code=0
        "$BUILD/alar" check --json "$file" >"$SCRATCH/json" 2>"$SCRATCH/told" || code=$?
        if ! grep -q '"verdict":"UNUSABLE"' "$SCRATCH/json"; then
            cat "$SCRATCH/json" >>"$SCRATCH/all"
        else
            read -r complaint <"$SCRATCH/told"
            printf '%s\tREFUSED\t%s\n' "$name" "${complaint#*tests/histories/}" >>"$SCRATCH/refused"
        fi
        printf '%s\t%s\n' "$name" "$code" >>"$SCRATCH/codes.unsorted"
    done
    describe <"$SCRATCH/all" | LC_ALL=C sort - "$SCRATCH/refused" >"$judged"
    LC_ALL=C sort "$SCRATCH/codes.unsorted" >"$SCRATCH/codes"
}

# compare TABLE: the confusion matrix, then each history that was judged otherwise; fails if there is one.
compare() {
    awk -F '\t' '
        NR == FNR { if ($1 !~ /^#/) { expected[$1] = $0; verdict[$1] = $2 } next }
        {
            cell[($1 in verdict) ? verdict[$1] : "none", $2]++
            if (!($1 in expected)) { print "no expectation: " $0; wrong++ }
            else if (expected[$1] != $0) {
                print "expected " expected[$1] "\nfound    " $0
                if (verdict[$1] != $2) { verdicts++ } else { reasons++ }
            }
            seen[$1] = 1
            total++
        }
        END {
            n = split("PASS FAIL UNKNOWN REFUSED", kind, " ")
            printf "%-18s", "expected \\ found"
            for (k = 1; k <= n; k++) printf " %8s", kind[k]
            print ""
            for (k = 1; k <= n; k++) {
                printf "%-18s", kind[k]
                for (j = 1; j <= n; j++) printf " %8d", cell[kind[k], kind[j]]
                print ""
            }
            for (name in expected) if (!(name in seen)) { print "no history: " name; wrong++ }
            printf "%d histories: %d wrong verdicts, %d wrong reasons\n", total, verdicts, reasons
            exit verdicts + reasons + wrong > 0
        }' "$1" "$judged"
}

# Exit codes follow verdicts.
codes_follow() {
    join -t "$tab" "$judged" "$SCRATCH/codes" |
        awk -F '\t' '{ want["PASS"] = 0; want["FAIL"] = 1; want["UNKNOWN"] = 2; want["REFUSED"] = 3 }
             $NF != want[$2] { print; bad = 1 } END { exit bad }'
}

# Each of the 39 field cases, and each anomaly, has a history of its own.
covers_cases() {
    local id missing=0
    for id in 01 02 03 06 07 09 10 12 13 14 16 17 18 19 21 23 25 27 29 30 31 32 34 36 37 39 40 42 43 45 \
        47 48 50 51 53 54 56 57 58; do
        ls "tests/histories/B$id-"*.jsonl >/dev/null || missing=1
    done
    [ "$missing" -eq 0 ]
}
has_own() { [ "$(find tests/histories -name 'own-*' -o -name 'bad-*' | wc -l)" -ge 30 ]; }

judge_all
if [ -n "${REWRITE:-}" ]; then
    { printf '# history\tverdict\tanomalies, worst first; or the complaint\toperation\tstep\tranks\tmissing'
      printf '\tfound\tlegal\texcused by\tnotes\tunknown\n'
      cat "$judged"; } >"$table"
fi
compare "$table" || true
check "no wrong verdict and no wrong reason" compare "$table"
check "exit codes follow verdicts" codes_follow
check "every field case has a history" covers_cases
check "at least 30 are of kinds of our own" has_own

# --- real losses, four rules in use ---------------------------------------------------------------
# All 200 steps: torch logged NaN for the step without a token, and for 11 steps with an empty rank
# where means were averaged. The other 188 are named for what they are, each of them.
gpt() { tests/histories/make_gpt.py "$@"; }
kinds() { # kinds RULE: each kind of finding, with the reports it covers
    gpt "$1" 0:200 >"$SCRATCH/gpt.jsonl" || return
    "$BUILD/alar" check --json "$SCRATCH/gpt.jsonl" |
        jq -r '"\(.reports_judged) reports", (.findings[] | "\(.anomaly) \(.amount[1])")' | paste -s -d ' '
}
expect_text "torch's token-weighted mean is right but for the EMPTY step" 0 \
    "200 reports empty-as-number 1" kinds token-weighted
expect_text "one reduction a step is right as well" 0 \
    "200 reports empty-as-number 1" kinds token-weighted-step
expect_text "a mean of rank means is named in every finite step" 0 \
    "200 reports empty-rank-nan 11 empty-as-number 1 mean-of-rank-means 188" kinds mean-of-rank-means
expect_text "an undivided sum is named in every finite step" 0 \
    "200 reports empty-rank-nan 11 empty-as-number 1 never-divided 188" kinds sum-of-rank-means
as_made() { # as_made NAME RULE STEPS: the file that is kept is what the script makes
    gpt "$2" "$3" | cmp - "tests/histories/gpt-$1.jsonl"
}
for rule in token-weighted mean-of-rank-means sum-of-rank-means token-weighted-step; do
    check "gpt-$rule is as made" as_made "$rule" "$rule" 32:34
done

# --- cases whose expectation leaves room ----------------------------------------------------------
for folder in judge field; do
    check "every case of $folder has a row" cases_complete "$folder"
    check "the cases of $folder come out as their table says" cases_hold "$folder"
    cat "$SCRATCH/.output"
done

# --- the comparison can fail --------------------------------------------------------------------
planted=$SCRATCH/planted.tsv
sed 's/^\(B16-token-weighted\t\)PASS/\1FAIL/' "$table" >"$planted"
expect_text "a wrong verdict is counted" 1 "1 wrong verdicts, 0 wrong reasons" compare "$planted"
sed '/^B16-mean/s/mean-of-rank-means\t-/never-divided\t-/' "$table" >"$planted"
expect_text "a wrong reason is counted" 1 "0 wrong verdicts, 1 wrong reasons" compare "$planted"
sed '/^B16-token-weighted\t/d' "$table" >"$planted"
expect_text "a history without an expectation is told" 1 "no expectation: B16" compare "$planted"
printf 'B99\tPASS\n' | cat "$table" - >"$planted"
expect_text "an expectation without a history is told" 1 "no history: B99" compare "$planted"
expect_text "a case that comes out otherwise is told" 1 "expected FAIL, found PASS" \
    case_holds field F02-b-fixed FAIL '*' '*' -
expect_text "a word that is missing is told" 1 "does not say /no such word/" \
    case_holds field F02-b-fixed PASS - - 'PASS&&no such word'
expect_text "a word too many is told" 1 "says /judged/" case_holds field F02-b-fixed PASS - - '!judged'
tally
