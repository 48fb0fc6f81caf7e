/* Which part of which operation a record speaks of, and what is said when its rank left it behind.
 */
#include "judge/judge_state.h"

#include <string.h>

/* Is the record about an operation that this rank left behind its window? It is judged by what is
   known of all of those: its rank was through with it. spec: O-71 */
static bool life_is_past(const struct alar_judge *judge, const struct judge_group *group,
                         uint32_t member, const struct judge_entry *entry)
{
    uint64_t expected = ((const uint64_t *)alar_arena_at(judge->arena, group->expected))[member];
    uint64_t number = (uint64_t)judge->event->number[ALAR_FIELD_OP];

    return (!entry || entry->is_finished) && expected - number > judge_window(judge);
}

/* Finds the entry a record names by operation.
   Errors: ALAR_E_INPUT when that rank never issued it. */
enum alar_status judge_life_find(struct alar_judge *judge, uint32_t rank,
                                 struct judge_subject *subject)
{
    const struct alar_event *event = judge->event;
    uint64_t number = (uint64_t)event->number[ALAR_FIELD_OP];
    uint64_t group = judge_group_find(judge, event->text[ALAR_FIELD_OP]);
    uint32_t member;

    memset(subject, 0, sizeof *subject);
    if (group && judge_group_is_strange(judge, judge_group_at(judge, group), rank)) {
        return ALAR_OK;
    }
    if (!group || !judge_member_find(judge, judge_group_at(judge, group), rank, &member)) {
        return judge_complain(judge, ALAR_FIELD_OP, "an operation this rank issued",
                              "one it never issued");
    }
    uint64_t expected = ((const uint64_t *)alar_arena_at(
        judge->arena, judge_group_at(judge, group)->expected))[member];
    if (expected == JUDGE_NEVER || number >= expected) {
        return judge_complain(judge, ALAR_FIELD_OP, "an operation this rank issued",
                              "one it has not issued yet");
    }
    uint64_t made = judge_op_find(judge, group, number);
    if (made) {
        subject->op = judge_op_at(judge, made);
        subject->entry = judge_entry_at(judge, subject->op, member);
        if (subject->entry->life == JUDGE_FREE) {
            return judge_complain(judge, ALAR_FIELD_OP, "an operation this rank issued",
                                  "one before its first");
        }
    }
    if (life_is_past(judge, judge_group_at(judge, group), member, subject->entry)) {
        *subject = (struct judge_subject){NULL, NULL, true};
    } else if (!made) {
        return judge_complain(judge, ALAR_FIELD_OP, "an operation this rank issued",
                              "one before its first");
    }
    return ALAR_OK;
}

/* A record of an operation that is behind the window of its rank. */
enum alar_status judge_life_past(struct alar_judge *judge, enum judge_act act)
{
    const struct alar_event *event = judge->event;
    uint32_t rank = (uint32_t)event->number[ALAR_FIELD_RANK];
    struct judge_row done = judge_life_row(JUDGE_DONE, act);
    struct judge_row known = judge_life_row(JUDGE_KNOWN, act);
    bool has_value = event->has[ALAR_FIELD_OUT] || event->has[ALAR_FIELD_BITS];
    bool is_again = act == JUDGE_ACT_WAIT || act == JUDGE_ACT_RETURN || act == JUDGE_ACT_ORDER;

    if (act == JUDGE_ACT_FAIL || act == JUDGE_ACT_EXPIRE) {
        judge_show_event(
            judge,
            judge_found(judge, act == JUDGE_ACT_FAIL ? ALAR_ANOMALY_FAILED : ALAR_ANOMALY_TIMEOUT,
                        NULL, rank));
    } else if (judge->contract.is_once && (is_again || act == JUDGE_ACT_READ)) {
        judge_show_event(
            judge, judge_found(judge, is_again ? ALAR_ANOMALY_DOUBLE_WAIT : ALAR_ANOMALY_USED_TWICE,
                               NULL, rank));
    } else if (done.finding != known.finding || has_value) {
        judge_unknown(judge, ALAR_UNKNOWN_WINDOW, event->place, rank);
    } else if (known.finding != ALAR_ANOMALY_COUNT) {
        judge_show_event(judge, judge_found(judge, known.finding, NULL, rank));
    } else if ((act == JUDGE_ACT_READ || act == JUDGE_ACT_WRITE) &&
               judge_rank_at(judge, rank)->pending > 0) {
        judge_unknown(judge, ALAR_UNKNOWN_WINDOW, event->place,
                      rank); /* whose storage is it now? */
    }
    return ALAR_OK;
}

static bool text_has(struct alar_text text, const char *lower)
{
    size_t length = strlen(lower);

    for (size_t k = 0; k + length <= text.length; k++) {
        size_t same = 0;

        while (same < length && (text.data[k + same] | 0x20) == lower[same]) {
            same++;
        }
        if (same == length) {
            return true;
        }
    }
    return false;
}

bool judge_is_told_lost(const struct alar_event *event)
{
    return event->has[ALAR_FIELD_ERROR] && text_has(event->text[ALAR_FIELD_ERROR], "lost");
}

/* A deadline that passed, or a rank that the library calls silent: the operation stays pending.
   `|0x20` makes letters small and leaves blanks alone. */
bool judge_is_told_timeout(const struct alar_event *event)
{
    return judge_is_told_lost(event) ||
           (event->has[ALAR_FIELD_ERROR] && text_has(event->text[ALAR_FIELD_ERROR], "timeout")) ||
           (event->has[ALAR_FIELD_TEXT] && text_has(event->text[ALAR_FIELD_TEXT], "timed out"));
}
