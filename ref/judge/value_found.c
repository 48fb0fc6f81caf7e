/* Values, the ranks that hold them, and what is found of one. */
#include "base/check.h"
#include "judge/judge_state.h"
#include <string.h>

/* Ranks whose result is of that class, told first or told later. */
uint32_t judge_value_holders(const struct alar_judge *judge, const struct judge_op *op,
                             uint32_t class)
{
    uint32_t holders = 0;

    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        holders += entry->has_out && !judge_is_doubtful(entry) &&
                   (entry->class == class || entry->other == class + 1);
    }
    return holders;
}

enum judge_legality judge_value_legality(const struct alar_judge *judge, const struct judge_op *op,
                                         uint32_t class)
{
    return (enum judge_legality)judge_value_row(judge, op, class)[op->out_elements];
}

bool judge_value_is_illegal(const struct alar_judge *judge, const struct judge_op *op,
                            uint32_t class)
{
    enum judge_legality legality = judge_value_legality(judge, op, class);

    return legality == JUDGE_ILLEGAL || legality == JUDGE_NAN_IS_LOST;
}

/* Contributions first, then results of the ranks concerned. */
static void value_show(struct alar_judge *judge, struct alar_evidence *evidence,
                       const struct judge_op *op, uint32_t class)
{
    bool is_shown = false;

    for (uint32_t m = 0; evidence && m < op->members && m < ALAR_SCENES_MAX - 2; m++) {
        judge_show_issue(judge, evidence, op, judge_entry_at(judge, op, m));
    }
    for (uint32_t m = 0; evidence && m < op->members && !is_shown; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->has_out && entry->class == class) {
            judge_show_done(judge, evidence, op, entry);
            is_shown = true;
        }
    }
}

struct alar_evidence *judge_value_found(struct alar_judge *judge, struct judge_op *op,
                                        uint32_t class, enum alar_anomaly anomaly,
                                        const struct judge_limits *limits)
{
    struct alar_evidence *evidence = judge_found(judge, anomaly, op, ALAR_RANK_ALL);

    if (evidence) {
        evidence->element = limits->element;
        evidence->has_found = true;
        evidence->found = judge_value_row(judge, op, class)[limits->element];
        evidence->has_range = limits->is_known;
        evidence->lowest = limits->lowest;
        evidence->highest = limits->highest;
        value_show(judge, evidence, op, class);
    }
    return evidence;
}

/* Names the ranks that hold the class, in the finding that is kept. */
void judge_value_blame(struct alar_judge *judge, const struct judge_op *op,
                       enum alar_anomaly anomaly, uint32_t class)
{
    struct alar_evidence *kept = judge_kept(judge, anomaly, op);

    for (uint32_t m = 0; kept && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->has_out && (entry->class == class || entry->other == class + 1)) {
            alar_list_add(&kept->ranks, entry->rank);
        }
    }
}
