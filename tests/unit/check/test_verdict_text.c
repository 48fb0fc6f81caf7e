/* Verdicts as words and as data: both from the same evidence, letter by letter. */
#include "check/verdict_text.h"

#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(words, .init = scratch_make, .fini = scratch_remove);

static const char early_read[] =
    "{\"ev\":\"issue\",\"rank\":0,\"t\":3,\"op\":\"dp/"
    "0\",\"in\":[1.5],\"step\":7,\"src\":\"train.c:12\"}\n"
    "{\"ev\":\"read\",\"rank\":0,\"t\":4,\"op\":\"dp/0\",\"bits\":[1.5],\"src\":\"log.c:9\"}\n"
    "{\"ev\":\"done\",\"rank\":0,\"t\":5,\"op\":\"dp/0\",\"out\":[1.5]}\n";

/* Renders a verdict into memory that the caller frees. */
static char *rendered(const struct told *judged, bool as_json, bool has_colours)
{
    const char *path = "h.jsonl";
    struct alar_history_files files = {"h.jsonl", &path, 1};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct alar_words words = {out, has_colours};

    if (as_json) {
        cr_assert_eq(alar_verdict_json(out, &files, told_verdict(judged)), ALAR_OK);
    } else {
        alar_verdict_line(&words, &files, told_verdict(judged));
        alar_verdict_story(&words, &files, told_verdict(judged));
    }
    fclose(out);
    return text;
}

/* spec: O-18 */
Test(words, tells_a_story_letter_by_letter)
{
    struct told judged;

    told(&judged, early_read);
    char *text = rendered(&judged, false, false);

    cr_assert_str_eq(
        text,
        "h.jsonl\tFAIL\tearly-read: operation dp/0 of step 7, rank 0: a value was read before its "
        "all-reduce was complete\n"
        "  rule      O-18: a value was read before its all-reduce was complete\n"
        "  Let       rank 0 issues dp/0, 1 element: 1.5 (3fc00000), t = 3  [h.jsonl:1, called "
        "from train.c:12]\n"
        "  However,  rank 0 reads dp/0: 1.5 (3fc00000), t = 4  [h.jsonl:2, called from "
        "log.c:9]\n"
        "  allowed   the same read after a wait that orders it\n");
    free(text);
    told_free(&judged);
}

/* spec: O-18 */
Test(words, gives_the_same_as_data)
{
    struct told judged;

    told(&judged, early_read);
    char *text = rendered(&judged, true, false);

    cr_assert_str_eq(
        text,
        "{\"path\":\"h.jsonl\",\"verdict\":\"FAIL\",\"reason\":\"early-read: operation dp/0 of "
        "step 7, "
        "rank 0: a value was read before its all-reduce was "
        "complete\",\"events\":3,\"operations\":1,"
        "\"judged\":1,\"given_up\":0,\"empty\":0,\"called\":0,\"prefixes\":0,\"reports\":0,"
        "\"sees\":null,"
        "\"peak\":1,\"twins_"
        "same\":0,"
        "\"twins_legal\":0,"
        "\"findings\":[{\"says\":\"early-read: operation dp/0 of step 7, rank 0: a value was read "
        "before its all-reduce was complete\","
        "\"anomaly\":\"early-read\",\"rule\":\"O-18\",\"group\":\"dp\",\"op\":0,\"ops\":[0],"
        "\"step\":7,"
        "\"ranks\":[0],\"joined\":[],\"missing\":[],\"amount\":[0,0],\"events\":[{\"says\":\"rank "
        "0 issues dp/0, 1 element: 1.5 (3fc00000), t = 3\",\"ev\":\"issue\","
        "\"rank\":0,\"file\":\"h.jsonl\",\"line\":1,\"t\":3,\"n\":1,\"src\":\"train.c:12\",\"at\":"
        "0,"
        "\"bits\":[\"3fc00000\"]},{\"says\":\"rank 0 reads dp/0: 1.5 (3fc00000), t = "
        "4\",\"ev\":\"read\",\"rank\":0,\"file\":\"h.jsonl\",\"line\":2,"
        "\"t\":4,"
        "\"src\":\"log.c:9\",\"at\":0,\"bits\":[\"3fc00000\"]}],\"sentence\":\"a value was read "
        "before "
        "its all-reduce was complete\",\"allowed\":\"the same read after a wait that orders it\"}],"
        "\"findings_more\":0,\"notes\":[],\"unknown\":[],\"provenance\":{\"trees\":[\"left-fold\","
        "\"right-fold\","
        "\"recursive-doubling\",\"recursive-doubling-tail\",\"recursive-halving\","
        "\"recursive-halving-tail\",\"binomial\",\"binomial-far\"],\"named\":1,"
        "\"chunked\":0,\"elements\":{\"only-legal-value\":1,\"named\":0,\"ordered\":0,"
        "\"nodes\":0,\"any-order\":0,\"hull\":0,\"bound\":0}},"
        "\"power\":{\"operations\":0,\"unasked\":0,\"vacuous\":0,\"ranks\":0,\"missing_seen\":0,"
        "\"doubled_seen\":0},\"faults\":[]}\n");
    free(text);
    told_free(&judged);
}

/* Names come from the history: whatever they hold, the line stays one line of three columns. */
Test(words, keeps_one_line_whatever_names_hold)
{
    struct told judged;

    told(&judged, "{\"ev\":\"issue\",\"rank\":0,\"op\":\"a\\n\\tb\\u001b[31m/0\",\"in\":[1]}\n"
                  "{\"ev\":\"done\",\"rank\":0,\"op\":\"a\\n\\tb\\u001b[31m/0\",\"out\":[2]}\n");
    char *text = rendered(&judged, false, false);
    size_t tabs = 0;

    for (const char *at = text; *at != '\n'; at++) {
        tabs += *at == '\t';
        cr_assert_neq(*at, '\033');
    }
    cr_assert_eq(tabs, 2, "%s", text);
    free(text);
    told_free(&judged);
}

/* Colours are the caller's choice. */
Test(words, colours_only_when_asked)
{
    struct told judged;

    told(&judged, early_read);
    char *plain = rendered(&judged, false, false);
    char *coloured = rendered(&judged, false, true);

    cr_assert_null(strchr(plain, '\033'));
    cr_assert_not_null(strstr(coloured, "\t\033[31mFAIL\033[0m\t"));
    free(plain);
    free(coloured);
    told_free(&judged);
}

/* A finding with many ranks names the first ones and counts the rest. */
Test(words, counts_what_it_does_not_name)
{
    struct alar_evidence kept;
    struct alar_verdict verdict = {.kind = ALAR_FAIL, .finding_count = 1, .finding = &kept};
    struct alar_history_files files = {"h", NULL, 0};
    char reason[1024];

    verdict.finding[0] = (struct alar_evidence){
        .anomaly = ALAR_ANOMALY_TIMEOUT, .step = -1, .element = -1, .excused = -1};
    for (uint64_t rank = 0; rank < 100; rank++) {
        alar_list_add(&verdict.finding[0].ranks, rank);
    }
    alar_verdict_reason(&files, &verdict, reason, sizeof reason);

    cr_assert_not_null(strstr(reason, "14, 15 and 84 more"), "%s", reason);
}

/* Too little room cuts the reason, never more. */
Test(words, fits_any_room)
{
    struct told judged;

    told(&judged, early_read);
    for (size_t room = 1; room < 120; room++) {
        char reason[128];
        const char *path = "h";
        struct alar_history_files files = {"h", &path, 1};

        memset(reason, '#', sizeof reason);
        alar_verdict_reason(&files, told_verdict(&judged), reason, room);
        cr_assert_lt(strlen(reason), room);
        cr_assert_eq(reason[room], '#');
    }
    told_free(&judged);
}
