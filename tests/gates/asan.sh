#!/usr/bin/env bash
# seconds: 500
# The unit suites under AddressSanitizer and UndefinedBehaviorSanitizer. A leak alone leaves
# Criterion's exit code at 0, so the gate also demands that no report was written.
. "$(dirname "$0")/../lib/tally.sh"

asan=$BUILD/asan
log=$SCRATCH/report

# watched SUITE...: fails when it does, when a sanitizer had something to say, when nothing ran.
watched() {
    local code=0
    rm -f "$log".*
    ASAN_OPTIONS=log_path=$log:detect_leaks=1 UBSAN_OPTIONS=log_path=$log:halt_on_error=1 \
        timeout -k 2 200 "$@" >"$log" 2>&1 || code=$?
    cat "$log"*
    [ "$code" -eq 0 ] || return "$code"
    ! compgen -G "$log.*" >/dev/null || return 99
    grep -q 'Tested: [1-9]' "$log"
}

build() {
    timeout -k 2 400 make -j2 BUILD="$asan" OPT='-O1 -g1' SANITIZE=address,undefined \
        "$asan/unit" "$asan/tests/gates/planted"
}

check "builds with sanitizers" build
check "the suites are clean" watched "$asan/unit" -j2

planted() {
    watched "$asan/tests/gates/planted" --filter "planted/$1"
}
check "nothing planted, nothing seen" planted nothing
expect_code "a planted leak is seen" 99 planted leak
expect_code "a planted overrun is seen" 1 planted overrun
expect_code "a planted signed overflow is seen" 1 planted overflow

tally
