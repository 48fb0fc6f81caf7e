/* Linked around the `alar` program with --wrap=judge_life_row: one row of life.def, named by
   LIFE_LOST="STATE ACT", is as if it was lost. A move or a finding does nothing then, and what does
   nothing is a finding. LIFE_SEEN=1 prints the rows that were looked up, on stderr. */
#include "judge/judge_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct judge_row __real_judge_life_row(enum judge_life state, enum judge_act act);
struct judge_row __wrap_judge_life_row(enum judge_life state, enum judge_act act);

static const char *const states[] = {
#define LIFE(name, owned, meaning) #name,
#include "judge/life.def"
};
static const char *const acts[] = {
#define ACT(name, meaning) #name,
#include "judge/life.def"
};

static const char *lost;
static bool is_told;

__attribute__((constructor)) static void lost_begin(void)
{
    lost = getenv("LIFE_LOST");
    is_told = getenv("LIFE_SEEN") != NULL;
}

struct judge_row __wrap_judge_life_row(enum judge_life state, enum judge_act act)
{
    struct judge_row row = __real_judge_life_row(state, act);
    char name[64];

    snprintf(name, sizeof name, "%s %s", states[state], acts[act]);
    if (is_told) {
        fprintf(stderr, "row %s\n", name);
    }
    if (lost != NULL && strcmp(lost, name) == 0) {
        bool is_stay = row.next == state && row.finding == ALAR_ANOMALY_COUNT;

        row.next = state;
        row.finding = is_stay ? ALAR_ANOMALY_MISUSE : ALAR_ANOMALY_COUNT;
    }
    return row;
}
