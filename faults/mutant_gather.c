/* Brings all contributions of an all-reduce to every rank, and makes the mutant's value of them. */
#include "mutant_state.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

static size_t row_bytes(const struct mutant_request *request)
{
    return request->call.count * alar_dtype_bytes(request->call.dtype);
}

int mutant_gather_issue(struct mutant_request *request)
{
    const struct mutant_comm *comm = request->comm;
    const struct alar_op op = {.tag = request->call.op.tag, .scale = 1.0};
    size_t row = row_bytes(request);
    size_t bytes = 2 * comm->members * row;

    request->gathered = calloc(1, bytes);
    request->place = calloc(1, bytes);
    if (request->gathered == NULL || request->place == NULL) {
        return -ALAR_E_NOMEM;
    }
    memcpy(request->place + 2 * comm->member * row, request->call.send, row);
    if (request->has_previous) {
        memcpy(request->place + (2 * comm->member + 1) * row, comm->previous_send, row);
    }
    return comm->mutant->options.inner->allreduce(comm->inner, request->place, request->gathered,
                                                  bytes, ALAR_U8, ALAR_SUM, NULL, &op,
                                                  &request->inner);
}

/* Bits of the contributions, of this all-reduce or of the one before. */
static void rows_read(const struct mutant_request *request, bool is_previous, uint64_t *rows)
{
    size_t size = alar_dtype_bytes(request->call.dtype);
    size_t row = row_bytes(request);

    for (uint32_t m = 0; m < request->comm->members; m++) {
        const unsigned char *from = request->gathered + (2 * m + (is_previous ? 1 : 0)) * row;

        for (uint64_t e = 0; e < request->call.count; e++) {
            uint64_t bits = 0;

            memcpy(&bits, from + e * size, size);
            rows[m * request->call.count + e] = bits;
        }
    }
}

static void result_write(const struct mutant_request *request, const uint64_t *out)
{
    size_t size = alar_dtype_bytes(request->call.dtype);
    unsigned char *to = request->call.recv;

    for (uint64_t e = 0; e < request->call.count; e++) {
        memcpy(to + e * size, &out[e], size);
    }
}

static bool is_same(const struct mutant_fold *fold, const uint64_t *a, const uint64_t *b)
{
    for (uint32_t e = 0; e < fold->count; e++) {
        if (!alar_fp_is_same(fold->dtype, a[e], b[e])) {
            return false;
        }
    }
    return true;
}

/* Is NaN the answer in every order? A contribution is NaN, or infinities of both signs meet. */
static bool must_be_nan(const struct mutant_fold *fold, uint32_t element)
{
    bool has_nan = false;
    bool has_inf[2] = {false, false};

    for (uint32_t r = 0; r < fold->ranks; r++) {
        uint64_t bits = fold->now[(size_t)r * fold->count + element];

        has_nan |= alar_fp_is_nan(fold->dtype, bits);
        has_inf[alar_fp_is_negative(fold->dtype, bits)] |= alar_fp_is_inf(fold->dtype, bits);
    }
    return has_nan || (has_inf[0] && has_inf[1]);
}

static bool hides_nan(const struct mutant_fold *fold, const uint64_t *wrong)
{
    for (uint32_t e = 0; e < fold->count; e++) {
        if (must_be_nan(fold, e) && !alar_fp_is_nan(fold->dtype, wrong[e])) {
            return true;
        }
    }
    return false;
}

/* Does the defect show here, and as what it is meant to be? A value that some order of addition
   gives is no wrong value; a lost NaN is a defect of its own. */
static bool defect_shows(const struct mutant_request *request, const struct mutant_fold *fold,
                         const uint64_t *right, const uint64_t *wrong)
{
    const struct alar_mutant_row *row = &alar_mutants[request->comm->mutant->options.kind];

    if (!mutant_is_due(request) || is_same(fold, right, wrong)) {
        return false;
    }
    switch ((int)row->anomaly) {
    case ALAR_ANOMALY_RANKS_DISAGREE:
        return true;
    case ALAR_ANOMALY_NAN_LOST:
        return hides_nan(fold, wrong);
    case ALAR_ANOMALY_ILLEGAL_VALUE:
        return !hides_nan(fold, wrong) && mutant_fold_is_illegal(fold, wrong);
    case ALAR_ANOMALY_NOT_THE_TREE:
        /* A tree says nothing of where an average divides. */
        return fold->reduction == ALAR_SUM && !mutant_fold_is_illegal(fold, wrong);
    default:
        return !mutant_fold_is_illegal(fold, wrong);
    }
}

/* Another member, where there is one. */
static uint32_t other_than(const struct mutant_comm *comm, uint32_t target)
{
    uint32_t others = comm->members - 1;

    return others == 0
               ? target
               : (target + 1 + (uint32_t)(comm->mutant->draw >> 32) % others) % comm->members;
}

int mutant_gather_finish(struct mutant_request *request)
{
    struct mutant_comm *comm = request->comm;
    const struct alar_mutant *mutant = comm->mutant;
    uint32_t count = (uint32_t)request->call.count;
    size_t microbatches = (size_t)count * comm->members;
    uint64_t *room = calloc(2 * microbatches + 2 * (size_t)count, sizeof(*room));
    uint32_t target = mutant_target(comm);

    if (room == NULL) {
        return -ALAR_E_NOMEM;
    }
    uint64_t *right = room + 2 * microbatches;
    uint64_t *wrong = right + count;
    const struct mutant_fold fold = {
        .dtype = request->call.dtype,
        .reduction = request->call.reduction,
        .ranks = comm->members,
        .count = count,
        .now = room,
        .then = request->has_previous ? room + microbatches : NULL,
        .rank = target,
        .other = other_than(comm, target),
        .draw = alar_rng_fold(mutant->draw, request->number),
    };

    rows_read(request, false, room);
    rows_read(request, true, room + microbatches);
    mutant_fold_right(&fold, room, right);
    mutant_fold_wrong(mutant->options.kind, &fold, right, wrong);
    bool shows = defect_shows(request, &fold, right, wrong);
    bool is_hit = alar_mutants[mutant->options.kind].anomaly != ALAR_ANOMALY_RANKS_DISAGREE ||
                  target == comm->member;

    result_write(request, shows && is_hit ? wrong : right);
    if (shows) {
        mutant_strike(comm, request->number);
    }
    free(room);
    return 0;
}
