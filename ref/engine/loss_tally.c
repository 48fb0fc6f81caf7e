/* What the pairs of a step add up to, and the steps of an interval. */
#include "base/check.h"
#include "engine/loss.h"
#include <float.h>
#include <math.h>

void alar_tally_clear(struct alar_tally *tally, enum alar_encoding encoding)
{
    tally->ratio = (struct alar_ratio){0.0, 0.0};
    tally->tokens = 0.0;
    tally->nonfinite = 0;
    tally->empty = 0;
    if (encoding == ALAR_EXACT) {
        tally->exact = (struct alar_exact_ratio){.denominator = 0};
    }
}

/* Ranks without a token in a reduced rank-mean pair, whose denominator counts those with one. What
   a broken back end delivers is no count and says nothing about empty ranks. */
static uint64_t ranks_empty(uint32_t ranks, double denominator)
{
    return denominator >= 0.0 && denominator <= ranks ? ranks - (uint64_t)denominator : 0;
}

static void ratio_add(struct alar_ratio *ratio, enum alar_encoding encoding, double numerator,
                      double denominator)
{
    ratio->numerator = alar_loss_add(encoding, ratio->numerator, numerator);
    ratio->denominator = alar_loss_add(encoding, ratio->denominator, denominator);
}

void alar_loss_add_pair(struct alar_tally *step, enum alar_encoding encoding,
                        enum alar_normalization normalization, uint32_t ranks,
                        struct alar_ratio pair)
{
    bool is_empty = pair.denominator <= 0.0;

    switch (normalization) {
    case ALAR_TOKEN_WEIGHTED:
        ratio_add(&step->ratio, encoding, pair.numerator, pair.denominator);
        step->tokens += pair.denominator;
        break;
    case ALAR_SEED_UNDIVIDED:
        ratio_add(&step->ratio, encoding, pair.numerator, 1.0);
        break;
    case ALAR_RANK_MEAN:
        step->empty += ranks_empty(ranks, pair.denominator);
        if (!is_empty) {
            ratio_add(&step->ratio, encoding,
                      alar_loss_divide(encoding, pair.numerator, pair.denominator), 1.0);
        }
        break;
    default: /* MICROBATCH_MEAN */
        step->tokens += pair.denominator;
        if (!is_empty) {
            ratio_add(&step->ratio, encoding,
                      alar_loss_divide(encoding, pair.numerator, pair.denominator), 1.0);
        }
        break;
    }
}

/* Either the step's ratio or its value, as one term. */
static void exact_add_step(struct alar_exact_ratio *interval, enum alar_over over,
                           const struct alar_exact_ratio *step, double value)
{
    if (over == ALAR_OVER_POOLED) {
        alar_loss_exact_merge(interval, step);
    } else {
        alar_exact_add(&interval->numerator, ALAR_F64, alar_fp_from_double(ALAR_F64, value));
        interval->denominator++;
    }
}

void alar_loss_add_step(struct alar_tally *interval, enum alar_encoding encoding,
                        enum alar_over over, const struct alar_tally *step)
{
    double value = 0.0;
    bool has_value = alar_loss_value(step, encoding, &value);

    interval->tokens += step->tokens;
    interval->nonfinite += step->nonfinite;
    interval->empty += step->empty + (step->empty == 0 && !has_value);
    if (!has_value) {
        return;
    }
    if (encoding == ALAR_EXACT) {
        exact_add_step(&interval->exact, over, &step->exact, value);
    } else if (over == ALAR_OVER_POOLED) {
        ratio_add(&interval->ratio, encoding, step->ratio.numerator, step->ratio.denominator);
    } else {
        ratio_add(&interval->ratio, encoding, value, 1.0);
    }
}

bool alar_loss_value(const struct alar_tally *tally, enum alar_encoding encoding, double *value)
{
    if (encoding == ALAR_EXACT) {
        return alar_loss_exact_value(&tally->exact, value);
    }
    if (tally->ratio.denominator <= 0.0) {
        return false;
    }
    *value = alar_loss_divide(encoding, tally->ratio.numerator, tally->ratio.denominator);
    return true;
}
