/* What is done to storage and to values: reads, writes, frees, and the misuse of handles. */
#include "judge/judge_state.h"

#include <string.h>

/* Does the action's range of the storage meet what the operation uses of it? Without a range it is
   all of it. `at` counts from the beginning of the storage, however that is named. spec: O-75 */
static bool storage_meets(const struct alar_event *event, const struct judge_entry *entry)
{
    uint64_t at = (uint64_t)alar_event_number(event, ALAR_FIELD_AT, 0);
    uint64_t n = (uint64_t)alar_event_number(event, ALAR_FIELD_N, 0);

    if (!event->has[ALAR_FIELD_AT] || !event->has[ALAR_FIELD_N]) {
        return true;
    }
    return at >= entry->at ? at - entry->at < entry->n : entry->at - at < n;
}

/* The rank's pending entry on that storage, or NULL. Storage that was lost goes by its name no
 * more.
 */
static struct judge_entry *storage_find(const struct alar_judge *judge, uint32_t rank,
                                        uint64_t hash, bool is_input_too)
{
    uint64_t next = judge_rank_at(judge, rank)->live;

    while (next) {
        struct judge_entry *entry = alar_arena_at(judge->arena, next);
        bool is_lost = judge_did(entry, JUDGE_ACT_UNSTORE) || judge_did(entry, JUDGE_ACT_REUSE);

        if ((entry->buf == hash || (is_input_too && entry->send == hash)) && !is_lost &&
            storage_meets(judge->event, entry)) {
            return entry;
        }
        next = entry->next;
    }
    return NULL;
}

/* The elements below 64 of the operation that a read takes. */
static uint64_t storage_read_mask(const struct alar_event *event, const struct judge_entry *entry)
{
    uint64_t at = (uint64_t)alar_event_number(event, ALAR_FIELD_AT, (int64_t)entry->at);
    uint64_t n = (uint64_t)alar_event_number(
        event, ALAR_FIELD_N, alar_event_number(event, ALAR_FIELD_BITS, at > entry->at ? 1 : 64));

    at = at > entry->at ? at - entry->at : 0;
    if (at > 63 || n == 0) {
        return 0;
    }
    return (n > 63 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << at;
}

static enum alar_status storage_read(struct alar_judge *judge, struct judge_subject subject)
{
    struct judge_entry *entry = subject.entry;

    if (!storage_meets(judge->event, entry)) {
        return ALAR_OK;
    }
    struct judge_row row = judge_life_act(judge, subject, JUDGE_ACT_READ);
    if (row.finding != ALAR_ANOMALY_COUNT) {
        return ALAR_OK;
    }
    uint64_t mask = storage_read_mask(judge->event, entry);
    if (judge->contract.is_once && (entry->read_mask & mask)) {
        judge_life_found(judge, ALAR_ANOMALY_USED_TWICE, subject);
    }
    entry->read_mask |= mask;
    ALAR_TRY(judge_take_read(judge, subject.op, entry));
    judge_entry_over(judge, subject.op, entry);
    return ALAR_OK;
}

/* A peer's back end still reads this rank's input: done before that was too early. The last one
   counts. The peer's own lines may come later. spec: O-16 */
static enum alar_status storage_fetch(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    uint32_t reader = (uint32_t)event->number[ALAR_FIELD_RANK];
    uint32_t rank = (uint32_t)alar_event_number(event, ALAR_FIELD_OF, reader);
    struct judge_subject mine;
    uint32_t member;

    ALAR_TRY(judge_life_find(judge, reader, &mine));
    if (rank >= judge->setup.world) {
        return judge_complain_numbers(judge, ALAR_FIELD_OF, "a rank below", judge->setup.world,
                                      "rank", rank);
    }
    if (!mine.op) {
        if (mine.is_past && event->has[ALAR_FIELD_T]) {
            judge_unknown(judge, ALAR_UNKNOWN_WINDOW, event->place, reader);
        }
        return ALAR_OK;
    }
    if (!judge_member_find(judge, judge_group_at(judge, mine.op->group), rank, &member)) {
        return judge_complain(judge, ALAR_FIELD_OF, "a member of the group", "another rank");
    }
    struct judge_entry *entry = judge_entry_at(judge, mine.op, member);
    struct judge_moment fetch = judge_moment_of(judge);
    if (fetch.has_t && (entry->fetch.place.line == 0 || fetch.t > entry->fetch.t ||
                        (fetch.t == entry->fetch.t && reader < entry->fetch_rank))) {
        entry->fetch = fetch;
        entry->fetch_rank = reader;
    }
    return ALAR_OK;
}

static enum alar_status storage_write(struct alar_judge *judge, struct judge_subject subject)
{
    bool is_backend = alar_event_number(judge->event, ALAR_FIELD_BY, 0) == 1;

    if (storage_meets(judge->event, subject.entry)) {
        subject.entry->is_touched = subject.entry->is_touched || !is_backend;
        (void)judge_life_act(judge, subject, is_backend ? JUDGE_ACT_BACK_WRITE : JUDGE_ACT_WRITE);
    }
    return ALAR_OK;
}

/* Which act the record is; reads and writes are looked at more closely. */
static enum judge_act storage_act(const struct alar_event *event)
{
    bool is_backend = alar_event_number(event, ALAR_FIELD_BY, 0) == 1;

    switch ((int)event->record) {
    case ALAR_RECORD_READ:
        return JUDGE_ACT_READ;
    case ALAR_RECORD_WRITE:
        return is_backend ? JUDGE_ACT_BACK_WRITE : JUDGE_ACT_WRITE;
    case ALAR_RECORD_CANCEL:
        return JUDGE_ACT_UNHANDLE;
    case ALAR_RECORD_DROP:
        return JUDGE_ACT_DROP;
    case ALAR_RECORD_FREE:
        return event->has[ALAR_FIELD_OP] ? JUDGE_ACT_UNHANDLE : JUDGE_ACT_UNSTORE;
    default:
        return JUDGE_ACT_REUSE; /* alloc */
    }
}

/* Remembers that the program wrote there: what is read of it is no longer the result. */
static void storage_wrote(struct judge_rank *rank, uint64_t buf)
{
    rank->written[rank->writes++ % JUDGE_WRITTEN] = buf;
}

/* Storage that its rank freed, and that did not come back. It is told of once. spec: O-81 */
void judge_freed_used(struct alar_judge *judge, uint32_t rank, uint64_t buf)
{
    struct judge_rank *user = judge_rank_at(judge, rank);

    for (unsigned k = 0; buf && k < JUDGE_FREED; k++) {
        if (user->freed[k] == buf) {
            user->freed[k] = 0;
            judge_show_event(judge, judge_found(judge, ALAR_ANOMALY_USE_AFTER_FREE, NULL, rank));
        }
    }
}

/* A name that goes, or comes back. */
static void storage_name(struct alar_judge *judge, uint32_t rank, uint64_t buf, enum judge_act act)
{
    struct judge_rank *user = judge_rank_at(judge, rank);

    if (act == JUDGE_ACT_UNSTORE) {
        judge_freed_used(judge, rank, buf);
        user->freed[user->frees++ % JUDGE_FREED] = buf;
    }
    for (unsigned k = 0; act == JUDGE_ACT_REUSE && k < JUDGE_FREED; k++) {
        user->freed[k] = user->freed[k] == buf ? 0 : user->freed[k];
    }
}

/* Storage is named directly, or through an operation that used it; it belongs to whatever is
   pending on it now, by whichever name. spec: O-75 */
static enum alar_status storage_subject(struct alar_judge *judge, struct judge_subject *subject)
{
    const struct alar_event *event = judge->event;
    uint32_t rank = (uint32_t)event->number[ALAR_FIELD_RANK];
    bool is_reading = event->record == ALAR_RECORD_READ;
    bool is_access = storage_act(event) == JUDGE_ACT_READ || storage_act(event) == JUDGE_ACT_WRITE;
    uint64_t buf = 0;

    memset(subject, 0, sizeof *subject);
    if (event->has[ALAR_FIELD_OP]) {
        ALAR_TRY(judge_life_find(judge, rank, subject));
        if (!is_access || !subject->entry || judge_life_is_owned(subject->entry->life)) {
            return ALAR_OK;
        }
        buf = subject->entry->buf;
    } else if (event->has[ALAR_FIELD_BUF]) {
        buf = alar_text_hash(event->text[ALAR_FIELD_BUF]);
    } else {
        return judge_complain(judge, ALAR_FIELD_EV, "`op` or `buf`", "neither");
    }
    if (storage_act(event) == JUDGE_ACT_UNSTORE || storage_act(event) == JUDGE_ACT_REUSE) {
        storage_name(judge, rank, buf, storage_act(event));
    } else {
        judge_freed_used(judge, rank, buf);
    }
    struct judge_entry *owner = buf ? storage_find(judge, rank, buf, !is_reading) : NULL;
    if (storage_act(event) == JUDGE_ACT_WRITE && buf) {
        storage_wrote(judge_rank_at(judge, rank), buf);
    }
    if (!event->has[ALAR_FIELD_OP] && event->record == ALAR_RECORD_ALLOC) {
        judge_name_used(judge, rank, buf);
    } else if (!event->has[ALAR_FIELD_OP]) {
        judge_name_asked(judge, rank);
    }
    if (owner) {
        *subject = (struct judge_subject){judge_op_at(judge, owner->op), owner, false};
    }
    return ALAR_OK;
}

enum alar_status judge_storage(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    enum judge_act act = storage_act(event);
    struct judge_subject subject;

    if (event->record == ALAR_RECORD_READ && alar_event_number(event, ALAR_FIELD_BY, 0) == 1) {
        return event->has[ALAR_FIELD_OP]
                   ? storage_fetch(judge)
                   : judge_complain(judge, ALAR_FIELD_EV, "`op` in what a back end reads", "none");
    }
    ALAR_TRY(storage_subject(judge, &subject));
    if (!subject.entry) {
        return subject.is_past ? judge_life_past(judge, act) : ALAR_OK;
    }
    switch ((int)act) {
    case JUDGE_ACT_READ:
        return storage_read(judge, subject);
    case JUDGE_ACT_WRITE:
    case JUDGE_ACT_BACK_WRITE:
        return storage_write(judge, subject);
    default:
        (void)judge_life_act(judge, subject, act);
        return ALAR_OK;
    }
}
