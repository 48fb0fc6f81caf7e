/* Sums, means and intervals of the encoding `exact`. Every rounding is one to nearest of an exact
   quotient, so no order of ranks, microbatches or steps is left in any value. */
#include "engine/loss.h"

#include "base/check.h"

static void exact_add_double(struct alar_exact *exact, double value)
{
    alar_exact_add(exact, ALAR_F64, alar_fp_from_double(ALAR_F64, value));
}

struct alar_local alar_loss_select_exact(const float *losses, const uint8_t *mask, size_t count,
                                         struct alar_exact *exact)
{
    struct alar_local local = alar_loss_select(losses, mask, count);

    alar_exact_init(exact);
    alar_exact_add_floats(exact, losses, mask, count);
    local.exact = exact;
    return local;
}

/* A rank without a token adds no term, so that it can't turn a sum of -0 into +0. */
static void local_sum(const struct alar_local *local, struct alar_exact *sum)
{
    uint64_t bits = alar_fp_from_double(ALAR_F64, local->sum);

    if (local->exact != NULL) {
        *sum = *local->exact;
        return;
    }
    alar_exact_init(sum);
    if (local->tokens > 0 || !alar_fp_is_zero(ALAR_F64, bits)) {
        alar_exact_add(sum, ALAR_F64, bits);
    }
}

bool alar_loss_exact_value(const struct alar_exact_ratio *ratio, double *value)
{
    if (ratio->denominator <= 0) {
        return false;
    }
    *value = alar_fp_to_double(
        ALAR_F64,
        alar_exact_round(&ratio->numerator, (uint64_t)ratio->denominator, ALAR_F64, ALAR_NEAREST));
    return true;
}

bool alar_loss_total(const struct alar_tally *tally, enum alar_encoding encoding, double *value)
{
    struct alar_exact_ratio sum = tally->exact;

    if (encoding != ALAR_EXACT) {
        if (tally->ratio.denominator <= 0.0) {
            return false;
        }
        *value = tally->ratio.numerator;
        return true;
    }
    if (sum.denominator <= 0) {
        return false;
    }
    sum.denominator = 1;
    return alar_loss_exact_value(&sum, value);
}

/* The mean as one term of weight 1; nothing when there is none. */
static bool ratio_add_mean(struct alar_exact_ratio *means, const struct alar_exact_ratio *ratio)
{
    double mean = 0.0;

    if (!alar_loss_exact_value(ratio, &mean)) {
        return false;
    }
    exact_add_double(&means->numerator, mean);
    means->denominator++;
    return true;
}

void alar_loss_exact_pair(enum alar_normalization normalization, const struct alar_local *local,
                          struct alar_exact_ratio *pair)
{
    struct alar_exact_ratio own = {.denominator = local->tokens};
    bool is_mean = normalization == ALAR_RANK_MEAN || normalization == ALAR_SEED_UNDIVIDED;

    local_sum(local, &own.numerator);
    if (!is_mean) {
        *pair = own;
        return;
    }
    alar_exact_init(&pair->numerator);
    pair->denominator = 0;
    if (!ratio_add_mean(pair, &own) && normalization == ALAR_SEED_UNDIVIDED) {
        /* 0/0 is NaN here, as it was there. */
        exact_add_double(&pair->numerator, alar_loss_divide(ALAR_EXACT, local->sum, 0.0));
        pair->denominator = 1;
    }
}

void alar_loss_exact_merge(struct alar_exact_ratio *ratio, const struct alar_exact_ratio *other)
{
    alar_exact_merge(&ratio->numerator, &other->numerator);
    ratio->denominator += other->denominator;
}

void alar_loss_exact_add_pair(struct alar_tally *step, enum alar_normalization normalization,
                              uint32_t ranks, const struct alar_exact_ratio *pair)
{
    switch (normalization) {
    case ALAR_TOKEN_WEIGHTED:
        alar_loss_exact_merge(&step->exact, pair);
        step->tokens += (double)pair->denominator;
        break;
    case ALAR_SEED_UNDIVIDED:
        alar_exact_merge(&step->exact.numerator, &pair->numerator);
        step->exact.denominator++;
        break;
    case ALAR_RANK_MEAN:
        step->empty += pair->denominator <= ranks ? ranks - (uint64_t)pair->denominator : 0;
        ratio_add_mean(&step->exact, pair);
        break;
    default: /* MICROBATCH_MEAN */
        step->tokens += (double)pair->denominator;
        ratio_add_mean(&step->exact, pair);
        break;
    }
}
