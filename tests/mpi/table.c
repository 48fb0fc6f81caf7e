/* The MPI back end through its table: build/tests/mpi/table PLUGIN [clean]. With `clean` nothing is
   left pending at the end, for MPICH can't free what it still waits with. */
#include "world.h"

#include <limits.h>
#include <math.h>

enum {
    COUNT_MOST = 1024,
    REQUESTS = 64
};

/* Small integers, so that every format and every order holds the exact value. */
static int contribution(int32_t rank, uint64_t i)
{
    return (rank + 1) * (int)(i % 5 + 1);
}

static int expected(int32_t ranks, uint64_t i, enum alar_reduction reduction)
{
    int factor = reduction == ALAR_MAX   ? ranks
                 : reduction == ALAR_MIN ? 1
                                         : ranks * (ranks + 1) / 2;

    return factor * (int)(i % 5 + 1);
}

union elements {
    float f32[COUNT_MOST];
    double f64[COUNT_MOST];
    int32_t i32[COUNT_MOST];
    int64_t i64[COUNT_MOST];
    uint8_t u8[COUNT_MOST];
};

static void element_set(union elements *elements, enum alar_dtype dtype, uint64_t i, int value)
{
    switch (dtype) {
    case ALAR_F32:
        elements->f32[i] = (float)value;
        break;
    case ALAR_F64:
        elements->f64[i] = value;
        break;
    case ALAR_I32:
        elements->i32[i] = value;
        break;
    case ALAR_I64:
        elements->i64[i] = value;
        break;
    default:
        elements->u8[i] = (uint8_t)value;
        break;
    }
}

static bool element_is(const union elements *elements, enum alar_dtype dtype, uint64_t i, int value)
{
    switch (dtype) {
    case ALAR_F32:
        return elements->f32[i] >= (float)value && elements->f32[i] <= (float)value;
    case ALAR_F64:
        return elements->f64[i] >= value && elements->f64[i] <= value;
    case ALAR_I32:
        return elements->i32[i] == value;
    case ALAR_I64:
        return elements->i64[i] == value;
    default:
        return elements->u8[i] == value;
    }
}

/* One all-reduce of `count` elements, checked to the last element. */
static void value_check(struct world *world, enum alar_dtype dtype, enum alar_reduction reduction,
                        uint64_t count, bool is_in_place, bool is_blocking)
{
    static union elements send;
    static union elements recv;
    const void *from = is_in_place ? &recv : &send;
    void *request = NULL;
    bool is_right = true;

    memset(&recv, 0, sizeof(recv));
    for (uint64_t i = 0; i < count; i++) {
        element_set(is_in_place ? &recv : &send, dtype, i, contribution(world->rank, i));
    }
    CLAIM(world, world_post(world, world->comm, from, &recv, count, dtype, reduction,
                            is_blocking ? NULL : &request) == 0);
    CLAIM(world, is_blocking || world_finish(world, request));
    for (uint64_t i = 0; i < count; i++) {
        is_right = is_right && element_is(&recv, dtype, i, expected(world->ranks, i, reduction));
    }
    CLAIM(world, is_right);
    CLAIM(world, count == COUNT_MOST || element_is(&recv, dtype, count, 0));
}

static void values_are_exact(struct world *world)
{
    const enum alar_dtype dtypes[] = {ALAR_F32, ALAR_F64, ALAR_I32, ALAR_I64, ALAR_U8};
    const enum alar_reduction reductions[] = {ALAR_SUM, ALAR_MAX, ALAR_MIN};
    const uint64_t counts[] = {0, 1, 2, 7, COUNT_MOST};

    for (int dtype = 0; dtype < 5; dtype++) {
        for (int reduction = 0; reduction < 3; reduction++) {
            for (int count = 0; count < 5; count++) {
                bool is_in_place = (dtype + reduction + count) % 2 == 1;

                value_check(world, dtypes[dtype], reductions[reduction], counts[count], is_in_place,
                            false);
                /* Each value of each loop is among these; more is slow where MPICH spins. */
                if ((dtype + reduction + count) % 3 == 0) {
                    value_check(world, dtypes[dtype], reductions[reduction], counts[count],
                                !is_in_place, true);
                }
            }
        }
    }
}

static void capabilities_are_true(struct world *world)
{
    struct alar_caps caps;

    CLAIM(world, world->backend.caps(world->context, &caps) == 0);
    CLAIM(world, caps.outstanding_max == REQUESTS);
    CLAIM(world, caps.wait_kind == ALAR_WAIT_HOST && caps.can_block && caps.is_in_place);
    for (int dtype = 0; dtype < ALAR_DTYPE_COUNT; dtype++) {
        for (int reduction = 0; reduction < ALAR_REDUCTION_COUNT; reduction++) {
            bool is_promised =
                (caps.dtypes >> dtype & 1) != 0 && (caps.reductions >> reduction & 1) != 0;
            union elements send = {.u8 = {0}};
            union elements recv = {.u8 = {0}};
            int status = world_post(world, world->comm, &send, &recv, 1, (enum alar_dtype)dtype,
                                    (enum alar_reduction)reduction, NULL);

            CLAIM(world, status == (is_promised ? 0 : -ALAR_E_UNSUPPORTED));
        }
    }
}

/* What can't be done is refused on every rank before anything is sent. */
static void misuse_is_refused(struct world *world)
{
    struct alar_op scaled = {.scale = 0.5};
    const int32_t twice[] = {0, 0};
    const int32_t outside[] = {world->ranks};
    float element = 1;
    void *comm = world;

    CLAIM(world, world->backend.allreduce(world->comm, &element, &element, 1, ALAR_F32, ALAR_SUM,
                                          NULL, &scaled, NULL) == -ALAR_E_UNSUPPORTED);
    CLAIM(world, world->backend.allreduce(world->comm, &element, &element, 1, ALAR_F32, ALAR_SUM,
                                          &element, NULL, NULL) == -ALAR_E_UNSUPPORTED);
    CLAIM(world, world_post(world, world->comm, &element, &element, UINT64_C(1) + INT_MAX, ALAR_F32,
                            ALAR_SUM, NULL) == -ALAR_E_RANGE);
    CLAIM(world, world->backend.comm_create(world->context, outside, 1, 0, &comm) == -ALAR_E_RANGE);
    CLAIM(world, world->backend.comm_create(world->context, twice, 0, 0, &comm) == -ALAR_E_RANGE);
    CLAIM(world, world->backend.comm_create(world->context, twice, 2, 0, &comm) == -ALAR_E_RANGE);
    CLAIM(world, comm == world);
}

static void groups_hold_their_ranks(struct world *world)
{
    const int32_t even[] = {0, 2, 4, 6};
    int32_t size = (world->ranks + 1) / 2;
    int32_t sum = 0;
    void *comm = world;

    CLAIM(world, world->backend.comm_create(world->context, even, size, 7, &comm) == 0);
    CLAIM(world, (comm != NULL) == (world->rank % 2 == 0));
    if (comm != NULL) {
        CLAIM(world, world_post(world, comm, &world->rank, &sum, 1, ALAR_I32, ALAR_SUM, NULL) == 0);
        CLAIM(world, sum == size * (size - 1));
        CLAIM(world, world->backend.comm_free(comm) == 0);
    }
}

/* All that the back end bears are pending at once; one more is refused; the youngest is waited for
   first, and each holds its own value. */
static void many_are_pending(struct world *world)
{
    void *request[REQUESTS] = {NULL};
    int64_t value[REQUESTS];
    int64_t more = 1;
    void *none = world;
    bool is_right = true;

    for (int i = 0; i < REQUESTS; i++) {
        value[i] = 1000 * i + world->rank;
        CLAIM(world, world_post(world, world->comm, &value[i], &value[i], 1, ALAR_I64, ALAR_SUM,
                                &request[i]) == 0);
    }
    CLAIM(world, world_post(world, world->comm, &more, &more, 1, ALAR_I64, ALAR_SUM, &none) ==
                     -ALAR_E_FULL);
    CLAIM(world, none == world && more == 1);
    for (int i = REQUESTS - 1; i >= 0; i--) {
        CLAIM(world, world_finish(world, request[i]));
        is_right = is_right &&
                   value[i] == world->ranks * (1000 * i) + world->ranks * (world->ranks - 1) / 2;
    }
    CLAIM(world, is_right);
}

/* While rank 0 has not posted, nobody is done: a wait times out, and the operation lives on. */
static void timeout_leaves_it_pending(struct world *world)
{
    int32_t value = 1;
    void *comm = NULL;
    void *request = NULL;
    int done = 1;
    int error = 1;

    CLAIM(world, world->backend.comm_create(world->context, NULL, 0, 0, &comm) == 0);
    if (world->rank != 0) {
        CLAIM(world, world_post(world, comm, &value, &value, 1, ALAR_I32, ALAR_SUM, &request) == 0);
        CLAIM(world, world->backend.wait(request, NULL, 0, &error) == -ALAR_E_TIMEOUT);
        CLAIM(world, world->backend.wait(request, NULL, 3000, &error) == -ALAR_E_TIMEOUT);
        CLAIM(world, world->backend.test(request, &done, &error) == 0 && done == 0 && error == 0);
        CLAIM(world, world->backend.request_free(request) == -ALAR_E_ILLEGAL);
    }
    world_meet(world);
    if (world->rank == 0) {
        CLAIM(world, world_post(world, comm, &value, &value, 1, ALAR_I32, ALAR_SUM, &request) == 0);
    }
    error = 1;
    CLAIM(world, world->backend.wait(request, NULL, FOREVER, &error) == 0 && error == 0);
    CLAIM(world, value == world->ranks);
    CLAIM(world, world->backend.test(request, &done, &error) == 0 && done == 1 && error == 0);
    CLAIM(world, world->backend.request_free(request) == 0);
    CLAIM(world, world->backend.comm_free(comm) == 0);
}

/* Operations outlive their communicator, and their slots come back when they end. */
static void abandoned_ones_end(struct world *world)
{
    static float elements[REQUESTS];
    float element = 1;
    void *comm = NULL;
    void *request = NULL;
    int status = -ALAR_E_FULL;

    CLAIM(world, world->backend.comm_create(world->context, NULL, 0, 0, &comm) == 0);
    for (int i = 0; i < REQUESTS; i++) {
        CLAIM(world, world_post(world, comm, &elements[i], &elements[i], 1, ALAR_F32, ALAR_SUM,
                                &request) == 0);
    }
    CLAIM(world, world->backend.comm_free(comm) == 0);
    for (int i = 0; i < 1000000 && status == -ALAR_E_FULL; i++) {
        CLAIM(world, world->backend.progress(world->context) == 0);
        status =
            world_post(world, world->comm, &element, &element, 1, ALAR_F32, ALAR_SUM, &request);
    }
    CLAIM(world, status == 0 && world_finish(world, request));
    CLAIM(world, element >= (float)world->ranks && element <= (float)world->ranks);
}

/* One that rank 0 never joins stays pending for ever, and hinders nobody, not even the end. */
static void one_never_ends(struct world *world)
{
    static float element = 1;
    void *comm = NULL;
    void *request = NULL;

    CLAIM(world, world->backend.comm_create(world->context, NULL, 0, 0, &comm) == 0);
    if (world->rank != 0) {
        CLAIM(world,
              world_post(world, comm, &element, &element, 1, ALAR_F32, ALAR_SUM, &request) == 0);
    }
    CLAIM(world, world->backend.comm_free(comm) == 0);
    CLAIM(world, world->backend.progress(world->context) == 0);
    world_meet(world);
}

static void nan_reaches_all(struct world *world)
{
    double element = world->rank == world->ranks - 1 ? (double)NAN : 1;
    void *request = NULL;

    CLAIM(world,
          world_post(world, world->comm, &element, &element, 1, ALAR_F64, ALAR_SUM, &request) == 0);
    CLAIM(world, world_finish(world, request));
    CLAIM(world, isnan(element));
}

/* Before anything is started, so that it can be tried again. */
static void config_is_checked(struct world *world)
{
    const char *const wrong[] = {"requests", "requests=0", "requests=16385", "request=4",
                                 "spins=-1", "sleep-us=",  "requests=4,,",   "requests=4 "};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        world->logged[0] = '\0';
        CLAIM(world, world_init(world, wrong[i]) == -ALAR_E_INPUT);
        CLAIM(world, strstr(world->logged, "expected") != NULL);
    }
    CLAIM(world, world->context == NULL);
}

/* The last one leaves something pending. */
static const struct claim claims[] = {
    {"values are exact, blocking or not, in place or not", values_are_exact},
    {"capabilities are true", capabilities_are_true},
    {"misuse is refused", misuse_is_refused},
    {"groups hold their ranks", groups_hold_their_ranks},
    {"as many are pending as promised, and end in any order", many_are_pending},
    {"a timeout leaves the operation pending", timeout_leaves_it_pending},
    {"operations outlive their communicator", abandoned_ones_end},
    {"one NaN reaches every rank", nan_reaches_all},
    {"one that never ends hinders nobody", one_never_ends},
};

int main(int argc, char **argv)
{
    struct world world;
    bool is_clean = argc > 2 && strcmp(argv[2], "clean") == 0;
    int code;

    if (argc < 2) {
        return ALAR_CLASS_UNUSABLE;
    }
    world_load(&world, argv[1]);
    config_is_checked(&world);
    if (world_init(&world, "requests=64,spins=8,sleep-us=20") != 0) {
        fprintf(stderr, "init: %s\n", world.logged);
        return ALAR_CLASS_UNUSABLE;
    }
    claims_run(&world, claims, (int)(sizeof(claims) / sizeof(claims[0])) - is_clean);
    code = world_stop(&world);
    /* A library that has ended can't start again. */
    CLAIM(&world, world_init(&world, "") == -ALAR_E_BACKEND);
    return code || world.failures > 0;
}
