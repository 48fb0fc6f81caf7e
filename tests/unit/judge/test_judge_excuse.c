/* Which injected fault excuses which finding: one of its kind that struck a rank concerned, before
   it was too late to matter. A wrong excuse would hide a second defect behind a first. */
#include "judge/judge.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(judge_excuse, .init = scratch_make, .fini = scratch_remove);

enum {
    TEXT = 1 << 14
};

/* A history with a fault somewhere, and whether it excuses the worst finding. */
struct excuse_row {
    const char *name, *before, *fault, *after;
    enum alar_anomaly found;
    bool is_excused;
};

static void excuse_rows(const struct excuse_row *row, size_t count)
{
    static char text[TEXT];

    for (size_t k = 0; k < count; k++) {
        struct told judged;

        snprintf(text, sizeof text, "%s%s%s", row[k].before, row[k].fault, row[k].after);
        told_quoted(&judged, text);
        const struct alar_verdict *verdict = told_verdict(&judged);
        cr_assert_eq(verdict->kind, ALAR_FAIL, "%s: %s", row[k].name, told_reason(&judged));
        cr_expect_eq(verdict->finding[0].anomaly, row[k].found, "%s: %s", row[k].name,
                     told_reason(&judged));
        cr_expect_eq(verdict->finding[0].excused, row[k].is_excused ? 0 : -1, "%s: %s", row[k].name,
                     told_reason(&judged));
        told_free(&judged);
    }
}

/* Rank 1 never joins; rank 0 is told at 50, on a clock that all share. */
#define TICKS "{'ev':'trace','world':3,'clock':'ticks'}\n"
#define JOINED                                        \
    "{'ev':'issue','rank':0,'t':0,'op':0,'in':[1]}\n" \
    "{'ev':'issue','rank':2,'t':0,'op':0,'in':[1]}\n"
#define TOLD "{'ev':'fail','rank':0,'t':50,'op':0,'error':'timeout'}\n"
#define ENDS "{'ev':'end','rank':0}\n{'ev':'end','rank':2}\n"

/* A rank that was struck explains that it is missing; one that joined, or that was struck when all
   was over, does not, nor does a fault of another kind. spec: O-07 */
Test(judge_excuse, of_a_timeout)
{
    static const struct excuse_row rows[] = {
        {"the missing rank was muted", TICKS JOINED,
         "{'ev':'fault','rank':1,'t':9,'point':'alar/rank/mute/1'}\n", TOLD ENDS,
         ALAR_ANOMALY_TIMEOUT, true},
        {"all ranks were struck", TICKS JOINED, "{'ev':'fault','point':'alar/rank/mute'}\n",
         TOLD ENDS, ALAR_ANOMALY_TIMEOUT, true},
        {"a rank that joined was struck", TICKS JOINED,
         "{'ev':'fault','rank':2,'t':9,'point':'alar/rank/mute/2'}\n", TOLD ENDS,
         ALAR_ANOMALY_TIMEOUT, false},
        {"an issue that failed ends the run of all", TICKS JOINED,
         "{'ev':'fault','rank':2,'t':9,'point':'alar/post/fail/2'}\n", TOLD ENDS,
         ALAR_ANOMALY_TIMEOUT, true},
        {"a flipped bit delays nobody", TICKS JOINED,
         "{'ev':'fault','rank':1,'t':9,'point':'alar/contribution/bitflip/1'}\n", TOLD ENDS,
         ALAR_ANOMALY_TIMEOUT, false},
        {"a fault of no known kind", TICKS JOINED,
         "{'ev':'fault','rank':1,'t':9,'point':'alar/history/short'}\n", TOLD ENDS,
         ALAR_ANOMALY_TIMEOUT, false},
        {"struck at the moment it was told", TICKS JOINED,
         "{'ev':'fault','rank':1,'t':50,'point':'alar/rank/mute/1'}\n", TOLD ENDS,
         ALAR_ANOMALY_TIMEOUT, true},
        {"struck after it was told", TICKS JOINED,
         "{'ev':'fault','rank':1,'t':51,'point':'alar/rank/mute/1'}\n", TOLD ENDS,
         ALAR_ANOMALY_TIMEOUT, false},
        {"struck without a time", TICKS JOINED,
         "{'ev':'fault','rank':1,'point':'alar/rank/mute/1'}\n", TOLD ENDS, ALAR_ANOMALY_TIMEOUT,
         true},
        {"on clocks that can't be compared", "{'ev':'trace','world':3}\n" JOINED,
         "{'ev':'fault','rank':1,'t':51,'point':'alar/rank/mute/1'}\n", TOLD ENDS,
         ALAR_ANOMALY_TIMEOUT, true},
        {"two ranks were told, and the later one counts",
         TICKS JOINED TOLD "{'ev':'fail','rank':2,'t':60,'op':0,'error':'timeout'}\n",
         "{'ev':'fault','rank':1,'t':55,'point':'alar/rank/mute/1'}\n", ENDS, ALAR_ANOMALY_TIMEOUT,
         true},
        {"two ranks were told, and one has another clock",
         "{'ev':'trace','rank':0,'world':3,'clock':'ticks'}\n"
         "{'ev':'trace','rank':1,'world':3,'clock':'ticks'}\n"
         "{'ev':'trace','rank':2,'world':3,'clock':'monotonic_ns','host':'a','boot_id':'x','t0':5}"
         "\n" JOINED TOLD "{'ev':'fail','rank':2,'t':60,'op':0,'error':'timeout'}\n",
         "{'ev':'fault','rank':1,'t':75,'point':'alar/rank/mute/1'}\n", ENDS, ALAR_ANOMALY_TIMEOUT,
         true},
        {"an earlier operation held the rank up", TICKS JOINED,
         "{'ev':'fault','rank':1,'t':9,'op':'dp/7','point':'alar/complete/late/1'}\n", TOLD ENDS,
         ALAR_ANOMALY_TIMEOUT, true},
    };

    excuse_rows(rows, sizeof rows / sizeof *rows);
}

/* Two ranks whose sum is wrong. */
#define PAIR                                    \
    "{'ev':'issue','rank':0,'op':0,'in':[1]}\n" \
    "{'ev':'issue','rank':1,'op':0,'in':[2]}\n"
#define WRONG                                   \
    "{'ev':'done','rank':0,'op':0,'out':[5]}\n" \
    "{'ev':'done','rank':1,'op':0,'out':[5]}\n"
#define GROUP                                                                  \
    "{'ev':'trace','world':3}\n{'ev':'declare','group':'g','members':[0,1]}\n" \
    "{'ev':'issue','rank':0,'op':'g/0','in':[1]}\n{'ev':'issue','rank':1,'op':'g/0','in':[2]}\n"
#define GROUP_WRONG                                                                              \
    "{'ev':'done','rank':0,'op':'g/0','out':[5]}\n{'ev':'done','rank':1,'op':'g/0','out':[5]}\n" \
    "{'ev':'end'}\n"

/* A flipped bit explains the value of the operation it went into, on a rank that took part, and no
   value that was there before it. spec: O-07 */
Test(judge_excuse, of_a_value)
{
    static const struct excuse_row rows[] = {
        {"a bit of this contribution", PAIR,
         "{'ev':'fault','rank':1,'op':0,'point':'alar/contribution/bitflip/1'}\n", WRONG,
         ALAR_ANOMALY_ILLEGAL_VALUE, true},
        {"a bit of some contribution", PAIR,
         "{'ev':'fault','rank':1,'point':'alar/contribution/bitflip/1'}\n", WRONG,
         ALAR_ANOMALY_ILLEGAL_VALUE, true},
        {"on nobody in particular", PAIR, "{'ev':'fault','point':'alar/contribution/bitflip'}\n",
         WRONG, ALAR_ANOMALY_ILLEGAL_VALUE, true},
        {"a bit of another operation", PAIR,
         "{'ev':'fault','rank':1,'op':1,'point':'alar/contribution/bitflip/1'}\n", WRONG,
         ALAR_ANOMALY_ILLEGAL_VALUE, false},
        {"a bit of another group's operation", PAIR,
         "{'ev':'fault','rank':1,'op':'dp/0','point':'alar/contribution/bitflip/1'}\n", WRONG,
         ALAR_ANOMALY_ILLEGAL_VALUE, false},
        {"a bit that flipped when all was done", PAIR WRONG,
         "{'ev':'fault','rank':1,'point':'alar/contribution/bitflip/1'}\n", "",
         ALAR_ANOMALY_ILLEGAL_VALUE, false},
        {"a rank that took no part", GROUP,
         "{'ev':'fault','rank':2,'point':'alar/contribution/bitflip/2'}\n", GROUP_WRONG,
         ALAR_ANOMALY_ILLEGAL_VALUE, false},
        {"a rank that took part", GROUP,
         "{'ev':'fault','rank':1,'point':'alar/contribution/bitflip/1'}\n", GROUP_WRONG,
         ALAR_ANOMALY_ILLEGAL_VALUE, true},
        {"a delay changes no value", PAIR, "{'ev':'fault','rank':1,'point':'alar/rank/delay/1'}\n",
         WRONG, ALAR_ANOMALY_ILLEGAL_VALUE, false},
        {"a failed issue changes no value", PAIR,
         "{'ev':'fault','rank':1,'op':0,'point':'alar/post/fail/1'}\n", WRONG,
         ALAR_ANOMALY_ILLEGAL_VALUE, false},
        {"nothing excuses a write in flight",
         "{'ev':'issue','rank':0,'op':0,'in':[1]}\n{'ev':'write','rank':0,'op':0}\n",
         "{'ev':'fault','rank':0,'op':0,'point':'alar/contribution/bitflip/0'}\n",
         "{'ev':'done','rank':0,'op':0,'out':[1]}\n", ALAR_ANOMALY_IN_FLIGHT_WRITE, false},
        {"a lost rank's value may be a flipped one",
         TICKS JOINED "{'ev':'issue','rank':1,'t':1,'op':0,'in':[1]}\n"
                      "{'ev':'abort','rank':1,'t':2}\n",
         "{'ev':'fault','rank':0,'op':0,'point':'alar/contribution/bitflip/0'}\n",
         "{'ev':'done','rank':0,'t':3,'op':0,'out':[2]}\n"
         "{'ev':'done','rank':2,'t':3,'op':0,'out':[2]}\n" ENDS,
         ALAR_ANOMALY_ABORT_AS_SUCCESS, true},
    };

    excuse_rows(rows, sizeof rows / sizeof *rows);
}

/* An issue that failed on purpose is its own excuse, and no other operation's. spec: O-07, O-23 */
Test(judge_excuse, of_a_failure)
{
    static const struct excuse_row rows[] = {
        {"on this operation", PAIR, "{'ev':'fault','rank':0,'op':0,'point':'alar/post/fail/0'}\n",
         "{'ev':'fail','rank':0,'op':0,'error':'refused'}\n", ALAR_ANOMALY_FAILED, true},
        {"on another one", PAIR, "{'ev':'fault','rank':0,'op':1,'point':'alar/post/fail/0'}\n",
         "{'ev':'fail','rank':0,'op':0,'error':'refused'}\n", ALAR_ANOMALY_FAILED, false},
        {"later", TICKS JOINED "{'ev':'issue','rank':1,'t':0,'op':0,'in':[1]}\n",
         "{'ev':'fault','rank':0,'t':8,'op':0,'point':'alar/post/fail/0'}\n",
         "{'ev':'fail','rank':0,'t':9,'op':0,'error':'refused'}\n" ENDS "{'ev':'end','rank':1}\n",
         ALAR_ANOMALY_FAILED, true},
        {"too late",
         TICKS JOINED "{'ev':'issue','rank':1,'t':0,'op':0,'in':[1]}\n"
                      "{'ev':'fail','rank':0,'t':9,'op':0,'error':'refused'}\n",
         "{'ev':'fault','rank':0,'t':10,'op':0,'point':'alar/post/fail/0'}\n",
         ENDS "{'ev':'end','rank':1}\n", ALAR_ANOMALY_FAILED, false},
        {"a slow rank fails nothing", PAIR, "{'ev':'fault','rank':0,'point':'alar/rank/delay/0'}\n",
         "{'ev':'fail','rank':0,'op':0,'error':'refused'}\n", ALAR_ANOMALY_FAILED, false},
    };

    excuse_rows(rows, sizeof rows / sizeof *rows);
}

/* Lists of ranks keep the first sixteen; a rank beyond them is still known to have joined, or to
   be missing. spec: O-07 */
Test(judge_excuse, in_a_large_world)
{
    enum {
        WORLD = 40
    };
    static const struct {
        unsigned joined, struck;
        bool is_excused;
    } rows[] = {
        {39, 39, true},  /* the only one that is missing */
        {39, 3, false},  /* joined, and kept */
        {39, 30, false}, /* joined, and not kept */
        {2, 1, false},   /* joined, and many are missing */
        {2, 35, true},   /* missing, and not kept */
        {20, 39, true},  /* missing, neither list is whole */
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        static char text[TEXT];
        int length =
            snprintf(text, sizeof text, "{'ev':'trace','world':%d,'clock':'ticks'}\n", WORLD);
        struct told judged;

        for (unsigned r = 0; r < rows[k].joined; r++) {
            length += snprintf(text + length, sizeof text - (size_t)length,
                               "{'ev':'issue','rank':%u,'t':0,'op':0,'in':[1]}\n", r);
        }
        snprintf(text + length, sizeof text - (size_t)length,
                 "{'ev':'fault','rank':%u,'t':1,'point':'alar/rank/mute/%u'}\n" TOLD,
                 rows[k].struck, rows[k].struck);
        told_quoted(&judged, text);
        const struct alar_evidence *evidence = &told_verdict(&judged)->finding[0];
        cr_assert_eq(evidence->anomaly, ALAR_ANOMALY_TIMEOUT, "%s", told_reason(&judged));
        cr_expect_eq(evidence->excused, rows[k].is_excused ? 0 : -1, "row %zu: %s", k,
                     told_reason(&judged));
        told_free(&judged);
    }
}

/* Of very many faults the first ones are kept; those beyond excuse nothing, and all are counted.
   spec: O-07 */
Test(judge_excuse, by_the_faults_that_are_kept)
{
    static char text[TEXT];
    int length = snprintf(text, sizeof text, "%s", PAIR);
    struct told judged;

    for (unsigned k = 0; k < 40; k++) {
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "{'ev':'fault','rank':1,'point':'alar/%s/1'}\n",
                           k < ALAR_FAULTS_MAX ? "rank/delay" : "contribution/bitflip");
    }
    snprintf(text + length, sizeof text - (size_t)length, "%s", WRONG);

    told_quoted(&judged, text);

    cr_assert_eq(told_verdict(&judged)->fault_count, 40);
    cr_assert_eq(told_verdict(&judged)->finding[0].excused, -1, "%s", told_reason(&judged));
    told_free(&judged);
}
