/* Pending operations by handle, in chunks that are used again. */
#include "record_mpi.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 4096
};

static struct record_op *buckets[BUCKETS];
static struct record_op *spare;

static struct record_op **bucket_of(uint64_t handle)
{
    return &buckets[handle * UINT64_C(0x9E3779B97F4A7C15) >> 52];
}

/* Out of memory is the end: a history with holes would convict the innocent. */
struct record_op *record_take(const struct record_call *call, struct record_group *group)
{
    struct record_op *op = spare;

    if (op != NULL) {
        spare = op->next;
        memset(op, 0, offsetof(struct record_op, in));
    } else {
        op = calloc(1, sizeof(*op));
    }
    if (op == NULL) {
        record_say("out of memory");
        abort();
    }
    op->call = *call;
    op->group = group;
    return op;
}

struct record_op *record_find(MPI_Request request)
{
    uint64_t handle = RECORD_BITS(request);
    struct record_op *found = NULL;

    for (struct record_op *op = recorder.live > 0 ? *bucket_of(handle) : NULL; op != NULL;
         op = op->next) {
        found = op->handle == handle && !op->is_asked ? op : found;
    }
    return found;
}

void record_drop(struct record_op *op)
{
    struct record_op **at = bucket_of(op->handle);

    while (*at != NULL && *at != op) {
        at = &(*at)->next;
    }
    if (*at == op) {
        *at = op->next;
        recorder.live--;
    }
    free(op->flipped);
    op->next = spare;
    spare = op;
}

struct record_op *record_first_of(uint64_t handle)
{
    return *bucket_of(handle);
}

void record_put(struct record_op *op, uint64_t handle)
{
    struct record_op **bucket = bucket_of(handle);

    op->handle = handle;
    op->next = *bucket;
    *bucket = op;
    recorder.live++;
}
