/* What is done to storage and to values: reads, writes, frees, and the misuse of handles. */
#include "judge/judge_state.h"

#include <string.h>

/* The rank's pending entry on that storage, or NULL. */
static struct judge_entry *storage_find(const struct alar_judge *judge, uint32_t rank,
                                        struct alar_text name, bool is_input_too)
{
    const struct alar_event *event = judge->event;
    bool has_range = event->has[ALAR_FIELD_AT] && event->has[ALAR_FIELD_N];
    uint64_t at = (uint64_t)alar_event_number(event, ALAR_FIELD_AT, 0);
    uint64_t n = (uint64_t)alar_event_number(event, ALAR_FIELD_N, 0);
    uint64_t hash = alar_text_hash(name);
    uint64_t next = judge_rank_at(judge, rank)->live;

    while (next) {
        struct judge_entry *entry = alar_arena_at(judge->arena, next);

        bool is_elsewhere =
            has_range && (at >= entry->at ? at - entry->at >= entry->n : entry->at - at >= n);

        if ((entry->buf == hash || (is_input_too && entry->send == hash)) && !is_elsewhere &&
            alar_handle_is_owned(&entry->handle) && !entry->is_storage_lost) {
            return entry; /* storage that was lost goes by this name no more */
        }
        next = entry->next;
    }
    return NULL;
}

/* Does the stream that the wait ordered order this action too? spec: O-03 */
static bool storage_is_ordered(const struct alar_judge *judge, const struct judge_entry *entry)
{
    const struct alar_event *event = judge->event;

    return judge->contract.is_stream && entry->is_done && event->has[ALAR_FIELD_STREAM] &&
           (uint64_t)event->number[ALAR_FIELD_STREAM] == entry->stream;
}

void judge_life_wrote(struct alar_judge *judge, struct judge_subject subject)
{
    struct alar_evidence *evidence =
        judge_found(judge, ALAR_ANOMALY_IN_FLIGHT_WRITE, subject.op, subject.entry->rank);

    subject.op->is_tainted = true;
    judge_show_issue(judge, evidence, subject.op, subject.entry);
    judge_show_event(judge, evidence);
}

/* The elements below 64 that a read takes. */
static uint64_t storage_read_mask(const struct alar_event *event)
{
    uint64_t at = (uint64_t)alar_event_number(event, ALAR_FIELD_AT, 0);
    uint64_t n = (uint64_t)alar_event_number(
        event, ALAR_FIELD_N, alar_event_number(event, ALAR_FIELD_BITS, at ? 1 : 64));

    if (at > 63 || n == 0) {
        return 0;
    }
    return (n > 63 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << at;
}

static enum alar_status storage_read(struct alar_judge *judge, struct judge_subject subject)
{
    struct judge_entry *entry = subject.entry;
    uint64_t mask = storage_read_mask(judge->event);

    if (!entry) { /* an operation that is over on every rank, or storage that nobody owns */
        if (judge->contract.is_once && judge->event->has[ALAR_FIELD_OP]) {
            judge_show_event(judge, judge_found(judge, ALAR_ANOMALY_USED_TWICE, NULL,
                                                (uint32_t)judge->event->number[ALAR_FIELD_RANK]));
        }
        return ALAR_OK;
    }
    if (entry->is_failed || entry->is_timed_out) {
        judge_life_found(judge, ALAR_ANOMALY_NO_VALUE_READ, subject, true);
        return ALAR_OK;
    }
    if (alar_handle_is_owned(&entry->handle) && !storage_is_ordered(judge, entry)) {
        judge_life_found(judge, ALAR_ANOMALY_EARLY_READ, subject, false);
        return ALAR_OK;
    }
    if (judge->contract.is_once && (entry->read_mask & mask)) {
        judge_life_found(judge, ALAR_ANOMALY_USED_TWICE, subject, true);
    }
    entry->is_read = true;
    entry->read_mask |= mask;
    judge_life_step(entry, ALAR_EVENT_READ);
    judge_entry_over(judge, subject.op, entry);
    return ALAR_OK;
}

/* A peer's back end still reads this rank's input: done before that was too early. spec: O-16 */
static enum alar_status storage_fetch(struct alar_judge *judge, struct judge_subject subject)
{
    const struct alar_event *event = judge->event;
    uint32_t reader = (uint32_t)event->number[ALAR_FIELD_RANK];

    if (subject.entry && !subject.entry->has_fetch && event->has[ALAR_FIELD_T] &&
        judge_rank_at(judge, reader)->clock &&
        judge_rank_at(judge, reader)->clock == judge_rank_at(judge, subject.entry->rank)->clock) {
        subject.entry->has_fetch = true;
        subject.entry->fetch = event->place;
        subject.entry->fetch_rank = reader;
        subject.entry->t_fetch = event->number[ALAR_FIELD_T] + judge_rank_at(judge, reader)->t0;
    }
    return ALAR_OK;
}

static enum alar_status storage_write(struct alar_judge *judge, struct judge_subject subject)
{
    bool is_backend = alar_event_number(judge->event, ALAR_FIELD_BY, 0) == 1;
    struct judge_entry *entry = subject.entry;

    if (!entry) {
        if (is_backend && judge->event->has[ALAR_FIELD_OP]) {
            judge_show_event(judge, judge_found(judge, ALAR_ANOMALY_LATE_WRITE, NULL,
                                                (uint32_t)judge->event->number[ALAR_FIELD_RANK]));
        }
        return ALAR_OK;
    }
    bool is_owned = alar_handle_is_owned(&entry->handle);
    if (!is_backend && is_owned && !storage_is_ordered(judge, entry)) {
        judge_life_wrote(judge, subject);
    }
    if (is_backend && !is_owned) {
        judge_life_found(judge, ALAR_ANOMALY_LATE_WRITE, subject, true);
    }
    return ALAR_OK;
}

static enum alar_status storage_misuse(struct alar_judge *judge, struct judge_subject subject)
{
    struct judge_entry *entry = subject.entry;

    if (entry && alar_handle_is_owned(&entry->handle)) {
        entry->is_dropped = true; /* nobody can wait for it any more: no leak on top */
        judge_life_found(judge, ALAR_ANOMALY_MISUSE, subject, false);
        subject.op->is_tainted = true; /* what is read of it from now on means nothing */
    }
    return ALAR_OK;
}

static enum alar_status storage_drop(struct alar_judge *judge, struct judge_subject subject)
{
    struct judge_entry *entry = subject.entry;

    if (entry && alar_handle_is_owned(&entry->handle) && !entry->is_timed_out) {
        entry->is_dropped = true;
        judge_life_found(judge, ALAR_ANOMALY_LEAK, subject, false);
    }
    return ALAR_OK;
}

static enum alar_status storage_free(struct alar_judge *judge, struct judge_subject subject)
{
    struct judge_entry *entry = subject.entry;

    if (entry && !entry->is_storage_lost && !storage_is_ordered(judge, entry)) {
        entry->is_storage_lost = true;
        subject.op->is_tainted = true;
        judge_life_found(judge,
                         judge->event->record == ALAR_RECORD_ALLOC ? ALAR_ANOMALY_REUSED_IN_FLIGHT
                                                                   : ALAR_ANOMALY_FREED_IN_FLIGHT,
                         subject, false);
    }
    return ALAR_OK;
}

/* Storage is named directly, or through the operation that uses it. */
static enum alar_status storage_subject(struct alar_judge *judge, struct judge_subject *subject)
{
    const struct alar_event *event = judge->event;
    bool is_backend_read =
        event->record == ALAR_RECORD_READ && alar_event_number(event, ALAR_FIELD_BY, 0) == 1;
    uint32_t rank = (uint32_t)event->number[ALAR_FIELD_RANK];
    bool is_reading = event->record == ALAR_RECORD_READ;

    if (is_backend_read) {
        rank = (uint32_t)alar_event_number(event, ALAR_FIELD_OF, rank);
    }
    if (event->has[ALAR_FIELD_OP]) {
        return judge_life_find(judge, rank, subject);
    }
    memset(subject, 0, sizeof *subject);
    if (!event->has[ALAR_FIELD_BUF]) {
        return judge_complain(judge, ALAR_FIELD_EV, "`op` or `buf`", "neither");
    }
    subject->entry = storage_find(judge, rank, event->text[ALAR_FIELD_BUF], !is_reading);
    subject->op = subject->entry ? judge_op_at(judge, subject->entry->op) : NULL;
    if (!subject->entry && (is_reading || event->record == ALAR_RECORD_WRITE)) {
        judge_name_asked(judge, rank, alar_text_hash(event->text[ALAR_FIELD_BUF]));
    }
    return ALAR_OK;
}

enum alar_status judge_storage(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    struct judge_subject subject;

    ALAR_TRY(storage_subject(judge, &subject));
    switch ((int)event->record) {
    case ALAR_RECORD_READ:
        return alar_event_number(event, ALAR_FIELD_BY, 0) == 1 ? storage_fetch(judge, subject)
                                                               : storage_read(judge, subject);
    case ALAR_RECORD_WRITE:
        return storage_write(judge, subject);
    case ALAR_RECORD_CANCEL:
        return storage_misuse(judge, subject);
    case ALAR_RECORD_DROP:
        return storage_drop(judge, subject);
    case ALAR_RECORD_FREE:
        return event->has[ALAR_FIELD_OP] ? storage_misuse(judge, subject)
                                         : storage_free(judge, subject);
    default:
        return storage_free(judge, subject); /* alloc */
    }
}
