/* What MPI programs do beside their all-reduces, as far as it bears on them: the order of
   collective calls on a communicator, calls that were refused, and where a rank stands that does
   not move. */
#include "judge/judge_state.h"

#include "base/check.h"

#include <string.h>

static struct judge_call *call_at(const struct alar_judge *judge, uint64_t call)
{
    return alar_arena_at(judge->arena, call);
}

size_t judge_call_headroom(const struct alar_judge *judge, const struct alar_event *event)
{
    size_t room = 0;

    if (event->has[ALAR_FIELD_NTH]) {
        room = alar_arena_block(sizeof(struct judge_call)) +
               2 * alar_arena_block(judge->setup.world * sizeof(uint64_t)) +
               alar_arena_block(sizeof(struct judge_group)) +
               alar_arena_block(judge->setup.world * sizeof(uint32_t)) +
               alar_arena_block(judge->setup.world * sizeof(uint64_t));
    }
    return room;
}

/* What has to be the same on all ranks: the function and the root. */
static uint64_t call_signature(const struct alar_event *event)
{
    uint64_t hash = alar_text_hash(event->text[ALAR_FIELD_FUNCTION]);

    return hash * UINT64_C(0x100000001b3) +
           (uint64_t)(alar_event_number(event, ALAR_FIELD_ROOT, -1) + 1);
}

static uint64_t call_make(struct alar_judge *judge, struct judge_group *group, uint64_t number)
{
    const struct alar_event *event = judge->event;
    uint64_t made = alar_arena_take(judge->arena, sizeof(struct judge_call));
    struct judge_call *call = call_at(judge, made);

    memset(call, 0, sizeof *call);
    call->nth = (uint64_t)event->number[ALAR_FIELD_NTH];
    call->signature = call_signature(event);
    call->number = number;
    call->rank = (uint32_t)event->number[ALAR_FIELD_RANK];
    call->place = event->place;
    alar_text_keep(event->text[ALAR_FIELD_FUNCTION], call->name, sizeof call->name);
    if (event->has[ALAR_FIELD_SRC]) {
        alar_text_keep(event->text[ALAR_FIELD_SRC], call->src, sizeof call->src);
    }
    if (group->newest_call) {
        call_at(judge, group->newest_call)->next = made;
    } else {
        group->oldest_call = made;
    }
    group->newest_call = made;
    return made;
}

static void call_show(struct alar_evidence *evidence, const struct judge_call *call)
{
    struct alar_witness_event *witness = &evidence->witness[evidence->witness_count++];

    witness->record = ALAR_RECORD_CALL;
    witness->place = call->place;
    witness->rank = call->rank;
    memcpy(witness->src, call->src, sizeof witness->src);
}

/* Two ranks made different calls at one place: what follows in this group is an echo. spec: H-34 */
static void call_differs(struct alar_judge *judge, struct judge_group *group,
                         const struct judge_call *call, uint64_t number)
{
    const struct alar_event *event = judge->event;
    uint32_t rank = (uint32_t)event->number[ALAR_FIELD_RANK];
    struct alar_evidence *evidence =
        judge_found(judge, ALAR_ANOMALY_MISMATCH_CALL, NULL, call->rank);
    uint64_t from = call->number < number ? call->number : number;

    group->is_call_unsure = true;
    group->mismatch = from < group->mismatch ? from : group->mismatch;
    if (!evidence) {
        return;
    }
    alar_list_add(&evidence->ranks, rank);
    evidence->has_op = false;
    memcpy(evidence->group, group->name, sizeof evidence->group);
    memcpy(evidence->name[0], call->name, sizeof evidence->name[0]);
    alar_text_keep(event->text[ALAR_FIELD_FUNCTION], evidence->name[1], sizeof evidence->name[1]);
    evidence->amount[0] = call->nth;
    call_show(evidence, call);
    judge_show_event(judge, evidence);
}

/* All members have made the oldest call: it is forgotten. Who made it last has made the ones
   before, so members that have reached just this one begin at the oldest that is left. */
static void call_retire(struct alar_judge *judge, struct judge_group *group)
{
    uint64_t oldest = group->oldest_call;
    uint64_t *reached = alar_arena_at(judge->arena, group->reached);

    for (uint32_t m = 0; m < group->members; m++) {
        reached[m] = reached[m] == oldest ? 0 : reached[m];
    }
    group->oldest_call = call_at(judge, oldest)->next;
    group->newest_call = group->oldest_call ? group->newest_call : 0;
    alar_arena_give(judge->arena, oldest, sizeof(struct judge_call));
}

/* Compares a member's next call with the one that another member made there. */
static enum alar_status call_compare(struct alar_judge *judge, uint64_t made, uint32_t member,
                                     uint64_t number)
{
    struct judge_group *group = judge_group_at(judge, made);
    uint64_t nth = (uint64_t)judge->event->number[ALAR_FIELD_NTH];

    if (!group->reached) {
        uint64_t reached = alar_arena_take(judge->arena, group->members * sizeof(uint64_t));
        uint64_t calls = alar_arena_take(judge->arena, group->members * sizeof(uint64_t));

        group = judge_group_at(judge, made);
        group->reached = reached;
        group->calls = calls;
    }
    uint64_t *reached = (uint64_t *)alar_arena_at(judge->arena, group->reached) + member;
    uint64_t *calls = (uint64_t *)alar_arena_at(judge->arena, group->calls) + member;
    if (nth != *calls) {
        return judge_complain_numbers(judge, ALAR_FIELD_NTH, "call", (int64_t)*calls, "call",
                                      (int64_t)nth);
    }
    ++*calls;
    if (group->is_call_unsure) {
        return ALAR_OK;
    }
    uint64_t next = *reached ? call_at(judge, *reached)->next : group->oldest_call;
    next = next ? next : call_make(judge, group, number);
    reached = (uint64_t *)alar_arena_at(judge->arena, group->reached) + member;
    struct judge_call *call = call_at(judge, next);
    *reached = next;
    if (call->signature != call_signature(judge->event)) {
        call_differs(judge, group, call, number);
    } else if (++call->made == group->members) {
        INV("the oldest call is the first that all have made", next == group->oldest_call);
        call_retire(judge, group);
    }
    return ALAR_OK;
}

enum alar_status judge_call_of_issue(struct alar_judge *judge, uint64_t group, uint32_t member)
{
    const struct alar_event *event = judge->event;

    if (!event->has[ALAR_FIELD_NTH] || !event->has[ALAR_FIELD_FUNCTION]) {
        return ALAR_OK;
    }
    return call_compare(judge, group, member, (uint64_t)event->number[ALAR_FIELD_OP]);
}

enum alar_status judge_call(struct alar_judge *judge)
{
    static const struct alar_text world = {"world", 5};
    const struct alar_event *event = judge->event;
    struct alar_text name = event->has[ALAR_FIELD_GROUP] ? event->text[ALAR_FIELD_GROUP] : world;
    uint64_t group = judge_group_find(judge, name);
    uint32_t member;

    group = group ? group : judge_group_make(judge, name, NULL, 0);
    const struct judge_group *found = judge_group_at(judge, group);
    if (!judge_member_find(judge, found, (uint32_t)event->number[ALAR_FIELD_RANK], &member)) {
        return judge_complain(judge, ALAR_FIELD_RANK, "a member of the group", "another rank");
    }
    uint64_t expected = ((const uint64_t *)alar_arena_at(judge->arena, found->expected))[member];
    return call_compare(judge, group, member, expected == JUDGE_NEVER ? 0 : expected);
}

/* A finding without an operation, made wider by each rank that has it too. */
static struct alar_evidence *finding_widened(struct alar_judge *judge, enum alar_anomaly anomaly,
                                             uint32_t rank)
{
    for (uint32_t k = 0; k < judge->verdict.finding_count; k++) {
        struct alar_evidence *kept = &judge->verdict.finding[k];

        if (kept->anomaly == anomaly) {
            alar_list_add(&kept->ranks, rank);
            return kept;
        }
    }
    return judge_found(judge, anomaly, NULL, rank);
}

/* The record's function, caller and time, as a place where the rank is. */
static void stand_read(struct alar_judge *judge, struct alar_stand *stand)
{
    const struct alar_event *event = judge->event;

    memset(stand, 0, sizeof *stand);
    stand->place = event->place;
    stand->rank = (uint32_t)event->number[ALAR_FIELD_RANK];
    stand->is_in_call = event->has[ALAR_FIELD_FUNCTION];
    stand->has_peer = event->has[ALAR_FIELD_PEER];
    stand->peer = alar_event_number(event, ALAR_FIELD_PEER, 0);
    stand->t = alar_event_number(event, ALAR_FIELD_T, 0);
    stand->since = alar_event_number(event, ALAR_FIELD_SINCE, stand->t);
    if (stand->is_in_call) {
        alar_text_keep(event->text[ALAR_FIELD_FUNCTION], stand->call, sizeof stand->call);
    }
    if (event->has[ALAR_FIELD_SRC]) {
        alar_text_keep(event->text[ALAR_FIELD_SRC], stand->src, sizeof stand->src);
    }
}

/* One that ends the job counts when nothing but the end follows: a library may also warn. */
enum alar_status judge_refuse(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    uint32_t rank = (uint32_t)event->number[ALAR_FIELD_RANK];
    uint64_t group =
        event->has[ALAR_FIELD_GROUP] ? judge_group_find(judge, event->text[ALAR_FIELD_GROUP]) : 0;

    if (alar_event_number(event, ALAR_FIELD_FATAL, 0)) {
        stand_read(judge, &judge_rank_at(judge, rank)->stand);
        judge_rank_at(judge, rank)->stand.is_refused = true;
        return ALAR_OK;
    }
    if (group) {
        judge_group_at(judge, group)->is_call_unsure = true;
    }
    struct alar_evidence *evidence = finding_widened(judge, ALAR_ANOMALY_CALL_REFUSED, rank);
    if (evidence && !evidence->name[0][0]) {
        alar_text_keep(event->text[ALAR_FIELD_FUNCTION], evidence->name[0],
                       sizeof evidence->name[0]);
        alar_text_keep(event->has[ALAR_FIELD_TEXT] ? event->text[ALAR_FIELD_TEXT]
                                                   : (struct alar_text){NULL, 0},
                       evidence->name[1], sizeof evidence->name[1]);
        judge_show_event(judge, evidence);
    }
    return ALAR_OK;
}

enum alar_status judge_stand(struct alar_judge *judge)
{
    stand_read(judge,
               &judge_rank_at(judge, (uint32_t)judge->event->number[ALAR_FIELD_RANK])->stand);
    return ALAR_OK;
}

/* Is it an echo of what hangs as an operation, or failed? */
static bool is_hang_named(const struct alar_verdict *verdict)
{
    for (unsigned a = 0; a < ALAR_ANOMALY_HANG; a++) {
        if (verdict->found[a]) {
            return true;
        }
    }
    return false;
}

static void stand_found(struct alar_judge *judge, enum alar_anomaly anomaly,
                        const struct alar_stand *stand)
{
    struct alar_evidence *evidence = finding_widened(judge, anomaly, stand->rank);

    if (evidence && evidence->witness_count < ALAR_SCENES_MAX) {
        struct alar_witness_event *witness = &evidence->witness[evidence->witness_count++];

        witness->record = stand->is_refused ? ALAR_RECORD_REFUSE : ALAR_RECORD_STAND;
        witness->place = stand->place;
        witness->rank = stand->rank;
        witness->has_t = true;
        witness->t = stand->t;
        memcpy(witness->src, stand->src, sizeof witness->src);
        if (!evidence->name[0][0]) {
            memcpy(evidence->name[0], stand->call, sizeof evidence->name[0]);
        }
    }
}

/* Ranks that came to a call, and stood there for as long as the deadline; calls that were the end
   of the job. spec: H-32, H-33 */
void judge_stands_finish(struct alar_judge *judge)
{
    struct alar_verdict *verdict = &judge->verdict;
    bool is_named = is_hang_named(verdict);

    for (uint32_t r = 0; r < judge->setup.world; r++) {
        const struct judge_rank *rank = judge_rank_at(judge, r);
        const struct alar_stand *stand = &rank->stand;

        if (stand->place.line == 0) {
            continue;
        }
        if (stand->is_refused) {
            stand_found(judge, ALAR_ANOMALY_ILLEGAL_CALL, stand);
            continue;
        }
        if (rank->is_over && !judge->setup.is_bare) {
            continue;
        }
        if (verdict->stands++ < ALAR_LIST_MAX) {
            verdict->stand[verdict->stands - 1] = *stand;
        }
        if (!is_named && stand->is_in_call && judge->contract.deadline > 0 &&
            stand->t - stand->since >= judge->contract.deadline) {
            stand_found(judge, ALAR_ANOMALY_HANG, stand);
        }
    }
}
