/* Drawn certificates. */
#include "tests/lib/certified.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum alar_dtype floats[] = {ALAR_F16, ALAR_BF16, ALAR_F32, ALAR_F64};

struct certified certified;

void certified_setup(void)
{
    size_t bytes = 8 << 20;

    certified.budget = (struct alar_budget){.scratch = {malloc(bytes), bytes}, .work = 1000000};
    cr_assert_not_null(certified.budget.scratch.memory);
}

void certified_teardown(void)
{
    free(certified.budget.scratch.memory);
}

void certified_seal(char *text)
{
    char *end = strstr(text, " check=");
    uint64_t digest = alar_certificate_digest(text, (size_t)(end - text));

    (void)snprintf(end, 24, " check=%016llx", (unsigned long long)digest);
}

enum alar_proof certified_draw(struct draw *draw, int round)
{
    enum alar_dtype dtype = floats[round % 4];
    struct alar_adder adder = {dtype, dtype, ALAR_NEAREST, false};
    enum alar_avg avg = round % 5 ? ALAR_AVG_ANY : (enum alar_avg)(1 + draw_below(draw, 4));
    uint32_t n = 1 + draw_below(draw, round % 20 ? 8 : CERTIFIED_RANKS);
    uint64_t prepared[CERTIFIED_RANKS];

    adder.model = round % 6 ? ALAR_NEAREST : (enum alar_model)draw_below(draw, 5);
    adder.wide = draw_below(draw, 8) ? dtype : ALAR_F64;
    certified.reduce =
        (struct alar_reduce){.adder = adder, .avg = avg, .bits = certified.bits, .n = n};
    certified.reduce.red = avg == ALAR_AVG_ANY ? ALAR_SUM : ALAR_AVG;
    draw_values(draw, (enum draw_family)draw_below(draw, DRAW_FAMILY_COUNT), dtype, certified.bits,
                n);
    alar_average_prepare(avg, dtype, certified.bits, n, prepared);
    certified.value =
        alar_average_finish(avg, dtype, draw_sum(draw, adder, prepared, n, certified.room), n);
    certified.budget.work = round % 3 ? 100000 : 0;
    cr_assert_eq(alar_provenance_judge(&certified.reduce, certified.value, certified.budget,
                                       certified.nodes, &certified.origin),
                 ALAR_OK);
    if (alar_proof_is_legal(certified.origin.proof)) {
        enum alar_status status =
            alar_certificate_write(&certified.reduce, certified.value, &certified.origin,
                                   certified.budget.scratch, certified.text, sizeof certified.text);
        bool is_infinite_hull = certified.origin.proof == ALAR_PROOF_HULL && status == ALAR_E_RANGE;
        cr_assert(status == ALAR_OK || is_infinite_hull, "round %d", round);
        return status == ALAR_OK ? certified.origin.proof : ALAR_PROOF_UNDECIDED;
    }
    return certified.origin.proof;
}
