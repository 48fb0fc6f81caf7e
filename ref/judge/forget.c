/* The end of an operation: its values are kept for reports, or given back. */
#include "base/check.h"
#include "judge/report/report.h"
#include <string.h>

/* Holds the newest of a group's operations that no report asks for: a later value may be its. */
static void judge_op_hold(struct alar_judge *judge, uint64_t made)
{
    struct judge_op *op = judge_op_at(judge, made);
    struct judge_group *group = judge_group_at(judge, op->group);
    uint64_t given = op->elements <= JUDGE_HELD_ELEMENTS ? group->held : made;

    op->newer = 0;
    group->held = given == made ? group->held : made;
    if (given) {
        judge_op_give(judge, given);
    }
}

/* Ends the life of an operation; its values may be kept for the reports that stand for them. */
void judge_op_forget(struct alar_judge *judge, uint64_t made)
{
    struct judge_op *op = judge_op_at(judge, made);

    judge_op_unlink(judge, made, judge_report_wants(op));
    judge_reports_settled(judge, op);
    op->place = judge_entry_at(judge, op, 0)->issue.place;
    for (uint32_t m = 0; m < op->members; m++) {
        struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->life != JUDGE_FREE) {
            judge_chain_remove(judge, entry);
        }
    }
    alar_arena_give(judge->arena, op->entry, op->room * sizeof(struct judge_entry));
    if (op->is_kept) {
        judge_report_keep(judge, made);
    } else {
        judge_op_hold(judge, made);
    }
}
