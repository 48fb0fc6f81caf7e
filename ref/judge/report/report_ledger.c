/* What one rank reduced of a metric, in its own order: the steps that its reports have to stand
   for. A step that is reduced again (retried, rolled back to, resumed from a checkpoint) replaces
   what it was before: the last attempt counts. */
#include "judge/report/report.h"

#include "base/check.h"

#include <string.h>

enum {
    LEDGER_ROOM = 64,   /* operations there is room for at first */
    LEDGER_MOST = 65536 /* kept of a rank that does not report them; older ones are let go */
};

struct judge_due *report_ledger_due(const struct alar_judge *judge,
                                    const struct judge_ledger *ledger)
{
    return alar_arena_at(judge->arena, ledger->due);
}

struct judge_ledger *report_ledger_find(const struct alar_judge *judge,
                                        const struct judge_metric *metric, uint32_t rank)
{
    const uint64_t *ledger = metric->ledger ? alar_arena_at(judge->arena, metric->ledger) : NULL;

    return ledger != NULL && ledger[rank] ? alar_arena_at(judge->arena, ledger[rank]) : NULL;
}

/* Operations that can stand in a report of their step. */
static bool is_reportable(const struct judge_op *op)
{
    return op->step >= 0 && (op->key_hash != 0 || op->pairs > 0);
}

/* Which entries before the one at `at` it replaces: with a microbatch of its own, that microbatch,
   or all of the step when it begins with its least one again; without, the whole step. Where steps
   went back, what was reduced of later ones is void as well. */
static void ledger_replace(struct judge_ledger *ledger, struct judge_due *due, uint32_t at)
{
    struct judge_due *mine = &due[at];
    int64_t least = mine->mb;
    bool is_again = false;

    for (uint32_t k = at; k-- > 0 && (due[k].step >= mine->step || mine->step < ledger->latest);) {
        if (due[k].step == mine->step && !due[k].is_replaced && due[k].group == mine->group) {
            is_again = is_again || due[k].mb == mine->mb;
            least = due[k].mb < least ? due[k].mb : least;
        }
    }
    for (uint32_t k = at; is_again && k-- > 0;) {
        bool is_void = mine->step < ledger->latest && due[k].step > mine->step;
        bool is_same = due[k].step == mine->step && (due[k].mb == mine->mb || least == mine->mb);

        if ((is_void || is_same) && !due[k].is_replaced && due[k].group == mine->group) {
            due[k].is_replaced = true;
            due[k].is_unlabelled = is_same && due[k].mb < 0 && mine->step >= ledger->latest;
        }
    }
    if (is_again) {
        ledger->latest = mine->step;
    } else if (mine->step > ledger->latest) {
        bool is_one = at > 0 && due[at - 1].mb < 0 && !due[at - 1].is_replaced &&
                      (at < 2 || due[at - 2].step != due[at - 1].step);

        ledger->is_single = ledger->is_single || is_one;
        ledger->latest = mine->step;
    }
}

static struct judge_due due_make(const struct judge_metric *metric, const struct judge_op *op,
                                 int64_t step, int64_t mb)
{
    return (struct judge_due){.group = op->group,
                              .number = op->number,
                              .step = step,
                              .mb = mb,
                              .is_named = op->key_hash != 0 && metric != NULL};
}

/* Inserts what was issued before the ledger began: by number within a group. */
static void ledger_insert(struct judge_ledger *ledger, struct judge_due *due,
                          const struct judge_due *made)
{
    uint32_t at = ledger->count++;

    while (at > 0 && due[at - 1].group == made->group && due[at - 1].number > made->number) {
        due[at] = due[at - 1];
        at--;
    }
    due[at] = *made;
}

/* Everything that its rank has issued of the metric and that is still known. */
static void ledger_fill(struct alar_judge *judge, const struct judge_metric *metric,
                        struct judge_ledger *ledger)
{
    struct judge_due *due = report_ledger_due(judge, ledger);
    const uint64_t chain[] = {judge->log.oldest, judge->oldest};
    uint32_t member;

    for (unsigned c = 0; c < 2; c++) {
        for (uint64_t at = chain[c]; at; at = judge_op_at(judge, at)->newer) {
            const struct judge_op *op = judge_op_at(judge, at);
            bool is_mine =
                judge_member_find(judge, judge_group_at(judge, op->group), ledger->rank, &member) &&
                (c == 0 || judge_entry_at(judge, op, member)->life != JUDGE_FREE);

            if (is_mine && is_reportable(op) && judge_report_is_of(judge, op, metric)) {
                struct judge_due made = due_make(metric, op, op->step, op->mb);

                ledger_insert(ledger, due, &made);
            }
        }
    }
    for (uint32_t k = 0; k < ledger->count; k++) {
        ledger_replace(ledger, due, k);
    }
}

/* The rank's ledger, begun at its first report. */
struct judge_ledger *report_ledger_open(struct alar_judge *judge, struct judge_metric *metric,
                                        uint32_t rank)
{
    if (metric->ledger == 0) {
        metric->ledger = alar_arena_take(judge->arena, judge->setup.world * sizeof(uint64_t));
    }
    uint64_t *made = (uint64_t *)alar_arena_at(judge->arena, metric->ledger) + rank;

    if (*made == 0) {
        uint32_t room = (uint32_t)(judge->log.kept + judge->live) + LEDGER_ROOM;

        *made = alar_arena_take(judge->arena, sizeof(struct judge_ledger));
        struct judge_ledger *ledger = alar_arena_at(judge->arena, *made);

        ledger->rank = rank;
        ledger->latest = -1;
        ledger->room = room;
        ledger->due = alar_arena_take(judge->arena, room * sizeof(struct judge_due));
        ledger_fill(judge, metric, ledger);
    }
    return alar_arena_at(judge->arena, *made);
}

/* Nothing is asked of it any more: reported everywhere, or replaced. */
static bool due_is_over(const struct judge_ledger *ledger, const struct judge_due *due)
{
    return due->is_replaced || due->sinks == (1u << ledger->sinks) - 1;
}

/* Drops the oldest entries that are over, as long as reports may still be held against the rest. */
static void ledger_drop(const struct alar_judge *judge, struct judge_ledger *ledger)
{
    struct judge_due *due = report_ledger_due(judge, ledger);
    uint64_t kept = judge->log.kept_max;
    uint32_t from = 0;

    while (from < ledger->count && ledger->count - from > kept &&
           (due_is_over(ledger, &due[from]) || ledger->count - from >= LEDGER_MOST)) {
        from++;
    }
    ledger->count -= from;
    memmove(due, due + from, ledger->count * sizeof *due);
}

size_t report_ledger_headroom(const struct alar_judge *judge, const struct alar_event *event)
{
    uint32_t rank = (uint32_t)alar_event_number(event, ALAR_FIELD_RANK, 0);
    size_t first = (size_t)(judge->log.kept + judge->live) + LEDGER_ROOM, room = 0;

    if (rank >= judge->setup.world) {
        return 0;
    }
    if (event->record == ALAR_RECORD_REPORT) {
        return alar_arena_block(judge->setup.world * sizeof(uint64_t)) +
               alar_arena_block(sizeof(struct judge_ledger)) +
               alar_arena_block(first * sizeof(struct judge_due));
    }
    for (uint64_t m = judge->log.metric; m; m = judge_metric_at(judge, m)->next) {
        const struct judge_ledger *ledger =
            report_ledger_find(judge, judge_metric_at(judge, m), rank);

        if (ledger != NULL && ledger->count == ledger->room) {
            room += alar_arena_block(2 * (size_t)ledger->room * sizeof(struct judge_due));
        }
    }
    return room;
}

static void ledger_grow(struct alar_judge *judge, struct judge_ledger *ledger)
{
    uint64_t old = ledger->due;
    size_t bytes = ledger->room * sizeof(struct judge_due);

    if (ledger->count < ledger->room) {
        return;
    }
    ledger_drop(judge, ledger);
    if (2 * ledger->count <= ledger->room) {
        return;
    }
    ledger->due = alar_arena_take(judge->arena, 2 * bytes);
    memcpy(alar_arena_at(judge->arena, ledger->due), alar_arena_at(judge->arena, old), bytes);
    alar_arena_give(judge->arena, old, bytes);
    ledger->room *= 2;
}

/* A report had this step on its label before it was reduced. spec: O-53 */
static void ledger_label(struct alar_judge *judge, const struct judge_metric *metric,
                         struct judge_ledger *ledger, int64_t step)
{
    for (uint32_t k = 0; k < ledger->sinks; k++) {
        struct judge_sink *sink = &ledger->sink[k];

        if (!sink->is_early && step > sink->latest && step >= sink->first_step &&
            step <= sink->step) {
            sink->is_early = true;
            report_found(judge, ALAR_ANOMALY_SHIFTED_LABEL, metric,
                         (struct report_about){ledger->rank, step, sink->place, {0, 0}});
        }
    }
}

/* A rank issues an operation: what it says of it is `mine`. */
void report_ledger_issue(struct alar_judge *judge, const struct judge_op *op,
                         const struct judge_op *mine, uint32_t rank)
{
    struct judge_op as_said = *op;

    as_said.step = mine->step;
    for (uint64_t m = judge->log.metric; m && is_reportable(&as_said);
         m = judge_metric_at(judge, m)->next) {
        const struct judge_metric *metric = judge_metric_at(judge, m);

        if (report_ledger_find(judge, metric, rank) != NULL &&
            judge_report_is_of(judge, op, metric)) {
            struct judge_ledger *ledger = report_ledger_find(judge, metric, rank);

            ledger_label(judge, metric, ledger, mine->step);
            ledger_grow(judge, ledger);
            struct judge_due *due = report_ledger_due(judge, ledger);
            due[ledger->count] = due_make(metric, op, mine->step, mine->mb);
            ledger_replace(ledger, due, ledger->count);
            ledger->count++;
        }
    }
}
