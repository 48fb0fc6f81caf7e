/* The cells of a report: its pairs in step order, whatever operations carried them. */
#include "judge/report/report.h"

#include "numbers/fp.h"

#include <math.h>
#include <string.h>

static double value_in(const struct log_view *view, const struct log_cell *cell, uint32_t member,
                       uint32_t element)
{
    const uint64_t *in = alar_arena_at(view->judge->arena, cell->op->in);

    return alar_fp_to_double(cell->op->dtype, in[(size_t)member * cell->op->lanes + element]);
}

double log_numerator(const struct log_view *view, const struct log_cell *cell, uint32_t member)
{
    return value_in(view, cell, member, cell->element);
}

double log_weight(const struct log_view *view, const struct log_cell *cell, uint32_t member)
{
    return view->is_scalar ? 1 : value_in(view, cell, member, cell->element + 1);
}

/* The reduced numerator and weight: as the ranks hold them, or as the contributions add up. */
static void cell_read(const struct log_view *view, struct log_cell *cell)
{
    const struct judge_op *op = cell->op;
    bool has_out = op->classes == 1 && op->out_lanes == op->lanes;
    bool is_sum = op->red == ALAR_RED_SUM || op->red == ALAR_RED_AVG;
    struct log_fold fold = {0};

    for (uint32_t m = 0; m < op->members; m++) {
        double numerator = log_numerator(view, cell, m);

        log_fold_add(&fold, numerator, numerator);
        fold.weight += log_weight(view, cell, m);
    }
    struct log_span sum = log_fold_sum(view, &fold);
    if (op->red == ALAR_RED_AVG) {
        sum = log_divided(view, sum, op->members);
        fold.weight /= op->members;
    }
    cell->low = sum.kind == LOG_NUMBER ? sum.low : (double)NAN;
    cell->high = sum.kind == LOG_NUMBER ? sum.high : (double)NAN;
    cell->weight = is_sum ? fold.weight : 1;
    if (has_out && !(view->is_exact && is_sum)) {
        const uint64_t *out = alar_arena_at(view->judge->arena, op->out);

        cell->low = cell->high = alar_fp_to_double(op->dtype, out[cell->element]);
        if (!view->is_scalar) {
            cell->weight = alar_fp_to_double(op->dtype, out[cell->element + 1]);
        }
    }
}

/* Does this cell begin a step? */
static bool cell_begins(const struct log_view *view, const struct log_cell *cell,
                        const struct judge_op *before)
{
    uint32_t every = view->pairs_a_step;

    if (cell->pair > 0) {
        return every > 0 && cell->pair % every == 0;
    }
    return view->is_by_name ? cell->op->step != before->step
                            : every > 0 && cell->index % every == 0;
}

bool log_cell_next(const struct log_view *view, struct log_cell *cell)
{
    const struct judge_op *before = cell->op;
    uint32_t ours = 0, names = 1;

    while (cell->part < view->report->parts) {
        cell->op = judge_op_at(view->judge, view->part[cell->part].op);
        names = log_names(view, cell->op, &ours);
        if (cell->pair < (view->is_scalar ? 1 : cell->op->pairs / names)) {
            break;
        }
        cell->part++;
        cell->pair = 0;
    }
    if (cell->part == view->report->parts) {
        return false;
    }
    cell->step += before != NULL && cell_begins(view, cell, before);
    cell->element = view->is_scalar ? ours : 2 * (cell->pair * names + ours);
    cell_read(view, cell);
    cell->pair++;
    cell->index++;
    return true;
}
