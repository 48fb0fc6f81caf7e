/* Metrics by name. */
#include "judge/report/report.h"

#include <string.h>

struct judge_metric *judge_metric_at(const struct alar_judge *judge, uint64_t metric)
{
    return alar_arena_at(judge->arena, metric);
}

uint64_t judge_metric_find(const struct alar_judge *judge, uint64_t hash)
{
    return alar_table_get(judge->arena, &judge->log.metrics, hash);
}

/* "max loss", "loss/max": the metric whose extreme it is by its name. */
static uint64_t name_bounds(struct alar_text name)
{
    static const char *const words[] = {"max", "min"};
    size_t length = 3;

    for (unsigned k = 0; k < 2 && name.length > length + 1; k++) {
        const char *end = name.data + name.length - length;

        if (memcmp(name.data, words[k], length) == 0 && strchr(" _-/.", name.data[length])) {
            return alar_text_hash(
                (struct alar_text){name.data + length + 1, name.length - length - 1});
        }
        if (memcmp(end, words[k], length) == 0 && strchr(" _-/.", end[-1])) {
            return alar_text_hash((struct alar_text){name.data, name.length - length - 1});
        }
    }
    return 0;
}

static void bounds_set(struct alar_judge *judge, uint64_t bounded, uint64_t first)
{
    if (first) {
        alar_table_put(judge->arena, &judge->log.bounds, bounded, first);
    } else {
        alar_table_drop(judge->arena, &judge->log.bounds, bounded);
    }
}

uint64_t judge_metric_make(struct alar_judge *judge, struct alar_text name)
{
    uint64_t hash = alar_text_hash(name);
    uint64_t metric = judge_metric_find(judge, hash);

    if (metric == 0) {
        metric = alar_arena_take(judge->arena, sizeof(struct judge_metric));
        struct judge_metric *made = judge_metric_at(judge, metric);

        made->next = judge->log.metric;
        made->hash = hash;
        made->order = judge->log.metrics.count + 1;
        alar_text_keep(name, made->name, sizeof made->name);
        judge->log.metric = metric;
        alar_table_put(judge->arena, &judge->log.metrics, hash, metric);
        judge_metric_bound(judge, metric, name_bounds(name));
    }
    return metric;
}

/* The metric bounds the one whose name has that hash, and no other; 0: none. Of those that bound
   the same one the newest comes first. */
void judge_metric_bound(struct alar_judge *judge, uint64_t metric, uint64_t bounds)
{
    struct judge_metric *mine = judge_metric_at(judge, metric);
    uint64_t first = alar_table_get(judge->arena, &judge->log.bounds, mine->bounds);
    uint64_t *link = &first;

    while (mine->bounds && *link != metric) {
        link = &judge_metric_at(judge, *link)->beside;
    }
    if (mine->bounds) {
        *link = mine->beside;
        bounds_set(judge, mine->bounds, first);
    }
    mine->bounds = bounds;
    first = alar_table_get(judge->arena, &judge->log.bounds, bounds);
    for (link = &first; bounds && *link && judge_metric_at(judge, *link)->order > mine->order;) {
        link = &judge_metric_at(judge, *link)->beside;
    }
    if (bounds) {
        mine->beside = *link;
        *link = metric;
        bounds_set(judge, bounds, first);
    }
}

/* The newest metric that bounds this one; others follow `beside` it. 0: none does. */
uint64_t judge_metric_bounding(const struct alar_judge *judge, const struct judge_metric *metric)
{
    return alar_table_get(judge->arena, &judge->log.bounds, metric->hash);
}
