/* Mutants: their arithmetic, and their own answer to what is legal, which shares nothing with the
   oracle's but the rounding of one addition. */
#include "faults/mutant_fold.h"
#include "numbers/fp.h"
#include "tests/lib/draw.h"

#include <criterion/criterion.h>

enum {
    RANKS = 5,
    DRAWS = 200
};

static struct mutant_fold fold_of(const uint64_t *now, const uint64_t *then, uint32_t rank)
{
    return (struct mutant_fold){
        .dtype = ALAR_F32,
        .reduction = ALAR_SUM,
        .ranks = RANKS,
        .count = 1,
        .now = now,
        .then = then,
        .rank = rank,
        .other = (rank + 1) % RANKS,
        .draw = 12345,
    };
}

static uint64_t f32(double value)
{
    return alar_fp_from_double(ALAR_F32, value);
}

/* On powers of four the value says what was done to whom. */
Test(mutant, ledgers_show_the_defect)
{
    static const struct {
        enum alar_mutant_kind kind;
        double expected;
    } rows[] = {
        {ALAR_MUTANT_DROP_RANK, 341 - 16},
        {ALAR_MUTANT_DOUBLE_RANK, 341 + 16},
        {ALAR_MUTANT_REPLACE_RANK, 341 - 16 + 64},
        {ALAR_MUTANT_STALE_RANK, 341 - 16 + 7},
        {ALAR_MUTANT_PREVIOUS_VALUE, 35},
        {ALAR_MUTANT_OWN_ONLY, 16},
        {ALAR_MUTANT_UNTOUCHED, 0},
        {ALAR_MUTANT_LAST_LOST, 0},
        {ALAR_MUTANT_TAIL_SHORT, 341 - 16},
    };
    const uint64_t now[RANKS] = {f32(1), f32(4), f32(16), f32(64), f32(256)};
    const uint64_t then[RANKS] = {f32(7), f32(7), f32(7), f32(7), f32(7)};
    const struct mutant_fold fold = fold_of(now, then, 2);
    uint64_t right = 0;
    uint64_t wrong = 0;

    mutant_fold_right(&fold, now, &right);
    cr_assert_eq(right, f32(341));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        mutant_fold_wrong(rows[i].kind, &fold, &right, &wrong);

        cr_assert_eq(wrong, f32(rows[i].expected), "%s", alar_mutants[rows[i].kind].name);
        cr_assert(mutant_fold_is_illegal(&fold, &wrong), "%s", alar_mutants[rows[i].kind].name);
    }
}

/* No sum that some order of addition gives is called illegal. */
Test(mutant, legal_sums_are_never_illegal)
{
    struct draw draw = {.state = 7};
    uint64_t bits[RANKS];
    uint64_t scratch[RANKS];

    for (uint32_t i = 0; i < DRAWS; i++) {
        enum draw_family family = (enum draw_family)draw_below(&draw, DRAW_FAMILY_COUNT);

        draw_values(&draw, family, ALAR_F32, bits, RANKS);
        uint64_t sum = draw_sum(&draw, (struct alar_adder){ALAR_F32, ALAR_F32, ALAR_NEAREST, false},
                                bits, RANKS, scratch);
        const struct mutant_fold fold = fold_of(bits, NULL, 0);

        cr_assert_not(mutant_fold_is_illegal(&fold, &sum), "draw %u, family %d", i, family);
    }
}

/* One unit beyond the right sum of small integers is illegal: no order rounds there. */
Test(mutant, one_ulp_beyond_an_exact_sum_is_illegal)
{
    const uint64_t now[RANKS] = {f32(1), f32(2), f32(3), f32(4), f32(5)};
    const struct mutant_fold fold = fold_of(now, NULL, 0);
    uint64_t right = 0;

    mutant_fold_right(&fold, now, &right);
    right ^= 1;

    cr_assert(mutant_fold_is_illegal(&fold, &right));
}

/* Averages have four conventions, all legal; a wrong divisor is none of them. */
Test(mutant, averages_have_their_conventions_and_no_other)
{
    const uint64_t now[RANKS] = {f32(1.1), f32(2.2), f32(3.3), f32(4.7), f32(5.9)};
    struct mutant_fold fold = fold_of(now, NULL, 0);
    uint64_t right = 0;
    uint64_t wrong = 0;

    fold.reduction = ALAR_AVG;
    mutant_fold_right(&fold, now, &right);
    mutant_fold_wrong(ALAR_MUTANT_WRONG_DIVISOR, &fold, &right, &wrong);

    cr_assert_not(mutant_fold_is_illegal(&fold, &right));
    cr_assert(mutant_fold_is_illegal(&fold, &wrong));
}

/* Every mutant has a name of its own. */
Test(mutant, names_find_their_mutants)
{
    enum alar_mutant_kind kind = ALAR_MUTANT_COUNT;

    for (int i = 0; i < ALAR_MUTANT_COUNT; i++) {
        cr_assert_eq(alar_mutant_find(alar_mutants[i].name, &kind), ALAR_OK);
        cr_assert_eq((int)kind, i, "%s", alar_mutants[i].name);
    }
    cr_assert_eq(alar_mutant_find("drop", &kind), ALAR_E_INPUT);
}
