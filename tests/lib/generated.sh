# Generated programs, recorded and judged; to be sourced after tally.sh with
#
#   compiler   mpicc of the library
#   launcher   the words before `-n N`, an array
#   variants   of each kind
#
# No right one is convicted; of the wrong ones at least 93 in 100 are, and how many by kind is printed.

alar=$BUILD/alar
python3 tests/mpi/generate.py "$SCRATCH/g" "$variants"
cd "$SCRATCH/g" && for file in *.c; do echo "${file%.c}"; done |
    xargs -P 2 -I% "$compiler" -w -g -o % %.c
cd "$OLDPWD" || exit 4

verdict() { # verdict PROGRAM: PASS, FAIL anomaly, UNKNOWN
    local ranks
    ranks=$(sed -n '1s/.*ranks: \([0-9]*\).*/\1/p' "$1.c")
    timeout -k 2 30 "$alar" record --replace --deadline-ms 500 -o "$SCRATCH/h" -- \
        "${launcher[@]}" -n "$ranks" "$1" >"$SCRATCH/recorded" 2>&1
    timeout 20 "$alar" check -q "$SCRATCH/h" 2>&1 | head -n 1 | cut -f 2- | sed 's/^FAIL\t\([a-z-]*\):.*/FAIL \1/; s/^PASS.*/PASS/'
}
for source in "$SCRATCH"/g/*.c; do
    program=${source%.c}
    echo "$(basename "$program" | sed 's/-\([0-9]*\)-\([a-z]*\)$/ \2 \1/') $(verdict "$program")"
done >"$SCRATCH/verdicts"
cat "$SCRATCH/verdicts"
awk '$2 == "right" { right[$1]++; if ($4 != "PASS") bad[$1]++ }
     $2 == "wrong" { wrong[$1]++; if ($4 == "FAIL") found[$1]++ }
     END { for (k in right) printf "%-20s right %d, not passed %d; wrong %d, found %d\n", k, right[k], bad[k], wrong[k], found[k] }' \
    "$SCRATCH/verdicts" | sort
no_false() { ! grep ' right [0-9]* FAIL' "$SCRATCH/verdicts"; }
check "no right program is convicted" no_false
all_pass() { ! grep ' right ' "$SCRATCH/verdicts" | grep -v ' PASS$'; }
check "every right program passes" all_pass
recall() { awk '$2 == "wrong" { n++; f += $4 == "FAIL" } END { print f " of " n; exit !(n >= 10 && f >= 0.93 * n) }' "$SCRATCH/verdicts"; }
check "at least 93 in 100 wrong programs are convicted" recall
sed 's/^/found /' "$SCRATCH/.output"
