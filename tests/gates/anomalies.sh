#!/usr/bin/env bash
# No anomaly is decoration: with any one of them switched off in a judge of its own, the verdict of at
# least one case changes (tests/histories, or the smallest history of `alar explain`), or a mutant survives.
# seconds: 400
# only: full
. "$(dirname "$0")/../lib/tally.sh"

# The judge with a switch: what ALAR_OFF names is never found.
planted=$SCRATCH/judge_find.c
awk '
    /^struct alar_evidence \*judge_found\(/ { print "static bool is_off(enum alar_anomaly anomaly)\n{\n" \
        "    const char *off = getenv(\"ALAR_OFF\");\n\n" \
        "    return off != NULL && strcmp(off, alar_anomaly_name(anomaly)) == 0;\n}\n"; inside = 1 }
    { print }
    inside && /^{/ { print "    if (is_off(anomaly)) {\n        return NULL;\n    }"; inside = 0 }
    /^#include <string.h>/ { print "#include <stdlib.h>" }
' ref/judge/findings.c >"$planted"
# An order mismatch begins as another one, and is renamed.
renamed=$SCRATCH/judge_issue.c
awk '
    /found\[kept->anomaly\]--;/ { print "            if (getenv(\"ALAR_OFF\") != NULL && strcmp(getenv(\"ALAR_OFF\"), \"mismatch-order\") == 0) {\n" \
        "                continue;\n            }" }
    { print }
    /^#include <string.h>/ { print "#include <stdlib.h>" }
' ref/judge/issue.c >"$renamed"
compile() { gcc -std=c11 -O2 -ffp-contract=off -fno-tree-slp-vectorize -D_XOPEN_SOURCE=700 -I. -Iref -c "$1" -o "$1.o"; }
switch() {
    grep -q 'is_off(anomaly)) {' "$planted" && grep -q ALAR_OFF "$renamed" &&
        compile "$planted" && compile "$renamed" &&
        gcc "$BUILD"/obj/ref/{timeline,cost,view,cli}/*.o "$BUILD/obj/view_page.o" "$SCRATCH"/*.c.o "$BUILD/libparts.a" -lyajl -lfiu -lm -ldl -o "$SCRATCH/alar" &&
        gcc "$BUILD"/obj/tests/mutants/*.o "$BUILD/obj/tests/lib/history_more.o" "$SCRATCH"/*.c.o "$BUILD/libparts.a" -lyajl -lfiu -lm -ldl \
            -o "$SCRATCH/mutants"
}
check "a judge with a switch is built" switch

names() { sed -n 's/^X([A-Z0-9_]*, *"\([^"]*\)".*/\1/p' ref/judge/anomaly.def; }
mkdir "$SCRATCH/explained"
for anomaly in $(names); do
    "$BUILD/alar" explain "$anomaly" | sed -n '/^The nearest/q; /^{/p' >"$SCRATCH/explained/$anomaly.jsonl"
    [ -s "$SCRATCH/explained/$anomaly.jsonl" ] || rm "$SCRATCH/explained/$anomaly.jsonl"
done
cases=(tests/histories/*.jsonl "$SCRATCH"/explained/*.jsonl)
judge() { "$1" check -q "${cases[@]}" 2>/dev/null | cut -d: -f1; }
verdicts() { judge "$SCRATCH/alar"; }
verdicts >"$SCRATCH/whole"
agrees() { judge "$BUILD/alar" | cmp - "$SCRATCH/whole"; }
check "it judges as the other one does" agrees

mkdir -p "$SCRATCH/scenes/mpich"
matters() { # matters ANOMALY
    export ALAR_OFF=$1
    verdicts | cmp -s - "$SCRATCH/whole" || return 0
    echo "no case needs it; mutants:"
    ! "$SCRATCH/mutants" score "$SCRATCH/scenes" "$SCRATCH/json" 1 2 0 0 0
}
while read -r anomaly; do
    check "$anomaly is needed" matters "$anomaly"
done < <(names | grep -v '^rerun-differs$')

# A rerun is held against its first run by another part of the judge: it has cases of its own.
check "rerun-differs is needed" grep -q '"rerun-differs"' tests/cli/check.sh
tally
