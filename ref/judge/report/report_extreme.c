/* Reports of least and greatest values: recomputed from the element that each rank wrote for
   itself. No arithmetic comes between a contribution and the report, so one value is legal and no
   other. */
#include "judge/report/report.h"

#include "engine/payload_element.h"
#include "numbers/fp.h"

#include <math.h>

/* What one rank holds of one microbatch. */
struct own {
    bool has_value;
    double value;
};

static uint64_t element_of(const struct report_view *view, const struct judge_op *op,
                           uint32_t member, uint64_t element)
{
    const uint64_t *in = alar_arena_at(view->judge->arena, op->in);

    return in[(size_t)member * op->elements + element];
}

static double number_of(const struct judge_op *op, uint64_t bits)
{
    return alar_fp_to_double(op->dtype == ALAR_I64 ? ALAR_F64 : op->dtype, bits);
}

/* Is the element empty? 0 as an integer, a zero of either sign as a number. */
static bool is_nothing(const struct judge_op *op, uint64_t bits)
{
    return op->dtype == ALAR_I64 ? bits == 0 : alar_fp_is_zero(op->dtype, bits);
}

/* The bits that a member adds to one element of the set. */
static uint64_t set_of(const struct judge_op *op, uint64_t bits)
{
    double value = number_of(op, bits);

    if (op->dtype == ALAR_I64) {
        return bits;
    }
    return value >= 0 && value < 0x1p63 ? (uint64_t)value : UINT64_MAX;
}

/* Reads a member's own element of the block that begins at `at`; false when it wrote into
 * another's.
 */
static bool own_read(const struct report_view *view, const struct judge_op *op, uint64_t at,
                     uint32_t member, struct own *own)
{
    uint32_t bits = op->dtype == ALAR_I64 ? 62 : op->dtype == ALAR_F64 ? 53 : 24;
    uint32_t sets = (op->members + bits - 1) / bits;

    *own = (struct own){.value = number_of(op, element_of(view, op, member, at + member))};
    for (uint32_t k = 0; k < op->members; k++) {
        if (k != member && !is_nothing(op, element_of(view, op, member, at + k))) {
            return false;
        }
    }
    for (uint32_t k = 0; k < sets; k++) {
        uint64_t set = set_of(op, element_of(view, op, member, at + op->members + k));
        uint64_t self = member / bits == k ? UINT64_C(1) << member % bits : 0;

        if (set != 0 && set != self) {
            return false;
        }
        own->has_value = own->has_value || set != 0;
    }
    return own->has_value || is_nothing(op, element_of(view, op, member, at + member));
}

/* Numbers as integers in their order, -0 below +0. */
static int64_t order_of(double value)
{
    int64_t bits = (int64_t)alar_fp_bits(value);

    return bits < 0 ? bits ^ INT64_MAX : bits;
}

/* Is the new value the one to report, rather than the best so far? A NaN is, and stays. */
static bool is_wanted(enum alar_metric_kind kind, double value, double best)
{
    if (isnan(best) || isnan(value)) {
        return isnan(value) && !isnan(best);
    }
    return kind == ALAR_METRIC_MIN ? order_of(value) < order_of(best)
                                   : order_of(value) > order_of(best);
}

static bool is_same(double a, double b)
{
    return (isnan(a) && isnan(b)) || alar_fp_bits(a) == alar_fp_bits(b);
}

static void take(const struct report_view *view, struct report_extreme *extreme, double value,
                 uint32_t rank)
{
    double best = extreme->legal.low;
    bool is_first = extreme->legal.kind == REPORT_EMPTY;

    extreme->nonfinite += isfinite(value) ? 0U : 1U;
    if (is_first || is_wanted(view->kind, value, best)) {
        extreme->legal = (struct report_span){REPORT_NUMBER, value, value};
        extreme->holder = rank;
    } else if (is_same(value, best) && rank < extreme->holder) {
        extreme->holder = rank;
    }
}

/* The first element of the block of a microbatch; false when there is none. */
static bool block_find(const struct report_view *view, const struct report_microbatch *microbatch,
                       uint64_t *at)
{
    struct report_elements elements = report_lanes_find(view, microbatch->op);
    uint64_t pair = microbatch->pair - 1; /* the next one is in `microbatch` already */

    *at = elements.extreme + (pair * elements.blocks + elements.before) * elements.block;
    return elements.has_block && elements.flag <= elements.flag_end &&
           elements.names <= ALAR_METRICS_MAX;
}

bool report_extreme_read(const struct report_view *view, struct report_extreme *extreme)
{
    struct report_microbatch microbatch = {0};

    *extreme = (struct report_extreme){.legal = {REPORT_EMPTY, 0, 0}};
    while (report_microbatch_next(view, &microbatch)) {
        const struct judge_group *group = judge_group_at(view->judge, microbatch.op->group);
        uint64_t at = 0;

        if (!view->is_scalar && !block_find(view, &microbatch, &at)) {
            return false;
        }
        for (uint32_t m = 0; m < microbatch.op->members; m++) {
            struct own own = {.has_value = true};

            if (view->is_scalar) {
                own.value = report_numerator(view, &microbatch, m);
            } else if (!own_read(view, microbatch.op, at, m, &own)) {
                return false;
            }
            if (own.has_value) {
                take(view, extreme, own.value, judge_member_rank(view->judge, group, m));
            }
        }
    }
    if (extreme->legal.kind == REPORT_NUMBER && !isfinite(extreme->legal.low)) {
        extreme->legal.kind = REPORT_SPECIAL;
    }
    return true;
}

/* Could the report be that number? The bits say so to the bit, a decimal as far as it goes. */
static bool is_shown(const struct judge_report *report, double value)
{
    double rounded = alar_fp_to_double(report->dtype, alar_fp_from_double(report->dtype, value));
    bool is_exact = alar_fp_bits(report->low) == alar_fp_bits(report->high);

    if (report->is_empty || isnan(rounded)) {
        return !report->is_empty && isnan(report->low);
    }
    return is_exact ? is_same(report->low, rounded)
                    : report->low <= rounded && rounded <= report->high;
}

enum alar_anomaly report_extreme_check(const struct report_view *view,
                                       const struct report_extreme *extreme)
{
    const struct judge_report *report = view->report;
    bool is_zero = !report->is_special && report->low <= 0 && report->high >= 0;

    if (extreme->legal.kind == REPORT_EMPTY) {
        return report->is_empty || (is_zero && report->empty > 0) ? ALAR_ANOMALY_COUNT
                                                                  : ALAR_ANOMALY_EMPTY_AS_NUMBER;
    }
    if (!is_shown(report, extreme->legal.low)) {
        return extreme->legal.kind == REPORT_SPECIAL && !report->is_special && !report->is_empty
                   ? ALAR_ANOMALY_NONFINITE_DROPPED
                   : ALAR_ANOMALY_ILLEGAL_REPORT;
    }
    return report->holder >= 0 && report->holder != (int64_t)extreme->holder
               ? ALAR_ANOMALY_WRONG_HOLDER
               : ALAR_ANOMALY_COUNT;
}
