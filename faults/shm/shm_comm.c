/* Start, promises, communicators. */
#define _GNU_SOURCE
#include "faults/shm/shm_backend.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const names[SHM_WRONGS] = {
    [SHM_HEALTHY] = "healthy",
#define WRONG(token, name, ...) [SHM_##token] = name,
#include "shm_mutants.def"
};

bool shm_is(const struct shm_rank *rank, enum shm_wrong wrong)
{
    return rank->wrong == wrong;
}

bool shm_is_struck(const struct shm_rank *rank, enum shm_wrong wrong)
{
    return rank->wrong == wrong && rank->rank == rank->ranks - 1;
}

bool shm_strikes_once(struct shm_rank *rank, enum shm_wrong wrong)
{
    bool is_due = shm_is_struck(rank, wrong) && !rank->has_struck && rank->calls > 200;

    rank->has_struck |= is_due;
    return is_due;
}

/* "mutant=NAME"; false when there is no such way to be wrong. */
static bool config_read(struct shm_rank *rank, const char *config)
{
    const char *name = config != NULL ? strstr(config, "mutant=") : NULL;

    name = name != NULL ? name + 7 : getenv("ALAR_SHM_MUTANT");
    for (int w = 0; name != NULL && w < SHM_WRONGS; w++) {
        size_t length = strlen(names[w]);

        if (strncmp(name, names[w], length) == 0 && (name[length] == '\0' || name[length] == ',')) {
            rank->wrong = (enum shm_wrong)w;
            return true;
        }
    }
    return name == NULL;
}

static int32_t number_given(const char *name, const char *other, int32_t otherwise)
{
    const char *text = getenv(name) != NULL ? getenv(name) : getenv(other);

    return text != NULL ? (int32_t)strtol(text, NULL, 10) : otherwise;
}

int shm_init(void **context, struct alar_boot *boot)
{
    struct shm_rank *rank = calloc(1, sizeof(*rank));

    if (rank == NULL) {
        return -ALAR_E_NOMEM;
    }
    rank->rank = boot->rank >= 0 ? boot->rank : number_given("ALAR_RANK", "RANK", 0);
    rank->ranks = boot->ranks >= 0 ? boot->ranks : number_given("ALAR_RANKS", "WORLD_SIZE", 1);
    if (!config_read(rank, boot->config) || rank->ranks > SHM_RANKS ||
        shm_is_struck(rank, SHM_INIT_FAILS)) {
        free(rank);
        return -ALAR_E_INPUT;
    }
    while (shm_is_struck(rank, SHM_HANGS_INIT)) {
        shm_sleep_us(1000000);
    }
    boot->rank = rank->rank - (shm_is_struck(rank, SHM_INIT_RANK) ? 1 : 0);
    boot->ranks = rank->ranks;
    boot->local_rank = rank->rank;
    *context = rank;
    return 0;
}

int shm_caps(void *context, struct alar_caps *caps)
{
    const struct shm_rank *rank = context;

    *caps = (struct alar_caps){
        .dtypes = 1U << ALAR_F32 | 1U << ALAR_F64 | 1U << ALAR_I32 | 1U << ALAR_I64 | 1U << ALAR_U8,
        .reductions = 1U << ALAR_SUM | 1U << ALAR_AVG | 1U << ALAR_MAX | 1U << ALAR_MIN,
        .wait_kind = ALAR_WAIT_HOST,
        .outstanding_max = shm_is(rank, SHM_CAPS_BOUND) ? 64 : 0,
        .tree_height = shm_is(rank, SHM_CAPS_HEIGHT) ? 1 : (uint32_t)(rank->ranks - 1),
        .is_in_place = 1,
        .allows_empty = 1,
        .needs_progress = !shm_is(rank, SHM_CAPS_PROGRESS),
        .has_fixed_order = 1,
        .can_block = 1,
        .nan = ALAR_NAN_PROPAGATE,
        .avg = ALAR_AVG_SUM_DIVIDE,
        .width = shm_is(rank, SHM_CAPS_WIDTH) ? 1 + ALAR_F64 : 0,
    };
    if (shm_is(rank, SHM_CAPS_DTYPE)) {
        caps->dtypes |= 1U << ALAR_BF16;
    }
    return 0;
}

int shm_fini(void *context)
{
    struct shm_rank *rank = context;
    bool is_failing = shm_is_struck(rank, SHM_FINI_FAILS);

    if (shm_is_struck(rank, SHM_CRASHES_FINI)) {
        abort();
    }
    free(rank);
    return is_failing ? -ALAR_E_BACKEND : 0;
}

/* Maps the memory of a communicator; all its ranks meet, then its name can go. */
static int shared_open(struct shm_comm *comm, int number)
{
    const char *job = getenv("ALAR_JOB");
    char name[96];

    char parent[16];

    snprintf(parent, sizeof(parent), "%d", (int)getppid());
    snprintf(name, sizeof(name), "/alar-shm-%.60s-%d-%d", job != NULL ? job : parent, number,
             comm->first);
    int file = shm_open(name, O_CREAT | O_RDWR, 0600);
    if (file < 0 || ftruncate(file, sizeof(struct shm_shared)) != 0) {
        return -ALAR_E_NOMEM;
    }
    comm->shared =
        mmap(NULL, sizeof(struct shm_shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (comm->shared == MAP_FAILED) {
        return -ALAR_E_NOMEM;
    }
    atomic_store(&comm->shared->arrived[comm->member], 1);
    for (uint64_t until = shm_now_us() + 20000000; shm_now_us() < until; shm_sleep_us(100)) {
        int here = 0;

        for (int m = 0; m < comm->members; m++) {
            here += atomic_load(&comm->shared->arrived[m]) > 0;
        }
        if (here == comm->members) {
            shm_unlink(name);
            return 0;
        }
    }
    return -ALAR_E_TIMEOUT;
}

int shm_comm_create(void *context, const int32_t *ranks, int32_t count, uint64_t epoch, void **out)
{
    struct shm_rank *rank = context;
    struct shm_comm *comm = calloc(1, sizeof(*comm));
    int number = rank->comms++;

    (void)epoch;
    *out = NULL;
    if (comm == NULL) {
        return -ALAR_E_NOMEM;
    }
    while (shm_is_struck(rank, SHM_HANGS_CREATE)) {
        shm_sleep_us(1000000);
    }
    comm->rank = rank;
    comm->members = ranks != NULL ? count : rank->ranks;
    comm->member = ranks != NULL ? -1 : rank->rank;
    comm->first = ranks != NULL ? ranks[0] : 0;
    for (int i = 0; ranks != NULL && i < count; i++) {
        comm->member = ranks[i] == rank->rank ? i : comm->member;
    }
    int status = comm->member >= 0 ? shared_open(comm, number) : 0;
    if (comm->member < 0 || status != 0) {
        free(comm);
        return status;
    }
    for (int i = 0; i < SHM_COMMS; i++) {
        if (rank->comm[i] == NULL) {
            rank->comm[i] = comm;
            break;
        }
    }
    *out = shm_is_struck(rank, SHM_COMM_NULL) ? NULL : comm;
    return 0;
}

int shm_comm_free(void *comm_in)
{
    struct shm_comm *comm = comm_in;

    for (int i = 0; i < SHM_COMMS; i++) {
        if (comm->rank->comm[i] == comm) {
            comm->rank->comm[i] = NULL;
        }
    }
    munmap(comm->shared, sizeof(struct shm_shared));
    free(comm);
    return 0;
}
