/* Adds up spans by site and by rank. */
#include "cost/cost.h"

#include "base/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Standard deviations of a 95 % interval, and of one that luck alone misses once in a thousand. */
#define Z_INTERVAL 1.96
#define Z_CHRONIC 3.29

/* Spans in the order in which they are added up. */
struct ordered {
    const struct alar_span **span;
    size_t count;
};

double alar_cost_share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

void alar_cost_interval(uint64_t hits, uint64_t of, double z, double *low, double *high)
{
    double n = (double)of;
    double share = (double)hits / n;
    double middle = share + z * z / (2 * n);
    double reach = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n));

    PRE(of > 0 && hits <= of);
    *low = (middle - reach) / (1 + z * z / n);
    *high = (middle + reach) / (1 + z * z / n);
    *low = *low < 0 ? 0 : *low;
    *high = *high > 1 ? 1 : *high;
}

/* ---- sites ------------------------------------------------------------------------------------
 */

/* A span is accounted where it was called from, or else by what it reduces. */
static uint32_t site_name(const struct alar_span *span)
{
    return span->site ? span->site : span->key;
}

static enum alar_status sites_make(const struct alar_timeline *timeline, struct alar_cost *cost,
                                   uint32_t **site_of)
{
    uint32_t *number = calloc(timeline->names + 1, sizeof *number);

    if (number == NULL) {
        return ALAR_E_NOMEM;
    }
    *site_of = number;
    for (size_t k = 0; k < timeline->spans; k++) {
        uint32_t name = site_name(&timeline->span[k]);

        if (number[name] == 0) {
            number[name] = (uint32_t)++cost->sites;
        }
    }
    cost->site = calloc(cost->sites + 1, sizeof *cost->site);
    cost->rank_memory = calloc((cost->sites + 1) * (cost->ranks + 1), sizeof *cost->rank);
    if (cost->site == NULL || cost->rank_memory == NULL) {
        return ALAR_E_NOMEM;
    }
    cost->rank = cost->rank_memory;
    for (size_t s = 0; s < cost->sites; s++) {
        cost->site[s].rank = cost->rank_memory + (s + 1) * (cost->ranks + 1);
    }
    for (size_t k = 0; k <= cost->sites; k++) {
        for (uint32_t r = 0; r < cost->ranks; r++) {
            cost->rank_memory[k * (cost->ranks + 1) + r].rank = r;
        }
    }
    for (size_t name = 0; name < timeline->names; name++) {
        if (number[name] != 0) {
            cost->site[number[name] - 1].name = name ? timeline->name[name] : "?";
        }
    }
    return ALAR_OK;
}

static void span_account(struct alar_cost *cost, struct alar_cost_site *site,
                         const struct alar_span *span)
{
    int64_t blocked = alar_span_blocked(span);
    int64_t overlapped = alar_span_overlapped(span);

    site->calls++;
    site->sync_calls += span->is_sync;
    site->by_red[span->red]++;
    site->elements += span->n;
    site->blocked += blocked;
    site->overlapped += overlapped;
    site->rank[span->rank].blocked += blocked;
    site->rank[span->rank].overlapped += overlapped;
    cost->rank[span->rank].blocked += blocked;
    cost->rank[span->rank].overlapped += overlapped;
    cost->calls++;
    cost->unfinished += span->end.order == 0;
    cost->untimed += span->issue.t == ALAR_TIME_NONE;
    cost->blocked += blocked;
    cost->overlapped += overlapped;
}

/* ---- operations: all ranks' spans of one ------------------------------------------------------
 */

static int by_operation(const void *left, const void *right)
{
    const struct alar_span *a = *(const struct alar_span *const *)left;
    const struct alar_span *b = *(const struct alar_span *const *)right;

    if (a->group != b->group) {
        return a->group < b->group ? -1 : 1;
    }
    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Who of an operation's ranks was last; only on one clock, and not when two were. */
static const struct alar_span *last_of(const struct alar_timeline *timeline,
                                       const struct alar_span *const *span, size_t count,
                                       int64_t *first)
{
    const struct alar_span *last = span[0];
    bool is_tied = false;

    *first = span[0]->issue.t;
    for (size_t k = 0; k < count; k++) {
        uint64_t clock = timeline->rank[span[k]->rank].clock;

        if (clock == 0 || clock != timeline->rank[span[0]->rank].clock ||
            span[k]->issue.t == ALAR_TIME_NONE) {
            return NULL;
        }
        if (k > 0 && span[k]->issue.t >= last->issue.t) {
            is_tied = span[k]->issue.t == last->issue.t;
            last = span[k];
        }
        *first = span[k]->issue.t < *first ? span[k]->issue.t : *first;
    }
    return count > 1 && !is_tied ? last : NULL;
}

static void last_account(struct alar_cost_rank *ranks, const struct alar_span *const *span,
                         size_t count, const struct alar_span *last, int64_t first)
{
    for (size_t k = 0; k < count; k++) {
        ranks[span[k]->rank].of++;
    }
    ranks[last->rank].last++;
    ranks[last->rank].late += last->issue.t - first;
}

static void operation_account(const struct alar_timeline *timeline, struct alar_cost *cost,
                              const uint32_t *site_of, const struct alar_span *const *span,
                              size_t count)
{
    struct alar_cost_site *site = &cost->site[site_of[site_name(span[0])] - 1];
    int64_t first;
    const struct alar_span *last = last_of(timeline, span, count, &first);

    site->operations++;
    cost->operations++;
    if (last != NULL) {
        cost->has_shared_clock = true;
        site->judged_order++;
        last_account(cost->rank, span, count, last, first);
        last_account(site->rank, span, count, last, first);
    }
}

/* ---- what waiting at the log line saves -------------------------------------------------------
 */

static int by_rank_and_time(const void *left, const void *right)
{
    const struct alar_span *a = *(const struct alar_span *const *)left;
    const struct alar_span *b = *(const struct alar_span *const *)right;

    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    return a->issue.order < b->issue.order ? -1 : a->issue.order > b->issue.order;
}

/* The steps that a log line stands for. */
struct interval {
    int64_t first, last;
};

static int by_last_step(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;

    return a->last < b->last ? -1 : a->last > b->last;
}

/* The log line that stands for the step: the number of its last step + 1; 0 when there is none. */
static uint64_t line_of(const struct interval *line, size_t count, int64_t step)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (line[middle].last < step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return step >= 0 && low < count && line[low].first <= step ? (uint64_t)line[low].last + 1 : 0;
}

/* A rank that waits at its log lines only stands still, at worst, for the last operation before
   each: the others had at least a step to complete. So the saving is at most what the others
   blocked for. */
static enum alar_status saving_account(const struct alar_timeline *timeline, struct alar_cost *cost,
                                       const uint32_t *site_of, struct ordered *ordered)
{
    struct interval *lines = calloc(timeline->reports + 1, sizeof *lines);
    uint64_t before = 0;
    uint32_t rank = UINT32_MAX;

    if (lines == NULL) {
        return ALAR_E_NOMEM;
    }
    for (size_t k = 0; k < timeline->reports; k++) {
        lines[k] = (struct interval){timeline->report[k].first_step, timeline->report[k].step};
    }
    qsort(lines, timeline->reports, sizeof *lines, by_last_step);
    qsort(ordered->span, ordered->count, sizeof *ordered->span, by_rank_and_time);
    for (size_t k = ordered->count; k-- > 0;) { /* backwards: the last of an interval comes first */
        const struct alar_span *span = ordered->span[k];
        uint64_t line = line_of(lines, timeline->reports, span->step);

        if (line == 0) {
            continue;
        }
        cost->has_saving = true;
        if (span->rank == rank && line == before) {
            int64_t blocked = alar_span_blocked(span);

            cost->site[site_of[site_name(span)] - 1].saving += blocked;
            cost->saving += blocked;
        }
        rank = span->rank;
        before = line;
    }
    free(lines);
    return ALAR_OK;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static int by_step(const void *left, const void *right)
{
    const struct alar_span *a = *(const struct alar_span *const *)left;
    const struct alar_span *b = *(const struct alar_span *const *)right;

    return a->step < b->step ? -1 : a->step > b->step;
}

/* How many different steps there are. */
static uint64_t steps_count(struct ordered *ordered)
{
    uint64_t steps = 0;
    int64_t before = -1;

    qsort(ordered->span, ordered->count, sizeof *ordered->span, by_step);
    for (size_t k = 0; k < ordered->count; k++) {
        steps += ordered->span[k]->step != before;
        before = ordered->span[k]->step;
    }
    return steps;
}

static void ranks_finish(struct alar_cost_rank *ranks, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++) {
        double low, high;

        if (ranks[r].of == 0) {
            continue;
        }
        alar_cost_interval(ranks[r].last, ranks[r].of, Z_INTERVAL, &ranks[r].low, &ranks[r].high);
        alar_cost_interval(ranks[r].last, ranks[r].of, Z_CHRONIC, &low, &high);
        ranks[r].is_chronic = low > 1.0 / count;
    }
}

static int by_blocked(const void *left, const void *right)
{
    const struct alar_cost_site *a = left, *b = right;

    if (a->blocked != b->blocked) {
        return a->blocked > b->blocked ? -1 : 1;
    }
    return strcmp(a->name, b->name);
}

static enum alar_status cost_fill(const struct alar_timeline *timeline, struct alar_cost *cost,
                                  const uint32_t *site_of, struct ordered *ordered)
{
    qsort(ordered->span, ordered->count, sizeof *ordered->span, by_operation);
    for (size_t k = 0, next; k < ordered->count; k = next) {
        const struct alar_span *first = ordered->span[k];

        for (next = k; next < ordered->count && ordered->span[next]->group == first->group &&
                       ordered->span[next]->number == first->number;
             next++) {
            const struct alar_span *span = ordered->span[next];

            span_account(cost, &cost->site[site_of[site_name(span)] - 1], span);
        }
        operation_account(timeline, cost, site_of, &ordered->span[k], next - k);
    }
    cost->steps = steps_count(ordered);
    ALAR_TRY(saving_account(timeline, cost, site_of, ordered));
    for (uint32_t r = 0; r < cost->ranks; r++) {
        const struct alar_rank_line *line = &timeline->rank[r];

        cost->rank[r].life = line->first_t == ALAR_TIME_NONE ? 0 : line->last_t - line->first_t;
        cost->life += cost->rank[r].life;
    }
    ranks_finish(cost->rank, cost->ranks);
    for (size_t s = 0; s < cost->sites; s++) {
        ranks_finish(cost->site[s].rank, cost->ranks);
    }
    if (cost->sites > 0) {
        qsort(cost->site, cost->sites, sizeof *cost->site, by_blocked);
    }
    return ALAR_OK;
}

enum alar_status alar_cost_account(const struct alar_timeline *timeline, struct alar_cost *cost)
{
    struct ordered ordered = {calloc(timeline->spans + 1, sizeof *ordered.span), timeline->spans};
    uint32_t *site_of = NULL;

    memset(cost, 0, sizeof *cost);
    cost->ranks = timeline->ranks;
    cost->is_in_ticks = timeline->is_in_ticks;
    enum alar_status status =
        ordered.span != NULL ? sites_make(timeline, cost, &site_of) : ALAR_E_NOMEM;
    if (status == ALAR_OK) {
        for (size_t k = 0; k < timeline->spans; k++) {
            ordered.span[k] = &timeline->span[k];
        }
        status = cost_fill(timeline, cost, site_of, &ordered);
    }
    free((void *)ordered.span);
    free(site_of);
    if (status != ALAR_OK) {
        alar_cost_free(cost);
    }
    return status;
}

void alar_cost_free(struct alar_cost *cost)
{
    free(cost->site);
    free(cost->rank_memory);
    memset(cost, 0, sizeof *cost);
}

const struct alar_cost_site *alar_cost_find(const struct alar_cost *cost, const char *name)
{
    for (size_t k = 0; k < cost->sites; k++) {
        if (strcmp(cost->site[k].name, name) == 0) {
            return &cost->site[k];
        }
    }
    return NULL;
}

const struct alar_cost_rank *alar_cost_last(const struct alar_cost_rank *ranks, uint32_t count)
{
    const struct alar_cost_rank *most = NULL;

    for (uint32_t r = 0; r < count; r++) {
        if (ranks[r].of > 0 && ranks[r].last > 0 &&
            (most == NULL || ranks[r].last * most->of > most->last * ranks[r].of)) {
            most = &ranks[r];
        }
    }
    return most;
}
