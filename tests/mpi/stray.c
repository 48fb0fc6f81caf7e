/* Small programs that know nothing of alar, one for each thing a recorder must cope with:
   stray WHAT. Plain MPI: builds with either library. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init /* its name there */
#endif

static int rank, ranks;

static void plain(void)
{
    float in[2] = {(float)rank, 1}, out[2];
    MPI_Request request;

    MPI_Iallreduce(in, out, 2, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Polls until it is over, so that tests that do nothing cost something. */
static void polls(void)
{
    float in = (float)rank, out;
    int flag = 0;
    MPI_Request request;

    MPI_Iallreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    while (!flag) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
}

/* Writes into the send buffer of a pending operation. */
static void overwrite(void)
{
    float in[2] = {(float)rank, 1}, out[2];
    MPI_Request request;

    MPI_Iallreduce(in, out, 2, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank == 1) {
        in[0] = 1000;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    double in = 0, out;
    MPI_Request request;

    MPI_Allreduce_init(&in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int k = 0; k < 10; k++) {
        in = rank + k;
        if (k % 2) {
            MPI_Start(&request);
        } else {
            MPI_Startall(1, &request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* inactive: returns at once */
    MPI_Request_free(&request);
}

/* Every type and operation that a history has a word for. */
static void types(void)
{
    static const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};
    int i[2] = {rank - 1, 3}, j[2];
    long l[2] = {rank - 1, 3}, m[2];
    unsigned char c[2] = {(unsigned char)(200 + rank), 1}, d[2];
    unsigned u[1] = {4000000000U}, v[1];

    for (int k = 0; k < 4; k++) {
        MPI_Allreduce(i, j, 2, MPI_INT, ops[k], MPI_COMM_WORLD);
        MPI_Allreduce(l, m, 2, MPI_LONG, ops[k], MPI_COMM_WORLD);
        MPI_Allreduce(c, d, 2, MPI_UNSIGNED_CHAR, ops[k], MPI_COMM_WORLD);
    }
    MPI_Allreduce(u, v, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(i, j, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void add_pairs(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int k = 0; k < *count * 2; k++) {
        ((float *)inout)[k] += ((float *)in)[k];
    }
}

/* What no history has a word for. */
static void derived(void)
{
    float in[2] = {(float)rank, 1}, out[2];
    MPI_Datatype pair;
    MPI_Op add;

    MPI_Type_contiguous(2, MPI_FLOAT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add_pairs, 1, &add);
    MPI_Allreduce(in, out, 1, pair, add, MPI_COMM_WORLD);
    MPI_Op_free(&add);
    MPI_Type_free(&pair);
}

/* Copies of one communicator, made in one order and first used in another. */
static void groups(void)
{
    float in = (float)rank, out, other;
    MPI_Comm first, second, half;
    MPI_Request requests[2];
    MPI_Status statuses[2];

    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &half);
    if (rank % 2 == 0) {
        MPI_Iallreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, first, &requests[0]);
        MPI_Iallreduce(&in, &other, 1, MPI_FLOAT, MPI_SUM, second, &requests[1]);
    } else {
        MPI_Iallreduce(&in, &other, 1, MPI_FLOAT, MPI_SUM, second, &requests[1]);
        MPI_Iallreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, first, &requests[0]);
    }
    MPI_Waitall(2, requests, statuses);
    MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, half);
    MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_SELF);
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    MPI_Comm_free(&half);
}

/* A child that leaves, and one that would write, must not touch the recording. */
static void forks(void)
{
    plain();
    fflush(NULL);
    for (int k = 0; k < 2; k++) {
        pid_t child = fork();

        if (child == 0) {
            if (k == 0) {
                exit(0);
            }
            execlp("true", "true", (char *)NULL);
            _exit(1);
        }
        waitpid(child, NULL, 0);
    }
    plain();
}

/* Frees the request of a pending operation: MPI refuses that. */
static void frees(int is_cancel)
{
    float in = (float)rank, out;
    MPI_Request request;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Iallreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank == 0 && is_cancel) {
        MPI_Cancel(&request);
    } else if (rank == 0) {
        MPI_Request copy = request;

        MPI_Request_free(&copy);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void leaves(void)
{
    float in = (float)rank, out;
    static MPI_Request request;

    MPI_Iallreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Ranks call another operation. */
static void mismatch(void)
{
    float in = (float)rank, out;

    MPI_Allreduce(&in, &out, 1, MPI_FLOAT, rank == 1 ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
}

/* Leaves a line for each rank in `path`, and becomes another program once all have left theirs:
   what a launcher still forwards of a rank that is gone depends on who comes first. */
static void execs(const char *path)
{
    FILE *marks = path != NULL ? fopen(path, "a") : NULL;

    plain();
    if (marks != NULL) {
        fprintf(marks, "rank %d of %d\n", rank, ranks);
        fclose(marks);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    execl("/nowhere/true", "true", NULL);
    execlp("true", "true", NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "no-mpi") == 0) {
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(what, "plain") == 0) {
        plain();
    } else if (strcmp(what, "polls") == 0) {
        polls();
    } else if (strcmp(what, "overwrite") == 0) {
        overwrite();
    } else if (strcmp(what, "persistent") == 0) {
        persistent();
    } else if (strcmp(what, "types") == 0) {
        types();
    } else if (strcmp(what, "derived") == 0) {
        derived();
    } else if (strcmp(what, "groups") == 0) {
        groups();
    } else if (strcmp(what, "forks") == 0) {
        forks();
    } else if (strcmp(what, "free") == 0 || strcmp(what, "cancel") == 0) {
        frees(strcmp(what, "cancel") == 0);
    } else if (strcmp(what, "leak") == 0) {
        leaves();
    } else if (strcmp(what, "mismatch") == 0) {
        mismatch();
    } else if (strcmp(what, "execs") == 0) {
        execs(argc > 2 ? argv[2] : NULL);
    } else if (strcmp(what, "exit") == 0) {
        plain();
        exit(7);
    } else if (strcmp(what, "abort") == 0) {
        plain();
        MPI_Abort(MPI_COMM_WORLD, 5);
    } else if (strcmp(what, "kill") == 0) {
        plain();
        abort();
    }
    MPI_Finalize();
    return 0;
}
