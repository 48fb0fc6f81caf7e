/* Certificates hold when read again, and stop holding when anything in them is changed. */
#include "tests/lib/certified.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEED = 20608
};

static enum alar_status check(const char *text)
{
    struct alar_reduce reduce;
    uint64_t value;
    enum alar_status status =
        alar_certificate_check(text, certified.budget.scratch, &reduce, &value);

    if (status == ALAR_OK) {
        cr_assert_eq(value, certified.value);
        cr_assert_eq(reduce.n, certified.reduce.n);
        cr_assert_eq(memcmp(reduce.bits, certified.bits, reduce.n * sizeof *reduce.bits), 0);
    }
    return status;
}

/* Every legal origin has a certificate, and it holds. spec: N-22 */
Test(certificate, holds_when_read_again)
{
    struct draw draw = {SEED};
    unsigned found[ALAR_PROOF_COUNT] = {0};

    certified_setup();
    for (int round = 0; round < 3000; round++) {
        enum alar_proof proof = certified_draw(&draw, round);
        found[proof]++;
        if (alar_proof_is_legal(proof)) {
            cr_assert_eq(check(certified.text), ALAR_OK, "seed %d round %d: %s", SEED, round,
                         certified.text);
        }
    }
    cr_assert(found[ALAR_PROOF_ONLY] && found[ALAR_PROOF_NAMED] && found[ALAR_PROOF_ORDERED]);
    cr_assert(found[ALAR_PROOF_ANY] && found[ALAR_PROOF_HULL] && found[ALAR_PROOF_BOUND]);
    certified_teardown();
}

/* Any changed character is refused. */
Test(certificate, any_change_is_refused)
{
    struct draw draw = {SEED + 1};

    certified_setup();
    for (int round = 0; round < 60; round++) {
        if (!alar_proof_is_legal(certified_draw(&draw, round))) {
            continue;
        }
        for (size_t at = 0; certified.text[at] != '\0'; at++) {
            char before = certified.text[at];
            certified.text[at] = before == '1' ? '0' : '1';
            cr_assert(check(certified.text) != ALAR_OK, "%s", certified.text);
            certified.text[at] = '\0';
            cr_assert(check(certified.text) != ALAR_OK);
            certified.text[at] = before;
        }
    }
    certified_teardown();
}

/* Sealed again, a value one ulp off, a leaf used twice or a leaf changed is still refused by the
   proof itself. spec: N-22 */
Test(certificate, a_forged_seal_does_not_help)
{
    const char *const forged[] = {"proof=tree:((0+1)+1) check=",
                                  "proof=tree:(0+1) check=",
                                  "proof=tree:((0+1)+3) check=",
                                  "proof=tree:(0+1+2) check=",
                                  "proof=tree:((0+1)+2)) check=",
                                  "proof=tree:((0+1)+2)0 check=",
                                  "proof=tree:()+1+2 check=",
                                  "proof=tree: check=",
                                  "proof=order-free:((0+1)+2) check=",
                                  "proof=extremum check=",
                                  "proof=within:3ff0000000000000 check=",
                                  "proof=between:((0+1)+2) check=",
                                  "proof= check=",
                                  "proof=tree:(((0+1)+2)+) check="};
    char text[512];
    char start[256];

    certified_setup();
    certified.reduce = (struct alar_reduce){.bits = certified.bits, .n = 3};
    certified.reduce.adder = (struct alar_adder){ALAR_F32, ALAR_F32, ALAR_NEAREST, false};
    const double values[] = {1.1, 2.3, 3.7};
    for (int i = 0; i < 3; i++) {
        certified.bits[i] = alar_fp_from_double(ALAR_F32, values[i]);
    }
    certified.value = alar_adder_fold(certified.reduce.adder, certified.bits, 3);
    for (int off = 0; off < 2; off++) {
        (void)snprintf(start, sizeof start,
                       "alar-certificate=1 red=sum avg=0 nan=0 dtype=f32 wide=f32 model=0 height=0 "
                       "value=%08llx leaves=%08llx,%08llx,%08llx ",
                       (unsigned long long)certified.value + (unsigned)off,
                       (unsigned long long)certified.bits[0], (unsigned long long)certified.bits[1],
                       (unsigned long long)certified.bits[2]);
        (void)snprintf(text, sizeof text, "%sproof=tree:((0+1)+2) check=", start);
        certified_seal(text);
        cr_assert_eq(check(text), off ? ALAR_E_DIFFERS : ALAR_OK);
    }
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        start[0] = 'a';
        (void)snprintf(text, sizeof text, "%s%s", start, forged[i]);
        certified_seal(text);
        cr_assert_eq(check(text), ALAR_E_DIFFERS, "%s", text);
    }
    certified_teardown();
}

/* What a careless reader would let through: a leaf left out because it is 0, words after the proof,
   another radius than the proven one. */
Test(certificate, nothing_is_left_over)
{
    const char *const claim =
        "alar-certificate=1 red=sum avg=0 nan=0 dtype=f32 wide=f32 model=0 height=0 ";
    const char *const zero = "value=40400000 leaves=3f800000,40000000,00000000 ";
    struct {
        const char *proof;
        enum alar_status status;
    } const table[] = {{"proof=tree:((0+1)+2)", ALAR_OK},
                       {"proof=order-free:(0+(1+2))", ALAR_OK},
                       {"proof=between:((0+1)+2):((0+2)+1)", ALAR_OK},
                       {"proof=tree:(0+1)", ALAR_E_DIFFERS},
                       {"proof=tree:((0+1)+2) x", ALAR_E_DIFFERS},
                       {"proof=tree:(((0+1)+2)+2)", ALAR_E_DIFFERS},
                       {"proof=tree:((2+2)+(0+1))", ALAR_E_DIFFERS},
                       {"proof=between:((0+1)+2):(0+1)", ALAR_E_DIFFERS},
                       {"proof=within:3ff0000000000000", ALAR_E_DIFFERS}};
    char text[512];

    certified_setup();
    certified.reduce.n = 3;
    certified.bits[0] = 0x3f800000;
    certified.bits[1] = 0x40000000;
    certified.bits[2] = 0;
    certified.value = 0x40400000;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        (void)snprintf(text, sizeof text, "%s%s%s check=", claim, zero, table[i].proof);
        certified_seal(text);
        cr_assert_eq(check(text), table[i].status, "%s", text);
    }
    /* Two zeros: one of them twice gives the same sum, but not a tree over all leaves. */
    (void)snprintf(
        text, sizeof text,
        "%svalue=40400000 leaves=40400000,00000000,00000000 proof=tree:((0+1)+1) check=", claim);
    certified_seal(text);
    cr_assert_eq(check(text), ALAR_E_DIFFERS);
    certified_teardown();
}

/* Words that do not go together are no certificate. */
Test(certificate, refuses_impossible_claims)
{
    const char *const bad[] = {
        "",
        " check=0000000000000000",
        "alar-certificate=1 red=avg avg=0 nan=0 dtype=f32 wide=f32 model=0 height=0 value=3f800000 "
        "leaves=3f800000 proof=tree:0 check=",
        "alar-certificate=1 red=sum avg=1 nan=0 dtype=f32 wide=f32 model=0 height=0 value=3f800000 "
        "leaves=3f800000 proof=tree:0 check=",
        "alar-certificate=1 red=sum avg=0 nan=0 dtype=i32 wide=f32 model=0 height=0 value=00000001 "
        "leaves=00000001 proof=tree:0 check=",
        "alar-certificate=1 red=sum avg=0 nan=0 dtype=f32 wide=i32 model=0 height=0 value=3f800000 "
        "leaves=3f800000 proof=tree:0 check=",
        "alar-certificate=1 red=sum avg=0 nan=0 dtype=f32 wide=f32 model=9 height=0 value=3f800000 "
        "leaves=3f800000 proof=tree:0 check=",
        "alar-certificate=1 red=product avg=0 nan=0 dtype=f32 wide=f32 model=0 height=0 "
        "value=3f800000 leaves=3f800000 proof=tree:0 check=",
        "alar-certificate=1 red=sum avg=0 nan=0 dtype=f32 wide=f32 model=0 height=0 value=3f800000 "
        "leaves=3f800000, proof=tree:0 check=",
        "alar-certificate=1 red=sum avg=0 nan=0 dtype=f32 wide=f32 model=0 height=0 value=3f800000 "
        "leaves= proof=tree:0 check="};
    char text[512];

    certified_setup();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        (void)snprintf(text, sizeof text, "%s", bad[i]);
        if (i > 1) {
            certified_seal(text);
        }
        cr_assert_eq(check(text), ALAR_E_INPUT, "%s", text);
    }
    struct draw draw = {SEED + 2};
    while (!alar_proof_is_legal(certified_draw(&draw, 7))) {
    }
    struct alar_scratch none = {certified.budget.scratch.memory, 32};
    struct alar_reduce reduce;
    uint64_t value;
    cr_assert_eq(alar_certificate_check(certified.text, none, &reduce, &value), ALAR_E_RANGE);
    for (size_t size = 0; size < strlen(certified.text); size++) {
        char small[sizeof certified.text];
        cr_assert_eq(alar_certificate_write(&certified.reduce, certified.value, &certified.origin,
                                            certified.budget.scratch, small, size),
                     ALAR_E_RANGE);
    }
    certified.origin.proof = ALAR_PROOF_ILLEGAL;
    cr_assert_eq(alar_certificate_write(&certified.reduce, certified.value, &certified.origin,
                                        certified.budget.scratch, certified.text,
                                        sizeof certified.text),
                 ALAR_E_INPUT);
    certified_teardown();
}

/* Integers and extremes have certificates too. */
Test(certificate, integers_and_extremes)
{
    const enum alar_reduction reds[] = {ALAR_SUM, ALAR_AVG, ALAR_MAX, ALAR_MIN};
    const uint64_t legal[] = {0x80000004, 0xd5555557, 9, 0x7ffffffa};

    certified_setup();
    for (int i = 0; i < 4; i++) {
        certified.reduce = (struct alar_reduce){.red = reds[i], .bits = certified.bits, .n = 3};
        certified.reduce.adder = (struct alar_adder){ALAR_I32, ALAR_I32, ALAR_NEAREST, false};
        certified.bits[0] = i == 3 ? 0x7ffffffb : 0x7ffffffa;
        certified.bits[1] = i == 3 ? 0x7ffffffa : 1;
        certified.bits[2] = i == 3 ? 0x7ffffffc : 9;
        certified.bits[0] = i == 2 ? 3 : certified.bits[0];
        certified.value = legal[i];
        cr_assert_eq(alar_provenance_judge(&certified.reduce, certified.value, certified.budget,
                                           certified.nodes, &certified.origin),
                     ALAR_OK);
        cr_assert_eq(certified.origin.proof, ALAR_PROOF_ONLY, "%d", i);
        cr_assert_eq(alar_certificate_write(&certified.reduce, certified.value, &certified.origin,
                                            certified.budget.scratch, certified.text,
                                            sizeof certified.text),
                     ALAR_OK);
        cr_assert_eq(check(certified.text), ALAR_OK, "%s", certified.text);
    }
    certified_teardown();
}
