#!/usr/bin/env bash
# `alar order` on the simulator, whose orders are known.
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar
order() { "$alar" order --backend sim "$@"; }

while read -r name tree; do
    expect_text "$name" 0 "    $tree  " order --sim-order "$name" --counts 2
    expect_text "$name, from every pair" 0 "    $tree  " order --sim-order "$name" --counts 2 --all-pairs
    for dtype in f16 bf16 f64; do
        expect_text "$name in $dtype" 0 "    $tree  " \
            order --sim-order "$name" --counts 1 --dtype $dtype
    done
    expect_text "$name, averaged" 0 "    $tree  " \
        order --sim-order "$name" --counts 1 --reduction avg
done <<'END'
left-fold           ((((0+1)+2)+3)+4)
right-fold          (0+(1+(2+(3+4))))
recursive-doubling  (((0+1)+2)+(3+4))
binomial            (((0+1)+(2+3))+4)
END

expect_text "a ring has another order in each chunk" 0 \
    "((0+((2+3)+4))+1)  left-fold@2  every rank, elements 6 to 7" \
    order --sim-order ring --counts 12
expect_text "an order of arrival changes between calls" 0 "no tree: the order changes between calls" \
    order --sim-order arrival --counts 2
expect_code "that is wrong under --strict" 1 order --sim-order arrival --counts 2 --strict
expect_code "and a fixed order is not" 0 order --sim-order ring --counts 2 --strict
for width in "bf16 8" "f16 11" "f32 24" "f64 53"; do
    expect_text "the accumulator of ${width% *}" 0 "accumulator: ${width#* } bits" \
        order --dtype "${width% *}" --counts 1
done
expect_text "two ranks have one order and no measurable accumulator" 0 "(0+1)  left-fold" \
    order --ranks 2 --counts 1
expect_text "one rank has nothing to order" 0 "    0  left-fold" order --ranks 1 --counts 1
expect_text "40 ranks" 0 "recursive-doubling" order --ranks 40 --counts 1

check "JSON lines" jq -e -s '.[0].tree == "(((0+1)+2)+(3+4))" and .[0].name == "recursive-doubling"
    and .[-1].ranks_agree and .[-1].changed == 0 and .[-1].accumulator == 24' \
    <(order --counts 3 --json)
graph() { order --counts 1 --dot | grep -c "$1"; }
expect_text "Graphviz: a box for each rank" 0 5 graph 'shape=box'
expect_text "Graphviz: a circle for each addition" 0 4 graph 'shape=circle'
expect_text "Graphviz: every node but the root points somewhere" 0 8 graph ' -> '

expect_text "counts that are none" 3 "--counts: expected" order --counts 1,,2
expect_text "a count of zero" 3 "--counts: expected" order --counts 0
expect_text "averages of f16" 3 "can't do this" order --dtype f16 --reduction avg
expect_text "a back end that is not there" 3 "/nowhere/x.so" "$alar" order --backend /nowhere/x.so
expect_text "an unknown order" 3 "left-fold" order --sim-order letf-fold
tally
