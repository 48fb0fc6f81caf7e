/* Processor time of collectives on a communicator of one rank, by thread: what the library does is
   little there, so what a recorder adds shows. Prints a JSON line a round: microseconds a call.

   recorder CALLS ROUNDS */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void one(int kind, const float *in, float *out)
{
    MPI_Request request;

    switch (kind) {
    case 0:
        MPI_Allreduce(in, out, 2, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case 1:
        MPI_Iallreduce(in, out, 2, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Reduce(in, out, 2, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
        break;
    default:
        MPI_Allgather(in, 2, MPI_FLOAT, out, 2, MPI_FLOAT, MPI_COMM_WORLD);
        break;
    }
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"allreduce", "iallreduce_wait", "reduce", "allgather"};
    long calls = argc > 2 ? strtol(argv[1], NULL, 10) : 1;
    long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    float in[2] = {2.5F, 1}, out[2] = {0, 0};

    MPI_Init(&argc, &argv);
    for (long round = 0; round < rounds; round++) {
        printf("{");
        for (int kind = 0; kind < 4; kind++) {
            double start = now_us();

            for (long k = 0; k < calls; k++) {
                one(kind, in, out);
            }
            printf("%s\"%s\":%.4f", kind > 0 ? "," : "", names[kind],
                   (now_us() - start) / (double)calls);
        }
        printf("}\n");
    }
    MPI_Finalize();
    return 0;
}
