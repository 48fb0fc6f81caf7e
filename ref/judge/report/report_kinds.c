/* What ranks declare that is made of a metric: the same on all of them. Who is odd is told by the
   others, once all have spoken. spec: O-62, O-72 */
#include "judge/report/report.h"

#include <string.h>

static void kind_claim(struct judge_claim *claim, uint32_t rank, struct alar_place place)
{
    if (claim->ranks.count == 0 || rank < claim->ranks.item[0]) {
        claim->place = place;
    }
    alar_list_add(&claim->ranks, rank);
}

void report_kind_declare(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    struct judge_metric *metric =
        judge_metric_at(judge, judge_metric_make(judge, event->text[ALAR_FIELD_KEY]));
    enum alar_metric_kind kind = (enum alar_metric_kind)event->number[ALAR_FIELD_KIND];
    bool is_of_one = event->has[ALAR_FIELD_RANK];
    uint32_t first = (uint32_t)alar_event_number(event, ALAR_FIELD_RANK, 0);
    uint32_t end = is_of_one ? first + 1 : judge->setup.world;

    metric->is_disputed = metric->is_disputed || (metric->has_kind && metric->kind != kind);
    metric->has_kind = true;
    metric->kind = kind;
    for (uint32_t rank = first; rank < end; rank++) {
        kind_claim(&metric->claim[kind], rank, event->place);
    }
}

/* A key and a word, with a comma between them, as far as they fit. */
static void kind_keep(char *text, const struct judge_metric *metric, unsigned kind)
{
    char joined[2 * ALAR_NAME_MAX];
    const char *word = alar_metric_kind_names[kind];
    size_t length = strlen(metric->name);

    memcpy(joined, metric->name, length);
    joined[length] = ',';
    memcpy(&joined[length + 1], word, strlen(word));
    alar_text_keep((struct alar_text){joined, length + 1 + strlen(word)}, text, ALAR_NAME_MAX);
}

/* The kind that more ranks declared than any other; of as many the one of the lowest rank, and then
   nothing tells who is odd. */
static unsigned kind_usual(const struct judge_metric *metric, bool *is_open)
{
    unsigned usual = 0;

    *is_open = false;
    for (unsigned kind = 1; kind < ALAR_METRIC_KINDS; kind++) {
        const struct alar_list *mine = &metric->claim[kind].ranks;
        const struct alar_list *most = &metric->claim[usual].ranks;
        bool is_level = mine->count == most->count && mine->count > 0;

        *is_open = is_level || (*is_open && mine->count < most->count);
        if (mine->count > most->count || (is_level && mine->item[0] < most->item[0])) {
            usual = kind;
        }
    }
    return usual;
}

/* The odd kind of the lowest rank. */
static unsigned kind_odd(const struct judge_metric *metric, unsigned usual)
{
    unsigned odd = usual;

    for (unsigned kind = 0; kind < ALAR_METRIC_KINDS; kind++) {
        const struct alar_list *mine = &metric->claim[kind].ranks;

        if (kind != usual && mine->count > 0 &&
            (odd == usual || mine->item[0] < metric->claim[odd].ranks.item[0])) {
            odd = kind;
        }
    }
    return odd;
}

void report_kinds_finish(struct alar_judge *judge, const struct judge_metric *metric)
{
    bool is_open;

    if (!metric->is_disputed) {
        return;
    }
    struct alar_evidence *evidence =
        judge_found(judge, ALAR_ANOMALY_MISMATCH_KEY, NULL, ALAR_RANK_ALL);
    if (evidence == NULL) {
        return;
    }
    unsigned usual = kind_usual(metric, &is_open), odd = kind_odd(metric, usual);

    evidence->has_op = false;
    evidence->is_open = is_open;
    kind_keep(evidence->name[0], metric, usual);
    kind_keep(evidence->name[1], metric, odd);
    for (unsigned kind = 0; kind < ALAR_METRIC_KINDS; kind++) {
        const struct judge_claim *claim = &metric->claim[kind];
        bool is_named = is_open || kind != usual;

        for (uint32_t k = 0; is_named && k < claim->ranks.count && k < ALAR_LIST_MAX; k++) {
            alar_list_add(&evidence->ranks, claim->ranks.item[k]);
        }
        if (claim->ranks.count > 0 && (kind == odd || kind == usual)) {
            evidence->witness[evidence->witness_count++] =
                (struct alar_witness_event){.record = ALAR_RECORD_DECLARE,
                                            .place = claim->place,
                                            .rank = (uint32_t)claim->ranks.item[0]};
        }
    }
}
