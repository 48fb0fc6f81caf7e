/* An all-reduce is issued: replayed, compared with what the other ranks issued, its storage
 * checked. */
#include "judge/report/report.h"

#include "base/check.h"

#include <string.h>

static uint64_t event_hash(const struct alar_event *event, enum alar_field field)
{
    return event->has[field] ? alar_text_hash(event->text[field]) : 0;
}

/* What ranks must agree on beside the key, in one number. */
static uint64_t issue_signature(const struct judge_op *op)
{
    return ((op->n * 32 + (uint64_t)op->dtype) * 32 + (uint64_t)op->red) ^
           ((uint64_t)op->collective << 40);
}

/* What this rank's record says of the operation. */
static struct judge_op issue_read(const struct alar_event *event)
{
    struct judge_op op = {0};
    int64_t given = event->has[ALAR_FIELD_IN] ? event->number[ALAR_FIELD_IN] : 1;

    op.red = (enum alar_red)alar_event_number(event, ALAR_FIELD_RED, ALAR_RED_SUM);
    op.dtype = (enum alar_dtype)alar_event_number(event, ALAR_FIELD_DTYPE, ALAR_F32);
    op.n = (uint64_t)alar_event_number(event, ALAR_FIELD_N, given);
    op.key_hash = event_hash(event, ALAR_FIELD_KEY);
    op.step = alar_event_number(event, ALAR_FIELD_STEP, -1);
    op.mb = alar_event_number(event, ALAR_FIELD_MB, -1);
    op.pairs = (uint32_t)alar_event_number(event, ALAR_FIELD_PAIRS, 0);
    op.collective = (uint32_t)(alar_event_number(event, ALAR_FIELD_COLL, 0) +
                               8 * (1 + alar_event_number(event, ALAR_FIELD_ROOT, -1)));
    op.signature = issue_signature(&op);
    return op;
}

static enum alar_anomaly issue_compare(const struct judge_op *first, const struct judge_op *other)
{
    if (first->key_hash && other->key_hash && first->key_hash != other->key_hash) {
        return ALAR_ANOMALY_MISMATCH_KEY;
    }
    if (first->red != other->red || first->collective != other->collective) { /* spec: H-51 */
        return ALAR_ANOMALY_MISMATCH_RED;
    }
    if (first->dtype != other->dtype) {
        return ALAR_ANOMALY_MISMATCH_DTYPE;
    }
    return first->n != other->n ? ALAR_ANOMALY_MISMATCH_ELEMENTS : ALAR_ANOMALY_COUNT;
}

/* Two operations in the other order on one rank look like a mismatch of the first one until the
   second one is seen. */
static void issue_order(struct alar_judge *judge, const struct judge_group *group,
                        const struct judge_op *op, const struct judge_entry *entry)
{
    unsigned late = entry->rank == group->swapped_rank[1]; /* which of the two comes second */

    if (op->number != group->mismatch + 1 || entry->rank != group->swapped_rank[late] ||
        entry->signature != group->swapped[!late] || op->signature != group->swapped[late]) {
        return;
    }
    for (uint32_t k = 0; k < judge->verdict.finding_count; k++) {
        struct alar_evidence *kept = &judge->verdict.finding[k];

        if (kept->number == group->mismatch && kept->anomaly >= ALAR_ANOMALY_MISMATCH_RED &&
            kept->anomaly <= ALAR_ANOMALY_MISMATCH_ELEMENTS &&
            strcmp(kept->group, group->name) == 0) {
            judge->verdict.found[kept->anomaly]--;
            judge->verdict.found[ALAR_ANOMALY_MISMATCH_ORDER]++;
            kept->anomaly = ALAR_ANOMALY_MISMATCH_ORDER;
            judge_show_event(judge, kept);
            judge_raise(judge, k);
        }
    }
}

static const struct judge_entry *issue_first(const struct alar_judge *judge,
                                             const struct judge_op *op)
{
    PRE(op->issued > 0);
    return judge_entry_at(judge, op, op->first);
}

/* What two ranks disagree on, as numbers for the evidence. */
static uint64_t issue_amount(enum alar_anomaly anomaly, const struct judge_op *op)
{
    switch ((int)anomaly) {
    case ALAR_ANOMALY_MISMATCH_RED:
        return (uint64_t)op->red + ((uint64_t)op->collective << 8);
    case ALAR_ANOMALY_MISMATCH_DTYPE:
        return (uint64_t)op->dtype;
    default:
        return op->n;
    }
}

static void issue_match(struct alar_judge *judge, struct judge_op *op, const struct judge_op *mine,
                        const struct judge_entry *entry)
{
    struct judge_group *group = judge_group_at(judge, op->group);
    enum alar_anomaly anomaly = issue_compare(op, mine);

    if (op->number > group->mismatch) {
        issue_order(judge, group, op, entry);
        return;
    }
    if (anomaly == ALAR_ANOMALY_COUNT) {
        return;
    }
    struct alar_evidence *evidence = judge_found(judge, anomaly, op, entry->rank);
    if (evidence) {
        const struct judge_entry *first = issue_first(judge, op);

        alar_list_add(&evidence->joined, first->rank);
        evidence->amount[0] = issue_amount(anomaly, op);
        evidence->amount[1] = issue_amount(anomaly, mine);
        memcpy(evidence->name[0], op->key, sizeof evidence->name[0]);
        alar_text_keep(judge->event->text[ALAR_FIELD_KEY], evidence->name[1],
                       sizeof evidence->name[1]);
        judge_show_issue(judge, evidence, op, first);
        group->swapped[0] = op->signature;
        group->swapped[1] = mine->signature;
        group->swapped_rank[0] = first->rank;
        group->swapped_rank[1] = entry->rank;
    }
    judge_show_issue(judge, judge_kept(judge, anomaly, op), op, entry);
    group->mismatch = op->number;
    op->is_tainted = true;
}

/* Two operations on disjoint slices of one storage do not meet. */
static bool issue_overlaps(const struct judge_entry *a, const struct judge_entry *b)
{
    return a->at < b->at ? b->at - a->at < a->n : a->at - b->at < b->n;
}

static void issue_storage(struct alar_judge *judge, const struct judge_entry *entry)
{
    uint64_t next = judge_rank_at(judge, entry->rank)->live;

    while (next) {
        struct judge_entry *other = alar_arena_at(judge->arena, next);
        bool is_shared = entry->buf && (entry->buf == other->buf || entry->buf == other->send);

        next = other->next;
        if ((is_shared || (entry->send && entry->send == other->buf)) &&
            issue_overlaps(entry, other) && alar_handle_is_owned(&other->handle) &&
            !other->is_storage_lost) {
            struct judge_op *op = judge_op_at(judge, other->op);
            struct alar_evidence *evidence =
                judge_found(judge, ALAR_ANOMALY_REUSED_IN_FLIGHT, op, entry->rank);

            other->is_storage_lost = true;
            op->is_tainted = true;
            judge_show_issue(judge, evidence, op, other);
            judge_show_event(judge, evidence);
        }
    }
}

/* Where the contribution goes; ranks that recorded fewer or more elements can't be judged together.
 */
static enum alar_status issue_values(struct alar_judge *judge, struct judge_op *op,
                                     struct judge_entry *entry, uint32_t member)
{
    const struct alar_event *event = judge->event;
    uint32_t count = (uint32_t)alar_event_number(event, ALAR_FIELD_IN, 0);

    if (!event->has[ALAR_FIELD_IN]) {
        return ALAR_OK;
    }
    if ((uint64_t)count > entry->n) {
        return judge_complain_numbers(judge, ALAR_FIELD_IN, "at most n values", (int64_t)entry->n,
                                      "values", count);
    }
    if (!op->in) {
        op->elements = count;
        op->in = alar_arena_take(judge->arena, (size_t)op->members * count * sizeof(uint64_t));
    }
    if (count != op->elements) {
        op->is_partial = true;
        return ALAR_OK;
    }
    ALAR_TRY(judge_bits(
        judge, ALAR_FIELD_IN, (enum alar_dtype)alar_event_number(event, ALAR_FIELD_DTYPE, ALAR_F32),
        (uint64_t *)alar_arena_at(judge->arena, op->in) + (size_t)member * count, count));
    entry->has_in = true;
    op->ins++;
    return ALAR_OK;
}

static void issue_entry(struct alar_judge *judge, struct judge_entry *entry, uint64_t op,
                        const struct judge_op *mine)
{
    const struct alar_event *event = judge->event;
    uint32_t number = (uint32_t)event->number[ALAR_FIELD_RANK];
    struct judge_rank *rank = judge_rank_at(judge, number);
    int64_t limit = alar_event_number(event, ALAR_FIELD_DEADLINE, judge->contract.deadline);

    entry->is_issued = true;
    entry->is_sync = alar_event_number(event, ALAR_FIELD_SYNC, 0) != 0;
    entry->rank = number;
    entry->op = op;
    entry->issue = event->place;
    entry->has_t = event->has[ALAR_FIELD_T];
    entry->t_issue = alar_event_number(event, ALAR_FIELD_T, 0) + rank->t0;
    entry->deadline = limit > 0 && entry->has_t ? entry->t_issue + limit : INT64_MAX;
    entry->has_ver = event->has[ALAR_FIELD_VER];
    entry->ver = (uint64_t)alar_event_number(event, ALAR_FIELD_VER, 0);
    entry->buf = event_hash(event, ALAR_FIELD_BUF);
    entry->send = event_hash(event, ALAR_FIELD_SEND);
    judge_name_used(judge, number, entry->buf);
    judge_name_used(judge, number, entry->send);
    entry->stream = JUDGE_NEVER;
    entry->at = (uint64_t)alar_event_number(event, ALAR_FIELD_AT, 0);
    entry->n = mine->n;
    entry->signature = mine->signature;
    entry->step = mine->step;
    entry->mb = mine->mb;
    if (event->has[ALAR_FIELD_SRC]) {
        alar_text_keep(event->text[ALAR_FIELD_SRC], entry->src, sizeof entry->src);
    }
    rank->has_issued = true;
    rank->pending++;
    if (judge->verdict.peak < rank->pending) {
        judge->verdict.peak = rank->pending;
    }
}

static void issue_describe(struct alar_judge *judge, struct judge_op *op,
                           const struct judge_op *mine)
{
    const struct alar_event *event = judge->event;

    op->red = mine->red;
    op->collective = mine->collective;
    op->dtype = mine->dtype;
    op->n = mine->n;
    op->key_hash = mine->key_hash;
    op->signature = mine->signature;
    op->step = mine->step;
    op->mb = mine->mb;
    op->pairs = mine->pairs;
    alar_text_keep(event->has[ALAR_FIELD_KEY] ? event->text[ALAR_FIELD_KEY]
                                              : (struct alar_text){NULL, 0},
                   op->key, sizeof op->key);
    judge_report_names(judge, op);
}

static uint64_t issue_members(const struct alar_event *event)
{
    uint64_t hash = 0;

    for (int64_t k = 0; event->has[ALAR_FIELD_MEMBERS] && k < event->number[ALAR_FIELD_MEMBERS];
         k++) {
        hash = (hash ^ (event->list[ALAR_FIELD_MEMBERS][k].bits + 1)) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* The group of an issue, made on first sight. */
static uint64_t issue_group(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    struct alar_text name = event->text[ALAR_FIELD_OP];
    uint64_t group = judge_group_find(judge, name);

    if (!group) {
        bool is_given = event->has[ALAR_FIELD_MEMBERS];

        group = judge_group_make(judge, name, is_given ? event->list[ALAR_FIELD_MEMBERS] : NULL,
                                 (uint32_t)alar_event_number(event, ALAR_FIELD_MEMBERS, 0));
    }
    if (!judge_group_at(judge, group)->members_hash) {
        judge_group_at(judge, group)->members_hash = issue_members(event);
    }
    return group;
}

/* The members this rank names are not those another rank named. */
static void issue_members_differ(struct alar_judge *judge, uint64_t group)
{
    struct judge_group *found = judge_group_at(judge, group);
    uint64_t number = (uint64_t)judge->event->number[ALAR_FIELD_OP];
    uint64_t made = judge_op_find(judge, group, number);

    if (number >= found->mismatch) {
        return;
    }
    if (!made) {
        made = judge_op_make(judge, group, number);
    }
    struct judge_op *op = judge_op_at(judge, made);
    struct alar_evidence *evidence = judge_found(judge, ALAR_ANOMALY_MISMATCH_MEMBERS, op,
                                                 (uint32_t)judge->event->number[ALAR_FIELD_RANK]);
    if (op->issued) {
        judge_show_issue(judge, evidence, op, issue_first(judge, op));
    }
    judge_show_event(judge, evidence);
    found->mismatch = number;
    op->is_tainted = true;
}

/* Numbers of one rank and group have no gaps. */
static enum alar_status issue_number(struct alar_judge *judge, const struct judge_group *group,
                                     uint32_t member)
{
    uint64_t *expected = (uint64_t *)alar_arena_at(judge->arena, group->expected) + member;
    int64_t number = judge->event->number[ALAR_FIELD_OP];

    if (*expected != JUDGE_NEVER && *expected != (uint64_t)number) {
        return judge_complain_numbers(judge, ALAR_FIELD_OP, "operation number", (int64_t)*expected,
                                      "number", number);
    }
    *expected = (uint64_t)number + 1;
    return ALAR_OK;
}

enum alar_status judge_issue(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    struct judge_op mine = issue_read(event);
    uint64_t number = (uint64_t)event->number[ALAR_FIELD_OP];

    ALAR_TRY(judge_members(judge, event->text[ALAR_FIELD_OP]));
    uint64_t group = issue_group(judge);
    uint64_t hash = issue_members(event);
    uint32_t member;

    if (hash && hash != judge_group_at(judge, group)->members_hash) {
        issue_members_differ(judge, group);
    }
    if (!judge_member_find(judge, judge_group_at(judge, group),
                           (uint32_t)event->number[ALAR_FIELD_RANK], &member)) {
        return judge_group_at(judge, group)->mismatch <= number
                   ? ALAR_OK
                   : judge_complain(judge, ALAR_FIELD_RANK, "a member of the group",
                                    "another rank");
    }
    ALAR_TRY(judge_call_of_issue(judge, group, member));
    ALAR_TRY(issue_number(judge, judge_group_at(judge, group), member));
    uint64_t made = judge_op_find(judge, group, number);
    made = made ? made : judge_op_make(judge, group, number);
    struct judge_op *op = judge_op_at(judge, made);
    struct judge_entry *entry = judge_entry_at(judge, op, member);
    INV("a new entry is free", alar_handle_step(&entry->handle, ALAR_EVENT_POST) == ALAR_OK);
    issue_entry(judge, entry, made, &mine);
    if (op->issued++ == 0) {
        op->first = member;
        issue_describe(judge, op, &mine);
    }
    op->step = op->step >= 0 ? op->step : mine.step;
    op->mb = op->mb >= 0 ? op->mb : mine.mb;
    report_ledger_issue(judge, op, &mine, entry->rank);
    ALAR_TRY(issue_values(judge, op, entry, member));
    issue_match(judge, op, &mine, entry);
    issue_storage(judge, entry);
    judge_live_add(judge, op->entry + member * sizeof *entry);
    return ALAR_OK;
}
