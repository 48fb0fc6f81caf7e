/* What is done to storage and to values: reads, writes, frees, and the misuse of handles. */
#include "judge/judge_state.h"

#include <string.h>

/* Elements of the storage that an action is about. */
struct storage_range {
    uint64_t at, n;
};

/* What the record says of them; without it, what the operation uses that it names, or all of it.
   `at` counts from the beginning of the storage, however that is named. spec: O-75 */
static struct storage_range storage_range(const struct alar_event *event,
                                          const struct judge_entry *named)
{
    struct storage_range range = {named ? named->at : 0, named ? named->n : UINT64_MAX};

    if (event->has[ALAR_FIELD_AT]) {
        range.at = (uint64_t)event->number[ALAR_FIELD_AT];
        range.n = UINT64_MAX;
    }
    if (event->has[ALAR_FIELD_N] || event->has[ALAR_FIELD_BITS]) {
        range.n =
            (uint64_t)event->number[event->has[ALAR_FIELD_N] ? ALAR_FIELD_N : ALAR_FIELD_BITS];
    }
    return range;
}

static bool range_meets(struct storage_range range, const struct judge_entry *entry)
{
    return range.at >= entry->at ? range.at - entry->at < entry->n : entry->at - range.at < range.n;
}

/* The elements below 64 of the operation that a read takes. */
static uint64_t storage_read_mask(struct storage_range range, const struct judge_entry *entry)
{
    uint64_t skipped = range.at < entry->at ? entry->at - range.at : 0;
    uint64_t at = range.at > entry->at ? range.at - entry->at : 0, n = range.n - skipped;

    if (at > 63 || n == 0) {
        return 0;
    }
    return (n > 63 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << at;
}

static enum alar_status storage_read(struct alar_judge *judge, struct judge_subject subject,
                                     struct storage_range range)
{
    struct judge_entry *entry = subject.entry;
    struct judge_row row = judge_life_act(judge, subject, JUDGE_ACT_READ);

    if (row.finding != ALAR_ANOMALY_COUNT) {
        return ALAR_OK;
    }
    uint64_t mask = storage_read_mask(range, entry);
    if (judge->contract.is_once && (entry->read_mask & mask)) {
        judge_life_found(judge, ALAR_ANOMALY_USED_TWICE, subject);
    }
    entry->read_mask |= mask;
    ALAR_TRY(judge_take_read(judge, subject.op, entry, range.at));
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

/* What is done to one operation's storage. */
static enum alar_status storage_act_on(struct alar_judge *judge, struct judge_subject subject,
                                       enum judge_act act, struct storage_range range)
{
    if (act == JUDGE_ACT_READ) {
        return storage_read(judge, subject, range);
    }
    subject.entry->is_touched = subject.entry->is_touched || act != JUDGE_ACT_BACK_WRITE;
    (void)judge_life_act(judge, subject, act);
    return ALAR_OK;
}

/* Storage belongs to all that is pending on it now, by whichever name it is reached, and what it
   holds is the value of its last operation. One that was named, and lost its storage, is pending
   still. spec: O-75 */
static enum alar_status storage_reach(struct alar_judge *judge, struct judge_storage storage,
                                      enum judge_act act, struct judge_subject named)
{
    struct storage_range range = {storage.at, storage.n};
    struct judge_subject holder = {NULL, judge_uses_latest(judge, storage), false};
    uint64_t next = judge_uses_open(judge, 0, storage, act != JUDGE_ACT_READ);
    bool is_owned = false, is_held = false, is_found = false;

    holder.op = holder.entry ? judge_op_at(judge, holder.entry->op) : NULL;
    while (next) {
        struct judge_entry *entry = alar_arena_at(judge->arena, next);
        struct judge_subject subject = {judge_op_at(judge, entry->op), entry, false};

        next = entry->beside;
        is_owned = true;
        is_held = is_held || entry == holder.entry;
        is_found = (entry != holder.entry &&
                    judge_life_act(judge, subject, act).finding != ALAR_ANOMALY_COUNT) ||
                   is_found;
    }
    if (!is_owned && named.entry && judge_life_is_owned(named.entry->life) &&
        range_meets(range, named.entry)) {
        return storage_act_on(judge, named, act, range);
    }
    /* A name says less than an operation: what was written there since is nobody's value. */
    bool is_told = holder.entry && !judge_life_is_owned(holder.entry->life) &&
                   (judge->event->has[ALAR_FIELD_OP] || !holder.entry->is_touched);
    bool is_others = is_found || (is_owned && act == JUDGE_ACT_BACK_WRITE);
    if (!is_held && (!is_told || is_others)) {
        return ALAR_OK;
    }
    /* Bits of the dtype of the operation that was named are no value of another dtype. */
    if (act == JUDGE_ACT_READ && named.entry && named.entry->dtype != holder.entry->dtype) {
        (void)judge_life_act(judge, holder, act);
        return ALAR_OK;
    }
    return storage_act_on(judge, holder, act, range);
}

/* The names of storage that come, go, or are used. spec: O-81, O-115 */
static void storage_name(struct alar_judge *judge, uint32_t rank, uint64_t buf, enum judge_act act)
{
    if (act == JUDGE_ACT_REUSE) {
        judge_name_used(judge, rank, buf);
        judge_name_back(judge, rank, buf);
        return;
    }
    if (!judge->event->has[ALAR_FIELD_OP]) {
        judge_name_asked(judge, rank);
    }
    if (act != JUDGE_ACT_BACK_WRITE) {
        judge_freed_used(judge, rank, buf);
    }
    if (act == JUDGE_ACT_UNSTORE) {
        judge_name_gone(judge, rank, buf);
    }
}

enum alar_status judge_storage(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    uint32_t rank = (uint32_t)event->number[ALAR_FIELD_RANK];
    enum judge_act act = storage_act(event);
    bool is_handle = act == JUDGE_ACT_UNHANDLE || act == JUDGE_ACT_DROP;
    struct judge_subject subject = {NULL, NULL, false};

    if (event->record == ALAR_RECORD_READ && alar_event_number(event, ALAR_FIELD_BY, 0) == 1) {
        return event->has[ALAR_FIELD_OP]
                   ? storage_fetch(judge)
                   : judge_complain(judge, ALAR_FIELD_EV, "`op` in what a back end reads", "none");
    }
    if (event->has[ALAR_FIELD_OP]) {
        ALAR_TRY(judge_life_find(judge, rank, &subject));
        if (!subject.entry) {
            return subject.is_past ? judge_life_past(judge, act) : ALAR_OK;
        }
    } else if (!event->has[ALAR_FIELD_BUF]) {
        return judge_complain(judge, ALAR_FIELD_EV, "`op` or `buf`", "neither");
    }
    struct storage_range range = storage_range(event, subject.entry);
    uint64_t buf = subject.entry ? subject.entry->buf : alar_text_hash(event->text[ALAR_FIELD_BUF]);
    bool is_its_own = subject.entry && (buf == 0 || act == JUDGE_ACT_BACK_WRITE);

    if (is_handle) {
        (void)judge_life_act(judge, subject, act);
        return ALAR_OK;
    }
    if (!is_its_own) {
        struct judge_storage storage = {rank, buf, range.at, range.n};

        storage_name(judge, rank, buf, act);
        enum alar_status status = storage_reach(judge, storage, act, subject);

        if (act != JUDGE_ACT_READ && act != JUDGE_ACT_BACK_WRITE) {
            judge_uses_touch(judge, storage);
        }
        return status;
    }
    return range_meets(range, subject.entry) ? storage_act_on(judge, subject, act, range) : ALAR_OK;
}
