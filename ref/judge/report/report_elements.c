/* Which lanes of an operation belong to which metric, and to which of its parts. */
#include "judge/report/report.h"

#include "engine/participation.h"
#include "engine/payload.h"
#include "engine/payload_element.h"
#include "numbers/fp.h"

#include <string.h>

/* Keeps the names of a key that joins several; a single one is known by the key's hash. */
void judge_log_names(struct alar_judge *judge, struct judge_op *op)
{
    struct alar_text key = judge->event->text[ALAR_FIELD_KEY];

    if (!judge->event->has[ALAR_FIELD_KEY] || key.length == 0 ||
        memchr(key.data, ',', key.length) == NULL) {
        return;
    }
    op->names = alar_arena_take(judge->arena, sizeof(struct judge_names));
    struct judge_names *names = alar_arena_at(judge->arena, op->names);
    size_t begin = 0;

    for (size_t at = 0; at <= key.length; at++) {
        if (at < key.length && key.data[at] != ',') {
            continue;
        }
        if (names->count < ALAR_METRICS_MAX) {
            names->hash[names->count] =
                alar_text_hash((struct alar_text){key.data + begin, at - begin});
        }
        names->count++;
        begin = at + 1;
    }
}

/* The place of a name in the operation's key; the number of names when it is not there. */
static uint32_t names_find(const struct alar_judge *judge, const struct judge_op *op, uint64_t hash)
{
    const struct judge_names *names = alar_arena_at(judge->arena, op->names);

    for (uint32_t i = 0; i < names->count && i < ALAR_METRICS_MAX; i++) {
        if (names->hash[i] == hash) {
            return i;
        }
    }
    return names->count;
}

bool judge_log_has_name(const struct alar_judge *judge, const struct judge_op *op, uint64_t hash)
{
    return op->names != 0 &&
           names_find(judge, op, hash) <
               ((struct judge_names *)alar_arena_at(judge->arena, op->names))->count;
}

/* How many metrics share the operation, and which of them is the report's. */
uint32_t log_names(const struct log_view *view, const struct judge_op *op, uint32_t *ours)
{
    *ours = 0;
    if (op->names == 0) {
        return 1;
    }
    const struct judge_names *names = alar_arena_at(view->judge->arena, op->names);
    uint32_t found =
        names_find(view->judge, op, judge_metric_at(view->judge, view->report->metric)->hash);

    *ours = found < names->count ? found : 0;
    return names->count;
}

/* Does the metric at that place of the operation's key have a block beside its pairs? */
static bool name_is_extreme(const struct log_view *view, const struct judge_op *op, uint32_t place)
{
    uint64_t metric = view->report->metric;

    if (op->names != 0) {
        const struct judge_names *names = alar_arena_at(view->judge->arena, op->names);

        metric = judge_metric_find(view->judge, names->hash[place]);
    } else if (op->key_hash != 0) {
        metric = judge_metric_find(view->judge, op->key_hash);
    }
    return metric != 0 && alar_metric_is_extreme(judge_metric_at(view->judge, metric)->kind);
}

/* How many microbatches an operation covers; 0: not known. */
static uint64_t op_cells(const struct log_view *view, const struct judge_op *op, uint32_t names)
{
    int64_t microbatches = view->judge->loop.microbatches;
    int32_t normalization = view->judge->loop.normalization;

    if (op->mb >= 0) {
        return 1;
    }
    if (microbatches <= 0 || normalization < 0) {
        return 0;
    }
    return op->pairs / names * (normalization == ALAR_TOKEN_WEIGHTED ? (uint64_t)microbatches : 1);
}

static enum alar_encoding op_encoding(const struct judge_op *op)
{
    return op->dtype == ALAR_I64 ? ALAR_EXACT : op->dtype == ALAR_F64 ? ALAR_PAIR64 : ALAR_PAIR32;
}

struct log_lanes log_lanes_find(const struct log_view *view, const struct judge_op *op)
{
    struct log_lanes lanes = {0};
    enum alar_encoding encoding = op_encoding(op);
    bool is_exact = encoding == ALAR_EXACT;

    lanes.names = log_names(view, op, &lanes.ours);
    for (uint32_t i = 0; i < lanes.names && i < ALAR_METRICS_MAX; i++) {
        bool is_extreme = name_is_extreme(view, op, i);

        lanes.blocks += is_extreme;
        lanes.before += is_extreme && i < lanes.ours;
        lanes.has_block = lanes.has_block || (is_extreme && i == lanes.ours);
    }
    lanes.block = (uint32_t)alar_extreme_lanes(encoding, op->members);
    lanes.extreme = (uint64_t)op->pairs * (is_exact ? ALAR_PAYLOAD_EXACT_LANES : 2);
    lanes.flag = lanes.extreme + (uint64_t)(op->pairs / lanes.names) * lanes.blocks * lanes.block;
    lanes.flag_end =
        op->lanes - (is_exact && op->lanes >= ALAR_CENSUS_LANES ? ALAR_CENSUS_LANES : 0);

    uint64_t columns = op_cells(view, op, lanes.names) * lanes.names;
    if (lanes.flag < lanes.flag_end && columns > 0 &&
        (lanes.flag_end - lanes.flag) % columns == 0) {
        lanes.sets = (lanes.flag_end - lanes.flag) / columns;
    }
    return lanes;
}

/* The ranks in a flag lane; what is no set counts as one. */
static uint64_t flag_count(const struct judge_op *op, uint64_t bits)
{
    uint64_t set = bits, count = 0;

    if (op->dtype != ALAR_I64) {
        double value = alar_fp_to_double(op->dtype, bits);

        set = value >= 0 && value < 0x1p63 ? (uint64_t)value : 1;
    }
    /* Loop bound: the bits of a lane, cleared one a turn. */
    for (; set != 0; set &= set - 1) {
        count++;
    }
    return count;
}

/* How many (rank, microbatch) flags of the report's metric are set; of all metrics where its lanes
   can't be told from theirs. */
uint64_t log_flags(const struct log_view *view, bool *is_shared)
{
    uint64_t count = 0;

    *is_shared = false;
    for (uint32_t k = 0; k < view->report->parts && !view->is_scalar; k++) {
        const struct judge_op *op = judge_op_at(view->judge, view->part[k].op);
        const uint64_t *in = alar_arena_at(view->judge->arena, op->in);
        struct log_lanes lanes = log_lanes_find(view, op);
        bool is_alone = lanes.names == 1;

        *is_shared = *is_shared || (!is_alone && lanes.sets == 0);
        for (uint64_t e = lanes.flag; e < lanes.flag_end; e++) {
            bool is_ours = is_alone || lanes.sets == 0 ||
                           (e - lanes.flag) / lanes.sets % lanes.names == lanes.ours;

            for (uint32_t m = 0; is_ours && m < op->members; m++) {
                count += flag_count(op, in[(size_t)m * op->lanes + e]);
            }
        }
    }
    return count;
}
