#!/usr/bin/env bash
# Faulty runs under valgrind (one of each family, 4 MPICH ranks) and under AddressSanitizer (every
# allocation fails once), and a leak planted into our own source that both must see.
# seconds: 1200
# only: full
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

TALLY_SECONDS=200
tree=$SCRATCH/tree

# Debian 12's valgrind can't read the DWARF 5 of clang 14; at -O1 a compiler may remove what is planted.
build_valgrind() {
    timeout -k 2 300 make -j2 BUILD="$1" OPT='-O0 -gdwarf-4' "$1/alar" "$1/alar-mpich.so"
}
build_asan() {
    timeout -k 2 300 make -j2 BUILD="$1" SANITIZE=address,undefined "$1/alar"
}

# valgrind_run BUILD CODE PLAN-TEXT [OPTION]...: fails when a rank has an error, leaked, or left no report.
valgrind_run() {
    local build=$1 want=$2 code=0
    printf '%b\n' "$3" >"$SCRATCH/plan"
    shift 3
    rm -rf "$SCRATCH"/vg.*
    # The libraries' own buffers stay reachable, and ranks that are ended by MPI_Abort free nothing.
    # shellcheck disable=SC2086
    ranks 4 $launcher valgrind -q --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
        --error-exitcode=99 --log-file="$SCRATCH/vg.%p" "$build/alar" run --async-log-allreduce --deadline-ms 5000 \
        --steps 0:20 --log-interval 3 --quiet --faults "$SCRATCH/plan" "$@" || code=$?
    [ "$(ls "$SCRATCH"/vg.* | wc -l)" -eq 4 ] || { echo "not 4 reports"; return 97; }
    if grep -E '(definitely lost|Invalid|uninitialised|Mismatched)' "$SCRATCH"/vg.*; then
        grep -hE '^==[0-9]+== +(at|by) ' "$SCRATCH"/vg.* | head -n 20
        return 98
    fi
    [ "$code" -eq "$want" ] || { echo "exit code $code, expected $want"; return 1; }
}
launcher=

needs_fiu() { ldd "$SCRATCH/bare/alar" | grep fiu; }

# Every allocation of a small run on the simulator fails once.
asan_allocations() {
    local build=$1 n=0 code out
    while [ "$n" -lt 3000 ]; do
        n=$((n + (n < 120 ? 1 : 23)))
        echo "alar/alloc/fail * $n 1 0" >"$SCRATCH/plan"
        rm -rf "$SCRATCH/history"
        code=0
        out=$(timeout -k 2 60 "$build/alar" run --async-log-allreduce --steps 0:5 --log-interval 2 --quiet \
            --faults "$SCRATCH/plan" --history "$SCRATCH/history" 2>&1) || code=$?
        case $out in
        *Sanitizer* | *'runtime error'*) echo "allocation $n:" "$out" | head -n 30; return 98 ;;
        *' 0 fired'*) break ;;
        esac
        [ "$code" -eq 2 ] || { echo "allocation $n: exit code $code" "$out"; return 1; }
    done
    echo "$n allocations"
    [ "$n" -gt 100 ] && [ "$n" -lt 3000 ]
}

check "builds for valgrind" build_valgrind "$SCRATCH/vg"
check "builds with AddressSanitizer" build_asan "$SCRATCH/asan"
check "delay, dropped progress, late completion" valgrind_run "$SCRATCH/vg" 0 \
    "alar/rank/delay 2 1 5 2000\nalar/progress/drop 0 1 3 20\nalar/complete/late 1 1 5 2000"
check "non-finite losses, spike, empty" valgrind_run "$SCRATCH/vg" 0 \
    "alar/loss/nan 2 5 1 0\nalar/loss/inf 1 9 1 1\nalar/loss/spike 0 3 1 10\nalar/loss/empty 3 3 1 0" --check-for-nan count
check "agreed stop" valgrind_run "$SCRATCH/vg" 1 "alar/loss/nan 2 5 1 0"
check "bit flip" valgrind_run "$SCRATCH/vg" 1 "alar/contribution/bitflip 2 1 3 22"
check "short writes" valgrind_run "$SCRATCH/vg" 0 "alar/history/short-write 1 2 40 9" --history "$SCRATCH/h1"
check "full disk" valgrind_run "$SCRATCH/vg" 2 "alar/history/full-disk 1 9 1 0" --history "$SCRATCH/h2"
check "mute rank" valgrind_run "$SCRATCH/vg" 2 "alar/rank/mute 2 5 1 0"
check "refused post" valgrind_run "$SCRATCH/vg" 2 "alar/post/fail 1 2 1 0"
check "never told" valgrind_run "$SCRATCH/vg" 2 "alar/complete/never 1 5 1 0"
check "failed allocation" valgrind_run "$SCRATCH/vg" 2 "alar/alloc/fail 2 6 1 0"
launcher=-disable-auto-cleanup
check "exit" valgrind_run "$SCRATCH/vg" 2 "alar/rank/exit 2 5 1 0"
launcher=
# A build without points says so to whoever asks for a fault.
bare() { timeout -k 2 300 make -j2 BUILD="$SCRATCH/bare" FAULTS=0 "$SCRATCH/bare/alar"; }
check "builds without failure points" bare
expect_code "... without libfiu" 1 needs_fiu
expect_text "... a plan is refused" 3 "made with FAULTS=0" "$SCRATCH/bare/alar" run --faults faults/plans/straggler.plan
expect_text "... fiu-run is refused" 3 "made with FAULTS=0" \
    fiu-run -c 'enable name=alar/rank/delay/2,failinfo=5' "$SCRATCH/bare/alar" run
expect_text "... everything else runs" 0 "4 of 4 logged values" "$SCRATCH/bare/alar" run --quiet

check "no allocation that fails leaks" asan_allocations "$SCRATCH/asan"

# The same gates on a copy of the sources in which two calls of free are gone.
mkdir "$tree"
cp -r Makefile ref faults ci "$tree"
sed -i '/^    free(request->copy);$/d' "$tree/faults/inject.c"
sed -i '0,/^    free(driver->tally);$/{/^    free(driver->tally);$/d}' "$tree/ref/driver/driver_open.c"
planted() {
    (cd "$tree" && "build_$1" "$SCRATCH/leaky-$1")
}
differ() { ! cmp faults/inject.c "$tree/faults/inject.c" && ! cmp ref/driver/driver_open.c "$tree/ref/driver/driver_open.c"; }
check "leaks are planted" differ
check "the planted leaks build for valgrind" planted valgrind
check "the planted leaks build with AddressSanitizer" planted asan
expect_text "valgrind sees the leaked copy of a flipped contribution" 98 "definitely lost" \
    valgrind_run "$SCRATCH/leaky-valgrind" 1 "alar/contribution/bitflip 2 1 3 22"
expect_text "AddressSanitizer sees the leak of a failed start" 98 "LeakSanitizer" asan_allocations "$SCRATCH/leaky-asan"

tally
