/* The judge's front door: what every record must satisfy, what each kind of record goes to, and how
   the verdict follows from what was found. */
#include "judge/report/report.h"

#include "base/check.h"

#include <string.h>

static const struct alar_text world_name = {"world", 5};

size_t alar_judge_size(void)
{
    return sizeof(struct alar_judge);
}

enum alar_status alar_judge_start(struct alar_judge *judge, struct alar_arena *arena,
                                  const struct alar_judge_setup *setup)
{
    if (setup->world == 0 || setup->scratch.bytes < alar_judge_scratch_bytes(setup->world)) {
        return ALAR_E_RANGE;
    }
    memset(judge, 0, sizeof *judge);
    judge->arena = arena;
    judge->setup = *setup;
    judge->verdict.finding = setup->findings != NULL ? setup->findings : judge->kept;
    judge->verdict.finding_room = setup->findings != NULL ? setup->finding_room : ALAR_FINDINGS_MAX;
    judge_report_start(judge);
    judge->has_all_names = true;
    judge->verdict.claimed = -1;
    judge->contract.width = -1;
    judge->loop = (struct alar_loop){-1, -1, -1, -1, -1, -1, -1, ""};
    judge->rank = alar_arena_take(arena, setup->world * sizeof(struct judge_rank));
    judge->buckets = JUDGE_BUCKETS;
    judge->bucket = alar_arena_take(arena, JUDGE_BUCKETS * sizeof(uint64_t));
    judge_group_make(judge, world_name, NULL, 0);
    for (uint32_t r = 0; setup->is_bare && r < setup->world; r++) {
        judge_rank_at(judge, r)->is_over = true;
        judge_rank_at(judge, r)->clock = JUDGE_TICKS;
    }
    return ALAR_OK;
}

static enum alar_status event_dispatch(struct alar_judge *judge)
{
    switch (judge->event->record) {
    case ALAR_RECORD_TRACE:
        return judge_trace(judge);
    case ALAR_RECORD_CONTRACT:
        return judge_contract(judge);
    case ALAR_RECORD_DECLARE:
        return judge_declare(judge);
    case ALAR_RECORD_ISSUE:
        return judge_issue(judge);
    case ALAR_RECORD_READ:
    case ALAR_RECORD_WRITE:
    case ALAR_RECORD_ALLOC:
    case ALAR_RECORD_FREE:
    case ALAR_RECORD_DROP:
    case ALAR_RECORD_CANCEL:
        return judge_storage(judge);
    case ALAR_RECORD_ABORT:
        judge_everything(judge);
        judge_aborted(judge);
        return ALAR_OK;
    case ALAR_RECORD_SYNC:
        judge_everything(judge);
        return ALAR_OK;
    case ALAR_RECORD_EXIT:
    case ALAR_RECORD_END:
        return judge_over(judge);
    case ALAR_RECORD_FAULT:
        return judge_fault(judge);
    case ALAR_RECORD_ANSWER:
        return judge_said(judge);
    case ALAR_RECORD_CALL:
        return judge_call(judge);
    case ALAR_RECORD_REFUSE:
        return judge_refuse(judge);
    case ALAR_RECORD_STAND:
        return judge_stand(judge);
    case ALAR_RECORD_REPORT:
        return judge_report_report(judge);
    default:
        return judge_life(judge);
    }
}

/* What holds for every record of a rank: it exists, nothing follows its end, numbers have no gaps
   and time does not run backwards. spec: O-01 */
static enum alar_status event_check(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;

    if (!event->has[ALAR_FIELD_RANK]) {
        return ALAR_OK;
    }
    if (event->number[ALAR_FIELD_RANK] >= (int64_t)judge->setup.world) {
        return judge_complain_numbers(judge, ALAR_FIELD_RANK, "a rank below", judge->setup.world,
                                      "rank", event->number[ALAR_FIELD_RANK]);
    }
    struct judge_rank *rank = judge_rank_at(judge, (uint32_t)event->number[ALAR_FIELD_RANK]);

    if (rank->is_over && !judge->setup.is_bare &&
        !(rank->is_exited && event->record == ALAR_RECORD_END)) {
        return judge_complain(judge, ALAR_FIELD_EV, "nothing after the end of the rank",
                              "a record");
    }
    if (event->has[ALAR_FIELD_I]) {
        if (event->number[ALAR_FIELD_I] != (int64_t)rank->next_i) {
            return judge_complain_numbers(judge, ALAR_FIELD_I, "running number",
                                          (int64_t)rank->next_i, "number",
                                          event->number[ALAR_FIELD_I]);
        }
        rank->next_i++;
    }
    if (event->has[ALAR_FIELD_T]) {
        if (rank->has_t && event->number[ALAR_FIELD_T] < rank->t) {
            return judge_complain_numbers(judge, ALAR_FIELD_T, "time at least", rank->t, "time",
                                          event->number[ALAR_FIELD_T]);
        }
        rank->has_t = true;
        rank->t = event->number[ALAR_FIELD_T];
    }
    rank->has_any = true;
    rank->last = event->place;
    if (event->record != ALAR_RECORD_EXIT && event->record != ALAR_RECORD_FAIL) {
        rank->stand.place = (struct alar_place){0, 0}; /* it went on */
    }
    return ALAR_OK;
}

enum alar_status alar_judge_event(struct alar_judge *judge, const struct alar_event *event)
{
    /* The caller has just asked for that number; each block that is taken claims its room anew. */
    DEEP(PRE(alar_arena_room(judge->arena) >= alar_judge_headroom(judge, event)));
    judge->event = event;
    judge->verdict.events++;
    ALAR_TRY(event_check(judge));
    return event_dispatch(judge);
}

void alar_judge_cut(struct alar_judge *judge, uint32_t rank, struct alar_place place)
{
    uint32_t first = rank == ALAR_RANK_ALL ? 0 : rank;
    uint32_t last = rank == ALAR_RANK_ALL ? judge->setup.world - 1 : rank;

    PRE(last < judge->setup.world);
    for (uint32_t r = first; r <= last; r++) {
        judge_rank_at(judge, r)->is_over = false;
        judge_rank_at(judge, r)->has_any = true;
        judge_rank_at(judge, r)->last = place;
    }
}

static void finish_ranks(struct alar_judge *judge)
{
    for (uint32_t r = 0; r < judge->setup.world; r++) {
        const struct judge_rank *rank = judge_rank_at(judge, r);

        if (!judge->setup.is_bare && rank->has_any && !rank->has_trace) {
            judge_unknown(judge, ALAR_UNKNOWN_NO_TRACE, rank->last, r);
        }
        if (rank->is_over) {
            continue;
        }
        judge_unknown(
            judge, rank->has_any || rank->has_trace ? ALAR_UNKNOWN_NO_END : ALAR_UNKNOWN_NO_RECORD,
            rank->last, r);
    }
}

static bool list_holds(const struct alar_list *list, uint64_t item)
{
    for (uint32_t k = 0; k < list->count && k < ALAR_LIST_MAX; k++) {
        if (list->item[k] == item) {
            return true;
        }
    }
    return false;
}

static bool is_same_op(const struct alar_fault_seen *fault, const struct alar_evidence *evidence)
{
    return fault->number == evidence->number && strcmp(fault->group, evidence->group) == 0;
}

/* A wrong value on which a rank was lost too is laid at the lost rank's door; a fault that changed
   the value itself explains it as well. */
static enum alar_excuse excuse_of(const struct alar_evidence *evidence)
{
    return evidence->anomaly == ALAR_ANOMALY_ABORT_AS_SUCCESS && evidence->has_found
               ? ALAR_EXCUSE_VALUE
               : alar_anomaly_excuse(evidence->anomaly);
}

/* Is the struck rank one of the group? Unknown groups, and faults that name no rank, are not. */
static bool is_member(const struct alar_judge *judge, const struct alar_evidence *evidence,
                      uint32_t rank)
{
    struct alar_text name = {evidence->group, strlen(evidence->group)};
    uint64_t group = judge_group_find(judge, name);
    uint32_t member;

    return group && judge_member_find(judge, judge_group_at(judge, group), rank, &member);
}

/* Ranks that joined did their part, unless they are culprits. Of long lists the first ones are
   kept; what is not missing has joined then. */
static bool is_through(const struct alar_judge *judge, const struct alar_evidence *evidence,
                       uint32_t rank)
{
    bool is_past_list = evidence->joined.count > ALAR_LIST_MAX &&
                        evidence->missing.count <= ALAR_LIST_MAX &&
                        is_member(judge, evidence, rank);

    return list_holds(&evidence->joined, rank) || is_past_list;
}

/* Did it strike a rank that can have caused the finding? */
static bool is_concerned(const struct alar_judge *judge, const struct alar_evidence *evidence,
                         enum alar_excuse family, const struct alar_fault_seen *fault)
{
    if (fault->rank == ALAR_RANK_ALL || fault->excuse == ALAR_EXCUSE_ISSUE) {
        return true; /* a failed issue ends the run of all */
    }
    if (family == ALAR_EXCUSE_VALUE && evidence->has_op) {
        return is_member(judge, evidence, fault->rank);
    }
    return evidence->missing.count == 0 || list_holds(&evidence->missing, fault->rank) ||
           list_holds(&evidence->ranks, fault->rank) || !is_through(judge, evidence, fault->rank);
}

/* A fault excuses a finding of its family, on its operation, if it struck a rank concerned and came
   before all ranks were through. spec: O-07 */
static void finish_excuse(const struct alar_judge *judge, struct alar_evidence *evidence)
{
    const struct alar_verdict *verdict = &judge->verdict;
    enum alar_excuse family = excuse_of(evidence);

    for (uint32_t k = 0; k < verdict->fault_count && k < ALAR_FAULTS_MAX; k++) {
        const struct alar_fault_seen *fault = &verdict->fault[k];
        /* A rank that was struck holds up others in whatever they do next. */
        bool is_elsewhere = family != ALAR_EXCUSE_PEER && fault->has_op && evidence->has_op &&
                            !is_same_op(fault, evidence);
        bool is_after =
            (family == ALAR_EXCUSE_VALUE && k >= evidence->faults) ||
            (evidence->clock && fault->clock == evidence->clock && fault->t > evidence->told);
        bool is_family = fault->excuse == family ||
                         (family == ALAR_EXCUSE_PEER && fault->excuse == ALAR_EXCUSE_ISSUE);

        if (family != ALAR_EXCUSE_NONE && is_family && !is_elsewhere && !is_after &&
            is_concerned(judge, evidence, family, fault)) {
            evidence->excused = (int32_t)k;
            return;
        }
    }
}

/* What makes a history that shows nothing wrong no PASS; beside a FAIL it says nothing new.
   spec: O-113, O-114 */
static void finish_absent(struct alar_judge *judge)
{
    for (uint32_t r = 0; r < judge->setup.world; r++) {
        const struct judge_rank *rank = judge_rank_at(judge, r);

        if (rank->is_killed) {
            judge_unknown(judge, ALAR_UNKNOWN_KILLED, rank->last, r);
        } else if (rank->is_exited && !judge->setup.is_bare) {
            judge_unknown(judge, ALAR_UNKNOWN_NO_END, rank->last, r);
        }
    }
    judge_names_finish(judge);
    if (judge->has_absent) {
        judge_unknown(judge, ALAR_UNKNOWN_ABSENT, judge->absent, ALAR_RANK_ALL);
    }
    if (judge->verdict.judged + judge->verdict.given_up + judge->verdict.called +
            judge->verdict.empty <
        judge->verdict.operations) {
        judge_unknown(judge, ALAR_UNKNOWN_UNJUDGED, (struct alar_place){0, 0}, ALAR_RANK_ALL);
    }
}

static enum alar_verdict_kind finish_kind(const struct alar_verdict *verdict)
{
    for (unsigned a = 0; a < ALAR_ANOMALY_COUNT; a++) {
        if (verdict->found[a] && !alar_anomaly_is_note((enum alar_anomaly)a)) {
            return ALAR_FAIL;
        }
    }
    for (unsigned u = 0; u < ALAR_UNKNOWN_COUNT; u++) {
        if (verdict->unknown[u]) {
            return ALAR_UNKNOWN;
        }
    }
    return ALAR_PASS;
}

/* From what was found, and what was not. */
static void finish_verdict(struct alar_judge *judge)
{
    struct alar_verdict *verdict = &judge->verdict;

    for (uint32_t k = 0; k < verdict->finding_count; k++) {
        finish_excuse(judge, &verdict->finding[k]);
    }
    judge_headline(verdict);
    judge_provenance(judge);
    if (finish_kind(verdict) == ALAR_PASS) {
        finish_absent(judge);
    }
    verdict->kind = finish_kind(verdict);
}

void alar_judge_stop(struct alar_judge *judge, struct alar_place place, enum alar_limit limit,
                     uint64_t limited)
{
    judge->event = NULL;
    judge->verdict.limit = limit;
    judge->verdict.limited = limited;
    judge_unknown(judge, ALAR_UNKNOWN_LIMIT, place, ALAR_RANK_ALL);
    finish_verdict(judge);
}

void alar_judge_finish(struct alar_judge *judge)
{
    struct alar_verdict *verdict = &judge->verdict;

    judge->event = NULL;
    judge_leftovers(judge);
    judge_stands_finish(judge);
    finish_ranks(judge);
    judge_report_finish(judge);
    if (verdict->judged == 0) {
        judge_unknown(judge, ALAR_UNKNOWN_NOTHING, (struct alar_place){0, 0}, ALAR_RANK_ALL);
    }
    finish_verdict(judge);
}

const struct alar_verdict *alar_judge_verdict(const struct alar_judge *judge)
{
    return &judge->verdict;
}

const struct alar_judge_error *alar_judge_error_of(const struct alar_judge *judge)
{
    return &judge->error;
}

const struct alar_contract *alar_judge_contract(const struct alar_judge *judge)
{
    return &judge->contract;
}
