/* Named trees are what libraries were seen to compute; expressions survive reading and printing. */
#include "numbers/tree.h"
#include "tests/lib/draw.h"
#include "tests/lib/trees.h"

#include <criterion/criterion.h>
#include <string.h>

enum {
    SEED = 20602,
    RANKS = 40
};

static const struct alar_adder f32 = {ALAR_F32, ALAR_F32, ALAR_NEAREST, false};

struct fixture {
    int32_t node[2 * RANKS];
    uint64_t stack[2 * RANKS];
    char text[8 * RANKS];
    struct alar_tree tree;
};

static void setup(struct fixture *f)
{
    f->tree = (struct alar_tree){f->node, 0, 2 * RANKS - 1};
}

static const char *expression(struct fixture *f, const char *name, uint32_t n)
{
    struct alar_tree_name found = {ALAR_TREE_KIND_COUNT, 0};

    setup(f);
    cr_assert_eq(alar_tree_name_find(name, n, &found), ALAR_OK, "%s", name);
    alar_tree_build(&f->tree, found, n);
    cr_assert_eq(alar_tree_print(&f->tree, f->stack, f->text, sizeof f->text), ALAR_OK);
    return f->text;
}

/* Trees revealed on real libraries by masks (numerics note, section 2), and by definition. */
Test(tree, names_mean_what_libraries_do)
{
    struct {
        const char *name;
        uint32_t n;
        const char *expression;
    } const table[] = {
        {"left-fold", 1, "0"},
        {"binary", 1, "0"},
        {"left-fold", 5, "((((0+1)+2)+3)+4)"},
        {"left-fold@4", 5, "((((4+0)+1)+2)+3)"},
        {"right-fold", 5, "(0+(1+(2+(3+4))))"},
        {"right-fold@3", 4, "(3+(0+(1+2)))"},
        {"recursive-doubling", 5, "(((0+1)+2)+(3+4))"},
        {"recursive-doubling", 7, "(((0+1)+(2+3))+((4+5)+6))"},
        {"recursive-doubling-tail", 5, "(((0+4)+1)+(2+3))"},
        {"recursive-halving", 4, "((0+2)+(1+3))"},
        {"recursive-halving", 6, "(((0+1)+4)+((2+3)+5))"},
        {"recursive-halving-tail", 5, "(((0+4)+2)+(1+3))"},
        {"binomial", 5, "(((0+1)+(2+3))+4)"},
        {"binomial", 7, "(((0+1)+(2+3))+((4+5)+6))"},
        {"binomial@2", 5, "(((2+3)+(4+0))+1)"},
        {"binomial-far", 8, "(((0+((1+(3+7))+5))+(2+6))+4)"},
        {"binary", 5, "((0+((1+3)+4))+2)"},
        {"binary-level", 5, "((0+(1+3))+(2+4))"},
        {"binary-level", 8, "((0+((1+(3+7))+5))+((2+4)+6))"},
    };
    struct fixture f;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *text = expression(&f, table[i].name, table[i].n);
        cr_assert_str_eq(text, table[i].expression, "%s over %u", table[i].name, table[i].n);
    }
}

/* Every name over every size is a tree over all ranks, keeps its name, and survives as text. */
Test(tree, every_name_is_a_whole_tree)
{
    struct fixture f;
    struct fixture g;
    char name_text[ALAR_TREE_NAME_MAX];

    for (uint32_t n = 1; n <= RANKS; n++) {
        for (uint32_t i = 0; i < alar_tree_names(n, n); i++) {
            struct alar_tree_name name = alar_tree_name_at(n, n, i);
            alar_tree_name_print(name, name_text);
            const char *text = expression(&f, name_text, n);
            setup(&g);

            cr_assert_eq(f.tree.count, 2 * n - 1);
            cr_assert(tree_is_valid(&f.tree, n, f.stack));
            cr_assert_eq(tree_parse(&g.tree, text, g.stack), ALAR_OK, "%s", text);
            cr_assert_eq(g.tree.count, f.tree.count);
            cr_assert_eq(memcmp(f.node, g.node, f.tree.count * sizeof *f.node), 0);
        }
    }
    cr_assert_eq(alar_tree_names(8, 1), (uint32_t)ALAR_TREE_KIND_COUNT);
}

/* Text that is no expression is refused; the tree keeps its length. */
Test(tree, refuses_what_is_no_expression)
{
    const char *const bad[] = {
        "",        "(",       ")",        "0+1",        "(0)",
        "(0+)",    "(+1)",    "(0+1",     "0)",         "(0+1))",
        "(0+1)2",  "(0+1+2)", "(0 +1)",   "(00+1)",     "((0+1)",
        "(0+1)+2", "(0++1)",  "()",       "x",          "(0-1)",
        "0 ",      "01",      "(0(1+2))", "(0+1)(2+3)", "99999999999999999999"};
    struct fixture f;

    setup(&f);
    f.tree.count = 3;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_assert_eq(tree_parse(&f.tree, bad[i], f.stack), ALAR_E_INPUT, "'%s'", bad[i]);
        cr_assert_eq(f.tree.count, 3u);
    }
    f.tree.capacity = 3;
    cr_assert_eq(tree_parse(&f.tree, "((0+1)+2)", f.stack), ALAR_E_RANGE);
    cr_assert_eq(tree_parse(&f.tree, "((((0", f.stack), ALAR_E_RANGE);
    cr_assert_eq(tree_parse(&f.tree, "(0+1)", f.stack), ALAR_OK);
    cr_assert_eq(alar_tree_print(&f.tree, f.stack, f.text, 5), ALAR_E_RANGE);
    cr_assert_eq(alar_tree_print(&f.tree, f.stack, f.text, 6), ALAR_OK);
    cr_assert_str_eq(f.text, "(0+1)");
}

/* A name is exact, and its start is a rank. */
Test(tree, refuses_what_is_no_name)
{
    const char *const bad[] = {
        "",           "left",        "left-fold@",  "left-fold@4", "left-fold@01", "left-fold@x",
        "left-fold ", "binomialfar", "left-fold@0x"};
    struct alar_tree_name name = {ALAR_TREE_BINARY, 2};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_assert_eq(alar_tree_name_find(bad[i], 4, &name), ALAR_E_INPUT, "'%s'", bad[i]);
    }
    cr_assert_eq(name.kind, ALAR_TREE_BINARY);
    cr_assert_eq(alar_tree_name_find("binomial@3", 4, &name), ALAR_OK);
    cr_assert_eq(name.start, 3u);
}

/* Programs that are no tree, or use a rank twice or out of range, are seen. */
Test(tree, validity_sees_broken_programs)
{
    struct {
        int32_t node[4];
        uint32_t count;
    } bad[] = {{{0}, 0},         {{0, 1}, 2},        {{-1}, 1},
               {{0, -1}, 2},     {{0, 0, -1}, 3},    {{0, 3, -1}, 3},
               {{0, -2, -1}, 3}, {{0, 1, -1, 2}, 4}, {{0, -1, 1, -1}, 4}};
    uint64_t seen[3];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct alar_tree tree = {bad[i].node, bad[i].count, 4};
        cr_assert_not(tree_is_valid(&tree, 3, seen), "program %zu", i);
    }
}

/* A fold evaluates as the plain loop does; heights are what they should be. spec: N-06 */
Test(tree, evaluates_as_a_plain_loop)
{
    struct draw draw = {SEED};
    struct fixture f;
    uint64_t bits[RANKS];

    for (uint32_t n = 1; n <= RANKS; n++) {
        draw_values(&draw, DRAW_WIDE, ALAR_F32, bits, n);
        (void)expression(&f, "left-fold", n);
        float sum = (float)alar_fp_to_double(ALAR_F32, bits[0]);
        for (uint32_t i = 1; i < n; i++) {
            sum += (float)alar_fp_to_double(ALAR_F32, bits[i]);
        }
        cr_assert_eq(alar_tree_evaluate(&f.tree, f32, bits, f.stack),
                     alar_fp_from_double(ALAR_F32, sum));
        cr_assert_eq(alar_tree_height(&f.tree, f.stack), n - 1);
    }
    (void)expression(&f, "recursive-doubling", 32);
    cr_assert_eq(alar_tree_height(&f.tree, f.stack), 5u);
    (void)expression(&f, "recursive-doubling", 33);
    cr_assert_eq(alar_tree_height(&f.tree, f.stack), 6u);
}

/* A wide accumulator keeps what a narrow one swallows, and the root is rounded once. spec: N-02 */
Test(tree, accumulator_width_is_visible)
{
    const struct alar_adder narrow = {ALAR_F16, ALAR_F16, ALAR_NEAREST, false};
    const struct alar_adder wide = {ALAR_F16, ALAR_F32, ALAR_NEAREST, false};
    const uint64_t probe[] = {alar_fp_from_double(ALAR_F16, 0x1p15),
                              alar_fp_from_double(ALAR_F16, 0x1p-4),
                              alar_fp_from_double(ALAR_F16, -0x1p15)};
    struct fixture f;

    (void)expression(&f, "left-fold", 3);
    cr_assert_eq(alar_tree_evaluate(&f.tree, narrow, probe, f.stack), 0u);
    cr_assert_eq(alar_tree_evaluate(&f.tree, wide, probe, f.stack), probe[1]);
}

/* The value of a named tree is always explained by that name, and by all others with the same
   value. spec: N-06 */
Test(tree, explanations_contain_the_truth)
{
    struct draw draw = {SEED + 1};
    struct fixture f;
    struct fixture g;
    struct alar_tree_name names[512];
    uint64_t bits[16];

    for (uint32_t n = 1; n <= 16; n++) {
        draw_values(&draw, (enum draw_family)(n % DRAW_FAMILY_COUNT), ALAR_F32, bits, n);
        struct alar_tree_name truth =
            alar_tree_name_at(n, n, draw_below(&draw, alar_tree_names(n, n)));
        setup(&f);
        setup(&g);
        alar_tree_build(&f.tree, truth, n);
        uint64_t value = alar_tree_evaluate(&f.tree, f32, bits, f.stack);
        uint32_t found = tree_explain(f32, bits, n, n, value, &g.tree, g.stack, names, 512);
        bool is_named = false;

        for (uint32_t i = 0; i < found; i++) {
            is_named |= names[i].kind == truth.kind && names[i].start == truth.start;
        }
        cr_assert(is_named, "seed %d n %u", SEED + 1, n);
        cr_assert_eq(tree_explain(f32, bits, n, n, value + 100000, &g.tree, g.stack, names, 1), 0u);
    }
}
