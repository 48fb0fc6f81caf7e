/* Names of verdicts, and lists of numbers. */
#include "judge/verdict.h"

const char *alar_verdict_name(enum alar_verdict_kind kind)
{
    static const char *const names[] = {"PASS", "FAIL", "UNKNOWN"};

    return (unsigned)kind < ALAR_VERDICT_COUNT ? names[kind] : "?";
}

const char *alar_standing_text(enum alar_standing_kind kind)
{
    static const char *const texts[] = {
        [ALAR_STANDING_PENDING] = "started and pending",
        [ALAR_STANDING_DONE] = "has the value and went on",
        [ALAR_STANDING_TIMED_OUT] = "told that it timed out",
        [ALAR_STANDING_FAILED] = "told that it failed",
        [ALAR_STANDING_ABORTED] = "torn down",
    };

    return (unsigned)kind < sizeof texts / sizeof *texts ? texts[kind] : "?";
}

const char *alar_unknown_text(enum alar_unknown reason)
{
    static const char *const texts[] = {
        "a limit was reached before all records were judged",
        "no operation was judged",
        "a rank has no record",
        "who takes part in a group was not recorded (declare its members)",
        "a rank's recording has no beginning",
        "a rank was ended by a signal",
        "a record gives `world` other members than the ranks of this history",
        "a record reads or writes storage that no operation uses",
        "some operations were not judged",
        "a rank's recording stops without an end",
        "an operation is pending where the recording stops, and no deadline passed",
        "an operation was torn down, or issued after that, and what became of it was not recorded",
        "a record speaks of an operation that its rank left too far behind",
        "a value that was read is not the result, and no record shows a write between",
        "contributions or results were not recorded",
        "a value could not be decided",
        "a report could not be recomputed from what was recorded",
        "a report needs, or shows, counts that no operation carries",
        "operations of one step without `mb`: its microbatches, or attempts at it? (give `mb` or "
        "`ops`)",
        "the inputs could not have revealed a fault",
    };

    return (unsigned)reason < ALAR_UNKNOWN_COUNT ? texts[reason] : "?";
}

uint64_t alar_verdict_more(const struct alar_verdict *verdict)
{
    uint64_t more = 0;

    for (unsigned a = 0; a < ALAR_ANOMALY_COUNT; a++) {
        more += alar_anomaly_is_note((enum alar_anomaly)a) ? 0 : verdict->found[a];
    }
    for (uint32_t k = 0; k < verdict->finding_count; k++) {
        more -= !alar_anomaly_is_note(verdict->finding[k].anomaly);
    }
    return more - verdict->widened;
}

struct sees_row {
    const char *word;
    const char *text;
};

static const struct sees_row sees[] = {
#define SEES(token, word, text) {word, text},
#include "judge/sees.def"
};

const char *alar_sees_word(unsigned number)
{
    return number < ALAR_SEES_COUNT ? sees[number].word : "?";
}

const char *alar_sees_text(unsigned number)
{
    return number < ALAR_SEES_COUNT ? sees[number].text : "?";
}

/* The least ones are kept, in order: who was named first means nothing. */
void alar_list_add(struct alar_list *list, uint64_t item)
{
    uint32_t kept = list->count < ALAR_LIST_MAX ? list->count : ALAR_LIST_MAX;
    uint32_t at = kept;

    while (at > 0 && list->item[at - 1] >= item) {
        at--;
    }
    if (at < kept && list->item[at] == item) {
        return;
    }
    for (uint32_t k = kept < ALAR_LIST_MAX ? kept : kept - 1; k > at; k--) {
        list->item[k] = list->item[k - 1];
    }
    if (at < ALAR_LIST_MAX) {
        list->item[at] = item;
    }
    list->count++;
}
