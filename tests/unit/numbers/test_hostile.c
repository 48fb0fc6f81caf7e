/* Hostile inputs: what each family promises of its numbers. */
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

static uint64_t room[RANKS_MAX * ALAR_VECTOR_ELEMENTS_MAX];

static struct alar_vector make(enum alar_hostile family, uint32_t ranks, uint64_t index)
{
    const struct alar_vector_key key = {family, ranks, SEED, index};
    struct alar_vector vector = {.bits = room};

    alar_vector_make(&key, &vector);
    return vector;
}

static void column(const struct alar_vector *vector, uint32_t ranks, uint32_t element,
                   uint64_t *bits)
{
    for (uint32_t r = 0; r < ranks; r++) {
        bits[r] = vector->bits[(size_t)r * vector->elements + element];
    }
}

static uint64_t tree_value(const struct alar_vector *vector, uint32_t ranks, uint32_t element,
                           enum alar_tree_kind kind)
{
    int32_t node[2 * RANKS_MAX];
    uint64_t bits[RANKS_MAX];
    uint64_t stack[RANKS_MAX];
    struct alar_tree tree = {.node = node, .capacity = 2 * RANKS_MAX};

    column(vector, ranks, element, bits);
    alar_tree_build(&tree, (struct alar_tree_name){kind, 0}, ranks);
    return alar_tree_evaluate(
        &tree, (struct alar_adder){vector->dtype, vector->dtype, ALAR_NEAREST, false}, bits, stack);
}

/* A seed found on one machine has to be the same input on another. */
Test(vectors, the_same_key_makes_the_same_bits)
{
    uint64_t first[RANKS_MAX * ALAR_VECTOR_ELEMENTS_MAX];

    for (int f = 0; f < ALAR_HOSTILE_COUNT; f++) {
        for (uint64_t index = 0; index < INDEXES; index++) {
            struct alar_vector vector = make((enum alar_hostile)f, 5, index);
            size_t microbatches = (size_t)vector.elements * 5;

            memcpy(first, room, microbatches * sizeof(*first));
            memset(room, 0xa5, sizeof(room));
            make((enum alar_hostile)f, 5, index);

            cr_assert_arr_eq(first, room, microbatches * sizeof(*first), "%s, index %zu",
                             alar_families[f].name, (size_t)index);
        }
    }
}

/* Every family serves any number of ranks, one rank too, within the room that was promised. */
Test(vectors, every_family_serves_any_number_of_ranks)
{
    for (int f = 0; f < ALAR_HOSTILE_COUNT; f++) {
        for (uint32_t ranks = 1; ranks <= RANKS_MAX; ranks++) {
            for (uint64_t index = 0; index < INDEXES; index++) {
                struct alar_vector vector = make((enum alar_hostile)f, ranks, index);

                cr_assert_geq(vector.elements, 1, "%s", alar_families[f].name);
                cr_assert_leq(vector.elements, ALAR_VECTOR_ELEMENTS_MAX);
                for (size_t i = 0; i < (size_t)ranks * vector.elements; i++) {
                    cr_assert_eq(room[i] & ~alar_dtype_mask(vector.dtype), 0, "%s, %u ranks",
                                 alar_families[f].name, ranks);
                }
            }
        }
    }
}

/* The digits of a ledger's sum are the ranks' multiplicities, and no rank has the same digit in the
   next all-reduce: so a missing, a doubled and a stale rank are told apart. */
Test(vectors, a_ledger_names_ranks_by_their_digits)
{
    for (uint64_t index = 0; index < 24; index++) {
        struct alar_vector vector = make(ALAR_HOSTILE_LEDGER, RANKS_MAX, index);
        uint32_t digits = 0;

        for (uint32_t r = 0; r < RANKS_MAX; r++) {
            double value = alar_fp_to_double(vector.dtype, vector.bits[r]);
            uint32_t digit = 1U << ((r + index) % 12);

            cr_assert_eq(alar_fp_bits(value),
                         alar_fp_bits((double)(UINT64_C(1) << 2 * ((r + index) % 12))));
            cr_assert_eq(digits & digit, 0, "two ranks share a digit");
            digits |= digit;
        }
    }
}

/* Half of the token counts round in no order at all, and all trees agree on them. */
Test(vectors, unordered_sums_are_exact_below_two_to_the_24)
{
    for (uint64_t index = 0; index < INDEXES; index += 2) {
        struct alar_vector vector = make(ALAR_HOSTILE_UNORDERED, RANKS_MAX, index);

        for (uint32_t e = 0; e < vector.elements; e++) {
            uint64_t value = tree_value(&vector, RANKS_MAX, e, ALAR_TREE_LEFT_FOLD);

            for (int kind = 1; kind < ALAR_TREE_KIND_COUNT; kind++) {
                cr_assert_eq(tree_value(&vector, RANKS_MAX, e, (enum alar_tree_kind)kind), value);
            }
            cr_assert_leq(alar_fp_to_double(vector.dtype, value), 0x1p24);
        }
    }
}

/* What is to tell orders apart has to have them differ. */
Test(vectors, ordered_losses_differ_by_tree)
{
    for (uint64_t index = 0; index < INDEXES; index++) {
        struct alar_vector vector = make(ALAR_HOSTILE_ORDERED, RANKS_MAX, index);

        for (uint32_t e = 0; e < vector.elements; e++) {
            uint64_t left = tree_value(&vector, RANKS_MAX, e, ALAR_TREE_LEFT_FOLD);
            uint64_t right = tree_value(&vector, RANKS_MAX, e, ALAR_TREE_RIGHT_FOLD);
            uint64_t pairs = tree_value(&vector, RANKS_MAX, e, ALAR_TREE_DOUBLING_HEAD);

            cr_assert(left != right || left != pairs, "index %zu, element %u", (size_t)index, e);
        }
    }
}

/* A mask's sum tells how many ranks were added after the huge pair had cancelled. */
Test(vectors, masks_hold_one_huge_pair_for_each_pair_of_ranks)
{
    struct alar_vector vector = make(ALAR_HOSTILE_MASKS, 5, 0);
    uint64_t bits[5];

    cr_assert_eq(vector.elements, 10);
    for (uint32_t e = 0; e < vector.elements; e++) {
        uint32_t huge = 0;
        uint32_t ones = 0;

        column(&vector, 5, e, bits);
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
Test(vectors, specials_hold_nan_infinities_and_zeros)
{
    uint32_t nans = 0;
    uint32_t infinities = 0;
    uint32_t zeros = 0;
    struct alar_vector vector = make(ALAR_HOSTILE_SPECIALS, RANKS_MAX, 3);

    for (size_t i = 0; i < (size_t)RANKS_MAX * vector.elements; i++) {
        nans += alar_fp_is_nan(ALAR_F32, room[i]);
        infinities += alar_fp_is_inf(ALAR_F32, room[i]);
        zeros += room[i] == alar_dtype_sign(ALAR_F32);
    }

    cr_assert_geq(nans, 4);
    cr_assert_eq(infinities, 4);
    cr_assert_eq(zeros, 2 * RANKS_MAX - 1);
}

/* Names are found, and nothing else is. */
Test(vectors, families_are_found_by_name)
{
    enum alar_hostile family = ALAR_HOSTILE_COUNT;

    for (int f = 0; f < ALAR_HOSTILE_COUNT; f++) {
        cr_assert_eq(alar_hostile_find(alar_families[f].name, &family), ALAR_OK);
        cr_assert_eq((int)family, f);
    }
    cr_assert_eq(alar_hostile_find("ledgers", &family), ALAR_E_INPUT);
}
