/* The record of a report, and the operations it stands for: those it names, or those of its steps.
 */
#include "judge/report/report.h"

#include "base/check.h"
#include "numbers/fp.h"

#include <math.h>
#include <string.h>

enum {
    READ_KEPT_FIRST = 4096, /* operations kept before any report showed how long an interval is */
    READ_KEPT_MOST = 65536,
    READ_EXPONENT_MAX = 400
};

void judge_report_start(struct alar_judge *judge)
{
    judge->log.kept_max = READ_KEPT_FIRST;
}

/* A header that tells the interval tells how many operations a report can stand for. */
void judge_report_loop(struct alar_judge *judge)
{
    const struct alar_loop *loop = &judge->loop;
    int64_t microbatches = loop->microbatches > 0 ? loop->microbatches : 1;

    if (loop->report_interval > 0 && loop->report_interval < READ_KEPT_MOST &&
        microbatches < READ_KEPT_MOST) {
        uint64_t wanted = 4 * (uint64_t)loop->report_interval * (uint64_t)microbatches;

        wanted = wanted < READ_KEPT_MOST ? wanted : READ_KEPT_MOST;
        judge->log.kept_max = wanted > READ_KEPT_FIRST ? wanted : READ_KEPT_FIRST;
    }
}

/* How many operations the report may stand for at most. */
static size_t read_covered_most(const struct alar_judge *judge, const struct alar_event *event)
{
    uint64_t metric = judge_metric_find(judge, alar_text_hash(event->text[ALAR_FIELD_METRIC]));
    uint32_t rank = (uint32_t)event->number[ALAR_FIELD_RANK];
    const struct judge_ledger *ledger =
        metric && rank < judge->setup.world
            ? report_ledger_find(judge, judge_metric_at(judge, metric), rank)
            : NULL;

    return ledger != NULL ? ledger->count : (size_t)(judge->log.kept + judge->live);
}

size_t judge_report_headroom(const struct alar_judge *judge, const struct alar_event *event)
{
    size_t room = alar_arena_block(sizeof(struct judge_metric));

    if (event->record == ALAR_RECORD_DECLARE) {
        return room + alar_arena_block(sizeof(struct judge_scope));
    }
    if (event->record == ALAR_RECORD_ISSUE) {
        return alar_arena_block(sizeof(struct judge_names)) + report_ledger_headroom(judge, event);
    }
    if (event->record != ALAR_RECORD_REPORT) {
        return 0;
    }
    size_t parts = event->has[ALAR_FIELD_OPS] ? (size_t)event->number[ALAR_FIELD_OPS]
                                              : read_covered_most(judge, event);

    return room + alar_arena_block(sizeof(struct judge_report)) +
           2 * alar_arena_block((parts + 1) * sizeof(struct judge_part)) +
           report_ledger_headroom(judge, event);
}

/* spec: O-110 */
static void declare_scope(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    struct judge_metric *metric =
        judge_metric_at(judge, judge_metric_make(judge, event->text[ALAR_FIELD_KEY]));
    uint64_t hash = alar_text_hash(event->text[ALAR_FIELD_GROUP]);
    uint64_t at = metric->scopes;

    while (at && ((struct judge_scope *)alar_arena_at(judge->arena, at))->hash != hash) {
        at = ((struct judge_scope *)alar_arena_at(judge->arena, at))->next;
    }
    if (at == 0) {
        at = alar_arena_take(judge->arena, sizeof(struct judge_scope));
        ((struct judge_scope *)alar_arena_at(judge->arena, at))->next = metric->scopes;
        metric->scopes = at;
    }
    struct judge_scope *scope = alar_arena_at(judge->arena, at);

    scope->hash = hash;
    scope->is_replicated = event->number[ALAR_FIELD_SCOPE] == 1;
}

void judge_report_declare(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;

    if (event->has[ALAR_FIELD_KEY] && event->has[ALAR_FIELD_KIND]) {
        report_kind_declare(judge);
    }
    if (event->has[ALAR_FIELD_KEY] && event->has[ALAR_FIELD_SCOPE] &&
        event->has[ALAR_FIELD_GROUP]) {
        declare_scope(judge);
    }
    if (event->has[ALAR_FIELD_KEY] && event->has[ALAR_FIELD_BOUNDS]) {
        uint64_t metric = judge_metric_make(judge, event->text[ALAR_FIELD_KEY]);

        judge_metric_bound(judge, metric, alar_text_hash(event->text[ALAR_FIELD_BOUNDS]));
        judge_metric_at(judge, metric)->is_bound_declared = true;
    }
}

/* Half a unit of the last digit written, rounded up: "1.80" stands for 1.795 to 1.805. */
static double text_half_unit(struct alar_text text)
{
    int exponent = 0, written = 0, sign = 1;
    bool is_fraction = false;
    size_t k = 0;
    double half = 0.5;

    for (; k < text.length && text.data[k] != 'e' && text.data[k] != 'E'; k++) {
        is_fraction = is_fraction || text.data[k] == '.';
        exponent -= is_fraction && text.data[k] != '.';
    }
    for (k++; k < text.length; k++) {
        sign = text.data[k] == '-' ? -1 : sign;
        if (text.data[k] >= '0' && text.data[k] <= '9' && written < READ_EXPONENT_MAX) {
            written = 10 * written + (text.data[k] - '0');
        }
    }
    exponent += sign * written;
    for (; exponent > 0 && exponent < READ_EXPONENT_MAX; exponent--) {
        half = nextafter(half * 10, HUGE_VAL);
    }
    for (; exponent < 0 && exponent > -READ_EXPONENT_MAX; exponent++) {
        half = nextafter(half / 10, HUGE_VAL);
    }
    return half;
}

/* What people saw: every number that prints as it does. */
static struct report_span read_shown(const struct alar_event *event)
{
    struct report_span shown = {event->loss_is_empty    ? REPORT_EMPTY
                                : isfinite(event->loss) ? REPORT_NUMBER
                                                        : REPORT_SPECIAL,
                                event->loss, event->loss};

    if (shown.kind == REPORT_NUMBER && event->text[ALAR_FIELD_LOSS].data != NULL) {
        double half = text_half_unit(event->text[ALAR_FIELD_LOSS]);

        shown.low = nextafter(event->loss - half, -HUGE_VAL);
        shown.high = nextafter(event->loss + half, HUGE_VAL);
    }
    return shown;
}

/* The numbers that the report may stand for: its bits, or every number that prints as it does.
   Errors: ALAR_E_INPUT, complained about. spec: O-51 */
static enum alar_status read_value(struct alar_judge *judge, struct judge_report *report)
{
    const struct alar_event *event = judge->event;

    report->dtype = ALAR_F64;
    report->is_empty = event->has[ALAR_FIELD_LOSS] && event->loss_is_empty;
    report->low = report->high = event->loss;
    if (event->has[ALAR_FIELD_BITS]) {
        const struct alar_value *value = event->list[ALAR_FIELD_BITS];

        if (event->number[ALAR_FIELD_BITS] != 1 || (value->digits != 8 && value->digits != 16)) {
            return judge_complain(judge, ALAR_FIELD_BITS, "8 or 16 hex digits", "something else");
        }
        report->dtype = value->digits == 8 ? ALAR_F32 : ALAR_F64;
        report->low = report->high = alar_fp_to_double(report->dtype, value->bits);
    } else if (!event->has[ALAR_FIELD_LOSS]) {
        return judge_complain(judge, ALAR_FIELD_LOSS, "`loss` or `bits`", "neither");
    } else {
        struct report_span shown = read_shown(event);

        report->low = shown.low;
        report->high = shown.high;
    }
    report->is_special = !report->is_empty && !isfinite(report->low);
    return ALAR_OK;
}

/* The operations it names; each must have been issued by its rank.
   Errors: ALAR_E_INPUT, complained about. */
static enum alar_status read_named(struct alar_judge *judge, struct judge_report *report)
{
    const struct alar_event *event = judge->event;
    const struct alar_value *item = event->list[ALAR_FIELD_OPS];

    report->parts = (uint32_t)event->number[ALAR_FIELD_OPS];
    report->part = alar_arena_take(judge->arena, report->parts * sizeof(struct judge_part));
    struct judge_part *part = alar_arena_at(judge->arena, report->part);
    for (uint32_t k = 0; k < report->parts; k++) {
        const char *name = item[k].text ? item[k].text : "world";
        uint64_t group = judge_group_find(judge, (struct alar_text){name, strlen(name)});
        uint32_t member;
        bool is_issued = false;

        if (group &&
            judge_member_find(judge, judge_group_at(judge, group), report->rank, &member)) {
            const uint64_t *expected =
                alar_arena_at(judge->arena, judge_group_at(judge, group)->expected);

            is_issued = expected[member] != JUDGE_NEVER && item[k].bits < expected[member];
        }
        if (!is_issued) {
            return judge_complain(judge, ALAR_FIELD_OPS, "operations this rank issued",
                                  "one it has not issued");
        }
        part[k] = (struct judge_part){.group = group, .number = item[k].bits};
    }
    return ALAR_OK;
}

/* Takes a report in; it is judged once its operations are settled. */
enum alar_status judge_report_report(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    uint64_t made = alar_arena_take(judge->arena, sizeof(struct judge_report));
    struct judge_report *report = alar_arena_at(judge->arena, made);

    report->place = event->place;
    report->rank = (uint32_t)event->number[ALAR_FIELD_RANK];
    report->metric = judge_metric_make(judge, event->text[ALAR_FIELD_METRIC]);
    report->sink = event->has[ALAR_FIELD_SINK] ? alar_text_hash(event->text[ALAR_FIELD_SINK]) : 0;
    report->step = event->number[ALAR_FIELD_STEP];
    report->first_step = alar_event_number(event, ALAR_FIELD_FIRST_STEP, report->step);
    report->tokens = alar_event_number(event, ALAR_FIELD_TOKENS, -1);
    report->nonfinite = alar_event_number(event, ALAR_FIELD_NONFINITE, -1);
    report->empty = alar_event_number(event, ALAR_FIELD_EMPTY, -1);
    report->normalization =
        (int32_t)alar_event_number(event, ALAR_FIELD_NORMALIZATION, judge->loop.normalization);
    report->over = (int32_t)alar_event_number(event, ALAR_FIELD_OVER, judge->loop.over);
    report->kind = (int32_t)alar_event_number(event, ALAR_FIELD_KIND, -1);
    report->holder = alar_event_number(event, ALAR_FIELD_HOLDER, -1);
    judge->verdict.reports++;
    if (report->first_step > report->step) {
        return judge_complain_numbers(judge, ALAR_FIELD_FIRST_STEP, "a step up to", report->step,
                                      "step", report->first_step);
    }
    ALAR_TRY(read_value(judge, report));
    struct judge_ledger *ledger =
        report_ledger_open(judge, judge_metric_at(judge, report->metric), report->rank);

    if (event->has[ALAR_FIELD_OPS]) {
        ALAR_TRY(read_named(judge, report));
        report->room = report->parts;
    } else {
        report_parts(judge, ledger, report);
    }
    bool has_both = event->has[ALAR_FIELD_BITS] && event->has[ALAR_FIELD_LOSS];
    struct report_span shown = read_shown(event);

    report_claims_enter(judge, ledger, report, has_both ? &shown : NULL);
    judge_report_wait(judge, made);
    return ALAR_OK;
}
