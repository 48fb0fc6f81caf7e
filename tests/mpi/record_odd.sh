#!/usr/bin/env bash
# A recorder in a directory that is not its own: nothing is overwritten, nothing is mixed. And in a program that misbehaves.
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

# ---- programs that misbehave ---------------------------------------------------------------------
cat >"$SCRATCH/bad.c" <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static int is(const char *how) { return strcmp(getenv("HOW"), how) == 0; }
__attribute__((constructor)) static void loaded(void) { if (is("load")) _exit(0); }
int main(int argc, char **argv)
{
    float in = 1, out;
    MPI_Init(&argc, &argv);
    for (int k = 0; k < 3; k++) {
        MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (k == 1 && is("crash")) abort();
        if (k == 1 && is("leave")) _exit(0);
        for (int file = 3; k == 1 && is("write") && file < 64; file++) {
            struct stat what;
            if (fstat(file, &what) == 0 && S_ISREG(what.st_mode)) (void)!write(file, "garbage\n", 8);
        }
    }
    return MPI_Finalize();
}
C
check "one that misbehaves" mpicc.mpich -w "$SCRATCH/bad.c" -o "$SCRATCH/bad"
bad() { HOW=$1 timeout -k 2 50 "$BUILD/alar" record -o "$SCRATCH/$1" -- "$SCRATCH/bad" </dev/null; }
expect_text "one that ends as it is loaded: nothing was recorded" 3 "expected a recording, found none" bad load
expect_text "one that crashes: with which code" 2 "the program ended with code 134" bad crash
expect_text "one that leaves with 0 in the middle: without its end" 2 "1 ranks ended without MPI_Finalize" bad leave
for how in crash leave; do
    expect_text "is never passed" 2 "stops without an end" "$BUILD/alar" check -q "$SCRATCH/$how"
done
expect_code "one that writes to every file there is, the recorder's too" 0 bad write
expect_text "spoils nothing of what was recorded" 0 "3 of 3 operations judged" "$BUILD/alar" check -q "$SCRATCH/write"
tally
