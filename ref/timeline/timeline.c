/* Gathers spans, marks and reports from records, one by one. */
#include "timeline/timeline_state.h"

#include "sys/decimal.h"

#include <stdlib.h>
#include <string.h>

enum {
    VALUES_EACH = 256,    /* kept of a record */
    VALUES_EACH_LATE = 4, /* kept once there are VALUES_MANY */
    VALUES_MANY = 1 << 20,
    POLLS_MANY = 10000 /* marks, above which polls are only counted */
};

static uint64_t span_hash(uint32_t rank, uint32_t group, uint64_t number)
{
    uint64_t key[3] = {rank, group, number};

    return alar_text_hash((struct alar_text){(const char *)key, sizeof key});
}

struct alar_span *alar_timeline_span(const struct alar_timeline *timeline, uint32_t rank,
                                     uint32_t group, uint64_t number)
{
    size_t mask = timeline->span_slots - 1;
    size_t slot = span_hash(rank, group, number) & mask;

    for (; timeline->span_slot[slot] != 0; slot = (slot + 1) & mask) {
        struct alar_span *span = &timeline->span[timeline->span_slot[slot] - 1];

        if (span->rank == rank && span->group == group && span->number == number) {
            return span;
        }
    }
    return NULL;
}

static void span_enter(struct alar_timeline *timeline, size_t index)
{
    const struct alar_span *span = &timeline->span[index];
    size_t mask = timeline->span_slots - 1;
    size_t slot = span_hash(span->rank, span->group, span->number) & mask;

    while (timeline->span_slot[slot] != 0) {
        slot = (slot + 1) & mask;
    }
    timeline->span_slot[slot] = index + 1;
}

/* Room for one more span in the table, which stays half empty. */
static bool span_slots_grow(struct alar_timeline *timeline)
{
    if (2 * (timeline->spans + 1) <= timeline->span_slots) {
        return true;
    }
    size_t slots = 2 * timeline->span_slots;
    uint64_t *grown = calloc(slots, sizeof *grown);

    if (grown == NULL) {
        return false;
    }
    free(timeline->span_slot);
    timeline->span_slot = grown;
    timeline->span_slots = slots;
    for (size_t k = 0; k < timeline->spans; k++) {
        span_enter(timeline, k);
    }
    return true;
}

/* The bits of a list of values, rounded where they were written by hand. */
static struct alar_span_values values_keep(struct alar_timeline *timeline,
                                           const struct alar_event *event, enum alar_field field,
                                           enum alar_dtype dtype)
{
    struct alar_span_values kept = {timeline->values, 0};
    uint64_t most = timeline->values < VALUES_MANY ? VALUES_EACH : VALUES_EACH_LATE;

    if (!event->has[field]) {
        return kept;
    }
    for (uint64_t k = 0; k < (uint64_t)event->number[field] && k < most; k++) {
        const struct alar_value *value = &event->list[field][k];
        uint64_t bits = value->bits;
        uint64_t *slot = timeline_room((void **)&timeline->value, &timeline->value_room,
                                       timeline->values, sizeof *slot);

        if (slot == NULL ||
            (value->text != NULL && alar_decimal_parse(dtype, value->text, &bits) != ALAR_OK)) {
            timeline->is_out_of_memory = timeline->is_out_of_memory || slot == NULL;
            break;
        }
        timeline->value[timeline->values++] = bits & alar_dtype_mask(dtype);
        kept.count++;
    }
    return kept;
}

static struct alar_moment moment_of(const struct alar_timeline *timeline,
                                    const struct alar_event *event)
{
    return (struct alar_moment){alar_event_number(event, ALAR_FIELD_T, ALAR_TIME_NONE),
                                timeline->records, event->place};
}

static uint32_t name_of(struct alar_timeline *timeline, const struct alar_event *event,
                        enum alar_field field)
{
    return event->has[field] ? timeline_intern(timeline, event->text[field]) : 0;
}

/* The operation a record speaks of; a plain number is one of the group world. */
static uint32_t group_of(struct alar_timeline *timeline, const struct alar_event *event)
{
    static const struct alar_text world = {"world", 5};

    if (!event->has[ALAR_FIELD_OP]) {
        return 0;
    }
    return timeline_intern(
        timeline, event->text[ALAR_FIELD_OP].data != NULL ? event->text[ALAR_FIELD_OP] : world);
}

static void issue_add(struct alar_timeline *timeline, const struct alar_event *event)
{
    struct alar_span *span = timeline_room((void **)&timeline->span, &timeline->span_room,
                                           timeline->spans, sizeof *span);

    if (span == NULL || !span_slots_grow(timeline)) {
        timeline->is_out_of_memory = true;
        return;
    }
    memset(span, 0, sizeof *span);
    span->rank = (uint32_t)event->number[ALAR_FIELD_RANK];
    span->group = group_of(timeline, event);
    span->number = (uint64_t)event->number[ALAR_FIELD_OP];
    span->site = name_of(timeline, event, ALAR_FIELD_SRC);
    span->key = name_of(timeline, event, ALAR_FIELD_KEY);
    span->step = alar_event_number(event, ALAR_FIELD_STEP, -1);
    span->mb = alar_event_number(event, ALAR_FIELD_MB, -1);
    span->pairs = (uint32_t)alar_event_number(event, ALAR_FIELD_PAIRS, 0);
    span->red = (enum alar_reduction)alar_event_number(event, ALAR_FIELD_RED, ALAR_SUM);
    span->dtype = (enum alar_dtype)alar_event_number(event, ALAR_FIELD_DTYPE, ALAR_F32);
    span->is_sync = alar_event_number(event, ALAR_FIELD_SYNC, 0) != 0;
    span->issue = moment_of(timeline, event);
    span->wait.t = span->complete.t = span->end.t = ALAR_TIME_NONE;
    span->in = values_keep(timeline, event, ALAR_FIELD_IN, span->dtype);
    span->n = (uint64_t)alar_event_number(event, ALAR_FIELD_N,
                                          event->has[ALAR_FIELD_IN] ? event->number[ALAR_FIELD_IN]
                                                                    : span->in.count);
    timeline->spans++;
    span_enter(timeline, timeline->spans - 1);
}

static void span_finish(struct alar_timeline *timeline, struct alar_span *span,
                        const struct alar_event *event, enum alar_span_end ended)
{
    bool is_completion = event->record == ALAR_RECORD_COMPLETE;
    bool is_only_complete = span->complete.order != 0 && span->end.order == span->complete.order;

    if (span->out.count == 0) {
        span->out = values_keep(timeline, event, ALAR_FIELD_OUT, span->dtype);
    }
    if (is_completion && span->complete.order == 0) {
        span->complete = moment_of(timeline, event);
    }
    if (span->ended == ALAR_SPAN_OPEN || ended == ALAR_SPAN_FAILED ||
        (is_only_complete && !is_completion)) {
        span->ended = ended;
        span->end = moment_of(timeline, event);
    }
}

static void mark_add(struct alar_timeline *timeline, const struct alar_event *event,
                     const struct alar_span *span)
{
    enum alar_field text = event->has[ALAR_FIELD_POINT]   ? ALAR_FIELD_POINT
                           : event->has[ALAR_FIELD_ERROR] ? ALAR_FIELD_ERROR
                                                          : ALAR_FIELD_SRC;
    struct alar_mark *mark = timeline_room((void **)&timeline->mark, &timeline->mark_room,
                                           timeline->marks, sizeof *mark);

    if (mark == NULL) {
        timeline->is_out_of_memory = true;
        return;
    }
    *mark = (struct alar_mark){
        .record = event->record,
        .rank = (uint32_t)alar_event_number(event, ALAR_FIELD_RANK, ALAR_RANK_ALL),
        .group = group_of(timeline, event),
        .number = event->has[ALAR_FIELD_OP] ? (uint64_t)event->number[ALAR_FIELD_OP] : 0,
        .text = name_of(timeline, event, text),
        .is_backend = alar_event_number(event, ALAR_FIELD_BY, 0) == 1,
        .is_done = alar_event_number(event, ALAR_FIELD_DONE, 0) == 1,
        .at = moment_of(timeline, event),
    };
    mark->bits = values_keep(timeline, event, ALAR_FIELD_BITS, span ? span->dtype : ALAR_F32);
    timeline->marks++;
}

/* A record of an operation's life: it moves the span, and what is no move of its own is a mark. */
static void life_add(struct alar_timeline *timeline, const struct alar_event *event)
{
    struct alar_span *span =
        event->has[ALAR_FIELD_OP] && event->has[ALAR_FIELD_RANK]
            ? alar_timeline_span(timeline, (uint32_t)event->number[ALAR_FIELD_RANK],
                                 group_of(timeline, event), (uint64_t)event->number[ALAR_FIELD_OP])
            : NULL;

    switch (span != NULL ? event->record : ALAR_RECORD_COUNT) {
    case ALAR_RECORD_TEST:
        span->polls++;
        if (timeline->marks >= POLLS_MANY) {
            return;
        }
        break;
    case ALAR_RECORD_TWIN:
        return;
    case ALAR_RECORD_WAIT:
        if (span->wait.order == 0) {
            span->wait = moment_of(timeline, event);
            return;
        }
        break;
    case ALAR_RECORD_DONE:
    case ALAR_RECORD_COMPLETE:
        span_finish(timeline, span, event, ALAR_SPAN_DONE);
        if (span->end.order == timeline->records || span->complete.order == timeline->records) {
            return;
        }
        break; /* said once more */
    case ALAR_RECORD_FAIL:
        span_finish(timeline, span, event, ALAR_SPAN_FAILED);
        break;
    case ALAR_RECORD_DROP:
        span_finish(timeline, span, event, ALAR_SPAN_DROPPED);
        break;
    default:
        break;
    }
    mark_add(timeline, event, span);
}

void alar_timeline_add(void *context, const struct alar_event *event)
{
    struct alar_timeline *timeline = context;

    timeline->records++;
    if (timeline->is_out_of_memory || !timeline_rank_add(timeline, event)) {
        return;
    }
    switch (event->record) {
    case ALAR_RECORD_TRACE:
    case ALAR_RECORD_CONTRACT:
    case ALAR_RECORD_DECLARE:
        return;
    case ALAR_RECORD_ISSUE:
        issue_add(timeline, event);
        return;
    case ALAR_RECORD_REPORT:
        timeline_report_add(timeline, event);
        return;
    default:
        life_add(timeline, event);
    }
}

int64_t alar_span_blocked(const struct alar_span *span)
{
    int64_t from = span->is_sync ? span->issue.t : span->wait.t;

    return from == ALAR_TIME_NONE || span->end.t == ALAR_TIME_NONE || span->end.t < from
               ? 0
               : span->end.t - from;
}

int64_t alar_span_overlapped(const struct alar_span *span)
{
    int64_t until = span->wait.order != 0 ? span->wait.t : span->end.t;

    if (span->complete.order != 0 && span->complete.t < until) {
        until = span->complete.t;
    }

    return span->is_sync || span->issue.t == ALAR_TIME_NONE || until == ALAR_TIME_NONE
               ? 0
               : until - span->issue.t;
}
