#!/usr/bin/env bash
# Back ends that end, crash or hang the process of `alar run` and `alar order`: the command says so, and its exit code is its own.
# cores: 1
. "$(dirname "$0")/../lib/conform.sh"

run() { timeout -k 2 20 "$alar" run --quiet --steps 32:33 --start-deadline-ms "${2:-60000}" --backend "$SCRATCH/$1.so"; }
order() { timeout -k 2 20 "$alar" order --dtype f64 --counts 1 --backend "$SCRATCH/$1.so"; }
at() { echo "s/^enum { RANKS = 64/__attribute__(($1)) static void moment(void) { $2 }\n&/"; }
in_function() { echo "/^static int my_$1(/,/^}/s/\$/ /;/^static int my_$1(/,/^}/s/^{ *\$/{ $2/"; }
made() { check "it compiles" build "$1" "$2"; }

made good ""
expect_code "one that behaves" 0 run good
made silent "$(at constructor '_exit(0);')"
for command in run order; do
    expect_text "one that ends well as it is loaded: alar $command" 3 "silent.so: expected a back end that loads, found: the process ended with code 0" $command silent
done
made crash "$(at constructor 'abort();')"
expect_text "one that crashes as it is loaded" 3 "crash.so: expected a back end that loads, found: the process ended by signal 6" run crash
made hang "$(at constructor 'for (;;) pause();')"
expect_text "one that hangs as it is loaded" 2 "hang.so: expected a back end that loads, found: the process does not come back" run hang 300
made leaves "$(in_function allreduce '_exit(0);')"
expect_text "one that ends the run, well" 2 "leaves.so: expected a back end that leaves the end to alar, found: the process ended with code 0" run leaves
made wrong "$(in_function wait '_exit(1);')"
expect_text "or with a code that would be a verdict" 2 "found: the process ended with code 1" run wrong
made raises "$(in_function test 'abort();')"
expect_text "or by a signal" 2 "found: the process ended by signal 6" run raises
made late "$(at destructor 'abort();')"
expect_text "one that crashes as it is unloaded, after its verdict" 2 "late.so: expected a back end that can be unloaded" run late
made quiet "$(at destructor '_exit(3);')"
expect_code "one that ends the process then changes no verdict" 0 run quiet

launched() { timeout -k 2 30 mpiexec.mpich -n 2 "$alar" run --quiet --steps 32:33 --backend "$SCRATCH/silent.so"; }
if command -v mpiexec.mpich >/dev/null; then
    expect_text "under a launcher too" 3 "silent.so: expected a back end that loads" launched
fi
stays() { # it is told to end, and nothing of it is left
    "$alar" run --quiet --steps 32:33 --start-deadline-ms 0 --backend "$SCRATCH/hang.so" &
    local pid=$! k
    for k in {1..200}; do pgrep -P $pid >/dev/null && break; sleep 0.02; done
    kill $pid
    wait $pid
    for k in {1..200}; do pgrep -f "backend $SCRATCH/hang.so" >/dev/null || return 0; sleep 0.02; done
    return 1
}
check "who ends the command ends the back end" stays
tally
