/* Records about the history itself: headers, promises, groups, faults, ends. */
#include "judge/report/report.h"

#include <string.h>

/* A contract is given before it is needed, and given once: ranks may repeat it, not change it. */
static enum alar_status contract_field(struct alar_judge *judge, enum alar_field field,
                                       int64_t *kept)
{
    const struct alar_event *event = judge->event;

    if (!event->has[field]) {
        return ALAR_OK;
    }
    if (judge->is_contract_given[field] && *kept != event->number[field]) {
        return judge_complain(judge, field, "what other ranks promised", "another promise");
    }
    judge->is_contract_given[field] = true;
    *kept = event->number[field];
    return ALAR_OK;
}

static enum alar_status contract_read(struct alar_judge *judge)
{
    struct alar_contract *contract = &judge->contract;
    const struct alar_event *event = judge->event;
    int64_t wait = contract->is_stream, order = contract->is_fixed, use = contract->is_once;
    int64_t avg = (int64_t)contract->avg, nan = (int64_t)contract->nan, adder = contract->adder;
    int64_t width = contract->width < 0 ? -1 : contract->width, height = contract->height;

    ALAR_TRY(contract_field(judge, ALAR_FIELD_WAIT, &wait));
    ALAR_TRY(contract_field(judge, ALAR_FIELD_ORDER, &order));
    ALAR_TRY(contract_field(judge, ALAR_FIELD_USE, &use));
    ALAR_TRY(contract_field(judge, ALAR_FIELD_AVG, &avg));
    ALAR_TRY(contract_field(judge, ALAR_FIELD_NAN, &nan));
    ALAR_TRY(contract_field(judge, ALAR_FIELD_ADDER, &adder));
    ALAR_TRY(contract_field(judge, ALAR_FIELD_WIDTH, &width));
    ALAR_TRY(contract_field(judge, ALAR_FIELD_HEIGHT, &height));
    ALAR_TRY(contract_field(judge, ALAR_FIELD_DEADLINE, &contract->deadline));
    ALAR_TRY(contract_field(judge, ALAR_FIELD_OUTSTANDING, &contract->outstanding));
    ALAR_TRY(contract_field(judge, ALAR_FIELD_IN_PLACE, &contract->is_in_place));
    ALAR_TRY(contract_field(judge, ALAR_FIELD_ALLOWS_EMPTY, &contract->allows_empty));
    ALAR_TRY(contract_field(judge, ALAR_FIELD_NEEDS_PROGRESS, &contract->needs_progress));
    ALAR_TRY(contract_field(judge, ALAR_FIELD_CAN_BLOCK, &contract->can_block));
    contract->is_stream = wait != 0;
    contract->is_fixed = order != 0;
    contract->is_once = use != 0;
    contract->avg = (enum alar_avg)avg;
    contract->nan = (enum alar_nan_policy)nan;
    contract->adder = (uint32_t)adder;
    contract->width = (int32_t)width;
    contract->height = (uint32_t)height;
    if (event->has[ALAR_FIELD_TREE]) {
        struct alar_tree_name name;

        alar_text_keep(event->text[ALAR_FIELD_TREE], contract->tree, sizeof contract->tree);
        if (alar_tree_name_find(contract->tree, judge->setup.world, &name) != ALAR_OK) {
            return judge_complain(judge, ALAR_FIELD_TREE, "the name of a tree", "another name");
        }
    }
    return ALAR_OK;
}

/* What the rank's recorder sees; of several recorders, what all of them do. Other words are passed
   over. spec: O-116 */
static void sees_read(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    struct alar_verdict *verdict = &judge->verdict;
    struct alar_text text = event->text[ALAR_FIELD_SEES];
    bool is_first = !verdict->has_headers;
    uint32_t sees = 0;

    for (size_t begin = 0, at = 0; event->has[ALAR_FIELD_SEES] && at <= text.length; at++) {
        if (at < text.length && text.data[at] != ' ') {
            continue;
        }
        for (unsigned k = 0; k < ALAR_SEES_COUNT; k++) {
            struct alar_text word = {text.data + begin, at - begin};

            sees |= alar_text_is(word, alar_sees_word(k)) ? 1u << k : 0;
        }
        begin = at + 1;
    }
    verdict->has_headers = true;
    verdict->has_sees = event->has[ALAR_FIELD_SEES] && (is_first || verdict->has_sees);
    verdict->sees = is_first ? sees : verdict->sees & sees;
}

static void loop_read(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    struct alar_loop *loop = &judge->loop;

    loop->normalization =
        (int32_t)alar_event_number(event, ALAR_FIELD_NORMALIZATION, loop->normalization);
    loop->over = (int32_t)alar_event_number(event, ALAR_FIELD_OVER, loop->over);
    loop->encoding = (int32_t)alar_event_number(event, ALAR_FIELD_ENCODING, loop->encoding);
    loop->check_for_nan =
        (int32_t)alar_event_number(event, ALAR_FIELD_CHECK_FOR_NAN, loop->check_for_nan);
    loop->wait_at = (int32_t)alar_event_number(event, ALAR_FIELD_WAIT_AT, loop->wait_at);
    loop->microbatches = alar_event_number(event, ALAR_FIELD_MICROBATCHES, loop->microbatches);
    loop->report_interval =
        alar_event_number(event, ALAR_FIELD_LOG_INTERVAL, loop->report_interval);
    if (event->has[ALAR_FIELD_SCHEDULE]) {
        alar_text_keep(event->text[ALAR_FIELD_SCHEDULE], loop->schedule, sizeof loop->schedule);
    }
    judge_report_loop(judge);
}

/* Ranks with one clock have one leader, whichever of their headers comes first. */
static void clock_leader(struct alar_judge *judge, struct judge_rank *rank, uint32_t number)
{
    uint64_t known = alar_table_get(judge->arena, &judge->clocks, rank->clock);

    rank->leader = known ? (uint32_t)known - 1 : number;
    if (!known) {
        alar_table_put(judge->arena, &judge->clocks, rank->clock, (uint64_t)number + 1);
    }
}

/* The clock of one rank: ticks are shared by all, clocks only within a host. spec: O-02 */
static void trace_clock(struct alar_judge *judge, uint32_t number)
{
    const struct alar_event *event = judge->event;
    struct judge_rank *rank = judge_rank_at(judge, number);

    rank->has_trace = true;
    if (event->has[ALAR_FIELD_CLOCK] && event->number[ALAR_FIELD_CLOCK] == 0) {
        rank->clock = JUDGE_TICKS;
    } else if (event->has[ALAR_FIELD_HOST] && event->has[ALAR_FIELD_T0] &&
               event->has[ALAR_FIELD_BOOT_ID]) { /* hosts may share a name */
        rank->clock = (alar_text_hash(event->text[ALAR_FIELD_HOST]) | 2) ^
                      (alar_text_hash(event->text[ALAR_FIELD_BOOT_ID]) & ~UINT64_C(3));
        rank->t0 = event->number[ALAR_FIELD_T0];
    }
    clock_leader(judge, rank, number);
}

enum alar_status judge_trace(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    uint32_t first = (uint32_t)alar_event_number(event, ALAR_FIELD_RANK, 0);
    uint32_t last = event->has[ALAR_FIELD_RANK] ? first : judge->setup.world - 1;

    for (uint32_t r = first; r <= last; r++) {
        struct judge_rank *rank = judge_rank_at(judge, r);

        if (rank->has_trace || rank->has_issued) {
            return judge_complain(judge, ALAR_FIELD_EV, "one header, before anything else",
                                  "a header in the middle");
        }
        trace_clock(judge, r);
    }
    if (alar_event_number(event, ALAR_FIELD_V, 1) != 1) {
        return judge_complain_numbers(judge, ALAR_FIELD_V, "format version", 1, "version",
                                      event->number[ALAR_FIELD_V]);
    }
    if (event->has[ALAR_FIELD_WORLD] &&
        event->number[ALAR_FIELD_WORLD] != (int64_t)judge->setup.world) {
        return judge_complain_numbers(judge, ALAR_FIELD_WORLD, "world", judge->setup.world, "world",
                                      event->number[ALAR_FIELD_WORLD]);
    }
    loop_read(judge);
    sees_read(judge);
    return contract_read(judge);
}

enum alar_status judge_contract(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;

    if (event->has[ALAR_FIELD_RANK] &&
        judge_rank_at(judge, (uint32_t)event->number[ALAR_FIELD_RANK])->has_issued) {
        return judge_complain(judge, ALAR_FIELD_EV, "the contract before the first issue",
                              "a contract after it");
    }
    return contract_read(judge);
}

/* Members that a record gives a group: ranks of the world. Of `world` itself they are all of them;
   when a record says otherwise, somebody is absent, or was not recorded. spec: O-113
   Errors: ALAR_E_INPUT, complained about. */
enum alar_status judge_members(struct alar_judge *judge, struct alar_text group)
{
    const struct alar_event *event = judge->event;
    const struct alar_value *rank = event->list[ALAR_FIELD_MEMBERS];
    int64_t count = alar_event_number(event, ALAR_FIELD_MEMBERS, 0);
    bool is_world = alar_text_is(group, "world");

    for (int64_t k = 0; event->has[ALAR_FIELD_MEMBERS] && !is_world && k < count; k++) {
        if (rank[k].bits >= judge->setup.world) {
            return judge_complain_numbers(judge, ALAR_FIELD_MEMBERS, "ranks below",
                                          judge->setup.world, "rank", (int64_t)rank[k].bits);
        }
    }
    if (event->has[ALAR_FIELD_MEMBERS] && is_world &&
        (count != (int64_t)judge->setup.world || rank[count - 1].bits >= judge->setup.world)) {
        judge->absent = judge->has_absent ? judge->absent : event->place;
        judge->has_absent = true;
    }
    return ALAR_OK;
}

/* A rank that declares a group claims its members; a record without `rank` claims them for all. */
static void declare_members(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    struct alar_text name = event->text[ALAR_FIELD_GROUP];
    int64_t rank = alar_event_number(event, ALAR_FIELD_RANK, -1);
    uint64_t at = judge_group_find(judge, name);

    if (at) {
        judge_group_narrow(judge, at);
    } else {
        at = judge_group_make(judge, name, event->list[ALAR_FIELD_MEMBERS],
                              (uint32_t)event->number[ALAR_FIELD_MEMBERS]);
    }
    const struct judge_group *group = judge_group_at(judge, at);
    uint64_t *claim = alar_arena_at(judge->arena, group->claim);
    for (uint32_t m = 0; m < group->members; m++) {
        if (rank < 0 || judge_member_rank(judge, group, m) == (uint32_t)rank) {
            claim[m] = judge_members_hash(event);
        }
    }
}

enum alar_status judge_declare(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;

    if (event->has[ALAR_FIELD_GROUP]) {
        ALAR_TRY(judge_members(judge, event->text[ALAR_FIELD_GROUP]));
    }
    if (event->has[ALAR_FIELD_GROUP] && event->has[ALAR_FIELD_MEMBERS]) {
        declare_members(judge);
    }
    judge_report_declare(judge);
    return ALAR_OK;
}

enum alar_status judge_over(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    uint32_t first = (uint32_t)alar_event_number(event, ALAR_FIELD_RANK, 0);
    uint32_t last = event->has[ALAR_FIELD_RANK] ? first : judge->setup.world - 1;

    for (uint32_t r = first; r <= last; r++) {
        struct judge_rank *rank = judge_rank_at(judge, r);

        if (event->has[ALAR_FIELD_T] && (!rank->has_t || rank->t < event->number[ALAR_FIELD_T])) {
            rank->has_t = true; /* an end without `rank` ends all ranks at that time */
            rank->t = event->number[ALAR_FIELD_T];
        }
        rank->is_over = true;
        rank->is_killed = rank->is_killed || alar_event_number(event, ALAR_FIELD_CODE, 0) < 0;
        rank->is_given_up = rank->is_given_up || alar_event_number(event, ALAR_FIELD_CODE, 0) != 0;
        rank->is_exited = event->record == ALAR_RECORD_EXIT; /* an `end` after it says: in order */
    }
    return ALAR_OK;
}

enum alar_status judge_fault(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    struct alar_verdict *verdict = &judge->verdict;
    uint32_t k = verdict->fault_count++;

    if (k < ALAR_FAULTS_MAX) {
        struct alar_fault_seen *fault = &verdict->fault[k];

        fault->excuse = alar_excuse_of_point(event->text[ALAR_FIELD_POINT]);
        fault->place = event->place;
        fault->rank = (uint32_t)alar_event_number(event, ALAR_FIELD_RANK, ALAR_RANK_ALL);
        fault->has_op = event->has[ALAR_FIELD_OP];
        fault->number = (uint64_t)alar_event_number(event, ALAR_FIELD_OP, 0);
        alar_text_keep(event->text[ALAR_FIELD_POINT], fault->point, sizeof fault->point);
        if (event->has[ALAR_FIELD_RANK] && event->has[ALAR_FIELD_T]) {
            const struct judge_rank *rank = judge_rank_at(judge, fault->rank);

            fault->clock = rank->clock;
            fault->t = judge_time(event->number[ALAR_FIELD_T], rank->t0);
        }
        if (fault->has_op) {
            alar_text_keep(event->text[ALAR_FIELD_OP], fault->group, sizeof fault->group);
        }
    }
    return ALAR_OK;
}
