/* One verdict against what was done to the back end. The judge is the one of `alar check`, and gets
   nothing but the history files. */
#include "check/history_find.h"
#include "check/history_judge.h"
#include "check/verdict_text.h"
#include "mutants.h"

#include <stdio.h>
#include <string.h>

static const char *const comm_names[] = {"world", "half0", "half1"};

static bool is_only(const struct alar_list *list, uint64_t item)
{
    return list->count == 1 && list->item[0] == item;
}

bool mutant_has_cause(int mutant, enum alar_cause *cause)
{
    *cause = mutant == ALAR_MUTANT_DROP_RANK ? ALAR_CAUSE_MISSING : ALAR_CAUSE_DOUBLED;
    return mutant == ALAR_MUTANT_DROP_RANK || mutant == ALAR_MUTANT_DOUBLE_RANK;
}

/* On a ledger the digits say it: ambiguous is not good enough. */
static bool is_named(const struct witness *witness, const struct alar_evidence *finding,
                     const struct alar_strike *strike)
{
    const struct alar_explanation *found = &finding->diagnosis.kept_explanation[0];
    enum alar_cause cause;

    if (witness->input != INPUT_LEDGER || !mutant_has_cause(witness->mutant, &cause)) {
        return true;
    }
    return finding->has_diagnosis && finding->diagnosis.is_unique && found->cause == cause &&
           found->rank == strike->rank;
}

/* Does the finding name that all-reduce, and the rank where the defect sits on one? */
static bool is_culprit(const struct alar_mutant_row *row, const struct alar_evidence *finding,
                       const struct alar_strike *strike)
{
    if (!finding->has_op || finding->number != strike->number || strike->comm > 2 ||
        strcmp(finding->group, comm_names[strike->comm]) != 0) {
        return false;
    }
    /* Of two legal results nothing tells which rank is odd: all are named, and it is said. spec:
     * O-72 */
    bool is_tie = row->anomaly == ALAR_ANOMALY_RANKS_DISAGREE && finding->is_open;

    return row->culprit == ALAR_CULPRIT_OP || is_only(&finding->ranks, strike->rank) || is_tie ||
           (row->anomaly == ALAR_ANOMALY_RANKS_DISAGREE && is_only(&finding->joined, strike->rank));
}

static enum verdict_class verdict_class(const struct witness *witness,
                                        const struct alar_verdict *verdict,
                                        const struct alar_strike *strikes, uint32_t count)
{
    const struct alar_mutant_row *row =
        witness->mutant == HEALTHY ? NULL : &alar_mutants[witness->mutant];

    if (row == NULL || count == 0) {
        return IDLE;
    }
    if (verdict->kind != ALAR_FAIL) {
        return verdict->kind == ALAR_PASS ? SURVIVED : UNDECIDED;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (verdict->finding[0].anomaly == row->anomaly &&
            is_culprit(row, &verdict->finding[0], &strikes[i]) &&
            is_named(witness, &verdict->finding[0], &strikes[i])) {
            return KILLED;
        }
    }
    return BLURRED;
}

enum verdict_class witness_judge(const struct witness *witness, const char *directory,
                                 const struct alar_strike *strikes, uint32_t count, bool *is_fail,
                                 char *reason)
{
    char path[PATH_BYTES];
    char *paths[] = {path};
    char error_line[ALAR_ERROR_LINE_BYTES];
    struct alar_history_set set;
    struct alar_reading reading;

    snprintf(path, sizeof(path), "%s", directory);
    if (alar_history_find(paths, 1, &set, error_line) != ALAR_OK) {
        give_up("history", error_line);
    }
    enum alar_status status = alar_reading_judge(&reading, &set.history[0], NULL);
    if (status != ALAR_OK || set.count != 1) {
        give_up("history", reading.error_line);
    }
    const struct alar_verdict *verdict = alar_judge_verdict(reading.judge);
    enum verdict_class class = verdict_class(witness, verdict, strikes, count);

    *is_fail = verdict->kind != ALAR_PASS;
    snprintf(reason, ALAR_ERROR_LINE_BYTES, "%s ", alar_verdict_name(verdict->kind));
    alar_verdict_reason(&set.history[0], verdict, reason + strlen(reason),
                        ALAR_ERROR_LINE_BYTES - strlen(reason));
    alar_reading_free(&reading);
    alar_history_set_free(&set);
    return class;
}
