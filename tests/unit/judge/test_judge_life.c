/* The life of handles and storage, record by record: what each unusual record does, and what it
   must not do. */
#include "judge/judge.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>

TestSuite(judge_life, .init = scratch_make, .fini = scratch_remove);

#define ROWS(rows) told_rows(rows, sizeof(rows) / sizeof *(rows))

/* One rank, one operation. */
#define ONE "{'ev':'issue','rank':0,'op':0,'in':[1],'buf':'b','ver':3}\n"
#define DONE "{'ev':'done','rank':0,'op':0,'out':[1]}\n"
#define ONCE "{'ev':'contract','use':'once'}\n"
#define STREAM "{'ev':'contract','wait':'stream'}\n"
#define WAIT "{'ev':'wait','rank':0,'op':0}\n"
#define READ "{'ev':'read','rank':0,'op':0}\n"
/* Two ranks; the second one is not through yet. */
#define PAIR ONE "{'ev':'issue','rank':1,'op':0,'in':[2]}\n"
#define SUM "{'ev':'done','rank':0,'op':0,'out':[3]}\n"
#define OTHER "{'ev':'done','rank':1,'op':0,'out':[3]}\n"

/* Records about operations that are not there, or not any more. spec: O-01 */
Test(judge_life, refuses_what_no_rank_can_have_done)
{
    static const struct told_row rows[] = {
        {"a group nobody used", ONE "{'ev':'done','rank':0,'op':'g/0','out':[1]}\n",
         ALAR_VERDICT_COUNT, "one it never issued"},
        {"another rank's group",
         "{'ev':'issue','rank':0,'op':'g/0','in':[1],'members':[0]}\n"
         "{'ev':'done','rank':1,'op':'g/0','out':[1]}\n",
         ALAR_VERDICT_COUNT, "one it never issued"},
        {"a number before its first",
         "{'ev':'issue','rank':1,'op':3,'in':[1]}\n{'ev':'issue','rank':0,'op':5,'in':[1]}\n"
         "{'ev':'done','rank':0,'op':3,'out':[1]}\n",
         ALAR_VERDICT_COUNT, "one before its first"},
        {"a result that is too long", ONE "{'ev':'done','rank':0,'op':0,'out':[1,2]}\n",
         ALAR_VERDICT_COUNT, "at most n values 1"},
        {"a completion that is too long", ONE "{'ev':'complete','rank':0,'op':0,'out':[1,2]}\n",
         ALAR_VERDICT_COUNT, "at most n values 1"},
        {"a result in too few digits", ONE "{'ev':'done','rank':0,'op':0,'out':['3f80']}\n",
         ALAR_VERDICT_COUNT, "hex digits 8"},
        {"a twin after the operation", ONE DONE "{'ev':'twin','rank':0,'op':0,'out':[1]}\n",
         ALAR_VERDICT_COUNT, "a twin after it"},
        {"a twin after the rank's end of it", PAIR SUM "{'ev':'twin','rank':0,'op':0,'out':[3]}\n",
         ALAR_VERDICT_COUNT, "a twin after it"},
        {"a record after the exit",
         "{'ev':'trace','world':1}\n{'ev':'exit','rank':0,'code':1}\n{'ev':'sync','rank':0}\n",
         ALAR_VERDICT_COUNT, "nothing after the end"},
    };

    ROWS(rows);
}

/* What comes again, or too late, is no fault unless a contract says so. spec: O-05, O-40, O-41 */
Test(judge_life, takes_what_comes_again)
{
    static const struct told_row rows[] = {
        {"two waits", ONE WAIT DONE WAIT, ALAR_PASS, "1 of 1"},
        {"two waits, forbidden", ONCE ONE WAIT DONE READ WAIT, ALAR_FAIL, "double-wait"},
        {"two waits on one that is not over", ONCE PAIR WAIT SUM WAIT, ALAR_FAIL, "double-wait"},
        {"two ends", PAIR SUM SUM OTHER, ALAR_PASS, "1 of 1"},
        {"two ends of what is over", ONE DONE DONE, ALAR_PASS, "1 of 1"},
        {"two ends, forbidden", ONCE PAIR SUM SUM, ALAR_FAIL, "double-wait"},
        {"a poll after the end", ONE DONE "{'ev':'test','rank':0,'op':0,'done':true}\n", ALAR_PASS,
         "1 of 1"},
        {"a completion after the end", ONE DONE "{'ev':'complete','rank':0,'op':0}\n", ALAR_FAIL,
         "premature"},
        {"two completions",
         PAIR "{'ev':'complete','rank':0,'op':0,'out':[3]}\n{'ev':'complete','rank':0,'op':0}\n" SUM
             OTHER,
         ALAR_PASS, "1 of 1"},
        {"two twins",
         PAIR
         "{'ev':'twin','rank':0,'op':0,'out':[3]}\n{'ev':'twin','rank':1,'op':0,'out':[4]}\n" SUM
             OTHER,
         ALAR_FAIL, "twin-illegal: operation world/0, rank 1"},
        {"a twin without values", PAIR "{'ev':'twin','rank':0,'op':0,'out':[]}\n" SUM OTHER,
         ALAR_PASS, "1 of 1"},
        {"two reads of one value", ONE DONE READ READ, ALAR_PASS, "1 of 1"},
        {"two reads, forbidden", ONCE PAIR SUM READ READ OTHER, ALAR_FAIL, "used-twice"},
        {"two reads of what is over, forbidden",
         ONCE ONE DONE READ "{'ev':'read','rank':0,'op':0,'bits':['3f800000']}\n", ALAR_FAIL,
         "used-twice"},
        {"each element once",
         ONCE "{'ev':'issue','rank':0,'op':0,'in':[1,2]}\n"
              "{'ev':'done','rank':0,'op':0,'out':[1,2]}\n"
              "{'ev':'read','rank':0,'op':0,'at':0,'n':1}\n"
              "{'ev':'read','rank':0,'op':0,'at':1}\n",
         ALAR_PASS, "1 of 1"},
        {"an element twice",
         ONCE "{'ev':'issue','rank':0,'op':0,'in':[1,2]}\n"
              "{'ev':'done','rank':0,'op':0,'out':[1,2]}\n"
              "{'ev':'read','rank':0,'op':0,'at':1,'n':1}\n"
              "{'ev':'read','rank':0,'op':0,'at':0,'n':2}\n",
         ALAR_FAIL, "used-twice"},
        {"nothing, and what lies beyond the first elements, any number of times",
         ONCE PAIR SUM "{'ev':'read','rank':0,'op':0,'n':0}\n"
                       "{'ev':'read','rank':0,'op':0,'at':64,'n':1}\n"
                       "{'ev':'read','rank':0,'op':0,'at':64,'n':1}\n" READ OTHER
                       "{'ev':'read','rank':1,'op':0}\n",
         ALAR_PASS, "1 of 1"},
        {"a buffer that nobody owns", ONCE ONE DONE READ "{'ev':'read','rank':0,'buf':'c'}\n",
         ALAR_UNKNOWN, "storage that no operation uses"},
        {"what nobody read, forbidden, twice",
         ONCE PAIR SUM OTHER "{'ev':'issue','rank':0,'op':1,'in':[1]}\n"
                             "{'ev':'issue','rank':1,'op':1,'in':[1]}\n"
                             "{'ev':'done','rank':0,'op':1,'out':[2]}\n"
                             "{'ev':'done','rank':1,'op':1,'out':[2]}\n",
         ALAR_FAIL, "unused: operations world/0, 1, ranks 0, 1"},
    };

    ROWS(rows);
}

/* A failure ends an operation once; its value is nobody's. spec: O-15, O-19, O-21, O-23 */
Test(judge_life, keeps_to_the_first_failure)
{
#define FAIL(error) "{'ev':'fail','rank':0,'op':0,'error':'" error "'}\n"
    static const struct told_row rows[] = {
        {"of what is over", ONE DONE FAIL("refused"), ALAR_FAIL, "failed: operation world/0"},
        {"twice", ONE FAIL("refused") FAIL("gone"), ALAR_FAIL, "failed: operation world/0"},
        {"a timeout, then an error", ONE FAIL("timeout") FAIL("gone"), ALAR_FAIL, "timeout: "},
        {"a timeout by its text", ONE "{'ev':'fail','rank':0,'op':0,'text':'Timed out.'}\n",
         ALAR_FAIL, "timeout: "},
        {"a text that says something else", ONE "{'ev':'fail','rank':0,'op':0,'text':'Broken'}\n",
         ALAR_FAIL, "failed: "},
        {"read after an error", ONE FAIL("refused") READ, ALAR_FAIL, "no-value-read"},
        {"read after a timeout", ONE FAIL("timeout") READ, ALAR_FAIL, "no-value-read"},
        {"a success after an error", ONE FAIL("refused") DONE, ALAR_FAIL, "abort-as-success"},
        {"a poll after a success after an error",
         ONE FAIL("refused") DONE "{'ev':'test','rank':0,'op':0,'done':false}\n", ALAR_FAIL,
         "abort-as-success"},
        {"a completion after an error",
         ONE FAIL("refused") DONE "{'ev':'complete','rank':0,'op':0}\n", ALAR_FAIL,
         "abort-as-success"},
        {"complete after the timeout",
         ONE FAIL("timeout") "{'ev':'complete','rank':0,'op':0,'out':[1]}\n"
                             "{'ev':'complete','rank':0,'op':0}\n",
         ALAR_FAIL, "timeout: "},
        {"a success after the timeout", ONE FAIL("timeout") DONE, ALAR_FAIL, "timeout: "},
        {"success and completion after the timeout",
         ONE FAIL("timeout") DONE "{'ev':'complete','rank':0,'op':0}\n", ALAR_FAIL, "timeout: "},
        {"torn down twice", ONE "{'ev':'abort','rank':0}\n{'ev':'abort','rank':0}\n" DONE,
         ALAR_FAIL, "abort-as-success"},
        {"another group torn down",
         ONE "{'ev':'issue','rank':0,'op':'g/0','in':[1],'members':[0]}\n"
             "{'ev':'abort','rank':0,'group':'g'}\n" DONE,
         ALAR_UNKNOWN, "torn down"},
    };

    ROWS(rows);
}

/* What orders a value under a stream contract, and what does not. spec: O-03, O-13, O-14, O-18 */
Test(judge_life, keeps_streams_apart)
{
#define ON(stream) ",'stream':" stream "}\n"
#define STREAMED(stream)                                                                           \
    STREAM ONE "{'ev':'wait','rank':0,'op':0" ON(stream) "{'ev':'done','rank':0,'op':0,'out':[1]}" \
                                                         "\n"
    static const struct told_row rows[] = {
        {"a sync of this stream orders it", STREAMED("2") "{'ev':'sync','rank':0" ON("2") READ,
         ALAR_PASS, "1 of 1"},
        {"a sync of another one does not", STREAMED("2") "{'ev':'sync','rank':0" ON("1") READ,
         ALAR_FAIL, "early-read"},
        {"the stream of the end counts",
         STREAM ONE "{'ev':'done','rank':0,'op':0,'out':[1]" ON(
             "4") "{'ev':'read','rank':0,'op':0" ON("4") "{'ev':'sync','rank':0}\n",
         ALAR_PASS, "1 of 1"},
        {"a blocking call orders the stream alone",
         STREAM "{'ev':'issue','rank':0,'op':0,'in':[1],'sync':true}\n" DONE READ, ALAR_FAIL,
         "early-read"},
        {"a write on the stream is ordered",
         STREAMED("2") "{'ev':'write','rank':0,'op':0" ON("2") "{'ev':'sync','rank':0}\n",
         ALAR_PASS, "1 of 1"},
        {"a write on another one is not",
         STREAMED("2") "{'ev':'write','rank':0,'op':0" ON("1") "{'ev':'sync','rank':0}\n",
         ALAR_FAIL, "in-flight-write"},
        {"a write before the end is not",
         STREAM ONE "{'ev':'write','rank':0,'op':0" ON("2") DONE "{'ev':'sync','rank':0}\n",
         ALAR_FAIL, "in-flight-write"},
        {"storage freed on the stream",
         STREAMED("2") "{'ev':'free','rank':0,'buf':'b'" ON("2") "{'ev':'sync','rank':0}\n",
         ALAR_PASS, "1 of 1"},
        {"storage freed on the host",
         STREAMED("2") "{'ev':'free','rank':0,'buf':'b'}\n{'ev':'sync','rank':0}\n", ALAR_FAIL,
         "freed-in-flight"},
    };

    ROWS(rows);
}

/* Version counters: only one that rose while the operation was pending convicts. spec: O-13 */
Test(judge_life, reads_version_counters)
{
    static const struct told_row rows[] = {
        {"as it was", ONE "{'ev':'wait','rank':0,'op':0,'done':false,'ver':3}\n" DONE, ALAR_PASS,
         "1 of 1"},
        {"higher at a wait that found it pending",
         ONE "{'ev':'wait','rank':0,'op':0,'done':false,'ver':4}\n" DONE, ALAR_FAIL,
         "in-flight-write"},
        {"higher at a wait that found it complete",
         ONE "{'ev':'wait','rank':0,'op':0,'done':true,'ver':4}\n" DONE, ALAR_UNKNOWN,
         "could not be decided"},
        {"and the value is wrong",
         ONE "{'ev':'wait','rank':0,'op':0,'done':true,'ver':4}\n"
             "{'ev':'done','rank':0,'op':0,'out':[7]}\n",
         ALAR_FAIL, "in-flight-write"},
        {"higher after completion",
         ONE "{'ev':'complete','rank':0,'op':0,'out':[1]}\n"
             "{'ev':'wait','rank':0,'op':0,'done':true,'ver':4}\n"
             "{'ev':'done','rank':0,'op':0,'ver':5}\n",
         ALAR_PASS, "1 of 1"},
        {"higher at the end", ONE "{'ev':'done','rank':0,'op':0,'ver':4,'out':[1]}\n", ALAR_FAIL,
         "in-flight-write"},
        {"none at the issue",
         "{'ev':'issue','rank':0,'op':0,'in':[1]}\n{'ev':'done','rank':0,'op':0,'ver':9,'out':[1]}"
         "\n",
         ALAR_PASS, "1 of 1"},
    };

    ROWS(rows);
}

/* Storage by name and by element. spec: O-13, O-14, O-17 */
Test(judge_life, follows_storage)
{
#define SLICE "{'ev':'issue','rank':0,'op':0,'in':[1,2],'buf':'b','at':4}\n"
#define SLICED "{'ev':'done','rank':0,'op':0,'out':[1,2]}\n"
#define WRITE(fields) "{'ev':'write','rank':0,'buf':'b'" fields "}\n"
    static const struct told_row rows[] = {
        {"before the slice", SLICE WRITE(",'at':2,'n':2") SLICED, ALAR_PASS, "1 of 1"},
        {"into the slice from before", SLICE WRITE(",'at':2,'n':3") SLICED, ALAR_FAIL,
         "in-flight-write"},
        {"behind the slice", SLICE WRITE(",'at':6,'n':1") SLICED, ALAR_PASS, "1 of 1"},
        {"its last element", SLICE WRITE(",'at':5,'n':1") SLICED, ALAR_FAIL, "in-flight-write"},
        {"no one knows how far", SLICE WRITE(",'at':0") SLICED, ALAR_FAIL, "in-flight-write"},
        {"a buffer that nobody has", SLICE "{'ev':'write','rank':0,'buf':'c'}\n" SLICED,
         ALAR_UNKNOWN, "storage that no operation uses"},
        {"the input of a pending one",
         "{'ev':'issue','rank':0,'op':0,'in':[1],'buf':'b','send':'s'}\n"
         "{'ev':'write','rank':0,'buf':'s'}\n" DONE,
         ALAR_FAIL, "in-flight-write"},
        {"reading the input of a pending one",
         "{'ev':'issue','rank':0,'op':0,'in':[1],'buf':'b','send':'s'}\n"
         "{'ev':'read','rank':0,'buf':'s'}\n" DONE,
         ALAR_PASS, "1 of 1"},
        {"complete, and the other rank is not",
         PAIR "{'ev':'complete','rank':0,'op':0,'out':[3]}\n" WRITE("") SUM OTHER, ALAR_PASS,
         "1 of 1"},
        {"the back end while it is pending",
         ONE "{'ev':'write','rank':0,'op':0,'by':'backend'}\n" DONE, ALAR_PASS, "1 of 1"},
        {"the back end after the end, other ranks pending",
         PAIR SUM "{'ev':'write','rank':0,'op':0,'by':'backend'}\n" OTHER, ALAR_FAIL, "late-write"},
        {"the back end after all of it", ONE DONE "{'ev':'write','rank':0,'op':0,'by':'backend'}\n",
         ALAR_FAIL, "late-write"},
        {"the back end after the end, by the name of the storage",
         ONE DONE "{'ev':'write','rank':0,'buf':'b','by':'backend'}\n", ALAR_FAIL, "late-write"},
        {"the program after all of it", ONE DONE "{'ev':'write','rank':0,'op':0}\n", ALAR_PASS,
         "1 of 1"},
        {"the program after its end, other ranks pending",
         PAIR SUM "{'ev':'write','rank':0,'op':0}\n" OTHER, ALAR_PASS, "1 of 1"},
    };

    ROWS(rows);
}

/* Storage and handles that go: too early, or when nobody minds. spec: O-12, O-14, O-42 */
Test(judge_life, follows_what_is_freed)
{
    static const struct told_row rows[] = {
        {"freed twice in flight: once is enough",
         ONE "{'ev':'free','rank':0,'buf':'b'}\n{'ev':'free','rank':0,'buf':'b'}\n" DONE, ALAR_FAIL,
         "freed-in-flight: operation world/0, rank 0"},
        {"handed out twice in flight, by the operation's name",
         ONE "{'ev':'alloc','rank':0,'op':0,'buf':'b'}\n{'ev':'alloc','rank':0,'op':0,'buf':'b'}"
             "\n" DONE,
         ALAR_FAIL, "reused-in-flight"},
        {"a handle freed when all was over", ONE DONE "{'ev':'free','rank':0,'op':0}\n", ALAR_PASS,
         "1 of 1"},
        {"a handle freed after its end", PAIR SUM "{'ev':'free','rank':0,'op':0}\n" OTHER,
         ALAR_PASS, "1 of 1"},
        {"dropped while pending", ONE "{'ev':'drop','rank':0,'op':0}\n", ALAR_FAIL, "leak"},
        {"dropped after its end", PAIR SUM "{'ev':'drop','rank':0,'op':0}\n" OTHER, ALAR_PASS,
         "1 of 1"},
        {"dropped when all was over", ONE DONE "{'ev':'drop','rank':0,'op':0}\n", ALAR_PASS,
         "1 of 1"},
        {"dropped after the timeout",
         ONE "{'ev':'fail','rank':0,'op':0,'error':'timeout'}\n{'ev':'drop','rank':0,'op':0}\n",
         ALAR_FAIL, "timeout: "},
        {"in two groups at once: each is one",
         ONE "{'ev':'issue','rank':0,'op':'g/0','in':[1],'members':[0]}\n"
             "{'ev':'write','rank':0,'op':0}\n{'ev':'write','rank':0,'op':'g/0'}\n" DONE
             "{'ev':'done','rank':0,'op':'g/0','out':[1]}\n",
         ALAR_FAIL, "in-flight-write"},
    };

    ROWS(rows);
}

/* A peer's back end that still reads this rank's input. spec: O-02, O-16 */
Test(judge_life, sees_input_that_is_fetched_late)
{
#define TICKS "{'ev':'trace','world':2,'clock':'ticks'}\n"
#define APART                                             \
    "{'ev':'trace','rank':0,'world':2,'clock':'ticks'}\n" \
    "{'ev':'trace','rank':1,'world':2,'clock':'monotonic_ns','host':'a','boot_id':'x','t0':0}\n"
#define TIMED                                                                                      \
    "{'ev':'issue','rank':0,'t':1,'op':0,'in':[1]}\n{'ev':'issue','rank':1,'t':1,'op':0,'in':[2]}" \
    "\n"
#define FETCH(fields) "{'ev':'read','rank':1,'op':0,'by':'backend','of':0" fields "}\n"
#define LATER                                         \
    "{'ev':'done','rank':0,'t':5,'op':0,'out':[3]}\n" \
    "{'ev':'done','rank':1,'t':9,'op':0,'out':[3]}\n{'ev':'end'}\n"
    static const struct told_row rows[] = {
        {"after the end of its rank", TICKS TIMED FETCH(",'t':7") LATER, ALAR_FAIL, "premature"},
        {"before it", TICKS TIMED FETCH(",'t':4") LATER, ALAR_PASS, "1 of 1"},
        {"the last one counts", TICKS TIMED FETCH(",'t':4") FETCH(",'t':7") LATER, ALAR_FAIL,
         "premature"},
        {"at no time", TICKS TIMED FETCH("") LATER, ALAR_PASS, "1 of 1"},
        {"on another clock", APART TIMED FETCH(",'t':7") LATER, ALAR_PASS, "1 of 1"},
        {"on no clock", "{'ev':'trace','world':2}\n" TIMED FETCH(",'t':7") LATER, ALAR_PASS,
         "1 of 1"},
        {"of an operation that is over",
         TICKS TIMED
         "{'ev':'done','rank':0,'t':5,'op':0,'out':[3]}\n"
         "{'ev':'done','rank':1,'t':5,'op':0,'out':[3]}\n" FETCH(",'t':7") "{'ev':'end'}\n",
         ALAR_FAIL, "premature"},
    };

    ROWS(rows);
}
