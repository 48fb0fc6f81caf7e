#!/usr/bin/env bash
# A recorder in a directory that is not its own: nothing is overwritten, nothing is mixed.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

cat >"$SCRATCH/loop.c" <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    float in = 1, out;
    MPI_Init(&argc, &argv);
    for (int k = 0; k < atoi(argv[1]); k++) {
        MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (argc > 2) { /* until that file is there */
            while (access(argv[2], F_OK) != 0) usleep(1000);
        }
    }
    return MPI_Finalize();
}
C
check "a program to record" mpicc.mpich "$SCRATCH/loop.c" -o "$SCRATCH/loop"
record() { timeout -k 2 50 "$BUILD/alar" record -o "$1" -- mpiexec.mpich -n 2 "$SCRATCH/loop" "${@:2}"; }

# ---- two at a time -------------------------------------------------------------------------------
record "$SCRATCH/two" 3 "$SCRATCH/go" >"$SCRATCH/first" 2>&1 &
first=$!
until ls "$SCRATCH"/two/rank0.jsonl* >/dev/null 2>&1; do kill -0 $first || break; done
expect_text "a second recording into the same directory is refused" 3 "found another recording that is being written to it" \
    record "$SCRATCH/two" 1
touch "$SCRATCH/go"
ended() { wait $first; }
check "the first comes to its end" ended
whole() { "$BUILD/alar" check -q "$SCRATCH/two" && [ "$(cat "$SCRATCH"/two/rank?.jsonl | grep -c '"issue"')" -eq 6 ]; }
check "with every call of its own, and none of the other" whole

# ---- links and files of others -------------------------------------------------------------------
mkdir "$SCRATCH/odd"
echo precious >"$SCRATCH/target"
ln -s "$SCRATCH/target" "$SCRATCH/odd/rank0.jsonl.tmp"
ln -s "$SCRATCH/target" "$SCRATCH/odd/rank1.jsonl"
echo '{"secret":1}' >"$SCRATCH/odd/private.jsonl"
chmod 600 "$SCRATCH/odd/private.jsonl"
record "$SCRATCH/odd" 2 >"$SCRATCH/odd.log" 2>&1
echo "(the recorder ends with $?)"
check "what a planted link points to stays as it was" test "$(cat "$SCRATCH/target")" = precious
private() { [ "$(stat -c %a "$SCRATCH/odd/private.jsonl")" = 600 ] && [ "$(cat "$SCRATCH/odd/private.jsonl")" = '{"secret":1}' ]; }
check "and so does somebody else's file" private
tally
