/* The simulator's bytes: contributions read from callers, values and lies written to them. */
#include "backend/sim/sim_state.h"

#include <string.h>

static void fold_init(struct sim_fold *fold, struct sim_operation *operation)
{
    const struct alar_sim_options *options = &operation->comm->world->options;

    fold->dtype = (enum alar_dtype)operation->dtype;
    fold->reduction = (enum alar_reduction)operation->reduction;
    fold->order = options->order;
    fold->nan = options->nan;
    fold->ranks = operation->comm->count;
    fold->count = operation->count;
    fold->row_bytes = operation->row_bytes;
    fold->rows = operation->rows;
    fold->arrivals = operation->arrivals;
}

static uint64_t request_bytes(const struct sim_request *request)
{
    return request->count * alar_dtype_bytes((enum alar_dtype)request->dtype);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The value as this rank computes it from bytes that were not all meant as it means them. */
static int deliver_garbage(struct sim_request *request)
{
    struct sim_operation *operation = request->operation;
    struct alar_sim_world *world = operation->comm->world;
    size_t size = alar_dtype_bytes((enum alar_dtype)request->dtype);
    size_t bytes = (size_t)operation->comm->count * operation->row_bytes;
    struct sim_fold fold;

    if (sim_scratch_reserve(world, bytes) != 0) {
        return -ALAR_E_NOMEM;
    }
    fold_init(&fold, operation);
    fold.dtype = (enum alar_dtype)request->dtype;
    fold.reduction = (enum alar_reduction)request->reduction;
    fold.count = smaller(request->count, operation->row_bytes / size);
    if (fold.count > 0) {
        memcpy(world->scratch, operation->rows, bytes);
        fold.rows = world->scratch;
        memcpy(request->recv, sim_fold_run(&fold), fold.count * size);
    }
    return 0;
}

void sim_request_deliver(struct sim_request *request)
{
    struct sim_operation *operation = request->operation;

    if (operation->is_mismatched) {
        request->error = deliver_garbage(request);
        return;
    }
    if (operation->value == NULL) {
        struct sim_fold fold;

        fold_init(&fold, operation);
        operation->value = sim_fold_run(&fold);
    }
    if (operation->row_bytes > 0) {
        memcpy(request->recv, operation->value, operation->row_bytes);
    }
}

void sim_request_capture(struct sim_request *request)
{
    struct sim_operation *operation = request->operation;
    enum alar_dtype dtype = (enum alar_dtype)request->dtype;
    uint64_t bytes = smaller(request_bytes(request), operation->row_bytes);
    unsigned char *row = operation->rows + (size_t)request->member->index * operation->row_bytes;

    if (bytes > 0) {
        memcpy(row, request->send, bytes);
    }
    if (request->scale != 1.0) {
        sim_scale(dtype, row, bytes / alar_dtype_bytes(dtype), request->scale);
    }
    if (operation->comm->world->options.pending != ALAR_SIM_UNTOUCHED &&
        request->recv != request->send && request->count > 0) {
        memmove(request->recv, request->send, request_bytes(request));
    }
}

void sim_request_show(struct sim_request *request, int32_t first, int32_t last)
{
    struct sim_operation *operation = request->operation;
    struct alar_sim_world *world = operation->comm->world;
    size_t bytes = (size_t)(last - first) * operation->row_bytes;
    struct sim_fold fold;

    if (operation->value != NULL || operation->is_mismatched || bytes == 0 ||
        sim_scratch_reserve(world, bytes) != 0) {
        return;
    }
    memcpy(world->scratch, operation->rows + (size_t)first * operation->row_bytes, bytes);
    fold_init(&fold, operation);
    fold.order = ALAR_SIM_LEFT_FOLD;
    fold.reduction = fold.reduction == ALAR_AVG ? ALAR_SUM : fold.reduction;
    fold.ranks = last - first;
    fold.rows = world->scratch;
    memcpy(request->recv, sim_fold_run(&fold), operation->row_bytes);
}
