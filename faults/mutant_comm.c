/* What a mutant promises, and its communicators. */
#include "mutant_state.h"

#include <stdio.h>
#include <stdlib.h>

int mutant_caps(void *context, struct alar_caps *caps)
{
    const struct alar_mutant *mutant = context;
    int error = mutant->options.inner->caps(mutant->options.context, caps);

    /* What the inner one has no AVG for is averaged here. */
    caps->reductions |= 1U << ALAR_AVG;
    /* Some are wrong only because of a promise. */
    switch (alar_mutants[mutant->options.kind].promise) {
    case ALAR_PROMISE_NAN:
        caps->nan = ALAR_NAN_PROPAGATE;
        break;
    case ALAR_PROMISE_TWIN:
        caps->has_fixed_order = 1;
        break;
    case ALAR_PROMISE_TREE:
        snprintf(caps->tree, sizeof(caps->tree), "recursive-doubling");
        break;
    default:
        break;
    }
    return error;
}

static int comm_members(struct mutant_comm *comm, const int32_t *ranks, int32_t count)
{
    comm->members = ranks == NULL ? comm->mutant->options.ranks : (uint32_t)count;
    comm->rank = calloc(comm->members, sizeof(*comm->rank));
    if (comm->rank == NULL) {
        return -ALAR_E_NOMEM;
    }
    for (uint32_t i = 0; i < comm->members; i++) {
        comm->rank[i] = ranks == NULL ? (int32_t)i : ranks[i];
        comm->member = comm->rank[i] == (int32_t)comm->mutant->options.rank ? i : comm->member;
    }
    return 0;
}

int mutant_comm_create(void *context, const int32_t *ranks, int32_t count, uint64_t epoch,
                       void **comm)
{
    struct alar_mutant *mutant = context;
    struct mutant_comm *made = calloc(1, sizeof(*made));

    *comm = NULL;
    if (made == NULL) {
        return -ALAR_E_NOMEM;
    }
    made->mutant = mutant;
    made->ordinal = mutant->comm_count++;
    made->next = mutant->comms;
    mutant->comms = made;
    int error = comm_members(made, ranks, count);
    if (error == 0) {
        error = mutant->options.inner->comm_create(mutant->options.context, ranks, count, epoch,
                                                   &made->inner);
    }
    *comm = made->inner != NULL ? made : NULL;
    return error;
}

int mutant_comm_free(void *comm_in)
{
    struct mutant_comm *comm = comm_in;

    return comm->mutant->options.inner->comm_free(comm->inner);
}
