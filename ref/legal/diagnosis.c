/* The diagnosis: whole values, division and adders here; ranks in diagnose_ranks.c. */
#include "legal/diagnosis.h"

#include "base/check.h"
#include "legal/hypothesis.h"
#include "numbers/exact.h"

#include <math.h>

enum {
    DIAGNOSE_WORK = 100 * 1000 /* judgements of ranks: a second or two */
};

uint32_t alar_cause_tier(enum alar_cause cause)
{
    return cause <= ALAR_CAUSE_DOUBLED  ? 1
           : cause <= ALAR_CAUSE_MODEL  ? 2
           : cause <= ALAR_CAUSE_EARLY  ? 3
           : cause <= ALAR_CAUSE_SUBSET ? 4
                                        : 5;
}

bool alar_cause_has_rank(enum alar_cause cause)
{
    return cause == ALAR_CAUSE_OWN || cause == ALAR_CAUSE_MISSING || cause == ALAR_CAUSE_DOUBLED ||
           (cause >= ALAR_CAUSE_REPLACED && cause <= ALAR_CAUSE_EARLY) ||
           cause == ALAR_CAUSE_FLIPPED;
}

const char *alar_cause_name(enum alar_cause cause)
{
    static const char *const names[] = {
        "poison-left", "previous-step",  "next-step",      "own-contribution", "sign-of-zero",
        "undivided",   "divided",        "divided-twice",  "wrong-count",      "missing",
        "doubled",     "accumulated-in", "double-rounded", "rounded-by",       "replaced",
        "stale",       "early",          "subset",         "bit-flip",         "result-bit-flip"};

    return (unsigned)cause < ALAR_CAUSE_COUNT ? names[cause] : "?";
}

bool alar_diagnosis_is_torn(const struct alar_origin *legal, const struct alar_diagnosis *other)
{
    bool is_other_step = false;

    for (uint32_t i = 0; i < other->kept; i++) {
        enum alar_cause cause = other->kept_explanation[i].cause;
        is_other_step |= cause == ALAR_CAUSE_PREVIOUS || cause == ALAR_CAUSE_NEXT;
    }
    return alar_rung_is_legal(legal->rung) && is_other_step;
}

static void inquiry_note(struct alar_inquiry *inquiry, enum alar_cause cause, uint32_t other,
                         enum alar_rung rung)
{
    alar_inquiry_note(inquiry, (struct alar_explanation){cause, 0, other, 0, rung});
}

/* Values that were there before, or belong to another step. */
static void inquiry_try_values(struct alar_inquiry *inquiry)
{
    const struct alar_clues *clues = inquiry->clues;
    enum alar_dtype dtype = inquiry->reduce.adder.dtype;
    struct alar_reduce other = *inquiry->asked;
    const uint64_t *steps[] = {clues->previous, clues->next};
    bool has_value[] = {clues->has_previous_value, clues->has_next_value};
    uint64_t value[] = {clues->previous_value, clues->next_value};

    if (clues->has_poison && clues->poison == inquiry->value) {
        inquiry_note(inquiry, ALAR_CAUSE_POISON, 0, ALAR_RUNG_ONLY);
    }
    for (int i = 0; i < 2; i++) {
        enum alar_cause cause = i ? ALAR_CAUSE_NEXT : ALAR_CAUSE_PREVIOUS;
        if (has_value[i] && alar_fp_is_same(dtype, value[i], inquiry->value)) {
            inquiry_note(inquiry, cause, 0, ALAR_RUNG_ONLY);
        } else if (steps[i]) {
            other.bits = steps[i];
            enum alar_rung rung = alar_inquiry_judge(inquiry, &other, inquiry->value);
            if (alar_rung_is_legal(rung)) {
                inquiry_note(inquiry, cause, 0, rung);
            }
        }
    }
    for (uint32_t i = 0; i < inquiry->asked->n && inquiry->asked->n > 1; i++) {
        if (alar_fp_is_same(dtype, inquiry->asked->bits[i], inquiry->value)) {
            alar_inquiry_note(inquiry,
                              (struct alar_explanation){ALAR_CAUSE_OWN, i, 0, 0, ALAR_RUNG_ONLY});
        }
    }
    uint64_t negated = alar_fp_negate(dtype, inquiry->value);
    if (alar_dtype_is_float(dtype) && alar_fp_is_zero(dtype, inquiry->value) &&
        alar_rung_is_legal(alar_inquiry_judge(inquiry, inquiry->asked, negated))) {
        inquiry_note(inquiry, ALAR_CAUSE_ZERO_SIGN, 0, ALAR_RUNG_ONLY);
    }
}

/* Is the value legal when each of these sums is divided by `count`, or `times` times by n? */
static void inquiry_try_division(struct alar_inquiry *inquiry, enum alar_cause cause,
                                 uint32_t count, uint32_t times)
{
    struct alar_inquiry changed = *inquiry;
    enum alar_dtype dtype = inquiry->reduce.adder.dtype;
    enum alar_avg avg = inquiry->avg == ALAR_AVG_ANY ? ALAR_AVG_SUM_DIVIDE : inquiry->avg;
    int64_t first;
    int64_t last;
    enum alar_rung rung;

    first = last = alar_fp_rank(dtype, inquiry->value);
    for (uint32_t i = 0; i < times; i++) {
        int64_t unused;
        (void)alar_average_sums(avg, dtype, alar_fp_unrank(dtype, first), count, &first, &unused);
        (void)alar_average_sums(avg, dtype, alar_fp_unrank(dtype, last), count, &unused, &last);
    }
    if (first > last || last - first >= ALAR_INQUIRY_SUMS) {
        return;
    }
    for (changed.sums = 0; first <= last; first++) {
        changed.sum[changed.sums++] = alar_fp_unrank(dtype, first);
    }
    changed.reduce.red = ALAR_RED_SUM;
    if (alar_inquiry_explains(&changed, inquiry->reduce.bits, inquiry->reduce.n,
                              inquiry->reduce.adder, &rung)) {
        inquiry_note(inquiry, cause, count, rung);
    }
}

static void inquiry_try_divisions(struct alar_inquiry *inquiry)
{
    enum alar_dtype dtype = inquiry->reduce.adder.dtype;
    uint32_t n = inquiry->asked->n;
    struct alar_reduce plain = *inquiry->asked;

    plain.red = ALAR_RED_SUM;
    if (inquiry->asked->red == ALAR_RED_AVG) {
        enum alar_rung rung = alar_inquiry_judge(inquiry, &plain, inquiry->value);
        if (alar_rung_is_legal(rung)) {
            inquiry_note(inquiry, ALAR_CAUSE_UNDIVIDED, 0, rung);
        }
    }
    bool is_possible = alar_dtype_is_float(dtype) && n > 1 &&
                       !alar_fp_is_nan(dtype, inquiry->value) &&
                       inquiry->asked->red != ALAR_RED_MAX && inquiry->asked->red != ALAR_RED_MIN;

    if (is_possible && inquiry->asked->red == ALAR_RED_SUM) {
        inquiry_try_division(inquiry, ALAR_CAUSE_DIVIDED, n, 1);
    } else if (is_possible &&
               (inquiry->avg == ALAR_AVG_SUM_DIVIDE || inquiry->avg == ALAR_AVG_SUM_MULTIPLY)) {
        inquiry_try_division(inquiry, ALAR_CAUSE_DIVIDED_TWICE, n, 2);
        inquiry_try_division(inquiry, ALAR_CAUSE_COUNT_OFF, n - 1, 1);
        inquiry_try_division(inquiry, ALAR_CAUSE_COUNT_OFF, n + 1, 1);
    }
}

/* Narrower or wider accumulators, and other ways to round. */
static void inquiry_try_adders(struct alar_inquiry *inquiry)
{
    struct alar_adder own = inquiry->reduce.adder;
    bool is_float = alar_dtype_is_float(own.dtype);
    const uint64_t *bits = inquiry->reduce.bits;
    uint32_t n = inquiry->reduce.n;
    enum alar_rung rung;

    for (int wide = ALAR_F16; wide <= ALAR_F64 && is_float; wide++) {
        struct alar_adder adder = {own.dtype, (enum alar_dtype)wide, own.model};
        if (adder.wide != own.wide && alar_inquiry_explains(inquiry, bits, n, adder, &rung)) {
            inquiry_note(inquiry, ALAR_CAUSE_WIDTH, (uint32_t)wide, rung);
        }
    }
    bool is_short = own.dtype == ALAR_F16 || own.dtype == ALAR_BF16;
    if (is_short && inquiry->reduce.red == ALAR_RED_SUM) {
        struct alar_exact exact;
        alar_exact_init(&exact);
        for (uint32_t i = 0; i < n; i++) {
            alar_exact_add(&exact, own.dtype, bits[i]);
        }
        uint64_t once = alar_exact_round(&exact, 1, ALAR_F32, ALAR_NEAREST);
        uint64_t twice = alar_fp_convert(ALAR_F32, own.dtype, ALAR_NEAREST, once);
        for (uint32_t i = 0; i < inquiry->sums; i++) {
            if (alar_fp_is_same(own.dtype, inquiry->sum[i], twice)) {
                inquiry_note(inquiry, ALAR_CAUSE_DOUBLE_ROUNDED, 0, ALAR_RUNG_NAMED);
            }
        }
    }
    for (int model = 0; model < ALAR_MODEL_COUNT; model++) {
        struct alar_adder adder = {own.dtype, own.wide, (enum alar_model)model};
        bool is_other = adder.model != own.model && (is_float || adder.model == ALAR_SATURATE);
        if (is_other && alar_inquiry_explains(inquiry, bits, n, adder, &rung)) {
            inquiry_note(inquiry, ALAR_CAUSE_MODEL, (uint32_t)model, rung);
        }
    }
}

/* How far the sums in question are from the exact one, and how far an altered one can get. */
static void inquiry_measure(struct alar_inquiry *inquiry, double *doubles)
{
    enum alar_dtype dtype = inquiry->reduce.adder.dtype;
    uint32_t n = inquiry->reduce.n;
    uint64_t *bits = inquiry->altered;
    const uint64_t *sets[] = {inquiry->reduce.bits, inquiry->clues->previous, inquiry->clues->next};
    uint64_t largest = 0;
    struct alar_bound bound;

    for (uint32_t i = 0; i < 3 * n; i++) {
        uint64_t magnitude = sets[i / n] ? sets[i / n][i % n] & ~alar_dtype_sign(dtype) : 0;
        largest = magnitude > largest ? magnitude : largest;
    }
    for (uint32_t i = 0; i < n; i++) {
        bits[i] = inquiry->reduce.bits[i];
    }
    bits[n] = largest;
    bits[n + 1] = alar_fp_negate(dtype, largest);
    alar_bound_evaluate(&bound, inquiry->reduce.adder, bits, n + 2, n + 1, doubles);
    inquiry->is_bounded = bound.is_valid && inquiry->reduce.red == ALAR_RED_SUM;
    inquiry->radius = bound.radius;
    inquiry->largest = alar_fp_to_double(dtype, largest);
    for (int end = 0; end < 2 && inquiry->is_bounded; end++) {
        uint64_t sum = inquiry->sum[end ? inquiry->sums - 1 : 0];
        struct alar_exact exact;
        if (!alar_fp_is_finite(dtype, sum)) {
            inquiry->is_bounded = false;
            break;
        }
        alar_exact_init(&exact);
        alar_exact_add(&exact, dtype, sum);
        for (uint32_t i = 0; i < n; i++) {
            alar_exact_subtract(&exact, dtype, bits[i]);
        }
        inquiry->shift[end] = alar_fp_double(alar_exact_round(&exact, 1, ALAR_F64, ALAR_NEAREST));
        inquiry->radius += fabs(inquiry->shift[end]) * 0x1p-50;
    }
}

/* What was summed, and the sums that could have become the value; none is possible too. */
static void inquiry_start(struct alar_inquiry *inquiry, uint64_t *prepared)
{
    const struct alar_reduce *asked = inquiry->asked;
    enum alar_dtype dtype = asked->adder.dtype;
    int64_t first;
    int64_t last;

    inquiry->reduce = *asked;
    inquiry->sum[0] = inquiry->value;
    inquiry->sums = 1;
    if (asked->red != ALAR_RED_AVG || !alar_dtype_is_float(dtype)) {
        return;
    }
    inquiry->avg = asked->avg == ALAR_AVG_ANY ? ALAR_AVG_SUM_DIVIDE : asked->avg;
    inquiry->reduce.red = ALAR_RED_SUM;
    inquiry->reduce.bits = prepared;
    alar_average_prepare(inquiry->avg, dtype, asked->bits, asked->n, prepared);
    if (alar_fp_is_nan(dtype, inquiry->value)) {
        return;
    }
    inquiry->sums = 0;
    if (alar_average_sums(inquiry->avg, dtype, inquiry->value, asked->n, &first, &last)) {
        for (; first <= last && inquiry->sums < ALAR_INQUIRY_SUMS; first++) {
            inquiry->sum[inquiry->sums++] = alar_fp_unrank(dtype, first);
        }
        if (first <= last) {
            alar_inquiry_cut(inquiry, 1);
        }
    }
}

enum alar_status alar_diagnose(const struct alar_reduce *reduce, uint64_t value,
                               const struct alar_clues *clues, struct alar_scratch scratch,
                               struct alar_diagnosis *diagnosis)
{
    struct alar_reduce own = alar_reduce_normalize(reduce);
    uint64_t n = own.n;
    struct alar_inquiry inquiry = {.asked = &own, .value = value, .clues = clues};
    uint64_t *prepared = alar_scratch_take(&scratch, n, sizeof *prepared);
    double *doubles = alar_scratch_take(&scratch, 2 * n + 4, sizeof *doubles);

    PRE(n >= 1);
    inquiry.altered = alar_scratch_take(&scratch, n + 2, sizeof *inquiry.altered);
    inquiry.nodes = alar_scratch_take(&scratch, 2 * n + 3, sizeof *inquiry.nodes);
    if (!prepared || !doubles || !inquiry.altered || !inquiry.nodes) {
        return ALAR_E_RANGE;
    }
    if (own.red == ALAR_RED_PRODUCT) {
        return ALAR_E_UNSUPPORTED;
    }
    *diagnosis = (struct alar_diagnosis){0};
    inquiry.tier = 1;
    inquiry.work = DIAGNOSE_WORK;
    inquiry.scratch = scratch;
    inquiry.diagnosis = diagnosis;
    inquiry_start(&inquiry, prepared);
    inquiry_try_values(&inquiry);
    inquiry_try_divisions(&inquiry);
    if (inquiry.sums > 0) {
        if (alar_dtype_is_float(own.adder.dtype)) {
            inquiry_measure(&inquiry, doubles);
        }
        alar_inquiry_try_ranks(&inquiry);
        inquiry.tier = 2;
        inquiry_try_adders(&inquiry);
        inquiry.tier = 3;
        alar_inquiry_try_pairs(&inquiry);
        inquiry.tier = 4;
        alar_inquiry_try_subsets(&inquiry);
    }
    inquiry.tier = 5;
    alar_inquiry_try_flips(&inquiry);
    diagnosis->is_unique =
        diagnosis->in_tier == 1 && (diagnosis->cut == 0 || diagnosis->cut > diagnosis->tier);
    return ALAR_OK;
}
