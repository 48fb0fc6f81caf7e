/* The values of blocking twins, beside the results of the same contributions. */
#include "judge/judge_state.h"

static void value_twin_of(struct alar_judge *judge, const struct judge_op *op, uint32_t rank)
{
    struct alar_evidence *kept = judge_kept(judge, ALAR_ANOMALY_TWIN_ILLEGAL, op);

    if (kept) {
        alar_list_add(&kept->ranks, rank);
    }
}

/* Twins are judged like results; other bits than the twin's are wrong only when one of them is
   illegal, or a fixed order was promised. spec: N-20, O-34 */
void judge_value_twins(struct alar_judge *judge, struct judge_op *op,
                       const struct judge_tally *tally)
{
    bool is_other = false, is_illegal = false;
    struct judge_limits limits = {0};

    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->twin && judge_value_is_illegal(judge, op, entry->twin - 1)) {
            (void)judge_result(judge, op, judge_value_row(judge, op, entry->twin - 1), &limits);
            (void)judge_value_found(judge, op, entry->twin - 1, ALAR_ANOMALY_TWIN_ILLEGAL, &limits);
            value_twin_of(judge, op, entry->rank);
            is_illegal = true;
        }
        is_other = is_other || (entry->twin && entry->twin != tally->first + 1);
    }
    if (is_illegal || tally->held != 1 || tally->legal != 1) {
        return;
    }
    judge->verdict.twins_same += !is_other;
    if (is_other && judge->contract.is_fixed) {
        for (uint32_t m = 0; m < op->members; m++) {
            const struct judge_entry *entry = judge_entry_at(judge, op, m);

            if (entry->twin && entry->twin != tally->first + 1) {
                (void)judge_values_are_same(op, judge_value_row(judge, op, tally->first),
                                            judge_value_row(judge, op, entry->twin - 1),
                                            op->out_elements, &limits.element);
            }
        }
        (void)judge_value_found(judge, op, tally->first, ALAR_ANOMALY_TWIN_DIFFERS, &limits);
        judge_value_blame(judge, op, ALAR_ANOMALY_TWIN_DIFFERS, tally->first);
    } else {
        judge->verdict.twins_legal += is_other;
    }
}
