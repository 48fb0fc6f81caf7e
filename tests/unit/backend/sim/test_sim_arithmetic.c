/* The simulator's values: every order, dtype and reduction, against trees evaluated elsewhere. */
#include "backend/sim/sim.h"
#include "base/rng.h"
#include "numbers/tree.h"
#include "tests/lib/sim_rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define ELEMENTS 7

/* All ranks' values of one all-reduce of ELEMENTS or fewer elements, by bits; ranks post in the
   order `posts`, and all must get the same. */
static void reduce(const struct alar_sim_options *options, enum alar_dtype dtype,
                   enum alar_reduction reduction, const uint64_t bits[][ELEMENTS], uint64_t count,
                   const int32_t *posts, double scale, uint64_t *result)
{
    struct sim_rig rig;
    struct alar_op op = {.scale = scale};
    size_t size = alar_dtype_bytes(dtype);
    unsigned char send[SIM_RIG_RANKS][ELEMENTS * 8];
    unsigned char recv[SIM_RIG_RANKS][ELEMENTS * 8];
    void *request[SIM_RIG_RANKS] = {NULL};
    uint64_t over[SIM_RIG_RANKS];

    sim_rig_open(&rig, options);
    for (int32_t i = 0; i < rig.ranks; i++) {
        int32_t rank = posts == NULL ? i : posts[i];

        for (uint64_t element = 0; element < count; element++) {
            memcpy(send[rank] + element * size, &bits[rank][element], size);
        }
        cr_assert_eq(rig.backend->allreduce(rig.comm[rank], send[rank], recv[rank], count, dtype,
                                            reduction, NULL, &op, &request[rank]),
                     0);
    }
    sim_rig_run(&rig, request, over);
    for (int32_t i = 0; i < rig.ranks; i++) {
        cr_assert_neq(over[i], UINT64_MAX);
        cr_assert_eq(memcmp(recv[i], recv[0], count * size), 0, "rank %d differs", i);
        cr_assert_eq(rig.backend->request_free(request[i]), 0);
    }
    for (uint64_t element = 0; element < count; element++) {
        result[element] = 0;
        memcpy(&result[element], recv[0] + element * size, size);
    }
    sim_rig_close(&rig);
}

/* Element `element` as the order's tree gives it over the contributions in fold order. */
static uint64_t replay(enum alar_sim_order order, enum alar_dtype dtype, int32_t ranks,
                       const uint64_t bits[][ELEMENTS], uint64_t element, uint64_t count,
                       const int32_t *posts)
{
    static const enum alar_tree_kind kinds[ALAR_SIM_ORDER_COUNT] = {
        [ALAR_SIM_LEFT_FOLD] = ALAR_TREE_LEFT_FOLD,
        [ALAR_SIM_RIGHT_FOLD] = ALAR_TREE_RIGHT_FOLD,
        [ALAR_SIM_RECURSIVE_DOUBLING] = ALAR_TREE_DOUBLING_HEAD,
        [ALAR_SIM_BINOMIAL] = ALAR_TREE_BINOMIAL,
        [ALAR_SIM_RING] = ALAR_TREE_LEFT_FOLD,
        [ALAR_SIM_ARRIVAL] = ALAR_TREE_LEFT_FOLD,
    };
    int32_t node[2 * SIM_RIG_RANKS];
    uint64_t leaf[SIM_RIG_RANKS];
    uint64_t stack[SIM_RIG_RANKS];
    uint32_t n = (uint32_t)ranks;
    struct alar_tree tree = {.node = node, .capacity = 2 * SIM_RIG_RANKS};
    struct alar_tree_name name = {.kind = kinds[order]};

    if (order == ALAR_SIM_RING) {
        uint64_t longer = count % n;
        uint64_t length = count / n;
        uint64_t edge = longer * (length + 1);

        name.start = (uint32_t)(element < edge ? element / (length + 1)
                                               : longer + (element - edge) / length);
    }
    for (int32_t i = 0; i < ranks; i++) {
        leaf[i] = bits[order == ALAR_SIM_ARRIVAL ? posts[i] : i][element];
    }
    alar_tree_build(&tree, name, n);
    return alar_tree_evaluate(&tree, (struct alar_adder){dtype, dtype, ALAR_NEAREST, false}, leaf,
                              stack);
}

static void shuffle(struct alar_rng *rng, int32_t *items, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        int32_t j = (int32_t)alar_rng_below(rng, (uint64_t)i + 1);

        items[i] = items[j];
        items[j] = i;
    }
}

/* A number whose rounding depends on the order: a few binades, both signs; rarely a special. */
static uint64_t draw(struct alar_rng *rng, enum alar_dtype dtype)
{
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};
    double value = (alar_rng_unit(rng) - 0.5) * (double)(UINT64_C(1) << alar_rng_below(rng, 8));

    if (alar_rng_below(rng, 40) == 0) {
        value = special[alar_rng_below(rng, 5)];
    }
    return alar_dtype_is_float(dtype) ? alar_fp_from_double(dtype, value)
                                      : alar_rng_next(rng) & alar_dtype_mask(dtype);
}

/* The heart of the simulator's use: what it says was the order, was the order, bit for bit. */
Test(backend_sim, every_order_equals_its_tree)
{
    struct alar_rng rng = alar_rng_stream(20240501, 1);

    for (int round = 0; round < 1500; round++) {
        enum alar_sim_order order = (enum alar_sim_order)(round % ALAR_SIM_ORDER_COUNT);
        enum alar_dtype dtype = (enum alar_dtype)(round / 6 % ALAR_DTYPE_COUNT);
        int32_t ranks = 1 + (int32_t)alar_rng_below(&rng, SIM_RIG_RANKS);
        struct alar_sim_options options = alar_sim_options_default(ranks, (uint64_t)round);
        uint64_t count = 1 + alar_rng_below(&rng, ELEMENTS);
        uint64_t bits[SIM_RIG_RANKS][ELEMENTS];
        uint64_t result[ELEMENTS];
        int32_t posts[SIM_RIG_RANKS];

        options.order = order;
        options.outstanding = 1;
        shuffle(&rng, posts, ranks);
        for (int32_t i = 0; i < ranks; i++) {
            for (uint64_t element = 0; element < count; element++) {
                bits[i][element] = draw(&rng, dtype);
            }
        }
        reduce(&options, dtype, ALAR_SUM, (const uint64_t(*)[ELEMENTS])bits, count, posts, 1.0,
               result);
        for (uint64_t element = 0; element < count; element++) {
            uint64_t expected = replay(order, dtype, ranks, (const uint64_t(*)[ELEMENTS])bits,
                                       element, count, posts);

            cr_assert(alar_fp_is_same(dtype, result[element], expected),
                      "%s %s, %d ranks, lane %d of %d, round %d: %llx, expected %llx",
                      alar_sim_order_names[order], alar_dtype_name(dtype), ranks, (int)element,
                      (int)count, round, (long long)result[element], (long long)expected);
        }
    }
}

/* One element of up to three contributions, given and returned as float, reduced in a float dtype.
 */
static float reduce_in(enum alar_dtype dtype, enum alar_reduction reduction, enum alar_sim_nan nan,
                       int32_t n, const float *in, double scale)
{
    struct alar_sim_options options = sim_rig_plain(n);
    uint64_t bits[SIM_RIG_RANKS][ELEMENTS] = {{0}};
    uint64_t result[ELEMENTS];

    options.nan = nan;
    for (int32_t i = 0; i < n; i++) {
        bits[i][0] = alar_fp_from_double(dtype, (double)in[i]);
    }
    reduce(&options, dtype, reduction, (const uint64_t(*)[ELEMENTS])bits, 1, NULL, scale, result);
    return (float)alar_fp_to_double(dtype, result[0]);
}

static float reduce_floats(enum alar_reduction reduction, enum alar_sim_nan nan, int32_t n,
                           const float *in, double scale)
{
    return reduce_in(ALAR_F32, reduction, nan, n, in, scale);
}

static bool is_same(float a, float b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

/* MAX and MIN are no NaN detectors: by comparison they lose clean values, or the NaN, by order. */
Test(backend_sim, nan_policy_of_max_and_min)
{
    static const struct {
        enum alar_reduction reduction;
        float in[3];
        float compare, propagate, drop;
    } rows[] = {
        /* The four float dtypes are the first of enum alar_dtype. */
        {ALAR_MAX, {1, 2, 3}, 3, 3, 3},
        {ALAR_MIN, {1, 2, 3}, 1, 1, 1},
        {ALAR_MAX, {9, NAN, 4}, 4, NAN, 9},
        {ALAR_MAX, {1, 2, NAN}, NAN, NAN, 2},
        {ALAR_MIN, {NAN, 2, 3}, 2, NAN, 2},
        {ALAR_MIN, {1, NAN, 4}, 4, NAN, 1},
        {ALAR_MAX, {NAN, NAN, NAN}, NAN, NAN, NAN},
        {ALAR_MAX, {-INFINITY, -1, INFINITY}, INFINITY, INFINITY, INFINITY},
        {ALAR_MAX, {0.0f, -0.0f, -0.0f}, -0.0f, -0.0f, -0.0f},
        {ALAR_MIN, {-0.0f, 0.0f, 0.0f}, 0.0f, 0.0f, 0.0f},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const float expected[] = {rows[i].compare, rows[i].propagate, rows[i].drop};

        for (int kind = 0; kind < 12; kind++) {
            enum alar_dtype dtype = (enum alar_dtype)(kind / 3);
            enum alar_sim_nan nan = (enum alar_sim_nan)(kind % 3);
            float value = reduce_in(dtype, rows[i].reduction, nan, 3, rows[i].in, 1);

            cr_assert(is_same(value, expected[nan]), "row %d %s policy %d: %g", (int)i,
                      alar_dtype_name(dtype), (int)nan, (double)value);
        }
    }
}

/* The sums every policy agrees on: signed zeros, infinities, and NaN. */
Test(backend_sim, specials_of_sum_and_average)
{
    static const struct {
        enum alar_reduction reduction;
        float in[3];
        float sum;
    } rows[] = {
        {ALAR_SUM, {-0.0f, -0.0f, -0.0f}, -0.0f},
        {ALAR_SUM, {-0.0f, 0.0f, -0.0f}, 0.0f},
        {ALAR_SUM, {INFINITY, 1, 2}, INFINITY},
        {ALAR_SUM, {INFINITY, 1, -INFINITY}, NAN},
        {ALAR_SUM, {1, -NAN, 2}, NAN},
        {ALAR_AVG, {1, 2, 5}, 8.0f / 3},
        {ALAR_AVG, {-0.0f, -0.0f, -0.0f}, -0.0f},
        {ALAR_AVG, {1, NAN, 5}, NAN},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        float value = reduce_floats(rows[i].reduction, ALAR_SIM_NAN_COMPARE, 3, rows[i].in, 1);

        cr_assert(is_same(value, rows[i].sum), "row %d: %g", (int)i, (double)value);
    }
}

/* A NaN has one bit pattern, whatever the compiler's operand order and the rank it came from. */
Test(backend_sim, a_nan_sum_has_one_bit_pattern)
{
    for (int32_t bad = 0; bad < 3; bad++) {
        struct alar_sim_options options = sim_rig_plain(3);
        uint64_t bits[SIM_RIG_RANKS][ELEMENTS] = {{0}};
        uint64_t result[ELEMENTS];

        bits[bad][0] = UINT64_C(0xffc12345);
        bits[bad][1] = UINT64_C(0x7f800001);
        reduce(&options, ALAR_F32, ALAR_SUM, (const uint64_t(*)[ELEMENTS])bits, 2, NULL, 1.0,
               result);
        cr_assert_eq(result[0], alar_fp_nan(ALAR_F32));
        cr_assert_eq(result[1], alar_fp_nan(ALAR_F32));
    }
}

/* Each input is scaled before the sum: the greatest value halved twice does not overflow. */
Test(backend_sim, scale_is_applied_to_each_input)
{
    static const float one[3] = {1, 1, 1};
    static const float great[3] = {0x1.fffffep127f, 0x1.fffffep127f, 0};

    cr_assert_eq(reduce_floats(ALAR_SUM, ALAR_SIM_NAN_COMPARE, 3, one, 0.25), 0.75f);
    cr_assert_eq(reduce_floats(ALAR_SUM, ALAR_SIM_NAN_COMPARE, 3, great, 0.5), 0x1.fffffep127f);
    cr_assert(isinf(reduce_floats(ALAR_SUM, ALAR_SIM_NAN_COMPARE, 3, great, 1)));
}

/* Integers wrap, and their average truncates toward zero; extremes keep their sign. */
Test(backend_sim, integers_wrap_and_truncate)
{
    static const struct {
        enum alar_dtype dtype;
        enum alar_reduction reduction;
        int64_t in[3];
        int64_t out;
    } rows[] = {
        {ALAR_I32, ALAR_SUM, {INT32_MAX, 1, 1}, (int64_t)INT32_MIN + 1},
        {ALAR_I64, ALAR_SUM, {INT64_MAX, 2, 0}, INT64_MIN + 1},
        {ALAR_U8, ALAR_SUM, {200, 100, 1}, 45},
        {ALAR_I32, ALAR_AVG, {-3, -2, -3}, -2},
        {ALAR_I32, ALAR_MIN, {4, -5, 6}, -5},
        {ALAR_I64, ALAR_MAX, {INT64_MIN, -1, -2}, -1},
        {ALAR_U8, ALAR_MAX, {1, 255, 127}, 255},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct alar_sim_options options = sim_rig_plain(3);
        uint64_t bits[SIM_RIG_RANKS][ELEMENTS] = {{0}};
        uint64_t result[ELEMENTS];

        for (int j = 0; j < 3; j++) {
            bits[j][0] = (uint64_t)rows[i].in[j] & alar_dtype_mask(rows[i].dtype);
        }
        reduce(&options, rows[i].dtype, rows[i].reduction, (const uint64_t(*)[ELEMENTS])bits, 1,
               NULL, 1.0, result);
        cr_assert_eq(alar_int_value(rows[i].dtype, result[0]), rows[i].out, "row %d", (int)i);
    }
}

/* What is declared about trees is what the trees are. */
Test(backend_sim, declared_height_is_the_trees)
{
    static const enum alar_tree_kind kinds[] = {ALAR_TREE_LEFT_FOLD, ALAR_TREE_RIGHT_FOLD,
                                                ALAR_TREE_DOUBLING_HEAD, ALAR_TREE_BINOMIAL};

    for (int32_t n = 1; n <= SIM_RIG_RANKS; n++) {
        for (int order = 0; order < 4; order++) {
            struct alar_sim_options options = sim_rig_plain(n);
            int32_t node[2 * SIM_RIG_RANKS];
            uint64_t stack[SIM_RIG_RANKS];
            struct alar_tree tree = {.node = node, .capacity = 2 * SIM_RIG_RANKS};
            struct alar_caps caps;
            struct sim_rig rig;

            options.order = (enum alar_sim_order)order;
            sim_rig_open(&rig, &options);
            cr_assert_eq(rig.backend->caps(rig.context[0], &caps), 0);
            alar_tree_build(&tree, (struct alar_tree_name){.kind = kinds[order]}, (uint32_t)n);
            cr_assert_eq(caps.tree_height, alar_tree_height(&tree, stack), "%d %d", n, order);
            sim_rig_close(&rig);
        }
    }
}

/* Each order has a name, and the list of them ends: the command line reads it. */
Test(backend_sim, every_order_has_a_name)
{
    for (int i = 0; i < ALAR_SIM_ORDER_COUNT; i++) {
        cr_assert_not_null(alar_sim_order_names[i]);
    }
    cr_assert_null(alar_sim_order_names[ALAR_SIM_ORDER_COUNT]);
}
