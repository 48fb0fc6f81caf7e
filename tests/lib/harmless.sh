# Programs that a recorder must not change, and hangs, on one MPI library; to be sourced after tally.sh
# with `programs` and `launcher` as record.sh takes them. spec: H-30, H-31, H-32, H-33, H-34, H-36, H-37

alar=$BUILD/alar
unset LD_PRELOAD

# What a program prints, in an order that is always the same, and its exit code.
bare() { # bare N PROGRAM...
    local n=$1 code=0
    shift
    timeout -k 2 60 "${launcher[@]}" -n "$n" "$@" >"$SCRATCH/bare.out" 2>"$SCRATCH/bare.err" || code=$?
    { sort "$SCRATCH/bare.out"; echo "code $code"; } >"$SCRATCH/bare"
}
recorded() { # recorded N PROGRAM...
    local n=$1
    shift
    timeout -k 2 60 "$alar" record --replace "${options[@]}" -o "$SCRATCH/h" -- \
        "${launcher[@]}" -n "$n" "$@" >"$SCRATCH/recorded.out" 2>"$SCRATCH/recorded.err"
}
options=()
same() { # same N PROGRAM...: bare and recorded
    bare "$@"
    recorded "$@"
    local code
    code=$(sed -n 's/^alar record: the program ended with code //p' "$SCRATCH/recorded.err")
    { sort "$SCRATCH/recorded.out"; echo "code ${code:-0}"; } | diff "$SCRATCH/bare" - ||
        { cat "$SCRATCH/recorded.err"; return 1; }
}
judged() { "$alar" check "$SCRATCH/h"; }
says() { judged | grep -q "$1"; }
right() { # right CHECK-TEXT N PROGRAM-WORDS...
    local text=$1
    shift
    check "${*:3}: bare and recorded alike" same "$@"
    expect_text "${*:3}: judged" 0 "$text" judged
}

for what in plain polls persistent types groups; do
    right "PASS" 4 "$programs/stray" $what
done
for what in overwrite derived forks leak mismatch; do
    check "$what: bare and recorded alike" same 4 "$programs/stray" $what
done
right "PASS" 3 "$programs/mixed" 7 200
right "80 of 80 operations judged" 1 "$programs/odd" same-handle
right "120 of 120 operations judged" 2 "$programs/odd" same-handle
right "4 of 4 operations judged" 2 "$programs/odd" made
right "1 of 1 operations judged" 2 "$programs/odd" waitall
right "1 of 1 operations judged" 3 "$programs/odd" waitsome
for what in communicator type operation undefined count; do
    right "1 of 1 operations judged" 2 "$programs/odd" refused $what
    check "refused $what: and said" says 'note: call-refused: .*MPI_I\?[aA]llreduce: '
done
for what in free start waitall wait; do
    right "1 of 1 operations judged" 2 "$programs/odd" refused $what
done
check "kinds: bare and recorded alike" same 3 "$programs/odd" kinds
expect_text "kinds: all judged" 0 "16 of 16 operations judged" judged
# spec: H-38
check "results: bare and recorded alike" same 2 "$programs/odd" result
expect_text "a result that is written to in flight" 1 "in-flight-write: operation world/0" judged
options=(--no-hash)
check "and not looked for" recorded 2 "$programs/odd" result
unseen() { ! grep -q '"ev":"write"' "$SCRATCH"/h/rank*.jsonl; }
check "nor seen, where that is asked for" unseen
options=()
check "stack: bare and recorded alike" same 3 "$programs/odd" stack
expect_text "a contribution in a frame that is gone" 1 "in-flight-write: operation world/0" judged

# What people's programs do.
right "2 of 2 operations judged" 3 "$programs/everyday" least
right "2 of 2 operations judged" 3 "$programs/everyday" worst
right "103 of 103 operations judged" 2 "$programs/everyday" kinds
right "8 of 8 operations judged" 4 "$programs/everyday" halves
right "not seen by its recorder: reads of results" 2 "$programs/everyday" early
check "an operation of the program's own: bare and recorded alike" same 3 "$programs/everyday" user-op
expect_text "what is not judged is named, and how many were" 2 \
    "1 of 2 operations judged: the first, world/0, is an operation of the program's own" judged
check "a long buffer: bare and recorded alike" same 3 "$programs/everyday" long-send
expect_text "written to in flight" 1 "in-flight-write: operation world/0" judged
check "a forgotten wait: bare and recorded alike" same 2 "$programs/everyday" forget
expect_text "is a leak" 1 "leak: operation world/2" judged

# Other collectives, with their values. spec: H-39, H-50, H-51
right "74 of 79 operations judged" 3 "$programs/collect" right
right "42 of 45 operations judged" 1 "$programs/collect" right
right "2 of 2 operations judged" 3 "$programs/collect" early
right "2 of 2 operations judged" 3 "$programs/collect" long
right "of 1, no all-reduces, the calls alone were compared" 3 "$programs/collect" gaps
check "a long double that no f64 holds: bare and recorded alike" same 2 "$programs/collect" long
expect_text "is named" 2 "2 of 3 operations judged: the first, world/2, is a long double" judged
collect() { # collect WHAT ANOMALY TEXT
    recorded 3 "$programs/collect" wrong "$1"
    expect_text "collectives, $1: convicted" 1 "$2: operation world/0, rank" judged
    check "collectives, $1: by name" says "$3"
}
collect operation mismatch-red ': reduce sum with root 0 against reduce max with root 0'
collect count mismatch-elements ': 3 against 6'
collect type mismatch-dtype ': i32 against f32'
collect write in-flight-write 'ranks 0, 1, 2'

# Hangs.
hang() { # hang CLAIM CHECK-CODE CHECK-TEXT WHAT
    options=(--deadline-ms 400)
    expect_code "$1: recorded" 2 recorded 2 "$programs/odd" wrong "$4"
    expect_text "$1: judged" "$2" "$3" judged
    options=()
}
hang "crossed collectives" 1 "MPI_Barrier on rank 0 (odd.c:" crossed
check "both call sites are named" \
    says 'against MPI_Allreduce on rank 1 (odd.c:[0-9]*), call 1 of world'
hang "a rank that never joins" 1 "joined {1}, missing {0}" receive
check "where every rank stands" says 'stands .*rank 0 in MPI_Recv, with rank 1, .*called from odd.c:'
hang "a rank that finalizes" 1 "joined {1}, missing {0}" missing
hang "a hang beside the all-reduces" 1 "hang: ranks 0, 1: ranks stood still" everybody
hang "an error that is fatal" 1 "illegal-call: rank" fatal

options=(--deadline-ms 400)
expect_code "a reduction over the world instead of half of it: recorded" 2 recorded 4 "$programs/everyday" world
expect_text "says who is through" 1 "operation world/3, ranks 0, 1" judged
check "and who waits" says 'stands .*rank 2 in MPI_Wait'
options=()

killed() { # killed COMMAND...: `alar record` in it is told to end while rank 0 sleeps
    "$@" "$alar" record --replace -o "$SCRATCH/h" -- "${launcher[@]}" -n 2 "$programs/odd" wrong asleep
}
expect_text "by timeout: the recording is finished" 124 "ended by signal 15" killed timeout -k 5 2
expect_text "and says who is missing" 2 "operation world/1; joined {1}, missing {0}" judged
check "and where" says 'stands .*rank 0 outside MPI'
check "nothing but the recording is left" test -z "$(find "$SCRATCH/h" -not -name '*.jsonl' -type f)"

# Wrapped launchers.
words="${launcher[0]} -n 2 $programs/stray plain"
expect_text "a launcher behind timeout" 0 "2 all-reduces of 2 ranks" \
    "$alar" record --replace -o "$SCRATCH/h" -- timeout 50 "${launcher[@]}" -n 2 "$programs/stray" plain
expect_text "a launcher in a shell" 0 "2 all-reduces of 2 ranks" \
    "$alar" record --replace -o "$SCRATCH/h" -- sh -c "$words"
expect_text "a shell around each rank" 0 "2 all-reduces of 2 ranks" \
    "$alar" record --replace -o "$SCRATCH/h" -- "${launcher[@]}" -n 2 sh -c "$programs/stray plain"

printf '#!/bin/sh\nexec %s -n 2 "$@"\n' "${launcher[0]}" >"$SCRATCH/srun-like" && chmod +x "$SCRATCH/srun-like"
expect_text "a launcher in a script of its own" 0 "2 all-reduces of 2 ranks" \
    "$alar" record --replace -o "$SCRATCH/h" -- "$SCRATCH/srun-like" "$programs/stray" plain
printf '#!/bin/sh\nexit 0\n' >"$SCRATCH/script" && chmod +x "$SCRATCH/script"
expect_text "a script that names no library" 3 "say which with --mpi" \
    "$alar" record --replace -o "$SCRATCH/h" -- "$SCRATCH/script"

# Programs that can't be recorded, each with its cause.
marks_alike() {
    bare 2 "$programs/stray" execs "$SCRATCH/marks-bare"
    recorded 2 "$programs/stray" execs "$SCRATCH/marks-recorded"
    [ "$(wc -l <"$SCRATCH/marks-bare")" -eq 2 ] && diff <(sort "$SCRATCH/marks-bare") <(sort "$SCRATCH/marks-recorded")
}
check "exec before the end: bare and recorded alike" marks_alike
replaced() { cat "$SCRATCH/recorded.err"; }
# One or both: the launcher ends the other rank when it sees the first one go.
expect_text "exec before the end is told" 0 "of them by exec: another program took their place" replaced
expect_text "and where it stood" 2 "in execlp" judged
echo 'int main(void) { return 0; }' >"$SCRATCH/none.c"
"${CC:-gcc}" -static -o "$SCRATCH/static" "$SCRATCH/none.c"
"${CC:-gcc}" -o "$SCRATCH/none" "$SCRATCH/none.c"
unrecorded() { recorded 2 "$SCRATCH/$1"; cat "$SCRATCH/recorded.err"; return 0; }
expect_text "linked statically" 0 "is linked statically" unrecorded static
expect_text "no MPI program" 0 "is no MPI program" unrecorded none
expect_text "a script without one" 0 "is a script" unrecorded script

# The directory. spec: H-35
mkdir "$SCRATCH/d" && echo precious >"$SCRATCH/target" && ln -s "$SCRATCH/target" "$SCRATCH/d/rank0.jsonl"
into() { "$alar" record "$@" -- "${launcher[@]}" -n 2 "$programs/stray" plain; }
expect_text "never through a link, replaced or not" 3 "found rank0.jsonl, which is none" \
    into --replace -o "$SCRATCH/d"
check "the link's target is as it was" grep -qx precious "$SCRATCH/target"
rm "$SCRATCH/d/rank0.jsonl" && echo '{"secret":1}' >"$SCRATCH/d/private.jsonl" && chmod 600 "$SCRATCH/d/private.jsonl"
check "beside somebody's file" into -o "$SCRATCH/d"
check "whose mode stays" test "$(stat -c %a "$SCRATCH/d/private.jsonl")" = 600
echo '{"no":"recording"}' >"$SCRATCH/d/rank0.jsonl"
expect_text "what is no recording is not deleted" 3 "which is none" into --replace -o "$SCRATCH/d"
ln -s "$SCRATCH/h" "$SCRATCH/link"
expect_text "nor is a link a directory" 3 "found: a link or a file" into --replace -o "$SCRATCH/link"
two() {
    "$alar" record --replace -o "$SCRATCH/h" -- "${launcher[@]}" -n 2 "$programs/odd" wrong asleep &
    local first=$!
    for _ in {1..200}; do [ ! -e "$SCRATCH/h/rank1.jsonl" ] || break; sleep 0.05; done
    into --replace -o "$SCRATCH/h"
    local code=$?
    kill -TERM $first
    wait $first
    return $code
}
rm -rf "$SCRATCH/h"
expect_text "nor are two recorders in one" 3 "found another recording that is being written to it" two
check "the header names the start of the machine" grep -q '"boot_id":"[0-9a-f-]*"' "$SCRATCH/h/rank0.jsonl"
