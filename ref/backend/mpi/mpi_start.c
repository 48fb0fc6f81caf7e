/* How the MPI back end starts and ends. */
#include "backend/mpi/mpi_state.h"

#include "sys/error_line.h"
#include "sys/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REQUESTS_DEFAULT = 1024,
    REQUESTS_MOST = 16384,
    LINGER_US = 100000 /* at the end, for operations that were given up */
};

struct key {
    const char *name;
    uint32_t least;
    uint32_t most;
    uint32_t *target;
};

/* One "name=number" of the configuration, without the comma. */
static int config_set(const struct alar_mpi *mpi, const struct key *keys, int key_count,
                      const char *text)
{
    char detail[ALAR_ERROR_LINE_BYTES / 2];
    uint64_t number = 0;

    for (int i = 0; i < key_count; i++) {
        size_t length = strlen(keys[i].name);

        if (strncmp(text, keys[i].name, length) != 0 || text[length] != '=') {
            continue;
        }
        if (alar_number_parse(text + length + 1, keys[i].least, keys[i].most, &number) == ALAR_OK) {
            *keys[i].target = (uint32_t)number;
            return 0;
        }
        snprintf(detail, sizeof(detail), "expected %s=N with N from %u to %u, found '%s'",
                 keys[i].name, keys[i].least, keys[i].most, text);
        alar_mpi_complain(mpi, "mpi back end: configuration", detail);
        return -ALAR_E_INPUT;
    }
    snprintf(detail, sizeof(detail), "expected requests=N, spins=N or sleep-us=N, found '%s'",
             text);
    alar_mpi_complain(mpi, "mpi back end: configuration", detail);
    return -ALAR_E_INPUT;
}

static int config_read(struct alar_mpi *mpi, const char *config)
{
    const struct key keys[] = {
        {"requests", 1, REQUESTS_MOST, &mpi->capacity},
        {"spins", 0, 1000000, &mpi->patience.spins},
        {"sleep-us", 1, 100000, &mpi->patience.sleep_us},
    };
    char word[64];

    while (config != NULL && *config != '\0') {
        size_t length = strcspn(config, ",");

        snprintf(word, sizeof(word), "%.*s", (int)(length < sizeof(word) ? length : sizeof(word)),
                 config);
        int status = config_set(mpi, keys, sizeof(keys) / sizeof(keys[0]), word);
        if (status != 0) {
            return status;
        }
        config += length + (config[length] == ',');
    }
    return 0;
}

/* Starts the library unless the host did: what the host started, the host ends. */
static int library_start(struct alar_mpi *mpi)
{
    int is_running = 0;
    int is_over = 0;
    int level;

    MPI_Initialized(&is_running);
    MPI_Finalized(&is_over);
    if (is_over) {
        alar_mpi_complain(mpi, "mpi back end",
                          "MPI was finalized and can't start twice in a process");
        return -ALAR_E_BACKEND;
    }
    if (!is_running) {
        int status = alar_mpi_failed(mpi, "MPI_Init_thread",
                                     MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level));
        if (status != 0) {
            return status;
        }
        mpi->owns_library = true;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    return alar_mpi_failed(mpi, "MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &mpi->world));
}

static void library_stop(struct alar_mpi *mpi)
{
    if (mpi->world != MPI_COMM_NULL) {
        MPI_Comm_free(&mpi->world);
    }
    if (mpi->owns_library) {
        MPI_Finalize();
    }
}

static int world_describe(struct alar_mpi *mpi, struct alar_boot *boot)
{
    MPI_Comm host = MPI_COMM_NULL;
    int rank = -1;
    int ranks = -1;
    int local = -1;

    MPI_Comm_set_errhandler(mpi->world, MPI_ERRORS_RETURN);
    MPI_Comm_rank(mpi->world, &rank);
    MPI_Comm_size(mpi->world, &ranks);
    if ((boot->rank >= 0 && boot->rank != rank) || (boot->ranks >= 0 && boot->ranks != ranks)) {
        alar_mpi_complain(mpi, "mpi back end",
                          "the launcher's rank or number of ranks is another one");
        return -ALAR_E_INPUT;
    }
    if (MPI_Comm_split_type(mpi->world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host) ==
        MPI_SUCCESS) {
        MPI_Comm_rank(host, &local);
        MPI_Comm_free(&host);
    }
    mpi->rank = boot->rank = rank;
    mpi->ranks = boot->ranks = ranks;
    boot->local_rank = local;
    return 0;
}

static int requests_create(struct alar_mpi *mpi)
{
    mpi->request = calloc(mpi->capacity, sizeof(*mpi->request));
    mpi->free_slot = calloc(mpi->capacity, sizeof(*mpi->free_slot));
    if (mpi->request == NULL || mpi->free_slot == NULL) {
        return -ALAR_E_NOMEM;
    }
    for (uint32_t i = 0; i < mpi->capacity; i++) {
        mpi->free_slot[i] = mpi->capacity - 1 - i;
    }
    mpi->free_count = mpi->capacity;
    return 0;
}

static void context_free(struct alar_mpi *mpi)
{
    free(mpi->barrier.peer);
    free(mpi->free_slot);
    free(mpi->request);
    free(mpi);
}

static int world_start(struct alar_mpi *mpi, struct alar_boot *boot)
{
    int status = library_start(mpi);

    status = status == 0 ? world_describe(mpi, boot) : status;
    if (status != 0) {
        return status;
    }
    struct alar_mpi_peer *peer = calloc((size_t)mpi->ranks, sizeof(*peer));
    if (peer == NULL) {
        return -ALAR_E_NOMEM;
    }
    status = alar_mpi_failed(
        mpi, "the watch's start",
        alar_mpi_barrier_start(&mpi->barrier, mpi->world, mpi->rank, mpi->ranks, peer));
    return status;
}

int alar_mpi_init(void **context, struct alar_boot *boot)
{
    struct alar_mpi *mpi = calloc(1, sizeof(*mpi));

    if (mpi == NULL) {
        return -ALAR_E_NOMEM;
    }
    mpi->world = MPI_COMM_NULL;
    mpi->log = boot->log;
    mpi->peers = boot->peers;
    mpi->timeout_us = boot->timeout_us > 0 ? boot->timeout_us : UINT64_MAX;
    mpi->capacity = REQUESTS_DEFAULT;
    mpi->patience = (struct alar_mpi_patience){.spins = 32, .sleep_us = 50};
    for (int i = 0; i < ALAR_MPI_COMMS_MOST; i++) {
        mpi->comm[i] = (struct alar_mpi_comm){.comm = MPI_COMM_NULL, .mpi = mpi};
    }
    int status = config_read(mpi, boot->config);
    status = status == 0 ? requests_create(mpi) : status;
    if (status == 0) {
        status = world_start(mpi, boot);
        if (status != 0) {
            library_stop(mpi);
        }
    }
    if (status != 0) {
        context_free(mpi);
        return status;
    }
    alar_mpi_bytes_start(mpi);
    *context = mpi;
    return 0;
}

int alar_mpi_fini(void *context)
{
    struct alar_mpi *mpi = context;
    struct alar_mpi_backoff backoff = {0};

    /* What was given up and can still end does so now; MPI leaks what it never sees the end of. */
    while (mpi->abandoned_count > 0 && alar_mpi_backoff_next(&backoff, &mpi->patience, LINGER_US)) {
        alar_mpi_progress(mpi);
    }
    for (int i = 0; i < ALAR_MPI_COMMS_MOST; i++) {
        if (mpi->comm[i].comm != MPI_COMM_NULL && mpi->comm[i].abandoned_count == 0) {
            MPI_Comm_free(&mpi->comm[i].comm);
        }
    }
    alar_mpi_barrier_stop(&mpi->barrier);
    alar_mpi_bytes_stop(mpi);
    library_stop(mpi);
    context_free(mpi);
    return 0;
}
