/* Elements written and read: pairs, extremes, rank sets and the participation. */
#include "engine/payload_layout.h"

#include "base/check.h"
#include "engine/payload_element.h"

/* What one rank writes. */
struct writing {
    const struct alar_layout *layout;
    struct payload_plan plan;
    struct alar_participation_self self;
    const struct alar_local *local; /* [microbatches][metrics] */
    void *elements;
};

/* The first local loss of the i-th pair; those of further microbatches follow a stride of metrics
 * apart.
 */
static const struct alar_local *pair_locals(const struct writing *writing, size_t i)
{
    const struct payload_plan *plan = &writing->plan;

    return &writing->local[i / plan->metrics * plan->pair_microbatches * plan->metrics +
                           i % plan->metrics];
}

/* The pairs behind the i-th pair, added from the left. */
static struct alar_ratio pair_fold(const struct writing *writing, size_t i,
                                   enum alar_metric_kind kind)
{
    enum alar_encoding encoding = writing->layout->encoding;
    enum alar_normalization normalization = payload_normalization(writing->layout, kind);
    const struct alar_local *local = pair_locals(writing, i);
    struct alar_ratio sum = alar_loss_pair(encoding, normalization, &local[0]);

    for (size_t microbatch = 1; microbatch < writing->plan.pair_microbatches; microbatch++) {
        struct alar_ratio pair =
            alar_loss_pair(encoding, normalization, &local[microbatch * writing->plan.metrics]);

        sum.numerator = alar_loss_add(encoding, sum.numerator, pair.numerator);
        sum.denominator = alar_loss_add(encoding, sum.denominator, pair.denominator);
    }
    return sum;
}

/* The same under `exact`. */
static void exact_fold(const struct writing *writing, size_t i, enum alar_metric_kind kind,
                       struct alar_exact_ratio *sum)
{
    enum alar_normalization normalization = payload_normalization(writing->layout, kind);
    const struct alar_local *local = pair_locals(writing, i);

    alar_loss_exact_pair(normalization, &local[0], sum);
    for (size_t microbatch = 1; microbatch < writing->plan.pair_microbatches; microbatch++) {
        struct alar_exact_ratio pair;

        alar_loss_exact_pair(normalization, &local[microbatch * writing->plan.metrics], &pair);
        alar_loss_exact_merge(sum, &pair);
    }
}

static void exact_write(const struct writing *writing)
{
    const struct payload_plan *plan = &writing->plan;
    int64_t *elements = writing->elements;
    uint64_t empty = 0;

    for (size_t i = 0; i < plan->pairs; i++) {
        enum alar_metric_kind kind = payload_pair_kind(writing->layout, plan->metrics, i);
        struct alar_exact_ratio sum;

        exact_fold(writing, i, kind, &sum);
        if (alar_metric_is_extreme(kind)) {
            alar_exact_init(&sum.numerator); /* the values have elements of their own */
        }
        PRE(sum.denominator <= ALAR_LOSS_EXACT_TOKENS_MAX);
        enum alar_status status =
            alar_exact_wire_encode(&sum.numerator, ALAR_F64, &elements[i * plan->pair_elements]);
        PRE(status == ALAR_OK);
        elements[i * plan->pair_elements + ALAR_EXACT_WIRE_F64] = sum.denominator;
    }
    for (size_t i = 0; i < plan->locals; i++) {
        empty += writing->local[i].tokens == 0;
    }
    alar_participation_write(&writing->self, empty, &elements[plan->participation]);
}

static void pairs_write(const struct writing *writing)
{
    enum alar_encoding encoding = writing->layout->encoding;

    for (size_t i = 0; i < writing->plan.pairs; i++) {
        enum alar_metric_kind kind = payload_pair_kind(writing->layout, writing->plan.metrics, i);
        struct alar_ratio pair = pair_fold(writing, i, kind);

        if (alar_metric_is_extreme(kind)) {
            pair.numerator = 0.0; /* the values have elements of their own */
        }
        alar_element_write(encoding, writing->elements, 2 * i, pair.numerator);
        alar_element_write(encoding, writing->elements, 2 * i + 1, pair.denominator);
    }
}

/* The rank's own extreme over the microbatches of each pair of an extreme, beside it. */
static void extremes_write(const struct writing *writing)
{
    const struct payload_plan *plan = &writing->plan;
    uint32_t rank = writing->self.rank;

    for (size_t i = 0; i < plan->pairs; i++) {
        enum alar_metric_kind kind = payload_pair_kind(writing->layout, plan->metrics, i);
        const struct alar_local *local = pair_locals(writing, i);
        struct alar_extreme own = {.rank = rank};

        if (!alar_metric_is_extreme(kind)) {
            continue;
        }
        for (size_t microbatch = 0; microbatch < plan->pair_microbatches; microbatch++) {
            const struct alar_local *one = &local[microbatch * plan->metrics];
            const struct alar_extreme value = {one->tokens > 0, rank, one->sum};

            alar_extreme_merge(kind, &own, &value);
        }
        alar_extreme_write(writing->layout->encoding, writing->layout->ranks, &own,
                           writing->elements, payload_extreme_begin(writing->layout, plan, i));
    }
}

/* The part of a microbatch's set that the rank contributes to flag element `element`. */
static uint64_t flag_own(const struct writing *writing, const struct alar_local *local,
                         size_t element)
{
    uint32_t cp = writing->layout->cp;
    uint32_t bits = alar_set_bits(writing->layout->encoding);
    uint64_t shares = cp > 1 ? local->shares : local->nonfinite > 0;
    uint64_t set = 0;

    for (uint32_t c = 0; c < cp; c++) {
        uint32_t number = writing->self.rank * cp + c;

        if (number / bits == element) {
            set |= (shares >> c & 1) << (number % bits);
        }
    }
    return set;
}

static struct alar_participation_self participation_self(const struct alar_layout *layout,
                                                         uint32_t rank, uint64_t number)
{
    return (struct alar_participation_self){rank, layout->ranks, layout->schema, number};
}

size_t alar_payload_write(const struct alar_layout *layout, uint32_t rank, uint64_t number,
                          const struct alar_local *local, size_t microbatches, void *elements)
{
    const struct writing writing = {.layout = layout,
                                    .plan = payload_plan(layout, microbatches),
                                    .self = participation_self(layout, rank, number),
                                    .local = local,
                                    .elements = elements};
    size_t at = writing.plan.flags;

    PRE(rank < layout->ranks);
    if (layout->encoding == ALAR_EXACT) {
        exact_write(&writing);
    } else {
        pairs_write(&writing);
    }
    if (layout->kinds != 0) {
        extremes_write(&writing);
    }
    for (size_t i = 0; i < writing.plan.locals; i++) {
        for (size_t element = 0; element < writing.plan.flag_elements; element++) {
            alar_set_write(layout->encoding, elements, at++,
                           flag_own(&writing, &local[i], element));
        }
    }
    POST(at == writing.plan.participation);
    return writing.plan.elements;
}

struct alar_ratio alar_payload_pair(const struct alar_layout *layout, const void *elements,
                                    size_t i)
{
    PRE(layout->encoding != ALAR_EXACT);
    return (struct alar_ratio){
        .numerator = alar_element_read(layout->encoding, elements, 2 * i),
        .denominator = alar_element_read(layout->encoding, elements, 2 * i + 1),
    };
}

/* The i-th reduced pair under `exact`; false when no contributions can make its elements. */
static bool exact_read(const struct alar_layout *layout, const void *elements, size_t i,
                       struct alar_exact_ratio *pair)
{
    const int64_t *element = (const int64_t *)elements + i * ALAR_PAYLOAD_EXACT_ELEMENTS;

    pair->denominator = element[ALAR_EXACT_WIRE_F64];
    return pair->denominator >= 0 &&
           pair->denominator <= layout->ranks * ALAR_LOSS_EXACT_TOKENS_MAX &&
           alar_exact_wire_decode(element, ALAR_F64, &pair->numerator) == ALAR_OK;
}

/* Can contributions make the elements of the i-th pair, and those beside it? */
static bool exact_is_whole(const struct alar_layout *layout, const struct payload_plan *plan,
                           const void *elements, size_t i)
{
    struct alar_exact_ratio pair;

    return exact_read(layout, elements, i, &pair) &&
           (!alar_metric_is_extreme(payload_pair_kind(layout, plan->metrics, i)) ||
            alar_extreme_is_whole(layout->encoding, layout->ranks, elements,
                                  payload_extreme_begin(layout, plan, i)));
}

struct alar_participation_finding alar_payload_check(const struct alar_layout *layout,
                                                     uint32_t rank, uint64_t number,
                                                     const void *elements, size_t microbatches)
{
    struct alar_participation_finding finding = {.kind = ALAR_PARTICIPATION_WHOLE};

    if (layout->encoding != ALAR_EXACT) {
        return finding;
    }
    const struct alar_participation_self self = participation_self(layout, rank, number);
    const struct payload_plan plan = payload_plan(layout, microbatches);

    finding = alar_participation_judge(&self, (const int64_t *)elements + plan.participation);
    for (size_t i = 0; i < plan.pairs && finding.kind == ALAR_PARTICIPATION_WHOLE; i++) {
        if (!exact_is_whole(layout, &plan, elements, i)) {
            finding.kind = ALAR_PARTICIPATION_DAMAGED;
        }
    }
    return finding;
}

void alar_payload_add(const struct alar_layout *layout, const void *elements, size_t i,
                      struct alar_tally *step)
{
    enum alar_normalization normalization =
        payload_normalization(layout, payload_pair_kind(layout, layout->metrics, i));
    struct alar_exact_ratio pair;

    if (layout->encoding != ALAR_EXACT) {
        alar_loss_add_pair(step, layout->encoding, normalization, layout->ranks,
                           alar_payload_pair(layout, elements, i));
        return;
    }
    bool is_read = exact_read(layout, elements, i, &pair);
    PRE(is_read);
    alar_loss_exact_add_pair(step, normalization, layout->ranks, &pair);
}

void alar_payload_add_extreme(const struct alar_layout *layout, const void *elements,
                              size_t microbatches, size_t i, struct alar_extreme *step)
{
    const struct payload_plan plan = payload_plan(layout, microbatches);
    enum alar_metric_kind kind = payload_pair_kind(layout, plan.metrics, i);

    if (alar_metric_is_extreme(kind)) {
        const struct alar_extreme read =
            alar_extreme_read(layout->encoding, layout->ranks, kind, elements,
                              payload_extreme_begin(layout, &plan, i));

        alar_extreme_merge(kind, step, &read);
    }
}

/* The set in flag element `element` of the `index`-th local loss. What is no set of this group's
   ranks reads as the empty one, and the oracle names it. */
static uint64_t flag_set(const struct alar_layout *layout, const struct payload_plan *plan,
                         const void *elements, size_t index, size_t element)
{
    uint64_t set = 0;

    return alar_set_read(layout->encoding, alar_payload_set_ranks(layout), elements,
                         plan->flags + index * plan->flag_elements, element, &set)
               ? set
               : 0;
}

bool alar_payload_flag(const struct alar_layout *layout, const void *elements, size_t microbatches,
                       size_t index, uint32_t rank)
{
    const struct payload_plan plan = payload_plan(layout, microbatches);
    uint32_t per_element = alar_set_bits(layout->encoding);

    PRE(index < plan.locals && rank < alar_payload_set_ranks(layout));
    return layout->has_flags &&
           (flag_set(layout, &plan, elements, index, rank / per_element) >> (rank % per_element) &
            1) != 0;
}

uint64_t alar_payload_flag_count(const struct alar_layout *layout, const void *elements,
                                 size_t microbatches)
{
    uint64_t count = 0;

    if (!layout->has_flags) {
        return 0;
    }
    const struct payload_plan plan = payload_plan(layout, microbatches);
    for (size_t index = 0; index < plan.locals; index++) {
        for (size_t element = 0; element < plan.flag_elements; element++) {
            /* Loop bound: the bits of a set, cleared one a turn. */
            for (uint64_t set = flag_set(layout, &plan, elements, index, element); set;
                 set &= set - 1) {
                count++;
            }
        }
    }
    return count;
}

bool alar_payload_local(const struct alar_layout *layout, const void *elements,
                        struct alar_exact *exact, struct alar_local *local)
{
    struct alar_local made = {.sum = 0.0};
    struct alar_exact_ratio pair;

    PRE(layout->normalization == ALAR_TOKEN_WEIGHTED && layout->kinds == 0);
    if (layout->encoding == ALAR_EXACT) {
        bool is_read = exact_read(layout, elements, 0, &pair);
        PRE(is_read);
        *exact = pair.numerator;
        made.exact = exact;
        made.tokens = pair.denominator;
        made.sum = alar_fp_to_double(ALAR_F64, alar_exact_round(exact, 1, ALAR_F64, ALAR_NEAREST));
    } else {
        struct alar_ratio sum = alar_payload_pair(layout, elements, 0);

        if (alar_loss_recorded(sum.numerator, sum.denominator, &made) != ALAR_OK) {
            return false;
        }
        made.nonfinite = 0;
    }
    for (uint32_t c = 0; c < alar_payload_set_ranks(layout); c++) {
        bool is_flagged = alar_payload_flag(layout, elements, 1, 0, c);

        made.shares |= (uint64_t)is_flagged << c;
        made.nonfinite += is_flagged;
    }
    *local = made;
    return true;
}
