/* Our share of an all-reduce, against the same MPI_Iallreduce, MPI_Test and MPI_Wait of two floats
   by hand. `post`: one pending handle at most and a report a block, so that an operation is a post,
   a poll and a retirement. `report`: an operation is a post, the end of a step and its report.
   Blocks of both sides take turns; rank 0 prints one JSON line a round: nanoseconds an operation.

   mpiexec.mpich -n 2 -bind-to core overhead PLUGIN post|report */
#include "api/alar.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    OPERATIONS = 400,
    ROUNDS = 40
};

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double raw_block(MPI_Comm comm)
{
    float send[2] = {2.5F, 1.0F};
    float receive[2];
    double start = 0.0;

    MPI_Barrier(comm);
    start = now_ns();
    for (int i = 0; i < OPERATIONS; i++) {
        MPI_Request request;
        int done = 0;

        MPI_Iallreduce(send, receive, 2, MPI_FLOAT, MPI_SUM, comm, &request);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    return (now_ns() - start) / OPERATIONS;
}

static void demand(bool is_good, MPI_Comm comm)
{
    if (!is_good) {
        fprintf(stderr, "overhead: the log stopped\n");
        MPI_Abort(comm, 2);
    }
}

static void report_step(struct alar *log, MPI_Comm comm)
{
    struct alar_report report;

    demand(alar_step_end(log) == ALAR_OK && alar_report(log, &report) == ALAR_OK, comm);
}

/* With a window of one, each post first retires the one before it. */
static double alar_partition(struct alar *log, bool is_post, MPI_Comm comm)
{
    double start = 0.0;

    MPI_Barrier(comm);
    start = now_ns();
    for (int i = 0; i < OPERATIONS; i++) {
        demand(alar_post(log, 2.5, 1.0) == ALAR_OK, comm);
        if (is_post) {
            demand(alar_poll(log) == ALAR_OK, comm);
        } else {
            report_step(log, comm);
        }
    }
    if (is_post) {
        report_step(log, comm);
    }
    return (now_ns() - start) / OPERATIONS;
}

int main(int argc, char **argv)
{
    bool is_post = argc > 2 && strcmp(argv[2], "post") == 0;
    const struct alar_config config = {.backend = argc > 1 ? argv[1] : "mpi",
                                       .check = ALAR_CHECK_OFF,
                                       .microbatches = is_post ? OPERATIONS : 1,
                                       .window = 1};
    char error_line[512];
    struct alar *log = NULL;
    MPI_Comm comm;
    int rank = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    if (alar_open(&log, &config, error_line) != ALAR_OK) {
        fprintf(stderr, "overhead: %s\n", error_line);
        return 3;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double raw = raw_block(comm);
        double ours = alar_partition(log, is_post, comm);

        if (rank == 0) {
            printf("{\"raw_ns\":%.1f,\"alar_ns\":%.1f}\n", raw, ours);
        }
    }
    MPI_Comm_free(&comm);
    int code = (int)alar_status_class(alar_close(log));
    MPI_Finalize();
    return code;
}
