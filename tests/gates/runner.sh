#!/usr/bin/env bash
# The runner can fail: ci/check.sh and tests/lib/tally.sh on a scratch tree where things go wrong.
. "$(dirname "$0")/../lib/tally.sh"

tree=$SCRATCH/tree
mkdir -p "$tree"/{ci,build,tests/lib,tests/cli,tests/strange}
cp ci/check.sh "$tree/ci/"
cp tests/lib/tally.sh "$tree/tests/lib/"
export BUILD=build

script() { # script NAME LINE...: tests/NAME.sh with the library and these lines
    local name=$1
    shift
    printf '%s\n' '. "$(dirname "$0")/../lib/tally.sh"' "$@" >"$tree/tests/$name.sh"
}
suite() { # suite CODE CLOSING-LINE: what stands in for the Criterion binary
    printf '#!/bin/sh\necho "%s" >&2\nexit %d\n' "$2" "$1" >"$tree/build/unit"
    chmod +x "$tree/build/unit"
}
last_line() { # last_line ARGUMENT...: of ci/check.sh, with its exit code
    local code=0
    "$tree/ci/check.sh" "$@" >"$SCRATCH/all" 2>&1 || code=$?
    echo "<$(tail -n 1 "$SCRATCH/all")>"
    return "$code"
}

script cli/good 'check one true' 'check two true' tally
script cli/bad 'check one true' 'check two false' 'check three true' tally
script cli/skips 'check one true' 'skip two "no such thing here"' tally
script cli/empty tally
script cli/unfinished 'check one true'
script cli/cut 'check one true' 'exit 7'
script cli/slow '# seconds: 1' 'sleep 20' tally
script cli/code 'expect_code "three" 3 sh -c "exit 3"' 'expect_code "four" 4 sh -c "exit 3"' tally
script cli/text 'expect_text "a.c" 1 a.c sh -c "echo a.c; exit 1"' \
    'expect_text "letter by letter" 0 a.c echo abc' 'expect_text "code" 0 a.c sh -c "echo a.c; exit 1"' tally
script cli/long '# only: full' 'check one true' tally

expect_text "counts what passed" 0 "<2 passed, 0 failed>" last_line cli/good
expect_text "counts a failure and goes on" 1 "<2 passed, 1 failed>" last_line cli/bad
expect_text "says what was skipped" 0 "<1 passed, 0 failed, 1 skipped>" last_line cli/skips
expect_text "a script without tests fails" 1 "<0 passed, 1 failed>" last_line cli/empty
expect_text "a script that never counts fails" 1 "<0 passed, 1 failed>" last_line cli/unfinished
expect_text "a script that stops early fails" 1 "<0 passed, 1 failed>" last_line cli/cut
expect_text "a script out of time fails" 1 "<0 passed, 1 failed>" last_line cli/slow
expect_text "a wrong exit code fails" 1 "<1 passed, 1 failed>" last_line cli/code
expect_text "a missing text or a wrong code fails" 1 "<1 passed, 2 failed>" last_line cli/text
expect_text "a part that doesn't exist fails" 1 "<0 passed, 1 failed>" last_line nothing

suite 0 '[====] Synthesis: Tested: 12 | Passing: 12 | Failing: 0 | Crashing: 0'
expect_text "reads Criterion's count" 0 "<12 passed, 0 failed>" last_line unit
suite 1 '[====] Synthesis: Tested: 12 | Passing: 8 | Failing: 4 | Crashing: 1'
expect_text "a failing suite fails" 1 "<8 passed, 4 failed>" last_line unit
suite 0 '[====] Synthesis: Tested: 12 | Passing: 8 | Failing: 4 | Crashing: 1'
expect_text "a suite told to always succeed fails" 1 "<8 passed, 4 failed>" last_line unit
suite 0 '[====] Synthesis: Tested: 0 | Passing: 0 | Failing: 0 | Crashing: 0'
expect_text "a suite that matched nothing fails" 1 "<0 passed, 1 failed>" last_line unit
suite 1 '[====] Synthesis: Tested: 3 | Passing: 3 | Failing: 0 | Crashing: 0'
expect_text "a suite that fails after its count fails" 1 "<3 passed, 1 failed>" last_line unit
suite 0 'no count'
expect_text "a suite without a count fails" 1 "<0 passed, 1 failed>" last_line unit
rm "$tree/build/unit"
expect_text "a missing suite fails" 1 "<0 passed, 1 failed>" last_line unit

# Either script of the pair comes to its end only while the other one runs.
mkfifo "$tree/meeting"
mkdir "$tree/tests/pairs"
script pairs/one 'check one timeout 20 sh -c ": >meeting"' tally
script pairs/other 'check other timeout 20 sh -c ": <meeting"' 'check no false' tally
script pairs/third 'check one true' 'exit 7'
expect_text "scripts run side by side, and are counted one by one" 1 \
    "<2 passed, 2 failed>" last_line pairs
check "a part's time is told" grep -q '^all of pairs, cores  *[0-9.]* s$' "$SCRATCH/all"
rm -r "$tree/tests/pairs"

rm "$tree"/tests/cli/{bad,skips,empty,unfinished,cut,slow,code,text}.sh
suite 0 '[====] Synthesis: Tested: 5 | Passing: 5 | Failing: 0 | Crashing: 0'
expect_text "all parts together" 0 "<7 passed, 0 failed>" last_line
expect_text "the long scripts join on request" 0 "<8 passed, 0 failed>" last_line --full
script strange/lost 'check one true' tally
expect_text "a script in no part fails" 1 "<7 passed, 1 failed>" last_line

# .ci/run with a stand-in for make: what it says of `check` is given, of `matrix` it is
# "$matrix" with exit code $matrix_code.
mkdir "$tree/.ci" "$tree/bin"
cp .ci/run "$tree/.ci/"
matrix='10 passed, 0 failed' matrix_code=0
ci_run() { # ci_run CODE LINE...: the last line of .ci/run when make says these lines
    local code=0
    {
        printf '#!/bin/sh\n[ "$1" = check ] || { echo "%s"; exit %d; }\n' "$matrix" "$matrix_code"
        printf 'echo "%s"\n' "${@:2}"
        printf 'exit %d\n' "$1"
    } >"$tree/bin/make"
    chmod +x "$tree/bin/make"
    PATH=$tree/bin:$PATH "$tree/.ci/run" >"$SCRATCH/all" 2>&1 || code=$?
    echo "<$(tail -n 1 "$SCRATCH/all")>"
    return "$code"
}
expect_text "the pipeline ends with both counts in one" 0 "<33 passed, 0 failed>" \
    ci_run 0 '3 passed, 0 failed'
expect_text "also when make has the last word" 2 "<33 passed, 1 failed, 2 skipped>" \
    ci_run 2 '3 passed, 1 failed, 2 skipped' 'make: *** [Makefile:9: check] Error 1'
expect_text "a build that breaks is a failure" 2 "<30 passed, 1 failed>" ci_run 2 'make: *** Error'
matrix='9 passed, 1 failed' matrix_code=1
expect_text "so is what the matrix finds" 1 "<30 passed, 3 failed>" ci_run 0 '3 passed, 0 failed'
matrix='E: Unable to locate package' matrix_code=2
expect_text "and a matrix that never ran" 2 "<3 passed, 3 failed>" ci_run 0 '3 passed, 0 failed'

tally
