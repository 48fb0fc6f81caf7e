/* What an act of life.def does to one rank's part of an operation, and what is found of it. */
#include "judge/judge_state.h"

#include "base/check.h"

struct judge_moment judge_moment_of(const struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    uint32_t rank = (uint32_t)event->number[ALAR_FIELD_RANK];

    return (struct judge_moment){
        .place = event->place,
        .record = event->record,
        .has_t = event->has[ALAR_FIELD_T],
        .t = judge_time(alar_event_number(event, ALAR_FIELD_T, 0), judge_rank_at(judge, rank)->t0),
    };
}

static void life_return(struct alar_judge *judge, struct judge_entry *entry)
{
    struct judge_rank *rank = judge_rank_at(judge, entry->rank);

    if (entry->is_lent && !judge_life_is_owned(entry->life)) {
        INV("what is given back was pending", rank->pending > 0);
        rank->pending--;
        entry->is_lent = false;
        if (rank->is_indexed) {
            judge_uses_close(judge, entry);
        }
    }
}

/* What a finding makes of everything that follows: is the value, too, an echo of it? */
static bool life_taints(enum alar_anomaly anomaly)
{
    switch ((int)anomaly) {
    case ALAR_ANOMALY_PREMATURE:
    case ALAR_ANOMALY_IN_FLIGHT_WRITE:
    case ALAR_ANOMALY_FREED_IN_FLIGHT:
    case ALAR_ANOMALY_REUSED_IN_FLIGHT:
    case ALAR_ANOMALY_MISUSE:
    case ALAR_ANOMALY_ABORT_AS_SUCCESS:
        return true;
    default:
        return false;
    }
}

static bool life_shows_done(enum alar_anomaly anomaly)
{
    return anomaly == ALAR_ANOMALY_PREMATURE || anomaly == ALAR_ANOMALY_LATE_WRITE ||
           anomaly == ALAR_ANOMALY_NO_VALUE_READ || anomaly == ALAR_ANOMALY_USED_TWICE;
}

/* Does it lose its storage by this? */
static bool life_loses(enum judge_act act)
{
    return act == JUDGE_ACT_UNSTORE || act == JUDGE_ACT_REUSE;
}

/* Storage that was given away twice is told of once, and goes by its name no more. */
static bool life_is_told(const struct judge_entry *entry, enum judge_act act)
{
    uint32_t lost = 1u << JUDGE_ACT_UNSTORE | 1u << JUDGE_ACT_REUSE;

    return life_loses(act) && (entry->acts & lost) != 0;
}

void judge_life_found(struct alar_judge *judge, enum alar_anomaly anomaly,
                      struct judge_subject subject)
{
    struct alar_evidence *evidence = judge_found(judge, anomaly, subject.op, subject.entry->rank);

    subject.op->is_tainted = subject.op->is_tainted || life_taints(anomaly);
    judge_show_issue(judge, evidence, subject.op, subject.entry);
    if (life_shows_done(anomaly)) {
        judge_show_done(judge, evidence, subject.op, subject.entry);
    }
    judge_show_event(judge, evidence);
}

/* Does a stream that a wait ordered order this action too? Under a stream contract an issue is
   an action of the device: without a `stream` it is on the rank's only one. spec: O-03, O-74 */
static bool life_is_ordered(const struct alar_judge *judge, const struct judge_entry *entry,
                            enum judge_act act)
{
    const struct alar_event *event = judge->event;
    bool is_issue = act == JUDGE_ACT_REUSE && event->record == ALAR_RECORD_ISSUE;
    bool is_access = act == JUDGE_ACT_READ || act == JUDGE_ACT_WRITE || act == JUDGE_ACT_UNSTORE ||
                     act == JUDGE_ACT_REUSE;

    if (entry->life != JUDGE_ORDERED || !is_access ||
        !(is_issue || event->has[ALAR_FIELD_STREAM])) {
        return false;
    }
    return judge_stream_orders(entry, event->has[ALAR_FIELD_STREAM]
                                          ? (uint64_t)event->number[ALAR_FIELD_STREAM]
                                          : JUDGE_NEVER);
}

struct judge_row judge_life_act(struct alar_judge *judge, struct judge_subject subject,
                                enum judge_act act)
{
    struct judge_entry *entry = subject.entry;
    bool is_ordered = life_is_ordered(judge, entry, act);
    struct judge_row row = judge_life_row(is_ordered ? JUDGE_KNOWN : entry->life, act);

    if (row.finding != ALAR_ANOMALY_COUNT && !life_is_told(entry, act)) {
        judge_life_found(judge, row.finding, subject);
    }
    entry->acts |= is_ordered ? 0 : 1u << act; /* elsewhere its storage is the back end's still */
    entry->life = is_ordered ? entry->life : (uint8_t)row.next;
    if (life_loses(act) && !is_ordered && entry->is_lent) {
        judge_uses_close(judge, entry);
    }
    life_return(judge, entry);
    return row;
}

void judge_life_told(struct alar_judge *judge, struct judge_entry *entry)
{
    if (entry->told.place.line == 0) {
        entry->told = judge_moment_of(judge);
    }
}
