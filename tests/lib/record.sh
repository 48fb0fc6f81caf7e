# What a recorder must cope with, on one MPI library; to be sourced after tally.sh with
#
#   programs   directory of the programs mixed and stray, built with that library
#   launcher   the words before `-n N`, an array
#   other      the other library's name for --mpi
#
# It leaves $alar and the function `recorded`.

alar=$BUILD/alar
unset LD_PRELOAD

# recorded N PROGRAM...: records a run into $SCRATCH/h, whatever was there.
recorded() {
    local n=$1
    shift
    timeout -k 2 "${TALLY_SECONDS:-60}" "$alar" record --replace "${options[@]}" -o "$SCRATCH/h" -- \
        "${launcher[@]}" -n "$n" "$@"
}
options=()
judged() { "$alar" check "$SCRATCH/h"; }
stray() { # stray CLAIM RECORD-CODE CHECK-CODE CHECK-TEXT PROGRAM-WORDS...
    local claim=$1 record=$2 check=$3 text=$4
    shift 4
    expect_code "$claim: recorded" "$record" recorded 4 "$@"
    expect_text "$claim: judged" "$check" "$text" judged
}

seed=${SEED:-20240301}
echo "seed $seed"
expect_text "1,000 mixed operations are recorded" 0 "4000 all-reduces of 4 ranks" \
    recorded 4 "$programs/mixed" "$seed" 1000
all_judged() { judged | grep -E 'PASS.([0-9]{4}) of \1 operations judged'; }
check "and all judged" all_judged
check "with file and line of each caller" grep -q '"src":"mixed.c:[0-9]*"' "$SCRATCH/h/rank0.jsonl"
expect_text "an older recording is not written into" 3 "expected a directory without a history" \
    "$alar" record -o "$SCRATCH/h" -- "${launcher[@]}" -n 2 "$programs/stray" plain

stray "all types and operations" 0 0 "13 of 13 operations judged" "$programs/stray" types
stray "persistent, ten times" 0 0 "10 of 10 operations judged" "$programs/stray" persistent
stray "communicators used in another order" 0 0 "8 of 8 operations judged" "$programs/stray" groups
stray "a program that forks" 0 0 "2 of 2 operations judged" "$programs/stray" forks
# spec: H-38
stray "a send buffer written in flight" 0 1 "rank 1: the program wrote into a buffer" \
    "$programs/stray" overwrite
stray "a request freed in flight" 0 1 "misuse: operation world/0, rank 0" "$programs/stray" free
stray "a collective cancelled" 0 1 "misuse: operation world/0, rank 0" "$programs/stray" cancel
stray "a request never waited for" 0 1 "leak: operation world/0" "$programs/stray" leak
stray "ranks that mean different reductions" 0 1 "mismatch-red" "$programs/stray" mismatch
expect_text "what a history has no word for is said" 0 "the values of 4 can't be judged" \
    recorded 4 "$programs/stray" derived
expect_text "and never passes" 2 "UNKNOWN" judged
expect_text "a crash: the exit code says so" 2 "4 ranks ended without MPI_Finalize" \
    recorded 4 "$programs/stray" kill
expect_text "and what it left never passes" 2 "stops without an end" judged
truncate -s -9 "$SCRATCH/h/rank2.jsonl"
expect_text "nor does a line that was cut" 2 "stops without an end" judged
expect_code "MPI_Abort: the exit code says so" 2 recorded 4 "$programs/stray" abort
check "and the history has it" grep -q '"ev":"abort".*"group":"world"' "$SCRATCH"/h/rank*.jsonl

# Faults in other people's programs.
fault() { # fault POINT VALUE PROGRAM-WORDS...
    local point=$1 value=$2
    shift 2
    recorded 4 fiu-run -f "" -c "enable name=$point,onetime,failinfo=$value" "$@"
}
expect_code "a bit that flips on its way" 0 fault alar/contribution/bitflip/2 22 \
    "$programs/stray" plain
expect_text "is seen, and excused by the injected fault" 1 "alar/contribution/bitflip/2" judged
expect_code "a rank that is late" 0 fault alar/rank/delay/1 20000 "$programs/stray" plain
expect_text "is no mistake" 0 "1 of 1 operations judged" judged
check "and on record" grep -q '"ev":"fault".*"point":"alar/rank/delay/1","hit":1,"value":20000' \
    "$SCRATCH/h/rank1.jsonl"
expect_code "tests that do nothing" 0 fault 'alar/progress/drop/*' 50 "$programs/stray" polls
expect_text "are no mistake" 0 "1 of 1 operations judged" judged
check "the program asked once more for each" grep -qE '"polls":([5-9][0-9]|[0-9]{3,})' \
    "$SCRATCH/h/rank3.jsonl"
outside() { fiu-run -f "" -c "enable name=alar/rank/delay/0,failinfo=10" "$alar" record --replace \
    -o "$SCRATCH/h" -- "${launcher[@]}" -n 2 "$programs/stray" plain; }
expect_code "fiu-run around it all" 0 outside
check "reaches the rank" grep -q '"point":"alar/rank/delay/0"' "$SCRATCH/h/rank0.jsonl"
expect_text "a misspelt point is refused" 3 "did you mean 'alar/rank/delay/" \
    fault alar/rank/dleay/1 5 "$programs/stray" plain

# Recordings that are none.
expect_text "no MPI program" 3 "is no MPI program" recorded 2 true
expect_text "an MPI program that never starts MPI" 3 "never started MPI" recorded 2 "$programs/stray" no-mpi
expect_text "no all-reduce" 3 "expected all-reduces, found none in 2 ranks" \
    recorded 2 "$programs/stray" nothing
if [ -e "$BUILD/alar-record-$other.so" ]; then
    options=(--mpi "$other")
    expect_text "a program of the other library" 3 "and the program runs on" \
        recorded 2 "$programs/stray" plain
    options=()
else
    skip "a program of the other library" "$BUILD/alar-record-$other.so is not built"
fi
expect_code "recorded once" 0 recorded 2 "$programs/stray" plain
cp "$SCRATCH/h/rank1.jsonl" "$SCRATCH/other"
expect_code "recorded again" 0 recorded 2 "$programs/stray" plain
cp "$SCRATCH/other" "$SCRATCH/h/rank1.jsonl"
expect_text "two recordings mixed are refused" 3 "tag" judged
