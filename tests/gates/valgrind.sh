#!/usr/bin/env bash
# seconds: 900
# only: full
# The unit suites under valgrind. Criterion exits 0 whatever valgrind finds in its workers, so the gate
# counts the errors in the reports, and demands that there are reports.
. "$(dirname "$0")/../lib/tally.sh"

reports=$SCRATCH/reports

# watched SUITE...: fails when it does, when valgrind found an error, when it or the suite never ran.
watched() {
    local code=0
    rm -rf "$reports"
    mkdir "$reports"
    timeout -k 2 800 valgrind -q --trace-children=yes --leak-check=full --show-leak-kinds=definite \
        --errors-for-leak-kinds=definite --xml=yes --xml-file="$reports/%p.xml" "$@" \
        >"$reports/closing" 2>&1 || code=$?
    cat "$reports/closing"
    [ "$code" -eq 0 ] || return "$code"
    if grep -q '<error>' "$reports"/*.xml; then
        sed -n '/<error>/,/<\/error>/p' "$reports"/*.xml | grep -E '<(what|text|fn|file|line)>'
        return 99
    fi
    [ "$(find "$reports" -name '*.xml' | wc -l)" -ge 2 ] && grep -q 'Tested: [1-9]' "$reports/closing"
}

build() {
    # Debian 12's valgrind can't read the DWARF 5 of clang 14.
    timeout -k 2 200 make BUILD="$BUILD/valgrind" OPT='-O0 -gdwarf-4' \
        "$BUILD/valgrind/unit" "$BUILD/valgrind/tests/gates/planted"
}

planted() {
    watched "$BUILD/valgrind/tests/gates/planted" --filter "planted/$1"
}

check "builds without optimization" build
check "nothing planted, nothing seen" planted nothing
expect_text "a planted leak is seen" 99 "definitely lost" planted leak
expect_text "a planted overrun is seen" 99 "Invalid read" planted overrun
expect_text "a planted uninitialised read is seen" 99 "uninitialised" planted uninitialised

# valgrind computes in one rounding mode, so what compares with the machine's others is left out.
check "the suites are clean" watched "$BUILD/valgrind/unit" -j2 \
    --filter '!(fp/truncation_agrees_with_the_machine)'

tally
