/* Who reduces with whom: the communicators of a run whose world has context parallel ranks or
   pipeline stages. Every rank makes all of them, in one order, and keeps its own. */
#include "base/check.h"
#include "run/run_state.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    EPOCH_FIRST = 100, /* of the first pass's groups */
    EPOCH_TWIN = 100000
};

enum group_kind {
    GROUP_LOG,      /* the data parallel ranks of one context parallel rank, in the last stage */
    GROUP_SHARING,  /* the context parallel ranks of one data parallel rank, there too */
    GROUP_GRADIENT, /* all ranks of one stage */
    GROUP_KINDS
};

/* How many groups of the kind this pass has. */
static uint32_t group_count(const struct run *run, enum group_kind kind)
{
    const struct alar_topology *topology = &run->topology;

    switch (kind) {
    case GROUP_LOG:
        return topology->cp;
    case GROUP_SHARING:
        return topology->cp > 1 && !run->options->is_replicated ? topology->dp : 0;
    default:
        return run->options->pace.grad_bytes > 0 && !run->is_twin ? topology->pp : 0;
    }
}

/* The members of the `index`-th group, ascending; returns how many. */
static int32_t group_members(const struct run *run, enum group_kind kind, uint32_t index,
                             int32_t *members)
{
    const struct alar_topology *topology = &run->topology;
    int32_t count = 0;

    for (uint32_t rank = 0; rank < run->ranks; rank++) {
        struct alar_coordinates coordinates = alar_topology_coordinates(topology, rank);
        bool is_last = coordinates.pp == topology->pp - 1;
        bool is_in = kind == GROUP_LOG       ? is_last && coordinates.cp == index
                     : kind == GROUP_SHARING ? is_last && coordinates.dp == index
                                             : coordinates.pp == index;

        if (is_in) {
            members[count++] = (int32_t)rank;
        }
    }
    return count;
}

static void **group_place(struct run_groups *groups, enum group_kind kind)
{
    return kind == GROUP_LOG       ? &groups->log
           : kind == GROUP_SHARING ? &groups->sharing
                                   : &groups->gradient;
}

enum alar_status run_groups_open(const struct run *run, const struct alar_backend *backend,
                                 void *context, struct run_groups *groups)
{
    uint64_t epoch = EPOCH_FIRST + (run->is_twin ? EPOCH_TWIN : 0);
    int32_t *members = calloc(run->ranks, sizeof(*members));
    enum alar_status status = members == NULL ? ALAR_E_NOMEM : ALAR_OK;

    *groups = (struct run_groups){.backend = backend};
    for (int kind = 0; kind < GROUP_KINDS && !alar_topology_is_flat(&run->topology); kind++) {
        uint32_t count = group_count(run, (enum group_kind)kind);

        for (uint32_t i = 0; i < count && status == ALAR_OK; i++) {
            int32_t size = group_members(run, (enum group_kind)kind, i, members);
            void *comm = NULL;

            status = alar_comm_status(backend->comm_create(context, members, size, epoch++, &comm));
            if (comm != NULL) {
                *group_place(groups, (enum group_kind)kind) = comm;
            }
        }
    }
    free(members);
    return status;
}

void run_groups_free(struct run_groups *groups)
{
    for (int kind = 0; kind < GROUP_KINDS; kind++) {
        void **place = group_place(groups, (enum group_kind)kind);

        if (*place != NULL) {
            groups->backend->comm_free(*place);
            *place = NULL;
        }
    }
}

void run_coordinates_driver(const struct run *run, struct run_rank *rank,
                            struct alar_driver_options *driver)
{
    struct alar_coordinates coordinates = alar_topology_coordinates(&run->topology, rank->rank);

    driver->place.rank = rank->rank;
    if (alar_topology_is_flat(&run->topology)) {
        return;
    }
    driver->place.rank = coordinates.dp;
    driver->comm = rank->groups.log;
    driver->is_spectator = !alar_topology_is_last(&run->topology, rank->rank);
    driver->place.first_rank = rank->rank - coordinates.dp * run->topology.cp;
    driver->place.cp_rank = coordinates.cp;
    driver->place.ranks = run->topology.dp;
    driver->place.cp = run->topology.cp;
    driver->group = rank->group;
}

struct alar_sharing run_coordinates_sharing(const struct run *run, const struct run_rank *rank)
{
    struct alar_coordinates coordinates = alar_topology_coordinates(&run->topology, rank->rank);
    const struct alar_embed_place place = {.ranks = run->topology.cp};
    struct alar_config config = run->config;
    struct alar_embed_plan plan;

    /* Sums and tokens of one microbatch, whatever is made of them later. */
    config.normalization = ALAR_TOKEN_WEIGHTED;
    config.placement = ALAR_PLACEMENT_MICROBATCH;
    config.microbatches = 1;
    config.check = ALAR_CHECK_COUNT;
    enum alar_status status = alar_embed_plan(&plan, &config, &place);
    POST(status == ALAR_OK);
    return (struct alar_sharing){
        .comm = rank->groups.sharing,
        .layout = plan.layout,
        .rank = coordinates.cp,
        .first_rank = rank->rank - coordinates.cp,
        .group = rank->sharing_group,
    };
}

static void declare(const struct run *run, struct run_rank *rank, enum group_kind kind,
                    uint32_t index, const char *group)
{
    int32_t *members = calloc(run->ranks, sizeof(*members));

    if (members != NULL) {
        const struct alar_history_declare record = {
            .group = group,
            .count = (size_t)group_members(run, kind, index, members),
            .members = (const uint32_t *)members,
            .key = kind == GROUP_SHARING ? "lm loss" : NULL,
            .scope = kind == GROUP_SHARING ? "replicated" : NULL,
        };
        alar_history_declare(rank->history, 0, &record);
    }
    free(members);
}

void run_groups_declare(const struct run *run, struct run_rank *rank)
{
    struct alar_coordinates coordinates = alar_topology_coordinates(&run->topology, rank->rank);

    if (alar_topology_is_flat(&run->topology) || coordinates.pp != run->topology.pp - 1) {
        return;
    }
    declare(run, rank, GROUP_LOG, coordinates.cp, rank->group);
    if (run->topology.cp > 1) {
        declare(run, rank, GROUP_SHARING, coordinates.dp, rank->sharing_group);
    }
}

/* What is not said is 1; the data parallel ranks are what is left. */
static bool topology_complete(struct run *run)
{
    struct alar_topology *topology = &run->topology;

    *topology = run->options->topology;
    topology->pp = topology->pp > 0 ? topology->pp : 1;
    topology->cp = topology->cp > 0 ? topology->cp : 1;
    if (run->is_simulated && run->options->ranks == 0) {
        uint32_t each = run->options->is_replicated ? 1 : topology->cp;

        topology->dp = topology->dp > 0 ? topology->dp : run->dataset.ranks / each;
        run->ranks = (uint32_t)alar_topology_ranks(topology);
    }
    topology->dp = topology->dp > 0 ? topology->dp : run->ranks / topology->cp / topology->pp;
    return run->ranks > 0 && alar_topology_ranks(topology) == run->ranks &&
           topology->cp <= ALAR_TOPOLOGY_CP_MAX;
}

enum alar_status run_topology_open(struct run *run, char *error_line)
{
    const struct alar_topology *topology = &run->topology;

    if (!topology_complete(run)) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "expected ranks = pp x dp x cp, found %u ranks and %u x %u x %u", run->ranks,
                 topology->pp, topology->dp, topology->cp);
        return ALAR_E_INPUT;
    }
    run->reporter = run->ranks - topology->dp * topology->cp;
    return ALAR_OK;
}

uint32_t run_losses_rank(const struct run *run, uint32_t rank)
{
    struct alar_coordinates coordinates = alar_topology_coordinates(&run->topology, rank);

    return run->options->is_replicated ? coordinates.dp
                                       : coordinates.dp * run->topology.cp + coordinates.cp;
}

const struct run_rank *run_reporter(const struct run *run)
{
    uint32_t index = run->reporter - run->rank[0].rank;

    return index < run->rank_count ? &run->rank[index] : NULL;
}
