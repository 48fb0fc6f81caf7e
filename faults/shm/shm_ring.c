/* The ring: contributions are published as soon as there is room, and added up as soon as all lie
   there, one piece after the other, in the order of issue. */
#include "faults/shm/shm_backend.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t shm_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000U + (uint64_t)now.tv_nsec / 1000U;
}

void shm_sleep_us(uint64_t us)
{
    const struct timespec rest = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

    nanosleep(&rest, NULL);
}

static uint64_t per_piece(const struct shm_request *request)
{
    return SHM_PIECE / alar_dtype_bytes(request->dtype);
}

static uint64_t piece_count(const struct shm_request *request, uint64_t piece)
{
    uint64_t left = request->count - piece * per_piece(request);

    return left < per_piece(request) ? left : per_piece(request);
}

/* Have all members come to `value`? */
static bool all_at(const struct shm_comm *comm, const _Atomic uint64_t *of, uint64_t value)
{
    bool is_lax = comm->rank->wrong == SHM_LAST_NOT_AWAITED && comm->members > 1;

    for (int m = 0; m < comm->members - (is_lax ? 1 : 0); m++) {
        if (atomic_load(&of[m]) < value) {
            return false;
        }
    }
    return true;
}

static void publish(struct shm_comm *comm)
{
    bool is_wrapping = comm->rank->wrong == SHM_RING_WRAPS;

    for (struct shm_request *q = comm->head; q != NULL; q = q->next) {
        while (q->published < q->pieces) {
            uint64_t at = q->first + q->published;
            struct shm_slot *slot = &comm->shared->slot[at % SHM_SLOTS];
            size_t size = alar_dtype_bytes(q->dtype);
            uint64_t count = piece_count(q, q->published);

            if (at >= SHM_SLOTS && !is_wrapping &&
                !all_at(comm, slot->consumed, at - SHM_SLOTS + 1)) {
                return;
            }
            if (count > 0) {
                memcpy(slot->data[comm->member], q->send + q->published * per_piece(q) * size,
                       count * size);
            }
            slot->count[comm->member] = count;
            slot->dtype[comm->member] = (uint32_t)q->dtype;
            atomic_store(&slot->when_us[comm->member], shm_now_us());
            atomic_store(&slot->posted[comm->member], at + 1);
            q->published++;
        }
    }
}

/* Writes one piece's sum where it belongs, or where a wrong back end puts it. */
static void result_write(struct shm_request *q, const unsigned char *sum, uint64_t count)
{
    struct shm_rank *rank = q->comm->rank;
    size_t size = alar_dtype_bytes(q->dtype);
    uint64_t at = q->taken * per_piece(q);
    bool is_turn = q->number % 7 == 3 && q->count > 0;
    uint64_t some = count;

    if (shm_is(rank, SHM_SHIFTED) && q->taken == 1 && count > 1) {
        at += 1;
        some -= 1;
    }
    if (is_turn && shm_is_struck(rank, SHM_UNWRITTEN)) {
        return;
    }
    if (is_turn && shm_is_struck(rank, SHM_OWN)) {
        memmove(q->recv, q->send, q->count * size);
        return;
    }
    some = shm_is_struck(rank, SHM_LAST_WRITTEN) && q->count <= 64 && some > 1 ? 1 : some;
    if ((shm_is_struck(rank, SHM_DONE_FIRST) || (is_turn && shm_is_struck(rank, SHM_TRANSIENT))) &&
        q->pieces == 1 && q->count > 0) {
        q->held = malloc(count * size);
        memcpy(q->held, sum, q->held != NULL ? count * size : 0);
        return;
    }
    if (some > 0) {
        memcpy(q->recv + at * size, sum, some * size);
    }
    if (is_turn && shm_is_struck(rank, SHM_ULP)) {
        q->recv[0] ^= 1;
    }
    if (some > 0 && shm_is_struck(rank, SHM_WRITES_BEFORE)) {
        q->recv[-1] = 7;
    }
    if (some > 0 && shm_is_struck(rank, SHM_WRITES_BEYOND) && q->taken + 1 == q->pieces) {
        q->recv[q->count * size] = 7;
    }
}

/* A result that lands elsewhere, too. */
static void result_misplace(struct shm_request *q)
{
    struct shm_rank *rank = q->comm->rank;
    struct shm_request *before = q->comm->before;
    size_t size = alar_dtype_bytes(q->dtype);

    if (shm_is_struck(rank, SHM_SPOILS_SEND) && q->count > 0 && q->send != q->recv) {
        ((unsigned char *)(uintptr_t)q->send)[0] ^= 1;
    }
    if (shm_is_struck(rank, SHM_IN_PLACE_TWICE) && q->send == q->recv && q->count > 0 &&
        q->reduction == ALAR_SUM) {
        q->recv[q->count * size - 1] ^= 1;
    }
    if (shm_is_struck(rank, SHM_SWAPS) && before != NULL && !before->is_told &&
        before->count == q->count && before->dtype == q->dtype &&
        before->reduction == q->reduction) {
        for (size_t i = 0; i < q->count * size; i++) {
            unsigned char kept = before->recv[i];

            before->recv[i] = q->recv[i];
            q->recv[i] = kept;
        }
    }
    if (shm_is_struck(rank, SHM_WRITES_LATE) && q->count > 0) {
        rank->late = q->recv;
    }
    if (shm_is_struck(rank, SHM_ALIASED) && before != NULL && before->count == q->count &&
        before->dtype == q->dtype) {
        memcpy(before->recv, q->recv, q->count * size);
    }
}

static void take(struct shm_comm *comm)
{
    unsigned char sum[SHM_PIECE];

    while (comm->head != NULL) {
        struct shm_request *q = comm->head;

        while (q->taken < q->published) {
            uint64_t at = q->first + q->taken;
            struct shm_slot *slot = &comm->shared->slot[at % SHM_SLOTS];
            uint64_t count = piece_count(q, q->taken);

            if (!all_at(comm, slot->posted, at + 1)) {
                return;
            }
            shm_fold(q, q->taken, count, sum);
            result_write(q, sum, count);
            atomic_store(&slot->consumed[comm->member], at + 1);
            q->taken++;
        }
        if (q->taken < q->pieces) {
            return;
        }
        result_misplace(q);
        q->is_done = true;
        comm->rank->pending--;
        comm->before = q;
        comm->head = q->next;
    }
}

void shm_drive(struct shm_comm *comm)
{
    struct shm_rank *rank = comm->rank;

    if (rank->late != NULL && rank->calls % 4 == 3) {
        ((unsigned char *)rank->late)[0] ^= 1;
        rank->late = NULL;
    }
    rank->calls++;
    publish(comm);
    take(comm);
    publish(comm);
}
