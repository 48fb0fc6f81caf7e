/* Results that nobody told, and that the program read: it may have written there before. spec: O-73
 */
#include "judge/judge_state.h"

/* Such a result counts where it can be one: where it is legal, and what others were told. Anything
   else convicts nobody. */
void judge_value_doubts(struct alar_judge *judge, struct judge_op *op, bool is_judged,
                        struct judge_tally *tally)
{
    for (uint32_t m = 0; m < op->members; m++) {
        struct judge_entry *entry = judge_entry_at(judge, op, m);
        bool is_first = tally->held == 0;

        if (!judge_is_doubtful(entry)) {
            continue;
        }
        if (is_first ? !is_judged || !judge_value_is_illegal(judge, op, entry->class)
                     : tally->held == 1 && entry->class == tally->first) {
            entry->is_class_read = false;
            tally->first = entry->class;
            tally->held = 1;
            tally->legal += is_first && is_judged &&
                            judge_value_legality(judge, op, entry->class) == JUDGE_LEGAL;
        } else {
            judge_unknown(judge, ALAR_UNKNOWN_READ, entry->told.place, entry->rank);
            entry->has_out = false;
            op->outs--;
        }
    }
}
