/* The monitored barrier of the MPI back end.

   MPI never reports a dead peer: a test of a pending operation says "not done" for ever. So ranks
   ask each other, by messages on a communicator of their own, which every poll of every rank
   serves, be its own operations pending or over. A rank that computes without polling for longer
   than the grace is as silent as a dead one, and is called just that.

   How a run that lost a rank ends. MPI_Finalize would hang. Under hydra's default clean-up the
   first rank that exits takes the others with it, so nobody exits before all have written their
   verdicts: each tells the others that it is LEAVING, and the lowest rank that is present waits for
   those words and calls MPI_Abort, whose code mpiexec passes on. The same holds when hydra's
   clean-up is off,

       mpiexec.mpich -disable-auto-cleanup -n 4 build/alar run ...

   which is the form for ranks that exit before their time: only then do the others live on to name
   the missing one, and mpiexec would never return without the MPI_Abort. */
#include "backend/mpi/mpi_state.h"

#include <signal.h>
#include <unistd.h>

enum {
    /* An abort kills with output still in hydra's pipes: the last verdict must have passed them. */
    LINGER_US = 200000,
    /* What the others allow the lowest rank beyond twice the grace. */
    LAST_WORD_US = 500000,
    /* An abort that works takes milliseconds. */
    ABORT_S = 2
};

static bool letter_is_free(struct alar_mpi_letter *letter)
{
    int is_sent = 1;

    return letter->request == MPI_REQUEST_NULL ||
           (MPI_Test(&letter->request, &is_sent, MPI_STATUS_IGNORE) == MPI_SUCCESS && is_sent);
}

/* False when the last letter of that kind is still under way, as it may be for ever. */
static bool letter_send(struct alar_mpi_barrier *barrier, int32_t to, enum alar_mpi_word word,
                        uint32_t round)
{
    struct alar_mpi_letter *letter = &barrier->peer[to].letter[word];

    if (!letter_is_free(letter)) {
        return false;
    }
    letter->message = (struct alar_mpi_message){(uint32_t)word, round, barrier->note};
    return MPI_Isend(&letter->message, (int)sizeof(letter->message), MPI_BYTE, to, 0, barrier->comm,
                     &letter->request) == MPI_SUCCESS;
}

static void answer(struct alar_mpi_barrier *barrier, int32_t to, uint32_t round)
{
    struct alar_mpi_peer *peer = &barrier->peer[to];
    bool is_sent = letter_send(barrier, to, ALAR_MPI_ANSWER, round);

    if (!is_sent && !peer->owes_answer) {
        barrier->owed_count++;
    } else if (is_sent && peer->owes_answer) {
        barrier->owed_count--;
    }
    peer->owes_answer = !is_sent;
    peer->owed_round = round;
}

static void message_take(struct alar_mpi_barrier *barrier, int32_t from)
{
    const struct alar_mpi_message *message = &barrier->message;
    struct alar_mpi_peer *peer = &barrier->peer[from];

    switch (message->word) {
    case ALAR_MPI_ASK:
        answer(barrier, from, message->round);
        break;
    case ALAR_MPI_ANSWER:
        /* An answer to an older call says nothing about now. */
        if (message->round == barrier->round) {
            peer->has_answered = true;
            peer->note = message->note;
        }
        break;
    case ALAR_MPI_LEAVING:
        barrier->left_count += !peer->has_left;
        peer->has_left = true;
        break;
    default:
        break;
    }
}

static int receive(struct alar_mpi_barrier *barrier)
{
    return MPI_Irecv(&barrier->message, (int)sizeof(barrier->message), MPI_BYTE, MPI_ANY_SOURCE, 0,
                     barrier->comm, &barrier->incoming);
}

int alar_mpi_barrier_poll(struct alar_mpi_barrier *barrier)
{
    for (int32_t i = 0; i < barrier->ranks; i++) {
        MPI_Status status;
        int has_arrived = 0;

        if (MPI_Test(&barrier->incoming, &has_arrived, &status) != MPI_SUCCESS || !has_arrived) {
            break;
        }
        message_take(barrier, status.MPI_SOURCE);
        if (receive(barrier) != MPI_SUCCESS) {
            return -ALAR_E_BACKEND;
        }
    }
    for (int32_t i = 0; i < barrier->ranks && barrier->owed_count > 0; i++) {
        if (barrier->peer[i].owes_answer) {
            answer(barrier, i, barrier->peer[i].owed_round);
        }
    }
    return barrier->left_count > 0 ? -ALAR_E_LOST : 0;
}

/* Sends what could not be sent yet, and returns how many are still to answer. */
static int32_t call_step(struct alar_mpi_barrier *barrier)
{
    int32_t missing = 0;

    for (int32_t i = 0; i < barrier->ranks; i++) {
        struct alar_mpi_peer *peer = &barrier->peer[i];

        if (i == barrier->rank) {
            continue;
        }
        if (!peer->is_asked) {
            peer->is_asked = letter_send(barrier, i, ALAR_MPI_ASK, barrier->round);
        }
        missing += !peer->has_answered;
    }
    return missing;
}

int alar_mpi_barrier_call(struct alar_mpi_barrier *barrier,
                          const struct alar_mpi_patience *patience, uint64_t grace_us,
                          uint8_t *presence, struct alar_note *note)
{
    struct alar_mpi_backoff backoff = {0};
    int32_t missing;

    barrier->round++;
    for (int32_t i = 0; i < barrier->ranks; i++) {
        barrier->peer[i].is_asked = barrier->peer[i].has_answered = i == barrier->rank;
        barrier->peer[i].note = i == barrier->rank ? barrier->note : (struct alar_note){0};
    }
    do {
        missing = call_step(barrier);
        alar_mpi_barrier_poll(barrier);
    } while (missing > 0 && alar_mpi_backoff_next(&backoff, patience, grace_us));
    for (int32_t i = 0; i < barrier->ranks; i++) {
        presence[i] = barrier->peer[i].has_answered ? ALAR_HERE : ALAR_SILENT;
        note[i] = barrier->peer[i].note;
    }
    return 0;
}

int alar_mpi_barrier_farewell(struct alar_mpi_barrier *barrier,
                              const struct alar_mpi_patience *patience, uint64_t timeout_us)
{
    struct alar_mpi_backoff backoff = {0};
    int is_over = 0;

    /* After a timeout the barrier stays under way, and the next farewell goes on with it. */
    if (barrier->barrier == MPI_REQUEST_NULL &&
        MPI_Ibarrier(barrier->comm, &barrier->barrier) != MPI_SUCCESS) {
        return -ALAR_E_BACKEND;
    }
    for (;;) {
        int lost = alar_mpi_barrier_poll(barrier);

        if (MPI_Test(&barrier->barrier, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return -ALAR_E_BACKEND;
        }
        if (is_over) {
            return 0;
        }
        if (lost != 0) {
            return lost;
        }
        if (!alar_mpi_backoff_next(&backoff, patience, timeout_us)) {
            return -ALAR_E_TIMEOUT;
        }
    }
}

static int exit_code;

static void abort_expired(int number)
{
    (void)number;
    _exit(exit_code);
}

/* Has everybody in `presence` but this rank said LEAVING? */
static bool all_have_left(const struct alar_mpi_barrier *barrier, const uint8_t *presence)
{
    for (int32_t i = 0; i < barrier->ranks; i++) {
        if (i != barrier->rank && presence[i] == ALAR_HERE && !barrier->peer[i].has_left) {
            return false;
        }
    }
    return true;
}

_Noreturn void alar_mpi_barrier_leave(struct alar_mpi_barrier *barrier,
                                      const struct alar_mpi_patience *patience, int code,
                                      const uint8_t *presence, uint64_t grace_us)
{
    struct alar_mpi_backoff backoff = {0};
    bool is_lowest = true;

    /* The silent are told too: one that was only slow still gets its verdict out. */
    for (int32_t i = 0; i < barrier->ranks; i++) {
        if (i != barrier->rank) {
            is_lowest = is_lowest && !(i < barrier->rank && presence[i] == ALAR_HERE);
            letter_send(barrier, i, ALAR_MPI_LEAVING, barrier->round);
        }
    }
    uint64_t limit_us = is_lowest ? grace_us : 2 * grace_us + LAST_WORD_US;
    do {
        /* Also answers those whose own deadline comes later. */
        alar_mpi_barrier_poll(barrier);
    } while (!(is_lowest && all_have_left(barrier, presence)) &&
             alar_mpi_backoff_next(&backoff, patience, limit_us));
    backoff = (struct alar_mpi_backoff){0};
    while (alar_mpi_backoff_next(&backoff, patience, LINGER_US)) {
        alar_mpi_barrier_poll(barrier);
    }
    /* The others come here only when the lowest rank did not: the job must end all the same. An
       abort waits for a launcher, which may be gone. */
    exit_code = code;
    signal(SIGALRM, abort_expired);
    alarm(ABORT_S);
    MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}

int alar_mpi_barrier_start(struct alar_mpi_barrier *barrier, MPI_Comm world, int32_t rank,
                           int32_t ranks, struct alar_mpi_peer *peer)
{
    *barrier = (struct alar_mpi_barrier){.rank = rank,
                                         .ranks = ranks,
                                         .incoming = MPI_REQUEST_NULL,
                                         .barrier = MPI_REQUEST_NULL,
                                         .peer = peer};
    for (int32_t i = 0; i < ranks; i++) {
        for (int word = 0; word < ALAR_MPI_WORD_COUNT; word++) {
            peer[i].letter[word].request = MPI_REQUEST_NULL;
        }
    }
    int code = MPI_Comm_dup(world, &barrier->comm);
    if (code != MPI_SUCCESS) {
        return code;
    }
    code = MPI_Comm_set_errhandler(barrier->comm, MPI_ERRORS_RETURN);
    code = code == MPI_SUCCESS ? receive(barrier) : code;
    if (code != MPI_SUCCESS) {
        MPI_Comm_free(&barrier->comm);
    }
    return code;
}

void alar_mpi_barrier_stop(struct alar_mpi_barrier *barrier)
{
    for (int32_t i = 0; i < barrier->ranks; i++) {
        for (int word = 0; word < ALAR_MPI_WORD_COUNT; word++) {
            struct alar_mpi_letter *letter = &barrier->peer[i].letter[word];

            if (!letter_is_free(letter)) {
                MPI_Request_free(&letter->request);
            }
        }
    }
    MPI_Cancel(&barrier->incoming);
    MPI_Wait(&barrier->incoming, MPI_STATUS_IGNORE);
    if (barrier->barrier == MPI_REQUEST_NULL) {
        MPI_Comm_free(&barrier->comm);
    }
}
