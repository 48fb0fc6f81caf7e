/* Files to events, in an order that keeps few operations pending: each file in turn is read until
   it has issued one more all-reduce, or made another collective call. */
#include "check/history_read.h"

#include "check/record_read.h"
#include "sys/decimal.h"
#include "sys/error_line.h"
#include "sys/line_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One file being read. */
struct source {
    struct alar_lines lines;
    uint64_t issued; /* all-reduces and other collective calls so far */
    uint32_t rank;   /* whose file it is; ALAR_RANK_ALL when merged */
    bool is_over;
};

struct reading_state {
    struct alar_reading *reading;
    const struct alar_history_files *files;
    struct alar_reading_hooks hooks;
    struct source *source;
    struct alar_record_reader *records;
    struct alar_event event;
    uint64_t events;
};

/* What the whole file says about itself before it is judged. */
struct survey {
    bool has_header, has_end;
    int64_t world;   /* declared; 0 when it is not */
    int64_t highest; /* rank */
};

static enum alar_status state_complain(struct reading_state *state, uint32_t file, size_t column,
                                       const char *text)
{
    char where[ALAR_ERROR_LINE_BYTES];
    const char *path = state->files->path[file];

    snprintf(where, sizeof where, "%s:%u:%zu", strcmp(path, "-") == 0 ? "standard input" : path,
             state->source[file].lines.number, column);
    return alar_complain(state->reading->error_line, where, "%s", text);
}

/* Standard input can't be read twice, so it is copied to a file that has no name. */
static int spool_standard_input(void)
{
    char block[1 << 16];
    FILE *spool = tmpfile();
    size_t got = 1;
    int file = -1;

    while (spool != NULL && got > 0) {
        got = fread(block, 1, sizeof block, stdin);
        if (fwrite(block, 1, got, spool) != got) {
            got = 0;
        }
    }
    if (spool != NULL && !ferror(stdin) && fflush(spool) == 0 && !ferror(spool)) {
        file = dup(fileno(spool));
    }
    if (spool != NULL) {
        fclose(spool);
    }
    return file >= 0 && lseek(file, 0, SEEK_SET) == 0 ? file : -1;
}

static enum alar_status source_open(struct reading_state *state, uint32_t k)
{
    const char *path = state->files->path[k];
    int file = strcmp(path, "-") == 0 ? spool_standard_input() : open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0) {
        return alar_complain(state->reading->error_line, path, "expected a file to read, found: %s",
                             strerror(errno));
    }
    state->source[k].rank = ALAR_RANK_ALL;
    return alar_lines_open(&state->source[k].lines, file);
}

static bool line_is_blank(const struct alar_line *line)
{
    return line->length == 0 || (line->length == 1 && line->text[0] == '\r');
}

/* The next record of a file.
   Errors: ALAR_E_EMPTY at its end, or where it was cut in the middle of a line; ALAR_E_INPUT. */
static enum alar_status source_next(struct reading_state *state, uint32_t k, bool *is_cut)
{
    struct source *source = &state->source[k];
    struct alar_record_error error_line;
    struct alar_line line;
    enum alar_status status;

    *is_cut = false;
    do {
        status = alar_lines_next(&source->lines, &line);
    } while (status == ALAR_OK && line_is_blank(&line));
    if (status == ALAR_E_RANGE) {
        source->lines.number += !line.text;
        return state_complain(state, k, 1, "expected a line of at most 16 MiB, found a longer one");
    }
    if (status == ALAR_E_IO) {
        return alar_complain(state->reading->error_line, state->files->path[k],
                             "expected to read on, found: %s", strerror(errno));
    }
    ALAR_TRY(status);
    status = alar_record_read(state->records, line.text, line.length, &state->event, &error_line);
    if (status == ALAR_E_INPUT && error_line.is_cut && !line.is_ended) {
        *is_cut = true;
        return ALAR_E_EMPTY;
    }
    if (status == ALAR_E_INPUT) {
        return state_complain(state, k, error_line.column, error_line.text);
    }
    state->event.place = (struct alar_place){k, source->lines.number};
    return status;
}

static void survey_add(struct survey *survey, const struct alar_event *event)
{
    int64_t rank = alar_event_number(event, ALAR_FIELD_RANK, -1);

    survey->highest = rank > survey->highest ? rank : survey->highest;
    survey->has_end = survey->has_end || event->record == ALAR_RECORD_END;
    if (event->record == ALAR_RECORD_TRACE) {
        survey->has_header = true;
        survey->world =
            survey->world ? survey->world : alar_event_number(event, ALAR_FIELD_WORLD, 0);
    }
}

/* A file that begins with a header of known world need not be read twice. */
static enum alar_status source_survey(struct reading_state *state, uint32_t k,
                                      struct survey *survey)
{
    enum alar_status status = ALAR_OK;
    bool is_cut, is_first = true;

    while (status == ALAR_OK) {
        status = source_next(state, k, &is_cut);
        if (status == ALAR_OK) {
            survey_add(survey, &state->event);
            if (is_first && survey->has_header && survey->world) {
                state->source[k].rank =
                    (uint32_t)alar_event_number(&state->event, ALAR_FIELD_RANK, ALAR_RANK_ALL);
                break;
            }
            is_first = false;
        }
    }
    if (status != ALAR_OK && status != ALAR_E_EMPTY) {
        return status;
    }
    return alar_lines_rewind(&state->source[k].lines) == ALAR_OK
               ? ALAR_OK
               : state_complain(state, k, 1, "expected a file that can be read twice");
}

/* Gives the arena at least `room` more bytes. */
static enum alar_status reading_room(struct alar_reading *reading, size_t room)
{
    struct alar_arena *arena = &reading->arena;
    size_t size = arena->size;

    if (arena->base != NULL && alar_arena_room(arena) >= room) {
        return ALAR_OK;
    }
    while (size < arena->used + room + 64) {
        size = size ? 2 * size : 1 << 16;
        if (size > SIZE_MAX / 4) {
            return ALAR_E_NOMEM;
        }
    }
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

static enum alar_status state_start(struct reading_state *state)
{
    struct survey survey = {.highest = -1};
    struct alar_judge_setup setup = {.decimal = alar_decimal_parse};

    for (uint32_t k = 0; k < state->files->count; k++) {
        ALAR_TRY(source_survey(state, k, &survey));
    }
    int64_t world = survey.world ? survey.world : survey.highest + 1;
    if (world > ALAR_WORLD_MAX) {
        return state_complain(state, 0, 1, "expected a world of at most 131072 ranks");
    }
    setup.world = world > 0 ? (uint32_t)world : 1;
    setup.is_bare = !survey.has_header && !survey.has_end;
    setup.settled = state->hooks.settled;
    setup.certify = state->hooks.certify;
    setup.context = state->hooks.context;
    setup.needs_power = state->hooks.needs_power;
    if (state->hooks.finding_room > 0) {
        setup.finding_room = state->hooks.finding_room;
        setup.findings = state->reading->findings =
            calloc(setup.finding_room, sizeof *setup.findings);
        if (setup.findings == NULL) {
            return ALAR_E_NOMEM;
        }
    }
    setup.scratch.bytes = alar_judge_scratch_bytes(setup.world);
    setup.scratch.memory = state->reading->scratch = malloc(setup.scratch.bytes);
    state->reading->judge = malloc(alar_judge_size());
    if (state->reading->judge == NULL || setup.scratch.memory == NULL) {
        return ALAR_E_NOMEM;
    }
    ALAR_TRY(reading_room(state->reading, alar_judge_start_room(setup.world)));
    return alar_judge_start(state->reading->judge, &state->reading->arena, &setup);
}

/* The judge's error_line, with numbers where it has some. */
static enum alar_status state_refuse(struct reading_state *state, uint32_t k)
{
    const struct alar_judge_error *error_line = alar_judge_error_of(state->reading->judge);
    char text[ALAR_ERROR_LINE_BYTES];

    if (error_line->has_expected) {
        snprintf(text, sizeof text, "expected %s %lld in `%s`, found %s %lld", error_line->expected,
                 (long long)error_line->expected_number, alar_field_name(error_line->field),
                 error_line->found, (long long)error_line->found_number);
    } else {
        snprintf(text, sizeof text, "expected %s in `%s`, found %s", error_line->expected,
                 alar_field_name(error_line->field), error_line->found);
    }
    return state_complain(state, k, alar_record_column(state->records, error_line->field), text);
}

static enum alar_status state_judge(struct reading_state *state, uint32_t k)
{
    struct alar_reading *reading = state->reading;

    ALAR_TRY(reading_room(reading, alar_judge_headroom(reading->judge, &state->event)));
    if (alar_judge_event(reading->judge, &state->event) != ALAR_OK) {
        return state_refuse(state, k);
    }
    if (state->hooks.event != NULL) {
        state->hooks.event(state->hooks.context, &state->event);
    }
    if (state->hooks.progress != NULL && (++state->events & 0x3fff) == 0) {
        uint64_t bytes = 0;

        for (uint32_t s = 0; s < state->files->count; s++) {
            bytes += state->source[s].lines.bytes;
        }
        state->hooks.progress(state->hooks.context, bytes);
    }
    return ALAR_OK;
}

/* Reads a file until it has issued its round-th all-reduce or other collective call. */
static enum alar_status source_round(struct reading_state *state, uint32_t k, uint64_t round)
{
    struct source *source = &state->source[k];
    bool is_cut;

    while (!source->is_over && source->issued < round) {
        enum alar_status status = source_next(state, k, &is_cut);

        if (status == ALAR_E_EMPTY) {
            source->is_over = true;
            if (is_cut) {
                alar_judge_cut(state->reading->judge, source->rank,
                               (struct alar_place){k, source->lines.number});
            }
            return ALAR_OK;
        }
        ALAR_TRY(status);
        ALAR_TRY(state_judge(state, k));
        source->issued +=
            state->event.record == ALAR_RECORD_ISSUE || state->event.record == ALAR_RECORD_CALL;
    }
    return ALAR_OK;
}

static enum alar_status state_rounds(struct reading_state *state)
{
    bool is_over = false;

    for (uint64_t round = 1; !is_over; round++) {
        is_over = true;
        for (uint32_t k = 0; k < state->files->count; k++) {
            ALAR_TRY(source_round(state, k, round));
            is_over = is_over && state->source[k].is_over;
        }
    }
    alar_judge_finish(state->reading->judge);
    return ALAR_OK;
}

static enum alar_status state_run(struct reading_state *state)
{
    ALAR_TRY(alar_record_reader_open(&state->records));
    for (uint32_t k = 0; k < state->files->count; k++) {
        ALAR_TRY(source_open(state, k));
    }
    ALAR_TRY(state_start(state));
    return state_rounds(state);
}

enum alar_status alar_reading_judge(struct alar_reading *reading,
                                    const struct alar_history_files *files,
                                    const struct alar_reading_hooks *hooks)
{
    struct reading_state state = {.reading = reading, .files = files};
    enum alar_status status = ALAR_E_NOMEM;

    memset(reading, 0, sizeof *reading);
    if (hooks != NULL) {
        state.hooks = *hooks;
    }
    state.source = calloc(files->count, sizeof *state.source);
    if (state.source != NULL) {
        status = state_run(&state);
    }
    for (uint32_t k = 0; state.source != NULL && k < files->count; k++) {
        reading->bytes += state.source[k].lines.bytes;
        alar_lines_close(&state.source[k].lines);
    }
    alar_record_reader_close(state.records);
    free(state.source);
    if (status == ALAR_E_NOMEM) {
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
