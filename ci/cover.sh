#!/usr/bin/env bash
# Coverage of the core by the Criterion suites: ci/cover.sh CORE-FILE... (`make cover` passes them).
#
# At least 95 % of lines and 90 % of branches, of the engine and of the oracle's judge each. Tests are
# not counted, nor are the branches of claims (PRE, POST, INV): a claim that holds has a side that never
# runs. UNIT_ARGS goes to the suites, so that a test can show that running less is noticed.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}/cover

make BUILD="$build" CC=gcc OPT='-O0 -g' COVER=1 FAULTS=1 "$build/unit"
find "$build" -name '*.gcda' -delete
# shellcheck disable=SC2086 # one option a word
timeout -k 2 300 "$build/unit" -j2 ${UNIT_ARGS:-} >"$build/unit.log" 2>&1 || {
    cat "$build/unit.log"
    exit 1
}

# demand NAME FILE...: 95 % of lines and 90 % of branches over the files.
demand() {
    local name=$1 filters= file
    shift
    for file in "$@"; do filters="$filters --filter $file"; done
    # shellcheck disable=SC2086 # one option a word
    gcovr --root . $filters --object-directory "$build/deep" "$build/deep" \
        --exclude-branches-by-pattern '^\s*(PRE|POST|INV|DEEP|ALAR_ASSERT)\(' \
        --txt "$build/$name.txt" --fail-under-line 95 --fail-under-branch 90 --print-summary \
        --json-summary "$build/$name.json" || code=1
    cat "$build/$name.txt"
}

engine=() judge=()
for file in "$@"; do
    case $file in
    ref/judge/*) judge+=("$file") ;;
    *) engine+=("$file") ;;
    esac
done
code=0
demand engine "${engine[@]}"
[ ${#judge[@]} -eq 0 ] || demand judge "${judge[@]}"
for file in "$@"; do
    # A file of tables has no line that runs.
    if [ -e "$file" ] && ! grep -q '^{' "$file"; then continue; fi
    grep -qF "\"filename\": \"$file\"" "$build"/{engine,judge}.json || {
        echo "cover: $file was not measured"
        code=1
    }
done
exit "$code"
