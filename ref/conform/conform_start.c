/* A rank from init to fini, with the scenes between. */
#include "conform/conform_rank.h"

#include "numbers/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 340,
    FAREWELL_US = 5000000
};

static void rest_little(void *data)
{
    conform_rest(data, 100);
}

static bool meet(struct conform_rank *rank)
{
    return conform_meet(rank->shared, rest_little, rank);
}

/* ---- what init is given ------------------------------------------------------------------------
 */

static void boot_log(void *peers, const char *line)
{
    struct conform_rank *rank = peers;

    snprintf(rank->seat->text, CONFORM_TEXT_BYTES, "%s", line);
}

static int boot_barrier(void *peers)
{
    return meet(peers) ? 0 : -ALAR_E_LOST;
}

/* In pieces that fit a seat. */
static int boot_allgather(void *peers, const void *send, void *recv, uint64_t bytes)
{
    struct conform_rank *rank = peers;
    uint64_t piece = sizeof(rank->seat->gathered);

    for (uint64_t at = 0; at < bytes; at += piece) {
        uint64_t some = bytes - at < piece ? bytes - at : piece;

        memcpy(rank->seat->gathered, (const char *)send + at, some);
        if (!meet(rank)) {
            return -ALAR_E_LOST;
        }
        for (uint32_t r = 0; r < rank->ranks; r++) {
            memcpy((char *)recv + r * bytes + at, rank->shared->seat[r].gathered, some);
        }
        if (!meet(rank)) {
            return -ALAR_E_LOST;
        }
    }
    return 0;
}

/* ---- starting ----------------------------------------------------------------------------------
 */

static void complain(struct conform_rank *rank, enum conform_call call, int code, int64_t gave,
                     bool has_gave)
{
    conform_record(rank,
                   (struct conform_event){.kind = EVENT_ANSWER,
                                          .call = (uint8_t)call,
                                          .op = UINT32_MAX,
                                          .code = code,
                                          .has_code = true,
                                          .gave = (int32_t)gave,
                                          .has_gave = has_gave},
                   NULL, 0);
}

static bool start_init(struct conform_rank *rank, struct alar_boot *boot)
{
    boot->peers = rank;
    boot->log = boot_log;
    boot->allgather = boot_allgather;
    boot->barrier = boot_barrier;
    conform_enter(rank, CONFORM_INIT, UINT32_MAX);
    int code = rank->backend->init(&rank->context, boot);
    conform_leave(rank);
    rank->seat->tried[PROMISE_STARTS]++;
    if (rank->handlers_set != NULL) {
        rank->handlers_set();
    }
    if (code != 0 || boot->rank != (int32_t)rank->rank || boot->ranks != (int32_t)rank->ranks) {
        complain(rank, CONFORM_INIT, code,
                 boot->rank != (int32_t)rank->rank ? boot->rank : boot->ranks, code == 0);
        conform_stop(rank, code != 0 ? "init failed" : "init answers another rank or world");
        return false;
    }
    return true;
}

/* Puts something else in its place, where that is asked for. */
static bool start_wrap(struct conform_rank *rank)
{
    rank->bare = rank->backend;
    rank->bare_context = rank->context;
    return rank->wrap == NULL ||
           rank->wrap->open(rank->wrap->data, rank->rank, rank->ranks, &rank->backend,
                            &rank->context, &rank->wrapped) == ALAR_OK;
}

/* What caps says has a meaning, and what it promises can be asked for. */
static bool caps_can_be(const struct conform_rank *rank)
{
    const struct alar_caps *caps = &rank->caps;
    struct alar_tree_name tree;
    bool is_named =
        memchr(caps->tree, '\0', sizeof(caps->tree)) != NULL &&
        (caps->tree[0] == '\0' || alar_tree_name_find(caps->tree, rank->ranks, &tree) == ALAR_OK);
    bool is_host = caps->wait_kind == ALAR_WAIT_HOST ||
                   (caps->wait_kind == ALAR_WAIT_STREAM && rank->backend->stream_create != NULL);

    return caps->dtypes != 0 && caps->reductions != 0 && caps->dtypes >> ALAR_DTYPE_COUNT == 0 &&
           caps->reductions >> ALAR_REDUCTION_COUNT == 0 && is_host && is_named &&
           caps->adder < ALAR_ADDER_COUNT && caps->width <= ALAR_DTYPE_COUNT &&
           caps->avg < ALAR_AVG_COUNT && caps->nan < ALAR_NAN_COUNT;
}

static bool start_caps(struct conform_rank *rank)
{
    conform_enter(rank, CONFORM_CAPS, UINT32_MAX);
    int code = rank->backend->caps(rank->context, &rank->caps);
    conform_leave(rank);
    bool is_odd = !caps_can_be(rank);
    rank->seat->tried[PROMISE_STARTS]++;
    rank->seat->caps = rank->caps;
    if (code != 0 || is_odd) {
        complain(rank, CONFORM_CAPS, code, rank->caps.dtypes, code == 0);
        conform_stop(rank, "caps can't be");
        return false;
    }
    if (rank->rank == 0) {
        rank->shared->caps = rank->caps;
    }
    if (!meet(rank)) {
        return false;
    }
    if (memcmp(&rank->shared->caps, &rank->caps, sizeof(rank->caps)) != 0) {
        complain(rank, CONFORM_CAPS, 0, rank->caps.dtypes, true);
        conform_stop(rank, "caps differs from that of rank 0");
    }
    return meet(rank);
}

/* Every rank of the world calls for each group; those outside get none. */
static bool comm_make(struct conform_rank *rank, enum conform_group group, uint32_t of,
                      uint64_t epoch)
{
    int32_t members[CONFORM_RANKS_MAX];
    uint32_t member = UINT32_MAX;
    uint32_t count = conform_members(group, rank->ranks, of, members, &member);
    bool is_in = false;
    void *comm = NULL;

    for (uint32_t i = 0; i < count; i++) {
        is_in |= members[i] == (int32_t)rank->rank;
    }
    conform_enter(rank, CONFORM_COMM_CREATE, UINT32_MAX);
    int code = rank->backend->comm_create(rank->context, group == GROUP_WORLD ? NULL : members,
                                          group == GROUP_WORLD ? 0 : (int32_t)count, epoch, &comm);
    conform_leave(rank);
    rank->seat->tried[PROMISE_STARTS]++;
    if (code != 0 || (comm != NULL) != is_in) {
        complain(rank, CONFORM_COMM_CREATE, code, comm != NULL, code == 0);
        conform_stop(rank, code != 0 ? "comm_create failed" : "comm_create gives *comm to others");
        return false;
    }
    if (is_in) {
        rank->comm[group] = comm;
    }
    return true;
}

static bool start_comms(struct conform_rank *rank)
{
    bool is_good = comm_make(rank, GROUP_WORLD, 0, 1);

    if (rank->ranks >= 3) {
        is_good = is_good && comm_make(rank, GROUP_HALF, 0, 2) &&
                  comm_make(rank, GROUP_HALF, rank->ranks - 1, 3) &&
                  comm_make(rank, GROUP_PARITY, 0, 4) && comm_make(rank, GROUP_PARITY, 1, 5);
    }
    return is_good && meet(rank);
}

/* ---- ending ------------------------------------------------------------------------------------
 */

static int farewell_call(struct conform_rank *rank)
{
    uint64_t since = conform_now(rank);
    int code;

    do {
        code = rank->backend->farewell(rank->context, FAREWELL_US);
        if (rank->clock.is_virtual && code == -ALAR_E_TIMEOUT) {
            conform_rest(rank, 10);
        }
    } while (rank->clock.is_virtual && code == -ALAR_E_TIMEOUT &&
             conform_now(rank) - since < FAREWELL_US * UINT64_C(1000));
    return code;
}

static void end(struct conform_rank *rank)
{
    for (uint32_t group = 0; group < CONFORM_GROUPS; group++) {
        if (rank->comm[group] != NULL) {
            conform_enter(rank, CONFORM_COMM_FREE, UINT32_MAX);
            int code = rank->backend->comm_free(rank->comm[group]);
            conform_leave(rank);
            rank->seat->tried[PROMISE_ENDS]++;
            conform_check_zero(rank, CONFORM_COMM_FREE, UINT32_MAX, code);
        }
    }
    if (rank->backend->farewell != NULL) {
        conform_enter(rank, CONFORM_FAREWELL, UINT32_MAX);
        int code = farewell_call(rank);
        conform_leave(rank);
        conform_check_zero(rank, CONFORM_FAREWELL, UINT32_MAX, code);
    }
    conform_enter(rank, CONFORM_FINI, UINT32_MAX);
    int code = rank->bare->fini(rank->bare_context);
    conform_leave(rank);
    rank->seat->tried[PROMISE_ENDS]++;
    conform_check_zero(rank, CONFORM_FINI, UINT32_MAX, code);
    conform_rest(rank, 2000);
    for (uint32_t i = 0; i < rank->slots; i++) {
        if (rank->slot[i].stage == SLOT_SPENT) {
            conform_slot_review(rank, &rank->slot[i]);
        }
    }
}

static bool scenes_play(struct conform_rank *rank)
{
    bool is_whole = true;

    for (uint32_t s = 0; s < rank->shared->scenes && is_whole; s++) {
        for (uint32_t i = 0; i < rank->slots; i++) {
            rank->slot[i].stage =
                rank->slot[i].stage == SLOT_SPENT ? SLOT_FREE : rank->slot[i].stage;
        }
        rank->scene = s;
        atomic_store(&rank->seat->scene, s);
        is_whole = conform_play(rank) && meet(rank);
    }
    return is_whole;
}

static void slots_free(struct conform_rank *rank)
{
    for (uint32_t i = 0; i < rank->slots; i++) {
        conform_buffer_free(&rank->slot[i].send);
        conform_buffer_free(&rank->slot[i].recv);
        free(rank->slot[i].kept);
    }
    free(rank->slot);
}

int conform_rank_run(struct conform_rank *rank, struct alar_boot *boot)
{
    rank->slots = SLOTS;
    rank->slot = calloc(SLOTS, sizeof(*rank->slot));
    atomic_store(&rank->seat->stage, STAGE_RUNNING);
    bool is_whole = rank->slot != NULL && start_init(rank, boot) && start_wrap(rank) &&
                    start_caps(rank) && start_comms(rank) && scenes_play(rank);
    if (is_whole) {
        end(rank);
    }
    if (rank->wrapped != NULL) {
        rank->wrap->free(rank->wrapped);
    }
    atomic_store(&rank->seat->stage, is_whole ? STAGE_OVER : STAGE_STOPPED);
    if (is_whole) {
        slots_free(rank);
    }
    return is_whole ? ALAR_CLASS_GOOD : ALAR_CLASS_INCOMPLETE;
}
