/* A program that knows nothing of alar and does all-reduces in every way MPI has, 1,000 of them for
   each rank, drawn from a seed: mixed SEED [COUNT]. Prints "ok" from rank 0 when every result was
   the exact sum of small integers. Plain MPI: builds with either library. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPEN_MOST = 12,
    ELEMENTS_MOST = 40
};

struct slot {
    MPI_Request request;
    double send[ELEMENTS_MOST];
    double recv[ELEMENTS_MOST];
    int elements;
    int members; /* of its communicator */
    int is_float;
};

static struct slot slots[OPEN_MOST];
static MPI_Request requests[OPEN_MOST];
static MPI_Status statuses[OPEN_MOST];
static int open_count;
static int wrong;
static uint64_t state;

/* Every rank draws the same, so all agree on what comes next. */
static int draw(int bound)
{
    uint64_t z = state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (int)((z ^ (z >> 31)) % (uint64_t)bound);
}

static void fill(struct slot *slot, int rank, int in_place)
{
    double *to = in_place ? slot->recv : slot->send;

    for (int k = 0; k < slot->elements; k++) {
        double value = rank + 1 + k;

        if (slot->is_float) {
            ((float *)to)[k] = (float)value;
        } else {
            to[k] = value;
        }
    }
}

static void check(const struct slot *slot)
{
    int n = slot->members;

    for (int k = 0; k < slot->elements; k++) {
        double got = slot->is_float ? (double)((const float *)slot->recv)[k] : slot->recv[k];
        double expected = n * (n + 1) / 2.0 + n * k;

        wrong += got < expected || got > expected;
    }
}

/* Moves the last open slot into the place of one that is over. */
static void close_slot(int at)
{
    slots[at].request = requests[at];
    check(&slots[at]);
    open_count--;
    requests[at] = requests[open_count];
}

static void issue(MPI_Comm comm, int rank, int members)
{
    struct slot *slot = &slots[open_count];
    int in_place = draw(4) == 0;
    MPI_Datatype type;

    slot->elements = 1 + draw(ELEMENTS_MOST);
    slot->members = members;
    slot->is_float = draw(2);
    type = slot->is_float ? MPI_FLOAT : MPI_DOUBLE;
    fill(slot, rank, in_place);
    if (draw(5) == 0) {
        MPI_Allreduce(in_place ? MPI_IN_PLACE : slot->send, slot->recv, slot->elements, type,
                      MPI_SUM, comm);
        check(slot);
        return;
    }
    MPI_Iallreduce(in_place ? MPI_IN_PLACE : slot->send, slot->recv, slot->elements, type, MPI_SUM,
                   comm, &requests[open_count]);
    open_count++;
}

/* One way of finishing all that are open. */
static void finish(int way)
{
    int done[OPEN_MOST];
    int flag = 0, count = 0, at = 0;

    switch (way) {
    case 0:
        for (int k = 0; k < open_count; k++) {
            MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
        }
        break;
    case 1:
        MPI_Waitall(open_count, requests, statuses);
        break;
    case 2:
        for (int k = 0; k < open_count; k++) {
            MPI_Waitany(open_count, requests, &at, MPI_STATUS_IGNORE);
        }
        break;
    case 3:
        for (int left = open_count; left > 0; left -= count) {
            MPI_Waitsome(open_count, requests, &count, done, statuses);
        }
        break;
    case 4:
        for (int k = 0; k < open_count; k++) {
            for (flag = 0; !flag;) {
                MPI_Test(&requests[k], &flag, MPI_STATUS_IGNORE);
            }
        }
        break;
    case 5:
        do {
            MPI_Testall(open_count, requests, &flag, statuses);
        } while (!flag);
        break;
    case 6:
        for (int left = open_count; left > 0; left -= flag) {
            MPI_Testany(open_count, requests, &at, &flag, MPI_STATUS_IGNORE);
        }
        break;
    case 7:
        for (int left = open_count; left > 0; left -= count) {
            MPI_Testsome(open_count, requests, &count, done, statuses);
        }
        break;
    default:
        for (int k = 0; k < open_count; k++) {
            for (flag = 0; !flag;) {
                MPI_Request_get_status(requests[k], &flag, MPI_STATUS_IGNORE);
            }
            MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
        }
        break;
    }
    while (open_count > 0) {
        close_slot(open_count - 1);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm half, copy;
    int rank, ranks, half_rank, half_ranks, level;
    int count = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1000;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_rank(half, &half_rank);
    MPI_Comm_size(half, &half_ranks);
    for (int k = 0; k < count; k++) {
        switch (draw(3)) {
        case 0:
            issue(half, half_rank, half_ranks);
            break;
        case 1:
            issue(copy, rank, ranks);
            break;
        default:
            issue(MPI_COMM_WORLD, rank, ranks);
        }
        if (open_count == OPEN_MOST || draw(6) == 0) {
            finish(draw(9));
        }
    }
    finish(1);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    if (rank == 0) {
        puts(wrong == 0 ? "ok" : "wrong");
    }
    MPI_Finalize();
    return wrong != 0;
}
