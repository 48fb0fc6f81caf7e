/* The hull and the reachable sets, against brute force over every tree on few ranks. */
#include "legal/reachable.h"
#include "tests/lib/draw.h"
#include "tests/lib/trees.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum {
    SEED = 20603,
    FEW = 5,
    SUMS = 4096
};

static const enum alar_dtype floats[] = {ALAR_F16, ALAR_BF16, ALAR_F32, ALAR_F64};

/* All results, by joining any two of the values that are left until one is. */
struct brute {
    struct alar_adder adder;
    uint64_t result[SUMS];
    size_t count;
};

static void brute_keep(struct brute *brute, uint64_t value)
{
    for (size_t i = 0; i < brute->count; i++) {
        if (alar_fp_is_same(brute->adder.dtype, brute->result[i], value)) {
            return;
        }
    }
    cr_assert(brute->count < SUMS);
    brute->result[brute->count++] = value;
}

static void brute_join(struct brute *brute, const uint64_t *value, uint32_t n)
{
    if (n == 1) {
        brute_keep(brute, alar_adder_store(brute->adder, value[0]));
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = i + 1; j < n; j++) {
            uint64_t left[FEW];
            uint32_t count = 0;
            for (uint32_t k = 0; k < n; k++) {
                if (k != i && k != j) {
                    left[count++] = value[k];
                }
            }
            left[count] = alar_adder_add(brute->adder, value[i], value[j]);
            brute_join(brute, left, n - 1);
        }
    }
}

static void brute_run(struct brute *brute, struct alar_adder adder, const uint64_t *bits,
                      uint32_t n)
{
    uint64_t loaded[FEW];

    brute->adder = adder;
    brute->count = 0;
    for (uint32_t i = 0; i < n; i++) {
        loaded[i] = alar_adder_load(adder, bits[i]);
    }
    brute_join(brute, loaded, n);
}

static bool brute_has(const struct brute *brute, uint64_t value)
{
    for (size_t i = 0; i < brute->count; i++) {
        if (alar_fp_is_same(brute->adder.dtype, brute->result[i], value)) {
            return true;
        }
    }
    return false;
}

/* Mixes specials into some draws: infinities, NaN and both zeros. */
static void draw_specials(struct draw *draw, enum alar_dtype dtype, uint64_t *bits, uint32_t n)
{
    const uint64_t special[] = {
        alar_fp_inf(dtype, false), alar_fp_inf(dtype, true),      alar_fp_nan(dtype),          0,
        alar_dtype_sign(dtype),    alar_fp_largest(dtype, false), alar_fp_largest(dtype, true)};

    for (uint32_t i = 0; i < n; i++) {
        if (draw_below(draw, 3) == 0) {
            bits[i] = special[draw_below(draw, 7)];
        }
    }
}

static struct alar_adder draw_adder(struct draw *draw, enum alar_dtype dtype)
{
    struct alar_adder adder = {dtype, dtype, (enum alar_model)draw_below(draw, ALAR_MODEL_COUNT),
                               false};

    if (draw_below(draw, 4) == 0) {
        adder.wide = floats[2 + draw_below(draw, 2)];
    }
    adder.is_product = draw_below(draw, 3) == 0;
    return adder;
}

static struct alar_scratch scratch_new(size_t bytes)
{
    struct alar_scratch scratch = {malloc(bytes), bytes};

    cr_assert_not_null(scratch.memory);
    return scratch;
}

static struct alar_tree tree_of(int32_t *node, uint32_t capacity)
{
    return (struct alar_tree){node, 0, capacity};
}

/* No legal sum ever leaves the hull; its ends are reached; the set is exactly the brute set. Every
   dtype, model and width, with overflow and specials; of products too. spec: N-07, N-08, N-09,
   N-10, N-30 */
Test(hull, is_what_brute_force_finds)
{
    struct draw draw = {SEED};
    static struct brute brute;
    struct alar_scratch scratch = scratch_new(1 << 20);
    struct alar_range range[1 << FEW];
    struct alar_hull hull;
    struct alar_reachable reachable;

    for (int round = 0; round < DRAWN(12000); round++) {
        enum alar_dtype dtype = floats[round % 4];
        struct alar_adder adder = draw_adder(&draw, dtype);
        uint32_t n = 1 + draw_below(&draw, FEW);
        uint32_t all = (UINT32_C(1) << n) - 1;
        uint64_t bits[FEW];
        int32_t node[2 * FEW];
        uint64_t stack[3 * FEW];
        struct alar_tree tree = tree_of(node, 2 * FEW);
        draw_values(&draw, (enum draw_family)draw_below(&draw, DRAW_FAMILY_COUNT), dtype, bits, n);
        if (round % 5 == 0) {
            draw_specials(&draw, dtype, bits, n);
        }
        brute_run(&brute, adder, bits, n);
        alar_hull_build(&hull, adder, bits, n, range);
        cr_assert_eq(alar_reachable_any(&reachable, adder, bits, n, UINT64_MAX, scratch), ALAR_OK);

        for (size_t i = 0; i < brute.count; i++) {
            uint64_t value = brute.result[i];
            cr_assert(alar_hull_contains(&hull, all, value), "seed %d round %d", SEED, round);
            cr_assert(alar_reachable_has(&reachable, value), "seed %d round %d", SEED, round);
            alar_reachable_witness(&reachable, value, &tree, stack);
            cr_assert(tree_is_valid(&tree, n, stack));
            cr_assert(alar_fp_is_same(dtype, value, alar_tree_evaluate(&tree, adder, bits, stack)));
            for (int64_t step = -2; step <= 2 && !alar_fp_is_nan(dtype, value); step++) {
                uint64_t near = alar_fp_unrank(dtype, alar_fp_rank(dtype, value) + step);
                cr_assert(alar_reachable_has(&reachable, near) == brute_has(&brute, near),
                          "seed %d round %d", SEED, round);
            }
        }
    }
    free(scratch.memory);
}

/* The ends of the hull of every subset are sums of that subset. spec: N-07 */
Test(hull, ends_are_reached_in_every_subset)
{
    struct draw draw = {SEED + 1};
    static struct brute brute;
    struct alar_range range[1 << FEW];
    struct alar_hull hull;

    for (int round = 0; round < DRAWN(3000); round++) {
        enum alar_dtype dtype = floats[round % 4];
        struct alar_adder adder = {dtype, dtype, (enum alar_model)(round % ALAR_MODEL_COUNT),
                                   false};
        uint64_t bits[FEW];
        uint32_t subset = 1 + draw_below(&draw, (1 << FEW) - 1);
        uint64_t part[FEW];
        uint32_t count = 0;
        draw_values(&draw, (enum draw_family)draw_below(&draw, DRAW_FAMILY_COUNT), dtype, bits,
                    FEW);
        if (round % 3 == 0) {
            draw_specials(&draw, dtype, bits, FEW);
        }
        for (uint32_t i = 0; i < FEW; i++) {
            if (subset >> i & 1) {
                part[count++] = bits[i];
            }
        }
        brute_run(&brute, adder, part, count);
        alar_hull_build(&hull, adder, bits, FEW, range);
        double low = INFINITY;
        double high = -INFINITY;
        bool can_be_nan = false;
        for (size_t i = 0; i < brute.count; i++) {
            double value = alar_fp_to_double(dtype, brute.result[i]);
            can_be_nan |= isnan(value) != 0;
            low = value < low ? value : low;
            high = value > high ? value : high;
        }

        cr_assert_eq(range[subset].can_be_nan, can_be_nan, "seed %d round %d", SEED + 1, round);
        cr_assert(!islessgreater(range[subset].low, low), "seed %d round %d", SEED + 1, round);
        cr_assert(!islessgreater(range[subset].high, high), "seed %d round %d", SEED + 1, round);
    }
}

/* Overflow by order: the same four numbers give 0, both infinities and NaN. spec: N-08 */
Test(hull, overflow_depends_on_order)
{
    const struct alar_adder adder = {ALAR_F32, ALAR_F32, ALAR_NEAREST, false};
    const uint64_t big = alar_fp_largest(ALAR_F32, false);
    const uint64_t bits[] = {big, big, alar_fp_negate(ALAR_F32, big),
                             alar_fp_negate(ALAR_F32, big)};
    struct alar_scratch scratch = scratch_new(1 << 16);
    struct alar_reachable reachable;

    cr_assert_eq(alar_reachable_any(&reachable, adder, bits, 4, UINT64_MAX, scratch), ALAR_OK);
    cr_assert(alar_reachable_has(&reachable, 0));
    cr_assert(alar_reachable_has(&reachable, alar_fp_inf(ALAR_F32, false)));
    cr_assert(alar_reachable_has(&reachable, alar_fp_inf(ALAR_F32, true)));
    cr_assert(alar_reachable_has(&reachable, alar_fp_nan(ALAR_F32)));
    cr_assert_not(alar_reachable_has(&reachable, alar_dtype_sign(ALAR_F32)));
    cr_assert_not(alar_reachable_has(&reachable, big));
    free(scratch.memory);
}

/* Ordered trees contain every named tree that keeps the order, and lie inside any-order ones; a
   node map sits between. spec: N-09 */
Test(hull, families_are_nested)
{
    const char *const kept[] = {"left-fold", "right-fold", "recursive-doubling", "binomial"};
    struct draw draw = {SEED + 2};
    struct alar_scratch any_memory = scratch_new(1 << 22);
    struct alar_scratch memory = scratch_new(1 << 22);
    const uint32_t node_of[] = {0, 1, 0, 1, 2, 2, 1, 0, 2};

    for (int round = 0; round < DRAWN(400); round++) {
        enum alar_dtype dtype = floats[round % 4];
        struct alar_adder adder = {dtype, dtype, ALAR_NEAREST, false};
        uint32_t n = 9;
        uint64_t bits[9];
        int32_t node[18];
        uint64_t stack[27];
        struct alar_tree tree = tree_of(node, 18);
        struct alar_reachable any;
        struct alar_reachable part;
        draw_values(&draw, round % 2 ? DRAW_MIXED : DRAW_TIES, dtype, bits, n);
        cr_assert_eq(alar_reachable_any(&any, adder, bits, n, UINT64_MAX, any_memory), ALAR_OK);

        cr_assert_eq(alar_reachable_ordered(&part, adder, bits, n, UINT64_MAX, memory), ALAR_OK);
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
            struct alar_tree_name name;
            cr_assert_eq(alar_tree_name_find(kept[i], n, &name), ALAR_OK);
            alar_tree_build(&tree, name, n);
            uint64_t value = alar_tree_evaluate(&tree, adder, bits, stack);
            cr_assert(alar_reachable_has(&part, value), "%s round %d", kept[i], round);
            cr_assert(alar_reachable_has(&any, value));
            alar_reachable_witness(&part, value, &tree, stack);
            uint32_t next = 0;
            for (uint32_t k = 0; k < tree.count; k++) {
                cr_assert(tree.node[k] == ALAR_TREE_ADD || tree.node[k] == (int32_t)next++);
            }
        }

        cr_assert_eq(alar_reachable_nodes(&part, adder, bits, n, node_of, 3, UINT64_MAX, memory),
                     ALAR_OK);
        cr_assert_eq(tree_parse(&tree, "(((7+0)+2)+((8+(4+5))+(6+(1+3))))", stack), ALAR_OK);
        uint64_t value = alar_tree_evaluate(&tree, adder, bits, stack);
        cr_assert(alar_reachable_has(&part, value));
        alar_reachable_witness(&part, value, &tree, stack);
        cr_assert(tree_is_valid(&tree, n, stack));
        cr_assert(alar_reachable_has(&any, value));
    }
    free(memory.memory);
    free(any_memory.memory);
}

/* Too little memory, work or room is said, never guessed. spec: N-09 */
Test(hull, a_cut_search_says_so)
{
    const struct alar_adder adder = {ALAR_F32, ALAR_F32, ALAR_NEAREST, false};
    struct draw draw = {SEED + 4};
    struct alar_scratch scratch = scratch_new(1 << 20);
    struct alar_reachable reachable;
    uint64_t bits[32];
    uint32_t node[32] = {0};
    unsigned refused = 0;

    draw_values(&draw, DRAW_CANCEL, ALAR_F32, bits, 32);
    cr_assert_eq(alar_reachable_any(&reachable, adder, bits, 17, UINT64_MAX, scratch),
                 ALAR_E_RANGE);
    cr_assert_eq(alar_reachable_any(&reachable, adder, bits, 8, 100, scratch), ALAR_E_RANGE);
    cr_assert_eq(alar_reachable_nodes(&reachable, adder, bits, 32, node, 1, UINT64_MAX, scratch),
                 ALAR_E_RANGE);
    cr_assert_eq(alar_reachable_nodes(&reachable, adder, bits, 3, node, 2, UINT64_MAX, scratch),
                 ALAR_E_RANGE);
    cr_assert_eq(alar_reachable_nodes(&reachable, adder, bits, 3, node, 0, UINT64_MAX, scratch),
                 ALAR_E_RANGE);
    for (size_t bytes = 0; bytes < 1 << 17; bytes += 613) {
        struct alar_scratch small = {scratch.memory, bytes};
        refused +=
            alar_reachable_any(&reachable, adder, bits, 8, UINT64_MAX, small) == ALAR_E_RANGE;
    }
    cr_assert(refused > DRAWN(10) && refused < DRAWN(200), "%u", refused);
    free(scratch.memory);
}

/* The quick sums of the hull are the sums of the adder, bit for bit. spec: N-02 */
Test(hull, quick_sums_are_the_adder)
{
    struct draw draw = {SEED + 5};

    for (int i = 0; i < DRAWN(400000); i++) {
        enum alar_dtype dtype = floats[i % 4];
        struct alar_adder adder = {dtype, dtype, ALAR_NEAREST, false};
        uint64_t a[2];
        draw_values(&draw, (enum draw_family)(i / 4 % DRAW_FAMILY_COUNT), dtype, a, 2);
        double sum =
            alar_hull_sum(adder, alar_fp_to_double(dtype, a[0]), alar_fp_to_double(dtype, a[1]));
        uint64_t exact = alar_fp_add(dtype, ALAR_NEAREST, a[0], a[1]);

        cr_assert_eq(alar_fp_bits(sum + 0.0), alar_fp_bits(alar_fp_to_double(dtype, exact) + 0.0),
                     "seed %d draw %d", SEED + 5, i);
    }
}
