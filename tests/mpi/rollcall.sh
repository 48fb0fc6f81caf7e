#!/usr/bin/env bash
# Ranks that are gone, mute, late or in trouble: all the others say so, and the job ends in time.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

TALLY_SECONDS=20
deadline=300 grace=200 # milliseconds

story() { # story N CASE RANK [HYDRA-OPTION]...
    local n=$1 case=$2 rank=$3
    shift 3
    ranks "$n" "$@" "$BUILD/tests/mpi/rollcall" "$BUILD/alar-mpich.so" "$case" "$rank" \
        "$deadline" "$grace"
}

# lost VERDICTS TEXT STORY...: the exit code is 2, so many ranks have their say, all say TEXT, and no
# later than deadline + 2 x grace + 1 s after the last of them has posted, the job is over.
lost() {
    local verdicts=$1 text=$2 code=0 late out=$SCRATCH/story
    shift 2
    story "$@" >"$out" 2>&1 || code=$?
    late=$(sed -n 's/^posted //p' "$out" | sort -n | tail -n 1 |
        awk -v end="$EPOCHREALTIME" -v most="$((deadline + 2 * grace + 1000))" \
            '{ spent = 1000 * (end - $1); if (spent > most) print spent " ms, not " most }')
    cat "$out"
    echo "exit code $code; $late"
    [ "$code" -eq 2 ] && [ -z "$late" ] && grep -q '^posted ' "$out" &&
        [ "$(grep -c '^verdict rank' "$out")" -eq "$verdicts" ] &&
        [ "$(grep -c "^verdict rank.*, $text\$" "$out")" -eq "$verdicts" ]
}

YIELD=1
check "all answer all, again and again" story 4 present 0
check "all answer all on 8 ranks" story 8 present 0
check "a late rank answers, and its all-reduce ends well" story 4 late 2

# From here on the clock is looked at.
YIELD=
for rank in 0 2; do
    check "rank $rank mute: the other three say so" lost 3 "rank $rank is silent" 4 mute $rank
done
check "of two ranks, one mute" lost 1 "rank 1 is silent" 2 mute 1
check "of eight ranks, one mute" lost 7 "rank 5 is silent" 8 mute 5
check "mute, hydra's clean-up off" lost 3 "rank 2 is silent" 4 mute 2 -disable-auto-cleanup
check "mute after its post" lost 3 "rank 1 is silent" 4 posted-mute 1
check "gone, hydra's clean-up off" lost 3 "rank 2 is silent" 4 gone 2 -disable-auto-cleanup
check "gone after its post" lost 3 "rank 0 is silent" 4 posted-gone 0 -disable-auto-cleanup
check "a rank that raised says so and leaves with the others" \
    lost 4 "rank 1 has E_NONFINITE at step 4" 4 raised 1
check "a rank with a later deadline leaves with the others" lost 3 "rank 3 is silent" 4 patient 0

# With hydra's clean-up the launcher kills all the others before their deadlines.
killed() {
    ! story 4 gone 2 >"$SCRATCH/story" 2>&1 && ! grep verdict "$SCRATCH/story"
}
check "gone, hydra's clean-up on: nobody has a say" killed

tally
