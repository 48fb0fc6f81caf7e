/* What ranks must agree on, and what is left when a history is over: row by row. */
#include "judge/judge.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(judge_issue, .init = scratch_make, .fini = scratch_remove);

#define ROWS(rows) told_rows(rows, sizeof(rows) / sizeof *(rows))
#define ISSUE(rank, op, fields) "{'ev':'issue','rank':" rank ",'op':" op fields "}\n"
#define DONE(rank, op, out) "{'ev':'done','rank':" rank ",'op':" op ",'out':[" out "]}\n"

/* Operations of two ranks in the other order look like a mismatch until the second one is seen;
   what differs in any other way is not called that. spec: O-10 */
Test(judge_issue, tells_another_order_from_a_mismatch)
{
#define MAX ",'red':'max','in':[1]"
#define ADD ",'in':[1]"
    static const struct told_row rows[] = {
        {"the other order",
         ISSUE("0", "0", MAX) ISSUE("0", "1", ADD) ISSUE("1", "0", ADD) ISSUE("1", "1", MAX),
         ALAR_FAIL, "mismatch-order"},
        {"the other order, seen from the first rank",
         ISSUE("0", "0", MAX) ISSUE("1", "0", ADD) ISSUE("1", "1", MAX) ISSUE("0", "1", ADD),
         ALAR_FAIL, "mismatch-order"},
        {"the second operation is another one",
         ISSUE("0", "0", MAX) ISSUE("0", "1", MAX) ISSUE("1", "0", ADD) ISSUE("1", "1", MAX),
         ALAR_FAIL, "mismatch-red"},
        {"the second rank does the same again",
         ISSUE("0", "0", MAX) ISSUE("0", "1", ADD) ISSUE("1", "0", ADD) ISSUE("1", "1", ADD),
         ALAR_FAIL, "mismatch-red"},
        {"only the third one would fit",
         ISSUE("0", "0", MAX) ISSUE("1", "0", ADD) ISSUE("0", "1", MAX) ISSUE("1", "1", ADD)
             ISSUE("0", "2", ADD) ISSUE("1", "2", MAX),
         ALAR_FAIL, "mismatch-red"},
        {"a third rank is not the one",
         ISSUE("0", "0", MAX) ISSUE("1", "0", ADD) ISSUE("2", "0", MAX) ISSUE("2", "1", ADD)
             ISSUE("1", "1", ADD),
         ALAR_FAIL, "mismatch-red"},
        {"a mismatch of another group stays one",
         ISSUE("0", "'a/0'", MAX) ISSUE("1", "'a/0'", ADD) ISSUE("0", "0", MAX) ISSUE("0", "1", ADD)
             ISSUE("1", "0", ADD) ISSUE("1", "1", MAX),
         ALAR_FAIL, "mismatch-order: operation world/0"},
        {"other findings of that number stay",
         ISSUE("0", "0", MAX) "{'ev':'read','rank':0,'op':0}\n" ISSUE("1", "0", ADD)
             ISSUE("0", "1", ADD) ISSUE("1", "1", MAX),
         ALAR_FAIL, "mismatch-order"},
        {"a key that one rank does not give",
         ISSUE("0", "0", ",'key':'a','in':[1]") ISSUE("1", "0", ",'in':[2]") DONE("0", "0", "3")
             DONE("1", "0", "3"),
         ALAR_PASS, "1 of 1"},
        {"keys stay keys",
         ISSUE("0", "0", ",'key':'a','in':[1]") ISSUE("1", "0", ",'key':'b','in':[2]")
             ISSUE("0", "1", ",'key':'b','in':[2]") ISSUE("1", "1", ",'key':'a','in':[2]"),
         ALAR_FAIL, "mismatch-key"},
    };

    ROWS(rows);
}

/* Who takes part, as each rank says. spec: O-10 */
Test(judge_issue, compares_members)
{
#define OF(list) ",'in':[1],'members':[" list "]"
    static const struct told_row rows[] = {
        {"another list", ISSUE("0", "'g/0'", OF("0,1")) ISSUE("1", "'g/0'", OF("1")), ALAR_FAIL,
         "mismatch-members: operation g/0, ranks 0, 1"},
        {"an operation nobody else issued yet",
         ISSUE("0", "'g/0'", OF("0,1")) ISSUE("1", "'g/1'", OF("1")), ALAR_FAIL,
         "mismatch-count: operation g/0, rank 1: "},
        {"the first one is named",
         ISSUE("0", "'g/0'", OF("0,1")) ISSUE("1", "'g/0'", OF("1")) ISSUE("0", "'g/1'", OF("0,1"))
             ISSUE("1", "'g/1'", OF("1")),
         ALAR_FAIL, "mismatch-members: operation g/0, ranks 0, 1"},
        {"a rank that is not in it says so, and may go on",
         ISSUE("0", "'g/0'", OF("0,1")) ISSUE("2", "'g/0'", OF("1,2")) DONE("2", "'g/0'", "1"),
         ALAR_FAIL, "mismatch-members: operation g/0, ranks 0, 2"},
        {"members outside the world", ISSUE("0", "'g/0'", OF("0,1")), ALAR_VERDICT_COUNT,
         "expected ranks below 1"},
        {"members of the world that have no record", ISSUE("0", "0", OF("0,1")) DONE("0", "0", "1"),
         ALAR_UNKNOWN, "`world` other members"},
        {"a rank that is not in it and does not say so",
         ISSUE("0", "'g/0'", OF("0,1")) ISSUE("2", "'g/0'", ",'in':[1]"), ALAR_FAIL,
         "mismatch-members: operation g/0, ranks 0, 2"},
    };

    ROWS(rows);
}

/* Storage of a pending operation, issued again. spec: O-14 */
Test(judge_issue, compares_storage)
{
#define ON(fields) ",'in':[1]," fields
#define BOTH DONE("0", "0", "1") DONE("0", "1", "1")
    static const struct told_row rows[] = {
        {"the same", ISSUE("0", "0", ON("'buf':'b'")) ISSUE("0", "1", ON("'buf':'b'")) BOTH,
         ALAR_FAIL, "reused-in-flight"},
        {"its result into what is being sent",
         ISSUE("0", "0", ON("'buf':'b','send':'s'")) ISSUE("0", "1", ON("'buf':'s'")) BOTH,
         ALAR_FAIL, "reused-in-flight"},
        {"sending what is being received",
         ISSUE("0", "0", ON("'buf':'b'")) ISSUE("0", "1", ON("'buf':'c','send':'b'")) BOTH,
         ALAR_FAIL, "reused-in-flight"},
        {"sending the same twice",
         ISSUE("0", "0", ON("'buf':'b','send':'s'")) ISSUE("0", "1", ON("'buf':'c','send':'s'"))
             BOTH,
         ALAR_PASS, "2 of 2"},
        {"sending something, in no buffer of ours",
         ISSUE("0", "0", ON("'buf':'b'")) ISSUE("0", "1", ON("'send':'s'")) BOTH, ALAR_PASS,
         "2 of 2"},
        {"a slice before it",
         ISSUE("0", "0", ON("'buf':'b','at':1")) ISSUE("0", "1", ON("'buf':'b','at':0")) BOTH,
         ALAR_PASS, "2 of 2"},
        {"a slice that reaches into it",
         ISSUE("0", "0", ON("'buf':'b','at':1")) ISSUE("0", "1", ",'in':[1,1],'buf':'b','at':0")
             DONE("0", "0", "1") DONE("0", "1", "1,1"),
         ALAR_FAIL, "reused-in-flight"},
        {"complete, though not over",
         ISSUE("0", "0", ON("'buf':'b'")) "{'ev':'complete','rank':0,'op':0,'out':[1]}\n" ISSUE(
             "0", "1", ON("'buf':'b'")) BOTH,
         ALAR_PASS, "2 of 2"},
        {"a third time: it belongs to the second",
         ISSUE("0", "0", ON("'buf':'b'")) ISSUE("0", "1", ON("'buf':'b'"))
             ISSUE("0", "2", ON("'buf':'b'")) BOTH DONE("0", "2", "1"),
         ALAR_FAIL, "reused-in-flight"},
    };

    ROWS(rows);
}

/* Records about the history itself. spec: O-01 */
Test(judge_issue, refuses_records_that_contradict_each_other)
{
#define TWICE(first, second) \
    "{'ev':'trace','rank':0,'world':2," first "}\n{'ev':'trace','rank':1,'world':2," second "}\n"
#define PROMISE "what other ranks promised"
    static const struct told_row rows[] = {
        {"wait", TWICE("'wait':'stream'", "'wait':'blocking'"), ALAR_VERDICT_COUNT, PROMISE},
        {"order", TWICE("'order':'fixed'", "'order':'free'"), ALAR_VERDICT_COUNT, PROMISE},
        {"use", TWICE("'use':'once'", "'use':'any'"), ALAR_VERDICT_COUNT, PROMISE},
        {"avg", TWICE("'avg':'sum-divide'", "'avg':'any'"), ALAR_VERDICT_COUNT, PROMISE},
        {"nan", TWICE("'nan':'ignore'", "'nan':'any'"), ALAR_VERDICT_COUNT, PROMISE},
        {"adder", TWICE("'adder':'flush'", "'adder':'nearest'"), ALAR_VERDICT_COUNT, PROMISE},
        {"width", TWICE("'width':'f32'", "'width':'f64'"), ALAR_VERDICT_COUNT, PROMISE},
        {"height", TWICE("'height':3", "'height':4"), ALAR_VERDICT_COUNT, PROMISE},
        {"deadline", TWICE("'deadline':3", "'deadline':4"), ALAR_VERDICT_COUNT, PROMISE},
        {"the same again",
         TWICE("'wait':'stream','deadline':3,'height':1",
               "'wait':'stream','deadline':3") "{'ev':'end'}\n",
         ALAR_UNKNOWN, "no operation"},
        {"a contract of a rank that has issued",
         ISSUE("0", "0", ADD) "{'ev':'contract','rank':0,'use':'once'}\n", ALAR_VERDICT_COUNT,
         "the contract before the first issue"},
        {"a contract of a rank that has not",
         ISSUE("0", "0", ADD) "{'ev':'contract','rank':1,'use':'any'}\n" ISSUE("1", "0", ADD)
             DONE("0", "0", "2") DONE("1", "0", "2"),
         ALAR_PASS, "1 of 1"},
        {"no tree", "{'ev':'contract','tree':'oak'}\n" ISSUE("0", "0", ADD), ALAR_VERDICT_COUNT,
         "the name of a tree"},
        {"another version", "{'ev':'trace','v':2,'world':1}\n", ALAR_VERDICT_COUNT,
         "format version 1"},
        {"another world", "{'ev':'trace','rank':0,'world':2}\n{'ev':'trace','rank':1,'world':3}\n",
         ALAR_VERDICT_COUNT, "world"},
        {"no world, a host without a start",
         "{'ev':'trace','rank':0,'clock':'monotonic_ns','host':'a'}\n" ISSUE("0", "0", ADD)
             DONE("0", "0", "1") "{'ev':'end'}\n",
         ALAR_PASS, "1 of 1"},
        {"a group declared twice: the first one counts",
         "{'ev':'declare','group':'g','members':[0]}\n{'ev':'declare','group':'g','members':[0,1]}"
         "\n{'ev':'declare','group':'g'}\n{'ev':'declare','key':'a'}\n"
         "{'ev':'declare','key':'a','scope':'partial'}\n" ISSUE("0", "'g/0'", ADD)
             DONE("0", "'g/0'", "1") ISSUE("1", "0", ADD) ISSUE("0", "0", ADD) DONE("0", "0", "2")
                 DONE("1", "0", "2"),
         ALAR_PASS, "2 of 2"},
    };

    ROWS(rows);
}

/* An operation that some rank never issued: what is said depends on how that rank ended, and on
   what the others were told. spec: O-06, O-11, O-16, O-20, O-21, O-22 */
Test(judge_issue, says_why_a_rank_is_missing)
{
#define TRACE "{'ev':'trace','world':2,'clock':'ticks'}\n"
#define AT(rank, t, op) "{'ev':'issue','rank':" rank ",'t':" t ",'op':" op ",'in':[1]}\n"
#define END(rank) "{'ev':'end','rank':" rank "}\n"
    static const struct told_row rows[] = {
        {"it ended in order", TRACE AT("0", "0", "0") END("0") END("1"), ALAR_FAIL,
         "mismatch-count: operation world/0, rank 1"},
        {"it ended badly", TRACE AT("0", "0", "0") END("0") "{'ev':'exit','rank':1,'code':-9}\n",
         ALAR_UNKNOWN, "pending"},
        {"it ended badly, and the others failed",
         TRACE AT("0", "0", "0") "{'ev':'fail','rank':0,'t':1,'op':0,'error':'gone'}\n" END(
             "0") "{'ev':'exit','rank':1,'code':-9}\n",
         ALAR_FAIL, "failed-rank: operation world/0, rank 1"},
        {"it left in order with a code, and the others failed",
         TRACE AT("0", "0", "0") "{'ev':'fail','rank':0,'t':1,'op':0,'error':'gone'}\n" END(
             "0") "{'ev':'exit','rank':1,'code':5}\n" END("1"),
         ALAR_FAIL, "failed-rank: operation world/0, rank 1"},
        {"a value came out without it",
         TRACE AT("0", "0", "0") "{'ev':'done','rank':0,'t':1,'op':0,'out':[1]}\n" END("0")
             END("1"),
         ALAR_FAIL, "premature: operation world/0, rank 0"},
        {"a value came out, and its recording stops",
         TRACE AT("0", "0", "0") "{'ev':'done','rank':0,'t':1,'op':0,'out':[1]}\n" END("0"),
         ALAR_UNKNOWN, "pending"},
        {"a deadline that has not passed",
         "{'ev':'trace','world':2,'clock':'ticks','deadline':50}\n" AT(
             "0", "0", "0") "{'ev':'sync','rank':1,'t':49}\n",
         ALAR_UNKNOWN, "pending"},
        {"a deadline that another rank's clock shows to have passed",
         "{'ev':'trace','world':2,'clock':'ticks','deadline':50}\n" AT(
             "0", "0", "0") "{'ev':'sync','rank':1,'t':50}\n",
         ALAR_FAIL, "stall"},
        {"a deadline on a clock of its own",
         "{'ev':'trace','world':2,'deadline':50}\n" AT("0", "0",
                                                       "0") "{'ev':'sync','rank':1,'t':90}\n",
         ALAR_UNKNOWN, "pending"},
        {"a deadline of a wait without a time",
         "{'ev':'trace','world':2,'clock':'ticks'}\n" AT(
             "0", "0",
             "0") "{'ev':'wait','rank':0,'op':0,'deadline':5}\n{'ev':'sync','rank':0,'t':90}\n",
         ALAR_UNKNOWN, "pending"},
        {"an undeclared group, and a timeout",
         TRACE "{'ev':'issue','rank':0,'t':0,'op':'g/0','in':[1]}\n"
               "{'ev':'fail','rank':0,'t':9,'op':'g/0','error':'timeout'}\n",
         ALAR_FAIL,
         "timeout: operation g/0, rank 0: an all-reduce did not complete before its deadline"},
        {"an undeclared group, and nobody was told",
         TRACE "{'ev':'issue','rank':0,'t':0,'op':'g/0','in':[1]}\n{'ev':'end'}\n", ALAR_UNKNOWN,
         "who takes part"},
    };

    ROWS(rows);
}

/* An operation that all issued, and that did not end everywhere. spec: O-20, O-22, O-23, O-42 */
Test(judge_issue, says_why_an_operation_is_left)
{
#define ALL TRACE AT("0", "0", "0") AT("1", "0", "0")
#define LIMIT \
    "{'ev':'trace','world':2,'clock':'ticks','deadline':50}\n" AT("0", "0", "0") AT("1", "0", "0")
    static const struct told_row rows[] = {
        {"polled until the recording stops", ALL "{'ev':'test','rank':0,'op':0,'done':false}\n",
         ALAR_UNKNOWN, "pending"},
        {"a blocking call until the recording stops",
         TRACE "{'ev':'issue','rank':0,'t':0,'op':0,'in':[1],'sync':true}\n" AT(
             "1", "0", "0") "{'ev':'wait','rank':1,'op':0}\n",
         ALAR_UNKNOWN, "pending"},
        {"a blocking call is not the rank that went quiet",
         "{'ev':'trace','world':2,'clock':'ticks','deadline':50}\n"
         "{'ev':'issue','rank':0,'t':0,'op':0,'in':[1],'sync':true}\n" AT(
             "1", "0", "0") "{'ev':'sync','rank':0,'t':60,'stream':7}\n",
         ALAR_FAIL, "stall: operation world/0, rank 1: "},
        {"a poll is not either",
         LIMIT "{'ev':'test','rank':1,'op':0,'done':false}\n"
               "{'ev':'sync','rank':1,'t':60,'stream':7}\n",
         ALAR_FAIL, "stall: operation world/0, rank 0: "},
        {"one rank ended its wait, the other went quiet",
         LIMIT "{'ev':'done','rank':1,'t':40,'op':0,'out':[2]}\n"
               "{'ev':'sync','rank':1,'t':60,'stream':7}\n",
         ALAR_FAIL, "stall"},
        {"an error on one of them",
         ALL "{'ev':'fail','rank':0,'t':1,'op':0,'error':'broken'}\n" END("0") END("1"), ALAR_FAIL,
         "failed: operation world/0, rank 0"},
        {"an error, and a rank tore its communicator down",
         ALL "{'ev':'abort','rank':1,'t':1}\n"
             "{'ev':'fail','rank':0,'t':2,'op':0,'error':'broken'}\n" END("0") END("1"),
         ALAR_FAIL, "failed-rank"},
        {"never waited for", ALL END("0") END("1"), ALAR_FAIL,
         "leak: operation world/0, ranks 0, 1"},
        {"never waited for, by a rank that gave up",
         ALL "{'ev':'exit','rank':0,'code':2}\n" END("0") END("1"), ALAR_FAIL,
         "leak: operation world/0, ranks 0, 1"},
        {"never waited for, by a rank that was lost",
         ALL "{'ev':'exit','rank':0,'code':2}\n" END("1"), ALAR_FAIL,
         "leak: operation world/0, rank 1"},
        {"dropped by one, torn down by the other",
         ALL "{'ev':'drop','rank':0,'op':0}\n{'ev':'abort','rank':1}\n" END("0") END("1"),
         ALAR_FAIL, "leak: operation world/0, rank 0"},
        {"polled to completion and never waited for",
         ALL "{'ev':'test','rank':0,'op':0,'done':true}\n{'ev':'test','rank':1,'op':0,'done':true}"
             "\n" END("0") END("1"),
         ALAR_UNKNOWN, "no operation"},
        {"one rank timed out, the other has the value",
         ALL "{'ev':'fail','rank':0,'t':9,'op':0,'error':'timeout'}\n"
             "{'ev':'done','rank':1,'t':9,'op':0,'out':[2]}\n" END("0") END("1"),
         ALAR_FAIL, "timeout: operation world/0, rank 0"},
    };

    ROWS(rows);
}

/* A judge is not started in too little room. */
Test(judge_issue, needs_room)
{
    struct alar_judge *judge = malloc(alar_judge_size());
    struct alar_arena arena = {0};
    struct alar_judge_setup setup = {.world = 2, .scratch = {NULL, alar_judge_scratch_bytes(2)}};

    cr_assert_not_null(judge);
    setup.scratch.bytes--;
    cr_assert_eq(alar_judge_start(judge, &arena, &setup), ALAR_E_RANGE);
    setup.scratch.bytes++;
    setup.world = 0;
    cr_assert_eq(alar_judge_start(judge, &arena, &setup), ALAR_E_RANGE);
    free(judge);
}
