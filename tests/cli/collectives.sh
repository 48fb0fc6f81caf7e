#!/usr/bin/env bash
# Collectives other than the all-reduce, in histories written by hand: each is judged as the all-reduce that
# it is a part of, and ranks must agree on which one it is.
. "$(dirname "$0")/../lib/tally.sh"
. "$(dirname "$0")/../lib/words.sh"

alar=$BUILD/alar

# judge: a history of two ranks from standard input; issues and then what was done.
judge() { words_add "$alar" check "$SCRATCH/h.jsonl"; }
history() { cat >"$SCRATCH/h.jsonl"; }

# gathered OUT: rank 0 puts in 5, rank 1 puts in 7; what they get is OUT.
gathered() {
    history <<END
{"ev":"issue","rank":0,"op":0,"coll":"all_gather","sync":true,"n":2,"in":[5,"80000000"]}
{"ev":"issue","rank":1,"op":0,"coll":"all_gather","sync":true,"n":2,"in":["80000000",7]}
{"ev":"done","rank":0,"op":0,"out":$1}
{"ev":"done","rank":1,"op":0,"out":$1}
END
    judge
}
# spec: H-50
expect_text "an all-gather" 0 "1 of 1 operations judged" gathered '[5,7]'
expect_text "a rank's row is lost" 1 "FAIL	illegal-value" gathered '[5,0]'
expect_text "two rows change places" 1 "FAIL	illegal-value" gathered '[7,5]'

# scattered OUT0 OUT1: each rank puts in 1 and 2, rank 0 gets the first sum and rank 1 the second.
scattered() {
    history <<END
{"ev":"issue","rank":0,"op":0,"coll":"reduce_scatter","sync":true,"n":2,"in":[1,2]}
{"ev":"issue","rank":1,"op":0,"coll":"reduce_scatter","sync":true,"n":2,"in":[1,2]}
{"ev":"done","rank":0,"op":0,"at":0,"out":$1}
{"ev":"done","rank":1,"op":0,"at":1,"out":$2}
END
    judge
}
# spec: H-50
expect_text "a reduce-scatter" 0 "1 of 1 operations judged" scattered '[2]' '[4]'
expect_text "one part is wrong" 1 "FAIL	illegal-value" scattered '[2]' '[5]'
expect_text "a part is not there" 2 "not recorded" scattered '[2]' '[]'
expect_text "a part that does not fit" 3 "expected values from \`at\` up to 2" scattered '[2]' '[4,4]'

# reduced KIND OUT: to rank 0, that has OUT; rank 1 has nothing.
reduced() {
    history <<END
{"ev":"issue","rank":0,"op":0,"coll":"$1","root":0,"sync":true,"n":2,"in":[1,"80000000"]}
{"ev":"issue","rank":1,"op":0,"coll":"$1","root":0,"sync":true,"n":2,"in":["80000000",3]}
{"ev":"done","rank":0,"op":0,"at":0,"out":$2}
{"ev":"done","rank":1,"op":0,"at":0,"out":[]}
END
    judge
}
# spec: H-50
for kind in reduce gather; do
    expect_text "a $kind" 0 "1 of 1 operations judged" reduced $kind '[1,3]'
    expect_text "a $kind without a rank" 1 "FAIL	illegal-value" reduced $kind '["00000000",3]'
done

# late KIND FIRST LAST: of three ranks on one clock the root is 1; rank FIRST is told of the end before rank LAST
# comes, or, with a fourth word, nobody else is and LAST never comes.
late() {
    local rank t
    {
        echo '{"ev":"trace","v":1,"world":3,"clock":"ticks"}'
        for rank in 0 1 2; do
            t=1
            [ "$rank" != "$3" ] || t=20
            [ "$t${4:-}" = 20never ] || echo '{"ev":"issue","rank":'$rank',"t":'$t',"op":0,"coll":"'$1'","root":1,"sync":true,"n":1}'
        done
        for rank in 0 1 2; do
            t=30
            [ "$rank" != "$2" ] || t=10
            [ "$t${4:-}" = 30never ] || echo '{"ev":"done","rank":'$rank',"t":'$t',"op":0}'
        done
        echo '{"ev":"end"}'
    } | history
    judge
}
# spec: H-52
while read -r kind first last wanted; do
    code=2
    [ "$wanted" = UNKNOWN ] || code=1
    expect_text "a $kind to or from 1, rank $first is told before $last comes" $code "$wanted" late "$kind" "$first" "$last"
    [ "$code" -eq 1 ] || wanted="FAIL	mismatch-count: operation world/0, rank $last"
    expect_text "and when it never comes" 1 "$wanted" late "$kind" "$first" "$last" never
done <<END
broadcast 1 0 UNKNOWN
broadcast 0 2 UNKNOWN
broadcast 0 1 FAIL	premature: operation world/0, rank 0
reduce 0 2 UNKNOWN
reduce 0 1 UNKNOWN
reduce 1 2 FAIL	premature: operation world/0, rank 1
gather 2 0 UNKNOWN
gather 1 0 FAIL	premature: operation world/0, rank 1
all_gather 0 2 FAIL	premature: operation world/0, rank 0
reduce_scatter 2 0 FAIL	premature: operation world/0, rank 2
END

# prefixes OUT0 OUT1: each rank puts 2 into its block and those behind; rank 0 ends before rank 1 begins.
prefixes() {
    history <<END
{"ev":"trace","v":1,"world":2,"clock":"ticks"}
{"ev":"issue","rank":0,"t":1,"op":0,"coll":"scan","red":"product","dtype":"i32","sync":true,"n":2,"in":[2,2]}
{"ev":"done","rank":0,"t":2,"op":0,"at":0,"out":$1}
{"ev":"issue","rank":1,"t":3,"op":0,"coll":"scan","red":"product","dtype":"i32","sync":true,"n":2,"in":[1,3]}
{"ev":"done","rank":1,"t":4,"op":0,"at":1,"out":$2}
{"ev":"end"}
END
    judge
}
# spec: H-39, H-50, H-52
expect_text "a scan" 0 "1 of 1 operations judged" prefixes '[2]' '[6]'
expect_text "a scan that forgets a rank" 1 "FAIL	illegal-value" prefixes '[2]' '[3]'

# differs FIELDS0 FIELDS1: what the ranks say of one call.
differs() {
    history <<END
{"ev":"issue","rank":0,"op":0,$1"n":1,"in":[1]}
{"ev":"issue","rank":1,"op":0,$2"n":1,"in":[1]}
END
    judge
}
# spec: H-51
expect_text "another collective" 1 "ranks asked for different reductions in one all-reduce: sum against broadcast with root 0" \
    differs '' '"coll":"broadcast","root":0,'
expect_text "another root" 1 ": reduce max with root 0 against reduce max with root 1" \
    differs '"coll":"reduce","red":"max","root":0,' '"coll":"reduce","red":"max","root":1,'
expect_text "an unknown collective" 3 "all_to_all" differs '"coll":"all_to_all",' ''
words_hold collectives
tally
