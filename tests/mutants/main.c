/* The score, in one table and one JSON file.

       mutants play MPICH.so DIR SEED RUNS HEALTHY    under mpiexec.mpich -n 4: leaves histories
       mutants score DIR JSON SEED RUNS HEALTHY MPICH-RUNS MPICH-HEALTHY

   RUNS are for each mutant and input, HEALTHY for each input. DIR/mpich must hold what `play` left.
   Exit code 0: every mutant killed whenever its defect showed, and nothing healthy reported. */
#include "base/rng.h"
#include "mutants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCENES_MAX = 32768
};

struct tally {
    uint32_t class[VERDICT_CLASSES];
    char sample[ALAR_ERROR_LINE_BYTES]; /* of one that was not killed */
};

struct score {
    struct tally mutant[ALAR_MUTANT_COUNT][INPUT_KINDS][PLATFORMS];
    uint32_t healthy[PLATFORMS];
    uint32_t reported[PLATFORMS]; /* of them */
    uint32_t idle_reported;       /* reported although the defect showed nowhere */
};

static const char *const input_names[] = {"losses", "hostile", "ledger"};
static const char *const platform_names[] = {"sim", "mpich"};

/* The witnesss of a platform, in one order everywhere. */
static uint32_t scenes_list(enum platform platform, uint64_t seed, uint32_t runs, uint32_t healthy,
                            struct witness *witness)
{
    uint32_t count = 0;

    for (int mutant = HEALTHY; mutant < ALAR_MUTANT_COUNT; mutant++) {
        for (int input = 0; input < INPUT_KINDS; input++) {
            enum alar_cause cause;
            bool is_idle = input == INPUT_LEDGER && !mutant_has_cause(mutant, &cause);
            uint32_t rounds = is_idle ? 0 : mutant == HEALTHY ? healthy : runs;

            for (uint32_t run = 0; run < rounds; run++) {
                if (count == SCENES_MAX) {
                    give_up("scenes", "too many");
                }
                witness[count++] =
                    witness_draw(platform, mutant, (enum input_kind)input, seed, run);
            }
        }
    }
    return count;
}

static void score_add(struct score *score, const struct witness *witness, enum verdict_class class,
                      bool is_fail, const char *reason)
{
    if (witness->mutant == HEALTHY) {
        score->healthy[witness->platform]++;
        score->reported[witness->platform] += is_fail;
    } else {
        struct tally *tally = &score->mutant[witness->mutant][witness->input][witness->platform];

        tally->class[class]++;
        score->idle_reported += class == IDLE && is_fail;
        if (class != KILLED && class != IDLE) {
            snprintf(tally->sample, sizeof(tally->sample), "%s", reason);
        }
    }
    if (is_fail && (witness->mutant == HEALTHY || class == IDLE)) {
        printf("REPORTED %s, %s, %s, %u ranks, promise %d, seed %llu: %s\n",
               witness->mutant == HEALTHY ? "healthy" : alar_mutants[witness->mutant].name,
               platform_names[witness->platform], input_names[witness->input], witness->ranks,
               witness->promise, (unsigned long long)witness->seed, reason);
    }
}

/* Keeps the history of a witness whose verdict nobody expected. */
static void history_keep(const char *directory, const struct witness *witness,
                         enum verdict_class class, bool is_fail)
{
    char kept[PATH_BYTES];
    char from[PATH_BYTES];
    char to[PATH_BYTES];

    if (class == KILLED || (class == IDLE && !is_fail)) {
        return;
    }
    snprintf(kept, sizeof(kept), "%.150s.%s.%s", directory,
             witness->mutant == HEALTHY ? "healthy" : alar_mutants[witness->mutant].name,
             input_names[witness->input]);
    directory_prepare(kept);
    for (uint32_t r = 0; r < witness->ranks; r++) {
        snprintf(from, sizeof(from), "%.220s/rank%u.jsonl", directory, r);
        snprintf(to, sizeof(to), "%.220s/rank%u.jsonl", kept, r);
        rename(from, to);
    }
}

static void score_sim(struct score *score, const struct losses *losses,
                      const struct witness *witness, uint32_t count, const char *directory)
{
    struct alar_strike strikes[ALAR_STRIKES_MAX];
    char path[PATH_BYTES];
    char reason[ALAR_ERROR_LINE_BYTES];

    snprintf(path, sizeof(path), "%.220s/sim", directory);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t struck = 0;
        bool is_fail = false;

        sim_witness(&witness[i], losses, path, strikes, &struck);
        enum verdict_class class =
            witness_judge(&witness[i], path, strikes, struck, &is_fail, reason);
        score_add(score, &witness[i], class, is_fail, reason);
        history_keep(path, &witness[i], class, is_fail);
    }
}

static void score_mpich(struct score *score, const struct witness *witness, uint32_t count,
                        const char *directory)
{
    struct alar_strike strikes[ALAR_STRIKES_MAX];
    char path[PATH_BYTES];
    char reason[ALAR_ERROR_LINE_BYTES];

    for (uint32_t i = 0; i < count; i++) {
        uint32_t struck = 0;
        bool is_fail = false;

        snprintf(path, sizeof(path), "%.220s/mpich/%u", directory, i);
        strikes_read(path, witness[i].ranks, strikes, &struck);
        enum verdict_class class =
            witness_judge(&witness[i], path, strikes, struck, &is_fail, reason);
        score_add(score, &witness[i], class, is_fail, reason);
    }
}

/* ---- figures -----------------------------------------------------------------------------------
 */

struct interval {
    double low;
    double high;
};

/* Wilson's 95 % interval of a proportion; with no hit, or nothing but hits, one side is the rule of
   three's. */
static struct interval interval_of(uint32_t hits, uint32_t trials)
{
    const double z = 1.959964;
    double n = trials;
    double p = trials == 0 ? 0.0 : hits / n;
    double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

    if (trials == 0) {
        return (struct interval){0.0, 1.0};
    }
    if (hits == 0) {
        return (struct interval){0.0, 3.0 / n < 1.0 ? 3.0 / n : 1.0};
    }
    if (hits == trials) {
        return (struct interval){3.0 / n < 1.0 ? 1.0 - 3.0 / n : 0.0, 1.0};
    }
    return (struct interval){middle - half, middle + half};
}

static uint32_t tally_struck(const struct tally *tally)
{
    return tally->class[KILLED] + tally->class[BLURRED] + tally->class[SURVIVED] +
           tally->class[UNDECIDED];
}

struct totals {
    uint32_t struck;
    uint32_t killed;
    uint32_t blurred;
    uint32_t mutants_struck; /* kinds whose defect showed, and of them those always killed */
    uint32_t mutants_killed;
    uint32_t unshown; /* kinds whose defect never showed */
    uint32_t reported;
    uint32_t healthy;
};

static struct totals totals_of(const struct score *score)
{
    struct totals totals = {.reported = score->reported[ON_SIM] + score->reported[ON_MPICH],
                            .healthy = score->healthy[ON_SIM] + score->healthy[ON_MPICH]};

    for (int m = 0; m < ALAR_MUTANT_COUNT; m++) {
        uint32_t struck = 0;
        uint32_t killed = 0;

        for (int i = 0; i < INPUT_KINDS * PLATFORMS; i++) {
            const struct tally *tally = &score->mutant[m][i / PLATFORMS][i % PLATFORMS];

            struck += tally_struck(tally);
            killed += tally->class[KILLED];
            totals.blurred += tally->class[BLURRED];
        }
        totals.struck += struck;
        totals.killed += killed;
        totals.mutants_struck += struck > 0;
        totals.mutants_killed += struck > 0 && struck == killed;
        totals.unshown += struck == 0;
    }
    return totals;
}

static void print_rate(const char *name, uint32_t hits, uint32_t trials, const char *what)
{
    struct interval interval = interval_of(hits, trials);

    printf("%-20s %7.3f %%   95 %% within [%.3f, %.3f] %%   %u of %u %s\n", name,
           trials == 0 ? 0.0 : 100.0 * hits / trials, 100.0 * interval.low, 100.0 * interval.high,
           hits, trials, what);
}

static void print_table(const struct score *score)
{
    printf("\nkilled / shown, and runs in which the defect showed nowhere (idle)\n");
    printf("%-16s %-17s", "mutant", "expected");
    for (int i = 0; i < INPUT_KINDS * PLATFORMS; i++) {
        printf(" %7s %-5s", input_names[i / PLATFORMS], platform_names[i % PLATFORMS]);
    }
    printf(" %5s  recall, 95 %%\n", "idle");
    for (int m = 0; m < ALAR_MUTANT_COUNT; m++) {
        uint32_t struck = 0;
        uint32_t killed = 0;
        uint32_t idle = 0;

        printf("%-16s %-17s", alar_mutants[m].name, alar_anomaly_name(alar_mutants[m].anomaly));
        for (int i = 0; i < INPUT_KINDS * PLATFORMS; i++) {
            const struct tally *tally = &score->mutant[m][i / PLATFORMS][i % PLATFORMS];

            printf(" %6u /%5u", tally->class[KILLED], tally_struck(tally));
            struck += tally_struck(tally);
            killed += tally->class[KILLED];
            idle += tally->class[IDLE];
        }
        struct interval interval = interval_of(killed, struck);
        printf(" %5u  %.3f [%.3f, %.3f]\n", idle, struck ? (double)killed / struck : 0.0,
               interval.low, interval.high);
    }
}

static void print_survivors(const struct score *score)
{
    for (int m = 0; m < ALAR_MUTANT_COUNT; m++) {
        for (int i = 0; i < INPUT_KINDS * PLATFORMS; i++) {
            const struct tally *tally = &score->mutant[m][i / PLATFORMS][i % PLATFORMS];

            if (tally->sample[0] != '\0') {
                printf("not killed: %s, %s, %s: %u another reason, %u passed, %u undecided; one: "
                       "%s\n",
                       alar_mutants[m].name, input_names[i / PLATFORMS],
                       platform_names[i % PLATFORMS], tally->class[BLURRED],
                       tally -> class[SURVIVED], tally -> class[UNDECIDED], tally -> sample);
            }
        }
    }
}

static void json_rate(FILE *file, const char *name, uint32_t hits, uint32_t trials)
{
    struct interval interval = interval_of(hits, trials);

    fprintf(file, "\"%s\":{\"hits\":%u,\"trials\":%u,\"low\":%.6f,\"high\":%.6f}", name, hits,
            trials, interval.low, interval.high);
}

static void json_write(const struct score *score, const struct totals *totals, uint64_t seed,
                       const char *path)
{
    FILE *file = fopen(path, "w");

    if (file == NULL) {
        give_up(path, "it can't be written");
    }
    fprintf(file, "{\"seed\":%llu,", (unsigned long long)seed);
    json_rate(file, "recall", totals->killed, totals->struck);
    fputc(',', file);
    json_rate(file, "precision", totals->killed,
              totals->killed + totals->blurred + totals->reported);
    fputc(',', file);
    json_rate(file, "false_positive", totals->reported, totals->healthy);
    fprintf(file, ",\"mutants\":[");
    for (int m = 0; m < ALAR_MUTANT_COUNT; m++) {
        fprintf(file, "%s{\"name\":\"%s\",\"anomaly\":\"%s\"", m ? "," : "", alar_mutants[m].name,
                alar_anomaly_name(alar_mutants[m].anomaly));
        for (int i = 0; i < INPUT_KINDS * PLATFORMS; i++) {
            const struct tally *tally = &score->mutant[m][i / PLATFORMS][i % PLATFORMS];

            fprintf(file,
                    ",\"%s_%s\":{\"killed\":%u,\"other_reason\":%u,\"survived\":%u,\"unknown\":%u,"
                    "\"idle\":%u}",
                    input_names[i / PLATFORMS], platform_names[i % PLATFORMS], tally->class[KILLED],
                    tally -> class[BLURRED], tally -> class[SURVIVED], tally -> class[UNDECIDED],
                    tally -> class[IDLE]);
        }
        fputc('}', file);
    }
    fprintf(file, "]}\n");
    fclose(file);
}

static int score_tell(const struct score *score, uint64_t seed, const char *json)
{
    const struct totals totals = totals_of(score);

    print_table(score);
    print_survivors(score);
    printf("\nseed %llu; %d mutants, of which %u showed and %u were killed whenever they did\n",
           (unsigned long long)seed, ALAR_MUTANT_COUNT, totals.mutants_struck,
           totals.mutants_killed);
    print_rate("recall", totals.killed, totals.struck, "runs with a defect, killed");
    print_rate("precision", totals.killed, totals.killed + totals.blurred + totals.reported,
               "reports with the right reason and culprit");
    print_rate("false positives", totals.reported, totals.healthy, "healthy runs reported");
    json_write(score, &totals, seed, json);
    return totals.killed == totals.struck && totals.reported == 0 && totals.unshown == 0 &&
                   score->idle_reported == 0
               ? ALAR_CLASS_GOOD
               : ALAR_CLASS_WRONG;
}

static uint32_t number(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

static int play(char **argv, struct witness *witness, const struct losses *losses)
{
    uint32_t count = scenes_list(ON_MPICH, strtoull(argv[4], NULL, 10), number(argv[5]),
                                 number(argv[6]), witness);

    return mpich_witnesss(witness, count, losses, argv[2], argv[3]);
}

static int score_all(char **argv, struct witness *witness, const struct losses *losses)
{
    static struct score score;
    uint64_t seed = strtoull(argv[4], NULL, 10);
    uint32_t count = scenes_list(ON_SIM, seed, number(argv[5]), number(argv[6]), witness);

    score_sim(&score, losses, witness, count, argv[2]);
    count = scenes_list(ON_MPICH, seed, number(argv[7]), number(argv[8]), witness);
    score_mpich(&score, witness, count, argv[2]);
    return score_tell(&score, seed, argv[3]);
}

int main(int argc, char **argv)
{
    static struct witness witness[SCENES_MAX];
    struct losses losses;
    bool is_play = argc == 7 && strcmp(argv[1], "play") == 0;
    bool is_score = argc == 9 && strcmp(argv[1], "score") == 0;

    if (!is_play && !is_score) {
        give_up("usage", "play MPICH.so DIR SEED RUNS HEALTHY | score DIR JSON SEED RUNS HEALTHY "
                         "MPICH-RUNS MPICH-HEALTHY");
    }
    losses_open(&losses);
    int code = is_play ? play(argv, witness, &losses) : score_all(argv, witness, &losses);
    losses_close(&losses);
    return code;
}
