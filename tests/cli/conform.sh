#!/usr/bin/env bash
# `alar conform`: silent on what is healthy, and on what is broken it names the promise, the rank and
# the function, and leaves a history that alar check convicts for the same reason.
. "$(dirname "$0")/../lib/conform.sh"
TALLY_SECONDS=300

"$alar" conform --skeleton >"$SCRATCH/skeleton.c"
check "the skeleton compiles without a warning" compile skeleton -Werror
check "a healthy back end compiles" build mine ""
expect_text "the simulator keeps every promise, in worlds of 1 to 4" 0 "0 of 23 musts broken" \
    "$alar" conform sim --ranks 1:4
expect_text "the skeleton passes in worlds of 1 to 4" 0 "0 of 23 musts broken" \
    "$alar" conform "$SCRATCH/skeleton.so" --ranks 1:4
expect_text "the healthy one too" 0 "0 of 22 musts broken" "$alar" conform "$SCRATCH/mine.so" --ranks 1:4

# spec: F-30
breaks crash returns no-return '/^static int my_wait/,/^}/s/(void)stream;/(void)stream; if (q->comm->rank->rank == 1) abort();/' "rank 1"
breaks exits returns no-return '/^static int my_test/,/^}/s/drive(q->comm);/if (q->comm->rank->rank == 2) exit(0);/' "rank 2"
# spec: F-31
breaks beyond bounds out-of-bounds 's/if (some > 0) memcpy(q->recv + q->at, sum, some);/memcpy(q->recv + q->at, sum, some); q->recv[-1] = 7;/'
# spec: F-32
breaks freed request_free wrong-answer 's/return q->is_done ? (free(q), 0) : -ALAR_E_ILLEGAL;/return 0;/'
# spec: F-33
breaks blocks "no blocking" blocking-call '/^static int my_test/,/^}/s/drive(q->comm);/drive(q->comm); static int once; if (q->comm->piece > 9 \&\& q->comm->me == 1 \&\& !once++) usleep(600000);/' "rank 1"
breaks early completion premature '/^static int my_test/,/^}/s/\*done = q->is_done/*done = 1/'
breaks swapped "no error" failed '/^static int my_test/,/^}/s/\*error = 0/*error = q->is_done \&\& q->comm->me == 2 ? -ALAR_E_BACKEND : 0/' "rank 2"
breaks dropped values illegal-value 's/for (int r = 1; r < c->n; r++) fold/for (int r = 2; r < c->n; r++) fold/'
breaks lonely agreement ranks-disagree 's/if (some > 0) memcpy(q->recv + q->at, sum, some);/if (c->me == 1) sum[0] ^= 1;\n        memcpy(q->recv + q->at, sum, some);/' "2 different results, 1 of them legal alone"

expect_text "a back end that is not there is one line" 3 "expected a back end, found" "$alar" conform ./nowhere.so
expect_text "a file that is no back end is one line" 3 "expected a back end that loads" "$alar" conform "$SCRATCH/mine.c"
expect_text "ranks that can't be are one line" 3 "--ranks: expected N or A:B" "$alar" conform sim --ranks 0

# Ranks that somebody else started.
launched() { # launched BACKEND: three of them, and their exit codes
    local rank pids=() codes=
    for rank in 0 1 2; do
        ALAR_JOB=test-$$ ALAR_RANK=$rank ALAR_RANKS=3 timeout -k 2 60 "$alar" conform "$1" --launched \
            --output "$SCRATCH/failures" >"$SCRATCH/rank$rank" 2>&1 &
        pids+=($!)
    done
    for rank in "${pids[@]}"; do wait "$rank"; codes+=" $?"; done
    echo "exit codes$codes"
    tail -n 1 "$SCRATCH/rank0"
}
expect_text "ranks that were launched leave with one code" 0 "exit codes 0 0 0" launched "$SCRATCH/mine.so"
expect_text "... also when one of them dies" 0 "exit codes 1 1 1" launched "$SCRATCH/crash.so"

# `alar run` on a back end whose ranks somebody else starts.
alone() { env -u ALAR_RANK -u ALAR_RANKS "$alar" run --backend "$1" "${@:2}"; }
expect_text "alar run refuses ranks that nobody started" 3 "--ranks 4: expected as many ranks as the launcher" \
    alone "$SCRATCH/mine.so" --ranks 4
expect_text "... says that a twin by the same back end proves nothing about it" 0 "use alar conform" \
    alone "$SCRATCH/mine.so" --async-log-allreduce
check "a back end without i64" build narrow 's/ | 1u << ALAR_I64//'
expect_text "... is told what was expected" 3 "expected i64 SUM" alone "$SCRATCH/narrow.so"
check "a back end without a name" build nameless 's/.name = "mine"/.name = NULL/'
expect_text "... is told so" 3 "expected a back end with a name" alone "$SCRATCH/nameless.so"
check "one whose rank is -1" build nowhere 's/boot->rank = x->rank,/boot->rank = -1,/'
expect_text "... is told so" 3 "expected a rank within its world from init, found rank -1" alone "$SCRATCH/nowhere.so"
tally
