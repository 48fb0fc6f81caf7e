/* Where completion is learnt: every call of MPI's that can tell it. A request is looked up before
   the call, which replaces it by the null request. */
#include "record_mpi.h"

#include <stdlib.h>

enum {
    FEW = 64
};

/* The operations behind an array of requests; NULL where the request is somebody else's. */
struct asked {
    struct record_op *few[FEW];
    struct record_op **op; /* `few`, or memory of its own */
    int count;
    int ours; /* that are active */
    const void *caller;
};

/* Takes the lock. `is_wait`: a wait for all of them begins. */
static void asked_begin(struct asked *asked, int count, const MPI_Request *requests, bool is_wait,
                        const void *caller)
{
    asked->op = asked->few;
    asked->count = count;
    asked->ours = 0;
    asked->caller = caller;
    if (recorder.history == NULL || recorder.live == 0 || requests == NULL) {
        return;
    }
    record_lock();
    if (count > FEW) {
        asked->op = calloc((size_t)count, sizeof(struct record_op *));
    }
    for (int k = 0; k < count && asked->op != NULL; k++) {
        struct record_op *op = record_find(requests[k]);

        asked->op[k] = op != NULL && op->is_active ? op : NULL;
        asked->ours += asked->op[k] != NULL;
        if (asked->op[k] != NULL && is_wait) {
            (void)record_begin("wait", op, caller);
            record_end();
        }
    }
    record_unlock();
}

static void asked_end(struct asked *asked)
{
    if (asked->op != asked->few) {
        free(asked->op);
    }
}

/* The k-th is over. `was_test`: the program learns of it from a test. */
static void asked_settle(const struct asked *asked, int k, bool was_test)
{
    struct record_op *op = asked->op[k];

    if (op == NULL) {
        return;
    }
    if (was_test) {
        alar_json_flag(record_begin("test", op, asked->caller), "done", true);
        record_end();
    }
    record_settle(op, asked->caller);
}

/* A test that found nothing goes on record once; programs poll by the million. */
static void asked_poll(const struct asked *asked)
{
    for (int k = 0; k < asked->count; k++) {
        struct record_op *op = asked->op[k];

        if (op == NULL) {
            continue;
        }
        op->polls++;
        if (!op->has_polled) {
            op->has_polled = true;
            alar_json_flag(record_begin("test", op, asked->caller), "done", false);
            record_end();
        }
    }
}

enum outcome {
    OUTCOME_NONE, /* none is over */
    OUTCOME_ALL,
    OUTCOME_SOME /* those listed */
};

/* Takes the lock. What the call said: `list` has the indices of those that are over. */
static void asked_finish(struct asked *asked, int code, bool was_test, enum outcome outcome,
                         const int *list, int listed)
{
    if (asked->ours == 0) {
        asked_end(asked);
        return;
    }
    record_lock();
    if (code != MPI_SUCCESS) {
        for (int k = 0; k < asked->count; k++) {
            if (asked->op[k] != NULL) {
                record_failed(asked->op[k], code);
            }
        }
    } else if (outcome == OUTCOME_NONE) {
        asked_poll(asked);
    } else if (outcome == OUTCOME_ALL) {
        for (int k = 0; k < asked->count; k++) {
            asked_settle(asked, k, was_test);
        }
    } else {
        for (int k = 0; k < listed; k++) {
            asked_settle(asked, list[k], was_test);
        }
    }
    record_unlock();
    asked_end(asked);
}

/* Takes the lock. Does this test do nothing? Then the operations stay as they are. */
static bool asked_drops(struct asked *asked)
{
    if (asked->ours == 0) {
        return false;
    }
    record_lock();
    bool drops = record_fault_drops();
    record_unlock();
    if (drops) {
        asked_finish(asked, MPI_SUCCESS, true, OUTCOME_NONE, NULL, 0);
    }
    return drops;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct asked asked;

    asked_begin(&asked, 1, request, true /* wait */, __builtin_return_address(0));
    int code = PMPI_Wait(request, status);
    asked_finish(&asked, code, false, OUTCOME_ALL, NULL, 0);
    return code;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    struct asked asked;

    asked_begin(&asked, count, requests, true /* wait */, __builtin_return_address(0));
    int code = PMPI_Waitall(count, requests, statuses);
    asked_finish(&asked, code, false, OUTCOME_ALL, NULL, 0);
    return code;
}

/* Which one is waited for is known afterwards only. */
int MPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    struct asked asked;

    asked_begin(&asked, count, requests, false, __builtin_return_address(0));
    int code = PMPI_Waitany(count, requests, index, status);
    asked_finish(&asked, code, true, OUTCOME_SOME, index, *index == MPI_UNDEFINED ? 0 : 1);
    return code;
}

int MPI_Waitsome(int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses)
{
    struct asked asked;

    asked_begin(&asked, count, requests, false, __builtin_return_address(0));
    int code = PMPI_Waitsome(count, requests, done, indices, statuses);
    asked_finish(&asked, code, true, OUTCOME_SOME, indices, *done == MPI_UNDEFINED ? 0 : *done);
    return code;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct asked asked;

    asked_begin(&asked, 1, request, false, __builtin_return_address(0));
    if (asked_drops(&asked)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    int code = PMPI_Test(request, flag, status);
    asked_finish(&asked, code, true, *flag ? OUTCOME_ALL : OUTCOME_NONE, NULL, 0);
    return code;
}

int MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    struct asked asked;

    asked_begin(&asked, count, requests, false, __builtin_return_address(0));
    if (asked_drops(&asked)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    int code = PMPI_Testall(count, requests, flag, statuses);
    asked_finish(&asked, code, true, *flag ? OUTCOME_ALL : OUTCOME_NONE, NULL, 0);
    return code;
}

int MPI_Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    struct asked asked;

    asked_begin(&asked, count, requests, false, __builtin_return_address(0));
    if (asked_drops(&asked)) {
        *flag = 0;
        *index = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    int code = PMPI_Testany(count, requests, index, flag, status);
    asked_finish(&asked, code, true, *flag ? OUTCOME_SOME : OUTCOME_NONE, index,
                 *index == MPI_UNDEFINED ? 0 : 1);
    return code;
}

int MPI_Testsome(int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses)
{
    struct asked asked;

    asked_begin(&asked, count, requests, false, __builtin_return_address(0));
    if (asked_drops(&asked)) {
        *done = 0;
        return MPI_SUCCESS;
    }
    int code = PMPI_Testsome(count, requests, done, indices, statuses);
    bool is_none = *done == MPI_UNDEFINED || *done == 0;
    asked_finish(&asked, code, true, is_none ? OUTCOME_NONE : OUTCOME_SOME, indices, *done);
    return code;
}

/* Completes without freeing: the values are there from now on, and the request may be asked again.
 */
int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct asked asked;

    asked_begin(&asked, 1, &request, false, __builtin_return_address(0));
    if (asked_drops(&asked)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    int code = PMPI_Request_get_status(request, flag, status);
    if (code == MPI_SUCCESS && *flag && asked.ours > 0) {
        record_lock();
        record_reveal(asked.op[0], asked.caller);
        record_unlock();
        asked_end(&asked);
        return code;
    }
    asked_finish(&asked, code, true, OUTCOME_NONE, NULL, 0);
    return code;
}
