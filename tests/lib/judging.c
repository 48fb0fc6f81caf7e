/* One element to judge. */
#include "judging.h"

#include <criterion/criterion.h>
#include <stdlib.h>

void judging_start(struct judging *judging, enum alar_dtype dtype, uint32_t n)
{
    size_t bytes = 8 << 20;

    *judging = (struct judging){.reduce = {.adder = {dtype, dtype, ALAR_NEAREST}, .n = n}};
    judging->reduce.bits = judging->bits;
    judging->budget.scratch.memory = malloc(bytes);
    judging->budget.scratch.bytes = bytes;
    judging->budget.work = 2000000;
    judging->budget.starts = 4;
    cr_assert_not_null(judging->budget.scratch.memory);
}

void judging_end(struct judging *judging)
{
    free(judging->budget.scratch.memory);
}

enum alar_proof judging_proof(struct judging *judging, uint64_t value)
{
    enum alar_status status = alar_provenance_judge(&judging->reduce, value, judging->budget,
                                                    judging->nodes, &judging->origin);

    cr_assert_eq(status, ALAR_OK);
    return judging->origin.proof;
}
