/* Ranks that are gone, mute, late or in trouble:

     build/tests/mpi/rollcall PLUGIN CASE RANK DEADLINE_MS GRACE_MS

   What happens to rank RANK is the CASE. Every other rank prints "posted SECONDS" when its deadline
   starts, one line "verdict rank R: ..." and then leaves; only `present` and `late` end in order.
 */
#include "world.h"

#include <sched.h>
#include <time.h>

enum {
    EXIT_LOST = 2,
    RANKS_MOST = 8,
    MISFORTUNE_CODE = 3
};

struct story {
    struct world world;
    int32_t who; /* whose misfortune it is */
    uint64_t deadline_us;
    uint64_t grace_us;
    uint8_t presence[RANKS_MOST];
    struct alar_note note[RANKS_MOST];
    float element[2];
};

struct episode {
    const char *name;
    void (*fate)(struct story *story);  /* of rank `who` */
    void (*other)(struct story *story); /* of everybody else */
};

/* In one write, so that the end of the job can't cut it. */
static void say(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0) {
        _exit(4);
    }
}

static void say_posted(void)
{
    struct timespec now;
    char line[64];

    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(line, sizeof(line), "posted %lld.%06ld\n", (long long)now.tv_sec, now.tv_nsec / 1000);
    say(line);
}

static void *post(struct story *story, int i)
{
    struct world *world = &story->world;
    void *request = NULL;

    story->element[i] = 1;
    CLAIM(world, world_post(world, world->comm, &story->element[i], &story->element[i], 1, ALAR_F32,
                            ALAR_SUM, &request) == 0);
    return request;
}

static void note(struct story *story, int32_t status, uint32_t step)
{
    struct alar_note own = {status, step, (uint32_t)story->world.rank, step + 1};

    CLAIM(&story->world, story->world.backend.note_set(story->world.context, &own) == 0);
}

static void call(struct story *story)
{
    struct world *world = &story->world;

    memset(story->presence, 7, sizeof(story->presence));
    CLAIM(world, world->backend.roll_call(world->context, story->grace_us, story->presence,
                                          story->note) == 0);
    CLAIM(world, story->presence[world->rank] == ALAR_HERE);
}

/* Writes who is silent and who is in trouble, and leaves. */
static void leave(struct story *story, const char *why)
{
    struct world *world = &story->world;
    char line[256];
    int length = snprintf(line, sizeof(line), "verdict rank %d: %s", world->rank, why);

    for (int32_t i = 0; i < world->ranks; i++) {
        size_t used = (size_t)length;

        if (story->presence[i] != ALAR_HERE) {
            length += snprintf(line + used, sizeof(line) - used, ", rank %d is silent", i);
        } else if (story->note[i].status != 0) {
            length += snprintf(line + used, sizeof(line) - used, ", rank %d has %s at step %u", i,
                               alar_status_name((enum alar_status)story->note[i].status),
                               story->note[i].step);
        }
    }
    snprintf(line + length, sizeof(line) - (size_t)length, "\n");
    say(line);
    world->backend.leave(world->context, world->failures > 0 ? 1 : EXIT_LOST, story->presence,
                         story->grace_us);
}

/* Two all-reduces one after the other, as a training loop would; the second is only reached by
   ranks whose first one was completed without the missing rank's help. */
static void survive(struct story *story)
{
    struct world *world = &story->world;

    note(story, 0, 5);
    for (int i = 0; i < 2; i++) {
        void *request = post(story, i);
        int error = 1;

        say_posted();
        int status = world->backend.wait(request, NULL, story->deadline_us, &error);
        if (status != 0) {
            call(story);
            leave(story, status == -ALAR_E_TIMEOUT ? "deadline" : "another rank left");
        }
        CLAIM(world, error == 0 && story->element[i] >= (float)world->ranks);
    }
    bool is_a_rank_missing = false;
    CLAIM(world, is_a_rank_missing);
}

static void be_mute(struct story *story)
{
    (void)story;
    for (;;) {
        pause();
    }
}

static void be_gone(struct story *story)
{
    (void)story;
    _exit(MISFORTUNE_CODE);
}

static void post_then_be_mute(struct story *story)
{
    post(story, 0);
    be_mute(story);
}

static void post_then_be_gone(struct story *story)
{
    post(story, 0);
    _exit(MISFORTUNE_CODE);
}

/* It knows its trouble at once, says so, stays, and leaves when the others do. */
static void raise_and_stay(struct story *story)
{
    struct world *world = &story->world;

    note(story, ALAR_E_NONFINITE, 4);
    while (world->backend.progress(world->context) == 0) {
        sched_yield();
    }
    call(story);
    leave(story, "raised");
}

/* The last rank is mute, and this one's deadline comes long after the others': it goes with them.
 */
static void wait_for_long(struct story *story)
{
    story->deadline_us = SECONDS(30);
    survive(story);
}

static void survive_or_be_mute(struct story *story)
{
    (story->world.rank == story->world.ranks - 1 ? be_mute : survive)(story);
}

/* Everybody answers everybody, however often. */
static void all_answer(struct story *story)
{
    struct world *world = &story->world;

    for (uint32_t round = 0; round < 20; round++) {
        note(story, 0, round);
        world_meet(world);
        call(story);
        for (int32_t i = 0; i < world->ranks; i++) {
            CLAIM(world, story->presence[i] == ALAR_HERE);
            CLAIM(world, story->note[i].microbatch == (uint32_t)i);
            CLAIM(world, story->note[i].step == round && story->note[i].posted == round + 1);
        }
        world_meet(world);
    }
}

/* Present, but with nothing posted while the others' deadlines pass. */
static void be_late(struct story *story)
{
    struct world *world = &story->world;
    int32_t others = 0;
    int done = 0;
    int error = 0;
    void *comm = NULL;
    void *request = NULL;

    note(story, 0, 3);
    CLAIM(world, world->backend.comm_create(world->context, NULL, 0, 0, &comm) == 0);
    CLAIM(world, world_post(world, comm, &others, &others, 1, ALAR_I32, ALAR_SUM, &request) == 0);
    while (!done && world->failures == 0) {
        CLAIM(world, world->backend.test(request, &done, &error) == 0);
        CLAIM(world, world->backend.progress(world->context) == 0);
    }
    CLAIM(world, others == world->ranks - 1);
    CLAIM(world, world->backend.request_free(request) == 0);
    CLAIM(world, world_finish(world, post(story, 0)));
    CLAIM(world, world->backend.comm_free(comm) == 0);
}

static void bear_with_it(struct story *story)
{
    struct world *world = &story->world;
    int32_t one = 1;
    int error = 0;
    void *comm = NULL;
    void *told = NULL;

    CLAIM(world, world->backend.comm_create(world->context, NULL, 0, 0, &comm) == 0);
    void *request = post(story, 0);
    CLAIM(world, world->backend.wait(request, NULL, story->deadline_us, &error) == -ALAR_E_TIMEOUT);
    call(story);
    CLAIM(world, story->presence[story->who] == ALAR_HERE && story->note[story->who].step == 3);
    CLAIM(world, world_post(world, comm, &one, &one, 1, ALAR_I32, ALAR_SUM, &told) == 0);
    CLAIM(world, world_finish(world, told));
    CLAIM(world, world_finish(world, request));
    CLAIM(world, world->backend.comm_free(comm) == 0);
}

static const struct episode episodes[] = {
    {"present", all_answer, all_answer},
    {"late", be_late, bear_with_it},
    {"mute", be_mute, survive},
    {"gone", be_gone, survive},
    {"posted-mute", post_then_be_mute, survive},
    {"posted-gone", post_then_be_gone, survive},
    {"raised", raise_and_stay, survive},
    {"patient", wait_for_long, survive_or_be_mute},
};

int main(int argc, char **argv)
{
    struct story story = {0};

    if (argc < 6) {
        return ALAR_CLASS_UNUSABLE;
    }
    story.who = (int32_t)strtol(argv[3], NULL, 10);
    story.deadline_us = 1000 * strtoull(argv[4], NULL, 10);
    story.grace_us = 1000 * strtoull(argv[5], NULL, 10);
    world_start(&story.world, argv[1], "");
    world_meet(&story.world);
    for (size_t i = 0; i < sizeof(episodes) / sizeof(episodes[0]); i++) {
        if (strcmp(episodes[i].name, argv[2]) == 0) {
            (story.world.rank == story.who ? episodes[i].fate : episodes[i].other)(&story);
            return world_stop(&story.world);
        }
    }
    return ALAR_CLASS_UNUSABLE;
}
