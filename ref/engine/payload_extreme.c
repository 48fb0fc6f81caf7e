/* One element a rank, then the set of those that hold a value. */
#include "engine/payload_extreme.h"

#include "base/check.h"
#include "engine/payload_element.h"

#include <math.h>
#include <string.h>

/* Is `a` before `b`, as MIN sees them? -0 is before +0. */
static bool is_before(double a, double b)
{
    return a < b || (a <= b && signbit(a) != 0 && signbit(b) == 0);
}

/* Does the other value take the place of the best one, equal ones apart? */
static bool is_better(enum alar_metric_kind kind, double other, double best)
{
    if (isnan(other) || isnan(best)) {
        return !isnan(best);
    }
    return kind == ALAR_METRIC_MIN ? is_before(other, best) : is_before(best, other);
}

void alar_extreme_merge(enum alar_metric_kind kind, struct alar_extreme *best,
                        const struct alar_extreme *other)
{
    PRE(kind == ALAR_METRIC_MIN || kind == ALAR_METRIC_MAX);
    if (!other->has_value) {
        return;
    }
    if (!best->has_value || is_better(kind, other->value, best->value)) {
        *best = *other;
    } else if (!is_better(kind, best->value, other->value) && other->rank < best->rank) {
        best->rank = other->rank;
    }
}

size_t alar_extreme_elements(enum alar_encoding encoding, uint32_t ranks)
{
    return ranks + alar_set_elements(encoding, ranks);
}

/* The element of a rank that says nothing: the sum of it and anything is that. */
static void value_write(enum alar_encoding encoding, void *elements, size_t i,
                        const struct alar_extreme *own)
{
    double value = own->value;

    if (encoding == ALAR_EXACT) {
        memset((char *)elements + i * sizeof(value), 0, sizeof(value));
        if (own->has_value) {
            memcpy((char *)elements + i * sizeof(value), &value, sizeof(value));
        }
        return;
    }
    alar_element_write(encoding, elements, i, own->has_value ? value : -0.0);
}

static double value_read(enum alar_encoding encoding, const void *elements, size_t i)
{
    /* Under `exact` a element has the size of an fp64 one, and its bits. */
    double value = alar_element_read(encoding == ALAR_EXACT ? ALAR_PAIR64 : encoding, elements, i);

    return isnan(value) ? (double)NAN : value;
}

void alar_extreme_write(enum alar_encoding encoding, uint32_t ranks, const struct alar_extreme *own,
                        void *elements, size_t at)
{
    const struct alar_extreme nothing = {.has_value = false};
    uint32_t bits = alar_set_bits(encoding);

    PRE(own->rank < ranks && ranks <= ALAR_EXTREME_RANKS_MAX);
    for (uint32_t r = 0; r < ranks; r++) {
        value_write(encoding, elements, at + r, r == own->rank ? own : &nothing);
    }
    for (size_t part = 0; part < alar_set_elements(encoding, ranks); part++) {
        bool is_here = own->has_value && own->rank / bits == part;

        alar_set_write(encoding, elements, at + ranks + part,
                       is_here ? UINT64_C(1) << own->rank % bits : 0);
    }
}

struct alar_extreme alar_extreme_read(enum alar_encoding encoding, uint32_t ranks,
                                      enum alar_metric_kind kind, const void *elements, size_t at)
{
    struct alar_extreme best = {.has_value = false};
    uint32_t bits = alar_set_bits(encoding);

    for (size_t part = 0; part < alar_set_elements(encoding, ranks); part++) {
        uint64_t set = 0;

        if (!alar_set_read(encoding, ranks, elements, at + ranks, part, &set)) {
            continue;
        }
        for (uint32_t r = (uint32_t)part * bits; set != 0; r++, set >>= 1) {
            const struct alar_extreme one = {
                .has_value = set & 1, .rank = r, .value = value_read(encoding, elements, at + r)};

            alar_extreme_merge(kind, &best, &one);
        }
    }
    return best;
}

bool alar_extreme_is_whole(enum alar_encoding encoding, uint32_t ranks, const void *elements,
                           size_t at)
{
    static const char nothing[sizeof(double)];
    uint32_t bits = alar_set_bits(encoding);

    PRE(encoding == ALAR_EXACT);
    for (uint32_t r = 0; r < ranks; r++) {
        const char *element = (const char *)elements + (at + r) * sizeof(nothing);
        uint64_t set = 0;

        if (!alar_set_read(encoding, ranks, elements, at + ranks, r / bits, &set) ||
            ((set >> r % bits & 1) == 0 && memcmp(element, nothing, sizeof(nothing)) != 0)) {
            return false;
        }
    }
    return true;
}
