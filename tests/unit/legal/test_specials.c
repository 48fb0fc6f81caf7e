/* Special values, integers and extremes: one legal answer each, by rule and not by order. */
#include "tests/lib/judging.h"

#include <criterion/criterion.h>

/* NaN, infinities and zeros follow their rules whatever the size. spec: N-08 */
Test(provenance, specials_have_one_legal_answer)
{
    struct judging bench;
    const uint64_t inf = alar_fp_inf(ALAR_F32, false);
    const uint64_t minus = alar_dtype_sign(ALAR_F32);

    judging_start(&bench, ALAR_F32, 40);
    for (uint32_t i = 0; i < 40; i++) {
        bench.bits[i] = alar_fp_from_double(ALAR_F32, 1.1 + i);
    }
    bench.bits[3] = inf;
    cr_assert_eq(judging_proof(&bench, inf), ALAR_PROOF_ONLY);
    cr_assert_eq(judging_proof(&bench, alar_fp_nan(ALAR_F32)), ALAR_PROOF_ILLEGAL);
    cr_assert_eq(judging_proof(&bench, bench.bits[0]), ALAR_PROOF_ILLEGAL);
    bench.bits[7] = inf | minus;
    cr_assert_eq(judging_proof(&bench, inf), ALAR_PROOF_ILLEGAL);
    cr_assert_eq(judging_proof(&bench, 0x7fc12345), ALAR_PROOF_ONLY);
    for (uint32_t i = 0; i < 40; i++) {
        bench.bits[i] = minus;
    }
    cr_assert_eq(judging_proof(&bench, minus), ALAR_PROOF_ONLY);
    cr_assert_eq(judging_proof(&bench, 0), ALAR_PROOF_ILLEGAL);
    bench.bits[9] = 0;
    cr_assert_eq(judging_proof(&bench, minus), ALAR_PROOF_ILLEGAL);
    cr_assert_eq(judging_proof(&bench, 0), ALAR_PROOF_ONLY);
    judging_end(&bench);
}

/* Integers have one sum, modulo their width, and averages that divide it. spec: N-04 */
Test(provenance, integers_have_one_answer)
{
    struct judging bench;

    judging_start(&bench, ALAR_I32, 3);
    /* What is promised about floats does not touch integers. */
    bench.reduce.adder.wide = ALAR_F32;
    bench.reduce.avg = ALAR_AVG_MULTIPLY_SUM;
    bench.bits[0] = 0x7fffffff;
    bench.bits[1] = 1;
    bench.bits[2] = 0xfffffff0;
    cr_assert_eq(judging_proof(&bench, 0x7ffffff0), ALAR_PROOF_ONLY);
    cr_assert_eq(bench.origin.ulps, 0u);
    cr_assert_eq(judging_proof(&bench, 0x7fffffff), ALAR_PROOF_ILLEGAL);
    cr_assert_eq(bench.origin.low, 0x7ffffff0u);
    bench.reduce.red = ALAR_AVG;
    bench.bits[0] = 0xfffffffb;
    bench.bits[1] = 0xffffffff;
    bench.bits[2] = 0xffffffff;
    cr_assert_eq(judging_proof(&bench, 0xfffffffe), ALAR_PROOF_ONLY);
    cr_assert_eq(judging_proof(&bench, 0xfffffffd), ALAR_PROOF_ILLEGAL);
    bench.reduce.red = ALAR_PRODUCT;
    cr_assert_eq(judging_proof(&bench, 0xfffffffb), ALAR_PROOF_ONLY);
    cr_assert_eq(judging_proof(&bench, 0xfffffffa), ALAR_PROOF_ILLEGAL);
    judging_end(&bench);
}

/* MAX and MIN by policy, against the definition by exhaustion over orders. spec: N-18 */
Test(provenance, extremes_follow_their_policy)
{
    struct judging bench;
    const uint64_t nan = alar_fp_nan(ALAR_F32);
    const uint64_t one = alar_fp_from_double(ALAR_F32, 1);
    const uint64_t two = alar_fp_from_double(ALAR_F32, 2);
    const uint64_t input[] = {one, nan, two, one};
    struct {
        enum alar_nan_policy policy;
        bool nan, one, two; /* legal answers */
    } const table[] = {{ALAR_NAN_PROPAGATE, true, false, false},
                       {ALAR_NAN_IGNORE, false, false, true},
                       {ALAR_NAN_IDIOM, true, true, true},
                       {ALAR_NAN_ANY, true, true, true}};

    judging_start(&bench, ALAR_F32, 4);
    bench.reduce.red = ALAR_MAX;
    for (int i = 0; i < 4; i++) {
        bench.bits[i] = input[i];
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        bench.reduce.nan = table[i].policy;
        /* "The only legal one" is said where there is one. */
        enum alar_proof proof = i < 2 ? ALAR_PROOF_ONLY : ALAR_PROOF_ANY;
        cr_assert_eq(judging_proof(&bench, nan | 5) == proof, table[i].nan, "policy %zu", i);
        cr_assert_eq(judging_proof(&bench, one) == proof, table[i].one, "policy %zu", i);
        cr_assert_eq(judging_proof(&bench, two) == proof, table[i].two, "policy %zu", i);
        cr_assert_eq(judging_proof(&bench, two + 1), ALAR_PROOF_ILLEGAL);
        cr_assert_eq(judging_proof(&bench, 0), ALAR_PROOF_ILLEGAL);
    }
    bench.bits[1] = 0;
    bench.bits[0] = alar_dtype_sign(ALAR_F32);
    bench.reduce.red = ALAR_MIN;
    cr_assert_eq(judging_proof(&bench, 0), ALAR_PROOF_ANY);
    cr_assert_eq(judging_proof(&bench, alar_dtype_sign(ALAR_F32)), ALAR_PROOF_ANY);
    cr_assert_eq(judging_proof(&bench, one), ALAR_PROOF_ILLEGAL);
    cr_assert_eq(judging_proof(&bench, nan), ALAR_PROOF_ILLEGAL);
    bench.bits[0] = bench.bits[1] = bench.bits[2] = bench.bits[3] = nan;
    bench.reduce.nan = ALAR_NAN_IGNORE;
    cr_assert_eq(judging_proof(&bench, nan), ALAR_PROOF_ONLY);
    judging_end(&bench);
}

/* Where the bound is too wide to tell, the grain and the sign of zero still do. spec: N-08, N-15 */
Test(specials, grain_and_sign_refuse_at_many_ranks)
{
    struct judging bench;

    judging_start(&bench, ALAR_BF16, 70);
    for (uint32_t i = 0; i < 70; i++) {
        bench.bits[i] = alar_fp_from_double(ALAR_BF16, i % 2 ? 160 : -160);
    }
    bench.bits[3] = alar_fp_from_double(ALAR_BF16, 161);
    bench.bits[5] = alar_fp_from_double(ALAR_BF16, 159);
    cr_assert_neq(judging_proof(&bench, 0), ALAR_PROOF_ILLEGAL);
    cr_assert_eq(judging_proof(&bench, alar_dtype_sign(ALAR_BF16)), ALAR_PROOF_ILLEGAL);
    cr_assert_eq(bench.origin.refusal, ALAR_REFUSED_ZERO);
    cr_assert_eq(judging_proof(&bench, alar_fp_from_double(ALAR_BF16, 0.5)), ALAR_PROOF_ILLEGAL);
    cr_assert_eq(bench.origin.refusal, ALAR_REFUSED_GRAIN);
    cr_assert_eq(judging_proof(&bench, alar_fp_from_double(ALAR_BF16, 8)), ALAR_PROOF_BOUND);
    judging_end(&bench);
}
