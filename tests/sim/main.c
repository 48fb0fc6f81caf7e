/* swarm DIR FIRST SEEDS: runs the seeds FIRST .. FIRST + SEEDS - 1, each printed with everything it
   draws before it runs. A seed that fails is run again with ever fewer of its faults while it still
   fails, and leaves DIR/seed-N: both histories, the smallest plan, the command. Exit code 0 only
   when none failed. */
#include "swarm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    FAILURES_MAX = 5 /* after which no more seeds are run */
};

static void fault_remove(struct swarm_case *drawn, size_t at)
{
    struct alar_faults *faults = &drawn->faults;

    memmove(&faults->line[at], &faults->line[at + 1],
            (faults->line_count - at - 1) * sizeof(faults->line[0]));
    faults->line_count--;
}

/* Fewer faults, then fewer repeats, as long as something is still wrong. */
static void case_shrink(struct swarm_case *drawn, const char *directory)
{
    struct swarm_outcome outcome;
    size_t at = 0;

    while (at < drawn->faults.line_count) {
        struct swarm_case smaller = *drawn;

        fault_remove(&smaller, at);
        if (swarm_run(&smaller, directory, &outcome) != NULL) {
            *drawn = smaller;
        } else {
            at++;
        }
    }
    for (size_t i = 0; i < drawn->faults.line_count; i++) {
        struct swarm_case smaller = *drawn;

        smaller.faults.line[i].repeat = 1;
        if (swarm_run(&smaller, directory, &outcome) != NULL) {
            *drawn = smaller;
        }
    }
}

static void phase_keep(const char *directory, const char *bundle, const char *phase, uint32_t ranks)
{
    char from[SWARM_PATH + 32];
    char to[SWARM_PATH + 64];

    snprintf(to, sizeof(to), "%s/%s", bundle, phase);
    mkdir(to, 0777);
    for (uint32_t r = 0; r < ranks; r++) {
        snprintf(from, sizeof(from), "%.400s/%s/rank%u.jsonl", directory, phase, r);
        snprintf(to, sizeof(to), "%s/%s/rank%u.jsonl", bundle, phase, r);
        rename(from, to);
    }
}

static void bundle_write(const struct swarm_case *drawn, const char *directory, const char *why,
                         const struct swarm_outcome *outcome)
{
    char bundle[SWARM_PATH];
    char path[SWARM_PATH + 32];

    snprintf(bundle, sizeof(bundle), "%.400s/seed-%" PRIu64, directory, drawn->seed);
    mkdir(bundle, 0777);
    phase_keep(directory, bundle, "safety", drawn->run.ranks);
    phase_keep(directory, bundle, "progress", drawn->run.ranks);
    snprintf(path, sizeof(path), "%s/case.plan", bundle);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        swarm_give_up(path, strerror(errno));
    }
    fprintf(file, "# %s: %s\n# command: %s %s %" PRIu64 " 1\n# ", why, outcome->reason,
            "build/swarm", directory, drawn->seed);
    swarm_print(drawn, file);
    swarm_print_plan(drawn, file);
    fclose(file);
    printf("FAILED seed %" PRIu64 ": %s: %s\n  shrunk to %zu faults; in %s\n", drawn->seed, why,
           outcome->reason, drawn->faults.line_count, bundle);
}

static bool seed_fails(uint64_t seed, const char *directory, uint64_t *fired)
{
    struct swarm_case drawn;
    struct swarm_outcome outcome;

    swarm_draw(seed, &drawn);
    swarm_print(&drawn, stdout);
    const char *why = swarm_run(&drawn, directory, &outcome);
    *fired += outcome.fired;
    if (why == NULL) {
        return false;
    }
    case_shrink(&drawn, directory);
    why = swarm_run(&drawn, directory, &outcome);
    bundle_write(&drawn, directory, why != NULL ? why : "not twice", &outcome);
    return true;
}

int main(int argc, char **argv)
{
    clock_t start = clock();
    uint64_t first = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t seeds = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    uint64_t failures = 0;
    uint64_t fired = 0;
    uint64_t run = 0;

    if (argc != 4 || seeds == 0) {
        swarm_give_up("usage", "swarm DIR FIRST SEEDS");
    }
    swarm_losses_write(argv[1]);
    while (run < seeds && failures < FAILURES_MAX) {
        failures += seed_fails(first + run++, argv[1], &fired);
    }
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;

    printf("\n%" PRIu64 " seeds from %" PRIu64 ", %" PRIu64 " faults fired, %" PRIu64
           " failed; %.0f seeds a minute of one core\n",
           run, first, fired, failures, (double)run / seconds * 60.0);
    return failures == 0 ? ALAR_CLASS_GOOD : ALAR_CLASS_WRONG;
}
