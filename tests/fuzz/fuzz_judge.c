/* Any sequence of events, most of them near to legal: the judge's own claims hold, and its verdict
   agrees with its counts. Three bytes make an event: kind, rank and operation, details. */
#include "base/check.h"
#include "judge/judge.h"
#include "sys/decimal.h"

#include <stdlib.h>
#include <string.h>

enum {
    FUZZ_WORLD = 3,
    FUZZ_ARENA = 1 << 22
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct alar_text names[] = {{"world", 5}, {"dp", 2}};
static const struct alar_text buffers[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};

static void set_number(struct alar_event *event, enum alar_field field, int64_t number)
{
    event->has[field] = true;
    event->number[field] = number;
}

static void set_values(struct alar_event *event, enum alar_field field,
                       const struct alar_value *values, uint8_t detail)
{
    event->list[field] = values;
    set_number(event, field, 1 + (detail & 1));
}

/* A log line over some of the last steps, and what makes operations fit for one. */
static void event_log(struct alar_event *event, const uint8_t *byte)
{
    static const double losses[] = {1, 2, 0.5, 3};

    if (event->record == ALAR_RECORD_ISSUE) {
        set_number(event, ALAR_FIELD_STEP, byte[2] >> 4);
        set_number(event, ALAR_FIELD_PAIRS, byte[2] & 1);
        event->has[ALAR_FIELD_KEY] = byte[2] >> 1 & 1;
        event->text[ALAR_FIELD_KEY] = buffers[0];
    }
    if (event->record == ALAR_RECORD_REPORT) {
        set_number(event, ALAR_FIELD_STEP, byte[2] >> 4);
        set_number(event, ALAR_FIELD_FIRST_STEP, (byte[2] >> 4) - (byte[2] & 1));
        set_number(event, ALAR_FIELD_NORMALIZATION, byte[1] & 3);
        event->has[ALAR_FIELD_NORMALIZATION] = byte[1] & 4;
        set_number(event, ALAR_FIELD_OVER, byte[1] >> 3 & 1);
        event->has[ALAR_FIELD_LOSS] = true;
        event->loss = losses[byte[2] >> 1 & 3];
        event->loss_is_empty = byte[2] >> 3 & 1;
    }
    if (event->record == ALAR_RECORD_DECLARE) {
        event->has[ALAR_FIELD_KEY] = event->has[ALAR_FIELD_GROUP] = true;
        event->text[ALAR_FIELD_KEY] = buffers[0];
        event->text[ALAR_FIELD_GROUP] = names[0];
        set_number(event, ALAR_FIELD_SCOPE, byte[2] & 1);
    }
}

/* What the three bytes say; the fields a kind does not need stay absent. */
static void event_make(struct alar_event *event, const uint8_t *byte,
                       const struct alar_value *values)
{
    memset(event->has, 0, sizeof event->has);
    event->record = (enum alar_record)(byte[0] % ALAR_RECORD_COUNT);
    set_number(event, ALAR_FIELD_RANK, byte[1] % FUZZ_WORLD);
    if (byte[0] < 200) {
        set_number(event, ALAR_FIELD_OP, byte[1] / FUZZ_WORLD % 8);
        event->text[ALAR_FIELD_OP] = names[byte[1] >> 7];
    }
    set_number(event, ALAR_FIELD_DONE, byte[2] & 1);
    set_number(event, ALAR_FIELD_STEP, byte[2]);
    event->has[ALAR_FIELD_BUF] = byte[2] & 2;
    event->text[ALAR_FIELD_BUF] = buffers[byte[2] >> 6];
    event->has[ALAR_FIELD_POINT] = event->has[ALAR_FIELD_METRIC] = true;
    event->text[ALAR_FIELD_POINT] = event->text[ALAR_FIELD_METRIC] = buffers[0];
    set_number(event, ALAR_FIELD_VER, byte[2] >> 7);
    set_number(event, ALAR_FIELD_BY, byte[2] >> 5 & 1);
    if (byte[2] & 4) {
        set_number(event, ALAR_FIELD_STREAM, byte[2] >> 3 & 1);
    }
    if (event->record == ALAR_RECORD_ISSUE || event->record == ALAR_RECORD_READ) {
        set_values(event, event->record == ALAR_RECORD_ISSUE ? ALAR_FIELD_IN : ALAR_FIELD_BITS,
                   values, byte[2]);
    }
    if (event->record == ALAR_RECORD_DONE || event->record == ALAR_RECORD_TWIN ||
        event->record == ALAR_RECORD_COMPLETE) {
        set_values(event, ALAR_FIELD_OUT, values + (byte[2] >> 3 & 3), byte[2]);
    }
    if (event->record == ALAR_RECORD_CONTRACT) {
        set_number(event, ALAR_FIELD_WAIT, byte[2] & 1);
        set_number(event, ALAR_FIELD_USE, byte[2] >> 1 & 1);
        set_number(event, ALAR_FIELD_ORDER, byte[2] >> 2 & 1);
        set_number(event, ALAR_FIELD_NAN, byte[2] >> 3 & 3);
    }
    event_log(event, byte);
}

static void verdict_check(const struct alar_verdict *verdict)
{
    uint64_t wrong = 0, unknown = 0;

    for (unsigned a = 0; a < ALAR_ANOMALY_COUNT; a++) {
        wrong += alar_anomaly_is_note((enum alar_anomaly)a) ? 0 : verdict->found[a];
    }
    for (unsigned u = 0; u < ALAR_UNKNOWN_COUNT; u++) {
        unknown += verdict->unknown[u];
    }
    POST((verdict->kind == ALAR_FAIL) == (wrong > 0));
    POST((verdict->kind == ALAR_PASS) == (wrong == 0 && unknown == 0));
    POST(verdict->judged <= verdict->operations);
    for (uint32_t k = 1; k < verdict->finding_count; k++) {
        POST(verdict->finding[k - 1].anomaly <= verdict->finding[k].anomaly);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct alar_value values[] = {
        {0x3f800000, NULL, 8}, {0x40000000, NULL, 8}, {0x40400000, NULL, 8},
        {0x7fc00000, NULL, 8}, {0xc7800000, NULL, 8}, {0x80000000, NULL, 8},
    };
    static uint64_t memory[FUZZ_ARENA / sizeof(uint64_t)];
    struct alar_judge_setup setup = {.world = FUZZ_WORLD, .decimal = alar_decimal_parse};
    size_t bytes = alar_judge_scratch_bytes(FUZZ_WORLD);
    struct alar_judge *judge = malloc(alar_judge_size());
    struct alar_arena arena;
    struct alar_event event;
    enum alar_status status = ALAR_OK;

    memset(&event, 0, sizeof event);
    setup.scratch.memory = malloc(bytes);
    setup.scratch.bytes = setup.scratch.memory ? bytes : 0;
    setup.is_bare = size > 0 && (data[0] & 1);
    alar_arena_init(&arena, memory, sizeof memory);
    if (judge == NULL || alar_judge_start(judge, &arena, &setup) != ALAR_OK) {
        abort();
    }
    for (size_t k = 1; status == ALAR_OK && k + 3 <= size; k += 3) {
        event_make(&event, data + k, values);
        event.place = (struct alar_place){0, (uint32_t)k};
        if (alar_arena_room(&arena) < alar_judge_headroom(judge, &event)) {
            break;
        }
        status = alar_judge_event(judge, &event);
    }
    if (status == ALAR_OK) {
        alar_judge_finish(judge);
        verdict_check(alar_judge_verdict(judge));
    } else {
        POST(status == ALAR_E_INPUT && alar_judge_error_of(judge)->expected != NULL);
    }
    free(setup.scratch.memory);
    free(judge);
    return 0;
}
