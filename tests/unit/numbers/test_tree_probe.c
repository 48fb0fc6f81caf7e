/* A tree comes back from its own probes: measured in full, measured as far as needed, and summed by
   real additions in every float dtype. */
#include "numbers/tree_probe.h"
#include "tests/lib/demand.h"
#include "tests/lib/draw.h"
#include "tests/lib/trees.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEED = 80808,
    RANKS = 20,
    TREES = 200
};

struct fixture {
    uint16_t leaves[2][RANKS * RANKS];
    struct alar_order order[2];
    int32_t node[2][2 * RANKS];
    struct alar_tree tree[2];
    uint64_t stack[2 * RANKS];
    char text[2][16 * RANKS];
    struct alar_scratch scratch;
};

static void setup(struct fixture *f, uint32_t n)
{
    for (int k = 0; k < 2; k++) {
        f->order[k] = (struct alar_order){n, f->leaves[k], 0};
        f->tree[k] = (struct alar_tree){f->node[k], 0, 2 * RANKS - 1};
        alar_order_clear(&f->order[k]);
    }
    f->scratch.bytes = alar_order_scratch(n);
    f->scratch.memory = malloc(f->scratch.bytes);
    cr_assert_not_null(f->scratch.memory);
}

static void teardown(struct fixture *f)
{
    free(f->scratch.memory);
}

/* A random tree as a postfix program: leaves and additions in a random legal order. */
static void tree_draw(struct alar_tree *tree, struct draw *draw, uint32_t n)
{
    uint32_t used = 0;
    uint32_t depth = 0;
    uint32_t rank[RANKS];

    draw_order(draw, rank, n);
    tree->count = 0;
    while (tree->count < 2 * n - 1) {
        if (used < n && (depth < 2 || draw_below(draw, 2) == 0)) {
            tree->node[tree->count++] = (int32_t)rank[used++];
            depth++;
        } else {
            tree->node[tree->count++] = ALAR_TREE_ADD;
            depth--;
        }
    }
}

/* What a probe of the pair says when additions of the dtype are done along the tree. */
static uint16_t probe(struct fixture *f, enum alar_dtype dtype, uint32_t n, uint32_t i, uint32_t j)
{
    const struct alar_order_masks masks = alar_order_masks(dtype);
    const struct alar_adder adder = {dtype, dtype, ALAR_NEAREST, false};
    uint64_t bits[RANKS];

    for (uint32_t k = 0; k < n; k++) {
        bits[k] = k == i ? masks.large : k == j ? masks.minus_large : masks.unit;
    }
    return alar_order_leaves(dtype, n, false,
                             alar_tree_evaluate(&f->tree[0], adder, bits, f->stack));
}

/* The expressions agree but for swapped operands, so the orders are compared. */
static void expect_tree(struct fixture *f, const struct alar_order *measured)
{
    size_t bytes = measured->n * measured->n * sizeof(uint16_t);

    demand(alar_order_decode(measured, &f->tree[1], f->scratch) == ALAR_OK, "no tree");
    alar_order_of(&f->tree[1], &f->order[1], f->scratch);
    demand(memcmp(measured->leaves, f->order[1].leaves, bytes) == 0, "another tree");
    demand(tree_is_valid(&f->tree[1], measured->n, f->stack), "no tree over the ranks");
}

Test(order, every_tree_comes_back_from_all_its_pairs)
{
    static const enum alar_dtype dtypes[] = {ALAR_F16, ALAR_BF16, ALAR_F32, ALAR_F64};
    struct draw draw = {SEED + 1};
    struct fixture f;

    for (uint32_t round = 0; round < TREES; round++) {
        uint32_t n = 1 + draw_below(&draw, RANKS);

        setup(&f, n);
        tree_draw(&f.tree[0], &draw, n);
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t j = i + 1; j < n; j++) {
                alar_order_note(&f.order[0], i, j, probe(&f, dtypes[round % 4], n, i, j));
            }
        }
        expect_tree(&f, &f.order[0]);
        teardown(&f);
    }
}

/* The shorter form must find the very same numbers, and never needs more probes. */
Test(order, what_follows_from_other_pairs_needs_no_probe)
{
    struct draw draw = {SEED + 2};
    struct fixture f;

    for (uint32_t round = 0; round < TREES; round++) {
        uint32_t n = 2 + draw_below(&draw, RANKS - 1);
        uint32_t probes = 0;
        uint32_t pair;

        setup(&f, n);
        tree_draw(&f.tree[0], &draw, n);
        for (;;) {
            alar_order_infer(&f.order[0]);
            pair = alar_order_next(&f.order[0]);
            if (pair == n * n) {
                break;
            }
            alar_order_note(&f.order[0], pair / n, pair % n,
                            probe(&f, ALAR_F32, n, pair / n, pair % n));
            probes++;
        }
        expect_tree(&f, &f.order[0]);
        alar_order_of(&f.tree[0], &f.order[1], f.scratch);
        demand(memcmp(f.leaves[0], f.leaves[1], n * n * sizeof(uint16_t)) == 0, "other numbers");
        demand(probes >= n - 1, "fewer than a tree needs");
        demand(probes <= n * (n - 1) / 2, "more than there are pairs");
        teardown(&f);
    }
}

/* A fold that begins with rank 0 is the best case of the shorter form. */
Test(order, a_left_fold_takes_n_minus_one_probes)
{
    struct fixture f;
    uint32_t probes = 0;
    uint32_t n = RANKS;

    setup(&f, n);
    alar_tree_build(&f.tree[0], (struct alar_tree_name){ALAR_TREE_LEFT_FOLD, 0}, n);
    for (uint32_t pair = alar_order_next(&f.order[0]); pair < n * n;
         pair = alar_order_next(&f.order[0])) {
        alar_order_note(&f.order[0], pair / n, pair % n,
                        probe(&f, ALAR_F64, n, pair / n, pair % n));
        alar_order_infer(&f.order[0]);
        probes++;
    }

    cr_assert_eq(probes, n - 1);
    teardown(&f);
}

Test(order, named_trees_are_named_whatever_their_operands)
{
    struct fixture f;

    for (uint32_t n = 2; n <= 9; n++) {
        for (uint32_t index = 0; index < alar_tree_names(n, n); index++) {
            struct alar_tree_name name = alar_tree_name_at(n, n, index);
            struct alar_tree_name found = {ALAR_TREE_KIND_COUNT, 0};

            setup(&f, n);
            alar_tree_build(&f.tree[0], name, n);
            alar_order_of(&f.tree[0], &f.order[0], f.scratch);
            demand(alar_order_name(&f.order[0], &found, f.scratch) == ALAR_OK, "no name");
            alar_tree_build(&f.tree[1], found, n);
            alar_order_of(&f.tree[1], &f.order[1], f.scratch);
            demand(memcmp(f.leaves[0], f.leaves[1], n * n * sizeof(uint16_t)) == 0, "another's");
            teardown(&f);
        }
    }
}

static const char *expression(struct fixture *f, int k)
{
    cr_assert_eq(alar_order_print(&f->tree[k], f->text[k], sizeof f->text[k], f->scratch), ALAR_OK);
    return f->text[k];
}

/* Known from outside: what libraries do on five ranks. */
Test(order, expressions_read_as_the_libraries_add)
{
    static const struct {
        enum alar_tree_kind kind;
        const char *text;
    } table[] = {
        {ALAR_TREE_DOUBLING_HEAD, "(((0+1)+2)+(3+4))"},
        {ALAR_TREE_BINOMIAL, "(((0+1)+(2+3))+4)"},
        {ALAR_TREE_LEFT_FOLD, "((((0+1)+2)+3)+4)"},
        {ALAR_TREE_RIGHT_FOLD, "(0+(1+(2+(3+4))))"},
    };
    struct fixture f;

    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        setup(&f, 5);
        alar_tree_build(&f.tree[0], (struct alar_tree_name){table[k].kind, 0}, 5);
        alar_order_of(&f.tree[0], &f.order[0], f.scratch);
        expect_tree(&f, &f.order[0]);
        cr_assert_str_eq(expression(&f, 1), table[k].text);
        teardown(&f);
    }
}

/* An adder that takes several operands at once has nodes of several children. */
Test(order, a_node_of_three_is_told_from_two_of_two)
{
    static const int32_t program[] = {0, 1, 2, -2, 3, 4, 5, 6, -4};
    struct fixture f;

    setup(&f, 7);
    memcpy(f.node[0], program, sizeof program);
    f.tree[0].count = sizeof program / sizeof program[0];
    alar_order_of(&f.tree[0], &f.order[0], f.scratch);
    cr_assert_eq(alar_order_decode(&f.order[0], &f.tree[1], f.scratch), ALAR_OK);

    cr_assert_str_eq(expression(&f, 1), "((0+1+2)+3+4+5+6)");
    cr_assert_not(order_is_binary(&f.tree[1]));
    cr_assert_eq(alar_order_print(&f.tree[1], f.text[0], 17, f.scratch), ALAR_E_RANGE);
    teardown(&f);
}

/* One wrong number anywhere is noticed: it makes no tree, or one whose additions are no plain ones.
 */
Test(order, one_wrong_number_makes_no_plain_tree)
{
    struct draw draw = {SEED + 3};
    struct fixture f;

    for (uint32_t round = 0; round < TREES; round++) {
        uint32_t n = 4 + draw_below(&draw, RANKS - 3);
        uint32_t i = draw_below(&draw, n);
        uint32_t j = (i + 1 + draw_below(&draw, n - 1)) % n;

        setup(&f, n);
        tree_draw(&f.tree[0], &draw, n);
        alar_order_of(&f.tree[0], &f.order[0], f.scratch);
        uint16_t wrong = (uint16_t)(f.leaves[0][i * n + j] + 1 + draw_below(&draw, n));
        alar_order_note(&f.order[0], i, j, wrong > n ? ALAR_ORDER_ODD : wrong);
        enum alar_status status = alar_order_decode(&f.order[0], &f.tree[1], f.scratch);
        demand(status == ALAR_E_INPUT || !order_is_binary(&f.tree[1]), "n %u: a tree of %u and %u",
               n, i, j);
        teardown(&f);
    }
}

Test(order, what_swallows_nothing_is_wide_and_no_tree)
{
    struct fixture f;

    setup(&f, 6);
    for (uint32_t i = 0; i < 6; i++) {
        for (uint32_t j = i + 1; j < 6; j++) {
            alar_order_note(&f.order[0], i, j, 2);
        }
    }
    cr_assert(alar_order_is_wide(&f.order[0]));
    cr_assert_eq(alar_order_decode(&f.order[0], &f.tree[0], f.scratch), ALAR_E_INPUT);
    alar_order_note(&f.order[0], 0, 1, 3);
    cr_assert_not(alar_order_is_wide(&f.order[0]));
    teardown(&f);
}

Test(order, only_counts_of_units_are_counts)
{
    uint64_t nan = alar_fp_nan(ALAR_F32);

    cr_assert_eq(alar_order_leaves(ALAR_F32, 5, false, 0), 5);
    cr_assert_eq(alar_order_leaves(ALAR_F32, 5, false, alar_fp_from_double(ALAR_F32, 3)), 2);
    cr_assert_eq(alar_order_leaves(ALAR_F32, 5, true, alar_fp_from_double(ALAR_F32, 0.6)), 2);
    cr_assert_eq(alar_order_leaves(ALAR_F32, 5, false, alar_fp_from_double(ALAR_F32, 4)),
                 ALAR_ORDER_ODD);
    cr_assert_eq(alar_order_leaves(ALAR_F32, 5, false, alar_fp_from_double(ALAR_F32, -1)),
                 ALAR_ORDER_ODD);
    cr_assert_eq(alar_order_leaves(ALAR_F32, 5, false, alar_fp_from_double(ALAR_F32, 0.5)),
                 ALAR_ORDER_ODD);
    cr_assert_eq(alar_order_leaves(ALAR_F32, 5, false, nan), ALAR_ORDER_ODD);
}

/* The accumulator's width is the least number of bits at which the 1 is lost. */
Test(order, the_width_of_every_accumulator_shows)
{
    static const enum alar_dtype wide[] = {ALAR_BF16, ALAR_F32, ALAR_F64};
    struct fixture f;
    uint32_t triple[3];

    for (int k = 0; k < 3; k++) {
        const struct alar_adder adder = {ALAR_F32, wide[k], ALAR_NEAREST, false};
        int bits = 4;

        setup(&f, 5);
        alar_tree_build(&f.tree[0], (struct alar_tree_name){ALAR_TREE_BINOMIAL, 0}, 5);
        alar_order_of(&f.tree[0], &f.order[0], f.scratch);
        cr_assert(alar_order_triple(&f.order[0], triple));
        for (; bits < 64; bits++) {
            const struct alar_order_masks masks = alar_order_width_masks(ALAR_F32, bits);
            uint64_t value[5] = {0};

            value[triple[0]] = masks.large;
            value[triple[1]] = masks.minus_large;
            value[triple[2]] = masks.unit;
            if (alar_fp_is_zero(ALAR_F32, alar_tree_evaluate(&f.tree[0], adder, value, f.stack))) {
                break;
            }
        }
        cr_assert_eq(bits, alar_dtype_precision(wide[k]));
        teardown(&f);
    }
    f.order[0] = (struct alar_order){2, f.leaves[0], 0};
    cr_assert_not(alar_order_triple(&f.order[0], triple));
}
