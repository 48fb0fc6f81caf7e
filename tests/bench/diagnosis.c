/* How well are drawn faults named? diagnosis FAULTS SUMS SEED prints, tab-separated, for each kind
   of input, fault and number of ranks: drawn, hidden (the faulty value is legal), unique (the truth
   is the only explanation of its tier), best (among several of the best tier), told (among those of
   a later tier), missed. Then SUMS legal sums in drawn orders, by the proof that they end on.

   Losses are real ones: rank r of n takes those of recorded rank r modulo 4, at another step for
   every four ranks; previous and next are the microbatches before and after. A ledger gives rank r
   4^r, rotated and salted by the step. */
#include "legal/diagnosis.h"
#include "base/rng.h"
#include "cli/options.h"
#include "run/dataset.h"
#include "sys/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANKS = 8,
    SCRATCH = 4 << 20,
    WORK = 10 * 1000 * 1000
};

enum kind {
    MISSING,
    DOUBLED,
    REPLACED,
    OWN,
    SUBSET,
    PREVIOUS,
    NEXT,
    STALE,
    EARLY,
    DIVIDED,
    UNDIVIDED,
    DIVIDED_TWICE,
    COUNT_OFF,
    BF16,
    F16,
    TRUNCATED,
    FLIPPED,
    RESULT_FLIPPED,
    KINDS
};

static const char *const kinds[] = {"rank missing",
                                    "rank doubled",
                                    "rank replaced by another",
                                    "own contribution only",
                                    "some ranks only",
                                    "previous value",
                                    "next value",
                                    "one rank stale",
                                    "one rank early",
                                    "average for sum",
                                    "sum for average",
                                    "divided twice",
                                    "divided by n - 1",
                                    "accumulated in bf16",
                                    "accumulated in fp16",
                                    "truncating adder",
                                    "bit of a contribution",
                                    "bit of the result"};

struct bench {
    struct alar_rng rng;
    struct alar_dataset data;
    bool is_ledger;
    struct alar_reduce reduce;
    uint64_t step[3][RANKS]; /* contributions: before, now, after */
    uint64_t altered[RANKS + 1];
    struct alar_scratch scratch;
    int32_t nodes[2 * RANKS];
    struct alar_origin origin;
    struct alar_diagnosis diagnosis;
};

static uint32_t below(struct bench *bench, uint32_t bound)
{
    return (uint32_t)alar_rng_below(&bench->rng, bound);
}

/* Any order: two drawn parts are joined until one is left. */
static uint64_t draw_sum(struct bench *bench, struct alar_adder adder, const uint64_t *bits,
                         uint32_t n)
{
    uint64_t part[RANKS + 1];

    for (uint32_t i = 0; i < n; i++) {
        part[i] = alar_adder_load(adder, bits[i]);
    }
    for (; n > 1; n--) {
        uint32_t i = below(bench, n);
        uint64_t taken = part[i];
        part[i] = part[n - 1];
        uint32_t j = below(bench, n - 1);
        part[j] = alar_adder_add(adder, part[j], taken);
    }
    return alar_adder_store(adder, part[0]);
}

static void draw_inputs(struct bench *bench, uint32_t n)
{
    uint32_t microbatches = bench->data.microbatches;
    uint64_t cells = bench->data.steps * microbatches;
    uint64_t now = 1 + below(bench, (uint32_t)cells - 2);

    bench->reduce = (struct alar_reduce){
        .adder = {ALAR_F32, ALAR_F32, ALAR_NEAREST}, .bits = bench->step[1], .n = n};
    for (uint32_t s = 0; s < 3; s++) {
        for (uint32_t r = 0; r < n; r++) {
            uint64_t at = (now + s - 1 + 37 * (r / 4)) % cells;
            struct alar_local local;
            double digit = (double)(UINT64_C(1) << 2 * ((r + now + s) % n)) * (double)(1 + s);

            alar_dataset_local(&bench->data, r % 4, at / microbatches,
                               (uint32_t)(at % microbatches), &local);
            bench->step[s][r] = alar_fp_from_double(ALAR_F32, bench->is_ledger ? digit : local.sum);
        }
    }
}

/* Faults of the division: the sum or average that comes out. */
static uint64_t draw_division(struct bench *bench, enum kind kind, struct alar_explanation *truth)
{
    static const enum alar_cause causes[] = {ALAR_CAUSE_DIVIDED, ALAR_CAUSE_UNDIVIDED,
                                             ALAR_CAUSE_DIVIDED_TWICE, ALAR_CAUSE_COUNT_OFF};
    uint32_t n = bench->reduce.n;
    uint64_t sum = draw_sum(bench, bench->reduce.adder, bench->step[1], n);

    *truth = (struct alar_explanation){.cause = causes[kind - DIVIDED]};
    if (kind != DIVIDED) {
        bench->reduce.red = ALAR_AVG;
        bench->reduce.avg = ALAR_AVG_SUM_DIVIDE;
    }
    if (kind == DIVIDED_TWICE || kind == COUNT_OFF) {
        truth->other = kind == COUNT_OFF ? n - 1 : n;
    }
    if (kind == DIVIDED) {
        truth->other = n;
    }
    return kind == UNDIVIDED       ? sum
           : kind == DIVIDED       ? alar_fp_divide(ALAR_F32, sum, n)
           : kind == DIVIDED_TWICE ? alar_fp_divide(ALAR_F32, alar_fp_divide(ALAR_F32, sum, n), n)
                                   : alar_fp_divide(ALAR_F32, sum, n - 1);
}

/* Faults of the adder, and of the result. */
static uint64_t draw_adder(struct bench *bench, enum kind kind, struct alar_explanation *truth)
{
    struct alar_adder adder = bench->reduce.adder;
    uint32_t bit = below(bench, 31);

    *truth = (struct alar_explanation){.cause = ALAR_CAUSE_WIDTH};
    if (kind == RESULT_FLIPPED) {
        *truth = (struct alar_explanation){.cause = ALAR_CAUSE_RESULT_FLIPPED, .other = bit};
        return draw_sum(bench, adder, bench->step[1], bench->reduce.n) ^ UINT64_C(1) << bit;
    }
    if (kind == TRUNCATED) {
        adder.model = ALAR_TRUNCATE;
        *truth = (struct alar_explanation){.cause = ALAR_CAUSE_MODEL, .other = ALAR_TRUNCATE};
    } else {
        adder.wide = kind == BF16 ? ALAR_BF16 : ALAR_F16;
        truth->other = adder.wide;
    }
    return draw_sum(bench, adder, bench->step[1], bench->reduce.n);
}

/* Faults of who takes part. */
static uint64_t draw_ranks(struct bench *bench, enum kind kind, struct alar_explanation *truth)
{
    static const enum alar_cause causes[] = {
        ALAR_CAUSE_MISSING, ALAR_CAUSE_DOUBLED, ALAR_CAUSE_REPLACED,
        ALAR_CAUSE_OWN,     ALAR_CAUSE_SUBSET,  ALAR_CAUSE_PREVIOUS,
        ALAR_CAUSE_NEXT,    ALAR_CAUSE_STALE,   ALAR_CAUSE_EARLY};
    uint32_t n = bench->reduce.n, count = n;
    uint32_t i = below(bench, n), j = (i + 1 + below(bench, n - 1)) % n;
    uint64_t *altered = bench->altered;
    struct alar_adder adder = bench->reduce.adder;

    *truth = (struct alar_explanation){.cause = kind == FLIPPED ? ALAR_CAUSE_FLIPPED : causes[kind],
                                       .rank = i};
    memcpy(altered, bench->step[1], sizeof bench->step[1]);
    switch (kind) {
    case MISSING:
        altered[i] = altered[--count];
        break;
    case DOUBLED:
        altered[count++] = bench->step[1][i];
        break;
    case REPLACED:
        truth->other = j;
        altered[i] = bench->step[1][j];
        break;
    case OWN:
        return bench->step[1][i];
    case SUBSET:
        truth->rank = 0;
        count = 2 + below(bench, n - 3);
        truth->subset = (1u << count) - 1;
        break;
    case PREVIOUS:
    case NEXT:
        truth->rank = 0;
        return draw_sum(bench, adder, bench->step[kind == NEXT ? 2 : 0], n);
    case FLIPPED:
        truth->other = below(bench, 31);
        altered[i] ^= UINT64_C(1) << truth->other;
        break;
    default:
        altered[i] = bench->step[kind == EARLY ? 2 : 0][i];
        break;
    }
    return draw_sum(bench, adder, altered, count);
}

static uint64_t draw_fault(struct bench *bench, enum kind kind, struct alar_explanation *truth)
{
    return kind >= DIVIDED && kind <= COUNT_OFF  ? draw_division(bench, kind, truth)
           : kind > COUNT_OFF && kind != FLIPPED ? draw_adder(bench, kind, truth)
                                                 : draw_ranks(bench, kind, truth);
}

static enum alar_proof proof_of(struct bench *bench, uint64_t value)
{
    struct alar_budget budget = {bench->scratch, WORK, 16};

    if (alar_provenance_judge(&bench->reduce, value, budget, bench->nodes, &bench->origin) !=
        ALAR_OK) {
        exit(4);
    }
    return bench->origin.proof;
}

enum outcome {
    HIDDEN,
    UNIQUE,
    BEST,
    TOLD,
    MISSED,
    OUTCOMES
};

static enum outcome judge_fault(struct bench *bench, enum kind kind)
{
    struct alar_explanation truth;
    uint64_t value = draw_fault(bench, kind, &truth);
    struct alar_observations observations = {.previous = bench->step[0], .next = bench->step[2]};
    const struct alar_diagnosis *diagnosis = &bench->diagnosis;

    if (proof_of(bench, value) != ALAR_PROOF_ILLEGAL) {
        return HIDDEN;
    }
    if (alar_diagnose(&bench->reduce, value, &observations, bench->scratch, &bench->diagnosis) !=
        ALAR_OK) {
        exit(4);
    }
    for (uint32_t k = 0; k < diagnosis->kept; k++) {
        const struct alar_explanation *why = &diagnosis->kept_explanation[k];

        if (why->cause == truth.cause && why->rank == truth.rank && why->other == truth.other &&
            why->subset == truth.subset) {
            return alar_cause_tier(why->cause) > diagnosis->tier ? TOLD
                   : diagnosis->is_unique                        ? UNIQUE
                                                                 : BEST;
        }
    }
    return MISSED;
}

static const uint32_t sizes[] = {3, 4, 5, 8};

/* At least so many faults of all kinds and sizes on each kind of input. */
static void table(struct bench *bench, uint64_t faults)
{
    uint64_t cells = KINDS * (sizeof sizes / sizeof *sizes) - 1; /* no subset of 3 */
    uint64_t each = (faults + cells - 1) / cells;

    printf("input\tfault\tranks\tdrawn\thidden\tunique\tbest\ttold\tmissed\n");
    for (int input = 0; input < 2; input++) {
        bench->is_ledger = input == 1;
        for (unsigned kind = 0; kind < KINDS; kind++) {
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
                uint64_t seen[OUTCOMES] = {0};

                for (uint64_t i = 0; i < each && !(kind == SUBSET && sizes[k] < 4); i++) {
                    draw_inputs(bench, sizes[k]);
                    seen[judge_fault(bench, (enum kind)kind)]++;
                }
                printf("%s\t%s\t%u\t%llu", input ? "ledger" : "losses", kinds[kind], sizes[k],
                       (unsigned long long)(seen[0] + seen[1] + seen[2] + seen[3] + seen[4]));
                for (unsigned o = 0; o < OUTCOMES; o++) {
                    printf("\t%llu", (unsigned long long)seen[o]);
                }
                putchar('\n');
            }
        }
    }
}

static void legal(struct bench *bench, uint64_t sums)
{
    uint64_t seen[ALAR_PROOF_COUNT] = {0};

    bench->is_ledger = false;
    for (uint64_t i = 0; i < sums; i++) {
        draw_inputs(bench, sizes[i % (sizeof sizes / sizeof *sizes)]);
        uint64_t value = draw_sum(bench, bench->reduce.adder, bench->step[1], bench->reduce.n);
        seen[proof_of(bench, value)]++;
    }
    printf("rung\tsums\n");
    for (unsigned proof = 0; proof < ALAR_PROOF_COUNT; proof++) {
        printf("%s\t%llu\n", alar_proof_name((enum alar_proof)proof),
               (unsigned long long)seen[proof]);
    }
}

int main(int argc, char **argv)
{
    struct alar_dataset_source source = {.directory = "tests/data/gpt-losses/train",
                                         .input = ALAR_INPUT_SUMS,
                                         .rank = ALAR_EVERY_RANK};
    static struct bench bench;
    char error_line[ALAR_ERROR_LINE_BYTES];
    uint64_t number[3];

    for (int k = 0; k < 3; k++) {
        if (argc != 4 || alar_number_parse(argv[k + 1], 0, UINT32_MAX, &number[k]) != ALAR_OK) {
            fputs("usage: diagnosis FAULTS SUMS SEED\n", stderr);
            return 3;
        }
    }
    if (alar_dataset_open(&source, &bench.data, error_line) != ALAR_OK) {
        fprintf(stderr, "%s\n", error_line);
        return 3;
    }
    bench.rng = alar_rng_stream(number[2], 0);
    bench.scratch = (struct alar_scratch){malloc(SCRATCH), SCRATCH};
    table(&bench, number[0]);
    legal(&bench, number[1]);
    free(bench.scratch.memory);
    alar_dataset_close(&bench.data);
    return 0;
}
