#include "check/history_judge.h"

#include "sys/clock.h"
#include "sys/decimal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROGRESS_EVERY = 1 << 14, /* records between two words of progress, */
    CLOCK_EVERY = 1 << 7      /* and between two looks at the clock */
};

/* Gives the arena at least `room` more bytes.
   Errors: ALAR_E_FULL when that is more than the limit; ALAR_E_NOMEM. */
static enum alar_status reading_room(struct alar_reading *reading, size_t room)
{
    struct alar_arena *arena = &reading->arena;
    size_t size = arena->size;

    if (arena->base != NULL && alar_arena_room(arena) >= room) {
        return ALAR_OK;
    }
    if (arena->used + room + 64 > reading->memory_most) {
        return ALAR_E_FULL;
    }
    while (size < arena->used + room + 64) {
        size = size ? 2 * size : 1 << 16;
        if (size > SIZE_MAX / 4) {
            return ALAR_E_NOMEM;
        }
    }
    size = size < reading->memory_most ? size : reading->memory_most;
    void *grown = realloc(arena->base, size);
    if (grown == NULL) {
        return ALAR_E_NOMEM;
    }
    if (arena->base == NULL) {
        alar_arena_init(arena, grown, size);
    } else {
        alar_arena_move(arena, grown, size);
    }
    return ALAR_OK;
}

/* The judge of a history of so many ranks, in memory that the reading owns. */
static enum alar_status reading_start(struct alar_reading *reading,
                                      const struct alar_history_survey *survey,
                                      const struct alar_reading_hooks *hooks)
{
    struct alar_judge_setup setup = {
        .world = survey->world > 0 ? (uint32_t)survey->world : 1,
        .is_bare = !survey->has_header && !survey->has_end,
        .decimal = alar_decimal_parse,
        .settled = hooks->settled,
        .certify = hooks->certify,
        .context = hooks->context,
        .needs_power = hooks->needs_power,
        .finding_room = hooks->finding_room,
    };

    if (setup.finding_room > 0) {
        setup.findings = reading->findings = calloc(setup.finding_room, sizeof *setup.findings);
        if (setup.findings == NULL) {
            return ALAR_E_NOMEM;
        }
    }
    setup.scratch.bytes = alar_judge_scratch_bytes(setup.world);
    setup.scratch.memory = reading->scratch = malloc(setup.scratch.bytes);
    reading->judge = malloc(alar_judge_size());
    if (reading->judge == NULL || setup.scratch.memory == NULL) {
        return ALAR_E_NOMEM;
    }
    ALAR_TRY(reading_room(reading, alar_judge_start_room(setup.world)));
    return alar_judge_start(reading->judge, &reading->arena, &setup);
}

/* What the judge has against the last record, with numbers where it has some. */
static enum alar_status reading_refuse(struct alar_history_reader *reader,
                                       const struct alar_judge_error *error)
{
    char text[ALAR_ERROR_LINE_BYTES];

    if (error->has_expected) {
        snprintf(text, sizeof text, "expected %s %lld in `%s`, found %s %lld", error->expected,
                 (long long)error->expected_number, alar_field_name(error->field), error->found,
                 (long long)error->found_number);
    } else {
        snprintf(text, sizeof text, "expected %s in `%s`, found %s", error->expected,
                 alar_field_name(error->field), error->found);
    }
    return alar_history_reader_refuse(reader, error->field, text);
}

static enum alar_status reading_record(struct alar_reading *reading,
                                       struct alar_history_reader *reader,
                                       const struct alar_history_record *record,
                                       const struct alar_reading_hooks *hooks)
{
    if (record->event == NULL) {
        alar_judge_cut(reading->judge, record->rank, record->place);
        return ALAR_OK;
    }
    ALAR_TRY(reading_room(reading, alar_judge_headroom(reading->judge, record->event)));
    if (alar_judge_event(reading->judge, record->event) != ALAR_OK) {
        return reading_refuse(reader, alar_judge_error_of(reading->judge));
    }
    if (hooks->event != NULL) {
        hooks->event(hooks->context, record->event);
    }
    return ALAR_OK;
}

static enum alar_status reading_run(struct alar_reading *reading,
                                    struct alar_history_reader *reader,
                                    const struct alar_reading_hooks *hooks)
{
    struct alar_history_record record;
    enum alar_status status;
    uint64_t records = 0;

    while ((status = alar_history_reader_next(reader, &record)) == ALAR_OK) {
        if (reading->until_us && records % CLOCK_EVERY == 0 &&
            alar_clock_now(NULL) >= reading->until_us) {
            alar_judge_stop(reading->judge, record.place, ALAR_LIMIT_SECONDS, hooks->seconds);
            return ALAR_OK;
        }
        status = reading_record(reading, reader, &record, hooks);
        if (status == ALAR_E_FULL) {
            alar_judge_stop(reading->judge, record.place, ALAR_LIMIT_MEMORY, hooks->memory_mib);
            return ALAR_OK;
        }
        ALAR_TRY(status);
        if (++records % PROGRESS_EVERY == 0 && hooks->progress != NULL) {
            hooks->progress(hooks->context, alar_history_reader_bytes(reader));
        }
    }
    if (status == ALAR_E_EMPTY) {
        alar_judge_finish(reading->judge);
        status = ALAR_OK;
    }
    return status;
}

/* When and where to stop. */
static void reading_limits(struct alar_reading *reading, const struct alar_reading_hooks *hooks)
{
    memset(reading, 0, sizeof *reading);
    reading->memory_most = hooks->has_memory ? (size_t)hooks->memory_mib << 20 : SIZE_MAX;
    if (hooks->has_seconds) {
        reading->until_us = alar_clock_now(NULL) + hooks->seconds * 1000000;
    }
}

enum alar_status alar_reading_judge(struct alar_reading *reading,
                                    const struct alar_history_files *files,
                                    const struct alar_reading_hooks *hooks)
{
    static const struct alar_reading_hooks none;
    struct alar_history_reader *reader;
    struct alar_history_survey survey;
    enum alar_status status;

    hooks = hooks != NULL ? hooks : &none;
    reading_limits(reading, hooks);
    survey.until_us = reading->until_us;
    status = alar_history_reader_open(&reader, files, hooks->threads, &survey, reading->error_line);
    if (status == ALAR_OK) {
        status = reading_start(reading, &survey, hooks);
    }
    if (status == ALAR_OK) {
        status = reading_run(reading, reader, hooks);
    }
    reading->bytes = reader != NULL ? alar_history_reader_bytes(reader) : 0;
    alar_history_reader_close(reader);
    if (status == ALAR_E_FULL) {
        snprintf(reading->error_line, sizeof reading->error_line,
                 "%s: expected a limit of memory that its ranks fit into, found %llu MiB",
                 files->name, (unsigned long long)hooks->memory_mib);
        status = ALAR_E_NOMEM;
    } else if (status == ALAR_E_NOMEM) {
        snprintf(reading->error_line, sizeof reading->error_line,
                 "%s: expected enough memory, found too little", files->name);
    }
    return status;
}

void alar_reading_free(struct alar_reading *reading)
{
    free(reading->judge);
    free(reading->arena.base);
    free(reading->scratch);
    free(reading->findings);
    memset(reading, 0, sizeof *reading);
}
