/* The life of a handle, record by record: which act of life.def a record is, and what the acts say.
   Order decides, never the values: an early read is one even when luck gave it the right bits. Only
   what its own rank recorded is asked here; the ranks meet in settle.c. */
#include "judge/judge_state.h"

#include <string.h>

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
    if (!judge_life_is_owned(entry->life)) {
        entry->is_touched = true;
    } else if (event->record == ALAR_RECORD_WAIT && alar_event_number(event, ALAR_FIELD_DONE, 0)) {
        entry->is_suspect = true;
    } else {
        judge_life_found(judge, ALAR_ANOMALY_IN_FLIGHT_WRITE, subject);
    }
}

/* A second wait, or a second end of one. */
static void life_twice(struct alar_judge *judge, struct judge_subject subject)
{
    if (judge->contract.is_once) {
        struct alar_evidence *evidence =
            judge_found(judge, ALAR_ANOMALY_DOUBLE_WAIT, subject.op, subject.entry->rank);

        judge_show_issue(judge, evidence, subject.op, subject.entry);
        judge_show_done(judge, evidence, subject.op, subject.entry);
        judge_show_event(judge, evidence);
    }
}

/* Did a wait return, with success? */
static bool life_has_returned(const struct judge_entry *entry)
{
    return (entry->acts & (1u << JUDGE_ACT_RETURN | 1u << JUDGE_ACT_ORDER)) != 0;
}

static void life_wait(struct alar_judge *judge, struct judge_subject subject)
{
    const struct alar_event *event = judge->event;
    struct judge_entry *entry = subject.entry;

    if (event->has[ALAR_FIELD_STREAM]) {
        entry->stream = (uint64_t)event->number[ALAR_FIELD_STREAM];
    }
    if (life_has_returned(entry)) {
        life_twice(judge, subject);
        (void)judge_life_act(judge, subject, JUDGE_ACT_WAIT);
        return;
    }
    life_version(judge, subject);
    entry->wait = judge_moment_of(judge);
    entry->was_pending_at_wait = !alar_event_number(event, ALAR_FIELD_DONE, 1);
    if (event->has[ALAR_FIELD_DEADLINE] && event->has[ALAR_FIELD_T]) {
        entry->deadline = judge_time(entry->wait.t, event->number[ALAR_FIELD_DEADLINE]);
    }
    (void)judge_life_act(judge, subject, JUDGE_ACT_WAIT);
}

/* What a query said, in `test` or where a wait began. */
static void life_query(struct alar_judge *judge, struct judge_subject subject)
{
    if (!judge->event->has[ALAR_FIELD_DONE]) {
        return;
    }
    subject.entry->asked = judge_moment_of(judge);
    if (!judge->event->number[ALAR_FIELD_DONE]) {
        (void)judge_life_act(judge, subject, JUDGE_ACT_QUERY_NO);
        return;
    }
    if (judge_life_is_owned(subject.entry->life)) {
        judge_life_told(judge, subject.entry);
    }
    (void)judge_life_act(judge, subject, JUDGE_ACT_QUERY_YES);
    judge_stream_end(judge, subject.entry);
    judge_entry_over(judge, subject.op, subject.entry);
}

/* The wait returned, or the operation itself ended: a value for the host. */
static enum alar_status life_value(struct alar_judge *judge, struct judge_subject subject,
                                   enum judge_act act)
{
    struct judge_entry *entry = subject.entry;
    bool is_return = act != JUDGE_ACT_COMPLETE;

    if (is_return && life_has_returned(entry) &&
        (entry->life == JUDGE_DONE || entry->life == JUDGE_KNOWN || entry->life == JUDGE_ORDERED)) {
        life_twice(judge, subject);
    } else if (is_return) {
        life_version(judge, subject);
        entry->done = judge_moment_of(judge);
    } else if (entry->done.place.line == 0) {
        entry->done = judge_moment_of(judge);
    }
    if (act == JUDGE_ACT_ORDER) {
        judge_stream_wait(judge, entry);
    } else {
        judge_life_told(judge, entry);
    }
    struct judge_row row = judge_life_act(judge, subject, act);
    if (row.finding == ALAR_ANOMALY_ABORT_AS_SUCCESS) {
        return ALAR_OK;
    }
    judge_stream_end(judge, entry);
    ALAR_TRY(judge_take_out(judge, subject.op, entry));
    judge_entry_over(judge, subject.op, entry);
    return ALAR_OK;
}

/* The first error that any rank was told is kept, in the order of ranks: lines have no order. */
static void life_error(const struct alar_judge *judge, struct judge_subject subject)
{
    const struct alar_event *event = judge->event;
    enum alar_field field = event->has[ALAR_FIELD_TEXT] ? ALAR_FIELD_TEXT : ALAR_FIELD_ERROR;

    if (subject.op->error[0] == '\0' || subject.entry->rank < subject.op->error_rank) {
        alar_text_keep(event->text[field], subject.op->error, sizeof subject.op->error);
        subject.op->error_rank = subject.entry->rank;
    }
}

/* The first failure on a clock: of several clocks, none. */
static void life_failure(struct alar_judge *judge, const struct judge_entry *entry)
{
    uint64_t clock = entry->done.has_t ? judge_rank_at(judge, entry->rank)->clock : 0;
    bool is_earlier = !judge->has_failure || entry->done.t < judge->failure_t;

    judge->failure_t = is_earlier ? entry->done.t : judge->failure_t;
    judge->failure_clock = judge->has_failure && clock != judge->failure_clock ? 0 : clock;
    judge->has_failure = true;
}

static enum alar_status life_fail(struct alar_judge *judge, struct judge_subject subject,
                                  enum judge_act act)
{
    const struct alar_event *event = judge->event;
    struct judge_entry *entry = subject.entry;
    uint32_t told = 1u << JUDGE_ACT_FAIL | 1u << JUDGE_ACT_EXPIRE;

    for (int64_t k = 0; event->has[ALAR_FIELD_MISSING] && k < event->number[ALAR_FIELD_MISSING];
         k++) {
        alar_list_add(&subject.op->named, event->list[ALAR_FIELD_MISSING][k].bits);
    }
    if ((entry->acts & told) == 0) {
        entry->done = judge_moment_of(judge);
        entry->is_told_lost = judge_is_told_lost(event);
        life_error(judge, subject);
    }
    if (act == JUDGE_ACT_FAIL) {
        life_failure(judge, entry);
    }
    (void)judge_life_act(judge, subject, act);
    judge_entry_unfinish(subject.op, entry);
    return ALAR_OK;
}

static enum alar_status life_twin(struct alar_judge *judge, struct judge_subject subject)
{
    if (!subject.op || life_has_returned(subject.entry)) {
        return judge_complain(judge, ALAR_FIELD_EV, "the twin before the operation is done",
                              "a twin after it");
    }
    return judge_take_twin(judge, subject.op, subject.entry);
}

/* Which act the record is. */
static enum judge_act life_act(const struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;

    switch ((int)event->record) {
    case ALAR_RECORD_TEST:
        return event->number[ALAR_FIELD_DONE] ? JUDGE_ACT_QUERY_YES : JUDGE_ACT_QUERY_NO;
    case ALAR_RECORD_WAIT:
        return JUDGE_ACT_WAIT;
    case ALAR_RECORD_DONE:
        return judge->contract.is_stream ? JUDGE_ACT_ORDER : JUDGE_ACT_RETURN;
    case ALAR_RECORD_COMPLETE:
        return JUDGE_ACT_COMPLETE;
    default:
        return judge_is_told_timeout(event) ? JUDGE_ACT_EXPIRE : JUDGE_ACT_FAIL;
    }
}

enum alar_status judge_life(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    enum judge_act act = life_act(judge);
    struct judge_subject subject;

    ALAR_TRY(judge_life_find(judge, (uint32_t)event->number[ALAR_FIELD_RANK], &subject));
    if (event->record == ALAR_RECORD_TWIN) {
        return life_twin(judge, subject);
    }
    if (!subject.entry) {
        return subject.is_past ? judge_life_past(judge, act) : ALAR_OK;
    }
    switch ((int)event->record) {
    case ALAR_RECORD_TEST:
        life_query(judge, subject);
        return ALAR_OK;
    case ALAR_RECORD_WAIT:
        life_wait(judge, subject);
        life_query(judge, subject);
        return ALAR_OK;
    case ALAR_RECORD_FAIL:
        return life_fail(judge, subject, act);
    default:
        return life_value(judge, subject, act);
    }
}
