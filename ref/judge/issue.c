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

    op.red = (enum alar_reduction)alar_event_number(event, ALAR_FIELD_RED, ALAR_SUM);
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

/* Does this rank mean another operation than the first one did? Who is odd is asked later.
   spec: O-10, O-72 */
static void issue_match(struct alar_judge *judge, struct judge_op *op,
                        const struct judge_entry *entry)
{
    const struct judge_entry *first = judge_entry_at(judge, op, op->first);
    bool is_other_key = first->key && entry->key && first->key != entry->key;
    bool is_other_group = first->members && entry->members && first->members != entry->members;

    if (is_other_key && op->other_key[0] == '\0') {
        alar_text_keep(judge->event->text[ALAR_FIELD_KEY], op->other_key, sizeof op->other_key);
    }
    op->is_mixed =
        op->is_mixed || is_other_key || is_other_group || first->signature != entry->signature;
    if (op->issued == op->members) {
        judge_match(judge, op);
    }
}

/* What is pending on the storage that it uses loses it; reading the same input twice is no use of
   it. Two operations on disjoint slices of one storage do not meet. */
static void issue_storage(struct alar_judge *judge, const struct judge_entry *entry)
{
    struct judge_storage out = {entry->rank, entry->buf, entry->at, entry->n};
    struct judge_storage in = {entry->rank, entry->send, entry->at, entry->n};
    uint64_t next = entry->buf ? judge_uses_open(judge, 0, out, true) : 0;

    next = entry->send ? judge_uses_open(judge, next, in, false) : next;
    while (next) {
        struct judge_entry *other = alar_arena_at(judge->arena, next);
        struct judge_subject subject = {judge_op_at(judge, other->op), other, false};

        next = other->beside;
        (void)judge_life_act(judge, subject, JUDGE_ACT_REUSE);
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
        judge->out_max = count > judge->out_max ? count : judge->out_max; /* room for the result */
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

    entry->life = JUDGE_PENDING;
    entry->is_lent = true;
    entry->is_sync = alar_event_number(event, ALAR_FIELD_SYNC, 0) != 0;
    entry->rank = number;
    entry->op = op;
    entry->issue = judge_moment_of(judge);
    entry->deadline =
        limit > 0 && entry->issue.has_t ? judge_time(entry->issue.t, limit) : INT64_MAX;
    entry->has_ver = event->has[ALAR_FIELD_VER];
    entry->ver = (uint64_t)alar_event_number(event, ALAR_FIELD_VER, 0);
    entry->buf = event_hash(event, ALAR_FIELD_BUF);
    entry->send = event_hash(event, ALAR_FIELD_SEND);
    judge_name_used(judge, number, entry->buf);
    judge_name_used(judge, number, entry->send);
    entry->issued_on =
        event->has[ALAR_FIELD_STREAM] ? (uint64_t)event->number[ALAR_FIELD_STREAM] : JUDGE_NEVER;
    entry->stream = entry->issued_on;
    entry->at = (uint64_t)alar_event_number(event, ALAR_FIELD_AT, 0);
    entry->n = mine->n;
    entry->dtype = mine->dtype;
    entry->red = (uint32_t)mine->red + ((uint32_t)mine->collective << 8);
    entry->signature = mine->signature;
    entry->step = mine->step;
    entry->mb = mine->mb;
    entry->key = mine->key_hash;
    if (event->has[ALAR_FIELD_SRC]) {
        alar_text_keep(event->text[ALAR_FIELD_SRC], entry->src, sizeof entry->src);
    }
    rank->has_issued = true;
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

/* What this rank says of the members: in the record, or when it declared the group; of `world` it
   need not say anything. */
static uint64_t issue_claim(const struct alar_judge *judge, const struct judge_group *group,
                            uint32_t member)
{
    uint64_t given = judge_members_hash(judge->event);
    uint64_t declared = ((const uint64_t *)alar_arena_at(judge->arena, group->claim))[member];

    if (given || declared) {
        return given ? given : declared;
    }
    return group->is_world ? group->members_hash : 0;
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
    } else if (event->has[ALAR_FIELD_MEMBERS]) {
        judge_group_narrow(judge, group);
    }
    return group;
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

/* Some reductions are not for every dtype, or not for every number of elements. spec: N-32, N-33 */
static enum alar_status issue_check(struct alar_judge *judge, const struct judge_op *mine)
{
    bool is_bitwise = mine->red >= ALAR_BAND && mine->red <= ALAR_BXOR;
    bool is_place = mine->red == ALAR_MAXLOC || mine->red == ALAR_MINLOC;
    uint64_t given = (uint64_t)alar_event_number(judge->event, ALAR_FIELD_IN, 0);

    if (is_bitwise && alar_dtype_is_float(mine->dtype)) {
        return judge_complain(judge, ALAR_FIELD_RED, "a bitwise reduction of integers",
                              alar_dtype_name(mine->dtype));
    }
    return is_place && (mine->n % 2 != 0 || given % 2 != 0)
               ? judge_complain(judge, ALAR_FIELD_RED, "elements in pairs, value and index",
                                "an odd number of them")
               : ALAR_OK;
}

enum alar_status judge_issue(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    struct judge_op mine = issue_read(event);
    uint64_t number = (uint64_t)event->number[ALAR_FIELD_OP];

    ALAR_TRY(judge_members(judge, event->text[ALAR_FIELD_OP]));
    uint64_t group = issue_group(judge);
    uint32_t member;

    ALAR_TRY(issue_check(judge, &mine));
    if (!judge_member_find(judge, judge_group_at(judge, group),
                           (uint32_t)event->number[ALAR_FIELD_RANK], &member)) {
        judge_group_stranger(judge_group_at(judge, group), (uint32_t)event->number[ALAR_FIELD_RANK],
                             number);
        return ALAR_OK;
    }
    ALAR_TRY(judge_call_of_issue(judge, group, member));
    ALAR_TRY(issue_number(judge, judge_group_at(judge, group), member));
    uint64_t made = judge_op_find(judge, group, number);
    made = made ? made : judge_op_make(judge, group, number);
    struct judge_op *op = judge_op_at(judge, made);
    struct judge_entry *entry = judge_entry_at(judge, op, member);
    INV("a new entry is free", entry->life == JUDGE_FREE);
    issue_entry(judge, entry, made, &mine);
    op->is_sync |= entry->is_sync;
    entry->members = issue_claim(judge, judge_group_at(judge, group), member);
    if (event->has[ALAR_FIELD_REFUSED] && judge->verdict.refused++ == 0) {
        alar_text_keep(event->text[ALAR_FIELD_REFUSED], judge->verdict.refusal,
                       sizeof judge->verdict.refusal);
        alar_text_keep(event->text[ALAR_FIELD_OP], judge->verdict.refused_group,
                       sizeof judge->verdict.refused_group);
        judge->verdict.refused_number = number;
    }
    op->is_refused = op->is_refused || event->has[ALAR_FIELD_REFUSED];
    if (op->issued++ == 0) {
        op->first = member;
        issue_describe(judge, op, &mine);
    }
    op->step = op->step >= 0 ? op->step : mine.step;
    op->mb = op->mb >= 0 ? op->mb : mine.mb;
    report_ledger_issue(judge, op, &mine, entry->rank);
    if (judge_rank_at(judge, entry->rank)->aborted == group ||
        judge_rank_at(judge, entry->rank)->aborted == JUDGE_NEVER) {
        judge_unknown(judge, ALAR_UNKNOWN_ABORTED, event->place, entry->rank);
    }
    ALAR_TRY(issue_values(judge, op, entry, member));
    issue_match(judge, op, entry);
    issue_storage(judge, entry);
    judge_freed_used(judge, entry->rank, entry->buf);
    judge_freed_used(judge, entry->rank, entry->send);
    judge_chain_add(judge, op->entry + member * sizeof *entry);
    if (judge->verdict.peak < judge_rank_at(judge, entry->rank)->pending) {
        judge->verdict.peak = judge_rank_at(judge, entry->rank)->pending;
    }
    judge_window_pass(judge, group, number);
    return ALAR_OK;
}
