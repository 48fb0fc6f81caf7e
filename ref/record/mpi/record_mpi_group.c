/* Communicators as groups with names that all their members give alike: who is in it, and the how
   many-th communicator of these members it is. MPI makes communicators collectively and in one
   order, so the number is the same everywhere; it is taken when the communicator is made, since
   ranks may come to use theirs in another order. */
#include "record_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 256
};

/* Members that have had a communicator, and how many. */
struct members {
    struct members *next;
    uint32_t *rank; /* borrowed from the first */
    uint32_t count;
    uint32_t ordinal;
    bool is_foreign;
};

static struct record_group *groups[BUCKETS];
static struct members *known[BUCKETS];

/* The world's ranks of a group, ascending and, behind them, in the group's own order. *is_foreign:
   some are not in the world. Returns NULL when out of memory. */
static uint32_t *ranks_list(MPI_Group group, uint32_t *count, bool *is_foreign)
{
    int size = 0;

    PMPI_Group_size(group, &size);
    int *own = calloc((size_t)size + 1, sizeof(*own));
    int *global = calloc((size_t)size + 1, sizeof(*global));
    uint8_t *is_in = calloc(recorder.ranks, 1);
    uint32_t *member = calloc(2 * (size_t)size + 1, sizeof(*member));

    *count = 0;
    if (own != NULL && global != NULL && is_in != NULL && member != NULL) {
        for (int k = 0; k < size; k++) {
            own[k] = k;
        }
        PMPI_Group_translate_ranks(group, size, own, recorder.world, global);
        for (int k = 0; k < size; k++) {
            *is_foreign = *is_foreign || global[k] == MPI_UNDEFINED;
            if (global[k] != MPI_UNDEFINED) {
                is_in[global[k]] = 1;
            }
        }
        for (uint32_t rank = 0; rank < recorder.ranks; rank++) {
            if (is_in[rank]) {
                member[(*count)++] = rank;
            }
        }
        for (int k = 0; k < size; k++) {
            member[*count + (uint32_t)k] = (uint32_t)global[k];
        }
    }
    free(own);
    free(global);
    free(is_in);
    return member;
}

/* The members of a communicator; two groups are nobody's business but their own. */
static uint32_t *members_list(MPI_Comm comm, uint32_t *count, bool *is_foreign)
{
    MPI_Group group = MPI_GROUP_NULL;
    int is_inter = 0;

    PMPI_Comm_test_inter(comm, &is_inter);
    PMPI_Comm_group(comm, &group);
    *is_foreign = is_inter != 0;
    uint32_t *member = ranks_list(group, count, is_foreign);
    PMPI_Group_free(&group);
    return member;
}

/* "0-3", "0,2,5", or "9 ranks 1f2e3d4c". */
static void members_name(const struct record_group *group, char *text, size_t bytes)
{
    const uint32_t *member = group->member;
    uint32_t last = member[group->members - 1];
    size_t used = 0;

    if (group->members > 1 && last - member[0] + 1 == group->members) {
        snprintf(text, bytes, "%u-%u", member[0], last);
        return;
    }
    for (uint32_t k = 0; k < group->members; k++) {
        int more = snprintf(text + used, bytes - used, "%s%u", k > 0 ? "," : "", member[k]);

        used += (size_t)more;
        if (used >= bytes) {
            snprintf(text, bytes, "%u ranks %08x", group->members,
                     (unsigned)record_hash(member, group->members * sizeof(*member)));
            return;
        }
    }
}

/* How many communicators these members had before. Out of memory they look like the first, which is
   the end soon anyway. */
static uint32_t ordinal_take(struct record_group *group)
{
    size_t bytes = group->members * sizeof(*group->member);
    struct members **bucket = &known[record_hash(group->member, bytes) % BUCKETS];
    struct members *row = *bucket;

    while (row != NULL && (row->is_foreign != group->is_foreign || row->count != group->members ||
                           memcmp(row->rank, group->member, bytes) != 0)) {
        row = row->next;
    }
    if (row == NULL) {
        row = calloc(1, sizeof(*row) + bytes);
        if (row == NULL) {
            return 0;
        }
        row->rank = memcpy(row + 1, group->member, bytes);
        row->count = group->members;
        row->is_foreign = group->is_foreign;
        row->next = *bucket;
        *bucket = row;
    }
    return row->ordinal++;
}

static void group_name(struct record_group *group, bool is_world)
{
    char members[24];
    uint32_t ordinal = ordinal_take(group);

    members_name(group, members, sizeof(members));
    if (group->is_foreign) {
        /* Its other members give it another name: it stands for this rank alone. */
        snprintf(group->name, sizeof(group->name), "rank %u beyond the world.%u", recorder.rank,
                 ordinal);
    } else if (is_world) {
        snprintf(group->name, sizeof(group->name), "world");
        group->is_declared = true;
    } else {
        snprintf(group->name, sizeof(group->name), "%s.%u", members, ordinal);
    }
}

static struct record_group *group_create(MPI_Comm comm, bool is_world)
{
    struct record_group *group = calloc(1, sizeof(*group));

    if (group == NULL) {
        return NULL;
    }
    group->member = members_list(comm, &group->members, &group->is_foreign);
    if (group->member == NULL || (group->members == 0 && !group->is_foreign)) {
        free(group->member);
        free(group);
        return NULL;
    }
    if (group->is_foreign) {
        group->member[0] = recorder.rank;
        group->members = 1;
    }
    int self = 0;
    PMPI_Comm_rank(comm, &self);
    group->order = group->member + group->members;
    group->self = group->is_foreign ? 0 : (uint32_t)self;
    group_name(group, is_world);
    return group;
}

static struct record_group **group_at(uint64_t handle)
{
    struct record_group **at = &groups[handle * UINT64_C(0x9E3779B97F4A7C15) >> 56];

    while (*at != NULL && (*at)->handle != handle) {
        at = &(*at)->next;
    }
    return at;
}

/* A handle that was in use before and never seen freed is another communicator's now. */
void record_group_attach(struct record_group *group, MPI_Comm comm)
{
    uint64_t handle = RECORD_BITS(comm);
    struct record_group **at = group_at(handle);

    group->handle = handle;
    group->next = *at != NULL ? (*at)->next : NULL;
    *at = group;
}

void record_groups_start(MPI_Comm world, MPI_Comm self)
{
    struct record_group *group = world != MPI_COMM_NULL ? group_create(world, true) : NULL;

    if (group != NULL) {
        record_group_attach(group, world);
    }
    group = self != MPI_COMM_NULL ? group_create(self, false) : NULL;
    if (group != NULL) {
        record_group_attach(group, self);
    }
}

struct record_group *record_group_of(MPI_Comm comm)
{
    return comm != MPI_COMM_NULL ? *group_at(RECORD_BITS(comm)) : NULL;
}

int record_made(int code, const MPI_Comm *comm)
{
    if (code != MPI_SUCCESS || comm == NULL || *comm == MPI_COMM_NULL) {
        return code;
    }
    record_lock();
    if (recorder.history != NULL) {
        struct record_group *group = group_create(*comm, false);

        if (group != NULL) {
            record_group_attach(group, *comm);
        }
    }
    record_unlock();
    return code;
}

struct record_group *record_group_promise(MPI_Comm comm)
{
    struct record_group *of = record_group_of(comm);
    struct record_group *group = of != NULL ? calloc(1, sizeof(*group)) : NULL;

    if (group == NULL) {
        return NULL;
    }
    group->member = of->member;
    group->order = of->order;
    group->self = of->self;
    group->members = of->members;
    group->is_foreign = of->is_foreign;
    group_name(group, false);
    return group;
}

void record_group_drop(MPI_Comm comm)
{
    record_lock();
    struct record_group **at = group_at(RECORD_BITS(comm));
    if (*at != NULL) {
        /* Operations, and copies in the making, may still point to it. */
        *at = (*at)->next;
    }
    record_unlock();
}

struct record_group *record_group_persistent(struct record_group *group)
{
    struct record_group *own = calloc(1, sizeof(*own));

    if (own == NULL) {
        return group;
    }
    *own = *group;
    own->next = NULL;
    own->issued = 0;
    own->calls = 0;
    own->is_declared = false;
    snprintf(own->name, sizeof(own->name), "%.40s persistent %llu", group->name,
             (unsigned long long)group->persistent++);
    return own;
}
