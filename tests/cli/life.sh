#!/usr/bin/env bash
# seconds: 900
# What a record means for its rank's part in an operation, and who is named, through `alar check`: each
# history is judged as it stands and with the lines of its ranks in two other orders, which must not
# change the verdict, the anomaly or the ranks. Rows: rule, verdict, anomaly, ranks, words, history with ' for ".
. "$(dirname "$0")/../lib/tally.sh"
. "$(dirname "$0")/../lib/words.sh"

alar=$(realpath "$BUILD/alar")
P="{'ev':'issue','rank':0,'op':0,'in':[1]} {'ev':'issue','rank':1,'op':0,'in':[2]}"
T="{'ev':'issue','rank':0,'op':0,'in':[1],'t':0} {'ev':'issue','rank':1,'op':0,'in':[2],'t':5}"
D="{'ev':'done','rank':0,'op':0,'out':[3]} {'ev':'done','rank':1,'op':0,'out':[3]}"
D1="{'ev':'done','rank':1,'op':0,'out':[3]}"
S="{'ev':'contract','wait':'stream'}"

trace() { local r=0 host; for host in "$@"; do
    printf "{'ev':'trace','rank':$r,'v':1,'world':$#,'clock':'monotonic_ns','t0':0,'boot_id':'x','host':'$host'} "
    r=$((r + 1))
done; }

mkdir "$SCRATCH"/{asis,up,down}
declare -A expected=() saying=()
names=()

# orders HISTORY NAME: as it is, ranks one after the other, and the last rank first; what has no rank stays in front.
orders() {
    tr ' ' '\n' <<<"$1" | sed "s/'/\"/g; /^$/d" >"$SCRATCH/asis/$2.jsonl"
    awk '{ rank = match($0, /"rank":[0-9]+/) ? substr($0, RSTART + 7, RLENGTH - 7) : -1
           print rank "\t" (rank < 0 ? -999 : -rank) "\t" $0 }' "$SCRATCH/asis/$2.jsonl" >"$SCRATCH/ranked"
    sort -s -n -k 1,1 "$SCRATCH/ranked" | cut -f 3- >"$SCRATCH/up/$2.jsonl"
    sort -s -n -k 2,2 "$SCRATCH/ranked" | cut -f 3- >"$SCRATCH/down/$2.jsonl"
}

row() { # row CLAIM "VERDICT ANOMALY RANKS" WORDS HISTORY: to be judged with all others
    local name=${1//[^A-Za-z0-9]/-}
    orders "$4" "$name"
    [ -z "${expected[$name]:-}" ] || tally_fail "$1" "another row has the name $name"
    names+=("$1")
    expected[$name]=$2
    saying[$name]=$3
}

holds() { # holds NAME: prints what is otherwise
    local order found
    for order in asis up down; do
        found=$(grep -F "$order/$1.jsonl " "$SCRATCH/judged" | cut -d ' ' -f 2-)
        [ "$found" = "${expected[$1]}" ] || { echo "order $order: expected ${expected[$1]}, found $found"; return 1; }
    done
    awk -v name="$1.jsonl\t" 'index($0, "\t") { mine = index($0, name) == 1 } mine' "$SCRATCH/said" >"$SCRATCH/words"
    grep -qF -e "${saying[$1]}" "$SCRATCH/words" || { echo "expected the words '${saying[$1]}'"; cat "$SCRATCH/words"; return 1; }
}

rows_hold() { # each row, judged in one go: the process costs more than the history
    local claim
    timeout -k 2 60 "$BUILD/alar" check --json "$SCRATCH"/{asis,up,down}/*.jsonl | jq -r '[(.path | split("/")[-2:] | join("/")),
        .verdict, .findings[0].anomaly // "-", ([.findings[0].ranks[]?] | if length == 0 then "-" else map(tostring) | join(",") end)]
        | join(" ")' >"$SCRATCH/judged"
    (cd "$SCRATCH/asis" && timeout -k 2 60 "$alar" check ./*.jsonl | sed 's|^\./||') >"$SCRATCH/said"
    cp "$SCRATCH/said" "$SCRATCH/.words"
    words_input "$SCRATCH"/asis/*.jsonl
    words_hold life
    for claim in "${names[@]}"; do check "$claim" holds "${claim//[^A-Za-z0-9]/-}"; done
}

# spec: O-70
row "O-70: the same six records in any order" "FAIL premature 0,1" "" \
    "$P $D {'ev':'test','rank':0,'op':0,'done':false} {'ev':'test','rank':1,'op':0,'done':false}"
row "O-70: a peer's input is named before its lines" "PASS - -" "" \
    "{'ev':'issue','rank':1,'op':0,'in':[2]} {'ev':'read','rank':1,'op':0,'by':'backend','of':0,'t':1} \
     {'ev':'done','rank':1,'op':0,'out':[3]} {'ev':'issue','rank':0,'op':0,'in':[1]} {'ev':'done','rank':0,'op':0,'out':[3],'t':9}"
row "O-70: an error after the value, whoever's lines come first" "FAIL failed 0" "" \
    "$P $D {'ev':'fail','rank':0,'op':0,'error':'ECONN'}"

# spec: O-71
many() { # many COUNT: so many operations of two ranks
    local k
    for ((k = 0; k < $1; k++)); do
        printf "{'ev':'issue','rank':%d,'op':$k,'in':[1]} {'ev':'done','rank':%d,'op':$k,'out':[2]} " 0 0 1 1
    done
}
row "O-71: a query that takes it back, inside the window" "FAIL premature 0" "" \
    "$(many 60) {'ev':'test','rank':0,'op':0,'done':false}"
row "O-71: and behind it" "FAIL premature 0" "" "$(many 100) {'ev':'test','rank':0,'op':0,'done':false}"
row "O-71: another value, inside the window" "FAIL value-changed 0" "" \
    "$(many 60) {'ev':'done','rank':0,'op':0,'out':[7]}"
row "O-71: behind it nobody can tell" "UNKNOWN - -" "too far behind" \
    "$(many 100) {'ev':'done','rank':0,'op':0,'out':[2]}"
row "O-71: a read without bits can be told" "PASS - -" "" "$(many 100) {'ev':'read','rank':0,'op':0}"

# spec: O-72
three() { # three A B C: what each of three ranks, which contribute 1, 2 and 4, got
    printf "{'ev':'issue','rank':%d,'op':0,'in':[%d]} " 0 1 1 2 2 4
    printf "{'ev':'done','rank':%d,'op':0,'out':[%d]} " 0 "$1" 1 "$2" 2 "$3"
}
row "O-72: the holder of the illegal result, be it the first" "FAIL ranks-disagree 0" "" "$(three 9 7 7)"
row "O-72: two that hold illegal ones" "FAIL ranks-disagree 0,2" "" "$(three 9 7 8)"
row "O-72: two alike against the legal one" "FAIL ranks-disagree 0,1" "" "$(three 9 9 7)"
row "O-72: all illegal: the odd one" "FAIL ranks-disagree 1" "" "$(three 9 8 9)"
row "O-72: nothing to go by" "FAIL ranks-disagree 0,1,2" "nothing tells which rank is odd" "$(three 8 9 10)"
row "O-72: the odd number of elements" "FAIL mismatch-elements 0" "" \
    "{'ev':'issue','rank':0,'op':0,'in':[1,1]} {'ev':'issue','rank':1,'op':0,'in':[1]} {'ev':'issue','rank':2,'op':0,'in':[1]}"
row "O-72: two ranks, two keys" "FAIL mismatch-key 0,1" "nothing tells which rank is odd" \
    "{'ev':'issue','rank':0,'op':0,'in':[1],'key':'a'} {'ev':'issue','rank':1,'op':0,'in':[1],'key':'b'}"
row "O-72: leaving after one's own failure is no cause" "FAIL failed 0" "" \
    "$P {'ev':'fail','rank':0,'op':0,'error':'ECONN'} {'ev':'exit','rank':0,'code':1} $D1"
row "O-72: a timeout after a wrong value is an echo" "FAIL illegal-value 0,1" "also" \
    "$P {'ev':'done','rank':0,'op':0,'out':[4]} {'ev':'done','rank':1,'op':0,'out':[4]} {'ev':'issue','rank':0,'op':1,'in':[1]} {'ev':'fail','rank':0,'op':1,'error':'timeout'}"

# spec: O-73, N-20
row "O-73: a second done with another value" "FAIL value-changed 1" "" \
    "$P $D {'ev':'done','rank':1,'op':0,'out':[77]}"
row "O-73: bits that are not the result" "UNKNOWN - -" "no record shows a write between" \
    "$P $D {'ev':'read','rank':0,'op':0,'bits':[9]}"
row "O-73: after a write they may be anything" "PASS - -" "" \
    "{'ev':'issue','rank':0,'op':0,'in':[1],'buf':'b'} {'ev':'done','rank':0,'op':0,'out':[1]} {'ev':'write','rank':0,'buf':'b'} {'ev':'read','rank':0,'op':0,'bits':[9]}"
row "O-73: a counter that did not rise convicts" "FAIL value-changed 0" "" \
    "{'ev':'issue','rank':0,'op':0,'in':[1],'ver':3} {'ev':'done','rank':0,'op':0,'out':[1],'ver':3} {'ev':'read','rank':0,'op':0,'bits':[9],'ver':3}"
row "O-73: NaN payloads are told apart in words" "PASS - -" "NaNs of different payloads" \
    "{'ev':'issue','rank':0,'op':0,'in':['7fc00001']} {'ev':'issue','rank':1,'op':0,'in':[2]} {'ev':'done','rank':0,'op':0,'out':['7fc00001']} {'ev':'done','rank':1,'op':0,'out':['ffc00002']}"
row "N-20: the twin is the illegal one" "FAIL twin-illegal 0" "" "$P {'ev':'twin','rank':0,'op':0,'out':[7]} $D"

# spec: O-74
I1="{'ev':'issue','rank':0,'op':0,'in':[1],'buf':'a','stream':1} {'ev':'done','rank':0,'op':0,'out':[1],'stream':1}"
row "O-74: the same storage on the same stream again" "PASS - -" "" \
    "$S $I1 {'ev':'issue','rank':0,'op':1,'in':[1],'buf':'a','stream':1} {'ev':'done','rank':0,'op':1,'out':[1],'stream':1}"
row "O-74: on another stream" "FAIL reused-in-flight 0" "" \
    "$S $I1 {'ev':'issue','rank':0,'op':1,'in':[1],'buf':'a','stream':2} {'ev':'done','rank':0,'op':1,'out':[1],'stream':2}"
row "O-74: streams that nobody recorded" "PASS - -" "" \
    "$S {'ev':'issue','rank':0,'op':0,'in':[1],'buf':'a'} {'ev':'done','rank':0,'op':0,'out':[1]} {'ev':'issue','rank':0,'op':1,'in':[1],'buf':'a'} {'ev':'done','rank':0,'op':1,'out':[1]}"
row "O-74: a done without a stream orders its issue's" "PASS - -" "" \
    "$S {'ev':'issue','rank':0,'op':0,'in':[1],'stream':4} {'ev':'done','rank':0,'op':0,'out':[1]} {'ev':'read','rank':0,'op':0,'stream':4}"
row "O-74: a blocking call orders the stream alone" "FAIL early-read 0" "" \
    "$S {'ev':'issue','rank':0,'op':0,'in':[1],'sync':true} {'ev':'done','rank':0,'op':0,'out':[1],'stream':1} {'ev':'read','rank':0,'op':0}"
row "O-74: a sync of the issue's stream does not complete it" "FAIL early-read 0" "" \
    "$S {'ev':'issue','rank':0,'op':0,'in':[1],'stream':1} {'ev':'sync','rank':0,'stream':1} {'ev':'read','rank':0,'op':0} {'ev':'done','rank':0,'op':0,'out':[1],'stream':1}"

row "O-74: two waits order two streams" "PASS - -" "" \
    "$S $I1 {'ev':'done','rank':0,'op':0,'out':[1],'stream':2} {'ev':'read','rank':0,'op':0,'stream':1} {'ev':'read','rank':0,'op':0,'stream':2}"
row "O-74: and no third one" "FAIL early-read 0" "" \
    "$S $I1 {'ev':'done','rank':0,'op':0,'out':[1],'stream':2} {'ev':'read','rank':0,'op':0,'stream':3}"

# spec: O-83
I2="{'ev':'issue','rank':0,'op':1,'in':[1],'stream':1}"
R0="{'ev':'read','rank':0,'op':0}"
row "O-83: over with the younger one on its stream" "PASS - -" "" "$S $I1 $I2 {'ev':'complete','rank':0,'op':1,'out':[1]} $R0"
row "O-83: or with one that was issued after that" "PASS - -" "" \
    "$S $I1 $I2 {'ev':'done','rank':0,'op':1,'out':[1],'stream':2} {'ev':'issue','rank':0,'op':2,'in':[1],'stream':2} \
     {'ev':'test','rank':0,'op':2,'done':true} {'ev':'complete','rank':0,'op':2,'out':[1]} $R0"
row "O-83: ordered with it on another stream" "PASS - -" "" \
    "$S $I1 $I2 {'ev':'done','rank':0,'op':1,'out':[1],'stream':2} {'ev':'read','rank':0,'op':0,'stream':2}"
row "O-83: not when it was issued before the wait" "FAIL early-read 0" "" \
    "$S {'ev':'issue','rank':0,'op':0,'in':[1],'stream':1} $I2 {'ev':'done','rank':0,'op':0,'out':[1],'stream':1} \
     {'ev':'complete','rank':0,'op':1,'out':[1]} $R0"
row "O-83: nor on another stream" "FAIL early-read 0" "" \
    "$S $I1 {'ev':'issue','rank':0,'op':1,'in':[1],'stream':2} {'ev':'complete','rank':0,'op':1,'out':[1]} $R0"

# spec: O-75
row "O-75: beside the slice, by the operation's name" "PASS - -" "" \
    "{'ev':'issue','rank':0,'op':0,'in':[1],'buf':'b','at':4,'n':1} {'ev':'write','rank':0,'op':0,'at':0,'n':1} {'ev':'done','rank':0,'op':0,'out':[1]}"
row "O-75: in it" "FAIL in-flight-write 0" "" \
    "{'ev':'issue','rank':0,'op':0,'in':[1],'buf':'b','at':4,'n':1} {'ev':'write','rank':0,'op':0,'at':4,'n':1} {'ev':'done','rank':0,'op':0,'out':[1]}"
row "O-75: by the name of what used it before" "FAIL in-flight-write 0" "world/1" \
    "{'ev':'issue','rank':0,'op':0,'in':[1],'buf':'a'} {'ev':'done','rank':0,'op':0,'out':[1]} {'ev':'issue','rank':0,'op':1,'in':[1],'buf':'a'} {'ev':'write','rank':0,'op':0} {'ev':'done','rank':0,'op':1,'out':[1]}"

L="$S {'ev':'issue','rank':0,'op':0,'in':[1],'buf':'b','stream':1} {'ev':'issue','rank':0,'op':1,'in':[1],'buf':'b','at':1,'stream':1} {'ev':'done','rank':0,'op':1,'out':[1],'stream':1}"
L0="{'ev':'done','rank':0,'op':0,'out':[1],'stream':1}"
row "O-75: all that is pending on it, not the youngest alone" "FAIL in-flight-write 0" "world/0" \
    "$L {'ev':'write','rank':0,'buf':'b','stream':1} $L0"
row "O-75: freed under the older one" "FAIL freed-in-flight 0" "world/0" "$L {'ev':'free','rank':0,'buf':'b','stream':1} $L0"
row "O-75: a read of one slice beside the other" "PASS - -" "" "$L {'ev':'read','rank':0,'op':1,'bits':[1],'stream':1} $L0"
Y="{'ev':'issue','rank':0,'op':0,'in':[1],'buf':'a','ver':0} {'ev':'done','rank':0,'op':0,'out':[1],'ver':0} {'ev':'issue','rank':0,'op':1,'in':[5],'buf':'a','ver':0} {'ev':'done','rank':0,'op':1,'out':[5],'ver':0}"
row "O-75: the old name, and what lies there now" "PASS - -" "" "$Y {'ev':'read','rank':0,'op':0,'bits':[5],'ver':0}"
row "O-75: what lay there before" "FAIL value-changed 0" "world/1" "$Y {'ev':'read','rank':0,'buf':'a','bits':[1],'ver':0}"
row "O-75: the old name, and another dtype lies there now" "PASS - -" "" \
    "{'ev':'issue','rank':0,'op':0,'dtype':'i64','in':[1],'buf':'a','ver':0} {'ev':'done','rank':0,'op':0,'out':[1],'ver':0} {'ev':'issue','rank':0,'op':1,'dtype':'u8','in':[5],'buf':'a','ver':0} {'ev':'done','rank':0,'op':1,'out':[5],'ver':0} {'ev':'read','rank':0,'op':0,'bits':['0000000000000005'],'ver':0}"
row "O-75: the back end, by the name of the storage" "FAIL late-write 0" "" "$Y {'ev':'write','rank':0,'buf':'a','by':'backend'}"

# spec: O-76, O-21, O-22
C="{'ev':'trace','v':1,'world':2,'clock':'ticks','deadline':50}"
row "O-76: success after the deadline" "FAIL timeout 0" "success came late: 250 after the deadline" \
    "$C {'ev':'issue','rank':0,'t':0,'op':0,'in':[1]} {'ev':'done','rank':0,'t':300,'op':0,'out':[3]} {'ev':'issue','rank':1,'t':290,'op':0,'in':[2]} {'ev':'done','rank':1,'t':300,'op':0,'out':[3]} {'ev':'end','rank':0} {'ev':'end','rank':1}"
row "O-76: a timeout that was told late" "FAIL timeout 0" "told late: 250 after the deadline" \
    "$C {'ev':'issue','rank':0,'t':0,'op':0,'in':[1]} {'ev':'fail','rank':0,'t':300,'op':0,'error':'timeout'} {'ev':'end','rank':0}"
row "O-22: a stall says how far each rank came" "FAIL stall -" "rank 1: has the value and went on" \
    "$C {'ev':'issue','rank':0,'t':0,'op':0,'in':[1]} {'ev':'wait','rank':0,'t':1,'op':0} {'ev':'issue','rank':1,'t':0,'op':0,'in':[2]} {'ev':'done','rank':1,'t':5,'op':0,'out':[3]} {'ev':'end','rank':0,'t':1005} {'ev':'end','rank':1,'t':1005}"

# spec: O-80
F4() { # F4 OUT: one operation of four ranks more, which add 1 and three small ones
    local r
    for r in 0 1 2 3; do
        printf "{'ev':'issue','rank':$r,'op':$1,'dtype':'bf16','in':[$([ $r = 0 ] && echo 1 || echo 0.00390625)]} "
        printf "{'ev':'done','rank':$r,'op':$1,'out':[$2]} "
    done
}
row "O-80: a fixed order that changes within a run" "FAIL rerun-differs 0,1,2,3" "" \
    "{'ev':'contract','order':'fixed'} $(F4 0 1.0) $(F4 1 1.015625)"

# spec: O-81
B1="{'ev':'issue','rank':0,'op':0,'in':[1],'buf':'a'} {'ev':'done','rank':0,'op':0,'out':[1]} {'ev':'free','rank':0,'buf':'a'}"
row "O-81: a read of what was freed" "FAIL use-after-free 0" "" "$B1 {'ev':'read','rank':0,'op':0}"
row "O-81: freed twice" "FAIL use-after-free 0" "" "$B1 {'ev':'free','rank':0,'buf':'a'}"
B2="{'ev':'issue','rank':0,'op':1,'in':[1],'buf':'a'} {'ev':'done','rank':0,'op':1,'out':[1]}"
row "O-81: issued on it" "FAIL use-after-free 0" "" "$B1 $B2"
row "O-81: after it came back" "PASS - -" "" "$B1 {'ev':'alloc','rank':0,'buf':'a'} $B2"

freed() { local k; for ((k = 0; k < $1; k++)); do
    printf "{'ev':'issue','rank':0,'op':$k,'in':[1],'buf':'a$k'} {'ev':'done','rank':0,'op':$k,'out':[1]} {'ev':'free','rank':0,'buf':'a$k'} "
done; }
row "O-81: freed long ago" "FAIL use-after-free 0" "" "$(freed 30) {'ev':'read','rank':0,'buf':'a0'}"

# spec: O-115
row "O-115: a free of what nobody has" "UNKNOWN - -" '`buf` "aa", rank 0' \
    "{'ev':'issue','rank':0,'op':0,'in':[1],'buf':'a'} {'ev':'free','rank':0,'buf':'aa'} {'ev':'done','rank':0,'op':0,'out':[1]}"
row "O-115: what was allocated may go unused" "PASS - -" "" \
    "{'ev':'alloc','rank':0,'buf':'z'} {'ev':'free','rank':0,'buf':'z'} {'ev':'issue','rank':0,'op':0,'in':[1]} {'ev':'done','rank':0,'op':0,'out':[1]}"
asked() { local k; for k in $(seq 0 39); do printf "{'ev':'write','rank':0,'buf':'w$k'} "; done; }
used() { local k; for k in $(seq 0 "$1"); do printf "{'ev':'issue','rank':0,'op':$k,'in':[1],'buf':'w$k'} {'ev':'done','rank':0,'op':$k,'out':[1]} "; done; }
row "O-115: written before it is used" "PASS - -" "" "$(asked) $(used 39)"
row "O-115: one of many is never used" "UNKNOWN - -" "storage that no operation uses" "$(asked) $(used 38)"

# spec: O-82
expect_text "O-82: an empty rank file" 2 "a rank has no record" "$BUILD/alar" check tests/histories/judge/empty-rank
expect_text "O-82: a header that is cut" 2 "UNKNOWN" "$BUILD/alar" check tests/histories/judge/cut-header

# spec: O-85
V="{'ev':'trace','v':1,'world':2} $P {'ev':'done','rank':0,'op':0,'out':[3]}"
EE="{'ev':'end','rank':0} {'ev':'end','rank':1}"
row "O-85: a wait that never returned" "UNKNOWN - -" "pending where the recording stops" "$V {'ev':'wait','rank':1,'op':0} $EE"
row "O-85: a second one, after the value" "PASS - -" "" "$V $D1 {'ev':'wait','rank':1,'op':0} $EE"

# spec: O-43, O-41
U="{'ev':'contract','use':'once'} {'ev':'issue','rank':0,'op':0,'in':[1,2]} {'ev':'done','rank':0,'op':0,'out':[1,2]}"
row "O-43: nothing of it is read" "FAIL unused 0" "" "$U"
row "O-43: one element of two" "PASS - -" "" "$U {'ev':'read','rank':0,'op':0,'at':1,'n':1}"
row "O-41: that one twice" "FAIL used-twice 0" "" "$U {'ev':'read','rank':0,'op':0,'at':1,'n':1} {'ev':'read','rank':0,'op':0,'at':1,'n':1}"

# spec: O-77
for said in "{'ev':'complete','rank':0,'op':0,'out':[3],'t':1}" "{'ev':'test','rank':0,'op':0,'done':true,'t':1}" \
    "{'ev':'wait','rank':0,'op':0,'done':true,'t':1}" "{'ev':'sync','rank':0,'t':1}"; do
    row "O-77: told too early, and a wait after it: ${said:0:16}" "FAIL premature 0" "" \
        "$T $said {'ev':'done','rank':0,'op':0,'out':[3],'t':7} {'ev':'done','rank':1,'op':0,'out':[3],'t':8}"
done
row "O-77: a query takes it back" "FAIL premature 0" "" \
    "$P {'ev':'test','rank':0,'op':0,'done':true} {'ev':'test','rank':0,'op':0,'done':false} $D"
row "O-77: so does one where a wait begins" "FAIL premature 0" "" \
    "$P $D {'ev':'wait','rank':0,'op':0,'done':false}"
row "O-77: a wait that finds it complete allows the read" "PASS - -" "" \
    "$P {'ev':'wait','rank':0,'op':0,'done':true} {'ev':'read','rank':0,'op':0} $D"

row "O-77: a sync said so before" "PASS - -" "" \
    "$P $D {'ev':'sync','rank':0} {'ev':'complete','rank':0,'op':0,'out':[3]}"

# spec: O-16, O-02
O3="{'ev':'issue','rank':0,'op':0,'in':[1],'t':0} {'ev':'issue','rank':1,'op':0,'in':[2],'t':5} {'ev':'issue','rank':2,'op':0,'in':[4]"
D3="{'ev':'done','rank':0,'op':0,'out':[7],'t':1} {'ev':'done','rank':1,'op':0,'out':[7],'t':6} {'ev':'done','rank':2,'op':0,'out':[7]"
E3="{'ev':'end','rank':0} {'ev':'end','rank':1} {'ev':'end','rank':2}"
row "O-16: two of three ranks share a clock" "FAIL premature 0" "missing {1}" "$(trace h h g) $O3,'t':0} $D3,'t':6} $E3"
row "O-16: those two do not" "PASS - -" "" "$(trace h g h) $O3,'t':0} $D3,'t':6} $E3"
row "O-16: one rank's records have no time" "FAIL premature 0" "missing {1}" "$O3} $D3}"

# spec: N-21
pair() { # pair FIELDS IN IN OUT: two ranks
    printf "{'ev':'issue','rank':%d,'op':0,$1,'in':[%s]} " 0 "$2" 1 "$3"
    printf "{'ev':'done','rank':%d,'op':0,'out':[%s]} " 0 "$4" 1 "$4"
}
row "N-21: who holds the extreme is missed" "PASS - -" "would have shown for 1 of 2" "$(pair "'red':'maxloc'" 3,0 5,1 5,1)"
row "N-21: so is the first of two that hold it" "PASS - -" "would have shown for 1 of 2" "$(pair "'red':'maxloc'" 5,0 5,1 5,0)"
row "N-21: a factor of 1 is missed by nobody" "PASS - -" "would have shown for 1 of 2" "$(pair "'red':'product'" 1 5 5)"
row "N-21: nor is anybody beside a factor of 0" "PASS - -" "would have shown for 1 of 2" "$(pair "'red':'product'" 0 5 0)"
row "N-21: an average of those that are left" "PASS - -" "vacuous" "$(pair "'red':'avg'" 1 1 1)"
row "N-21: another average" "PASS - -" "any missing rank" "$(pair "'red':'avg'" 1 2 1.5)"

# spec: O-31
Z="{'ev':'issue','rank':0,'op':0,'n':0,'in':[]} {'ev':'issue','rank':1,'op':0,'n':0}"
ZD="{'ev':'done','rank':0,'op':0,'out':[]} {'ev':'done','rank':1,'op':0}"
row "O-31: no element, and nothing else" "UNKNOWN - -" "no operation was judged" "$Z $ZD"
row "O-31: beside another one" "PASS - -" "1 of 2 operations judged, same bits on all ranks, all values legal (1 had no element)" \
    "$Z $ZD {'ev':'issue','rank':0,'op':1,'in':[1]} {'ev':'issue','rank':1,'op':1,'in':[2]} {'ev':'done','rank':0,'op':1,'out':[3]} {'ev':'done','rank':1,'op':1,'out':[3]}"
row "O-31: and can be leaked" "FAIL leak 1" "" "$Z {'ev':'done','rank':0,'op':0,'out':[]}"

# spec: O-112
row "O-112: what was reduced is reduced again" "PASS - -" "note: reduced-again, 1 time" \
    "$P $D {'ev':'issue','rank':0,'op':1,'in':[3]} {'ev':'issue','rank':1,'op':1,'in':[3]} {'ev':'done','rank':0,'op':1,'out':[6]} {'ev':'done','rank':1,'op':1,'out':[6]}"

# spec: O-114
G="{'ev':'trace','v':1,'world':2} $P $D {'ev':'end','rank':0} {'ev':'exit','rank':1,'code':0}"
row "O-114: an exit is no end" "UNKNOWN - -" "stops without an end: rank 1" "$G"
row "O-114: an end after it is one" "PASS - -" "" "$G {'ev':'end','rank':1}"

# spec: O-78
row "O-78: a query that said yes ends the handle" "UNKNOWN - -" "not recorded" \
    "$P {'ev':'test','rank':0,'op':0,'done':true} $D1"
row "O-78: with what was read as its value" "PASS - -" "" \
    "$P {'ev':'test','rank':0,'op':0,'done':true} {'ev':'read','rank':0,'op':0,'bits':[3]} $D1"
row "O-78: a sync ends no handle" "FAIL leak 0" "" "$P {'ev':'sync','rank':0} $D1"

# spec: O-79
A="$P {'ev':'abort','rank':0}"
row "O-79: torn down, and nothing more" "UNKNOWN - -" "torn down" "$A $D1"
row "O-79: a read after that" "FAIL no-value-read 0" "" "$A {'ev':'read','rank':0,'op':0} $D1"
row "O-79: a success after that" "FAIL abort-as-success 0" "" "$A {'ev':'complete','rank':0,'op':0,'out':[3]} $D1"
row "O-79: it may go on" "UNKNOWN - -" "" "$A {'ev':'write','rank':0,'op':0,'by':'backend'} $D1"
row "O-79: issued after that" "UNKNOWN - -" "torn down" "{'ev':'abort','rank':0} $P $D"

rows_hold

# ---- what is asked in another way ------------------------------------------------------------------
orders "$P {'ev':'twin','rank':0,'op':0,'out':[3,9]} $D" twin
expect_text "N-20: a twin of more than n values is refused" 3 "at most n values" "$BUILD/alar" check "$SCRATCH/asis/twin.jsonl"
orders "$(pair "'red':'product'" 1 1 1)" power
expect_text "N-21: a pass without power is none" 2 "could not have revealed" "$BUILD/alar" check --require-power "$SCRATCH/asis/power.jsonl"

# spec: O-84
mkdir "$SCRATCH/two"
orders "$(trace h h) $P $D {'ev':'end','rank':0} {'ev':'end','rank':1}" two
cp "$SCRATCH/up/two.jsonl" "$SCRATCH/two/a.jsonl" && cp "$SCRATCH/down/two.jsonl" "$SCRATCH/two/b.jsonl"
expect_text "O-84: two merged files with a header for each rank are two histories" 0 "two/b.jsonl" "$BUILD/alar" check "$SCRATCH/two"
tally
