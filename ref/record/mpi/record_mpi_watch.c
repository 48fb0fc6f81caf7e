/* Looks from outside at where the program's threads stand. A thread of ours, since one that hangs
   in MPI can't say so. It takes no signal of the program's, and a few microseconds a second. */
#include "record_mpi.h"

#include "record/record_watch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_MS = 50,
    FIRST_MS = 250 /* after so long in one call a thread's place is put on record */
};

/* What was seen of a slot. */
struct seen {
    uint64_t moves;
    uint64_t since; /* nanoseconds: the first look at which it stood so */
    uint64_t next;  /* when its place goes on record next */
};

static struct alar_watch *watch; /* shared with `alar record`; NULL: nobody asks */
static struct seen seen[RECORD_SLOTS];
static bool is_told; /* the last words are on record */

static void shared_open(void)
{
    const char *path = getenv("ALAR_RECORD_WATCH");
    int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    void *memory = MAP_FAILED;

    if (file >= 0 && recorder.rank < ALAR_WATCH_RANKS) {
        memory = mmap(NULL, sizeof(struct alar_watch), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (file >= 0) {
        close(file);
    }
    if (memory != MAP_FAILED) {
        watch = memory;
        watch->ranks = recorder.ranks;
        watch->rank[recorder.rank].state = ALAR_WATCH_RUNS;
    }
}

/* Puts on record where the slot's thread stands; the history may be closed meanwhile. */
static void stand_record(const struct record_slot *slot, uint64_t since, const char *reason)
{
    record_lock();
    if (recorder.history != NULL) {
        record_write_stand(slot, since, reason);
    }
    record_unlock();
}

/* Nanoseconds for which the slot's thread has not moved; 0: it moves, or is in no call. */
static uint64_t slot_look(const struct record_slot *slot, struct seen *last, uint64_t now)
{
    if (last->moves != slot->moves || last->since == 0) {
        last->moves = slot->moves;
        last->since = now;
        last->next = now + FIRST_MS * UINT64_C(1000000);
    }
    if (slot->name == NULL) {
        return 0;
    }
    if (now >= last->next) {
        last->next = now + (now - last->since);
        stand_record(slot, last->since, NULL);
    }
    return now - last->since;
}

/* The shortest stand of all threads: the rank hangs when none of them moves. */
static uint64_t slots_look(uint64_t now)
{
    const struct record_slot *slot = NULL;
    uint64_t least = UINT64_MAX;

    for (uint32_t k = 0; (slot = record_slot_of(k)) != NULL; k++) {
        uint64_t stands = slot_look(slot, &seen[k], now);

        least = stands < least ? stands : least;
    }
    return least == UINT64_MAX ? 0 : least;
}

static void last_words(uint64_t now)
{
    static const char *const reasons[] = {
        [ALAR_WATCH_NOT] = NULL,
        [ALAR_WATCH_DEADLINE] = "no rank moved until the deadline",
        [ALAR_WATCH_SIGNAL] = "the recording was ended by a signal"};
    const struct record_slot *slot = NULL;
    uint32_t stop = watch->stop;
    const char *reason = stop <= ALAR_WATCH_SIGNAL ? reasons[stop] : NULL;

    for (uint32_t k = 0; (slot = record_slot_of(k)) != NULL; k++) {
        (void)slot_look(slot, &seen[k], now);
        stand_record(slot, seen[k].since, reason);
    }
    is_told = true;
}

static void *watch_run(void *unused)
{
    const struct timespec rest = {0, LOOK_MS * 1000000L};

    for (;;) {
        nanosleep(&rest, NULL);
        uint64_t now = record_now();
        uint64_t stands = slots_look(now);

        if (watch == NULL || watch->rank[recorder.rank].state == ALAR_WATCH_ENDED) {
            continue;
        }
        watch->rank[recorder.rank].stands_ms = stands / 1000000;
        if (watch->stop != ALAR_WATCH_NOT && !is_told) {
            last_words(now);
            watch->rank[recorder.rank].state = ALAR_WATCH_TOLD;
        }
    }
    return unused;
}

void record_watch_start(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;

    shared_open();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 128 * 1024);
    if (pthread_create(&thread, &attributes, watch_run, NULL) != 0) {
        record_say("no thread to watch with: a hang leaves no last record");
    }
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void record_watch_end(void)
{
    if (watch != NULL) {
        watch->rank[recorder.rank].state = ALAR_WATCH_ENDED;
    }
}
