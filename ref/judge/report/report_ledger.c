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
    bool is_again = false, has_step = false;

    if (mine->step == ledger->latest && mine->mb > ledger->most) {
        ledger->most = mine->mb; /* the usual case: one more microbatch */
        return;
    }
    for (uint32_t k = at; k-- > 0 && (due[k].step >= mine->step || mine->step < ledger->latest);) {
        if (due[k].step == mine->step && !due[k].is_replaced && due[k].group == mine->group) {
            is_again = is_again || due[k].mb == mine->mb;
            least = due[k].mb < least ? due[k].mb : least;
        }
        has_step = has_step || due[k].step == mine->step;
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
        ledger->most = INT64_MAX;
    } else if (mine->step > ledger->latest) {
        bool is_one = at > 0 && due[at - 1].mb < 0 && !due[at - 1].is_replaced &&
                      (at < 2 || due[at - 2].step != due[at - 1].step);

        ledger->is_single = ledger->is_single || is_one;
        ledger->latest = mine->step;
        ledger->most = has_step ? INT64_MAX : mine->mb;
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

/* Is the entry at `at` where those before it lead one to look for it? */
static void ledger_sorted(struct judge_ledger *ledger, const struct judge_due *due, uint32_t at)
{
    ledger->is_sorted = at == 0 || (ledger->is_sorted && due[at - 1].step <= due[at].step);
    ledger->is_one_group = at == 0 || (ledger->is_one_group && due[at - 1].group == due[at].group);
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

/* The next operation from `at` on, in either list, that the rank has issued of the metric. */
static uint64_t fill_next(const struct alar_judge *judge, const struct judge_metric *metric,
                          uint32_t rank, uint64_t at, bool is_kept)
{
    uint32_t member;

    for (; at; at = judge_op_at(judge, at)->newer) {
        const struct judge_op *op = judge_op_at(judge, at);
        bool is_mine = judge_member_find(judge, judge_group_at(judge, op->group), rank, &member) &&
                       (is_kept || judge_entry_at(judge, op, member)->life != JUDGE_FREE);

        if (is_mine && is_reportable(op) && judge_report_is_of(judge, op, metric)) {
            return at;
        }
    }
    return 0;
}

static uint32_t fill_count(const struct alar_judge *judge, const struct judge_metric *metric,
                           uint32_t rank)
{
    const uint64_t list[] = {judge->log.oldest, judge->oldest};
    uint32_t count = 0;

    for (unsigned k = 0; k < 2; k++) {
        for (uint64_t at = fill_next(judge, metric, rank, list[k], k == 0); at;
             at = fill_next(judge, metric, rank, judge_op_at(judge, at)->newer, k == 0)) {
            count++;
        }
    }
    return count;
}

/* Everything that its rank has issued of the metric and that is still known. */
static void ledger_fill(struct alar_judge *judge, const struct judge_metric *metric,
                        struct judge_ledger *ledger)
{
    const uint64_t list[] = {judge->log.oldest, judge->oldest};
    struct judge_due *due = report_ledger_due(judge, ledger);

    for (unsigned k = 0; k < 2; k++) {
        for (uint64_t at = fill_next(judge, metric, ledger->rank, list[k], k == 0); at;
             at = fill_next(judge, metric, ledger->rank, judge_op_at(judge, at)->newer, k == 0)) {
            const struct judge_op *op = judge_op_at(judge, at);
            struct judge_due made = due_make(metric, op, op->step, op->mb);

            ledger_insert(ledger, due, &made);
        }
    }
    for (uint32_t k = 0; k < ledger->count; k++) {
        ledger_replace(ledger, due, k);
        ledger_sorted(ledger, due, k);
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
        uint32_t held = fill_count(judge, metric, rank) + LEDGER_ROOM;

        *made = alar_arena_take(judge->arena, sizeof(struct judge_ledger));
        struct judge_ledger *ledger = alar_arena_at(judge->arena, *made);

        ledger->rank = rank;
        ledger->latest = -1;
        ledger->room = (uint32_t)(judge->log.kept + judge->live) + LEDGER_ROOM;
        ledger->held = held;
        ledger->due = alar_arena_take(judge->arena, held * sizeof(struct judge_due));
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
    for (uint32_t k = 0; k < ledger->count; k++) {
        ledger_sorted(ledger, due, k);
    }
}

/* Metrics that an operation may carry, the newest first: those that its key names, or all of them
   when it has no key. */
struct ledger_walk {
    uint64_t next;  /* of all of them; 0: of the list */
    uint32_t count; /* of the list that are left; its last one comes first */
    uint64_t metric[ALAR_METRICS_MAX + 1];
};

/* Puts a metric of that name where its age puts it. */
static void walk_add(const struct alar_judge *judge, struct ledger_walk *walk, uint64_t hash)
{
    uint64_t metric = judge_metric_find(judge, hash);
    uint32_t at = 0;

    while (at < walk->count && judge_metric_at(judge, walk->metric[at])->order <
                                   (metric ? judge_metric_at(judge, metric)->order : 0)) {
        at++;
    }
    if (metric == 0 || (at < walk->count && walk->metric[at] == metric)) {
        return;
    }
    memmove(&walk->metric[at + 1], &walk->metric[at], (walk->count - at) * sizeof metric);
    walk->metric[at] = metric;
    walk->count++;
}

static struct ledger_walk walk_of(const struct alar_judge *judge, uint64_t key_hash,
                                  const struct judge_names *names)
{
    struct ledger_walk walk = {.next = key_hash ? 0 : judge->log.metric};

    if (key_hash) {
        walk_add(judge, &walk, key_hash);
    }
    for (uint32_t k = 0; names != NULL && k < names->count && k < ALAR_METRICS_MAX; k++) {
        walk_add(judge, &walk, names->hash[k]);
    }
    return walk;
}

/* The key of an operation is that of its first rank, which may be another one. */
static struct ledger_walk walk_of_op(const struct alar_judge *judge, const struct judge_op *op)
{
    return walk_of(judge, op->key_hash, op->names ? alar_arena_at(judge->arena, op->names) : NULL);
}

static struct ledger_walk walk_of_event(const struct alar_judge *judge,
                                        const struct alar_event *event)
{
    uint64_t group = judge_group_find(judge, event->text[ALAR_FIELD_OP]);
    uint64_t op = group ? judge_op_find(judge, group, (uint64_t)event->number[ALAR_FIELD_OP]) : 0;
    struct judge_names names = {0};

    if (op) {
        return walk_of_op(judge, judge_op_at(judge, op));
    }
    if (!event->has[ALAR_FIELD_KEY]) {
        return walk_of(judge, 0, NULL);
    }
    (void)report_names_read(event->text[ALAR_FIELD_KEY], &names);
    return walk_of(judge, alar_text_hash(event->text[ALAR_FIELD_KEY]), &names);
}

static uint64_t walk_next(const struct alar_judge *judge, struct ledger_walk *walk)
{
    uint64_t metric = walk->next;

    if (metric) {
        walk->next = judge_metric_at(judge, metric)->next;
    } else if (walk->count > 0) {
        metric = walk->metric[--walk->count];
    }
    return metric;
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
    if (judge->log.metric == 0) {
        return 0;
    }
    struct ledger_walk walk = walk_of_event(judge, event);
    for (uint64_t m = walk_next(judge, &walk); m; m = walk_next(judge, &walk)) {
        const struct judge_ledger *ledger =
            report_ledger_find(judge, judge_metric_at(judge, m), rank);

        if (ledger != NULL && ledger->count == ledger->held) {
            room += alar_arena_block(2 * (size_t)ledger->held * sizeof(struct judge_due));
        }
    }
    return room;
}

static void ledger_grow(struct alar_judge *judge, struct judge_ledger *ledger)
{
    uint64_t old = ledger->due;
    size_t bytes = ledger->held * sizeof(struct judge_due);

    if (ledger->count < ledger->held) {
        return;
    }
    if (ledger->held == ledger->room) {
        ledger_drop(judge, ledger);
        if (2 * ledger->count <= ledger->room) {
            return;
        }
        ledger->room *= 2;
    }
    ledger->held = 2 * ledger->held < ledger->room ? 2 * ledger->held : ledger->room;
    ledger->due = alar_arena_take(judge->arena, ledger->held * sizeof(struct judge_due));
    memcpy(alar_arena_at(judge->arena, ledger->due), alar_arena_at(judge->arena, old), bytes);
    alar_arena_give(judge->arena, old, bytes);
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
    if (judge->log.metric == 0 || !is_reportable(&as_said)) {
        return;
    }
    struct ledger_walk walk = walk_of_op(judge, op);
    for (uint64_t m = walk_next(judge, &walk); m; m = walk_next(judge, &walk)) {
        const struct judge_metric *metric = judge_metric_at(judge, m);

        if (report_ledger_find(judge, metric, rank) != NULL &&
            judge_report_is_of(judge, op, metric)) {
            struct judge_ledger *ledger = report_ledger_find(judge, metric, rank);

            ledger_label(judge, metric, ledger, mine->step);
            ledger_grow(judge, ledger);
            struct judge_due *due = report_ledger_due(judge, ledger);
            due[ledger->count] = due_make(metric, op, mine->step, mine->mb);
            ledger_replace(ledger, due, ledger->count);
            ledger_sorted(ledger, due, ledger->count);
            ledger->count++;
        }
    }
}
