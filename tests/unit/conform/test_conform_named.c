/* Contributions whose sum is known without adding: what is expected of an
   all-reduce, against the exact adder. */
#include "conform/conform_scene.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

enum {
    ELEMENTS = 40,
    NUMBERS = 3
};

static const uint32_t worlds[] = {1, 2, 3, 5, 8, 9, 64};

/* One all-reduce of the family, of every dtype there is. */
static struct conform_op op_of(enum alar_dtype dtype, enum alar_reduction reduction,
                               uint32_t number)
{
    return (struct conform_op){
        .dtype = dtype, .reduction = reduction, .family = FAMILY_ASYNC, .number = number * 1001};
}

/* Adds or compares what the members contribute, one after the other. */
static uint64_t reduced(const struct conform_op *op, uint32_t members, uint64_t element)
{
    const struct conform_scene scene = {.seed = 7};
    uint64_t value = conform_input(&scene, op, 0, members, element);

    for (uint32_t m = 1; m < members; m++) {
        uint64_t other = conform_input(&scene, op, m, members, element);
        bool is_greater = alar_fp_to_double(op->dtype, other) > alar_fp_to_double(op->dtype, value);

        if (op->reduction == ALAR_SUM) {
            value = alar_fp_add(op->dtype, ALAR_NEAREST, value, other);
        } else {
            value = is_greater == (op->reduction == ALAR_MAX) ? other : value;
        }
    }
    return value;
}

static void hold(enum alar_dtype dtype, enum alar_reduction reduction, uint32_t members,
                 uint32_t number)
{
    struct conform_op op = op_of(dtype, reduction, number);
    struct conform_named expected = conform_named_expected(&op, members);

    for (uint64_t e = 0; e < ELEMENTS; e++) {
        uint64_t element = e * e * e * 17; /* to beyond 10^6 */

        cr_assert_eq(conform_named_bits(&expected, element), reduced(&op, members, element),
                     "%s, reduction %d, %u members, element %" PRIu64, alar_dtype_name(dtype),
                     (int)reduction, members, element);
    }
}

/* A wrong expectation accuses a back end that is right. spec: F-33 */
Test(conform_named, the_expected_value_is_what_the_exact_adder_gives)
{
    for (int dtype = 0; dtype < ALAR_DTYPE_COUNT; dtype++) {
        for (size_t w = 0; w < sizeof(worlds) / sizeof(worlds[0]); w++) {
            for (uint32_t number = 0; number < NUMBERS; number++) {
                hold((enum alar_dtype)dtype, ALAR_SUM, worlds[w], number);
                hold((enum alar_dtype)dtype, ALAR_MAX, worlds[w], number);
                hold((enum alar_dtype)dtype, ALAR_MIN, worlds[w], number);
            }
        }
    }
}

/* Pieces are filled apart from each other, and looked at one by one elsewhere.
 */
Test(conform_named, a_row_is_the_same_in_pieces_and_one_by_one)
{
    for (int dtype = 0; dtype < ALAR_DTYPE_COUNT; dtype++) {
        struct conform_op op = op_of((enum alar_dtype)dtype, ALAR_SUM, 2);
        struct conform_named named = conform_named_input(&op, 2, 3);
        size_t size = alar_dtype_bytes((enum alar_dtype)dtype);
        unsigned char whole[ELEMENTS * sizeof(uint64_t)];

        conform_named_fill(&named, 0, 9, whole);
        conform_named_fill(&named, 9, ELEMENTS - 9, whole + 9 * size);

        for (uint64_t e = 0; e < ELEMENTS; e++) {
            uint64_t bits = 0;

            memcpy(&bits, whole + e * size, size);
            cr_assert_eq(bits, conform_named_bits(&named, e), "%s, element %" PRIu64,
                         alar_dtype_name((enum alar_dtype)dtype), e);
        }
    }
}

/* Values have to tell members and neighbours apart, or nothing shows. */
Test(conform_named, members_and_neighbours_differ)
{
    struct conform_op op = op_of(ALAR_F32, ALAR_SUM, 1);
    struct conform_named one = conform_named_input(&op, 0, 4);
    struct conform_named other = conform_named_input(&op, 1, 4);

    for (uint64_t e = 0; e < ELEMENTS; e++) {
        cr_assert_neq(conform_named_bits(&one, e), conform_named_bits(&other, e));
        cr_assert_neq(conform_named_bits(&one, e), conform_named_bits(&one, e + 1));
    }
}
