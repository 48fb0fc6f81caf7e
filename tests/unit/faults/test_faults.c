/* What a run on the simulator promises while things break, over many seeds. */
#include "tests/lib/broken.h"
#include "tests/lib/draw.h"
#include "tests/lib/scratch.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

TestSuite(faults, .init = scratch_make, .fini = scratch_remove, .timeout = 60);

enum {
    POSTS = 40 * BROKEN_MICROBATCHES, /* of each rank */
    TEXT_BYTES = 1 << 21
};

static char text[TEXT_BYTES];

/* The ticks at which a rank of the recorded run issued its all-reduces. */
static size_t issue_ticks(uint32_t rank, uint64_t *tick)
{
    char name[32];
    size_t count = 0;

    snprintf(name, sizeof(name), "rank%u.jsonl", rank);
    scratch_read(name, text, sizeof(text));
    for (const char *at = text; (at = strstr(at, "\"ev\":\"issue\"")) != NULL; at++) {
        const char *t = strstr(at, "\"t\":");

        cr_assert(t != NULL && sscanf(t, "\"t\":%" SCNu64, &tick[count]) == 1);
        count++;
    }
    return count;
}

static struct broken recorded(struct alar_run_options options, const char *plan)
{
    scratch_remove();
    scratch_make();
    options.config.history = scratch_path("");
    return broken_run(options, plan, 1);
}

/* With room in the window and no log line due, the others issue as if nobody were late.
   spec: F-01 */
Test(faults, a_late_rank_costs_the_others_nothing_before_the_log_line)
{
    struct alar_run_options options = broken_options();
    const size_t interval = 10 * BROKEN_MICROBATCHES;
    uint64_t without[POSTS];
    uint64_t with[POSTS];

    options.config.waits_at_log = true;
    for (uint32_t late = 0; late < BROKEN_RANKS; late++) {
        for (uint32_t rank = 0; rank < BROKEN_RANKS; rank++) {
            char plan[64];

            snprintf(plan, sizeof(plan), "alar/rank/delay %u 3 1 50000\n", late);
            recorded(options, NULL);
            cr_assert_eq(issue_ticks(rank, without), POSTS);
            cr_assert_eq(recorded(options, plan).code, 0);
            cr_assert_eq(issue_ticks(rank, with), POSTS);
            for (size_t i = 0; i < interval && rank != late; i++) {
                cr_assert_eq(with[i], without[i], "rank %u, post %zu", rank, i);
            }
            cr_assert(with[interval] >= without[interval] + 50000 - 4000, "the log line waits");
        }
    }
}

/* A full window is where the others begin to wait. spec: F-01 */
Test(faults, a_late_rank_costs_the_others_time_once_the_window_is_full)
{
    struct alar_run_options options = broken_options();
    uint64_t without[POSTS];
    uint64_t with[POSTS];

    options.config.waits_at_log = true;
    options.config.window = 5;
    recorded(options, NULL);
    cr_assert_eq(issue_ticks(0, without), POSTS);
    recorded(options, "alar/rank/delay 2 3 1 50000\n");
    cr_assert_eq(issue_ticks(0, with), POSTS);
    for (size_t i = 0; i < 7; i++) {
        cr_assert_eq(with[i], without[i], "post %zu", i);
    }
    cr_assert(with[7] >= without[7] + 45000, "post 7 takes the slot of post 2");
}

/* A plan of delays, dropped polls and late completions, drawn. */
static void timing_plan(struct draw *draw, char *plan, size_t bytes)
{
    static const char *const points[] = {"alar/rank/delay", "alar/progress/drop",
                                         "alar/complete/late"};
    static const uint32_t most[] = {5000, 40, 5000};
    size_t used = 0;

    for (uint32_t i = 0; i <= draw_below(draw, 5); i++) {
        uint32_t k = draw_below(draw, 3);

        used += (size_t)snprintf(plan + used, bytes - used, "%s %c 1..%u %u %u\n", points[k],
                                 draw_below(draw, 4) == 0 ? '*' : '?', 1 + draw_below(draw, 3),
                                 1 + draw_below(draw, 20), 1 + draw_below(draw, most[k]));
    }
}

/* When changes, what never does: whatever is late, the bits are the synchronous ones.
   spec: F-02 */
Test(faults, timing_changes_no_bit)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct draw draw = {seed};
        struct alar_run_options options = broken_options();
        char plan[1024];

        options.config.placement = (enum alar_placement)draw_below(&draw, ALAR_PLACEMENT_COUNT);
        options.config.encoding = (enum alar_encoding)draw_below(&draw, 2);
        options.config.waits_at_log = draw_below(&draw, 2) == 1;
        options.config.window = (uint16_t)draw_below(&draw, 6);
        options.config.deadline_ms = 60000;
        options.seed = seed;
        timing_plan(&draw, plan, sizeof(plan));
        struct broken run = broken_run(options, plan, seed);

        cr_assert_eq(run.code, 0, "seed %" PRIu64 ": code %d\n%s", seed, run.code, plan);
        cr_assert(run.fired > 0, "seed %" PRIu64 ": nothing fired\n%s", seed, plan);
        cr_assert_eq(run.reports, 4, "seed %" PRIu64, seed);
        cr_assert_eq(run.same, 4, "seed %" PRIu64 ": %zu\n%s", seed, run.same, plan);
    }
}

/* One non-finite loss, anywhere: all ranks find the same one, and all stop. spec: F-03, F-16 */
Test(faults, all_ranks_agree_on_a_nonfinite_loss)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct draw draw = {seed};
        uint32_t rank = draw_below(&draw, BROKEN_RANKS);
        struct alar_run_options options = broken_options();
        char plan[64];

        options.config.placement = (enum alar_placement)draw_below(&draw, ALAR_PLACEMENT_COUNT);
        snprintf(plan, sizeof(plan), "alar/loss/%s %u %u 1 0\n",
                 draw_below(&draw, 2) == 0 ? "nan" : "inf", rank, 1 + draw_below(&draw, 100));
        struct broken run = broken_run(options, plan, 1);

        cr_assert_eq(run.code, 1, "seed %" PRIu64 ": code %d", seed, run.code);
        cr_assert_eq(run.fired, 1, "seed %" PRIu64, seed);
        cr_assert_eq(run.same, run.reports, "seed %" PRIu64 ": the twin has the same loss", seed);
        for (uint32_t i = 0; i < BROKEN_RANKS; i++) {
            cr_assert_eq(run.findings[i], 1, "seed %" PRIu64 ", rank %u", seed, i);
            cr_assert_eq(run.finding[i].rank, rank, "seed %" PRIu64 ", rank %u", seed, i);
            cr_assert_eq(run.finding[i].step, run.finding[0].step);
            cr_assert_eq(run.finding[i].microbatch, run.finding[0].microbatch);
        }
    }
}

/* Under `raise` the rank reports at once, the others by their deadline, all naming it.
   spec: F-03 */
Test(faults, a_rank_that_raised_is_named_by_all)
{
    struct alar_run_options options = broken_options();

    options.config.check = ALAR_CHECK_RAISE;
    for (uint32_t rank = 0; rank < BROKEN_RANKS; rank++) {
        char plan[64];
        char name[32];

        snprintf(plan, sizeof(plan), "alar/loss/nan %u 20 1 0\n", rank);
        snprintf(name, sizeof(name), "by rank %u", rank);
        struct broken run = broken_run(options, plan, 1);

        cr_assert_eq(run.code, 1);
        cr_assert_eq(run.lines, BROKEN_RANKS);
        cr_assert_eq(run.line_rank[0], rank, "it is the first to say so");
        for (size_t i = 0; i < run.lines; i++) {
            cr_assert(strstr(run.line[i], "NONFINITE raised") && strstr(run.line[i], name), "%s",
                      run.line[i]);
        }
    }
}

/* Whoever falls silent, whenever and however: each survivor names it, in time, and all leave alike.
   spec: F-04, F-06 */
Test(faults, a_silent_rank_is_named_in_time_by_every_survivor)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct draw draw = {seed};
        uint32_t rank = draw_below(&draw, BROKEN_RANKS);
        bool is_exit = draw_below(&draw, 2) == 0;
        struct alar_run_options options = broken_options();
        char plan[64];
        char name[32];

        options.config.placement = (enum alar_placement)draw_below(&draw, 2);
        options.config.waits_at_log = draw_below(&draw, 2) == 1;
        snprintf(plan, sizeof(plan), "alar/rank/%s %u %u 1 %u\n", is_exit ? "exit" : "mute", rank,
                 1 + draw_below(&draw, POSTS - 8), is_exit ? 9 : draw_below(&draw, 2));
        snprintf(name, sizeof(name), "1 of 4 ranks silent: %u", rank);
        struct broken run = broken_run(options, plan, 1);

        cr_assert_eq(run.code, 2, "seed %" PRIu64 ": code %d\n%s", seed, run.code, plan);
        cr_assert_eq(run.lines, BROKEN_RANKS - 1, "seed %" PRIu64 ": %zu\n%s", seed, run.lines,
                     plan);
        for (size_t i = 0; i < run.lines; i++) {
            cr_assert_neq(run.line_rank[i], rank);
            cr_assert(strstr(run.line[i], name), "seed %" PRIu64 ": %s\n%s", seed, run.line[i],
                      plan);
            cr_assert(run.wait_us[i] <= BROKEN_DEADLINE_US + 100000, "seed %" PRIu64, seed);
        }
    }
}

/* A wait without a deadline ends too, when nothing can move any more. spec: F-04 */
Test(faults, a_silent_rank_ends_the_run_without_a_deadline)
{
    struct alar_run_options options = broken_options();

    options.config.deadline_ms = ALAR_NO_DEADLINE;
    struct broken run = broken_run(options, "alar/rank/mute 2 9 1 0\n", 1);

    cr_assert_eq(run.code, 2);
    cr_assert_eq(run.lines, BROKEN_RANKS - 1);
}

/* A library that refuses, or never tells, ends all ranks alike, and the rank is named.
   spec: F-06 */
Test(faults, a_rank_that_fails_for_its_own_reason_is_named_by_all)
{
    for (uint32_t rank = 0; rank < BROKEN_RANKS; rank++) {
        char plan[64];
        char name[64];

        snprintf(plan, sizeof(plan), "alar/post/fail %u 20 1 0\n", rank);
        snprintf(name, sizeof(name), "returned an error at step");
        struct broken run = broken_run(broken_options(), plan, 1);

        cr_assert_eq(run.code, 2);
        cr_assert_eq(run.lines, BROKEN_RANKS);
        for (size_t i = 0; i < run.lines; i++) {
            cr_assert(strstr(run.line[i], name), "%s", run.line[i]);
            cr_assert_eq(run.line[i][strlen(run.line[i]) - 1], (char)('0' + rank), "%s",
                         run.line[i]);
        }
    }
}

/* A flipped bit reaches the log, and not the history of what was meant. spec: F-08 */
Test(faults, a_flipped_bit_changes_the_sum_and_no_recorded_contribution)
{
    static char clean[TEXT_BYTES];
    struct alar_run_options options = broken_options();

    options.config.encoding = ALAR_PAIR64;
    for (int64_t bit = 30; bit < 52; bit++) {
        char plan[64];

        recorded(options, NULL);
        scratch_read("rank2.jsonl", clean, sizeof(clean));
        snprintf(plan, sizeof(plan), "alar/contribution/bitflip 2 1 1 %" PRId64 "\n", bit);
        struct broken run = recorded(options, plan);
        scratch_read("rank2.jsonl", text, sizeof(text));
        const char *in = strstr(clean, "\"in\":");

        cr_assert_eq(run.fired, 1);
        cr_assert_eq(run.same, run.reports - 1, "bit %" PRId64, bit);
        cr_assert_eq(strncmp(in, strstr(text, "\"in\":"), 60), 0, "bit %" PRId64, bit);
        cr_assert(strstr(text, "\"point\":\"alar/contribution/bitflip/2\",\"hit\":1"));
    }
}

/* Wherever the disk is full, the lines before are whole and the log is right. spec: F-09 */
Test(faults, a_full_disk_loses_no_earlier_line)
{
    struct alar_run_options options = broken_options();

    options.steps = "0:35";
    for (size_t write = 1; write < 60; write += 3) {
        char plan[64];
        size_t lines = 0;

        snprintf(plan, sizeof(plan), "alar/history/full-disk 1 %zu 1 0\n", write);
        struct broken run = recorded(options, plan);
        size_t length = scratch_read("rank1.jsonl", text, sizeof(text));

        for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
            lines++;
        }
        cr_assert_eq(run.code, 2, "write %zu: code %d", write, run.code);
        cr_assert_eq(lines, write - 1, "write %zu: %zu lines", write, lines);
        cr_assert(length == 0 || text[length - 1] == '\n', "write %zu: a torn line", write);
        cr_assert_eq(run.same, run.reports);
    }
}

/* A short write costs calls, never a byte. spec: F-09 */
Test(faults, a_short_write_changes_nothing_but_the_record_of_it)
{
    static char clean[TEXT_BYTES];
    struct alar_run_options options = broken_options();
    size_t lines = 0;

    options.steps = "0:35";
    recorded(options, NULL);
    scratch_read("rank1.jsonl", clean, sizeof(clean));
    cr_assert_eq(recorded(options, "alar/history/short-write 1 1 * 7\n").code, 0);
    scratch_read("rank1.jsonl", text, sizeof(text));
    for (const char *at = clean; (at = strstr(at, "\"ev\":\"done\"")) != NULL; at++) {
        lines++;
    }
    for (const char *at = text; (at = strstr(at, "\"ev\":\"done\"")) != NULL; at++) {
        lines--;
    }
    cr_assert_eq(lines, 0);
    cr_assert(strstr(text, "\"ev\":\"end\""));
}

/* Whichever allocation fails, the run ends with code 2; the last try fails none. Leaks are for the
   sanitizers to find. spec: F-15 */
Test(faults, every_allocation_may_fail)
{
    struct alar_run_options options = broken_options();
    uint32_t tries = 0;
    int code = 2;

    options.steps = "0:5";
    options.config.log_interval = 2;
    while (code == 2 && tries < 5000) {
        char plan[64];

        /* Each of the first; later ones are those of one loop over a pool. */
        tries += tries < 150 ? 1 : 17;

        snprintf(plan, sizeof(plan), "alar/alloc/fail * %u 1 0\n", tries);
        struct broken run = recorded(options, plan);
        code = run.reports > 0 && run.same == run.reports ? 0 : run.code;
        cr_assert(code == 2 || code == 0, "allocation %u: code %d", tries, run.code);
    }
    cr_assert_eq(code, 0);
    cr_assert(tries > 40, "only %u allocations", tries);
}

/* A plan that fires nothing has shown nothing. spec: F-14 */
Test(faults, a_plan_that_fires_nothing_is_incomplete)
{
    struct broken run = broken_run(broken_options(), "alar/loss/nan 2 100000 1 0\n", 1);

    cr_assert_eq(run.code, 2);
    cr_assert_eq(run.fired, 0);
    cr_assert_eq(run.same, run.reports);
}

/* The same seed is the same run, to the last tick. spec: F-11 */
Test(faults, a_run_can_be_repeated)
{
    static char first[TEXT_BYTES];
    static const char plan[] = "alar/rank/delay ? 1..40 9 3000\nalar/progress/drop * 1..9 9 20\n"
                               "alar/complete/late ? 1..40 9 3000\n";

    for (uint32_t rank = 0; rank < BROKEN_RANKS; rank++) {
        char name[32];

        snprintf(name, sizeof(name), "rank%u.jsonl", rank);
        cr_assert_eq(recorded(broken_options(), plan).code, 0);
        scratch_read(name, first, sizeof(first));
        recorded(broken_options(), plan);
        scratch_read(name, text, sizeof(text));
        cr_assert_str_eq(first, text);
    }
}
