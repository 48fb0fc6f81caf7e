/* What people's programs do with all-reduces, right and wrong: everyday WHAT. Plain MPI: builds
   with either library. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    LONG = 65536
};

static int rank, ranks;

static void reduce(const void *in, void *out, MPI_Datatype type, MPI_Op op)
{
    MPI_Request request;

    MPI_Iallreduce(in, out, 1, type, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Products of 2 x 2 matrices do not commute. */
static void times(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;

    (void)type;
    for (int k = 0; k < *count; k++, a += 4, b += 4) {
        int c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                    a[2] * b[1] + a[3] * b[3]};
        memcpy(b, c, sizeof(c));
    }
}

static void user_op(void)
{
    int mine[4] = {1 + rank, 2, rank, 1}, got[4] = {0};
    float loss = (float)rank, sum = 0;
    MPI_Datatype matrix;
    MPI_Op op;

    MPI_Type_contiguous(4, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op_create(times, 0, &op);
    reduce(mine, got, matrix, op);
    reduce(&loss, &sum, MPI_FLOAT, MPI_SUM);
    printf("rank %d: %d %d %d %d, %g\n", rank, got[0], got[1], got[2], got[3], sum);
    MPI_Op_free(&op);
    MPI_Type_free(&matrix);
}

static void least(void)
{
    static const double of[3] = {10, -300, -150};
    double a = of[rank % 3], b = of[rank % 3];

    MPI_Allreduce(MPI_IN_PLACE, &a, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    reduce(MPI_IN_PLACE, &b, MPI_DOUBLE, MPI_MIN);
    printf("rank %d: %g %g\n", rank, a, b);
}

static void worst(void)
{
    struct {
        float value;
        int rank;
    } f = {rank == 2 ? 9.5F : 1.0F + (float)rank, rank}, most_f = {0, -1};
    struct {
        long double value;
        int rank;
    } d = {rank == 2 ? 9.5L : 1.0L + rank, rank}, most_d = {0, -1};
    MPI_Request request[2];
    MPI_Status status[2];

    MPI_Iallreduce(&f, &most_f, 1, MPI_FLOAT_INT, MPI_MAXLOC, MPI_COMM_WORLD, &request[0]);
    MPI_Iallreduce(&d, &most_d, 1, MPI_LONG_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, status);
    printf("rank %d: %g@%d %Lg@%d\n", rank, most_f.value, most_f.rank, most_d.value, most_d.rank);
}

/* One kind of a hundred is another one. */
static void kinds(void)
{
    float in = 1, out = 0;
    int flag = 1, all = 0;
    short narrow = (short)rank, sum = 0;
    MPI_Datatype asked;

    for (int k = 0; k < 100; k++) {
        reduce(&in, &out, MPI_FLOAT, MPI_SUM);
    }
    reduce(&flag, &all, MPI_INT, MPI_LAND);
    reduce(&narrow, &sum, MPI_INTEGER2, MPI_SUM);
    MPI_Type_create_f90_real(6, MPI_UNDEFINED, &asked);
    reduce(&in, &out, asked, MPI_SUM);
}

/* The buffer belongs to MPI until the wait. */
static void long_send(void)
{
    static double in[LONG], out[LONG];
    MPI_Request request;

    for (int k = 0; k < LONG; k++) {
        in[k] = 1;
    }
    MPI_Iallreduce(in, out, LONG, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    for (int k = 0; k < LONG; k++) {
        in[k] = 1e6;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Two solvers on halves of the world, of different numbers of steps: the world is the wrong one. */
static void halves(int is_right)
{
    int color = rank >= ranks / 2;
    double mine = 1.0 + color, norm = 0;
    MPI_Comm half;
    MPI_Request request;

    MPI_Comm_split(MPI_COMM_WORLD, color, rank, &half);
    for (int k = 0; k < (color ? 5 : 3); k++) {
        MPI_Iallreduce(&mine, &norm, 1, MPI_DOUBLE, MPI_SUM, is_right ? half : MPI_COMM_WORLD,
                       &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&half);
}

/* Reads of plain memory are what no recorder of calls sees; the next step's buffer is. */
static void early(int is_forgotten)
{
    for (int step = 0; step < 4; step++) {
        float in[2] = {2.5F * (float)(10 + rank), (float)(10 + rank)}, out[2] = {0, 0};
        volatile float seen;
        MPI_Request request;

        MPI_Iallreduce(in, out, 2, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
        seen = out[0];
        (void)seen;
        if (is_forgotten && step == 2) {
            continue;
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(what, "user-op") == 0) {
        user_op();
    } else if (strcmp(what, "least") == 0) {
        least();
    } else if (strcmp(what, "worst") == 0) {
        worst();
    } else if (strcmp(what, "kinds") == 0) {
        kinds();
    } else if (strcmp(what, "long-send") == 0) {
        long_send();
    } else if (strcmp(what, "halves") == 0 || strcmp(what, "world") == 0) {
        halves(strcmp(what, "halves") == 0);
    } else if (strcmp(what, "early") == 0 || strcmp(what, "forget") == 0) {
        early(strcmp(what, "forget") == 0);
    }
    MPI_Finalize();
    return 0;
}
