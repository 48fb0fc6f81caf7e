/* An asynchronous log as a plain MPI program has it, for comparison: raw_log LAG COMPUTE_US LATE_US
   prints ms a step.

   40 steps of 4 microbatches; each posts an MPI_Iallreduce of two floats, each 10th step waits for
   all but those of the last LAG steps, none with LAG -1. One rank in turn computes LATE_US longer a
   step. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    STEPS = 40,
    MICROBATCHES = 4,
    INTERVAL = 10,
    POLL_US = 1000
};

static MPI_Request requests[STEPS * MICROBATCHES];
static MPI_Status statuses[STEPS * MICROBATCHES];
static float losses[STEPS * MICROBATCHES][2], sums[STEPS * MICROBATCHES][2];

/* Computes, that is sleeps, and now and then lets the library make progress on what is pending. */
static void compute(int us, int first, int end)
{
    for (int left = us; left > 0; left -= POLL_US) {
        int piece = left < POLL_US ? left : POLL_US, flag;
        struct timespec time = {0, piece * 1000L};

        nanosleep(&time, NULL);
        if (end > first) {
            MPI_Testall(end - first, requests + first, &flag, statuses);
        }
    }
}

int main(int count, char **argument)
{
    int rank, ranks, done = 0;

    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (count != 4) {
        fprintf(stderr, "raw_log: expected LAG COMPUTE_US LATE_US\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    int lag = (int)strtol(argument[1], NULL, 10), us = (int)strtol(argument[2], NULL, 10);
    int late_us = (int)strtol(argument[3], NULL, 10);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (int step = 0; step < STEPS; step++) {
        for (int k = step * MICROBATCHES; k < (step + 1) * MICROBATCHES; k++) {
            compute(us + (step % ranks == rank ? late_us / MICROBATCHES : 0), done, k);
            losses[k][0] = 1;
            losses[k][1] = 1;
            requests[k] = MPI_REQUEST_NULL;
            if (lag >= 0) {
                MPI_Iallreduce(losses[k], sums[k], 2, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                               &requests[k]);
            }
        }
        if ((step + 1) % INTERVAL == 0) {
            int end = (step + 1 - (lag > 0 ? lag : 0)) * MICROBATCHES;

            MPI_Waitall(end - done, requests + done, statuses);
            done = end;
        }
    }
    double took = MPI_Wtime() - began;
    MPI_Waitall(STEPS * MICROBATCHES - done, requests + done, statuses);
    if (rank == 0) {
        printf("%.4f\n", took / STEPS * 1e3);
    }
    MPI_Finalize();
    return 0;
}
