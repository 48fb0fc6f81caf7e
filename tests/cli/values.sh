#!/usr/bin/env bash
# Values of reductions that are no plain sums, as `alar check` judges them; and a short form of
# `make audit-values`, which holds it against an independent enumeration.
. "$(dirname "$0")/../lib/tally.sh"
. "$(dirname "$0")/../lib/words.sh"

# one RED DTYPE IN... -- OUT [CONTRACT]: a history of one all-reduce, judged.
one() {
    local red=$1 dtype=$2 rank=0 file=$SCRATCH/one.jsonl contribution
    local -a in=()
    shift 2
    while [ "$1" != -- ]; do in+=("$1") && shift; done
    : >"$file"
    [ -z "${3:-}" ] || echo "{\"ev\":\"contract\",$3}" >>"$file"
    for contribution in "${in[@]}"; do
        echo "{\"ev\":\"issue\",\"rank\":$rank,\"op\":0,\"red\":\"$red\",\"dtype\":\"$dtype\",\"in\":[$contribution]}"
        rank=$((rank + 1))
    done >>"$file"
    for ((rank = 0; rank < ${#in[@]}; rank++)); do
        echo "{\"ev\":\"done\",\"rank\":$rank,\"op\":0,\"out\":[$2]}"
    done >>"$file"
    words_add "$BUILD/alar" check "$file"
}
legal() { expect_code "$1" 0 one "${@:2}"; }
illegal() { expect_text "$1" 1 "illegal-value" one "${@:2}"; }
many() { local i; for ((i = 0; i < $2; i++)); do echo "$1"; done; } # many VALUE COUNT

# Products. spec: N-30
legal "a product of three in f32" product f32 2 3 5 -- 30
illegal "a product that no order gives" product f32 2 3 5 -- -1e30
legal "an order that meets the zero before it overflows" product f32 3e38 3e38 0 3e38 -- 0
legal "an order that overflows first" product f32 3e38 3e38 0 3e38 -- '"nan"'
illegal "a zero of the other sign" product f32 3e38 3e38 0 3e38 -- '"80000000"'
illegal "an infinity that no order gives" product f32 2 3 5 -- '"inf"'
illegal "a NaN out of finite factors" product f64 2 3 5 -- '"nan"'
illegal "an average for a product" product bf16 2 3 -- 2.5
mapfile -t ones < <(many 1.5 40)
legal "a product of 40 ranks" product f64 "${ones[@]}" -- 11057332.320940012
illegal "a product of 40 ranks, one missing" product f64 "${ones[@]}" -- 7371554.880626675
illegal "a product of 40 ranks, its sign wrong" product f64 "${ones[@]}" -- -11057332.320940012
legal "a 16-bit product kept in fp32" product f16 60000 60000 0 60000 -- 0
illegal "a product that a promised width excludes" product f16 '"3dc8"' '"c1e9"' '"3a26"' -- '"c290"' \
    '"adder":"nearest","width":"f32"'
legal "the same with the width left open" product f16 '"3dc8"' '"c1e9"' '"3a26"' -- '"c290"'
legal "a product modulo 2^8" product u8 200 3 -- 88
illegal "a product of integers, saturated" product u8 200 3 -- 255
legal "a product of integers that promise to saturate" product u8 200 3 -- 255 '"adder":"saturate"'
expect_text "a NaN that a product lost" 1 nan-lost one product f32 '"nan"' 2 3 -- 6

# Averages. spec: N-31
legal "a promised width, rounded once" avg bf16 '"4647"' '"45ea"' '"468f"' -- '"4649"' \
    '"adder":"nearest","width":"f32","avg":"sum-divide"'
legal "a promised width, divided in the dtype" avg bf16 '"4647"' '"45ea"' '"468f"' -- '"4648"' \
    '"adder":"nearest","width":"f32","avg":"sum-divide"'
illegal "a promised width, neither" avg bf16 '"4647"' '"45ea"' '"468f"' -- '"464a"' \
    '"adder":"nearest","width":"f32","avg":"sum-divide"'
legal "a 16-bit average multiplied in fp32" avg f16 '"4317"' '"4974"' '"487f"' -- '"47d1"' '"avg":"multiply-sum"'
illegal "a NaN out of finite contributions" avg bf16 1 2 -- '"nan"'
illegal "an infinity out of finite contributions" avg bf16 1 2 -- '"inf"'
mapfile -t ones < <(many 1 13)
legal "13 ranks in bf16" avg bf16 "${ones[@]}" -- 1
illegal "13 ranks in bf16, never divided" avg bf16 "${ones[@]}" -- 13
mapfile -t ones < <(many 2 33)
illegal "33 ranks in f16, of the wrong sign" avg f16 "${ones[@]}" -- -2
illegal "an average that is a zero of the wrong sign" avg bf16 0 0 -- '"8000"'
legal "an average that underflows to -0" avg f32 '"80000001"' '"80000000"' -- '"80000000"'

# Zeros of sums. spec: N-08
illegal "-0 out of a wide sum" sum f16 '"0001"' '"8000"' '"fbff"' '"7bff"' '"8000"' -- '"8000"' \
    '"adder":"nearest","width":"f32"'
illegal "-0 out of flushed positive numbers" sum bf16 '"0041"' '"0003"' '"8003"' -- '"8000"' '"adder":"flush"'
legal "-0 out of a negative sum that was flushed" sum bf16 '"8080"' '"0041"' '"0081"' '"8081"' -- '"8000"' \
    '"adder":"flush"'
legal "-0 out of nothing but -0" sum f32 '"80000000"' '"80000000"' -- '"80000000"'

# Inf out of finite values, of many ranks. spec: N-14
mapfile -t ones < <(many 2 20)
illegal "an infinity that 20 ranks can't reach" sum f16 "${ones[@]}" -- '"inf"'
legal "an infinity where sums overflow" sum f16 60000 60000 60000 -- '"inf"'
illegal "a finite value near the top, far off" sum f16 "${ones[@]}" 65000 -- 64

# Integers of every width. spec: N-04
legal "i8 wraps" sum i8 127 1 -- -128
legal "i16 wraps" sum i16 -32768 -1 -- 32767
legal "u16 wraps" sum u16 65535 2 -- 1
legal "u32 wraps" sum u32 4294967295 2 -- 1
legal "u64 has values beyond 2^63" max u64 1 18446744073709551615 -- 18446744073709551615
illegal "u64 is not signed" max u64 1 18446744073709551615 -- 1
legal "u64 is divided unsigned" avg u64 18446744073709551613 2 -- 9223372036854775807
illegal "i16, a value that is none" sum i16 3 4 -- 8

# Bitwise and logical. spec: N-32
legal "band" band u8 12 10 -- 8
illegal "band, not bor" band u8 12 10 -- 14
legal "bor" bor u16 12 10 -- 14
legal "bxor" bxor i64 12 10 3 -- 5
legal "land" land i32 3 5 -- 1
illegal "land, not a bit" land i32 3 5 -- 3
illegal "land, one is 0" land i32 3 0 5 -- 1
legal "lor" lor i8 0 0 -- 0
legal "lxor of three" lxor u8 1 7 9 -- 1
legal "true as Fortran writes it" lor i32 -1 0 -- -1
legal "a float is true when it is not 0" land f32 0.5 2 -- 1

# Extremes and where they are. spec: N-33
legal "maxloc" maxloc f32 "2.5,0" "9.5,2" -- "9.5,2"
illegal "maxloc of another rank" maxloc f32 "2.5,0" "9.5,2" -- "9.5,0"
legal "the least index of a tie" maxloc i32 "7,3" "7,1" "2,0" -- "7,1"
illegal "a greater index of a tie" maxloc i32 "7,3" "7,1" "2,0" -- "7,3"
legal "minloc" minloc f64 "2.5,0" "-9.5,2" -- "-9.5,2"
illegal "minloc, not the least" minloc f64 "2.5,0" "-9.5,2" -- "2.5,0"

expect_text "a pair is two elements" 3 "value and index" one maxloc f32 2.5 9.5 -- 9.5
expect_text "floats have no bitwise reductions" 3 "a bitwise reduction of integers" one band f32 1 2 -- 2

# Each rank's values are shown in its own dtype. spec: O-90
mixed() {
    printf '{"ev":"issue","rank":0,"op":0,"dtype":"%s","in":[%s]}\n{"ev":"issue","rank":1,"op":0,"dtype":"%s","in":[%s]}\n' "$@" \
        >"$SCRATCH/mixed.jsonl"
    words_add "$BUILD/alar" check "$SCRATCH/mixed.jsonl"
}
expect_text "f64 beside f32" 1 "0.3333333333333333 (3fd5555555555555)" mixed f32 0.1 f64 0.3333333333333333
expect_text "f32 beside f16" 1 "7 (40e00000)" mixed f16 7 f32 7
expect_text "i64 beside i8" 1 "-9000000000 (fffffffde78ee600)" mixed i8 -9 i64 -9000000000
told_in_its_own() {
    mixed f32 0.1 f64 0.1
    printf '{"ev":"done","rank":%d,"op":0,"out":["%s"]}\n' 0 3dcccccd 1 3fb999999999999a >>"$SCRATCH/mixed.jsonl"
    words_add "$BUILD/alar" check "$SCRATCH/mixed.jsonl"
}
expect_text "results in two widths are a mismatch, not a broken file" 1 mismatch-dtype told_in_its_own

# What several values are allowed for is not the only legal one. spec: N-18
several() { one min f32 1 '"nan"' 3 4 -- 3 | grep -v 'only legal'; }
check "under any policy several minima are legal" several

# An arithmetic is named when one of its orders gives the value. spec: N-34
named() { ! one sum f32 511 507 82 301 -- "$1" | grep -q "accumulated in bf16"; }
check "no bf16 order gives 1402" named 1402
expect_text "a bf16 order gives 1408" 1 "accumulated in bf16" one sum f32 511 507 82 301 -- 1408

expect_text "an average for a product" 1 "diagnosis: what avg gives" one product bf16 2 3 -- 2.5
expect_text "a sum for a maximum" 1 "diagnosis: what sum gives" one max f32 3 7 -- 10
expect_text "a rank missing in a product" 1 "diagnosis: rank 1 is missing" one product f32 3 5 7 -- 21
expect_text "bxor for bor" 1 "what bxor gives" one bor u8 12 10 -- 6

# A promised tree, in every arithmetic that is allowed, of products too. spec: O-33, O-36
legal "a promised tree, kept in fp32" sum f16 2048 1 1 -- 2050 '"tree":"left-fold"'
legal "a promised tree, rounded each time" sum f16 2048 1 1 -- 2048 '"tree":"left-fold"'
expect_text "the value of another tree" 1 not-the-tree one sum f32 16777216 1 1 -- 16777218 '"tree":"left-fold"'
legal "a product by the promised tree" product f32 3e38 0 3e38 -- 0 '"tree":"left-fold"'
expect_text "a product by another tree" 1 not-the-tree one product f32 0 3e38 3e38 -- '"nan"' '"tree":"left-fold"'

words_hold values

# No false FAIL and no wrong PASS. spec: O-05, O-31
audit() { timeout -k 2 360 python3 tests/values/audit.py --alar "$BUILD/alar" --values 3000 --seed 3; }
expect_text "an independent enumeration agrees on 3,000 values" 0 " 0 false FAIL, 0 wrong PASS" audit

tally
