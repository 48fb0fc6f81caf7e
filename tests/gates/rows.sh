#!/usr/bin/env bash
# No row of handle.def can be lost or said twice: the build stops. spec: H-02
. "$(dirname "$0")/../lib/tally.sh"

(cd ref && cp --parents engine/handle.[ch] engine/handle.def base/check.h api/status.h api/status.def "$SCRATCH")
grep -nE '^(MOVE|REFUSE) *\(' ref/engine/handle.def | cut -d: -f1 >"$SCRATCH/rows"

compiles() { gcc -std=c11 -fsyntax-only -I"$SCRATCH" "$SCRATCH/engine/handle.c"; }
without() { # without LINE: does it still compile?
    sed "$1d" ref/engine/handle.def >"$SCRATCH/engine/handle.def"
    compiles
}
with() { # with ROW
    sed "/^REFUSE(PENDING, *READ/a $1" ref/engine/handle.def >"$SCRATCH/engine/handle.def"
    compiles
}
losses() { # deletes each row in turn; names those that nobody misses
    local line missed=0
    while read -r line; do
        ! without "$line" >/dev/null 2>&1 || { sed -n "${line}p" ref/engine/handle.def && missed=1; }
    done <"$SCRATCH/rows"
    return "$missed"
}

check "the table as it is compiles" compiles
check "there are 64 rows to lose" [ "$(wc -l <"$SCRATCH/rows")" -eq 64 ]
check "the build stops without any one row" losses
expect_text "and says why" 1 "handle.def decides every (state, event) pair" \
    without "$(head -n 1 "$SCRATCH/rows")"
expect_text "a second row for (PENDING, READ) is a duplicate case" 1 "duplicate case value" \
    with 'MOVE(PENDING, READ, RETIRED, "early")'
expect_text "as is a row said twice" 1 "duplicate case value" \
    with 'REFUSE(PENDING, READ, "twice")'
tally
