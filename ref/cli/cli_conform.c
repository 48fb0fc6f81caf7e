/* `alar conform`: tries every promise of a back end and prints must, should, note. */
#include "cli/cli_conform.h"
#include "cli/cli.h"
#include "conform/conform.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct typed {
    struct alar_conform_options options;
    const char *ranks, *rank_of, *mutant, *json, *junit;
    uint64_t seconds, scene;
    bool as_tap, wants_skeleton;
};

/* "4" or "1:9". */
static bool ranks_read(const char *text, struct alar_conform_options *options)
{
    unsigned least = 0, most = 0;
    char rest = 0;

    if (sscanf(text, "%u:%u%c", &least, &most, &rest) != 2) {
        if (sscanf(text, "%u%c", &least, &rest) != 1) {
            return false;
        }
        most = least;
    }
    options->ranks_least = least;
    options->ranks_most = most;
    return least >= 1 && least <= most && most <= 64;
}

static void tell_progress(void *data, uint32_t ranks, uint32_t scene, uint32_t scenes)
{
    alar_cli_progress_say(data, "%u ranks: scene %u of %u", ranks, scene + 1, scenes);
}

static const char examples[] =
    "  alar conform ./mine.so                  worlds of 1 to 9 ranks, about 10 s\n"
    "  alar conform ./mine.so --ranks 4 --full all scenes, on four ranks\n"
    "  alar conform mpi:openmpi --full         any MPI library there is a plug-in for\n"
    "  mpiexec.mpich -n 4 alar conform ./mine.so --launched\n"
    "  alar conform --skeleton > mine.c        a back end to start from\n";

static int conform_parse(struct typed *typed, int argc, char **argv, int *operands)
{
    const struct alar_option options[] = {
        {"ranks", ALAR_OPTION_TEXT, &typed->ranks, "N|A:B",
         "size of the world, or from A to B [1:9]", NULL, 0, 0},
        {"full", ALAR_OPTION_FLAG, &typed->options.is_full, NULL,
         "every combination and size, up to 10^6 elements", NULL, 0, 0},
        {"seed", ALAR_OPTION_NUMBER, &typed->options.seed, "N", "of all that is drawn [1]", NULL, 0,
         UINT64_MAX},
        {"launched", ALAR_OPTION_FLAG, &typed->options.is_launched, NULL,
         "be one of the ranks that a launcher started, on one machine", NULL, 0, 0},
        {"scene", ALAR_OPTION_NUMBER, &typed->scene, "N",
         "this scene alone, as a failure's command says", NULL, 0, 100000},
        {"config", ALAR_OPTION_TEXT, &typed->options.config, "TEXT",
         "key=value,... for the back end's init", NULL, 0, 0},
        {"output", ALAR_OPTION_TEXT, &typed->options.directory, "DIR",
         "where the history of a failure is left [conform-failures]", NULL, 0, 0},
        {"seconds", ALAR_OPTION_NUMBER, &typed->seconds, "N", "at most, for all [60; full: 300]",
         NULL, 1, 86400},
        {"json", ALAR_OPTION_TEXT, &typed->json, "FILE", "the table as JSON", NULL, 0, 0},
        {"junit", ALAR_OPTION_TEXT, &typed->junit, "FILE", "the table as JUnit XML", NULL, 0, 0},
        {"tap", ALAR_OPTION_FLAG, &typed->as_tap, NULL,
         "the table as TAP, in place of the usual one", NULL, 0, 0},
        {"skeleton", ALAR_OPTION_FLAG, &typed->wants_skeleton, NULL,
         "print a back end to start from", NULL, 0, 0},
        {"mutant", ALAR_OPTION_TEXT, &typed->mutant, "NAME",
         "break the back end on purpose, see faults/mutants.def", NULL, 0, 0},
        {"rank-of", ALAR_OPTION_TEXT, &typed->rank_of, "FILE",
         "be one rank of a run; alar conform starts them so", NULL, 0, 0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {"conform", "try every promise of a back end", "BACKEND",
                                         options, examples};

    return alar_cli_options(&command, argc, argv, operands);
}

static int conform_run(struct typed *typed)
{
    static struct alar_conform_result result;
    struct alar_cli_progress progress = {0};
    char error_line[ALAR_ERROR_LINE_BYTES] = "";
    char *words[] = {(char *)"--mutant", (char *)typed->mutant, NULL};

    typed->options.limit_us = (typed->seconds > 0       ? typed->seconds
                               : typed->options.is_full ? 300
                                                        : 60) *
                              1000000;
    typed->options.progress = tell_progress;
    typed->options.data = &progress;
    typed->options.rank_argv = typed->mutant != NULL ? words : NULL;
    enum alar_status status = alar_conform(&typed->options, &result, error_line);
    alar_cli_progress_end(&progress);
    if (status == ALAR_OK && result.is_follower) {
        return result.code;
    }
    if (status != ALAR_OK) {
        alar_cli_complain("conform", error_line);
        return status == ALAR_E_ILLEGAL ? ALAR_CLASS_DEFECT : (int)alar_status_class(status);
    }
    const struct alar_cli_conform_view view = {&typed->options, &result, typed->mutant};

    if (typed->as_tap) {
        alar_cli_conform_tap(&view);
    } else {
        alar_cli_conform_table(&view);
    }
    bool is_written = (typed->json == NULL || alar_cli_conform_json(&view, typed->json)) &&
                      (typed->junit == NULL || alar_cli_conform_junit(&view, typed->junit));
    if (!is_written) {
        return alar_cli_complain("conform", "expected to write the table to a file");
    }
    return (int)alar_conform_class(&result);
}

int alar_cli_conform(int argc, char **argv)
{
    struct typed typed = {.options = {.config = "", .directory = "conform-failures", .seed = 1},
                          .ranks = "1:9",
                          .scene = UINT64_MAX};
    struct alar_cli_conform_mutant mutant = {0};
    char error_line[ALAR_ERROR_LINE_BYTES];
    int operands = 0;
    int code = conform_parse(&typed, argc, argv, &operands);

    if (code >= 0) {
        return code;
    }
    if (typed.wants_skeleton) {
        for (size_t k = 0; alar_conform_skeleton[k] != NULL; k++) {
            puts(alar_conform_skeleton[k]);
        }
        return ALAR_CLASS_GOOD;
    }
    if (operands != 1) {
        return alar_cli_complain("conform",
                                 "expected one back end: a path with a slash, sim or mpi");
    }
    typed.options.backend = argv[1];
    typed.options.scene = typed.scene == UINT64_MAX ? -1 : (int64_t)typed.scene;
    if (!ranks_read(typed.ranks, &typed.options)) {
        return alar_cli_complain("conform", "--ranks: expected N or A:B, from 1 to 64");
    }
    if (typed.mutant != NULL &&
        alar_cli_conform_mutant(typed.mutant, typed.options.seed, &mutant, error_line) != ALAR_OK) {
        return alar_cli_complain("conform", error_line);
    }
    if (typed.rank_of != NULL) {
        return alar_conform_rank(typed.rank_of, argv[1], typed.options.config,
                                 typed.mutant != NULL ? &mutant.wrap : NULL);
    }
    return conform_run(&typed);
}
