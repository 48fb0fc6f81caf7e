#!/usr/bin/env bash
# seconds: 900
# Back ends that die, leave or hang, wherever they do: `alar conform` names function and rank, ends within its time, and
# leaves no process behind.
. "$(dirname "$0")/../lib/conform.sh"

# dies FUNCTION TEXT SED-SCRIPT: the last of two ranks is named with that function.
dies() {
    check "$1: it compiles" build "$1" "$3"
    expect_text "a back end that dies in $1: rank 1, and the signal" 1 "rank 1: $2" dies_run "$1"
}
dies_run() {
    rm -rf "$SCRATCH/failures"
    conform "$SCRATCH/$1.so" --ranks 2
    local code=$?
    "$alar" check -q "$SCRATCH/failures/returns.jsonl" | sed -E 's/.*no-return: .*(rank [0-9]+): .*; ([a-z_]+) .*(signal|code).*/\1: \2 \3/'
    if pgrep -f "conform $SCRATCH/$1.so" >/dev/null; then echo "processes are left"; return 9; fi
    return $code
}
in_function() { echo "/^static int my_$1(/,/^}/s/\$/ /;/^static int my_$1(/,/^}/s/^{ *\$/{ $2/"; }

# Two that hang, beside all others, for each takes the patience of the command.
check "one that hangs in init compiles" build hangs "$(in_function init 'while (boot->rank == 1) sleep(1);')"
check "one that hangs at load compiles" build stands \
    's/^enum { RANKS = 64/__attribute__((constructor)) static void start(void) { const char *r = getenv("ALAR_RANK"); while (r \&\& r[0] == 49) sleep(1); }\n&/'
for name in hangs stands; do
    "$alar" conform "$SCRATCH/$name.so" --ranks 2 --seconds 60 --output "$SCRATCH/$name" >"$SCRATCH/$name.txt" 2>&1 &
done
hung() { wait && ! pgrep -f "conform $SCRATCH/(hangs|stands).so"; }

dies comm_create "comm_create signal" "$(in_function comm_create 'if (((struct rank *)context)->rank == 1) abort();')"
dies allreduce "allreduce signal" "$(in_function allreduce 'if (((struct comm *)comm)->rank->rank == 1) abort();')"
dies test "test signal" "$(in_function test 'if (((struct request *)request)->comm->rank->rank == 1) abort();')"
dies wait "wait signal" "$(in_function wait 'if (((struct request *)request)->comm->rank->rank == 1) *(volatile int *)8 = 1;')"
dies request_free "request_free signal" "$(in_function request_free 'if (((struct request *)request)->comm->rank->rank == 1) abort();')"
dies progress "progress signal" "$(in_function progress 'if (((struct rank *)context)->rank == 1) abort();')"
dies comm_free "comm_free signal" "$(in_function comm_free 'if (((struct comm *)comm)->rank->rank == 1) abort();')"
dies caps "caps signal" "$(in_function caps 'if (((struct rank *)context)->rank == 1) abort();')"
dies init "init code" "$(in_function init 'if (boot->rank == 1) _exit(5);')"
dies fini "fini signal" 's/static int my_fini(void \*context) { return/static int my_fini(void *context) { if (((struct rank *)context)->rank == 1) abort(); return/'
dies load "load code" 's/^enum { RANKS = 64/__attribute__((constructor)) static void start(void) { const char *r = getenv("ALAR_RANK"); if (r \&\& r[0] == 49) _exit(7); }\n&/'

named() { grep "no-return" "$SCRATCH/$1.txt" | sed -E 's/: a function.*; /: /'; }
check "two back ends that hang are through, and no process is left" hung
expect_text "of one that hangs in init: rank 1, and the function" 0 "no-return: rank 1: init" named hangs
expect_text "... and at load" 0 "no-return: rank 1: load" named stands

# A deadline of its own ends the run.
over_in_time() {
    local before=$SECONDS
    "$alar" conform "$SCRATCH/hangs.so" --ranks 2 --seconds 3 --output "$SCRATCH/failures"
    local code=$?
    [ $((SECONDS - before)) -lt 30 ] || return 9
    return $code
}
expect_text "--seconds ends a run that hangs, as incomplete" 2 "cut short" over_in_time
tally
