/* Communicators as groups with names that all their members give alike: who is in it, and the how
   many-th communicator of these members it is. MPI makes communicators collectively and in one
   order, so the number is the same everywhere; it is taken when the communicator is made, since
   ranks may come to use theirs in another order. */
#include "record_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct record_group *groups;
static int keyval = MPI_KEYVAL_INVALID;

/* The world's ranks of a communicator's members, ascending. *is_foreign: some are not in the world,
   or there are two groups. Returns NULL when out of memory. */
static uint32_t *members_list(MPI_Comm comm, uint32_t *count, bool *is_foreign)
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    int size = 0;
    int is_inter = 0;

    PMPI_Comm_test_inter(comm, &is_inter);
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(group, &size);
    int *own = calloc((size_t)size, sizeof(*own));
    int *global = calloc((size_t)size, sizeof(*global));
    uint8_t *is_in = calloc(recorder.ranks, 1);
    uint32_t *member = calloc((size_t)size, sizeof(*member));

    *count = 0;
    *is_foreign = is_inter != 0;
    if (own != NULL && global != NULL && is_in != NULL && member != NULL) {
        for (int k = 0; k < size; k++) {
            own[k] = k;
        }
        PMPI_Group_translate_ranks(group, size, own, world, global);
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
    }
    free(own);
    free(global);
    free(is_in);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
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

static void group_name(struct record_group *group)
{
    char members[24];
    uint32_t ordinal = 0;

    for (const struct record_group *other = groups; other != NULL; other = other->next) {
        ordinal +=
            other->is_foreign == group->is_foreign && other->members == group->members &&
            memcmp(other->member, group->member, group->members * sizeof(*group->member)) == 0;
    }
    members_name(group, members, sizeof(members));
    if (group->is_foreign) {
        /* Its other members give it another name: it stands for this rank alone. */
        snprintf(group->name, sizeof(group->name), "rank %u beyond the world.%u", recorder.rank,
                 ordinal);
    } else if (ordinal == 0 && group->members == recorder.ranks) {
        snprintf(group->name, sizeof(group->name), "world");
        group->is_declared = true;
    } else {
        snprintf(group->name, sizeof(group->name), "%s.%u", members, ordinal);
    }
}

static struct record_group *group_create(MPI_Comm comm)
{
    struct record_group *group = calloc(1, sizeof(*group));

    if (group == NULL) {
        return NULL;
    }
    group->member = members_list(comm, &group->members, &group->is_foreign);
    if (group->member == NULL || group->members == 0) {
        free(group->member);
        free(group);
        return NULL;
    }
    if (group->is_foreign) {
        group->member[0] = recorder.rank;
        group->members = 1;
    }
    group_name(group);
    group->next = groups;
    groups = group;
    PMPI_Comm_set_attr(comm, keyval, group);
    return group;
}

void record_groups_start(void)
{
    /* An attribute goes with its communicator, and a copy of a communicator gets none. */
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    (void)group_create(MPI_COMM_WORLD);
    (void)group_create(MPI_COMM_SELF);
}

struct record_group *record_group_of(MPI_Comm comm)
{
    void *known = NULL;
    int is_known = 0;

    if (comm == MPI_COMM_NULL ||
        PMPI_Comm_get_attr(comm, keyval, &known, &is_known) != MPI_SUCCESS) {
        return NULL;
    }
    return is_known ? known : group_create(comm);
}

/* A communicator was made. */
static int made(int code, const MPI_Comm *comm)
{
    if (code == MPI_SUCCESS && *comm != MPI_COMM_NULL) {
        record_lock();
        if (recorder.history != NULL) {
            (void)record_group_of(*comm);
        }
        record_unlock();
    }
    return code;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made_comm)
{
    return made(PMPI_Comm_dup(comm, made_comm), made_comm);
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made_comm)
{
    return made(PMPI_Comm_dup_with_info(comm, info, made_comm), made_comm);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made_comm)
{
    return made(PMPI_Comm_create(comm, group, made_comm), made_comm);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made_comm)
{
    return made(PMPI_Comm_create_group(comm, group, tag, made_comm), made_comm);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made_comm)
{
    return made(PMPI_Comm_split(comm, color, key, made_comm), made_comm);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made_comm)
{
    return made(PMPI_Comm_split_type(comm, type, key, info, made_comm), made_comm);
}

int MPI_Cart_create(MPI_Comm comm, int dimensions, const int sizes[], const int periods[],
                    int reorder, MPI_Comm *made_comm)
{
    return made(PMPI_Cart_create(comm, dimensions, sizes, periods, reorder, made_comm), made_comm);
}

int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm *made_comm)
{
    return made(PMPI_Cart_sub(comm, remain, made_comm), made_comm);
}

int MPI_Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                     MPI_Comm *made_comm)
{
    return made(PMPI_Graph_create(comm, nodes, index, edges, reorder, made_comm), made_comm);
}

int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *made_comm)
{
    return made(PMPI_Intercomm_merge(comm, high, made_comm), made_comm);
}
