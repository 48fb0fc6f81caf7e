/* The records of a history, byte for byte: the fields, their order and their spelling are those of
   spec/history.md. */
#include "history/history.h"
#include "sys/error_line.h"
#include "tests/lib/history_more.h"
#include "tests/lib/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct alar_history *history;
static size_t seen; /* bytes of the file that earlier assertions have looked at */

static void open_history(void)
{
    const struct alar_history_options options = {.rank = 3, .elements = 2, .ops = 4};
    struct alar_history_options here = options;
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    scratch_make();
    here.directory = scratch_path("");
    seen = 0;
    cr_assert_eq(alar_history_open(&history, &here, error_line), ALAR_OK, "%s", error_line);
}

static void close_history(void)
{
    cr_assert_eq(alar_history_close(history, NULL), ALAR_OK);
    scratch_remove();
}

TestSuite(history_record, .init = open_history, .fini = close_history);

/* The next line is there, before the history is closed; 'x' stands for "x" in `line`. */
static void assert_line(const char *line)
{
    char text[4096];
    char expected[1024];
    size_t length = strlen(line);

    for (size_t i = 0; i <= length; i++) {
        expected[i] = (char)(line[i] == '\'' ? '"' : line[i]);
    }
    expected[length] = '\n';
    expected[length + 1] = '\0';
    size_t size = scratch_read("rank3.jsonl", text, sizeof(text));
    cr_assert_str_eq(text + seen, expected);
    seen = size;
}

static const float pair[2] = {2906.9321F, 128.0F};
static const struct alar_elements elements = {pair, 2, ALAR_F32};
static const struct alar_history_op op = {.number = 7};

Test(history_record, header)
{
    struct alar_history_trace trace = {.world = 4,
                                       .backend = "mpi",
                                       .tag = "x",
                                       .clock = "monotonic_ns",
                                       .t0 = 2766214572217,
                                       .host = "h",
                                       .schedule = "async-microbatch",
                                       .normalization = "token-weighted",
                                       .over = "steps",
                                       .encoding = "pair32",
                                       .microbatches = 4,
                                       .log_interval = 10,
                                       .check_for_nan = "agree",
                                       .wait_at = "step"};

    alar_history_trace(history, 16781, &trace);
    assert_line("{'ev':'trace','rank':3,'i':0,'t':16781,'v':1,'world':4,'backend':'mpi','tag':'x',"
                "'clock':'monotonic_ns','t0':2766214572217,'host':'h',"
                "'schedule':'async-microbatch','normalization':'token-weighted','over':'steps',"
                "'encoding':'pair32','microbatches':4,'log_interval':10,'check_for_nan':'agree',"
                "'wait_at':'step'}");
    trace = (struct alar_history_trace){.world = 1, .clock = "ticks"};
    alar_history_trace(history, 0, &trace);
    assert_line("{'ev':'trace','rank':3,'i':1,'t':0,'v':1,'world':1,'clock':'ticks','t0':0}");
}

Test(history_record, contract)
{
    struct alar_history_contract contract = {
        .wait = "blocking", .order = "fixed", .tree = "ring", .height = 3, .deadline = 50};

    alar_history_contract(history, 0, &contract);
    assert_line("{'ev':'contract','rank':3,'i':0,'t':0,'wait':'blocking','order':'fixed',"
                "'tree':'ring','height':3,'deadline':50}");
    contract = (struct alar_history_contract){0};
    alar_history_contract(history, 0, &contract);
    assert_line("{'ev':'contract','rank':3,'i':1,'t':0}");
}

Test(history_record, issue)
{
    struct alar_history_issue issue = {
        .op = op, .reduction = "sum", .buffer = "b0", .in = elements};

    alar_history_issue(history, 28534128, &issue);
    assert_line(
        "{'ev':'issue','rank':3,'i':0,'t':28534128,'op':'world/7','red':'sum','dtype':'f32',"
        "'n':2,'sync':false,'buf':'b0','ver':0,'in':['4535aeea','43000000']}");
    issue = (struct alar_history_issue){.op = {"dp0", 0},
                                        .reduction = "max",
                                        .is_sync = true,
                                        .version = 9,
                                        .in = elements,
                                        .key = "lm loss",
                                        .has_step = true,
                                        .has_microbatch = true,
                                        .pairs = 1};
    alar_history_issue(history, 1, &issue);
    assert_line("{'ev':'issue','rank':3,'i':1,'t':1,'op':'dp0/0','red':'max','dtype':'f32','n':2,"
                "'sync':true,'ver':9,'in':['4535aeea','43000000'],'key':'lm loss','step':0,'mb':0,"
                "'pairs':1}");
}

Test(history_record, wait_and_done)
{
    struct alar_history_wait wait = {.op = op, .is_done = true, .version = 1, .now = elements};
    const struct alar_history_done done = {.op = op, .out = elements};

    alar_history_wait(history, 2, &wait);
    assert_line("{'ev':'wait','rank':3,'i':0,'t':2,'op':'world/7','done':true,'ver':1,"
                "'now':['4535aeea','43000000']}");
    wait = (struct alar_history_wait){.op = op};
    alar_history_wait(history, 2, &wait);
    assert_line("{'ev':'wait','rank':3,'i':1,'t':2,'op':'world/7','done':false,'ver':0}");
    alar_history_done(history, 3, &done);
    assert_line("{'ev':'done','rank':3,'i':2,'t':3,'op':'world/7','ver':0,"
                "'out':['4535aeea','43000000']}");
    alar_history_twin(history, 3, &done);
    assert_line("{'ev':'twin','rank':3,'i':3,'t':3,'op':'world/7','out':['4535aeea','43000000']}");
    alar_history_complete(history, 4, op);
    assert_line("{'ev':'complete','rank':3,'i':4,'t':4,'op':'world/7'}");
}

Test(history_record, fail_and_read)
{
    static const uint32_t missing[2] = {1, 2};
    struct alar_history_fail fail = {
        .op = op, .error = "timeout", .text = "after 3 s", .missing = missing, .missing_count = 2};
    const struct alar_history_read read = {.op = op, .at = 1, .bits = {pair + 1, 1, ALAR_F32}};

    alar_history_fail(history, 5, &fail);
    assert_line("{'ev':'fail','rank':3,'i':0,'t':5,'op':'world/7','error':'timeout',"
                "'text':'after 3 s','missing':[1,2]}");
    fail = (struct alar_history_fail){.op = op, .error = "backend"};
    alar_history_fail(history, 5, &fail);
    assert_line("{'ev':'fail','rank':3,'i':1,'t':5,'op':'world/7','error':'backend'}");
    alar_history_read(history, 6, &read);
    assert_line("{'ev':'read','rank':3,'i':2,'t':6,'op':'world/7','at':1,'n':1,"
                "'bits':['43000000']}");
}

/* An EMPTY report has no bits; where no tokens or flags travel, no counts are claimed. */
Test(history_record, report)
{
    struct alar_report report = {.first_step = 1,
                                 .step = 10,
                                 .logged_at_step = 11,
                                 .loss = 5.51927280426025390625,
                                 .tokens = 6390,
                                 .nonfinite = 2,
                                 .empty = 1};
    struct alar_history_report logged = {.report = &report,
                                         .counts_nonfinite = true,
                                         .metric = "lm loss",
                                         .sink = "log",
                                         .first_op = {.number = 4},
                                         .ops = 2};

    alar_history_report(history, 7, &logged);
    assert_line("{'ev':'report','rank':3,'i':0,'t':7,'metric':'lm loss','step':10,'first_step':1,"
                "'logged_at_step':11,'normalization':'token-weighted','over':'steps',"
                "'loss':5.519273,'bits':'40b09de2','tokens':6390,'nonfinite':2,'empty':1,"
                "'sink':'log','ops':['world/4','world/5']}");
    report.is_empty = true;
    logged.normalization = ALAR_RANK_MEAN;
    logged.over = ALAR_OVER_POOLED;
    logged.ops = 0;
    logged.counts_nonfinite = false;
    alar_history_report(history, 7, &logged);
    assert_line("{'ev':'report','rank':3,'i':1,'t':7,'metric':'lm loss','step':10,'first_step':1,"
                "'logged_at_step':11,'normalization':'rank-mean','over':'pooled','loss':null,"
                "'empty':1,'sink':'log','ops':[]}");
}

/* What is no mean says what it is, and an extreme whose it is; its metric is declared. */
Test(history_record, kinds)
{
    struct alar_report report = {
        .step = 2, .kind = ALAR_METRIC_MIN, .loss = -0.0, .extreme_rank = 6};
    const struct alar_history_report logged = {.report = &report, .metric = "best", .sink = "log"};
    const struct alar_history_declare declared = {.key = "best", .kind = "min"};

    alar_history_declare(history, 0, &declared);
    assert_line("{'ev':'declare','rank':3,'i':0,'t':0,'key':'best','kind':'min'}");
    alar_history_report(history, 7, &logged);
    assert_line("{'ev':'report','rank':3,'i':1,'t':7,'metric':'best','step':2,'first_step':0,"
                "'logged_at_step':0,'kind':'min','holder':6,'loss':-0,'bits':'80000000','tokens':0,"
                "'empty':0,'sink':'log','ops':[]}");
}

Test(history_record, fault_and_endings)
{
    struct alar_history_fault fault = {
        .point = "alar/rank/mute", .hit = 1, .value = -5, .has_op = true, .op = op};
    const struct alar_history_exit left = {.code = -9, .status = ALAR_E_LOST, .text = "killed"};

    alar_history_fault(history, 8, &fault);
    assert_line("{'ev':'fault','rank':3,'i':0,'t':8,'point':'alar/rank/mute','hit':1,'value':-5,"
                "'op':'world/7'}");
    fault.has_op = false;
    alar_history_fault(history, 8, &fault);
    assert_line("{'ev':'fault','rank':3,'i':1,'t':8,'point':'alar/rank/mute','hit':1,'value':-5}");
    alar_history_abort(history, 9, NULL);
    assert_line("{'ev':'abort','rank':3,'i':2,'t':9,'group':'world'}");
    alar_history_exit(history, 10, &left);
    assert_line("{'ev':'exit','rank':3,'i':3,'t':10,'code':-9,'status':'E_LOST','text':'killed'}");
    alar_history_end(history, UINT64_MAX);
    assert_line("{'ev':'end','rank':3,'i':4,'t':18446744073709551615}");
}
