/* Re-checks certificates by plain evaluation, from the text alone. It trusts the adder, the exact
   sum, the radius and grain of a bound and the rule for zeros, and nothing else: no tree, no set.
 */
#include "legal/certificate.h"

#include "base/check.h"
#include "legal/hull.h"

#include <string.h>

/* What is left of the text. */
struct slip {
    const char *at;
};

static bool slip_word(struct slip *slip, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(slip->at, word, length) != 0) {
        return false;
    }
    slip->at += length;
    return true;
}

static bool slip_hex(struct slip *slip, size_t digits, uint64_t *number)
{
    uint64_t value = 0;

    for (size_t i = 0; i < digits; i++) {
        char c = slip->at[i];
        const char *digit = c ? strchr("0123456789abcdef", c) : NULL;
        if (!digit) {
            return false;
        }
        value = value << 4 | (uint64_t)(digit - "0123456789abcdef");
    }
    slip->at += digits;
    *number = value;
    return true;
}

static bool slip_number(struct slip *slip, uint32_t limit, uint32_t *number)
{
    const char *start = slip->at;
    uint64_t value = 0;

    for (; *slip->at >= '0' && *slip->at <= '9' && slip->at - start < 10; slip->at++) {
        value = 10 * value + (uint64_t)(*slip->at - '0');
    }
    *number = (uint32_t)value;
    return slip->at > start && value < limit;
}

static bool slip_dtype(struct slip *slip, enum alar_dtype *dtype)
{
    for (int i = 0; i < ALAR_DTYPE_COUNT; i++) {
        if (slip_word(slip, alar_dtype_name((enum alar_dtype)i))) {
            *dtype = (enum alar_dtype)i;
            return true;
        }
    }
    return false;
}

static bool slip_red(struct slip *slip, enum alar_reduction *red)
{
    *red = slip_word(slip, "sum")   ? ALAR_SUM
           : slip_word(slip, "max") ? ALAR_MAX
           : slip_word(slip, "min") ? ALAR_MIN
           : slip_word(slip, "avg") ? ALAR_AVG
                                    : ALAR_PRODUCT;
    return *red != ALAR_PRODUCT;
}

static bool slip_field(struct slip *slip, const char *name, uint32_t limit, uint32_t *number)
{
    return slip_word(slip, name) && slip_number(slip, limit, number);
}

/* Do the words go together? Averages have a convention, nothing else has; integers divide a sum and
   are not widened. */
static bool slip_claim_is_possible(const struct alar_reduce *reduce)
{
    bool is_float = alar_dtype_is_float(reduce->adder.dtype);
    bool is_plain = reduce->adder.wide == reduce->adder.dtype;

    return (reduce->red == ALAR_AVG) == (reduce->avg != ALAR_AVG_ANY) &&
           (is_float ? alar_dtype_is_float(reduce->adder.wide)
                     : is_plain && reduce->avg != ALAR_AVG_SUM_MULTIPLY &&
                           reduce->avg != ALAR_AVG_MULTIPLY_SUM);
}

/* Everything up to the leaves. */
static bool slip_claim(struct slip *slip, struct alar_reduce *reduce, uint64_t *value)
{
    uint32_t avg;
    uint32_t nan;
    uint32_t model;
    bool is_read = slip_word(slip, "alar-certificate=1 red=") && slip_red(slip, &reduce->red) &&
                   slip_field(slip, " avg=", ALAR_AVG_DIVIDE_SUM + 1, &avg) &&
                   slip_field(slip, " nan=", ALAR_NAN_IDIOM + 1, &nan) &&
                   slip_word(slip, " dtype=") && slip_dtype(slip, &reduce->adder.dtype) &&
                   slip_word(slip, " wide=") && slip_dtype(slip, &reduce->adder.wide) &&
                   slip_field(slip, " model=", ALAR_MODEL_COUNT, &model) &&
                   slip_field(slip, " height=", UINT32_MAX, &reduce->height);

    if (!is_read) {
        return false;
    }
    reduce->avg = (enum alar_avg)avg;
    reduce->nan = (enum alar_nan_policy)nan;
    reduce->adder.model = (enum alar_model)model;
    return slip_claim_is_possible(reduce) && slip_word(slip, " value=") &&
           slip_hex(slip, 2 * alar_dtype_bytes(reduce->adder.dtype), value) &&
           slip_word(slip, " leaves=");
}

/* The sum that an expression stands for. The stack holds what is open: '(' and '+' as marks, and
   values; each leaf may be used once, and all must be. */
struct evaluator {
    struct alar_adder adder;
    const uint64_t *leaf; /* prepared */
    uint32_t n;
    uint32_t used;
    uint64_t *value;
    char *kind;       /* '(', '+' or 'v' by stack entry */
    uint8_t *is_used; /* by leaf */
    size_t depth;
};

static bool evaluator_leaf(struct evaluator *evaluator, struct slip *slip)
{
    uint32_t index;

    if (!slip_number(slip, evaluator->n, &index) || evaluator->is_used[index]) {
        return false;
    }
    evaluator->is_used[index] = 1;
    evaluator->used++;
    evaluator->kind[evaluator->depth] = 'v';
    evaluator->value[evaluator->depth++] =
        alar_adder_load(evaluator->adder, evaluator->leaf[index]);
    return true;
}

/* "(v+v" becomes "v". */
static bool evaluator_close(struct evaluator *evaluator)
{
    size_t depth = evaluator->depth;

    if (depth < 4 || memcmp(evaluator->kind + depth - 4, "(v+v", 4) != 0) {
        return false;
    }
    evaluator->value[depth - 4] =
        alar_adder_add(evaluator->adder, evaluator->value[depth - 3], evaluator->value[depth - 1]);
    evaluator->kind[depth - 4] = 'v';
    evaluator->depth = depth - 3;
    return true;
}

/* Evaluates up to the first character that belongs to no expression. The stack is as deep as the
   text is long at most. */
static bool evaluator_run(struct evaluator *evaluator, struct slip *slip, uint64_t *sum)
{
    evaluator->depth = 0;
    evaluator->used = 0;
    memset(evaluator->is_used, 0, evaluator->n);
    for (;;) {
        char c = *slip->at;
        if (c >= '0' && c <= '9') {
            if (!evaluator_leaf(evaluator, slip)) {
                return false;
            }
            continue;
        }
        if (c != '(' && c != '+' && c != ')') {
            break;
        }
        slip->at++;
        if (c == ')') {
            if (!evaluator_close(evaluator)) {
                return false;
            }
        } else {
            evaluator->kind[evaluator->depth++] = c;
        }
    }
    if (evaluator->depth != 1 || evaluator->kind[0] != 'v' || evaluator->used != evaluator->n) {
        return false;
    }
    *sum = alar_adder_store(evaluator->adder, evaluator->value[0]);
    return true;
}

/* Where a proof stands before it is weighed. */
struct trial {
    struct alar_reduce *reduce;
    uint64_t value;
    uint64_t *prepared;
    double *doubles;
    struct evaluator evaluator;
    struct slip slip;
};

static uint64_t trial_finish(const struct trial *trial, uint64_t sum)
{
    return alar_average_finish(trial->reduce->avg, trial->reduce->adder.dtype, sum,
                               trial->reduce->n);
}

static bool trial_tree(struct trial *trial)
{
    uint64_t sum;

    return evaluator_run(&trial->evaluator, &trial->slip, &sum) &&
           alar_fp_is_same(trial->reduce->adder.dtype, trial_finish(trial, sum), trial->value);
}

static void trial_bound(struct trial *trial, struct alar_bound *bound)
{
    const struct alar_reduce *reduce = trial->reduce;
    uint32_t height = reduce->height > 0 ? reduce->height : reduce->n - 1;

    alar_bound_evaluate(bound, reduce->adder, trial->prepared, reduce->n, height, trial->doubles);
}

static bool trial_order_free(struct trial *trial)
{
    struct alar_bound bound;

    if (!alar_dtype_is_float(trial->reduce->adder.dtype)) {
        return false;
    }
    trial_bound(trial, &bound);
    return bound.is_order_free && trial_tree(trial);
}

/* Is it a sum that the leaves' grain, and the rule for zeros, allow? */
static bool trial_is_grained(const struct trial *trial, const struct alar_bound *bound,
                             uint64_t sum)
{
    struct alar_adder adder = trial->reduce->adder;

    if (alar_fp_is_zero(adder.dtype, sum)) {
        return alar_zero_is_legal(adder, trial->prepared, trial->reduce->n, UINT32_MAX,
                                  alar_fp_is_negative(adder.dtype, sum));
    }
    return !bound->is_valid || adder.model == ALAR_FLUSH ||
           alar_bound_is_multiple(adder.dtype, sum, bound->granularity);
}

/* Does such a sum become the value, within the radius when that counts? */
static bool trial_has_sum(const struct trial *trial, const struct alar_bound *bound,
                          bool has_radius)
{
    const struct alar_reduce *reduce = trial->reduce;
    enum alar_dtype dtype = reduce->adder.dtype;
    int64_t first, last;

    if (!alar_average_sums(reduce->avg, dtype, trial->value, reduce->n, &first, &last)) {
        return false;
    }
    for (int64_t rank = first; rank <= last && rank < first + 64; rank++) {
        uint64_t sum = alar_fp_unrank(dtype, rank);

        if (alar_fp_is_zero(dtype, sum)) {
            sum = trial->value & alar_dtype_sign(dtype);
        }
        if (alar_fp_is_finite(dtype, sum) && trial_is_grained(trial, bound, sum) &&
            (!has_radius || alar_bound_admits(bound, dtype, trial->prepared, reduce->n, sum))) {
            return true;
        }
    }
    return false;
}

static bool trial_between(struct trial *trial)
{
    enum alar_dtype dtype = trial->reduce->adder.dtype;
    struct alar_bound bound;
    uint64_t low, high;

    if (!evaluator_run(&trial->evaluator, &trial->slip, &low) || !slip_word(&trial->slip, ":") ||
        !evaluator_run(&trial->evaluator, &trial->slip, &high)) {
        return false;
    }
    low = trial_finish(trial, low);
    high = trial_finish(trial, high);
    if (alar_fp_is_nan(dtype, trial->value) || alar_fp_is_nan(dtype, low) ||
        alar_fp_is_nan(dtype, high)) {
        return false;
    }
    double value = alar_fp_to_double(dtype, trial->value);

    if (!(alar_fp_to_double(dtype, low) <= value && value <= alar_fp_to_double(dtype, high))) {
        return false;
    }
    if (!alar_dtype_is_float(dtype) || !alar_fp_is_finite(dtype, trial->value)) {
        return true;
    }
    trial_bound(trial, &bound);
    return trial_has_sum(trial, &bound, false);
}

/* Some sum that becomes the value is within the radius, which is not larger than is proven. */
static bool trial_within(struct trial *trial)
{
    enum alar_dtype dtype = trial->reduce->adder.dtype;
    struct alar_bound bound;
    uint64_t radius;

    if (!alar_dtype_is_float(dtype) || !slip_hex(&trial->slip, 16, &radius) ||
        !alar_fp_is_finite(dtype, trial->value)) {
        return false;
    }
    trial_bound(trial, &bound);
    return bound.is_valid && alar_fp_bits(bound.radius) == radius &&
           trial_has_sum(trial, &bound, true);
}

static bool trial_hold(struct trial *trial)
{
    struct slip *slip = &trial->slip;
    bool is_extremum = trial->reduce->red == ALAR_MAX || trial->reduce->red == ALAR_MIN;
    uint64_t legal;

    if (is_extremum) {
        return slip_word(slip, "extremum") &&
               alar_extremum_is_legal(trial->reduce, trial->value, &legal);
    }
    return slip_word(slip, "tree:")         ? trial_tree(trial)
           : slip_word(slip, "order-free:") ? trial_order_free(trial)
           : slip_word(slip, "between:")    ? trial_between(trial)
           : slip_word(slip, "within:")     ? trial_within(trial)
                                            : false;
}

/* Takes the memory for the leaves and for an evaluation; counts the leaves first. */
static enum alar_status trial_prepare(struct trial *trial, struct alar_scratch *scratch)
{
    struct alar_reduce *reduce = trial->reduce;
    size_t digits = 2 * alar_dtype_bytes(reduce->adder.dtype);
    size_t length = strlen(trial->slip.at);
    uint64_t *leaf = alar_scratch_take(scratch, length / digits + 1, sizeof *leaf);
    uint32_t n = 0;

    if (!leaf) {
        return ALAR_E_RANGE;
    }
    do {
        if (!slip_hex(&trial->slip, digits, &leaf[n++])) {
            return ALAR_E_INPUT;
        }
    } while (slip_word(&trial->slip, ","));
    if (n > ALAR_BOUND_RANKS_MAX) {
        return ALAR_E_RANGE;
    }
    reduce->bits = leaf;
    reduce->n = n;
    trial->prepared = alar_scratch_take(scratch, n, sizeof *trial->prepared);
    trial->doubles = alar_scratch_take(scratch, 2 * (uint64_t)n, sizeof *trial->doubles);
    struct evaluator *evaluator = &trial->evaluator;
    *evaluator = (struct evaluator){.adder = reduce->adder, .leaf = trial->prepared, .n = n};
    evaluator->value = alar_scratch_take(scratch, length + 1, sizeof *evaluator->value);
    evaluator->kind = alar_scratch_take(scratch, length + 1, 1);
    evaluator->is_used = alar_scratch_take(scratch, n, 1);
    if (!trial->prepared || !trial->doubles || !evaluator->value || !evaluator->kind ||
        !evaluator->is_used) {
        return ALAR_E_RANGE;
    }
    alar_average_prepare(reduce->avg, reduce->adder.dtype, leaf, n, trial->prepared);
    return slip_word(&trial->slip, " proof=") ? ALAR_OK : ALAR_E_INPUT;
}

enum alar_status alar_certificate_check(const char *text, struct alar_scratch scratch,
                                        struct alar_reduce *reduce, uint64_t *value)
{
    const char *seal = strstr(text, " check=");
    struct alar_reduce read = {.n = 0};
    struct trial trial = {.reduce = &read, .slip = {text}};
    uint64_t digest;

    if (!seal || !slip_claim(&trial.slip, &read, &trial.value)) {
        return ALAR_E_INPUT;
    }
    struct slip end = {seal + strlen(" check=")};
    if (!slip_hex(&end, 16, &digest) || *end.at != '\0' ||
        digest != alar_certificate_digest(text, (size_t)(seal - text))) {
        return ALAR_E_INPUT;
    }
    ALAR_TRY(trial_prepare(&trial, &scratch));
    if (!trial_hold(&trial) || trial.slip.at != seal) {
        return ALAR_E_DIFFERS;
    }
    *reduce = read;
    *value = trial.value;
    return ALAR_OK;
}
