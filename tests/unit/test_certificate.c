/* Certificates hold when read again, and stop holding when anything in them is changed. */
#include "certificate.h"
#include "tests/lib/draw.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEED = 20608,
    RANKS = 40
};

static const enum alar_dtype floats[] = {ALAR_F16, ALAR_BF16, ALAR_F32, ALAR_F64};

struct bench {
    struct alar_reduce reduce;
    struct alar_budget budget;
    struct alar_origin origin;
    uint64_t value;
    uint64_t bits[RANKS];
    uint64_t room[RANKS];
    int32_t nodes[2 * RANKS];
    char text[ALAR_CERTIFICATE_BYTES(RANKS)];
};

static struct bench bench;

static void setup(void)
{
    size_t bytes = 8 << 20;

    bench.budget = (struct alar_budget){.scratch = {malloc(bytes), bytes}, .work = 1000000};
    cr_assert_not_null(bench.budget.scratch.memory);
}

static void teardown(void)
{
    free(bench.budget.scratch.memory);
}

static enum alar_status check(const char *text)
{
    struct alar_reduce reduce;
    uint64_t value;
    enum alar_status status = alar_certificate_check(text, bench.budget.scratch, &reduce, &value);

    if (status == ALAR_OK) {
        cr_assert_eq(value, bench.value);
        cr_assert_eq(reduce.n, bench.reduce.n);
        cr_assert_eq(memcmp(reduce.bits, bench.bits, reduce.n * sizeof *reduce.bits), 0);
    }
    return status;
}

/* Seals a text again after it was changed, so that only the proof can refuse it. */
static void seal(char *text)
{
    char *end = strstr(text, " check=");
    uint64_t digest = alar_certificate_digest(text, (size_t)(end - text));

    (void)snprintf(end, 24, " check=%016llx", (unsigned long long)digest);
}

/* A drawn case with a legal value; returns its rung after writing the certificate. */
static enum alar_rung draw_case(struct draw *draw, int round)
{
    enum alar_dtype dtype = floats[round % 4];
    struct alar_adder adder = {dtype, dtype, ALAR_NEAREST};
    enum alar_avg avg = round % 5 ? ALAR_AVG_ANY : (enum alar_avg)(1 + draw_below(draw, 4));
    uint32_t n = 1 + draw_below(draw, round % 20 ? 8 : RANKS);
    uint64_t prepared[RANKS];

    adder.model = round % 6 ? ALAR_NEAREST : (enum alar_model)draw_below(draw, 5);
    adder.wide = draw_below(draw, 8) ? dtype : ALAR_F64;
    bench.reduce = (struct alar_reduce){.adder = adder, .avg = avg, .bits = bench.bits, .n = n};
    bench.reduce.red = avg == ALAR_AVG_ANY ? ALAR_RED_SUM : ALAR_RED_AVG;
    draw_values(draw, (enum draw_family)draw_below(draw, DRAW_FAMILY_COUNT), dtype, bench.bits, n);
    alar_average_prepare(avg, dtype, bench.bits, n, prepared);
    bench.value =
        alar_average_finish(avg, dtype, draw_sum(draw, adder, prepared, n, bench.room), n);
    bench.budget.work = round % 3 ? 100000 : 0;
    cr_assert_eq(
        alar_provenance_judge(&bench.reduce, bench.value, bench.budget, bench.nodes, &bench.origin),
        ALAR_OK);
    if (alar_rung_is_legal(bench.origin.rung)) {
        enum alar_status status =
            alar_certificate_write(&bench.reduce, bench.value, &bench.origin, bench.budget.scratch,
                                   bench.text, sizeof bench.text);
        bool is_infinite_hull = bench.origin.rung == ALAR_RUNG_HULL && status == ALAR_E_RANGE;
        cr_assert(status == ALAR_OK || is_infinite_hull, "seed %d round %d", SEED, round);
        return status == ALAR_OK ? bench.origin.rung : ALAR_RUNG_UNDECIDED;
    }
    return bench.origin.rung;
}

/* Every legal origin has a certificate, and it holds. spec: N-22 */
Test(certificate, holds_when_read_again)
{
    struct draw draw = {SEED};
    unsigned found[ALAR_RUNG_COUNT] = {0};

    setup();
    for (int round = 0; round < 3000; round++) {
        enum alar_rung rung = draw_case(&draw, round);
        found[rung]++;
        if (alar_rung_is_legal(rung)) {
            cr_assert_eq(check(bench.text), ALAR_OK, "seed %d round %d: %s", SEED, round,
                         bench.text);
        }
    }
    cr_assert(found[ALAR_RUNG_ONLY] && found[ALAR_RUNG_NAMED] && found[ALAR_RUNG_ORDERED]);
    cr_assert(found[ALAR_RUNG_ANY] && found[ALAR_RUNG_HULL] && found[ALAR_RUNG_BOUND]);
    teardown();
}

/* Any changed character is refused. */
Test(certificate, any_change_is_refused)
{
    struct draw draw = {SEED + 1};

    setup();
    for (int round = 0; round < 60; round++) {
        if (!alar_rung_is_legal(draw_case(&draw, round))) {
            continue;
        }
        for (size_t at = 0; bench.text[at] != '\0'; at++) {
            char before = bench.text[at];
            bench.text[at] = before == '1' ? '0' : '1';
            cr_assert(check(bench.text) != ALAR_OK, "%s", bench.text);
            bench.text[at] = '\0';
            cr_assert(check(bench.text) != ALAR_OK);
            bench.text[at] = before;
        }
    }
    teardown();
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

    setup();
    bench.reduce = (struct alar_reduce){.bits = bench.bits, .n = 3};
    bench.reduce.adder = (struct alar_adder){ALAR_F32, ALAR_F32, ALAR_NEAREST};
    const double values[] = {1.1, 2.3, 3.7};
    for (int i = 0; i < 3; i++) {
        bench.bits[i] = alar_fp_from_double(ALAR_F32, values[i]);
    }
    bench.value = alar_adder_fold(bench.reduce.adder, bench.bits, 3);
    for (int off = 0; off < 2; off++) {
        (void)snprintf(start, sizeof start,
                       "alar-certificate=1 red=sum avg=0 nan=0 dtype=f32 wide=f32 model=0 height=0 "
                       "value=%08llx leaves=%08llx,%08llx,%08llx ",
                       (unsigned long long)bench.value + (unsigned)off,
                       (unsigned long long)bench.bits[0], (unsigned long long)bench.bits[1],
                       (unsigned long long)bench.bits[2]);
        (void)snprintf(text, sizeof text, "%sproof=tree:((0+1)+2) check=", start);
        seal(text);
        cr_assert_eq(check(text), off ? ALAR_E_DIFFERS : ALAR_OK);
    }
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        start[0] = 'a';
        (void)snprintf(text, sizeof text, "%s%s", start, forged[i]);
        seal(text);
        cr_assert_eq(check(text), ALAR_E_DIFFERS, "%s", text);
    }
    teardown();
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

    setup();
    bench.reduce.n = 3;
    bench.bits[0] = 0x3f800000;
    bench.bits[1] = 0x40000000;
    bench.bits[2] = 0;
    bench.value = 0x40400000;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        (void)snprintf(text, sizeof text, "%s%s%s check=", claim, zero, table[i].proof);
        seal(text);
        cr_assert_eq(check(text), table[i].status, "%s", text);
    }
    /* Two zeros: one of them twice gives the same sum, but not a tree over all leaves. */
    (void)snprintf(
        text, sizeof text,
        "%svalue=40400000 leaves=40400000,00000000,00000000 proof=tree:((0+1)+1) check=", claim);
    seal(text);
    cr_assert_eq(check(text), ALAR_E_DIFFERS);
    teardown();
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

    setup();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        (void)snprintf(text, sizeof text, "%s", bad[i]);
        if (i > 1) {
            seal(text);
        }
        cr_assert_eq(check(text), ALAR_E_INPUT, "%s", text);
    }
    struct draw draw = {SEED + 2};
    while (!alar_rung_is_legal(draw_case(&draw, 7))) {
    }
    struct alar_scratch none = {bench.budget.scratch.memory, 32};
    struct alar_reduce reduce;
    uint64_t value;
    cr_assert_eq(alar_certificate_check(bench.text, none, &reduce, &value), ALAR_E_RANGE);
    for (size_t size = 0; size < strlen(bench.text); size++) {
        char small[sizeof bench.text];
        cr_assert_eq(alar_certificate_write(&bench.reduce, bench.value, &bench.origin,
                                            bench.budget.scratch, small, size),
                     ALAR_E_RANGE);
    }
    bench.origin.rung = ALAR_RUNG_ILLEGAL;
    cr_assert_eq(alar_certificate_write(&bench.reduce, bench.value, &bench.origin,
                                        bench.budget.scratch, bench.text, sizeof bench.text),
                 ALAR_E_INPUT);
    teardown();
}

/* Integers and extremes have certificates too. */
Test(certificate, integers_and_extremes)
{
    const enum alar_red reds[] = {ALAR_RED_SUM, ALAR_RED_AVG, ALAR_RED_MAX, ALAR_RED_MIN};
    const uint64_t legal[] = {0x80000004, 0xd5555557, 9, 0x7ffffffa};

    setup();
    for (int i = 0; i < 4; i++) {
        bench.reduce = (struct alar_reduce){.red = reds[i], .bits = bench.bits, .n = 3};
        bench.reduce.adder = (struct alar_adder){ALAR_I32, ALAR_I32, ALAR_NEAREST};
        bench.bits[0] = i == 3 ? 0x7ffffffb : 0x7ffffffa;
        bench.bits[1] = i == 3 ? 0x7ffffffa : 1;
        bench.bits[2] = i == 3 ? 0x7ffffffc : 9;
        bench.bits[0] = i == 2 ? 3 : bench.bits[0];
        bench.value = legal[i];
        cr_assert_eq(alar_provenance_judge(&bench.reduce, bench.value, bench.budget, bench.nodes,
                                           &bench.origin),
                     ALAR_OK);
        cr_assert_eq(bench.origin.rung, ALAR_RUNG_ONLY, "%d", i);
        cr_assert_eq(alar_certificate_write(&bench.reduce, bench.value, &bench.origin,
                                            bench.budget.scratch, bench.text, sizeof bench.text),
                     ALAR_OK);
        cr_assert_eq(check(bench.text), ALAR_OK, "%s", bench.text);
    }
    teardown();
}
