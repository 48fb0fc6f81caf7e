/* Hostile inputs: what each kind promises of its numbers. */
#include "numbers/fp.h"
#include "numbers/hostile.h"
#include "numbers/tree.h"

#include <criterion/criterion.h>
#include <string.h>

enum {
    RANKS_MAX = 8,
    INDEXES = 12,
    SEED = 20240607
};

static uint64_t room[RANKS_MAX * ALAR_HOSTILE_ELEMENTS_MAX];

static struct alar_hostile_input make(enum alar_hostile kind, uint32_t ranks, uint64_t index)
{
    const struct alar_hostile_key key = {kind, ranks, SEED, index};
    struct alar_hostile_input input = {.bits = room};

    alar_hostile_make(&key, &input);
    return input;
}

static void column(const struct alar_hostile_input *input, uint32_t ranks, uint32_t element,
                   uint64_t *bits)
{
    for (uint32_t r = 0; r < ranks; r++) {
        bits[r] = input->bits[(size_t)r * input->elements + element];
    }
}

static uint64_t tree_value(const struct alar_hostile_input *input, uint32_t ranks, uint32_t element,
                           enum alar_tree_kind kind)
{
    int32_t node[2 * RANKS_MAX];
    uint64_t bits[RANKS_MAX];
    uint64_t stack[RANKS_MAX];
    struct alar_tree tree = {.node = node, .capacity = 2 * RANKS_MAX};

    column(input, ranks, element, bits);
    alar_tree_build(&tree, (struct alar_tree_name){kind, 0}, ranks);
    return alar_tree_evaluate(
        &tree, (struct alar_adder){input->dtype, input->dtype, ALAR_NEAREST, false}, bits, stack);
}

/* A seed found on one machine has to be the same input on another. */
Test(inputs, the_same_key_makes_the_same_bits)
{
    uint64_t first[RANKS_MAX * ALAR_HOSTILE_ELEMENTS_MAX];

    for (int f = 0; f < ALAR_HOSTILE_COUNT; f++) {
        for (uint64_t index = 0; index < INDEXES; index++) {
            struct alar_hostile_input input = make((enum alar_hostile)f, 5, index);
            size_t microbatches = (size_t)input.elements * 5;

            memcpy(first, room, microbatches * sizeof(*first));
            memset(room, 0xa5, sizeof(room));
            make((enum alar_hostile)f, 5, index);

            cr_assert_arr_eq(first, room, microbatches * sizeof(*first), "%s, index %zu",
                             alar_hostile_kinds[f].name, (size_t)index);
        }
    }
}

/* Every kind serves any number of ranks, one rank too, within the room that was promised. */
Test(inputs, every_family_serves_any_number_of_ranks)
{
    for (int f = 0; f < ALAR_HOSTILE_COUNT; f++) {
        for (uint32_t ranks = 1; ranks <= RANKS_MAX; ranks++) {
            for (uint64_t index = 0; index < INDEXES; index++) {
                struct alar_hostile_input input = make((enum alar_hostile)f, ranks, index);

                cr_assert_geq(input.elements, 1, "%s", alar_hostile_kinds[f].name);
                cr_assert_leq(input.elements, ALAR_HOSTILE_ELEMENTS_MAX);
                for (size_t i = 0; i < (size_t)ranks * input.elements; i++) {
                    cr_assert_eq(room[i] & ~alar_dtype_mask(input.dtype), 0, "%s, %u ranks",
                                 alar_hostile_kinds[f].name, ranks);
                }
            }
        }
    }
}

/* The digits of a ledger's sum are the ranks' multiplicities, and no rank has the same digit in the
   next all-reduce: so a missing, a doubled and a stale rank are told apart. */
Test(inputs, a_ledger_names_ranks_by_their_digits)
{
    for (uint64_t index = 0; index < 24; index++) {
        struct alar_hostile_input input = make(ALAR_HOSTILE_LEDGER, RANKS_MAX, index);
        uint32_t digits = 0;

        for (uint32_t r = 0; r < RANKS_MAX; r++) {
            double value = alar_fp_to_double(input.dtype, input.bits[r]);
            uint32_t digit = 1U << ((r + index) % 12);

            cr_assert_eq(alar_fp_bits(value),
                         alar_fp_bits((double)(UINT64_C(1) << 2 * ((r + index) % 12))));
            cr_assert_eq(digits & digit, 0, "two ranks share a digit");
            digits |= digit;
        }
    }
}

/* Half of the token counts round in no order at all, and all trees agree on them. */
Test(inputs, unordered_sums_are_exact_below_two_to_the_24)
{
    for (uint64_t index = 0; index < INDEXES; index += 2) {
        struct alar_hostile_input input = make(ALAR_HOSTILE_UNORDERED, RANKS_MAX, index);

        for (uint32_t e = 0; e < input.elements; e++) {
            uint64_t value = tree_value(&input, RANKS_MAX, e, ALAR_TREE_LEFT_FOLD);

            for (int kind = 1; kind < ALAR_TREE_KIND_COUNT; kind++) {
                cr_assert_eq(tree_value(&input, RANKS_MAX, e, (enum alar_tree_kind)kind), value);
            }
            cr_assert_leq(alar_fp_to_double(input.dtype, value), 0x1p24);
        }
    }
}

/* What is to tell orders apart has to have them differ. */
Test(inputs, ordered_losses_differ_by_tree)
{
    for (uint64_t index = 0; index < INDEXES; index++) {
        struct alar_hostile_input input = make(ALAR_HOSTILE_ORDERED, RANKS_MAX, index);

        for (uint32_t e = 0; e < input.elements; e++) {
            uint64_t left = tree_value(&input, RANKS_MAX, e, ALAR_TREE_LEFT_FOLD);
            uint64_t right = tree_value(&input, RANKS_MAX, e, ALAR_TREE_RIGHT_FOLD);
            uint64_t pairs = tree_value(&input, RANKS_MAX, e, ALAR_TREE_DOUBLING_HEAD);

            cr_assert(left != right || left != pairs, "index %zu, element %u", (size_t)index, e);
        }
    }
}

/* A mask's sum tells how many ranks were added after the huge pair had cancelled. */
Test(inputs, masks_hold_one_huge_pair_for_each_pair_of_ranks)
{
    struct alar_hostile_input input = make(ALAR_HOSTILE_MASKS, 5, 0);
    uint64_t bits[5];

    cr_assert_eq(input.elements, 10);
    for (uint32_t e = 0; e < input.elements; e++) {
        uint32_t huge = 0;
        uint32_t ones = 0;

        column(&input, 5, e, bits);
        for (uint32_t r = 0; r < 5; r++) {
            double value = alar_fp_to_double(ALAR_F32, bits[r]);

            huge += value > 0x1p99 || value < -0x1p99;
            ones += alar_fp_bits(value) == alar_fp_bits(1.0);
        }
        cr_assert_eq(huge, 2);
        cr_assert_eq(ones, 3);
    }
}

/* Specials hold what they are named for: NaN, one infinity, both, zeros of both signs. */
Test(inputs, specials_hold_nan_infinities_and_zeros)
{
    uint32_t nans = 0;
    uint32_t infinities = 0;
    uint32_t zeros = 0;
    struct alar_hostile_input input = make(ALAR_HOSTILE_SPECIALS, RANKS_MAX, 3);

    for (size_t i = 0; i < (size_t)RANKS_MAX * input.elements; i++) {
        nans += alar_fp_is_nan(ALAR_F32, room[i]);
        infinities += alar_fp_is_inf(ALAR_F32, room[i]);
        zeros += room[i] == alar_dtype_sign(ALAR_F32);
    }

    cr_assert_geq(nans, 4);
    cr_assert_eq(infinities, 4);
    cr_assert_eq(zeros, 2 * RANKS_MAX - 1);
}

/* Names are found, and nothing else is. */
Test(inputs, families_are_found_by_name)
{
    enum alar_hostile kind = ALAR_HOSTILE_COUNT;

    for (int f = 0; f < ALAR_HOSTILE_COUNT; f++) {
        cr_assert_eq(alar_hostile_find(alar_hostile_kinds[f].name, &kind), ALAR_OK);
        cr_assert_eq((int)kind, f);
    }
    cr_assert_eq(alar_hostile_find("ledgers", &kind), ALAR_E_INPUT);
}
