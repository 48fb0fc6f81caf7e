/* Forged certificates, of every kind of proof. */
#include "tests/lib/certified.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum {
    SEED = 20614
};

static const enum alar_dtype floats[] = {ALAR_F16, ALAR_BF16, ALAR_F32, ALAR_F64};

/* The kinds of proof, as they are written. */
static const char *const kinds[] = {"tree:", "order-free:", "extremum", "between:", "within:"};
enum {
    KINDS = sizeof kinds / sizeof *kinds,
    WITHIN = KINDS - 1
};

static int kind_of(const char *text)
{
    const char *proof = strstr(text, "proof=") + strlen("proof=");
    int kind = 0;

    while (kind < KINDS && strncmp(proof, kinds[kind], strlen(kinds[kind])) != 0) {
        kind++;
    }
    cr_assert_lt(kind, KINDS, "%s", text);
    return kind;
}

/* The text with other bits at `field`, the `index`-th in a list, sealed again when asked for. */
static const char *forged(const char *field, uint32_t index, uint64_t bits, bool is_sealed)
{
    static char text[sizeof certified.text];
    int digits = (int)(2 * alar_dtype_bytes(certified.reduce.adder.dtype));
    char hex[17];

    memcpy(text, certified.text, sizeof text);
    (void)snprintf(hex, sizeof hex, "%0*llx", digits, (unsigned long long)bits);
    memcpy(strstr(text, field) + strlen(field) + (size_t)index * (size_t)(digits + 1), hex,
           (size_t)digits);
    if (is_sealed) {
        certified_seal(text);
    }
    return text;
}

static enum alar_status check_forged(const char *text)
{
    struct alar_reduce reduce;
    uint64_t value;

    return alar_certificate_check(text, certified.budget.scratch, &reduce, &value);
}

/* Is it true of these leaves and this value? Between and within say no more than that the value
   lies in the hull, or in the bound, so the set is searched for trees only. */
static bool is_true(int kind, const uint64_t *leaves, uint64_t value)
{
    struct alar_reduce reduce = certified.reduce;
    struct alar_origin origin;
    struct alar_budget budget = certified.budget;
    int32_t nodes[2 * CERTIFIED_RANKS];

    reduce.bits = leaves;
    budget.work = kind < WITHIN - 1 ? 1000000 : 0;
    cr_assert_eq(alar_provenance_judge(&reduce, value, budget, nodes, &origin), ALAR_OK);
    return origin.proof != ALAR_PROOF_ILLEGAL;
}

/* One leaf of the case, changed in its last bit or in the middle, and the value one ulp off either
   way. Returns how many of these forgeries the proof itself refused. */
static unsigned forge_all(int kind)
{
    enum alar_dtype dtype = certified.reduce.adder.dtype;
    unsigned refused = 0;
    uint64_t leaves[CERTIFIED_RANKS];

    for (uint32_t k = 0; k < 2 * certified.reduce.n; k++) {
        uint32_t leaf = k / 2;

        memcpy(leaves, certified.bits, sizeof leaves);
        leaves[leaf] ^= k % 2 ? UINT64_C(1) << (4 * alar_dtype_bytes(dtype)) : 1;
        cr_assert_eq(check_forged(forged("leaves=", leaf, leaves[leaf], false)), ALAR_E_INPUT);
        enum alar_status status = check_forged(forged("leaves=", leaf, leaves[leaf], true));
        cr_assert(status != ALAR_OK || is_true(kind, leaves, certified.value), "%s leaf %u",
                  certified.text, leaf);
        refused += status != ALAR_OK;
    }
    for (int64_t off = -1; off <= 1 && !alar_fp_is_nan(dtype, certified.value); off += 2) {
        uint64_t value = alar_dtype_is_float(dtype)
                             ? alar_fp_unrank(dtype, alar_fp_rank(dtype, certified.value) + off)
                             : (certified.value + (uint64_t)off) & alar_dtype_mask(dtype);

        cr_assert_eq(check_forged(forged("value=", 0, value, false)), ALAR_E_INPUT);
        enum alar_status status = check_forged(forged("value=", 0, value, true));
        cr_assert(status != ALAR_OK || is_true(kind, certified.bits, value), "%s off %d",
                  certified.text, (int)off);
        /* Trees and extremes prove one value; between and within, all that lie there. */
        cr_assert(kind >= WITHIN - 1 || status == ALAR_E_DIFFERS ||
                      alar_fp_is_same(dtype, value, certified.value),
                  "%s off %d", certified.text, (int)off);
        refused += status != ALAR_OK;
    }
    return refused;
}

/* A case with a maximum, which draw_case never has. */
static void draw_extremum(struct draw *draw, int round)
{
    enum alar_dtype dtype = floats[round % 4];
    uint32_t n = 1 + draw_below(draw, 8);

    certified.reduce = (struct alar_reduce){.red = round % 2 ? ALAR_MAX : ALAR_MIN,
                                            .adder = {dtype, dtype, ALAR_NEAREST},
                                            .bits = certified.bits,
                                            .n = n};
    draw_values(draw, DRAW_LOSS, dtype, certified.bits, n);
    certified.value = certified.bits[0];
    for (uint32_t i = 1; i < n; i++) {
        bool is_above =
            alar_fp_rank(dtype, certified.bits[i]) > alar_fp_rank(dtype, certified.value);
        certified.value =
            is_above == (certified.reduce.red == ALAR_MAX) ? certified.bits[i] : certified.value;
    }
    cr_assert_eq(alar_provenance_judge(&certified.reduce, certified.value, certified.budget,
                                       certified.nodes, &certified.origin),
                 ALAR_OK);
    cr_assert_eq(alar_certificate_write(&certified.reduce, certified.value, &certified.origin,
                                        certified.budget.scratch, certified.text,
                                        sizeof certified.text),
                 ALAR_OK);
}

/* Of every kind: one changed leaf, or a value one ulp off, is refused by the seal; sealed again, by
   the proof, unless what it then says is true. spec: N-22 */
Test(certificate_forged, each_kind_refuses_a_leaf_and_an_ulp, .timeout = 100)
{
    struct draw draw = {SEED};
    unsigned cases[KINDS] = {0}, refused[KINDS] = {0};

    certified_setup();
    for (int round = 0; round < 1500; round++) {
        if (round % 8 == 7) {
            draw_extremum(&draw, round / 8);
        } else if (!alar_proof_is_legal(certified_draw(&draw, round))) {
            continue;
        }
        int kind = kind_of(certified.text);

        cr_assert_eq(check_forged(certified.text), ALAR_OK, "%s", certified.text);
        cases[kind]++;
        refused[kind] += forge_all(kind);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        cr_assert_geq(cases[kind], 5, "%s %u", kinds[kind], cases[kind]);
        cr_assert_geq(refused[kind], cases[kind], "%s %u", kinds[kind], refused[kind]);
    }
    certified_teardown();
}
