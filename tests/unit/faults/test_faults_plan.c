/* Plans and fiu-run's commands: what is refused, with which words, and that a seed is a plan. */
#include "faults/plan.h"
#include "tests/lib/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(faults_plan, .init = scratch_make, .fini = scratch_remove);

static enum alar_status plan_of(struct alar_faults *faults, const char *text, uint64_t seed,
                                char *error_line)
{
    memset(faults, 0, sizeof(*faults));
    error_line[0] = '\0';
    return alar_plan_read(faults, scratch_write("p.plan", text, strlen(text)), seed, error_line);
}

/* Every word is checked, and the error_line says where it stands. spec: F-11 */
Test(faults_plan, a_bad_word_is_refused_where_it_stands)
{
    static const struct {
        const char *text;
        const char *where;
        const char *expected;
    } rows[] = {
        {"# x\nalar/rank/delya 2 1 1 5\n", ":2:1: ", "did you mean 'alar/rank/delay'?"},
        {"alar/rank/delay/2 2 1 1 5\n", ":1:1: ", "did you mean 'alar/rank/delay'?"},
        {"alar/rank/delay two 1 1 5\n", ":1:17: ", "expected a rank, * or ?, found 'two'"},
        {"alar/rank/delay 2 0 1 5\n", ":1:19: ", "expected a first hit"},
        {"alar/rank/delay 2 9..3 1 5\n", ":1:19: ", "expected a first hit"},
        {"alar/rank/delay 2 1 0 5\n", ":1:21: ", "expected a repeat"},
        {"alar/rank/delay 2 1 1 5ms\n", ":1:23: ", "microseconds"},
        {"alar/rank/delay 2 1 1 0\n", ":1:23: ", "from 1 to"},
        {"alar/rank/mute 2 1 1 2\n", ":1:22: ", "from 0 to 1"},
        {"alar/loss/nan 2 1 1\n", ":1:20: ", "expected a value, found 'the end of the line'"},
        {"alar/loss/nan 2 1 1 0 0\n", ":1:23: ", "expected the end of the line, found '0'"},
        {"\n# nothing\n", "p.plan: ", "expected at least one fault, found none"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct alar_faults faults;
        char error_line[ALAR_ERROR_LINE_BYTES];

        cr_assert_eq(plan_of(&faults, rows[i].text, 1, error_line), ALAR_E_INPUT, "row %zu", i);
        cr_assert(strstr(error_line, rows[i].where), "row %zu: %s", i, error_line);
        cr_assert(strstr(error_line, rows[i].expected), "row %zu: %s", i, error_line);
    }
}

/* A plan that can't be opened is not an empty plan. */
Test(faults_plan, a_missing_plan_is_refused)
{
    struct alar_faults faults = {0};
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    cr_assert_eq(alar_plan_read(&faults, scratch_path("none"), 1, error_line), ALAR_E_INPUT);
    cr_assert(strstr(error_line, "expected a fault plan"), "%s", error_line);
}

/* What is written is what is kept, and no fault is in a comment. */
Test(faults_plan, a_line_is_read_as_it_stands)
{
    struct alar_faults faults;
    char error_line[ALAR_ERROR_LINE_BYTES];

    cr_assert_eq(plan_of(&faults,
                         "# alar/rank/mute 0 1 1 0\nalar/rank/delay 2 7 3 50\n"
                         "  alar/loss/nan * 1 *\t0\n",
                         1, error_line),
                 ALAR_OK, "%s", error_line);
    cr_assert_eq(faults.line_count, 2);
    cr_assert_eq(faults.highest_rank, 2);
    cr_assert(faults.is_plan);
    cr_assert_eq(faults.line[0].point, ALAR_POINT_RANK_DELAY);
    cr_assert_eq(faults.line[0].rank, 2);
    cr_assert_eq(faults.line[0].first, 7);
    cr_assert_eq(faults.line[0].repeat, 3);
    cr_assert_eq(faults.line[0].value, 50);
    cr_assert_eq(faults.line[1].rank, ALAR_FAULT_EVERY_RANK);
    cr_assert_eq(faults.line[1].repeat, UINT64_MAX);
}

/* The seed decides every draw; a line behind changes none before it. spec: F-12 */
Test(faults_plan, a_seed_is_a_plan)
{
    static const char text[] = "alar/rank/delay ? 5..1000 1 50\nalar/rank/delay ? 5..1000 1 50\n";
    struct alar_faults first;
    struct alar_faults again;
    struct alar_faults longer;
    char more[256];
    char error_line[ALAR_ERROR_LINE_BYTES];
    size_t others = 0;

    snprintf(more, sizeof(more), "%salar/loss/nan ? 1..9 1 0\n", text);
    for (uint64_t seed = 0; seed < 50; seed++) {
        cr_assert_eq(plan_of(&first, text, seed, error_line), ALAR_OK);
        cr_assert_eq(plan_of(&again, text, seed, error_line), ALAR_OK);
        cr_assert_eq(plan_of(&longer, more, seed, error_line), ALAR_OK);
        for (int i = 0; i < 2; i++) {
            cr_assert_eq(first.line[i].first, again.line[i].first, "seed %lu", (unsigned long)seed);
            cr_assert_eq(first.line[i].draw, longer.line[i].draw, "seed %lu", (unsigned long)seed);
            cr_assert(first.line[i].first >= 5 && first.line[i].first <= 1000);
        }
        others += first.line[0].first != first.line[1].first;
    }
    cr_assert(others > 40, "lines draw alike: %zu", others);
}

/* A rank that is not there would never fire, so the plan is refused. spec: F-13 */
Test(faults_plan, a_rank_beyond_the_run_is_refused)
{
    struct alar_faults faults;
    char error_line[ALAR_ERROR_LINE_BYTES];

    cr_assert_eq(plan_of(&faults, "alar/rank/mute 4 1 1 0\n", 1, error_line), ALAR_OK);
    cr_assert_eq(alar_faults_suit(&faults, 5, error_line), ALAR_OK);
    cr_assert_eq(alar_faults_suit(&faults, 4, error_line), ALAR_E_INPUT);
    cr_assert(strstr(error_line, "from 0 to 3, found 4"), "%s", error_line);
    cr_assert_eq(alar_faults_suit(NULL, 1, error_line), ALAR_OK);
}

/* libfiu would take each of these in silence. spec: F-13 */
Test(faults_plan, what_fiu_run_got_wrong_is_refused)
{
    static const struct {
        const char *text;
        const char *expected;
    } rows[] = {
        {"enable name=alar/rank/delya/2,failinfo=5", "did you mean 'alar/rank/delay/2'?"},
        {"enable name=alar/rank/delay,failinfo=5", "'alar/rank/delay/RANK'"},
        {"enable name=alar/rank/*,failinfo=5", "did you mean 'alar/"},
        {"enable name=alar/rank/delay/2,failinfo=5ms", "without a unit"},
        {"enable name=alar/rank/delay/2,failinfo=", "without a unit"},
        {"enable name=alar/rank/delay/2,failinf=5", "did you mean 'failinfo'?"},
        {"enable name=alar/rank/delay/2", "failinfo=N (microseconds) from 1 to"},
        {"enable name=alar/rank/mute/2,failinfo=2", "from 0 to 1"},
        {"enable name=alar/loss/nan/2,failnum=0", "never fails"},
        {"enable name=alar/loss/nan/2,probability=0.5", "probability= with enable_random"},
        {"enable_random name=alar/loss/nan/2", "probability= with enable_random"},
        {"enable_random name=alar/loss/nan/2,probability=1.5", "a probability above 0"},
        {"enable_random name=alar/loss/nan/2,probability=a", "a probability above 0"},
        {"enable_randm name=alar/loss/nan/2,probability=1", "did you mean 'enable_random'?"},
        {"enable failnum=1", "a parameter name=POINT/RANK"},
        {"enable name=alar/loss/nan/2\n  enabel name=alar/loss/nan/1", "did you mean 'enable'?"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct alar_faults faults = {0};
        char error_line[ALAR_ERROR_LINE_BYTES] = "";

        cr_assert_eq(alar_fiu_read(&faults, rows[i].text, NULL, error_line), ALAR_E_INPUT,
                     "accepted: %s", rows[i].text);
        cr_assert(strstr(error_line, rows[i].expected), "%s: %s", rows[i].text, error_line);
    }
}

/* Nothing asked for is nothing to do; points of libc are not ours to refuse. */
Test(faults_plan, what_fiu_run_got_right_is_taken)
{
    struct alar_faults faults = {0};
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    cr_assert_eq(alar_fiu_read(&faults, NULL, NULL, error_line), ALAR_OK);
    cr_assert_eq(alar_fiu_read(&faults, "\n \t\n", "", error_line), ALAR_OK);
    cr_assert(!faults.is_fiu);
    cr_assert_eq(alar_fiu_read(&faults, NULL, "/tmp/fiu", error_line), ALAR_OK);
    cr_assert(faults.is_fiu, "fiu-ctrl may come later");
    cr_assert_eq(alar_fiu_read(&faults,
                               "\n  enable name=alar/rank/delay/3,failinfo=5,onetime\n"
                               "enable_random name=posix/io/rw/write,probability=0.5\n"
                               "enable_random name=alar/loss/nan/*,probability=0.25",
                               NULL, error_line),
                 ALAR_OK, "%s", error_line);
    cr_assert_eq(faults.highest_rank, 3);
    cr_assert_eq(faults.command_count, 1);
    cr_assert_str_eq(faults.command[0].parameters, ",probability=0.25");
}

/* Each point has words for people, and an example that its own bounds allow. spec: F-10 */
Test(faults_plan, every_point_has_its_words)
{
    for (int i = 0; i < ALAR_POINT_COUNT; i++) {
        const struct alar_point_row *row = &alar_points[i];
        enum alar_point found;

        cr_assert(strncmp(row->name, "alar/", 5) == 0, "%s", row->name);
        cr_assert(strlen(row->models) > 0 && strlen(row->site) > 0 && strlen(row->value) > 0);
        cr_assert(row->example >= row->least && row->example <= row->most, "%s", row->name);
        cr_assert(alar_point_find(row->name, &found) && (int)found == i, "%s", row->name);
    }
}
