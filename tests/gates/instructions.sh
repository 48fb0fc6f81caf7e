#!/usr/bin/env bash
# Speed that no clock tells: instructions of a handle step, an engine event, an operation of `alar run` on
# the simulator, and an operation that `alar check` judges, by callgrind, within 3 % of what is on record in
# instructions.txt. They are those of one compiler, C library and processor family: elsewhere the gate is
# skipped. After a change that is meant: tests/gates/instructions.sh --record
. "$(dirname "$0")/../lib/tally.sh"

table=tests/gates/instructions.txt
alar=$BUILD/alar

# What the counts depend on, besides our own code.
tools() {
    local compiler
    compiler=$(readelf -p .comment "$alar" | sed -n 's/.*\(GCC\|clang version\).* \([0-9.]*\)$/\1 \2/p' | head -n 1)
    echo "${compiler:-unknown}, $(getconf GNU_LIBC_VERSION), $(uname -m)$(grep -qw avx2 /proc/cpuinfo && echo ' with avx2')," \
        "$(valgrind --version)"
}

collected() { # collected COMMAND...: instructions of the whole program
    timeout -k 2 100 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
        sed -n 's/.*Collected : //p'
}

# The difference of two runs, so that what begins and ends a program does not count.
handle() { collected "$BUILD/tests/bench/instructions" handle $((12000 * $1)); }
engine() { collected "$BUILD/tests/bench/instructions" engine $((12000 * $1)); }
driver() { collected "$alar" run --backend sim --ranks 2 --input sums --compare none --quiet --steps 0:$((20 * $1)); }
judged() { # 4 ranks, gloo, 5 records of each rank
    tests/bench/history.sh $((1920 * $1)) "$SCRATCH/judged$1"
    collected "$alar" check -q "$SCRATCH/judged$1"
}
escaped() { # the same in a spelling that the JSON library has to read
    tests/bench/history.sh $((1920 * $1)) "$SCRATCH/escaped$1"
    sed -i 's/^{"ev"/{"\\u0065v"/' "$SCRATCH/escaped$1"/*
    collected "$alar" check -q "$SCRATCH/escaped$1"
}
each() { # each WHAT PIECES: instructions of one, of so many a unit
    local few many
    few=$("$1" 1) many=$("$1" 5)
    awk "BEGIN { printf \"%.1f\n\", (${many:-0} - ${few:-0}) / (4 * $2) }"
}
is_near() { # is_near FOUND RECORDED
    echo "found $1 instructions, $2 on record: $table"
    awk "BEGIN { exit !($1 >= 0.97 * $2 && $1 <= 1.03 * $2) }"
}
recorded() { awk -v what="$1" '$1 == what { print $2 }' "$table"; }

pieces=("handle 12000" "engine 12000" "driver 160" "judged 96")
if [ "${1:-}" = --record ]; then
    {
        echo "built $(tools)"
        for piece in "${pieces[@]}"; do echo "${piece% *} $(each $piece)"; done
    } >"$SCRATCH/table" && cp "$SCRATCH/table" "$table" && cat "$table"
    exit
fi

if [ "$(sed -n 's/^built //p' "$table")" != "$(tools)" ]; then
    skip "instructions are those on record" "they are of another build: here $(tools)"
elif ! grep -q -e ' -O2 ' "$BUILD/flags" || grep -q -e -fsanitize -e --coverage "$BUILD/flags"; then
    skip "instructions are those on record" "of another kind of build than the ordinary one"
else
    for piece in "${pieces[@]}"; do
        check "instructions of '${piece% *}' are within 3 % of those on record" \
            is_near "$(each $piece)" "$(recorded "${piece% *}")"
    done
    expect_text "lines that the plain reader leaves to the library are noticed" 1 "on record" \
        is_near "$(each escaped 96)" "$(recorded judged)"
fi
tally
