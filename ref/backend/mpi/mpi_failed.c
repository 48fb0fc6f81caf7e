/* What the MPI back end says when MPI complains. */
#include "backend/mpi/mpi_state.h"

#include "sys/error_line.h"

#include <stdio.h>

void alar_mpi_complain(const struct alar_mpi *mpi, const char *what, const char *detail)
{
    char line[ALAR_ERROR_LINE_BYTES];

    if (mpi->log != NULL) {
        snprintf(line, sizeof(line), "%s: %s", what, detail);
        mpi->log(mpi->peers, line);
    }
}

/* Apart from alar_mpi_failed, which every call passes through, so that success pays for no text. */
static int failure(const struct alar_mpi *mpi, const char *call, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    int class = MPI_ERR_OTHER;

    MPI_Error_string(code, text, &length);
    MPI_Error_class(code, &class);
    alar_mpi_complain(mpi, call, text);
    switch (class) {
    case MPI_ERR_NO_MEM:
        return -ALAR_E_NOMEM;
    case MPI_ERR_TYPE:
    case MPI_ERR_OP:
        return -ALAR_E_UNSUPPORTED;
    case MPI_ERR_COUNT:
    case MPI_ERR_BUFFER:
    case MPI_ERR_ARG:
    case MPI_ERR_RANK:
    case MPI_ERR_GROUP:
        return -ALAR_E_RANGE;
    default:
        return -ALAR_E_BACKEND;
    }
}

int alar_mpi_failed(const struct alar_mpi *mpi, const char *call, int code)
{
    return code == MPI_SUCCESS ? 0 : failure(mpi, call, code);
}
