/* Growing arrays, names, ranks and their clocks, and logged values. */
#include "timeline/timeline_state.h"

#include "api/terms.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLOTS_FIRST = 1024,
    CLOCK_TICKS = 1 /* the number of the clock that all ranks share by the header's word */
};

void *timeline_room(void **items, size_t *room, size_t count, size_t size)
{
    if (count == *room) {
        size_t more = *room ? 2 * *room : 64;
        void *grown = realloc(*items, more * size);

        if (grown == NULL) {
            return NULL;
        }
        *items = grown;
        *room = more;
    }
    return (char *)*items + count * size;
}

/* ---- names ------------------------------------------------------------------------------------
 */

static size_t name_slot(const struct alar_timeline *timeline, struct alar_text text)
{
    size_t mask = timeline->name_slots - 1;
    size_t slot = alar_text_hash(text) & mask;

    while (timeline->name_slot[slot] != 0 &&
           !alar_text_is(text, timeline->name[timeline->name_slot[slot]])) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static bool name_slots_grow(struct alar_timeline *timeline)
{
    if (2 * (timeline->names + 1) <= timeline->name_slots) {
        return true;
    }
    size_t slots = 2 * timeline->name_slots;
    uint32_t *grown = calloc(slots, sizeof *grown);

    if (grown == NULL) {
        return false;
    }
    free(timeline->name_slot);
    timeline->name_slot = grown;
    timeline->name_slots = slots;
    for (size_t k = 1; k < timeline->names; k++) {
        struct alar_text text = {timeline->name[k], strlen(timeline->name[k])};

        grown[name_slot(timeline, text)] = (uint32_t)k;
    }
    return true;
}

uint32_t timeline_intern(struct alar_timeline *timeline, struct alar_text text)
{
    char **name = timeline_room((void **)&timeline->name, &timeline->name_room, timeline->names,
                                sizeof *name);

    if (text.length == 0) {
        return 0;
    }
    if (name == NULL || !name_slots_grow(timeline)) {
        timeline->is_out_of_memory = true;
        return 0;
    }
    size_t slot = name_slot(timeline, text);
    if (timeline->name_slot[slot] == 0) {
        *name = strndup(text.data, text.length);
        if (*name == NULL) {
            timeline->is_out_of_memory = true;
            return 0;
        }
        timeline->name_slot[slot] = (uint32_t)timeline->names++;
    }
    return timeline->name_slot[slot];
}

uint32_t alar_timeline_name(const struct alar_timeline *timeline, const char *name)
{
    return timeline->name_slot[name_slot(timeline, (struct alar_text){name, strlen(name)})];
}

/* ---- ranks and clocks -------------------------------------------------------------------------
 */

static bool ranks_grow(struct alar_timeline *timeline, uint32_t rank)
{
    if (rank >= timeline->rank_room) {
        uint32_t room = timeline->rank_room ? timeline->rank_room : 8;

        while (room <= rank) {
            room *= 2;
        }
        struct alar_rank_line *grown = realloc(timeline->rank, room * sizeof *grown);

        if (grown == NULL) {
            timeline->is_out_of_memory = true;
            return false;
        }
        timeline->rank = grown;
        timeline->rank_room = room;
    }
    for (; timeline->ranks <= rank; timeline->ranks++) {
        timeline->rank[timeline->ranks] =
            (struct alar_rank_line){.first_t = ALAR_TIME_NONE, .last_t = ALAR_TIME_NONE};
    }
    return true;
}

/* The header of a rank, or of all: which clock, and where it stood. */
static void rank_head(struct alar_timeline *timeline, struct alar_rank_line *rank,
                      const struct alar_event *event)
{
    if (alar_event_number(event, ALAR_FIELD_CLOCK, 1) == 0) {
        rank->clock = CLOCK_TICKS;
        timeline->is_in_ticks = true;
    } else if (event->has[ALAR_FIELD_HOST] && event->has[ALAR_FIELD_T0]) {
        rank->clock = alar_text_hash(event->text[ALAR_FIELD_HOST]) | 2;
    }
    rank->t0 = alar_event_number(event, ALAR_FIELD_T0, 0);
}

bool timeline_rank_add(struct alar_timeline *timeline, const struct alar_event *event)
{
    int64_t t = alar_event_number(event, ALAR_FIELD_T, ALAR_TIME_NONE);

    if (event->record == ALAR_RECORD_TRACE && !event->has[ALAR_FIELD_RANK]) {
        int64_t world = alar_event_number(event, ALAR_FIELD_WORLD, 0);

        if (world > 0 && !ranks_grow(timeline, (uint32_t)world - 1)) {
            return false;
        }
        for (uint32_t r = 0; r < timeline->ranks; r++) {
            rank_head(timeline, &timeline->rank[r], event);
        }
        return true;
    }
    if (!event->has[ALAR_FIELD_RANK]) {
        return true;
    }
    uint32_t number = (uint32_t)event->number[ALAR_FIELD_RANK];
    if (!ranks_grow(timeline, number)) {
        return false;
    }
    struct alar_rank_line *rank = &timeline->rank[number];

    if (event->record == ALAR_RECORD_TRACE) {
        rank_head(timeline, rank, event);
    }
    rank->has_end = rank->has_end || event->record == ALAR_RECORD_END;
    rank->records++;
    if (t != ALAR_TIME_NONE) {
        rank->first_t = rank->first_t == ALAR_TIME_NONE ? t : rank->first_t;
        rank->last_t = t;
    }
    return true;
}

/* ---- reports ----------------------------------------------------------------------------------
 */

static void report_ops(struct alar_timeline *timeline, struct alar_report_line *report,
                       const struct alar_event *event)
{
    static const struct alar_text world = {"world", 5};

    report->first_op = timeline->ops;
    for (int64_t k = 0; event->has[ALAR_FIELD_OPS] && k < event->number[ALAR_FIELD_OPS]; k++) {
        const struct alar_value *value = &event->list[ALAR_FIELD_OPS][k];
        struct alar_op_name *op =
            timeline_room((void **)&timeline->op, &timeline->op_room, timeline->ops, sizeof *op);

        if (op == NULL) {
            timeline->is_out_of_memory = true;
            return;
        }
        struct alar_text group =
            value->text != NULL ? (struct alar_text){value->text, strlen(value->text)} : world;
        op->group = timeline_intern(timeline, group);
        op->number = value->bits;
        timeline->ops++;
        report->ops++;
    }
}

void timeline_report_add(struct alar_timeline *timeline, const struct alar_event *event)
{
    struct alar_report_line *report = timeline_room(
        (void **)&timeline->report, &timeline->report_room, timeline->reports, sizeof *report);
    int64_t normalization = alar_event_number(event, ALAR_FIELD_NORMALIZATION, -1);
    int64_t over = alar_event_number(event, ALAR_FIELD_OVER, -1);

    if (report == NULL) {
        timeline->is_out_of_memory = true;
        return;
    }
    memset(report, 0, sizeof *report);
    report->rank = (uint32_t)event->number[ALAR_FIELD_RANK];
    report->metric = timeline_intern(timeline, event->text[ALAR_FIELD_METRIC]);
    report->step = event->number[ALAR_FIELD_STEP];
    report->first_step = alar_event_number(event, ALAR_FIELD_FIRST_STEP, report->step);
    report->loss = event->loss;
    report->is_empty = event->loss_is_empty;
    report->tokens = alar_event_number(event, ALAR_FIELD_TOKENS, -1);
    report->at = (struct alar_moment){alar_event_number(event, ALAR_FIELD_T, ALAR_TIME_NONE),
                                      timeline->records, event->place};
    if (normalization >= 0) {
        const char *word = alar_normalization_names[normalization];
        report->normalization = timeline_intern(timeline, (struct alar_text){word, strlen(word)});
    }
    if (over >= 0) {
        const char *word = alar_over_names[over];
        report->over = timeline_intern(timeline, (struct alar_text){word, strlen(word)});
    }
    if (event->has[ALAR_FIELD_BITS] && event->number[ALAR_FIELD_BITS] > 0 &&
        event->list[ALAR_FIELD_BITS][0].text == NULL) {
        report->has_bits = true;
        report->bits = event->list[ALAR_FIELD_BITS][0].bits;
        report->digits = event->list[ALAR_FIELD_BITS][0].digits;
    }
    report_ops(timeline, report, event);
    timeline->reports++;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

enum alar_status alar_timeline_open(struct alar_timeline *timeline)
{
    memset(timeline, 0, sizeof *timeline);
    timeline->name_slots = timeline->span_slots = SLOTS_FIRST;
    timeline->name_slot = calloc(SLOTS_FIRST, sizeof *timeline->name_slot);
    timeline->span_slot = calloc(SLOTS_FIRST, sizeof *timeline->span_slot);
    char **name = timeline_room((void **)&timeline->name, &timeline->name_room, 0, sizeof *name);
    if (timeline->name_slot == NULL || timeline->span_slot == NULL || name == NULL) {
        alar_timeline_free(timeline);
        return ALAR_E_NOMEM;
    }
    *name = strdup("");
    timeline->names = 1;
    return *name != NULL ? ALAR_OK : ALAR_E_NOMEM;
}

void alar_timeline_free(struct alar_timeline *timeline)
{
    for (size_t k = 0; k < timeline->names; k++) {
        free(timeline->name[k]);
    }
    free(timeline->name);
    free(timeline->name_slot);
    free(timeline->span_slot);
    free(timeline->span);
    free(timeline->mark);
    free(timeline->report);
    free(timeline->op);
    free(timeline->value);
    free(timeline->rank);
    memset(timeline, 0, sizeof *timeline);
}

/* Where the axis of a rank begins on its own clock. */
static int64_t rank_origin(const struct alar_timeline *timeline, const struct alar_rank_line *rank)
{
    int64_t first = rank->first_t == ALAR_TIME_NONE ? 0 : rank->first_t;

    if (rank->clock == 0) {
        return first;
    }
    int64_t least = first + rank->t0;
    for (uint32_t r = 0; r < timeline->ranks; r++) {
        const struct alar_rank_line *other = &timeline->rank[r];

        if (other->clock == rank->clock && other->first_t != ALAR_TIME_NONE &&
            other->first_t + other->t0 < least) {
            least = other->first_t + other->t0;
        }
    }
    return least - rank->t0;
}

static void moment_move(struct alar_moment *moment, int64_t origin)
{
    if (moment->t != ALAR_TIME_NONE) {
        moment->t -= origin;
    }
}

void alar_timeline_finish(struct alar_timeline *timeline)
{
    bool has_head = false;

    for (uint32_t r = 0; r < timeline->ranks; r++) {
        has_head = has_head || timeline->rank[r].clock != 0 || timeline->rank[r].t0 != 0 ||
                   timeline->rank[r].has_end;
    }
    for (uint32_t r = 0; !has_head && r < timeline->ranks; r++) {
        timeline->rank[r].clock = CLOCK_TICKS; /* written by hand: one clock */
        timeline->is_in_ticks = true;
    }
    int64_t *origin = calloc(timeline->ranks + 1, sizeof *origin);
    if (origin == NULL) {
        timeline->is_out_of_memory = true;
        return;
    }
    for (uint32_t r = 0; r < timeline->ranks; r++) {
        origin[r] = rank_origin(timeline, &timeline->rank[r]);
    }
    for (size_t k = 0; k < timeline->spans; k++) {
        struct alar_span *span = &timeline->span[k];

        moment_move(&span->issue, origin[span->rank]);
        moment_move(&span->wait, origin[span->rank]);
        moment_move(&span->complete, origin[span->rank]);
        moment_move(&span->end, origin[span->rank]);
    }
    for (size_t k = 0; k < timeline->marks; k++) {
        if (timeline->mark[k].rank < timeline->ranks) {
            moment_move(&timeline->mark[k].at, origin[timeline->mark[k].rank]);
        }
    }
    for (size_t k = 0; k < timeline->reports; k++) {
        moment_move(&timeline->report[k].at, origin[timeline->report[k].rank]);
    }
    for (uint32_t r = 0; r < timeline->ranks; r++) {
        struct alar_rank_line *rank = &timeline->rank[r];

        if (rank->first_t != ALAR_TIME_NONE) {
            rank->first_t -= origin[r];
            rank->last_t -= origin[r];
        }
    }
    free(origin);
}
