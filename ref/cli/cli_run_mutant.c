/* `alar run --mutant`: a back end that is wrong on purpose, to see what the judge says of it. */
#include "cli/cli_run.h"
#include "run/run_state.h"
#include "sys/parse.h"

#include <stdio.h>
#include <stdlib.h>

static enum alar_status wrap_open(void *data, const struct run_rank *rank,
                                  const struct alar_backend **backend, void **context,
                                  void **wrapped)
{
    const struct alar_cli_mutant *mutant = data;
    const struct alar_mutant_options options = {
        .kind = mutant->kind,
        .seed = mutant->seed,
        .rank = rank->rank,
        .ranks = rank->run->ranks,
        .inner = *backend,
        .context = *context,
    };
    struct alar_mutant *made = NULL;

    ALAR_TRY(alar_mutant_open(&made, &options));
    *backend = alar_mutant_backend(made);
    *context = alar_mutant_context(made);
    *wrapped = made;
    return ALAR_OK;
}

void alar_cli_strikes_leave(const struct alar_mutant *mutant)
{
    const char *path = getenv("ALAR_STRIKES");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    uint32_t count = 0;
    const struct alar_strike *strike = alar_mutant_strikes(mutant, &count);

    for (uint32_t i = 0; file != NULL && i < count && i < ALAR_STRIKES_MAX; i++) {
        fprintf(file, "%u %llu %u\n", strike[i].comm, (unsigned long long)strike[i].number,
                strike[i].rank);
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void wrap_free(void *wrapped)
{
    alar_cli_strikes_leave(wrapped);
    alar_mutant_free(wrapped);
}

enum alar_status alar_cli_mutant(const char *name, struct alar_run_options *run,
                                 struct alar_cli_mutant *mutant, char *error_line)
{
    const char *names[ALAR_MUTANT_COUNT + 1] = {NULL};

    if (name == NULL) {
        return ALAR_OK;
    }
    for (int i = 0; i < ALAR_MUTANT_COUNT; i++) {
        names[i] = alar_mutants[i].name;
    }
    if (alar_mutant_find(name, &mutant->kind) != ALAR_OK) {
        const char *meant = alar_meant(name, names);

        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "--mutant: expected a name of faults/mutants.def, found '%.100s'%s%s%s", name,
                 meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
        return ALAR_E_INPUT;
    }
    mutant->seed = run->seed;
    mutant->wrap = (struct alar_run_wrap){mutant, wrap_open, wrap_free};
    run->wrap = &mutant->wrap;
    return ALAR_OK;
}
