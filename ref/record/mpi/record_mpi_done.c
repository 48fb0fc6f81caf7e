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
    MPI_Status few_statuses[FEW];
    MPI_Status *statuses; /* the program's; ours where it wants none; NULL: none */
    int count;
    int ours; /* that are active */
    struct record_slot *slot;
};

/* The k-th request's operation is asked for by nobody else until this call is over. */
static void asked_take(struct asked *asked, int k, MPI_Request request, bool is_wait)
{
    struct record_op *op = record_find(request);

    asked->op[k] = op != NULL && op->is_active ? op : NULL;
    if (asked->op[k] == NULL) {
        return;
    }
    op->is_asked = true;
    asked->ours++;
    if (op->made == NULL) {
        asked->slot->op = op;
        record_guard_compare(op, asked->slot);
        if (is_wait) {
            (void)record_begin("wait", op, asked->slot->caller);
            record_end();
        }
    }
}

/* Takes the lock. `is_wait`: a wait for all of them begins. */
static void asked_begin(struct asked *asked, const char *name, int count,
                        const MPI_Request *requests, bool is_wait, const void *caller)
{
    asked->op = asked->few;
    asked->statuses = NULL;
    asked->count = 0;
    asked->ours = 0;
    asked->slot = record_arrive(name, RECORD_NO_PEER, caller);
    if (recorder.history == NULL || recorder.live == 0 || requests == NULL || count <= 0) {
        return;
    }
    record_lock();
    if (count > FEW) {
        asked->op = calloc((size_t)count, sizeof(struct record_op *));
    }
    asked->count = asked->op != NULL && recorder.history != NULL ? count : 0;
    for (int k = 0; k < asked->count; k++) {
        asked_take(asked, k, requests[k], is_wait);
    }
    record_unlock();
}

/* Where some of several requests fail, each one's status says which: so MPI is never told that the
   program wants none, while one of them is ours. */
static MPI_Status *asked_statuses(struct asked *asked, MPI_Status *given)
{
    asked->statuses = given;
    if (asked->ours > 0 && given == MPI_STATUSES_IGNORE) {
        asked->statuses = asked->count <= FEW ? asked->few_statuses
                                              : calloc((size_t)asked->count, sizeof(MPI_Status));
    }
    return asked->statuses != NULL ? asked->statuses : given;
}

static void asked_end(struct asked *asked, bool found_nothing, const MPI_Status *given)
{
    for (int k = 0; k < asked->count && asked->ours > 0; k++) {
        if (asked->op[k] != NULL) {
            asked->op[k]->is_asked = false;
        }
    }
    if (asked->op != asked->few) {
        free(asked->op);
    }
    if (asked->statuses != given && asked->statuses != asked->few_statuses) {
        free(asked->statuses);
    }
    if (found_nothing) {
        record_linger(asked->slot);
    } else {
        record_depart(asked->slot);
    }
}

/* The k-th is over. `was_test`: the program learns of it from a test. */
static void asked_settle(struct asked *asked, int k, bool was_test)
{
    struct record_op *op = k >= 0 && k < asked->count ? asked->op[k] : NULL;

    if (op == NULL) {
        return;
    }
    if (was_test && op->made == NULL) {
        record_settle_values(
            op); /* a write in flight goes on record before the end of the flight */
        alar_json_flag(record_begin("test", op, asked->slot->caller), "done", true);
        record_end();
    }
    op->is_asked = false;
    asked->op[k] = NULL;
    record_settle(op, asked->slot->caller);
}

static void asked_fail(struct asked *asked, int k, int code)
{
    struct record_op *op = k >= 0 && k < asked->count ? asked->op[k] : NULL;

    if (op != NULL) {
        op->is_asked = false;
        asked->op[k] = NULL;
        record_failed(op, code);
    }
}

/* A test that found nothing goes on record once; programs poll by the million. */
static void asked_poll(const struct asked *asked)
{
    for (int k = 0; k < asked->count; k++) {
        struct record_op *op = asked->op[k];

        if (op == NULL || op->made != NULL) {
            continue;
        }
        op->polls++;
        record_guard(op, asked->slot);
        if (!op->has_polled) {
            op->has_polled = true;
            alar_json_flag(record_begin("test", op, asked->slot->caller), "done", false);
            record_end();
        }
    }
}

enum outcome {
    OUTCOME_NONE, /* none is over */
    OUTCOME_ALL,
    OUTCOME_SOME /* those listed */
};

/* What a call said of the requests. */
struct answer {
    int code;
    bool was_test;
    enum outcome outcome;
    const int *list; /* the indices of those that are over; NULL: 0, 1, 2 ... */
    int listed;
};

/* MPI_ERR_IN_STATUS: each request's own status counts. */
static void asked_sort(struct asked *asked, const struct answer *answer)
{
    int listed = answer->list != NULL ? answer->listed : asked->count;

    for (int k = 0; k < listed && asked->statuses != NULL; k++) {
        int at = answer->list != NULL ? answer->list[k] : k;
        int code = asked->statuses[k].MPI_ERROR;

        if (code == MPI_SUCCESS) {
            asked_settle(asked, at, answer->was_test);
        } else if (code != MPI_ERR_PENDING) {
            asked_fail(asked, at, code);
        }
    }
}

static void asked_learn(struct asked *asked, const struct answer *answer)
{
    if (answer->code == MPI_ERR_IN_STATUS) {
        asked_sort(asked, answer);
    } else if (answer->code != MPI_SUCCESS) {
        /* One request alone was asked for, or the call was refused and nothing happened. */
        for (int k = 0; k < answer->listed; k++) {
            asked_fail(asked, answer->list != NULL ? answer->list[k] : k, answer->code);
        }
    } else if (answer->outcome == OUTCOME_NONE) {
        asked_poll(asked);
    } else if (answer->outcome == OUTCOME_ALL) {
        for (int k = 0; k < asked->count; k++) {
            asked_settle(asked, k, answer->was_test);
        }
    } else {
        for (int k = 0; k < answer->listed; k++) {
            asked_settle(asked, answer->list[k], answer->was_test);
        }
    }
}

/* Takes the lock. */
static void asked_finish(struct asked *asked, struct answer answer, const MPI_Status *given)
{
    bool found_nothing = answer.code == MPI_SUCCESS && answer.outcome == OUTCOME_NONE;

    if (asked->ours > 0) {
        record_lock();
        if (recorder.history != NULL) {
            asked_learn(asked, &answer);
        }
        asked_end(asked, found_nothing, given);
        record_unlock();
    } else {
        asked_end(asked, found_nothing, given);
    }
}

/* Takes the lock. Does this test do nothing? Then the operations stay as they are. */
static bool asked_drops(struct asked *asked, const MPI_Status *given)
{
    if (asked->ours == 0) {
        return false;
    }
    record_lock();
    bool drops = record_fault_drops();
    record_unlock();
    if (drops) {
        asked->statuses = NULL;
        asked_finish(asked, (struct answer){MPI_SUCCESS, true, OUTCOME_NONE, NULL, 0}, given);
    }
    return drops;
}

/* A request that failed is gone; one that MPI would not look at is still there. */
static int gone(int code, const MPI_Request *request)
{
    return code != MPI_SUCCESS && request != NULL && *request == MPI_REQUEST_NULL ? 1 : 0;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct asked asked;

    asked_begin(&asked, "MPI_Wait", 1, request, true /* wait */, __builtin_return_address(0));
    int code = PMPI_Wait(request, status);
    asked_finish(&asked, (struct answer){code, false, OUTCOME_ALL, NULL, gone(code, request)},
                 NULL);
    return code;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    struct asked asked;

    asked_begin(&asked, "MPI_Waitall", count, requests, true /* wait */,
                __builtin_return_address(0));
    int code = PMPI_Waitall(count, requests, asked_statuses(&asked, statuses));
    asked_finish(&asked, (struct answer){code, false, OUTCOME_ALL, NULL, 0}, statuses);
    return code;
}

/* Which one is waited for is known afterwards only. */
int MPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    struct asked asked;

    asked_begin(&asked, "MPI_Waitany", count, requests, false, __builtin_return_address(0));
    int code = PMPI_Waitany(count, requests, index, status);
    bool is_one = asked.ours > 0 && *index >= 0 && *index < count &&
                  (code == MPI_SUCCESS || gone(code, &requests[*index]));
    asked_finish(&asked, (struct answer){code, true, OUTCOME_SOME, index, is_one}, NULL);
    return code;
}

int MPI_Waitsome(int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses)
{
    struct asked asked;

    asked_begin(&asked, "MPI_Waitsome", count, requests, false, __builtin_return_address(0));
    int code = PMPI_Waitsome(count, requests, done, indices, asked_statuses(&asked, statuses));
    bool is_some = asked.ours > 0 && *done != MPI_UNDEFINED &&
                   (code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS);
    asked_finish(&asked, (struct answer){code, true, OUTCOME_SOME, indices, is_some ? *done : 0},
                 statuses);
    return code;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct asked asked;

    asked_begin(&asked, "MPI_Test", 1, request, false, __builtin_return_address(0));
    if (asked_drops(&asked, NULL)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    int code = PMPI_Test(request, flag, status);
    enum outcome outcome = code == MPI_SUCCESS && *flag ? OUTCOME_ALL : OUTCOME_NONE;
    asked_finish(&asked, (struct answer){code, true, outcome, NULL, gone(code, request)}, NULL);
    return code;
}

int MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    struct asked asked;

    asked_begin(&asked, "MPI_Testall", count, requests, false, __builtin_return_address(0));
    if (asked_drops(&asked, statuses)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    int code = PMPI_Testall(count, requests, flag, asked_statuses(&asked, statuses));
    enum outcome outcome = code == MPI_SUCCESS && *flag ? OUTCOME_ALL : OUTCOME_NONE;
    asked_finish(&asked, (struct answer){code, true, outcome, NULL, 0}, statuses);
    return code;
}

int MPI_Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    struct asked asked;

    asked_begin(&asked, "MPI_Testany", count, requests, false, __builtin_return_address(0));
    if (asked_drops(&asked, NULL)) {
        *flag = 0;
        *index = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    int code = PMPI_Testany(count, requests, index, flag, status);
    bool is_one = asked.ours > 0 && *index >= 0 && *index < count &&
                  (code == MPI_SUCCESS ? *flag != 0 : gone(code, &requests[*index]));
    enum outcome outcome = is_one || code != MPI_SUCCESS || *flag ? OUTCOME_SOME : OUTCOME_NONE;
    asked_finish(&asked, (struct answer){code, true, outcome, index, is_one}, NULL);
    return code;
}

int MPI_Testsome(int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses)
{
    struct asked asked;

    asked_begin(&asked, "MPI_Testsome", count, requests, false, __builtin_return_address(0));
    if (asked_drops(&asked, statuses)) {
        *done = 0;
        return MPI_SUCCESS;
    }
    int code = PMPI_Testsome(count, requests, done, indices, asked_statuses(&asked, statuses));
    bool is_some =
        (code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS) && *done != MPI_UNDEFINED && *done > 0;
    asked_finish(&asked,
                 (struct answer){code, true, is_some ? OUTCOME_SOME : OUTCOME_NONE, indices,
                                 is_some ? *done : 0},
                 statuses);
    return code;
}

/* Completes without freeing: the values are there from now on, and the request may be asked again.
 */
int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct asked asked;

    asked_begin(&asked, "MPI_Request_get_status", 1, &request, false, __builtin_return_address(0));
    if (asked_drops(&asked, NULL)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    int code = PMPI_Request_get_status(request, flag, status);
    bool is_complete = code == MPI_SUCCESS && asked.ours > 0 && *flag;
    if (is_complete) {
        record_lock();
        record_reveal(asked.op[0], asked.slot->caller);
        record_unlock();
    }
    asked_finish(&asked,
                 (struct answer){code, true, is_complete ? OUTCOME_SOME : OUTCOME_NONE, NULL, 0},
                 NULL);
    return code;
}
