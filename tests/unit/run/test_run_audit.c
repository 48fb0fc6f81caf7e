/* Legal ranges: what some order of addition gives is never called illegal, and nothing else passes.
 */
#include "legal/interval.h"
#include "numbers/fp.h"
#include "tests/lib/draw.h"
#include "tests/lib/run_rig.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum {
    RANKS_MAX = 24
};

/* Every drawn order of addition stays inside, on both sides of the change from hull to bound.
   spec: N-07, N-14 */
Test(run_audit, no_order_leaves_the_legal_range)
{
    const struct alar_adder adder = {.dtype = ALAR_F32, .wide = ALAR_F32, .model = ALAR_NEAREST};
    struct draw draw = {.state = 20261129};

    for (int round = 0; round < 600; round++) {
        uint32_t n = 1 + draw_below(&draw, RANKS_MAX);
        void *scratch = malloc(alar_legal_scratch_bytes(n));
        uint64_t bits[RANKS_MAX];
        uint64_t room[RANKS_MAX];

        draw_values(&draw, (enum draw_family)draw_below(&draw, DRAW_TINY), ALAR_F32, bits, n);
        struct alar_range range = alar_legal_range(ALAR_F32, bits, n, scratch);
        double sum = alar_fp_to_double(ALAR_F32, draw_sum(&draw, adder, bits, n, room));

        cr_assert(sum >= range.low && sum <= range.high,
                  "seed 20261129, round %d: %a not in [%a, %a]", round, sum, range.low, range.high);
        free(scratch);
    }
}

/* A twin that is a few ulps off is legal where an order explains it, and illegal where none does.
   spec: L-10 */
Test(run_audit, a_value_that_no_order_gives_is_illegal)
{
    struct alar_run_options options = run_rig_gloo("tests/data/gpt-losses/train");
    char error_line[ALAR_ERROR_LINE_BYTES];
    struct run run = {.options = &options};
    struct alar_report honest = {.steps = 1, .loss = (double)5.645169F};

    cr_assert_eq(run_open(&run, error_line), ALAR_OK, "%s", error_line);
    cr_assert_eq(run_audit(&run, 0, &honest, &honest), ALAR_OK);
    for (int ulps = 1; ulps < 100; ulps *= 2) {
        struct alar_report off = honest;

        off.loss = honest.loss + (4 + ulps) * 0x1p-21;
        cr_expect_eq(run_audit(&run, 0, &honest, &off), ALAR_E_DIFFERS, "%d ulps", 4 + ulps);
        cr_expect_eq(run_audit(&run, 0, &off, &honest), ALAR_E_DIFFERS, "%d ulps", 4 + ulps);
    }
    honest.is_empty = true;
    cr_expect_eq(run_audit(&run, 0, &honest, &honest), ALAR_E_DIFFERS,
                 "EMPTY never differs legally");
    cr_assert_eq(run_close(&run, error_line), ALAR_OK);
}
