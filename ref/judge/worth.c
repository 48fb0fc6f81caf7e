/* Why a value is illegal, and what a legal one is worth: what a verdict must say against itself.
 */
#include "judge/judge_state.h"

#include "base/check.h"
#include "legal/power.h"

#include <string.h>

enum {
    /* What a diagnosis of many ranks may use: no hull, which is judged too often to be affordable.
     */
    DOUBT_BYTES = 128 << 10,
    DOUBT_RANK_BYTES = 128,
    POWER_RANK_BYTES = 32
};

/* ---- the operations before and after -----------------------------------------------------------
 */

static bool doubt_is_alike(const struct judge_op *op, const struct judge_op *other)
{
    return other->group == op->group && other->key_hash == op->key_hash && other->red == op->red &&
           other->dtype == op->dtype && other->elements == op->elements &&
           other->ins == op->members && !other->is_partial && other->number != op->number;
}

/* The nearest operation of the same kind before this one, or after it, among those that are not
   settled, kept for reports, or held; NULL when there is none. */
const struct judge_op *judge_neighbour(const struct alar_judge *judge, const struct judge_op *op,
                                       bool is_after)
{
    const struct judge_op *nearest = NULL;
    const uint64_t chain[] = {judge->oldest, judge->log.oldest,
                              judge_group_at(judge, op->group)->held};

    for (unsigned k = 0; k < sizeof chain / sizeof *chain; k++) {
        for (uint64_t at = chain[k]; at; at = judge_op_at(judge, at)->newer) {
            const struct judge_op *other = judge_op_at(judge, at);
            bool is_nearer = !nearest || (other->number < nearest->number) == is_after;

            if (doubt_is_alike(op, other) && (other->number > op->number) == is_after &&
                is_nearer) {
                nearest = other;
            }
        }
    }
    return nearest;
}

/* What one of them contributed and gave, as far as that is known. */
static const uint64_t *doubt_observation(const struct alar_judge *judge,
                                         const struct judge_op *other, uint32_t element,
                                         struct alar_scratch *scratch, bool *has_value,
                                         uint64_t *value)
{
    uint64_t *column;

    *has_value = false;
    if (!other) {
        return NULL;
    }
    const uint64_t *in = alar_arena_at(judge->arena, other->in);
    column = alar_scratch_take(scratch, other->members, sizeof *column);
    PRE(column != NULL);
    for (uint32_t m = 0; m < other->members; m++) {
        column[m] = in[(size_t)m * other->elements + element];
    }
    if (other->classes == 1 && other->out_elements == other->elements) {
        *has_value = true;
        *value = ((const uint64_t *)alar_arena_at(judge->arena, other->out))[element];
    }
    return column;
}

/* ---- diagnosis ---------------------------------------------------------------------------------
 */

/* From members of the group to ranks of the history. */
static void doubt_name_ranks(const struct alar_judge *judge, const struct judge_op *op,
                             struct alar_evidence *evidence)
{
    const struct judge_group *group = judge_group_at(judge, op->group);

    for (uint32_t m = 0; m < op->members && m < ALAR_LIST_MAX; m++) {
        evidence->member[m] = judge_member_rank(judge, group, m);
    }
    for (uint32_t k = 0; k < evidence->diagnosis.kept; k++) {
        struct alar_explanation *kept = &evidence->diagnosis.kept_explanation[k];

        if (alar_cause_has_rank(kept->cause)) {
            kept->rank = judge_member_rank(judge, group, kept->rank);
        }
        if (kept->cause == ALAR_CAUSE_REPLACED) {
            kept->other = judge_member_rank(judge, group, kept->other);
        }
    }
}

/* Another element of the same result is legal: were these two taken from different steps? */
static bool doubt_is_torn(struct alar_judge *judge, const struct judge_op *op, const uint64_t *out,
                          uint32_t element, const struct alar_diagnosis *diagnosis)
{
    uint32_t beside = element > 0 ? element - 1 : element + 1;

    if (beside >= op->elements) {
        return false;
    }
    struct judge_element asked = judge_ask(judge, op, beside, out);

    return judge_answer(judge, &asked) == JUDGE_LEGAL && asked.has_origin &&
           alar_diagnosis_is_torn(&asked.origin, diagnosis);
}

/* spec: N-23 */
void judge_diagnose(struct alar_judge *judge, const struct judge_op *op, const uint64_t *out,
                    struct alar_evidence *evidence)
{
    if (!evidence) {
        return;
    }
    uint32_t element = (uint32_t)evidence->element;
    struct judge_element asked = judge_ask(judge, op, element, out);
    struct alar_scratch scratch = asked.scratch;
    size_t enough = DOUBT_BYTES + (size_t)op->members * DOUBT_RANK_BYTES;
    struct alar_observations observations = {0};

    observations.previous =
        doubt_observation(judge, judge_neighbour(judge, op, false), element, &scratch,
                          &observations.has_previous_value, &observations.previous_value);
    observations.next =
        doubt_observation(judge, judge_neighbour(judge, op, true), element, &scratch,
                          &observations.has_next_value, &observations.next_value);
    if (op->members > JUDGE_HULL_RANKS && scratch.bytes > enough) {
        scratch.bytes = enough;
    }
    evidence->has_diagnosis = alar_diagnose(&asked.reduce, asked.value, &observations, scratch,
                                            &evidence->diagnosis) == ALAR_OK;
    if (evidence->has_diagnosis) {
        doubt_name_ranks(judge, op, evidence);
        evidence->is_torn = doubt_is_torn(judge, op, out, element, &evidence->diagnosis);
    }
}

/* ---- power -------------------------------------------------------------------------------------
 */

/* How many ranks' faults some element would have shown; false: of none it is known. The hull tells
   more than the bound, and costs more. */
static bool power_see(const struct alar_judge *judge, const struct judge_op *op, bool has_hull,
                      struct alar_power *all)
{
    bool is_known = false;

    *all = (struct alar_power){0, 0, true};
    for (uint32_t e = 0; e < op->elements && all->drops + all->doubles < 2 * op->members; e++) {
        struct judge_element asked = judge_ask(judge, op, e, NULL);
        uint8_t *seen = alar_scratch_take(&asked.scratch, op->members, sizeof *seen);
        uint8_t *now = alar_scratch_take(&asked.scratch, op->members, sizeof *now);
        size_t enough = ((size_t)op->members + 4) * POWER_RANK_BYTES;
        struct alar_power power;

        PRE(seen && now);
        asked.scratch.bytes = has_hull ? asked.scratch.bytes : enough;
        if (e == 0) {
            memset(seen, 0, op->members);
        }
        if (alar_power_evaluate(&asked.reduce, asked.scratch, now, &power) != ALAR_OK) {
            continue;
        }
        is_known = true;
        *all = (struct alar_power){0, 0, true};
        for (uint32_t m = 0; m < op->members; m++) {
            seen[m] |= now[m];
            all->drops += (seen[m] & ALAR_POWER_DROP) != 0;
            all->doubles += (seen[m] & ALAR_POWER_DOUBLE) != 0;
        }
    }
    return is_known;
}

/* spec: N-21 */
void judge_power(struct alar_judge *judge, const struct judge_op *op)
{
    struct alar_reveal *reveal = &judge->verdict.reveal;

    if (op->members < 2 || op->elements == 0) {
        return;
    }
    struct alar_power power;

    bool is_known = power_see(judge, op, false, &power);

    if (is_known && power.drops == 0 && judge->searched < JUDGE_THOROUGH) {
        judge->searched++;
        (void)power_see(judge, op, true, &power);
    }
    reveal->unasked += !is_known;
    reveal->operations += is_known;
    reveal->vacuous += is_known && power.drops == 0;
    reveal->ranks += is_known ? op->members : 0;
    reveal->drops += power.drops;
    reveal->doubles += power.doubles;
    if (power.drops == 0 && judge->setup.needs_power) {
        const struct judge_entry *first = judge_entry_at(judge, op, 0);

        judge_unknown(judge, ALAR_UNKNOWN_NO_POWER, first->issue.place, first->rank);
    }
}
