/* All ranks log alike: a report that says what the last good one said is good without being
   computed again. This keeps judging n reports of n contributions each from costing n^2. */
#include "judge/report/report.h"

#include "numbers/fp.h"

/* Everything a verdict may say, added up: did a report add anything to it? */
uint64_t report_said(const struct alar_judge *judge)
{
    uint64_t said = 0;

    for (unsigned a = 0; a < ALAR_ANOMALY_COUNT; a++) {
        said += judge->verdict.found[a];
    }
    for (unsigned u = 0; u < ALAR_UNKNOWN_COUNT; u++) {
        said += judge->verdict.unknown[u];
    }
    return said;
}

/* Does the report stand for the operations `first` .. `first` + parts - 1 of one group? Reports of
   nothing are never good. */
static bool report_is_row(const struct judge_report *report, const struct judge_part *part)
{
    for (uint32_t k = 1; k < report->parts; k++) {
        if (part[k].group != part[0].group || part[k].number != part[0].number + k) {
            return false;
        }
    }
    return true;
}

/* Another rank's report that says the same of the same operations as the last good one. All ranks
   log alike, so this is what keeps judging n reports from costing n^2. */
bool report_is_again(const struct alar_judge *judge, const struct judge_report *report)
{
    const struct judge_report *good = &judge->log.good;
    const struct judge_part *part = alar_arena_at(judge->arena, report->part);

    return good->parts > 0 && good->parts == report->parts && good->metric == report->metric &&
           good->first_step == report->first_step && good->step == report->step &&
           good->tokens == report->tokens && good->nonfinite == report->nonfinite &&
           good->empty == report->empty && good->normalization == report->normalization &&
           good->over == report->over && good->kind == report->kind &&
           good->holder == report->holder && good->dtype == report->dtype &&
           good->is_empty == report->is_empty && /* is_special follows from the value */
           alar_fp_bits(good->low) == alar_fp_bits(report->low) &&
           alar_fp_bits(good->high) == alar_fp_bits(report->high) &&
           judge->log.good_part.group == part[0].group &&
           judge->log.good_part.number == part[0].number && report_is_row(report, part);
}

void report_keep_good(struct alar_judge *judge, const struct judge_report *report, bool added)
{
    const struct judge_part *part = alar_arena_at(judge->arena, report->part);

    judge->log.good.parts = 0;
    if (!added && report_is_row(report, part)) {
        judge->log.good = *report;
        judge->log.good_part = part[0];
    }
}
