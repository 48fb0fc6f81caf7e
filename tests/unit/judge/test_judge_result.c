/* Results: what is judged of them, by whose promise, and what is said when they can't be judged. */
#include "judge/judge.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(judge_result, .init = scratch_make, .fini = scratch_remove);

#define ROWS(rows) told_rows(rows, sizeof(rows) / sizeof *(rows))
#define ISSUE(rank, op, fields) "{'ev':'issue','rank':" rank ",'op':" op fields "}\n"
#define DONE(rank, op, out) "{'ev':'done','rank':" rank ",'op':" op ",'out':[" out "]}\n"
#define PAIR(fields, a, b) \
    ISSUE("0", "0", fields ",'in':[" a "]") ISSUE("1", "0", fields ",'in':[" b "]")
#define BOTH(out) DONE("0", "0", out) DONE("1", "0", out)
#define TRIPLE(fields, ...) TRIPLE_OF(fields, __VA_ARGS__)
#define TRIPLE_OF(fields, a, b, c) PAIR(fields, a, b) ISSUE("2", "0", fields ",'in':[" c "]")
#define ALL(out) BOTH(out) DONE("2", "0", out)

/* Each wrong result is found, once for what all its ranks hold. spec: O-30, O-31 */
Test(judge_result, names_what_is_wrong)
{
    static const struct told_row rows[] = {
        {"two wrong results", PAIR("", "1", "2") DONE("0", "0", "7") DONE("1", "0", "8"), ALAR_FAIL,
         "ranks-disagree: operation world/0, ranks 0, 1: ranks hold different bits of one "
         "result; nothing tells which rank is odd; 2 different results, 0 of them legal alone"},
        {"five results of five ranks",
         PAIR("", "1", "1") ISSUE("2", "0", ",'in':[1]") ISSUE("3", "0", ",'in':[1]")
             ISSUE("4", "0", ",'in':[1]") BOTH("5") DONE("2", "0", "6") DONE("3", "0", "7")
                 DONE("4", "0", "8"),
         ALAR_FAIL, "4 different results, 1 of them legal alone"},
        {"a rank that was lost",
         "{'ev':'trace','world':2}\n" PAIR("", "1", "2") "{'ev':'exit','rank':1,'code':-9}\n" DONE(
             "0", "0", "1") "{'ev':'end','rank':0}\n",
         ALAR_FAIL, "abort-as-success"},
        {"a rank that tore down, the other one's value is whole",
         PAIR("", "1", "2") "{'ev':'abort','rank':1}\n" DONE("0", "0", "3"), ALAR_UNKNOWN,
         "torn down"},
        {"undecided, and the ranks disagree",
         TRIPLE(",'red':'product'", "3", "5", "7") BOTH("106") DONE("2", "0", "107"), ALAR_FAIL,
         "2 different results, 0 of them legal alone"},
        {"one is undecided, the other legal",
         TRIPLE(",'red':'product'", "3", "5", "7") BOTH("105") DONE("2", "0", "107"), ALAR_FAIL,
         "ranks-disagree"},
    };

    ROWS(rows);
}

/* What was not recorded is not judged, and not passed. spec: O-06 */
Test(judge_result, says_what_was_not_recorded)
{
    static const struct told_row rows[] = {
        {"one contribution", ISSUE("0", "0", ",'in':[1]") ISSUE("1", "0", ",'n':1") BOTH("3"),
         ALAR_UNKNOWN, "not recorded"},
        {"contributions of two lengths",
         ISSUE("0", "0", ",'n':2,'in':[1]") ISSUE("1", "0", ",'in':[1,2]") BOTH("3"), ALAR_UNKNOWN,
         "not recorded"},
        {"results of two lengths", PAIR("", "1,1", "2,2") DONE("0", "0", "3,3") DONE("1", "0", "3"),
         ALAR_UNKNOWN, "not recorded"},
        {"shorter results", PAIR("", "1,1", "2,2") BOTH("3"), ALAR_UNKNOWN, "not recorded"},
        {"one result", PAIR("", "1", "2") DONE("0", "0", "3") "{'ev':'done','rank':1,'op':0}\n",
         ALAR_UNKNOWN, "not recorded"},
        {"one wrong result",
         PAIR("", "1", "2") DONE("0", "0", "7") "{'ev':'done','rank':1,'op':0}\n", ALAR_FAIL,
         "illegal-value: operation world/0, rank 0"},
        {"no result, and nothing in it",
         ISSUE("0", "0", ",'in':[]") "{'ev':'done','rank':0,'op':0}\n", ALAR_UNKNOWN,
         "no operation was judged"},
        {"twice: the completion's bits, and the wait's",
         "{'ev':'contract','wait':'stream'}\n" PAIR("", "1", "2")
             BOTH("3") "{'ev':'complete','rank':0,'op':0,'out':[7]}\n{'ev':'complete','rank':1,'op'"
                       ":0}\n",
         ALAR_FAIL, "value-changed: operation world/0, rank 0"},
    };

    ROWS(rows);
}

/* Promises about trees and twins. spec: O-33, O-34 */
Test(judge_result, holds_promises)
{
#define TREE(name) "{'ev':'contract','tree':'" name "'}\n"
#define TWIN(out) "{'ev':'twin','rank':0,'op':0,'out':[" out "]}\n"
#define BIG "16777216"
    static const struct told_row rows[] = {
        {"its tree", TREE("left-fold") TRIPLE("", BIG, "1", "1") ALL(BIG), ALAR_PASS, "1 of 1"},
        {"another tree", TREE("left-fold") TRIPLE("", BIG, "1", "1") ALL("16777218"), ALAR_FAIL,
         "not-the-tree"},
        {"a tree of sums says nothing of maxima",
         TREE("left-fold") TRIPLE(",'red':'max'", "1", "2", "3") ALL("3"), ALAR_PASS, "1 of 1"},
        {"nor of integers", TREE("left-fold") TRIPLE(",'dtype':'i32'", "1", "2", "3") ALL("6"),
         ALAR_PASS, "1 of 1"},
        {"nor of a group it does not fit",
         TREE("left-fold@2") "{'ev':'declare','group':'g','members':[0,1]}\n" ISSUE(
             "0", "'g/0'", ",'in':[1]") ISSUE("1", "'g/0'", ",'in':[2]") DONE("0", "'g/0'", "3")
             DONE("1", "'g/0'", "3") TRIPLE("", "1", "1", "1") ALL("3"),
         ALAR_PASS, "2 of 2"},
        {"a twin of other bits, both legal", TRIPLE("", BIG, "1", "1") TWIN("16777218") ALL(BIG),
         ALAR_PASS, "twin: same bits 0, other legal bits 1"},
        {"a twin of other bits, a fixed order promised",
         "{'ev':'contract','order':'fixed'}\n" TRIPLE("", BIG, "1", "1") TWIN("16777218") ALL(BIG),
         ALAR_FAIL, "twin-differs"},
        {"a twin of another length", PAIR("", "1,1", "2,2") TWIN("3") BOTH("3,3"), ALAR_UNKNOWN,
         "not recorded"},
        {"a height that the tree keeps",
         "{'ev':'contract','height':2}\n" TRIPLE("", "1", "2", "3") ALL("6"), ALAR_PASS, "1 of 1"},
        {"a height above all trees",
         "{'ev':'contract','height':3}\n" TRIPLE("", BIG, "1", "1") ALL(BIG), ALAR_PASS, "1 of 1"},
        {"a saturating sum of integers",
         "{'ev':'contract','adder':'saturate'}\n" PAIR(",'dtype':'u8'", "200", "100") BOTH("255"),
         ALAR_PASS, "1 of 1"},
        {"a wrapping one, a flushing adder promised",
         "{'ev':'contract','adder':'flush'}\n" PAIR(",'dtype':'u8'", "200", "100") BOTH("44"),
         ALAR_PASS, "1 of 1"},
    };

    ROWS(rows);
}

/* 16-bit floats may be summed in fp32, unless a promise says how; maxima have no sums. spec: O-36
 */
Test(judge_result, knows_when_a_wide_sum_is_legal)
{
#define F16 ",'dtype':'f16'"
#define AVG ",'dtype':'f16','red':'avg'"
#define FINE "4.703", "0.6416", "0.4233" /* 5.766 in each order of fp16, 5.77 in fp32 */
    static const struct told_row rows[] = {
        {"rounded each time", TRIPLE(F16, FINE) ALL("5.766"), ALAR_PASS, "1 of 1"},
        {"kept in fp32", TRIPLE(F16, FINE) ALL("5.77"), ALAR_PASS, "1 of 1"},
        {"kept, and too large by one", TRIPLE(F16, FINE) ALL("5.7734"), ALAR_FAIL, "illegal-value"},
        {"no sum explains a maximum", TRIPLE(F16 ",'red':'max'", FINE) ALL("5.77"), ALAR_FAIL,
         "illegal-value"},
        {"nor a minimum", TRIPLE(F16 ",'red':'min'", FINE) ALL("5.77"), ALAR_FAIL, "illegal-value"},
        {"an adder was promised",
         "{'ev':'contract','adder':'nearest'}\n" TRIPLE(F16, FINE) ALL("5.77"), ALAR_FAIL,
         "illegal-value"},
        {"a width was promised", "{'ev':'contract','width':'f16'}\n" TRIPLE(F16, FINE) ALL("5.77"),
         ALAR_FAIL, "illegal-value"},
        {"bf16, kept in fp32", TRIPLE(",'dtype':'bf16'", "256", "1", "1") ALL("258"), ALAR_PASS,
         "1 of 1"},
    };

    ROWS(rows);
}

/* Means whose sum is kept wide, products, and NaN that gets lost. spec: O-31, O-32, O-36 */
Test(judge_result, knows_what_is_no_plain_sum)
{
    static const struct told_row rows[] = {
        {"a mean of what fp16 can't hold, kept in fp32",
         TRIPLE(AVG, "60000", "60000", "60000") ALL("60000"), ALAR_PASS, "1 of 1"},
        {"a mean beyond both ends of it", TRIPLE(AVG, "60000", "60000", "60000") ALL("50000"),
         ALAR_FAIL, "illegal-value"},
        {"a mean that is not finite", TRIPLE(AVG, "60000", "6", "-3") ALL("'inf'"), ALAR_FAIL,
         "illegal-value"},
        {"a product of two has one value", PAIR(",'red':'product'", "3", "5") BOTH("16"), ALAR_FAIL,
         "illegal-value"},
        {"a product from the right", TRIPLE(",'red':'product'", "1e38", "10", "0.1") ALL("'inf'"),
         ALAR_PASS, "1 of 1"},
        {"a NaN that a product lost", TRIPLE(",'red':'product'", "'nan'", "10", "0.1") ALL("1"),
         ALAR_FAIL, "nan-lost"},
        {"a NaN that saturates to 0",
         "{'ev':'contract','adder':'saturate'}\n" PAIR("", "'nan'", "2") BOTH("2"), ALAR_PASS,
         "1 of 1"},
        {"a NaN that a mean lost", PAIR(",'red':'avg'", "'nan'", "2") BOTH("1"), ALAR_FAIL,
         "nan-lost"},
    };

    ROWS(rows);
}

/* Completion before the last contribution. spec: O-16 */
Test(judge_result, compares_times)
{
#define TICKS "{'ev':'trace','world':2,'clock':'ticks'}\n"
#define AT(rank, t) "{'ev':'issue','rank':" rank ",'t':" t ",'op':0,'in':[1]}\n"
#define WAIT(rank, t, done) "{'ev':'wait','rank':" rank ",'t':" t ",'op':0,'done':" done "}\n"
#define ENDS(rank, t) "{'ev':'done','rank':" rank ",'t':" t ",'op':0,'out':[2]}\n"
#define OVER "{'ev':'end'}\n"
    static const struct told_row rows[] = {
        {"told before the last one issued",
         TICKS AT("0", "1") AT("1", "9") ENDS("0", "5") ENDS("1", "9") OVER, ALAR_FAIL,
         "premature: operation world/0, rank 0"},
        {"a poll told so",
         TICKS AT("0", "1") AT("1", "9") "{'ev':'test','rank':0,'t':5,'op':0,'done':true}\n" ENDS(
             "0", "10") ENDS("1", "10") OVER,
         ALAR_FAIL, "premature: operation world/0, rank 0"},
        {"it failed before, which is no completion",
         TICKS AT("0", "1") AT(
             "1", "9") "{'ev':'fail','rank':0,'t':5,'op':0,'error':'broken'}\n" ENDS("1", "9") OVER,
         ALAR_FAIL, "failed: "},
        {"a success after the failure",
         TICKS AT("0", "1")
             AT("1", "9") "{'ev':'fail','rank':0,'t':5,'op':0,'error':'broken'}\n" ENDS("0", "6")
                 ENDS("1", "9") OVER,
         ALAR_FAIL, "abort-as-success"},
        {"it timed out before, and has no value",
         TICKS AT("0", "1")
             AT("1", "9") "{'ev':'fail','rank':0,'t':5,'op':0,'error':'timeout'}\n" ENDS("0", "6")
                 ENDS("1", "9") OVER,
         ALAR_FAIL, "timeout: "},
        {"on a stream nothing is told to the host",
         "{'ev':'trace','world':2,'clock':'ticks','wait':'stream'}\n" AT("0", "1") AT("1", "9")
             ENDS("0", "5") ENDS("1", "9") "{'ev':'sync','rank':0,'t':9}\n"
                                           "{'ev':'sync','rank':1,'t':9}\n" OVER,
         ALAR_PASS, "1 of 1"},
        {"one of them without a time",
         TICKS AT("0", "1") "{'ev':'issue','rank':1,'op':0,'in':[1]}\n" ENDS("0", "0") OVER,
         ALAR_VERDICT_COUNT, "time at least"},
        {"without times at all",
         TICKS
         "{'ev':'issue','rank':0,'op':0,'in':[1]}\n{'ev':'issue','rank':1,'op':0,'in':[1]}\n" BOTH(
             "2") OVER,
         ALAR_PASS, "1 of 1"},
    };

    ROWS(rows);
}

/* Waits that nothing moved before. spec: O-44 */
Test(judge_result, notes_that_nothing_overlapped)
{
    static const struct told_row rows[] = {
        {"nothing moved until the wait",
         TICKS AT("0", "1") AT("1", "1") WAIT("0", "90", "false") WAIT("1", "91", "false")
             ENDS("0", "95") ENDS("1", "95") OVER,
         ALAR_PASS, "note: no-overlap"},
        {"the second rank waited first",
         TICKS AT("0", "1") AT("1", "1") WAIT("0", "92", "false") WAIT("1", "91", "false")
             ENDS("0", "96") ENDS("1", "95") OVER,
         ALAR_PASS, "note: no-overlap"},
        {"the wait took longer than the time before it",
         TICKS AT("0", "1") AT("1", "1") WAIT("0", "3", "false") WAIT("1", "3", "false")
             ENDS("0", "95") ENDS("1", "95") OVER,
         ALAR_PASS, "1 of 1"},
        {"one rank found it complete",
         TICKS AT("0", "1") AT("1", "1") WAIT("0", "90", "true") WAIT("1", "91", "false")
             ENDS("0", "95") ENDS("1", "95") OVER,
         ALAR_PASS, "1 of 1"},
        {"one rank was never told",
         TICKS AT("0", "1") AT("1", "1") WAIT("0", "90", "false") WAIT("1", "91", "false")
             ENDS("0", "95") "{'ev':'abort','rank':1,'t':96}\n" OVER,
         ALAR_UNKNOWN, "torn down"},
    };

    ROWS(rows);
}
