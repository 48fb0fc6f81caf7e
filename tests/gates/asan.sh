#!/usr/bin/env bash
# seconds: 1500
# The unit suites under AddressSanitizer and UndefinedBehaviorSanitizer. A leak alone leaves
# Criterion's exit code at 0, so the gate also demands that no report was written.
. "$(dirname "$0")/../lib/tally.sh"

asan=$BUILD/asan
log=$SCRATCH/report

# ours REPORT...: is any of it about us? Criterion itself now and then leaks a few bytes, which it allocates.
ours() {
    cat "$@" | awk '/ERROR: AddressSanitizer|runtime error:/ { found = 1 }
        /(Direct|Indirect) leak of/ { inside = 1 }
        inside && / #1 / { inside = 0; if (!/libcriterion/) found = 1 }
        END { exit !found }'
}

# watched SUITE...: fails when it does, when a sanitizer had something to say, when nothing ran.
watched() {
    local code=0
    rm -f "$log".*
    ASAN_OPTIONS=log_path=$log:detect_leaks=1 UBSAN_OPTIONS=log_path=$log:halt_on_error=1 \
        timeout -k 2 900 "$@" >"$log" 2>&1 || code=$?
    cat "$log"*
    [ "$code" -eq 0 ] || return "$code"
    ! compgen -G "$log.*" >/dev/null || ! ours "$log".* || return 99
    grep -q 'Tested: [1-9]' "$log"
}

build() {
    timeout -k 2 900 make -j2 BUILD="$asan" OPT='-O1 -g1' SANITIZE=address,undefined \
        "$asan/unit" "$asan/tests/gates/planted"
}

check "builds with sanitizers" build
check "the suites are clean" watched "$asan/unit" -j2

leak_of() { # leak_of FRAME: a report of one leak, allocated there
    printf '==1==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 48 byte(s) in 1 object(s):\n'
    printf '    #0 0x1 in calloc\n    #1 0x2 in %s\n    #2 0x3 in run (libcriterion.so.3+0x1)\n' "$1"
}
expect_code "a leak of the test library's own is not ours" 1 ours <(leak_of "add (libcriterion.so.3+0x2)")
expect_code "a leak below it is" 0 ours <(leak_of "alar_open ref/driver/alar.c:9")

planted() {
    watched "$asan/tests/gates/planted" --filter "planted/$1"
}
check "nothing planted, nothing seen" planted nothing
expect_code "a planted leak is seen" 99 planted leak
expect_code "a planted overrun is seen" 1 planted overrun
expect_code "a planted signed overflow is seen" 1 planted overflow

tally
