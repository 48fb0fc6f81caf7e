/* The arithmetic of mutants, element by element. */
#include "mutant_fold.h"

#include "base/check.h"
#include "base/rng.h"
#include "numbers/fp.h"
#include "numbers/tree.h"

#include <string.h>

enum {
    TERMS_MAX = ALAR_MUTANT_RANKS_MAX + 1,
    NODES_MAX = 2 * TERMS_MAX
};

/* How the terms of one element become its value. */
struct recipe {
    struct alar_adder adder;
    enum alar_reduction reduction;
    enum alar_tree_kind tree;
    uint32_t divisor; /* of an average, applied so often */
    uint32_t divisions;
};

static struct recipe recipe_right(const struct mutant_fold *fold)
{
    return (struct recipe){
        .adder = {fold->dtype, fold->dtype, ALAR_NEAREST},
        .reduction = fold->reduction,
        .tree = ALAR_TREE_DOUBLING_HEAD,
        .divisor = fold->ranks,
        .divisions = fold->reduction == ALAR_AVG ? 1 : 0,
    };
}

/* The greater one; NaN wins, and of equal ones the second. */
static uint64_t extreme(enum alar_dtype dtype, bool is_max, uint64_t a, uint64_t b)
{
    if (alar_fp_is_nan(dtype, a) || alar_fp_is_nan(dtype, b)) {
        return alar_fp_is_nan(dtype, a) ? a : b;
    }
    if (!alar_dtype_is_float(dtype)) {
        /* With the sign bit turned, numbers with a sign are in the order of those without. */
        uint64_t turn = alar_dtype_sign(dtype);

        return ((a ^ turn) > (b ^ turn)) == is_max ? a : b;
    }
    return (alar_fp_to_double(dtype, a) > alar_fp_to_double(dtype, b)) == is_max ? a : b;
}

static uint64_t recipe_cook(const struct recipe *recipe, const uint64_t *term, uint32_t terms)
{
    int32_t node[NODES_MAX];
    uint64_t stack[TERMS_MAX];
    struct alar_tree tree = {.node = node, .capacity = NODES_MAX};
    uint64_t value = term[0];

    if (recipe->reduction == ALAR_MAX || recipe->reduction == ALAR_MIN) {
        for (uint32_t i = 1; i < terms; i++) {
            value = extreme(recipe->adder.dtype, recipe->reduction == ALAR_MAX, value, term[i]);
        }
        return value;
    }
    if (!alar_dtype_is_float(recipe->adder.dtype)) {
        for (uint32_t i = 1; i < terms; i++) {
            value = alar_fp_add(recipe->adder.dtype, recipe->adder.model, value, term[i]);
        }
        return value;
    }
    alar_tree_build(&tree, (struct alar_tree_name){recipe->tree, 0}, terms);
    value = alar_tree_evaluate(&tree, recipe->adder, term, stack);
    for (uint32_t i = 0; i < recipe->divisions; i++) {
        value = alar_fp_divide(recipe->adder.dtype, value, recipe->divisor);
    }
    return value;
}

static uint32_t column_take(const struct mutant_fold *fold, const uint64_t *rows, uint32_t element,
                            uint64_t *term)
{
    for (uint32_t r = 0; r < fold->ranks; r++) {
        term[r] = rows[(size_t)r * fold->count + element];
    }
    return fold->ranks;
}

void mutant_fold_right(const struct mutant_fold *fold, const uint64_t *rows, uint64_t *out)
{
    const struct recipe recipe = recipe_right(fold);
    uint64_t term[TERMS_MAX];

    PRE(fold->ranks <= ALAR_MUTANT_RANKS_MAX);
    for (uint32_t e = 0; e < fold->count; e++) {
        out[e] = recipe_cook(&recipe, term, column_take(fold, rows, e, term));
    }
}

/* ---- defects of the terms ----------------------------------------------------------------------
 */

static uint32_t terms_without(uint64_t *term, uint32_t terms, uint32_t at)
{
    memmove(&term[at], &term[at + 1], (terms - at - 1) * sizeof(*term));
    return terms - 1;
}

static uint32_t terms_shuffled(uint64_t draw, uint64_t *term, uint32_t terms)
{
    struct alar_rng rng = alar_rng_stream(draw, 0);

    for (uint32_t i = terms; i > 1; i--) {
        uint32_t at = (uint32_t)alar_rng_below(&rng, i);
        uint64_t kept = term[at];

        term[at] = term[i - 1];
        term[i - 1] = kept;
    }
    return terms;
}

/* The second and the third change places: another tree from three ranks on. */
static uint32_t terms_crossed(uint64_t *term, uint32_t terms)
{
    if (terms >= 3) {
        uint64_t kept = term[1];

        term[1] = term[2];
        term[2] = kept;
    }
    return terms;
}

static uint32_t terms_without_nan(enum alar_dtype dtype, uint64_t *term, uint32_t terms)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < terms; i++) {
        if (!alar_fp_is_nan(dtype, term[i])) {
            term[kept++] = term[i];
        }
    }
    term[0] = kept == 0 ? 0 : term[0];
    return kept == 0 ? 1 : kept;
}

/* The first element whose place n does not divide. */
static bool is_tail(const struct mutant_fold *fold, uint32_t element)
{
    return element >= fold->count - fold->count % fold->ranks;
}

/* Changes the terms of one element; returns how many there are now. */
static uint32_t terms_break(enum alar_mutant_kind kind, const struct mutant_fold *fold,
                            uint32_t element, uint64_t *term)
{
    uint64_t size = 8 * alar_dtype_bytes(fold->dtype);
    uint32_t n = fold->ranks;

    switch ((int)kind) {
    case ALAR_MUTANT_DROP_RANK:
        return terms_without(term, n, fold->rank);
    case ALAR_MUTANT_DOUBLE_RANK:
        term[n] = term[fold->rank];
        return n + 1;
    case ALAR_MUTANT_REPLACE_RANK:
        term[fold->rank] = term[fold->other];
        return n;
    case ALAR_MUTANT_STALE_RANK:
        if (fold->then != NULL) {
            term[fold->rank] = fold->then[(size_t)fold->rank * fold->count + element];
        }
        return n;
    case ALAR_MUTANT_FLIP_BIT:
        if (element == fold->draw / size % fold->count) {
            term[fold->rank] ^= UINT64_C(1) << (fold->draw % size);
        }
        return n;
    case ALAR_MUTANT_TAIL_SHORT:
        return is_tail(fold, element) ? terms_without(term, n, fold->rank) : n;
    case ALAR_MUTANT_SWALLOW_NAN:
        return terms_without_nan(fold->dtype, term, n);
    case ALAR_MUTANT_ORDER_VARIES:
    case ALAR_MUTANT_OTHER_ORDER:
        return terms_shuffled(fold->draw, term, n);
    case ALAR_MUTANT_OTHER_TREE:
        return terms_crossed(term, n);
    default:
        return n;
    }
}

/* ---- defects of the arithmetic -----------------------------------------------------------------
 */

static void recipe_break_adder(enum alar_mutant_kind kind, struct recipe *recipe)
{
    struct alar_adder *adder = &recipe->adder;

    switch ((int)kind) {
    case ALAR_MUTANT_BF16_ADDER:
        adder->wide = adder->dtype == ALAR_F32 ? ALAR_BF16 : adder->wide;
        break;
    case ALAR_MUTANT_F16_ADDER:
        adder->wide = adder->dtype == ALAR_F32 ? ALAR_F16 : adder->wide;
        break;
    case ALAR_MUTANT_WIDE_ADDER:
        adder->wide = adder->dtype == ALAR_F32 ? ALAR_F64 : adder->wide;
        break;
    case ALAR_MUTANT_TRUNCATING:
        adder->model = ALAR_TRUNCATE;
        break;
    case ALAR_MUTANT_HALF_UP:
        adder->model = ALAR_HALF_UP;
        break;
    case ALAR_MUTANT_FLUSHING:
        adder->model = ALAR_FLUSH;
        break;
    default:
        break;
    }
}

static void recipe_break(enum alar_mutant_kind kind, const struct mutant_fold *fold,
                         struct recipe *recipe)
{
    bool is_float = alar_dtype_is_float(fold->dtype);

    if (is_float) {
        recipe_break_adder(kind, recipe);
    }
    switch ((int)kind) {
    case ALAR_MUTANT_WRONG_DIVISOR:
        recipe->divisor = fold->ranks > 1 ? fold->ranks - 1 : 2;
        break;
    case ALAR_MUTANT_DOUBLE_DIVISION:
        recipe->divisions *= 2;
        break;
    case ALAR_MUTANT_NO_DIVISION:
        recipe->divisions = 0;
        break;
    case ALAR_MUTANT_SATURATING:
        recipe->adder.model = is_float ? ALAR_SATURATE : ALAR_NEAREST;
        break;
    case ALAR_MUTANT_INT_SATURATE:
        recipe->adder.model = is_float ? ALAR_NEAREST : ALAR_SATURATE;
        break;
    case ALAR_MUTANT_MIN_FOR_MAX:
        recipe->reduction = fold->reduction == ALAR_MAX   ? ALAR_MIN
                            : fold->reduction == ALAR_MIN ? ALAR_MAX
                                                          : fold->reduction;
        break;
    default:
        break;
    }
}

/* Sums integers as a float of about their size would hold them. */
static uint64_t int_as_float(const struct mutant_fold *fold, const uint64_t *term, uint32_t terms)
{
    bool is_wide = fold->dtype == ALAR_I64;
    double sum = 0.0;

    for (uint32_t i = 0; i < terms; i++) {
        double value = (double)alar_int_value(fold->dtype, term[i]);

        sum = is_wide ? sum + value : (double)((float)sum + (float)value);
    }
    /* What does not fit becomes the lowest integer, as on x86. */
    return sum < 0x1p63 && sum >= -0x1p63 ? (uint64_t)(int64_t)sum & alar_dtype_mask(fold->dtype)
                                          : alar_dtype_sign(fold->dtype);
}

/* ---- defects of the result ---------------------------------------------------------------------
 */

static uint64_t element_finish(enum alar_mutant_kind kind, const struct mutant_fold *fold,
                               uint32_t element, uint64_t value)
{
    bool is_last = element + 1 == fold->count;

    switch ((int)kind) {
    case ALAR_MUTANT_NAN_TO_ZERO:
        return alar_fp_is_nan(fold->dtype, value) ? 0 : value;
    case ALAR_MUTANT_ZERO_SIGN:
        return alar_dtype_is_float(fold->dtype) && alar_fp_is_zero(fold->dtype, value) ? 0 : value;
    case ALAR_MUTANT_LAST_LOST:
        return is_last ? 0 : value;
    case ALAR_MUTANT_ONE_ULP:
        return is_last && !alar_fp_is_nan(fold->dtype, value) ? value ^ 1 : value;
    case ALAR_MUTANT_OWN_ONLY:
        return fold->now[(size_t)fold->rank * fold->count + element];
    case ALAR_MUTANT_UNTOUCHED:
        return 0;
    default:
        return value;
    }
}

/* Results that are other results: of the all-reduce before, or of the next element. */
static void result_move(enum alar_mutant_kind kind, const struct mutant_fold *fold,
                        const uint64_t *right, uint64_t *out)
{
    uint32_t half = kind == ALAR_MUTANT_TORN_PAIR ? fold->count / 2 : 0;

    if (kind == ALAR_MUTANT_SHIFTED) {
        for (uint32_t e = 0; e < fold->count; e++) {
            out[e] = right[(e + 1) % fold->count];
        }
        return;
    }
    if ((kind == ALAR_MUTANT_PREVIOUS_VALUE || kind == ALAR_MUTANT_STALE_RESULT ||
         kind == ALAR_MUTANT_TORN_PAIR) &&
        fold->then != NULL) {
        mutant_fold_right(fold, fold->then, out);
        memcpy(out, right, half * sizeof(*out));
    }
}

void mutant_fold_wrong(enum alar_mutant_kind kind, const struct mutant_fold *fold,
                       const uint64_t *right, uint64_t *out)
{
    struct recipe recipe = recipe_right(fold);
    uint64_t term[TERMS_MAX];

    recipe_break(kind, fold, &recipe);
    for (uint32_t e = 0; e < fold->count; e++) {
        column_take(fold, fold->now, e, term);
        uint32_t terms = terms_break(kind, fold, e, term);
        bool is_int = kind == ALAR_MUTANT_INT_AS_FLOAT && !alar_dtype_is_float(fold->dtype) &&
                      fold->reduction == ALAR_SUM;
        uint64_t value =
            is_int ? int_as_float(fold, term, terms) : recipe_cook(&recipe, term, terms);

        out[e] = element_finish(kind, fold, e, value);
    }
    result_move(kind, fold, right, out);
}
