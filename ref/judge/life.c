/* The life of a handle, record by record, replayed through the handle table. Order decides, never
   the values: an early read is one even when luck gave it the right bits. */
#include "judge/judge_state.h"

#include "base/check.h"

#include <string.h>

/* The table's move, where it allows one. What it refuses is judged by the caller. */
void judge_life_step(struct judge_entry *entry, enum alar_handle_event event)
{
    if (alar_handle_step(&entry->handle, event) != ALAR_OK) {
        INV("a refused move is judged elsewhere", entry->is_issued);
    }
}

void judge_life_release(struct alar_judge *judge, const struct judge_entry *entry, bool was_owned)
{
    struct judge_rank *rank = judge_rank_at(judge, entry->rank);

    if (was_owned && !alar_handle_is_owned(&entry->handle)) {
        INV("a handle given back was pending", rank->pending > 0);
        rank->pending--;
    }
}

static void life_complete(struct alar_judge *judge, struct judge_entry *entry)
{
    bool was_owned = alar_handle_is_owned(&entry->handle);

    entry->is_late = entry->is_late || (was_owned && entry->is_timed_out);
    judge_life_step(entry, ALAR_EVENT_COMPLETE);
    judge_life_release(judge, entry, was_owned);
}

/* Finds the entry a record names by operation.
   Errors: ALAR_E_INPUT when that rank never issued it. */
enum alar_status judge_life_find(struct alar_judge *judge, uint32_t rank,
                                 struct judge_subject *subject)
{
    const struct alar_event *event = judge->event;
    uint64_t number = (uint64_t)event->number[ALAR_FIELD_OP];
    uint64_t group = judge_group_find(judge, event->text[ALAR_FIELD_OP]);
    uint32_t member;

    memset(subject, 0, sizeof *subject);
    if (group && judge_group_at(judge, group)->mismatch <= number &&
        !judge_member_find(judge, judge_group_at(judge, group), rank, &member)) {
        return ALAR_OK;
    }
    if (!group || !judge_member_find(judge, judge_group_at(judge, group), rank, &member)) {
        return judge_complain(judge, ALAR_FIELD_OP, "an operation this rank issued",
                              "one it never issued");
    }
    uint64_t expected = ((const uint64_t *)alar_arena_at(
        judge->arena, judge_group_at(judge, group)->expected))[member];
    if (expected == JUDGE_NEVER || number >= expected) {
        return judge_complain(judge, ALAR_FIELD_OP, "an operation this rank issued",
                              "one it has not issued yet");
    }
    uint64_t made = judge_op_find(judge, group, number);
    if (made) {
        subject->op = judge_op_at(judge, made);
        subject->entry = judge_entry_at(judge, subject->op, member);
        if (!subject->entry->is_issued) {
            return judge_complain(judge, ALAR_FIELD_OP, "an operation this rank issued",
                                  "one before its first");
        }
    }
    return ALAR_OK;
}

/* A version counter that rose while the operation was pending witnesses a write; one that rose
   before a wait that found the operation complete may have risen after completion. spec: O-13 */
static void life_version(struct alar_judge *judge, struct judge_subject subject)
{
    const struct alar_event *event = judge->event;
    struct judge_entry *entry = subject.entry;

    if (!entry->has_ver || !event->has[ALAR_FIELD_VER] ||
        (uint64_t)event->number[ALAR_FIELD_VER] <= entry->ver) {
        return;
    }
    entry->ver = (uint64_t)event->number[ALAR_FIELD_VER];
    if (!alar_handle_is_owned(&entry->handle)) {
        return;
    }
    if (event->record == ALAR_RECORD_WAIT && alar_event_number(event, ALAR_FIELD_DONE, 1)) {
        entry->is_suspect = true;
    } else {
        judge_life_wrote(judge, subject);
    }
}

void judge_life_found(struct alar_judge *judge, enum alar_anomaly anomaly,
                      struct judge_subject subject, bool shows_done)
{
    struct alar_evidence *evidence = judge_found(judge, anomaly, subject.op, subject.entry->rank);

    judge_show_issue(judge, evidence, subject.op, subject.entry);
    if (shows_done) {
        judge_show_done(judge, evidence, subject.op, subject.entry);
    }
    judge_show_event(judge, evidence);
}

static enum alar_status life_twice(struct alar_judge *judge, struct judge_subject subject)
{
    if (judge->contract.is_once) {
        struct alar_evidence *evidence =
            judge_found(judge, ALAR_ANOMALY_DOUBLE_WAIT, subject.op,
                        (uint32_t)judge->event->number[ALAR_FIELD_RANK]);

        if (evidence && subject.entry) {
            judge_show_issue(judge, evidence, subject.op, subject.entry);
            judge_show_done(judge, evidence, subject.op, subject.entry);
        }
        judge_show_event(judge, evidence);
    }
    return ALAR_OK;
}

static enum alar_status life_wait(struct alar_judge *judge, struct judge_subject subject)
{
    const struct alar_event *event = judge->event;
    struct judge_entry *entry = subject.entry;
    struct judge_rank *rank = judge_rank_at(judge, (uint32_t)event->number[ALAR_FIELD_RANK]);

    if (!entry || entry->is_done) {
        return life_twice(judge, subject);
    }
    life_version(judge, subject);
    entry->is_waited = true;
    entry->wait = event->place;
    entry->t_wait = alar_event_number(event, ALAR_FIELD_T, 0) + rank->t0;
    entry->was_pending_at_wait = !alar_event_number(event, ALAR_FIELD_DONE, 1);
    if (event->has[ALAR_FIELD_STREAM]) {
        entry->stream = (uint64_t)event->number[ALAR_FIELD_STREAM];
    }
    if (event->has[ALAR_FIELD_DEADLINE] && event->has[ALAR_FIELD_T]) {
        entry->deadline = entry->t_wait + event->number[ALAR_FIELD_DEADLINE];
    }
    return ALAR_OK;
}

static enum alar_status life_test(struct alar_judge *judge, struct judge_subject subject)
{
    struct judge_entry *entry = subject.entry;

    if (!entry) {
        return ALAR_OK;
    }
    entry->is_tested = true;
    if (judge->event->number[ALAR_FIELD_DONE]) {
        entry->is_seen_complete = true;
        life_complete(judge, entry);
        judge_entry_over(judge, subject.op, entry);
    } else if (entry->is_done && !judge->contract.is_stream && !entry->is_failed) {
        subject.op->is_tainted = true;
        judge_life_found(judge, ALAR_ANOMALY_PREMATURE, subject, true);
    }
    return ALAR_OK;
}

static enum alar_status life_done(struct alar_judge *judge, struct judge_subject subject)
{
    const struct alar_event *event = judge->event;
    struct judge_entry *entry = subject.entry;

    if (!entry || (entry->is_done && !entry->is_failed)) {
        return life_twice(judge, subject);
    }
    entry->is_done = true;
    entry->done = event->place;
    entry->t_done =
        alar_event_number(event, ALAR_FIELD_T, 0) + judge_rank_at(judge, entry->rank)->t0;
    if (entry->is_failed || entry->is_aborted) {
        judge_life_found(judge, ALAR_ANOMALY_ABORT_AS_SUCCESS, subject, false);
        subject.op->is_tainted = true;
        return ALAR_OK;
    }
    life_version(judge, subject);
    if (event->has[ALAR_FIELD_STREAM]) {
        entry->stream = (uint64_t)event->number[ALAR_FIELD_STREAM];
    }
    ALAR_TRY(judge_take_out(judge, subject.op, entry));
    if (!judge->contract.is_stream || entry->is_sync) {
        life_complete(judge, entry);
    }
    judge_entry_over(judge, subject.op, entry);
    return ALAR_OK;
}

static enum alar_status life_completion(struct alar_judge *judge, struct judge_subject subject)
{
    struct judge_entry *entry = subject.entry;

    if (!entry) {
        return ALAR_OK;
    }
    if (entry->is_done && !judge->contract.is_stream && !entry->is_late && !entry->is_failed) {
        subject.op->is_tainted = true;
        judge_life_found(judge, ALAR_ANOMALY_PREMATURE, subject, true);
        return ALAR_OK;
    }
    ALAR_TRY(judge_take_out(judge, subject.op, entry));
    if (!entry->is_done) {
        entry->done = judge->event->place;
        entry->t_done = alar_event_number(judge->event, ALAR_FIELD_T, 0) +
                        judge_rank_at(judge, entry->rank)->t0;
    }
    entry->is_seen_complete = true;
    life_complete(judge, entry);
    judge_entry_over(judge, subject.op, entry);
    return ALAR_OK;
}

static bool text_has(struct alar_text text, const char *lower)
{
    size_t length = strlen(lower);

    for (size_t k = 0; k + length <= text.length; k++) {
        size_t same = 0;

        while (same < length && (text.data[k + same] | 0x20) == lower[same]) {
            same++;
        }
        if (same == length) {
            return true;
        }
    }
    return false;
}

/* A deadline that passed, or a rank that the library calls silent: the operation stays pending.
   `|0x20` makes letters small and leaves blanks alone. */
static bool life_is_timeout(const struct alar_event *event)
{
    return (event->has[ALAR_FIELD_ERROR] && (text_has(event->text[ALAR_FIELD_ERROR], "timeout") ||
                                             text_has(event->text[ALAR_FIELD_ERROR], "lost"))) ||
           (event->has[ALAR_FIELD_TEXT] && text_has(event->text[ALAR_FIELD_TEXT], "timed out"));
}

static enum alar_status life_fail(struct alar_judge *judge, struct judge_subject subject)
{
    const struct alar_event *event = judge->event;
    struct judge_entry *entry = subject.entry;

    if (!entry) {
        judge_show_event(judge, judge_found(judge, ALAR_ANOMALY_FAILED, NULL,
                                            (uint32_t)event->number[ALAR_FIELD_RANK]));
        return ALAR_OK;
    }
    bool was_owned = alar_handle_is_owned(&entry->handle);
    for (int64_t k = 0; event->has[ALAR_FIELD_MISSING] && k < event->number[ALAR_FIELD_MISSING];
         k++) {
        alar_list_add(&subject.op->named, event->list[ALAR_FIELD_MISSING][k].bits);
    }
    if (!entry->is_failed && !entry->is_timed_out) {
        entry->done = event->place;
        entry->t_done =
            alar_event_number(event, ALAR_FIELD_T, 0) + judge_rank_at(judge, entry->rank)->t0;
        alar_text_keep(
            event->text[event->has[ALAR_FIELD_TEXT] ? ALAR_FIELD_TEXT : ALAR_FIELD_ERROR],
            subject.op->error, sizeof subject.op->error);
    }
    if (life_is_timeout(event)) {
        entry->is_timed_out = true;
        judge_life_step(entry, ALAR_EVENT_EXPIRE);
    } else {
        entry->is_failed = true;
        judge_life_step(entry, ALAR_EVENT_FAIL);
    }
    judge_life_step(entry, ALAR_EVENT_ACK);
    judge_life_release(judge, entry, was_owned);
    return ALAR_OK;
}

static enum alar_status life_twin(struct alar_judge *judge, struct judge_subject subject)
{
    struct judge_op *op = subject.op;
    uint32_t count = (uint32_t)judge->event->number[ALAR_FIELD_OUT];

    if (!op || subject.entry->is_done) {
        return judge_complain(judge, ALAR_FIELD_EV, "the twin before the operation is done",
                              "a twin after it");
    }
    if (op->twin || count == 0) {
        return ALAR_OK; /* one rank's twin is enough */
    }
    op->twin = alar_arena_take(judge->arena, count * sizeof(uint64_t));
    op->twin_elements = count;
    op->twin_place = judge->event->place;
    return judge_bits(judge, ALAR_FIELD_OUT, op->dtype, alar_arena_at(judge->arena, op->twin),
                      count);
}

enum alar_status judge_life(struct alar_judge *judge)
{
    struct judge_subject subject;

    ALAR_TRY(judge_life_find(judge, (uint32_t)judge->event->number[ALAR_FIELD_RANK], &subject));
    switch ((int)judge->event->record) {
    case ALAR_RECORD_TEST:
        return life_test(judge, subject);
    case ALAR_RECORD_WAIT:
        return life_wait(judge, subject);
    case ALAR_RECORD_DONE:
        return life_done(judge, subject);
    case ALAR_RECORD_COMPLETE:
        return life_completion(judge, subject);
    case ALAR_RECORD_FAIL:
        return life_fail(judge, subject);
    default:
        return life_twin(judge, subject);
    }
}

/* Everything the rank has pending, at once: a full sync completes it, an abort ends it. */
void judge_everything(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    uint64_t next = judge_rank_at(judge, (uint32_t)event->number[ALAR_FIELD_RANK])->live;
    bool is_abort = event->record == ALAR_RECORD_ABORT;
    uint64_t group =
        event->has[ALAR_FIELD_GROUP] ? judge_group_find(judge, event->text[ALAR_FIELD_GROUP]) : 0;

    while (next) {
        struct judge_entry *entry = alar_arena_at(judge->arena, next);
        struct judge_op *op = judge_op_at(judge, entry->op);
        bool was_owned = alar_handle_is_owned(&entry->handle);

        next = entry->next;
        if (!was_owned || (event->has[ALAR_FIELD_GROUP] && op->group != group) ||
            (event->has[ALAR_FIELD_STREAM] &&
             entry->stream != (uint64_t)event->number[ALAR_FIELD_STREAM])) {
            continue;
        }
        entry->is_aborted = entry->is_aborted || is_abort;
        judge_life_step(entry, is_abort ? ALAR_EVENT_TEARDOWN : ALAR_EVENT_COMPLETE);
        judge_life_release(judge, entry, was_owned);
        judge_entry_over(judge, op, entry);
    }
}
