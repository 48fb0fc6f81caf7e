/* Local sums, normalizations and interval means. Assumes IEEE fp32 and fp64 with FLT_EVAL_METHOD 0
   and no contraction; the build sets the latter. */
#include "engine/loss.h"

#include "base/check.h"

#include <float.h>
#include <math.h>

_Static_assert(FLT_EVAL_METHOD == 0, "each operation rounds to its own type");

static uint64_t nonfinite_count(double loss)
{
    return isfinite(loss) ? UINT64_C(0) : UINT64_C(1);
}

struct alar_local alar_loss_select(const float *losses, const uint8_t *mask, size_t count)
{
    struct alar_local local = {0};

    for (size_t i = 0; i < count; i++) {
        if (mask[i] != 0) {
            local.sum += (double)losses[i];
            local.tokens++;
            local.nonfinite += nonfinite_count((double)losses[i]);
        }
    }
    return local;
}

enum alar_status alar_loss_recorded(double sum, double tokens, struct alar_local *local)
{
    const double count_max = 9007199254740992.0; /* 2^53: every integer below is a double */

    if (!(tokens >= 0.0 && tokens <= count_max) || floor(tokens) < tokens) {
        return ALAR_E_INPUT;
    }
    *local = (struct alar_local){
        .sum = sum, .tokens = (int64_t)tokens, .nonfinite = nonfinite_count(sum)};
    return ALAR_OK;
}

static double loss_round(enum alar_encoding encoding, double value)
{
    return encoding == ALAR_PAIR32 ? (double)(float)value : value;
}

double alar_loss_add(enum alar_encoding encoding, double a, double b)
{
    if (encoding == ALAR_PAIR32) {
        float sum = (float)a + (float)b;

        return (double)sum;
    }
    return a + b;
}

double alar_loss_divide(enum alar_encoding encoding, double a, double b)
{
    if (encoding == ALAR_PAIR32) {
        float quotient = (float)a / (float)b;

        return (double)quotient;
    }
    return a / b;
}

struct alar_ratio alar_loss_pair(enum alar_encoding encoding, enum alar_normalization normalization,
                                 const struct alar_local *local)
{
    double sum = loss_round(encoding, local->sum);
    double tokens = loss_round(encoding, (double)local->tokens);
    bool is_empty = local->tokens == 0;

    switch (normalization) {
    case ALAR_RANK_MEAN:
        return is_empty ? (struct alar_ratio){0.0, 0.0}
                        : (struct alar_ratio){alar_loss_divide(encoding, sum, tokens), 1.0};
    case ALAR_SEED_UNDIVIDED: /* 0/0 is NaN here, as it was there */
        return (struct alar_ratio){alar_loss_divide(encoding, sum, tokens), 1.0};
    default:
        return (struct alar_ratio){sum, tokens};
    }
}
