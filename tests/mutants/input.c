/* What is reduced: recorded losses, or every family of hostile inputs in an order of its own. */
#include "base/rng.h"
#include "mutants.h"
#include "numbers/fp.h"
#include "numbers/hostile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOSS_OPS = 32,
    LOSS_SPAN = 8, /* steps a run covers at most */
};

_Noreturn void give_up(const char *what, const char *why)
{
    fprintf(stderr, "mutants: %s: %s\n", what, why);
    exit(ALAR_CLASS_UNUSABLE);
}

static void dataset_open(struct alar_dataset *dataset, const char *directory)
{
    const struct alar_dataset_source source = {
        .directory = directory, .input = ALAR_INPUT_SUMS, .rank = ALAR_EVERY_RANK};
    char error_line[ALAR_ERROR_LINE_BYTES];

    if (alar_dataset_open(&source, dataset, error_line) != ALAR_OK) {
        give_up("losses", error_line);
    }
}

void losses_open(struct losses *losses)
{
    memset(losses, 0, sizeof(*losses));
    dataset_open(&losses->train, "tests/data/gpt-losses/train");
    dataset_open(&losses->diverge, "tests/data/gpt-losses/diverge");
}

void losses_close(struct losses *losses)
{
    alar_dataset_close(&losses->train);
    alar_dataset_close(&losses->diverge);
}

/* Ranks, and what is promised: what the mutant needs; a healthy run draws its own. */
struct witness witness_draw(enum platform platform, int mutant, enum input_kind input,
                            uint64_t seed, uint64_t run)
{
    uint64_t base = alar_rng_fold(alar_rng_fold(seed, (uint64_t)(mutant + 1)),
                                  (uint64_t)platform * INPUT_KINDS + (uint64_t)input);
    struct alar_rng rng = alar_rng_stream(base, run);
    struct witness witness = {
        .mutant = mutant, .input = input, .platform = platform, .seed = alar_rng_next(&rng)};

    witness.ranks = platform == ON_MPICH ? 4 : 3 + (uint32_t)alar_rng_below(&rng, 4);
    witness.promise = mutant == HEALTHY
                          ? (enum alar_mutant_promise)alar_rng_below(&rng, ALAR_PROMISE_NAN + 1)
                          : alar_mutants[mutant].promise;
    return witness;
}

struct alar_history_contract witness_contract(const struct witness *witness, uint64_t deadline)
{
    return (struct alar_history_contract){
        .wait = "blocking",
        .order = witness->promise == ALAR_PROMISE_TWIN ? "fixed" : "free",
        .tree = witness->promise == ALAR_PROMISE_TREE ? "recursive-doubling" : NULL,
        .nan = witness->promise == ALAR_PROMISE_NAN && witness->platform == ON_SIM ? "propagate"
                                                                                   : NULL,
        .deadline = deadline,
    };
}

void input_open(struct input *input, const struct witness *witness, const struct losses *losses,
                uint64_t *room)
{
    struct alar_rng rng = alar_rng_stream(witness->seed, 1);
    bool has_live = witness->promise == ALAR_PROMISE_NAN && witness->platform == ON_SIM;

    *input = (struct input){.witness = witness, .losses = losses, .room = room};
    input->families = has_live ? ALAR_HOSTILE_COUNT : ALAR_HOSTILE_LIVE;
    for (uint32_t i = 0; i < input->families; i++) {
        uint32_t at = (uint32_t)alar_rng_below(&rng, i + 1);

        input->family[i] = input->family[at];
        input->family[at] = (int)i;
    }
    for (uint32_t i = 0; witness->input == INPUT_LEDGER && i < input->families; i++) {
        input->family[i] = ALAR_HOSTILE_LEDGER;
    }
    input->ops = witness->input == INPUT_LOSSES ? LOSS_OPS : input->families * FAMILY_RUN;
}

/* ---- losses ------------------------------------------------------------------------------------
 */

/* One run in three sees the losses that diverge; its steps are those around the first NaN. */
static const struct alar_dataset *loss_data(const struct input *input, uint64_t *base)
{
    uint64_t draw = alar_rng_fold(input->witness->seed, 2);
    bool needs_nan = input->witness->promise == ALAR_PROMISE_NAN;

    if (needs_nan || draw % 3 == 0) {
        *base = 10 + (draw >> 8) % 5;
        return &input->losses->diverge;
    }
    *base = (draw >> 8) % (input->losses->train.steps - LOSS_SPAN);
    return &input->losses->train;
}

static void loss_op(const struct input *input, uint64_t index, struct alar_exercise_op *op)
{
    bool is_mean = index % 6 == 5;

    (void)input;
    op->dtype = index % 6 == 4 ? ALAR_F64 : ALAR_F32;
    op->red = is_mean ? ALAR_AVG : ALAR_SUM;
    op->elements = is_mean ? 3 : 2;
    op->pairs = is_mean ? 0 : 1;
    op->key = is_mean ? "mean" : "lm loss";
    op->is_split = index % 8 >= 6;
}

static double loss_value(const struct alar_local *local, uint32_t element, bool is_mean)
{
    if (is_mean) {
        return local->tokens > 0 ? local->sum / (double)(local->tokens + element) : 0.0;
    }
    return element == 0 ? local->sum : (double)local->tokens;
}

static void loss_fill(const struct input *input, uint64_t index, uint32_t rank, uint64_t *bits)
{
    uint64_t base = 0;
    const struct alar_dataset *data = loss_data(input, &base);
    struct alar_exercise_op op = {0};
    struct alar_local local = {0};
    uint64_t step = base + index / data->microbatches + rank / data->ranks;

    loss_op(input, index, &op);
    alar_dataset_local(data, rank % data->ranks, step % data->steps,
                       (uint32_t)(index % data->microbatches), &local);
    for (uint32_t e = 0; e < op.elements; e++) {
        bits[e] = alar_fp_from_double(op.dtype, loss_value(&local, e, op.red == ALAR_AVG));
    }
}

/* ---- hostile inputs ----------------------------------------------------------------------------
 */

/* Only families whose sum over the world differs from that over a half. Where causes have to be
   named there are no halves: of two ranks, one missing is the other one's contribution alone. */
static bool is_split(const struct input *input, uint64_t index, int family)
{
    return input->witness->ranks >= 4 && input->witness->input != INPUT_LEDGER &&
           index % FAMILY_RUN > 0 &&
           (family == ALAR_HOSTILE_LEDGER || family == ALAR_HOSTILE_ASYNC ||
            family == ALAR_HOSTILE_ORDERED);
}

/* The vector of an all-reduce as the members of a rank's communicator see it. */
static struct alar_hostile_input vector_make(const struct input *input, uint64_t index,
                                             uint32_t rank, uint32_t *member)
{
    int family = input->family[index / FAMILY_RUN];
    bool has_halves = is_split(input, index, family);
    uint32_t half = input->witness->ranks / 2;
    bool is_upper = has_halves && rank >= half;
    const struct alar_hostile_key key = {
        .kind = (enum alar_hostile)family,
        .ranks = !has_halves ? input->witness->ranks
                 : is_upper  ? input->witness->ranks - half
                             : half,
        .seed = input->witness->seed,
        .index = index,
    };
    struct alar_hostile_input vector = {.bits = input->room};

    *member = is_upper ? rank - half : rank;
    alar_hostile_make(&key, &vector);
    return vector;
}

static void input_op(void *data, uint64_t index, struct alar_exercise_op *op)
{
    const struct input *input = data;
    uint32_t member = 0;

    if (input->witness->input == INPUT_LOSSES) {
        loss_op(input, index, op);
        op->is_split = op->is_split && input->witness->ranks >= 4;
        return;
    }
    struct alar_hostile_input vector = vector_make(input, index, 0, &member);
    op->dtype = vector.dtype;
    op->red = vector.is_contested && input->witness->platform == ON_MPICH ? ALAR_SUM : vector.red;
    op->elements = vector.elements;
    op->key = alar_hostile_kinds[input->family[index / FAMILY_RUN]].name;
    op->is_split = is_split(input, index, input->family[index / FAMILY_RUN]);
}

static void input_fill(void *data, uint64_t index, uint32_t rank, void *send)
{
    const struct input *input = data;
    struct alar_exercise_op op = {0};
    const uint64_t *bits = input->room;
    uint32_t member = 0;

    input_op(data, index, &op);
    if (input->witness->input == INPUT_LOSSES) {
        loss_fill(input, index, rank, input->room);
    } else {
        struct alar_hostile_input vector = vector_make(input, index, rank, &member);

        bits += (size_t)member * vector.elements;
        op.elements = vector.elements;
    }
    for (uint32_t e = 0; e < op.elements; e++) {
        size_t size = alar_dtype_bytes(op.dtype);

        memcpy((unsigned char *)send + e * size, &bits[e], size);
    }
}

struct alar_exercise_source input_source(struct input *input)
{
    return (struct alar_exercise_source){.data = input, .op = input_op, .fill = input_fill};
}
