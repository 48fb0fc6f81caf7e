/* Collectives beside the all-reduce whose values are recorded: collect WHAT. Plain MPI: builds with
   either library. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    MOST = 8 /* ranks */
};

static int rank, ranks;

static void reduces(MPI_Comm comm, int root)
{
    int self;
    double in[3], out[3] = {0}, both[3];
    MPI_Request request;

    MPI_Comm_rank(comm, &self);
    for (int k = 0; k < 3; k++) {
        in[k] = both[k] = 0.1 * (k + 1) + self;
    }
    MPI_Reduce(in, self == root ? out : NULL, 3, MPI_DOUBLE, MPI_SUM, root, comm);
    MPI_Reduce(self == root ? MPI_IN_PLACE : both, self == root ? both : NULL, 3, MPI_DOUBLE,
               MPI_MAX, root, comm);
    MPI_Ireduce(in, out, 3, MPI_DOUBLE, MPI_PROD, root, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("rank %d: %g %g\n", rank, self == root ? out[1] : 0, both[0]);
}

static void gathers(MPI_Comm comm)
{
    int self;
    float mine[2], all[2 * MOST];
    MPI_Datatype pair;
    MPI_Request request;

    MPI_Comm_rank(comm, &self);
    MPI_Type_contiguous(2, MPI_FLOAT, &pair);
    MPI_Type_commit(&pair);
    mine[0] = (float)rank - 1;
    mine[1] = -0.0F;
    MPI_Allgather(mine, 2, MPI_FLOAT, all, 2, MPI_FLOAT, comm);
    MPI_Allgather(mine, 1, pair, all, 2, MPI_FLOAT, comm);
    all[2 * self] = 7 + (float)rank;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, pair, comm);
    MPI_Iallgather(mine, 2, MPI_FLOAT, all, 1, pair, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("rank %d: %g %g\n", rank, all[0], all[3]);
    MPI_Type_free(&pair);
}

static void scatters(MPI_Comm comm)
{
    int self, size, counts[MOST], all = 0;
    long in[MOST * (MOST + 1)], out[MOST + 1] = {0};
    MPI_Request request;

    MPI_Comm_rank(comm, &self);
    MPI_Comm_size(comm, &size);
    for (int k = 0; k < size; k++) {
        counts[k] = k; /* the first rank gets nothing */
        all += k;
    }
    for (int k = 0; k < MOST * (MOST + 1); k++) {
        in[k] = 100 * k + rank;
    }
    MPI_Reduce_scatter(in, out, counts, MPI_LONG, MPI_SUM, comm);
    MPI_Reduce_scatter_block(in, out, 2, MPI_LONG, MPI_BOR, comm);
    MPI_Ireduce_scatter_block(in, out, 1, MPI_LONG, MPI_MIN, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ireduce_scatter(in, out, counts, MPI_LONG, MPI_MAX, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, in, 1, MPI_LONG, MPI_SUM, comm);
    printf("rank %d: %ld %ld %d\n", rank, in[0], out[0], all);
}

static void scans(MPI_Comm comm)
{
    float in = 0.1F * (float)(rank + 1), out;
    int whole = 1 + rank, max = -rank, true_or_not = 5 * rank;
    struct {
        double value;
        int index;
    } place = {rank == 1 ? 9 : 1, rank}, found;
    MPI_Request request;

    MPI_Scan(&in, &out, 1, MPI_FLOAT, MPI_SUM, comm);
    MPI_Scan(MPI_IN_PLACE, &whole, 1, MPI_INT, MPI_PROD, comm);
    MPI_Iscan(MPI_IN_PLACE, &max, 1, MPI_INT, MPI_MAX, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Scan(&place, &found, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    MPI_Scan(MPI_IN_PLACE, &true_or_not, 1, MPI_INT, MPI_LOR, comm);
    printf("rank %d: %g %d %d %g@%d %d\n", rank, out, whole, max, found.value, found.index,
           true_or_not);
}

/* The others are through before the root begins. */
static void early(void)
{
    const struct timespec rest = {0, 20000000};
    int in = rank, out = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        nanosleep(&rest, NULL);
    }
    MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == ranks - 1) {
        nanosleep(&rest, NULL);
    }
    MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: %d\n", rank, out);
}

/* Long doubles whose sum is exact, and one that no double holds. */
static void longs(void)
{
    long double in = 0.25L + rank, out = 0, third = 1.0L / 3;
    struct {
        long double value;
        int index;
    } place = {rank == 1 ? 9.5L : 1.5L, rank}, found;

    MPI_Allreduce(&in, &out, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&place, &found, 1, MPI_LONG_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    printf("rank %d: %Lg %Lg@%d\n", rank, out, found.value, found.index);
    if (ranks == 2) {
        MPI_Allreduce(&third, &out, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* A struct with gaps: the calls alone are compared. */
static void gaps(void)
{
    struct {
        char letter;
        double value;
    } in = {'a', rank}, all[MOST];
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, (char *)&in.value - &in.letter};
    const MPI_Datatype parts[2] = {MPI_CHAR, MPI_DOUBLE};
    MPI_Datatype type;
    float mine = 1, sum;

    memset(all, 0, sizeof(all));
    MPI_Type_create_struct(2, lengths, places, parts, &type);
    MPI_Type_commit(&type);
    MPI_Allgather(&in, 1, type, all, 1, type, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: %c %g %g\n", rank, all[1].letter, all[1].value, sum);
    MPI_Type_free(&type);
}

static void wrong(const char *what)
{
    int in[4] = {1, 2, 3, 4}, out[4 * MOST];
    MPI_Request request;

    if (strcmp(what, "operation") == 0) {
        MPI_Reduce(in, out, 1, MPI_INT, rank == 1 ? MPI_MAX : MPI_SUM, 0, MPI_COMM_WORLD);
    } else if (strcmp(what, "count") == 0) {
        MPI_Scan(in, out, 1 + (rank == 1), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(what, "type") == 0) {
        MPI_Allgather(in, 1, rank == 1 ? MPI_FLOAT : MPI_INT, out, 1,
                      rank == 1 ? MPI_FLOAT : MPI_INT, MPI_COMM_WORLD);
    } else if (strcmp(what, "write") == 0) {
        MPI_Ireduce(in, out, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
        in[2] = 1000;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void right(MPI_Comm comm)
{
    int size;

    MPI_Comm_size(comm, &size);
    reduces(comm, size - 1);
    gathers(comm);
    scatters(comm);
    scans(comm);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Comm turned;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    if (strcmp(what, "right") == 0) {
        right(MPI_COMM_WORLD);
        right(turned);
        right(MPI_COMM_SELF);
    } else if (strcmp(what, "early") == 0) {
        early();
    } else if (strcmp(what, "long") == 0) {
        longs();
    } else if (strcmp(what, "gaps") == 0) {
        gaps();
    } else if (strcmp(what, "wrong") == 0 && argc > 2) {
        wrong(argv[2]);
    }
    MPI_Comm_free(&turned);
    MPI_Finalize();
    return 0;
}
