/* `alar conform --mutant`: a back end that is wrong on purpose. */
#include "cli/cli_conform.h"
#include "cli/cli_run.h"
#include "sys/parse.h"

#include <stdio.h>

static enum alar_status wrap_open(void *data, uint32_t rank, uint32_t ranks,
                                  const struct alar_backend **backend, void **context,
                                  void **wrapped)
{
    const struct alar_cli_conform_mutant *mutant = data;
    const struct alar_mutant_options options = {
        .kind = mutant->kind,
        .seed = mutant->seed,
        .rank = rank,
        .ranks = ranks,
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

/* The mutant itself stays: whoever stopped may have left something pending. */
static void wrap_free(void *wrapped)
{
    alar_cli_strikes_leave(wrapped);
}

enum alar_status alar_cli_conform_mutant(const char *name, uint64_t seed,
                                         struct alar_cli_conform_mutant *mutant, char *error_line)
{
    const char *names[ALAR_MUTANT_COUNT + 1] = {NULL};

    for (int i = 0; i < ALAR_MUTANT_COUNT; i++) {
        names[i] = alar_mutants[i].name;
    }
    if (alar_mutant_find(name, &mutant->kind) != ALAR_OK) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "--mutant: expected a name of faults/mutants.def, found '%.100s'; did you mean "
                 "'%s'?",
                 name, names[alar_nearest(name, names)]);
        return ALAR_E_INPUT;
    }
    mutant->seed = seed;
    mutant->wrap = (struct alar_conform_wrap){mutant, wrap_open, wrap_free};
    return ALAR_OK;
}
