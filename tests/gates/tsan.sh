#!/usr/bin/env bash
# seconds: 400
# only: full
# `alar check` with threads under ThreadSanitizer: every history on file, and a long one, text and packed. A race
# planted in a program of its own is seen.
. "$(dirname "$0")/../lib/tally.sh"

tsan=$BUILD/tsan

build() { timeout -k 2 300 make -j2 BUILD="$tsan" OPT='-O1 -g1' SANITIZE=thread "$tsan/alar"; }
check "builds with ThreadSanitizer" build

export TSAN_OPTIONS="exitcode=66:halt_on_error=1"
# clean COMMAND...: says something, and not of races; a verdict is no matter here
clean() {
    local code=0
    timeout -k 2 200 "$@" || code=$?
    [ "$code" -le 3 ]
}
tests/bench/history.sh 20000 "$SCRATCH/long"
"$BUILD/alar" pack -q -o "$SCRATCH/packed" "$SCRATCH/long"
check "a long history" clean "$tsan/alar" check -q --threads 3 "$SCRATCH/long"
check "the same packed" clean "$tsan/alar" check -q --threads 3 "$SCRATCH/packed"
check "every history on file" clean "$tsan/alar" check -q --threads 3 tests/histories/*.jsonl tests/histories/*/ tests/data/histories-gloo

printf '%s\n' '#include <pthread.h>' 'static int count;' \
    'static void *add(void *none) { count++; return none; }' \
    'int main(void) { pthread_t one; pthread_create(&one, 0, add, 0); count++; pthread_join(one, 0); return 0; }' >"$SCRATCH/race.c"
planted() { "${CC:-gcc}" -g -fsanitize=thread "$SCRATCH/race.c" -o "$SCRATCH/race" && "$SCRATCH/race"; }
expect_text "a planted race is seen" 66 "data race" planted
tally
