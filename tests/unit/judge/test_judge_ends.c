/* How ranks and recordings end, and what is missing then: reports that were never written, and
   ranks that left without a word. */
#include "judge/judge.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>

TestSuite(judge_ends, .init = scratch_make, .fini = scratch_remove);

#define ROWS(rows) told_rows(rows, sizeof(rows) / sizeof *(rows))
#define TRACE "{'ev':'trace','world':2,'clock':'ticks'}\n"
#define OP(op, step)                                                                          \
    "{'ev':'issue','rank':0,'op':" op ",'step':" step ",'key':'loss','pairs':1,'in':[2,1]}\n" \
    "{'ev':'issue','rank':1,'op':" op ",'step':" step ",'key':'loss','pairs':1,'in':[4,1]}\n" \
    "{'ev':'done','rank':0,'op':" op ",'out':[6,2]}\n"                                        \
    "{'ev':'done','rank':1,'op':" op ",'out':[6,2]}\n"
#define REPORT(first, step)                                                       \
    "{'ev':'report','rank':0,'metric':'loss','first_step':" first ",'step':" step \
    ",'normalization':'token-weighted','loss':3}\n"
#define END "{'ev':'end'}\n"
#define END_0 "{'ev':'end','rank':0}\n"
#define END_1 "{'ev':'end','rank':1}\n"
#define EXIT_1(code) "{'ev':'exit','rank':1,'code':" code "}\n"

/* Steps that were reduced after the last report are missed, when the ranks ended in order and
   earlier steps were reported. spec: O-60 */
Test(judge_ends, misses_the_last_report)
{
    static const struct told_row rows[] = {
        {"all is reported", TRACE OP("0", "1") OP("1", "2") REPORT("1", "2") END, ALAR_PASS,
         "2 of 2"},
        {"the last step is not", TRACE OP("0", "1") REPORT("1", "1") OP("1", "2") END, ALAR_FAIL,
         "report-lost: report of loss of step 2"},
        {"nor the one before it", TRACE OP("0", "1") REPORT("1", "1") OP("1", "2") OP("2", "3") END,
         ALAR_FAIL,
         "report-lost: report of loss of step 2, rank 0: steps were reduced and stand "
         "in no report, although others do: operations world/1, 2"},
        {"a report out of its turn tells how far reports go",
         TRACE OP("0", "1") OP("1", "2") REPORT("2", "2") REPORT("1", "1") END, ALAR_PASS,
         "2 of 2"},
        {"nothing was ever reported", TRACE OP("0", "1") OP("1", "2") END, ALAR_PASS, "2 of 2"},
        {"a rank gave up with a code",
         TRACE OP("0", "1") REPORT("1", "1") OP("1", "2") EXIT_1("2") END_0 END_1, ALAR_PASS,
         "2 of 2"},
        {"a rank was lost", TRACE OP("0", "1") REPORT("1", "1") OP("1", "2") EXIT_1("-9") END_0,
         ALAR_UNKNOWN, "ended by a signal: rank 1"},
        {"a rank tore down",
         TRACE OP("0", "1") REPORT("1", "1") OP("1", "2") "{'ev':'abort','rank':1}\n" END,
         ALAR_PASS, "2 of 2"},
        {"a rank's recording just stops", TRACE OP("0", "1") REPORT("1", "1") OP("1", "2") END_0,
         ALAR_UNKNOWN, "rank 1"},
        {"another metric's reports go on",
         TRACE OP("0", "1") REPORT(
             "1",
             "1") "{'ev':'issue','rank':0,'op':'g/0','members':[0],'step':2,'key':'aux','in':[1]}\n"
                  "{'ev':'done','rank':0,'op':'g/0','out':[1]}\n"
                  "{'ev':'report','rank':0,'metric':'aux','step':2,'loss':1}\n" END,
         ALAR_PASS, "2 of 2"},
        {"one of two metrics is lost",
         TRACE OP("0", "1") REPORT(
             "1",
             "1") "{'ev':'issue','rank':0,'op':'g/0','members':[0],'step':1,'key':'aux','in':[1]}\n"
                  "{'ev':'done','rank':0,'op':'g/0','out':[1]}\n"
                  "{'ev':'report','rank':0,'metric':'aux','step':1,'loss':1}\n"
                  "{'ev':'issue','rank':0,'op':'g/1','members':[0],'step':2,'key':'aux','in':[1]}\n"
                  "{'ev':'done','rank':0,'op':'g/1','out':[1]}\n" END,
         ALAR_FAIL, "report-lost: report of aux of step 2"},
    };

    ROWS(rows);
}

/* A rank that leaves by `exit` with everything complete has done its part; one that leaves with
   something pending has not, and is named when the others fail for it. spec: O-06, O-15, O-20 */
Test(judge_ends, tells_an_exit_from_a_loss)
{
#define PAIR "{'ev':'issue','rank':0,'op':0,'in':[1]}\n{'ev':'issue','rank':1,'op':0,'in':[2]}\n"
#define SUM_0 "{'ev':'done','rank':0,'op':0,'out':[3]}\n"
#define SUM_1 "{'ev':'done','rank':1,'op':0,'out':[3]}\n"
    static const struct told_row rows[] = {
        {"all complete, then an exit", TRACE PAIR SUM_0 SUM_1 EXIT_1("0") END_0, ALAR_UNKNOWN,
         "without an end: rank 1"},
        {"and an end", TRACE PAIR SUM_0 SUM_1 EXIT_1("0") END_0 END_1, ALAR_PASS, "1 of 1"},
        {"with a code", TRACE PAIR SUM_0 SUM_1 EXIT_1("7") END_0 END_1, ALAR_PASS, "1 of 1"},
        {"by a signal", TRACE PAIR SUM_0 SUM_1 EXIT_1("-9") END_0, ALAR_UNKNOWN,
         "ended by a signal: rank 1"},
        {"all ranks", TRACE PAIR SUM_0 SUM_1 EXIT_1("1") "{'ev':'exit','rank':0,'code':1}\n",
         ALAR_UNKNOWN, "without an end (2 times)"},
        {"the value is wrong, and complete before the exit",
         TRACE PAIR "{'ev':'done','rank':0,'op':0,'out':[7]}\n"
                    "{'ev':'done','rank':1,'op':0,'out':[7]}\n" EXIT_1("0") END_0,
         ALAR_FAIL, "illegal-value"},
        {"the value is wrong, and the exit came first",
         TRACE PAIR EXIT_1("-9") "{'ev':'done','rank':0,'op':0,'out':[7]}\n" END_0, ALAR_FAIL,
         "abort-as-success"},
        {"the value is whole: it was on its way when the rank left",
         TRACE PAIR EXIT_1("9") SUM_0 END_0, ALAR_UNKNOWN, "without an end: rank 1"},
        {"the others failed",
         TRACE PAIR EXIT_1("-9") "{'ev':'fail','rank':0,'op':0,'error':'gone'}\n" END_0, ALAR_FAIL,
         "failed-rank: operation world/0, rank 1"},
        {"the others wait on", TRACE PAIR EXIT_1("-9") "{'ev':'wait','rank':0,'op':0}\n" END_0,
         ALAR_UNKNOWN, "pending"},
        {"an exit, then a regular end", TRACE PAIR SUM_0 SUM_1 EXIT_1("0") END_0 END_1, ALAR_PASS,
         "1 of 1"},
        {"a file cut in the middle", TRACE PAIR SUM_0 SUM_1 END_0 "{'ev':'e", ALAR_UNKNOWN,
         "without an end (2 times)"},
        {"a rank without a word",
         "{'ev':'trace','rank':0,'world':2}\n"
         "{'ev':'issue','rank':0,'op':'g/0','members':[0],'in':[1]}\n"
         "{'ev':'done','rank':0,'op':'g/0','out':[1]}\n" END_0,
         ALAR_UNKNOWN, "no record"},
    };

    ROWS(rows);
}
