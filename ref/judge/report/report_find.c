/* Metrics by name, and the operations that are kept for reports. */
#include "judge/report/report.h"

#include <string.h>

struct judge_metric *judge_metric_at(const struct alar_judge *judge, uint64_t metric)
{
    return alar_arena_at(judge->arena, metric);
}

uint64_t judge_metric_find(const struct alar_judge *judge, uint64_t hash)
{
    uint64_t metric = judge->log.metric;

    while (metric && judge_metric_at(judge, metric)->hash != hash) {
        metric = judge_metric_at(judge, metric)->next;
    }
    return metric;
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

uint64_t judge_metric_make(struct alar_judge *judge, struct alar_text name)
{
    uint64_t hash = alar_text_hash(name);
    uint64_t metric = judge_metric_find(judge, hash);

    if (metric == 0) {
        metric = alar_arena_take(judge->arena, sizeof(struct judge_metric));
        struct judge_metric *made = judge_metric_at(judge, metric);

        made->next = judge->log.metric;
        made->hash = hash;
        made->bounds = name_bounds(name);
        alar_text_keep(name, made->name, sizeof made->name);
        judge->log.metric = metric;
    }
    return metric;
}

/* Looks from `start` to the newest. */
static uint64_t find_from(const struct alar_judge *judge, uint64_t start, uint64_t group,
                          uint64_t number)
{
    uint64_t at = start;

    while (at &&
           (judge_op_at(judge, at)->group != group || judge_op_at(judge, at)->number != number)) {
        at = judge_op_at(judge, at)->newer;
    }
    return at;
}

/* A kept operation, or 0; operations that follow each other are found at once. */
uint64_t judge_report_find(const struct alar_judge *judge, uint64_t group, uint64_t number,
                           uint64_t hint)
{
    uint64_t found = hint ? find_from(judge, judge_op_at(judge, hint)->newer, group, number) : 0;

    return found ? found : find_from(judge, judge->log.oldest, group, number);
}
