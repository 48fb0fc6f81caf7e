#!/usr/bin/env bash
# Fuzzes each target for FUZZ_SECONDS (60) from its kept corpus: tests/fuzz/run.sh [TARGET]...
# New inputs go to $BUILD/fuzz, findings are left there; the corpus in the tree changes only by hand:
#   build/fuzz/fuzz_NAME -merge=1 tests/fuzz/corpus/NAME build/fuzz/NAME
set -u
cd "$(dirname "$0")/../.." || exit 4

BUILD=${BUILD:-build}
seconds=${FUZZ_SECONDS:-60}
failed=0
for target in "${@:-history judge}"; do
    for name in $target; do
        mkdir -p "$BUILD/fuzz/$name"
        log=$BUILD/fuzz/$name.log
        if timeout -k 2 $((seconds + 60)) "$BUILD/fuzz/fuzz_$name" -max_total_time="$seconds" \
            -max_len=4096 -rss_limit_mb=3000 -print_final_stats=1 -artifact_prefix="$BUILD/fuzz/$name-" \
            "$BUILD/fuzz/$name" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
            echo "ok   $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s"
        else
            failed=1
            echo "FAIL $name"
            tail -n 40 "$log" | sed 's/^/     | /'
        fi
    done
done
exit $failed
