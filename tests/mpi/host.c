/* A program that uses MPI itself: build/tests/mpi/host PLUGIN. What the host started, it also ends.
 */
#include "world.h"

#include <mpi.h>

static void traffic_is_apart(struct world *world)
{
    int32_t own = 1;
    int32_t hosts = 0;
    int32_t ours = 0;
    MPI_Request host = MPI_REQUEST_NULL;
    void *request = NULL;

    /* The host's operation is the first on one rank and the second on the others. */
    if (world->rank == 0) {
        MPI_Iallreduce(&own, &hosts, 1, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD, &host);
    }
    CLAIM(world, world_post(world, world->comm, &world->rank, &ours, 1, ALAR_I32, ALAR_MAX,
                            &request) == 0);
    if (world->rank != 0) {
        MPI_Iallreduce(&own, &hosts, 1, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD, &host);
    }
    CLAIM(world, world_finish(world, request) && ours == world->ranks - 1);
    MPI_Wait(&host, MPI_STATUS_IGNORE);
    CLAIM(world, hosts == world->ranks);
}

static const struct claim claims[] = {
    {"the host's operations and ours don't meet", traffic_is_apart},
};

/* Twice, for the library goes on between. */
static int one_life(struct world *world, const char *plugin)
{
    int is_over = 1;

    world_start(world, plugin, "");
    claims_run(world, claims, 1);
    int code = world_stop(world);
    MPI_Finalized(&is_over);
    CLAIM(world, !is_over);
    return code || world->failures > 0;
}

int main(int argc, char **argv)
{
    struct world world;

    if (argc < 2) {
        return ALAR_CLASS_UNUSABLE;
    }
    MPI_Init(NULL, NULL);
    int first = one_life(&world, argv[1]);
    int second = one_life(&world, argv[1]);
    MPI_Finalize();
    return first || second;
}
