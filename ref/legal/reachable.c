/* Reachable sets: fill subsets in order of size, stop a subset when the line of values between its
   extremes is full. */
#include "legal/reachable.h"

#include "base/check.h"

#include <math.h>

/* Below this many values a scan is faster than a hash. */
enum {
    REACH_SCAN = 12
};

static uint64_t *reachable_slot(const struct alar_reachable *reachable,
                                const struct alar_reachable_subset *subset, uint64_t bits)
{
    uint32_t at = (uint32_t)((bits * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (reachable->slots - 1);
    uint64_t stamp = (uint64_t)(uint32_t)(subset - reachable->subset) + 1;

    while (reachable->slot[at] >> 32 == stamp &&
           alar_fp_bits(reachable->value[(uint32_t)reachable->slot[at]]) != bits) {
        at = (at + 1) & (reachable->slots - 1);
    }
    return &reachable->slot[at];
}

/* Is the value in the subset already? When not, and a hash is kept, marks its place as taken. */
static bool cell_is_known(struct alar_reachable *reachable,
                          const struct alar_reachable_subset *subset, uint64_t bits)
{
    uint64_t stamp = (uint64_t)(uint32_t)(subset - reachable->subset) + 1;

    if (subset->count < REACH_SCAN) {
        for (uint32_t i = 0; i < subset->count; i++) {
            if (alar_fp_bits(reachable->value[subset->first + i]) == bits) {
                return true;
            }
        }
        return false;
    }
    if (subset->count == REACH_SCAN) {
        for (uint32_t i = subset->first; i < subset->first + subset->count; i++) {
            *reachable_slot(reachable, subset, alar_fp_bits(reachable->value[i])) = stamp << 32 | i;
        }
    }
    uint64_t *slot = reachable_slot(reachable, subset, bits);
    bool is_known = *slot >> 32 == stamp;

    *slot = is_known ? *slot : stamp << 32 | reachable->values;
    return is_known;
}

/* Adds a value to the subset at the end of the arena. */
static enum alar_status cell_add(struct alar_reachable *reachable,
                                 struct alar_reachable_subset *subset, double value)
{
    if (cell_is_known(reachable, subset, alar_fp_bits(value))) {
        return ALAR_OK;
    }
    if (reachable->values >= reachable->value_limit || subset->count >= reachable->slots / 2) {
        return ALAR_E_RANGE;
    }
    reachable->value[reachable->values++] = value;
    subset->count++;
    return ALAR_OK;
}

/* How many values of adder.wide lie from low to high; both zeros may be among them. */
static uint64_t cell_window(const struct alar_reachable *reachable,
                            const struct alar_reachable_subset *subset)
{
    enum alar_dtype wide = reachable->adder.wide;
    uint64_t low = alar_fp_from_double(wide, subset->low);
    uint64_t high = alar_fp_from_double(wide, subset->high);

    return alar_fp_ulps(wide, low, high) + 1 + (subset->low <= 0 && subset->high >= 0);
}

/* The least and the greatest of what the ends of two parts give. */
static void extremes_split(const struct alar_adder adder, const struct alar_reachable_subset *a,
                           const struct alar_reachable_subset *b, double *least, double *most)
{
    *least = alar_hull_sum(adder, a->low, b->low);
    *most = alar_hull_sum(adder, a->high, b->high);
    if (adder.is_product) {
        double ends[] = {*least, *most, alar_hull_sum(adder, a->low, b->high),
                         alar_hull_sum(adder, a->high, b->low)};

        for (int i = 0; i < 4; i++) {
            *least = ends[i] < *least ? ends[i] : *least;
            *most = ends[i] > *most ? ends[i] : *most;
        }
    }
}

/* Extremes of a subset from those of its parts; infinities and NaN switch them off. To nearest,
   sums are rounded once for the subset, as in hull.c. */
static enum alar_status cell_extremes(struct alar_reachable *reachable,
                                      struct alar_partition *partition,
                                      struct alar_reachable_subset *subset)
{
    uint32_t index = (uint32_t)(subset - reachable->subset);
    bool is_nearest = reachable->adder.model == ALAR_NEAREST && !reachable->adder.is_product;
    double low = INFINITY, high = -INFINITY;
    uint32_t a;
    uint32_t b;

    *subset = (struct alar_reachable_subset){INFINITY, -INFINITY, reachable->values, 0, true};
    for (uint32_t step = 0; alar_partition_split(partition, index, &step, &a, &b);) {
        const struct alar_reachable_subset *left = &reachable->subset[a];
        const struct alar_reachable_subset *right = &reachable->subset[b];
        if (reachable->work < 2) {
            return ALAR_E_RANGE;
        }
        reachable->work -= 2;
        if (!left->is_finite || !right->is_finite) {
            subset->is_finite = false;
            return ALAR_OK;
        }
        double least = left->low + right->low;
        double most = left->high + right->high;
        if (!is_nearest) {
            extremes_split(reachable->adder, left, right, &least, &most);
        }
        low = least < low ? least : low;
        high = most > high ? most : high;
    }
    subset->low = is_nearest ? alar_hull_sum(reachable->adder, low, 0.0) : low;
    subset->high = is_nearest ? alar_hull_sum(reachable->adder, high, 0.0) : high;
    subset->is_finite = isfinite(subset->low) && isfinite(subset->high);
    return ALAR_OK;
}

/* All sums of one split. */
static enum alar_status cell_combine(struct alar_reachable *reachable,
                                     struct alar_reachable_subset *subset,
                                     const struct alar_reachable_subset *a,
                                     const struct alar_reachable_subset *b)
{
    uint64_t sums = (uint64_t)a->count * b->count;

    if (sums > reachable->work) {
        return ALAR_E_RANGE;
    }
    reachable->work -= sums;
    for (uint32_t i = a->first; i < a->first + a->count; i++) {
        for (uint32_t j = b->first; j < b->first + b->count; j++) {
            double sum = alar_hull_sum(reachable->adder, reachable->value[i], reachable->value[j]);
            ALAR_TRY(cell_add(reachable, subset, sum));
        }
    }
    return ALAR_OK;
}

static enum alar_status cell_fill(struct alar_reachable *reachable,
                                  struct alar_partition *partition,
                                  struct alar_reachable_subset *subset)
{
    uint32_t index = (uint32_t)(subset - reachable->subset);
    uint32_t a;
    uint32_t b;

    ALAR_TRY(cell_extremes(reachable, partition, subset));
    uint64_t window = subset->is_finite ? cell_window(reachable, subset) : UINT64_MAX;

    for (uint32_t step = 0;
         subset->count < window && alar_partition_split(partition, index, &step, &a, &b);) {
        ALAR_TRY(cell_combine(reachable, subset, &reachable->subset[a], &reachable->subset[b]));
    }
    return ALAR_OK;
}

/* The subset of one rank, or of one partition as a whole. */
static enum alar_status partition_fill_leaf(struct alar_reachable *reachable,
                                            const struct alar_partition *partition, uint32_t leaf)
{
    struct alar_reachable_subset *subset =
        &reachable->subset[alar_partition_leaf_subset(partition, leaf)];

    if (partition->is_over_partitions) {
        *subset = reachable->subset[alar_partition_whole(&reachable->partition[leaf])];
        return ALAR_OK;
    }
    uint32_t rank = reachable->member[partition->first_member + leaf];
    uint64_t loaded = alar_adder_load(reachable->adder, reachable->bits[rank]);
    double value = alar_fp_to_double(reachable->adder.wide, loaded);

    *subset =
        (struct alar_reachable_subset){value, value, reachable->values, 0, isfinite(value) != 0};
    return cell_add(reachable, subset,
                    isnan(value) ? alar_fp_double(alar_fp_nan(ALAR_F64)) : value);
}

static enum alar_status partition_fill(struct alar_reachable *reachable,
                                       struct alar_partition *partition)
{
    for (uint32_t leaf = 0; leaf < partition->leaves; leaf++) {
        ALAR_TRY(partition_fill_leaf(reachable, partition, leaf));
    }
    uint32_t last = alar_partition_whole(partition);

    for (uint32_t subset = partition->first_subset; subset <= last; subset++) {
        if (alar_partition_is_sum(partition, subset)) {
            ALAR_TRY(cell_fill(reachable, partition, &reachable->subset[subset]));
        }
    }
    return ALAR_OK;
}

/* Shares the scratch out: subsets as many as needed, a quarter of the rest for the hash, the rest
   for values. Blocks know their leaves; here they get their subsets. */
static enum alar_status reachable_carve(struct alar_reachable *reachable,
                                        struct alar_scratch *scratch)
{
    uint64_t subsets = 0;

    for (uint32_t i = 0; i < reachable->partitions; i++) {
        if (reachable->partition[i].leaves > UINT16_MAX || subsets > UINT32_MAX / 2) {
            return ALAR_E_RANGE;
        }
        reachable->partition[i].first_subset = (uint32_t)subsets;
        subsets += alar_partition_subsets(&reachable->partition[i]);
    }
    reachable->subset = subsets < UINT32_MAX
                            ? alar_scratch_take(scratch, subsets, sizeof *reachable->subset)
                            : NULL;
    for (reachable->slots = 16;
         reachable->slots < scratch->bytes / 64 && reachable->slots < UINT32_C(1) << 24;
         reachable->slots *= 2) {
    }
    reachable->slot = alar_scratch_take(scratch, reachable->slots, sizeof *reachable->slot);
    size_t room = scratch->bytes / sizeof *reachable->value;
    reachable->value_limit = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
    reachable->value = alar_scratch_take(scratch, reachable->value_limit, sizeof *reachable->value);
    if (!reachable->subset || !reachable->slot || !reachable->value) {
        return ALAR_E_RANGE;
    }
    for (uint32_t i = 0; i < reachable->slots; i++) {
        reachable->slot[i] = 0;
    }
    return ALAR_OK;
}

static enum alar_status reachable_build(struct alar_reachable *reachable,
                                        struct alar_scratch scratch)
{
    ALAR_TRY(reachable_carve(reachable, &scratch));
    for (uint32_t i = 0; i < reachable->partitions; i++) {
        ALAR_TRY(partition_fill(reachable, &reachable->partition[i]));
    }
    return ALAR_OK;
}

/* Common start: memory for the partitions and their members. */
static enum alar_status reachable_start(struct alar_reachable *reachable, uint32_t partitions,
                                        struct alar_scratch *scratch)
{
    reachable->partitions = partitions;
    reachable->partition = alar_scratch_take(scratch, partitions, sizeof *reachable->partition);
    reachable->member = alar_scratch_take(scratch, reachable->n, sizeof *reachable->member);
    return reachable->partition && reachable->member ? ALAR_OK : ALAR_E_RANGE;
}

static enum alar_status reachable_single(struct alar_reachable *reachable, bool is_ordered,
                                         struct alar_scratch scratch)
{
    ALAR_TRY(reachable_start(reachable, 1, &scratch));
    for (uint32_t i = 0; i < reachable->n; i++) {
        reachable->member[i] = i;
    }
    reachable->partition[0] = (struct alar_partition){is_ordered, false, reachable->n, 0, 0};
    return reachable_build(reachable, scratch);
}

enum alar_status alar_reachable_any(struct alar_reachable *reachable, struct alar_adder adder,
                                    const uint64_t *bits, uint32_t n, uint64_t work,
                                    struct alar_scratch scratch)
{
    PRE(n >= 1);
    *reachable = (struct alar_reachable){.adder = adder, .bits = bits, .n = n, .work = work};
    return n > ALAR_REACHABLE_RANKS_MAX ? ALAR_E_RANGE
                                        : reachable_single(reachable, false, scratch);
}

enum alar_status alar_reachable_ordered(struct alar_reachable *reachable, struct alar_adder adder,
                                        const uint64_t *bits, uint32_t n, uint64_t work,
                                        struct alar_scratch scratch)
{
    PRE(n >= 1);
    *reachable = (struct alar_reachable){.adder = adder, .bits = bits, .n = n, .work = work};
    return reachable_single(reachable, true, scratch);
}

enum alar_status alar_reachable_nodes(struct alar_reachable *reachable, struct alar_adder adder,
                                      const uint64_t *bits, uint32_t n, const uint32_t *node,
                                      uint32_t nodes, uint64_t work, struct alar_scratch scratch)
{
    uint32_t members = 0;

    PRE(n >= 1);
    *reachable = (struct alar_reachable){.adder = adder, .bits = bits, .n = n, .work = work};
    if (nodes < 1 || nodes > ALAR_REACHABLE_RANKS_MAX) {
        return ALAR_E_RANGE;
    }
    ALAR_TRY(reachable_start(reachable, nodes + 1, &scratch));
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t first = members;
        for (uint32_t rank = 0; rank < n; rank++) {
            if (node[rank] == i) {
                reachable->member[members++] = rank;
            }
        }
        uint32_t leaves = members - first;
        if (leaves < 1 || leaves > ALAR_REACHABLE_RANKS_MAX) {
            return ALAR_E_RANGE;
        }
        reachable->partition[i] = (struct alar_partition){false, false, leaves, 0, first};
    }
    if (members != n) {
        return ALAR_E_RANGE;
    }
    reachable->partition[nodes] = (struct alar_partition){false, true, nodes, 0, 0};
    return reachable_build(reachable, scratch);
}
