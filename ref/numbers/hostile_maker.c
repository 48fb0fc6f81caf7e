/* How an input is filled: elements, draws, and which rank comes first. */
#include "numbers/hostile_maker.h"

#include "numbers/fp.h"

void hostile_set(struct hostile_maker *maker, uint32_t rank, uint32_t element, double value)
{
    struct alar_hostile_input *input = maker->input;

    input->bits[(size_t)rank * input->elements + element] =
        alar_fp_from_double(input->dtype, value);
}

void hostile_fill(struct hostile_maker *maker, double value)
{
    for (uint32_t r = 0; r < maker->ranks; r++) {
        for (uint32_t e = 0; e < maker->input->elements; e++) {
            hostile_set(maker, r, e, value);
        }
    }
}

uint32_t hostile_below(struct hostile_maker *maker, uint64_t bound)
{
    return (uint32_t)alar_rng_below(&maker->rng, bound);
}

void hostile_shuffle(struct hostile_maker *maker, uint32_t element)
{
    struct alar_hostile_input *input = maker->input;

    for (uint32_t i = maker->ranks; i > 1; i--) {
        uint64_t *a = &input->bits[(size_t)(i - 1) * input->elements + element];
        uint64_t *b = &input->bits[(size_t)hostile_below(maker, i) * input->elements + element];
        uint64_t kept = *a;

        *a = *b;
        *b = kept;
    }
}
