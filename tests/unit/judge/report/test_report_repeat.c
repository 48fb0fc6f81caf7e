/* Reports that say what the last good one said are not judged again. So what is not taken for the
   same must be told apart in every field, or a wrong line would hide behind a right one. */
#include "judge/judge.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(judge_again, .init = scratch_make, .fini = scratch_remove);

/* Two steps of two ranks: 6 losses over 4 tokens, then 4 over 1. */
#define OP(op, step, fields, a, b, sum)                                         \
    "{'ev':'issue','rank':0,'op':" op ",'step':" step fields ",'in':[" a "]}\n" \
    "{'ev':'issue','rank':1,'op':" op ",'step':" step fields ",'in':[" b "]}\n" \
    "{'ev':'done','rank':0,'op':" op ",'out':[" sum "]}\n"                      \
    "{'ev':'done','rank':1,'op':" op ",'out':[" sum "]}\n"
#define LOSS ",'key':'loss','pairs':1"

/* A report in full. */
#define SAYS(metric, first, step, normalization, over, value, counts, ops)                         \
    "'metric':'" metric "','first_step':" first ",'step':" step ",'normalization':'" normalization \
    "','over':'" over "'," value counts ",'ops':[" ops "]"
#define COUNTS(tokens, nonfinite, empty) \
    ",'tokens':" tokens ",'nonfinite':" nonfinite ",'empty':" empty
#define WEIGHTED(first, step, value, counts, ops) \
    SAYS("loss", first, step, "token-weighted", "steps", value, counts, ops)

static void told_reports(struct told *judged, const char *ops, const char *first,
                         const char *second)
{
    static char text[8192];
    const char *trace = strstr(ops, "'ev':'trace'") ? "" : "{'ev':'trace','world':2}\n";
    int length =
        snprintf(text, sizeof text, "%s%s{'ev':'report','rank':0,%s}\n", trace, ops, first);

    if (second) {
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "{'ev':'report','rank':1,%s}\n", second);
    }
    snprintf(text + length, sizeof text - (size_t)length, "{'ev':'end'}\n");
    told_quoted(judged, text);
}

/* Two steps of two ranks: 6 losses over 4 tokens, then 4 over 1; the mean of steps is 2.75. */
#define TWO OP("0", "1", LOSS, "2,1", "4,3", "6,4") OP("1", "2", LOSS, "3,0", "1,1", "4,1")
#define GOOD WEIGHTED("1", "2", "'bits':'40300000'", COUNTS("5", "0", "1"), "0,1")
/* One step of 5 losses over 3 tokens, with two metrics: 5/3 and 3. */
#define PAIRS ",'key':'a,b','pairs':2"
#define NAMES OP("0", "1", PAIRS, "2,1,3,1", "3,2,6,2", "5,3,9,3")
#define NAMED(metric) SAYS(metric, "1", "1", "token-weighted", "steps", "'loss':1.7", "", "0")
/* One step that does not name itself. */
#define THIRD OP("0", "1", LOSS, "2,1", "3,2", "5,3")
#define SHOWN(value) WEIGHTED("1", "1", value, "", "0")
/* In doubles, by the engine's arithmetic. */
#define EXACT                                                                                   \
    "{'ev':'trace','world':2,'encoding':'pair64'}\n" OP("0", "1", LOSS ",'dtype':'f64'", "1,1", \
                                                        "0,2", "1,3")
/* The greatest value, which rank 1 has. */
#define GREATEST OP("0", "1", ",'key':'loss','red':'max'", "2", "5", "5")
/* No token anywhere. */
#define NONE OP("0", "1", LOSS, "0,0", "0,0", "0,0")
/* Two groups of the same ranks, and two operations of one step in each. */
#define GROUPS                               \
    OP("0", "1", LOSS, "2,1", "2,1", "4,2")  \
    OP("1", "1", LOSS, "5,1", "5,1", "10,2") \
    OP("'g/0'", "1", LOSS, "3,1", "3,1", "6,2") OP("'g/1'", "1", LOSS, "1,1", "1,1", "2,2")

/* A report that is right, and another that differs from it in one field and is not. */
static const struct {
    const char *name, *ops, *first, *second, *says;
} rows[] = {
    {"first step", TWO, GOOD, WEIGHTED("2", "2", "'bits':'40300000'", COUNTS("5", "0", "1"), "0,1"),
     "shifted-label"},
    {"step", TWO, GOOD, WEIGHTED("1", "1", "'bits':'40300000'", COUNTS("5", "0", "1"), "0,1"),
     "shifted-label"},
    {"tokens", TWO, GOOD, WEIGHTED("1", "2", "'bits':'40300000'", COUNTS("4", "0", "1"), "0,1"),
     "wrong-count"},
    {"non-finite", TWO, GOOD, WEIGHTED("1", "2", "'bits':'40300000'", COUNTS("5", "1", "1"), "0,1"),
     "wrong-count"},
    {"empty", TWO, GOOD, WEIGHTED("1", "2", "'bits':'40300000'", COUNTS("5", "0", "2"), "0,1"),
     "wrong-count"},
    {"normalization", TWO, GOOD,
     SAYS("loss", "1", "2", "seed-undivided", "steps", "'bits':'40300000'", COUNTS("5", "0", "1"),
          "0,1"),
     "of step 2, rank 1: "},
    {"over", TWO, GOOD,
     SAYS("loss", "1", "2", "token-weighted", "pooled", "'bits':'40300000'", COUNTS("5", "0", "1"),
          "0,1"),
     "wrong-over"},
    {"one bit", TWO, GOOD, WEIGHTED("1", "2", "'bits':'40300002'", COUNTS("5", "0", "1"), "0,1"),
     "illegal-report"},
    {"number of operations", TWO, GOOD,
     WEIGHTED("1", "2", "'bits':'40300000'", COUNTS("5", "0", "1"), "0"), "of step 2, rank 1: "},
    {"metric", NAMES, NAMED("a"), NAMED("b"), "report of b"},
    {"digits: least value", THIRD, SHOWN("'loss':2"), SHOWN("'bits':'4004000000000001'"),
     "illegal-report"},
    {"digits: greatest value", THIRD, SHOWN("'loss':2"), SHOWN("'bits':'3ff7ffffffffffff'"),
     "illegal-report"},
    {"width", EXACT, SHOWN("'bits':'3eaaaaab'"), SHOWN("'bits':'3fd5555560000000'"),
     "illegal-report"},
    {"kind", THIRD, SHOWN("'kind':'sum','loss':5"), SHOWN("'kind':'mean','loss':5"),
     "never-divided"},
    {"holder", GREATEST, SHOWN("'kind':'max','loss':5,'holder':1"),
     SHOWN("'kind':'max','loss':5,'holder':0"), "wrong-holder"},
    {"shown as empty", NONE, SHOWN("'loss':null"), SHOWN("'loss':'nan'"), "empty-as-number"},
    {"group", GROUPS, WEIGHTED("1", "1", "'loss':2.0", "", "0"),
     WEIGHTED("1", "1", "'loss':2.0", "", "'g/0'"), "of step 1, rank 1: "},
    {"number", GROUPS, WEIGHTED("1", "1", "'loss':2.0", "", "0"),
     WEIGHTED("1", "1", "'loss':2.0", "", "1"), "of step 1, rank 1: "},
    {"another group in between", GROUPS, WEIGHTED("1", "1", "'loss':3.5", "", "0,1"),
     WEIGHTED("1", "1", "'loss':3.5", "", "0,'g/1'"), "of step 1, rank 1: "},
    {"another number in between", GROUPS, WEIGHTED("1", "1", "'loss':3.5", "", "0,1"),
     WEIGHTED("1", "1", "'loss':3.5", "", "0,0"), "of step 1, rank 1: "},
};

/* The first report of each row is right, alone and repeated by the other rank. The second differs
   in one field, and that makes it wrong. spec: O-50, O-53, O-55, O-59 */
Test(judge_again, takes_no_two_reports_for_equal_that_differ)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct told alone, again, other;

        told_reports(&alone, rows[k].ops, rows[k].first, NULL);
        told_reports(&again, rows[k].ops, rows[k].first, rows[k].first);
        told_reports(&other, rows[k].ops, rows[k].first, rows[k].second);

        cr_expect_eq(told_verdict(&alone)->kind, ALAR_PASS, "%s: %s", rows[k].name,
                     told_reason(&alone));
        cr_expect_eq(told_verdict(&again)->kind, ALAR_PASS, "%s: %s", rows[k].name,
                     told_reason(&again));
        cr_expect_eq(told_verdict(&again)->reports_judged, 2, "%s", rows[k].name);
        cr_expect_eq(told_verdict(&other)->kind, ALAR_FAIL, "%s: %s", rows[k].name,
                     told_reason(&other));
        cr_expect_not_null(strstr(told_reason(&other), rows[k].says), "%s: %s", rows[k].name,
                           told_reason(&other));
        told_free(&alone);
        told_free(&again);
        told_free(&other);
    }
}

/* A wrong report is no model: the next rank's is judged, and counted. spec: O-50 */
Test(judge_again, keeps_no_wrong_report)
{
    static const char wrong[] = WEIGHTED("1", "2", "'bits':'40300002'", "", "0,1");
    struct told judged;

    told_reports(&judged, TWO, wrong, wrong);

    cr_assert_eq(told_verdict(&judged)->found[ALAR_ANOMALY_ILLEGAL_REPORT], 2, "%s",
                 told_reason(&judged));
    told_free(&judged);
}

/* Operations that do not follow each other are right as well, and judged each time. spec: O-50 */
Test(judge_again, judges_scattered_operations_each_time)
{
    static const char right[] = WEIGHTED("1", "1", "'loss':1.5", "", "0,'g/1'");
    struct told judged;

    told_reports(&judged, GROUPS, right, right);

    cr_assert_eq(told_verdict(&judged)->kind, ALAR_PASS, "%s", told_reason(&judged));
    cr_assert_eq(told_verdict(&judged)->reports_judged, 2);
    told_free(&judged);
}

/* A report of nothing is never like another one, not even after a wrong one. spec: O-06 */
Test(judge_again, takes_nothing_for_no_other_report)
{
    struct told judged;

    told_quoted(&judged,
                THIRD "{'ev':'report','rank':0," SHOWN(
                    "'loss':1.7") "}\n"
                                  "{'ev':'report','rank':0," SHOWN(
                                      "'loss':1.8") "}\n"
                                                    "{'ev':'report','rank':0," WEIGHTED(
                                                        "1", "1", "'loss':1.7", "", "") "}\n");

    cr_assert_eq(told_verdict(&judged)->reports, 3);
    cr_assert_eq(told_verdict(&judged)->reports_judged, 2);
    cr_assert_eq(told_verdict(&judged)->unknown[ALAR_UNKNOWN_REPORT], 1);
    told_free(&judged);
}
