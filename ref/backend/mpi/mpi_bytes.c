/* MAX and MIN of bytes. MPICH 4.0 compares MPI_UINT8_T and MPI_UNSIGNED_CHAR as signed, so that the
   greater one of 1 and 255 is 1. A library that does so, which it is asked at the start, gets
   operations of ours for this dtype. */
#include "backend/mpi/mpi_state.h"

static void bytes_max(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint8_t *from = in;
    uint8_t *to = inout;

    (void)type;
    for (int i = 0; i < *count; i++) {
        to[i] = from[i] > to[i] ? from[i] : to[i];
    }
}

static void bytes_min(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint8_t *from = in;
    uint8_t *to = inout;

    (void)type;
    for (int i = 0; i < *count; i++) {
        to[i] = from[i] < to[i] ? from[i] : to[i];
    }
}

void alar_mpi_bytes_start(struct alar_mpi *mpi)
{
    const uint8_t one = 1;
    uint8_t most = 255;

    mpi->bytes_max = MPI_MAX;
    mpi->bytes_min = MPI_MIN;
    if (MPI_Reduce_local(&one, &most, 1, MPI_UINT8_T, MPI_MAX) == MPI_SUCCESS && most != 255) {
        MPI_Op_create(bytes_max, 1, &mpi->bytes_max);
        MPI_Op_create(bytes_min, 1, &mpi->bytes_min);
    }
}

void alar_mpi_bytes_stop(struct alar_mpi *mpi)
{
    if (mpi->bytes_max != MPI_MAX) {
        MPI_Op_free(&mpi->bytes_max);
        MPI_Op_free(&mpi->bytes_min);
    }
}
