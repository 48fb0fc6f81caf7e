/* Which elements of an operation belong to which metric, and to which of its parts. */
#include "judge/report/report.h"

#include "engine/participation.h"
#include "engine/payload.h"
#include "engine/payload_element.h"
#include "numbers/fp.h"

#include <string.h>

bool report_names_read(struct alar_text key, struct judge_names *names)
{
    size_t begin = 0;

    if (key.length == 0 || memchr(key.data, ',', key.length) == NULL) {
        return false;
    }
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
    return true;
}

/* Keeps the names of a key that joins several; a single one is known by the key's hash. */
void judge_report_names(struct alar_judge *judge, struct judge_op *op)
{
    struct judge_names names = {0};

    if (judge->event->has[ALAR_FIELD_KEY] &&
        report_names_read(judge->event->text[ALAR_FIELD_KEY], &names)) {
        op->names = alar_arena_take(judge->arena, sizeof(struct judge_names));
        memcpy(alar_arena_at(judge->arena, op->names), &names, sizeof names);
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

bool judge_report_has_name(const struct alar_judge *judge, const struct judge_op *op, uint64_t hash)
{
    return op->names != 0 &&
           names_find(judge, op, hash) <
               ((struct judge_names *)alar_arena_at(judge->arena, op->names))->count;
}

/* How many metrics share the operation, and which of them is the report's. */
uint32_t report_names(const struct report_view *view, const struct judge_op *op, uint32_t *ours)
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
static bool name_is_extreme(const struct report_view *view, const struct judge_op *op,
                            uint32_t place)
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
static uint64_t op_microbatches(const struct report_view *view, const struct judge_op *op,
                                uint32_t names)
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

struct report_elements report_lanes_find(const struct report_view *view, const struct judge_op *op)
{
    struct report_elements elements = {0};
    enum alar_encoding encoding = op_encoding(op);
    bool is_exact = encoding == ALAR_EXACT;

    elements.names = report_names(view, op, &elements.ours);
    for (uint32_t i = 0; i < elements.names && i < ALAR_METRICS_MAX; i++) {
        bool is_extreme = name_is_extreme(view, op, i);

        elements.blocks += is_extreme;
        elements.before += is_extreme && i < elements.ours;
        elements.has_block = elements.has_block || (is_extreme && i == elements.ours);
    }
    elements.block = (uint32_t)alar_extreme_elements(encoding, op->members);
    elements.extreme = (uint64_t)op->pairs * (is_exact ? ALAR_PAYLOAD_EXACT_ELEMENTS : 2);
    elements.flag = elements.extreme +
                    (uint64_t)(op->pairs / elements.names) * elements.blocks * elements.block;
    elements.flag_end =
        op->elements -
        (is_exact && op->elements >= ALAR_PARTICIPATION_ELEMENTS ? ALAR_PARTICIPATION_ELEMENTS : 0);

    uint64_t columns = op_microbatches(view, op, elements.names) * elements.names;
    if (elements.flag < elements.flag_end && columns > 0 &&
        (elements.flag_end - elements.flag) % columns == 0) {
        elements.sets = (elements.flag_end - elements.flag) / columns;
    }
    return elements;
}

/* The ranks in a flag element; what is no set counts as one. */
static uint64_t flag_count(const struct judge_op *op, uint64_t bits)
{
    uint64_t set = bits, count = 0;

    if (op->dtype != ALAR_I64) {
        double value = alar_fp_to_double(op->dtype, bits);

        set = value >= 0 && value < 0x1p63 ? (uint64_t)value : 1;
    }
    /* Loop bound: the bits of a element, cleared one a turn. */
    for (; set != 0; set &= set - 1) {
        count++;
    }
    return count;
}

/* How many (rank, microbatch) flags of the report's metric are set; of all metrics where its
   elements can't be told from theirs. */
uint64_t report_flags(const struct report_view *view, bool *is_shared)
{
    uint64_t count = 0;

    *is_shared = false;
    for (uint32_t k = 0; k < view->report->parts && !view->is_scalar; k++) {
        const struct judge_op *op = judge_op_at(view->judge, view->part[k].op);
        const uint64_t *in = alar_arena_at(view->judge->arena, op->in);
        struct report_elements elements = report_lanes_find(view, op);
        bool is_alone = elements.names == 1;

        *is_shared = *is_shared || (!is_alone && elements.sets == 0);
        for (uint64_t e = elements.flag; e < elements.flag_end; e++) {
            bool is_ours = is_alone || elements.sets == 0 ||
                           (e - elements.flag) / elements.sets % elements.names == elements.ours;

            for (uint32_t m = 0; is_ours && m < op->members; m++) {
                count += flag_count(op, in[(size_t)m * op->elements + e]);
            }
        }
    }
    return count;
}

/* Does the operation carry the metric: under its name, in a list of names, or under no name at all?
 */
bool judge_report_is_of(const struct alar_judge *judge, const struct judge_op *op,
                        const struct judge_metric *metric)
{
    return op->key_hash == 0 || op->key_hash == metric->hash ||
           judge_report_has_name(judge, op, metric->hash);
}
