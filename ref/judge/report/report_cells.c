/* The microbatches of a report: its pairs in step order, whatever operations carried them. */
#include "judge/report/report.h"

#include "numbers/fp.h"

#include <math.h>
#include <string.h>

static double value_in(const struct report_view *view, const struct report_microbatch *microbatch,
                       uint32_t member, uint32_t element)
{
    const uint64_t *in = alar_arena_at(view->judge->arena, microbatch->op->in);

    return alar_fp_to_double(microbatch->op->dtype,
                             in[(size_t)member * microbatch->op->elements + element]);
}

double report_numerator(const struct report_view *view, const struct report_microbatch *microbatch,
                        uint32_t member)
{
    return value_in(view, microbatch, member, microbatch->element);
}

double report_weight(const struct report_view *view, const struct report_microbatch *microbatch,
                     uint32_t member)
{
    return view->is_scalar ? 1 : value_in(view, microbatch, member, microbatch->element + 1);
}

/* What all ranks hold, divided by how many hold the same, is the sum of those that count as well.
 */
static void microbatch_widen(const struct report_view *view, struct report_microbatch *microbatch,
                             double replicas)
{
    const struct judge_op *op = microbatch->op;
    const uint64_t *out = alar_arena_at(view->judge->arena, op->out);
    double held = alar_fp_to_double(op->dtype, out[microbatch->element]);
    struct report_span share =
        report_divided(view, (struct report_span){REPORT_NUMBER, held, held}, replicas);

    if (share.kind == REPORT_NUMBER) {
        microbatch->low = fmin(microbatch->low, share.low);
        microbatch->high = fmax(microbatch->high, share.high);
    }
}

/* The reduced numerator and weight: as the ranks hold them, or as the contributions add up. */
static void microbatch_read(const struct report_view *view, struct report_microbatch *microbatch)
{
    const struct judge_op *op = microbatch->op;
    bool has_out = op->classes == 1 && op->out_elements == op->elements;
    bool is_sum = op->red == ALAR_SUM || op->red == ALAR_AVG;
    struct report_fold fold = {0};
    uint32_t counted = 0;

    for (uint32_t m = 0; m < op->members; m++) {
        double numerator = report_numerator(view, microbatch, m);

        if (report_counts(view, op, m)) {
            report_fold_add(&fold, numerator, numerator);
            fold.weight += report_weight(view, microbatch, m);
            counted++;
        }
    }
    struct report_span sum = report_fold_sum(view, &fold);
    has_out = has_out && (counted == op->members || !is_sum);
    if (op->red == ALAR_AVG) {
        sum = report_divided(view, sum, counted);
        fold.weight /= counted;
    }
    microbatch->low = sum.kind == REPORT_NUMBER ? sum.low : (double)NAN;
    microbatch->high = sum.kind == REPORT_NUMBER ? sum.high : (double)NAN;
    microbatch->weight = is_sum ? fold.weight : 1;
    if (counted < op->members && op->red == ALAR_SUM && op->classes == 1 &&
        op->out_elements == op->elements && op->members % counted == 0) {
        microbatch_widen(view, microbatch, op->members / counted);
    }
    if (has_out && !(view->is_exact && is_sum)) {
        const uint64_t *out = alar_arena_at(view->judge->arena, op->out);

        microbatch->low = microbatch->high = alar_fp_to_double(op->dtype, out[microbatch->element]);
        if (!view->is_scalar) {
            microbatch->weight = alar_fp_to_double(op->dtype, out[microbatch->element + 1]);
        }
    }
}

/* Does this microbatch begin a step? */
static bool microbatch_begins(const struct report_view *view,
                              const struct report_microbatch *microbatch,
                              const struct judge_op *before)
{
    uint32_t every = view->pairs_a_step;

    if (microbatch->pair > 0) {
        return every > 0 && microbatch->pair % every == 0;
    }
    return view->is_by_name ? microbatch->op->step != before->step
                            : every > 0 && microbatch->index % every == 0;
}

bool report_microbatch_next(const struct report_view *view, struct report_microbatch *microbatch)
{
    const struct judge_op *before = microbatch->op;
    uint32_t ours = 0, names = 1;

    while (microbatch->part < view->report->parts) {
        microbatch->op = judge_op_at(view->judge, view->part[microbatch->part].op);
        names = report_names(view, microbatch->op, &ours);
        if (microbatch->pair < (view->is_scalar ? 1 : microbatch->op->pairs / names)) {
            break;
        }
        microbatch->part++;
        microbatch->pair = 0;
    }
    if (microbatch->part == view->report->parts) {
        return false;
    }
    microbatch->step += before != NULL && microbatch_begins(view, microbatch, before);
    microbatch->element = view->is_scalar ? ours : 2 * (microbatch->pair * names + ours);
    microbatch_read(view, microbatch);
    microbatch->pair++;
    microbatch->index++;
    return true;
}
