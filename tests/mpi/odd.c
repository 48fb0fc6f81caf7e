/* Right programs, and calls that MPI refuses, that a recorder must not change: odd WHAT. And some
   that hang. Plain MPI: builds with either library. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef __clang__
/* MPI_STATUSES_IGNORE and MPI_UNWEIGHTED are addresses of no arrays. */
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif

static int rank, ranks;

/* Requests that are complete at once may share one handle. */
static void same_handle(void)
{
    float in[4] = {1, 2, 3, 4}, out[4] = {0};
    MPI_Request request[4];

    for (int k = 0; k < 20; k++) {
        MPI_Iallreduce(&in[0], &out[0], 1, MPI_FLOAT, MPI_SUM, MPI_COMM_SELF, &request[0]);
        MPI_Iallreduce(&in[1], &out[1], 1, MPI_FLOAT, MPI_SUM, MPI_COMM_SELF, &request[1]);
        MPI_Iallreduce(&in[2], &out[2], 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request[2]);
        MPI_Iallreduce(&in[3], &out[3], 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request[3]);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    }
    printf("%g %g %g %g\n", out[0], out[1], out[2], out[3]);
}

/* Communicators made without waiting, and by other calls than the usual ones; used in another order
   by each rank. */
static void made(void)
{
    MPI_Comm comm[4];
    MPI_Request request[4];
    float in[4], out[4] = {0};

    for (int k = 0; k < 2; k++) {
        MPI_Comm_idup(MPI_COMM_WORLD, &comm[k], &request[k]);
    }
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &comm[2]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[3]);
    for (int k = 0; k < 4; k++) {
        int j = rank % 2 ? 3 - k : k;

        in[j] = (float)(10 * j + rank);
        MPI_Iallreduce(&in[j], &out[j], 1, MPI_FLOAT, MPI_SUM, comm[j], &request[j]);
    }
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    printf("rank %d: %g %g %g %g\n", rank, out[0], out[1], out[2], out[3]);
    for (int k = 0; k < 4; k++) {
        MPI_Comm_free(&comm[k]);
    }
}

/* An all-reduce that is fine beside a receive that fails. `some`: by Waitsome. */
static void mixed_statuses(int some)
{
    float in = (float)(1 + rank), out = 0;
    int big[4] = {0}, small = 0, code = 0, done = 0, index[2];
    MPI_Request request[2];
    MPI_Status status[2];

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Iallreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request[0]);
    if (rank == 0) {
        MPI_Irecv(&small, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request[1]);
    } else if (rank == 1) {
        MPI_Isend(big, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, &request[1]);
    } else {
        request[1] = MPI_REQUEST_NULL;
    }
    while (some && done != MPI_UNDEFINED) {
        int found = MPI_Waitsome(2, request, &done, index, MPI_STATUSES_IGNORE);

        code = found != MPI_SUCCESS ? found : code;
    }
    if (!some) {
        code = MPI_Waitall(2, request, status);
        if (code == MPI_ERR_IN_STATUS && status[0].MPI_ERROR == MPI_ERR_PENDING) {
            MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        }
    }
    printf("rank %d: error %d, sum %g\n", rank, code != MPI_SUCCESS, out);
}

/* A bad call that returns an error, then a good one. */
static void refused(const char *what)
{
    float in = 1, out = 0;
    int code = 0;
    MPI_Request request = MPI_REQUEST_NULL;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (strcmp(what, "communicator") == 0) {
        code = MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_NULL);
    } else if (strcmp(what, "type") == 0) {
        code = MPI_Allreduce(&in, &out, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(what, "operation") == 0) {
        code = MPI_Iallreduce(&in, &out, 1, MPI_FLOAT, MPI_OP_NULL, MPI_COMM_WORLD, &request);
    } else if (strcmp(what, "undefined") == 0) {
        code = MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD);
    } else if (strcmp(what, "count") == 0) {
        code = MPI_Iallreduce(&in, &out, -1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    } else if (strcmp(what, "free") == 0) {
        code = MPI_Request_free(NULL);
    } else if (strcmp(what, "start") == 0) {
        code = MPI_Start(NULL);
    } else if (strcmp(what, "waitall") == 0) {
        code = MPI_Waitall(-1, NULL, MPI_STATUSES_IGNORE);
    } else {
        code = MPI_Wait(NULL, MPI_STATUS_IGNORE);
    }
    printf("%s: error %d\n", what, code != MPI_SUCCESS);
    MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: %g\n", rank, out);
}

/* One all-reduce of a type by an operation. */
#define REDUCE(type, ctype, op)                                  \
    do {                                                         \
        ctype in_ = (ctype)(1 + rank), out_ = (ctype)0;          \
        MPI_Allreduce(&in_, &out_, 1, type, op, MPI_COMM_WORLD); \
    } while (0)

static void kinds(void)
{
    struct {
        double value;
        int index;
    } in = {rank % 2, rank}, out = {0, 0};

    REDUCE(MPI_INT, int, MPI_LAND);
    REDUCE(MPI_INT, int, MPI_LXOR);
    REDUCE(MPI_C_BOOL, _Bool, MPI_LOR);
    REDUCE(MPI_INT, int, MPI_BAND);
    REDUCE(MPI_UNSIGNED, unsigned, MPI_BOR);
    REDUCE(MPI_BYTE, unsigned char, MPI_BXOR);
    REDUCE(MPI_UNSIGNED, unsigned, MPI_MAX);
    REDUCE(MPI_UNSIGNED_LONG, unsigned long, MPI_MIN);
    REDUCE(MPI_SHORT, short, MPI_MAX);
    REDUCE(MPI_UNSIGNED_SHORT, unsigned short, MPI_SUM);
    REDUCE(MPI_SIGNED_CHAR, signed char, MPI_MIN);
    REDUCE(MPI_AINT, MPI_Aint, MPI_MAX);
    REDUCE(MPI_OFFSET, MPI_Offset, MPI_SUM);
    REDUCE(MPI_REAL8, double, MPI_SUM);
    REDUCE(MPI_INTEGER4, int, MPI_SUM);
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    printf("rank %d: %g at %d\n", rank, out.value, out.index);
}

/* The contribution lives in a frame that is gone before the wait. */
__attribute__((noinline)) static int start(double *sum, double mine, MPI_Request *request)
{
    volatile double local = mine;

    return MPI_Iallreduce((const double *)&local, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                          request);
}

__attribute__((noinline)) static double overwrite(void)
{
    volatile double junk[512];

    for (int k = 0; k < 512; k++) {
        junk[k] = 1e6;
    }
    return junk[17];
}

static void stack(void)
{
    double sum = -1;
    MPI_Request request;

    start(&sum, 1.0, &request);
    (void)overwrite();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Writes into the buffer that the result comes to. */
static void result(void)
{
    float in[2] = {(float)rank, 1}, out[2] = {0, 0};
    MPI_Request request;

    MPI_Iallreduce(in, out, 2, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank == 1) {
        out[1] = 1000;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void session(void)
{
#if MPI_VERSION >= 4
    MPI_Session made_session;
    MPI_Group group;
    MPI_Comm comm;
    float in = 1, out = 0;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made_session);
    MPI_Group_from_session_pset(made_session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, comm);
    printf("%g\n", out);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&made_session);
#endif
}

/* Programs that hang, or are ended by the library. */
static void wrong(const char *what)
{
    float in = 1, out = 0;
    int word = 0;
    MPI_Request request;

    MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(what, "crossed") == 0 && rank == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (strcmp(what, "fatal") == 0) {
        MPI_Iallreduce(&in, &out, 1, MPI_FLOAT, MPI_OP_NULL, MPI_COMM_WORLD, &request);
    }
    if (strcmp(what, "receive") == 0 && rank == 0) {
        MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(what, "asleep") == 0 && rank == 0) {
        sleep(60);
    }
    if (strcmp(what, "everybody") == 0) {
        MPI_Recv(&word, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(what, "missing") != 0 || rank > 0) {
        MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (strcmp(what, "crossed") == 0 && rank > 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "session") == 0) {
        session();
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(what, "same-handle") == 0) {
        same_handle();
    } else if (strcmp(what, "made") == 0) {
        made();
    } else if (strcmp(what, "waitall") == 0 || strcmp(what, "waitsome") == 0) {
        mixed_statuses(strcmp(what, "waitsome") == 0);
    } else if (strcmp(what, "refused") == 0 && argc > 2) {
        refused(argv[2]);
    } else if (strcmp(what, "kinds") == 0) {
        kinds();
    } else if (strcmp(what, "stack") == 0) {
        stack();
    } else if (strcmp(what, "result") == 0) {
        result();
    } else if (strcmp(what, "wrong") == 0 && argc > 2) {
        wrong(argv[2]);
    }
    MPI_Finalize();
    return 0;
}
