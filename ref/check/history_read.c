#include "check/history_read.h"

#include "check/read_ahead.h"
#include "check/record_input.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SURVEY_EVERY = 256,         /* records between two looks at the clock */
    SPOOL_BYTES_MOST = 1 << 30, /* of standard input */
    AHEAD_BYTES_LEAST = 4 << 20 /* of files that threads are worth while for */
};

/* One file being read. */
struct source {
    struct alar_record_input file;
    uint64_t issued; /* all-reduces and other collective calls so far */
    uint32_t line;   /* number of the last line */
    uint32_t rank;   /* whose file it is; ALAR_RANK_ALL when merged */
    bool is_over;
};

struct alar_history_reader {
    const struct alar_history_files *files;
    char *error_line;
    struct alar_record_reader *records;
    struct alar_read_ahead *ahead; /* NULL: each file is read when its turn comes */
    struct alar_event event;
    uint64_t round;   /* each file gives its records until it has issued so many */
    uint32_t current; /* the file whose turn it is */
    uint32_t over;    /* files that came to their end */
    struct source source[];
};

static enum alar_status reader_complain(struct alar_history_reader *reader, uint32_t file,
                                        size_t column, const char *text)
{
    char where[ALAR_ERROR_LINE_BYTES];
    const char *path = reader->files->path[file];

    snprintf(where, sizeof where, "%s:%u:%zu", strcmp(path, "-") == 0 ? "standard input" : path,
             reader->source[file].line, column);
    return alar_complain(reader->error_line, where, "%s", text);
}

/* Standard input can't be read twice, so it is copied to a file that has no name. What can't be a
   history is not copied to its end, which it may not have; nor is more than fits. */
static int spool_standard_input(void)
{
    char block[1 << 16];
    FILE *spool = tmpfile();
    size_t got = 1;
    uint64_t copied = 0;
    bool is_history = true;
    int file = -1;

    while (spool != NULL && got > 0 && is_history) {
        got = fread(block, 1, sizeof block, stdin);
        if (fwrite(block, 1, got, spool) != got) {
            got = 0;
        }
        copied += got;
        is_history = copied > got || got == 0 || strchr("{ \t\r\n\x89", block[0]) != NULL;
        if (copied > SPOOL_BYTES_MOST) {
            fclose(spool);
            errno = EFBIG;
            return -1;
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

static enum alar_status source_open(struct alar_history_reader *reader, uint32_t k)
{
    const char *path = reader->files->path[k];
    int file = strcmp(path, "-") == 0 ? spool_standard_input() : open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0) {
        return alar_complain(reader->error_line, path, "expected a file to read, found: %s",
                             strerror(errno));
    }
    reader->source[k].rank = ALAR_RANK_ALL;
    return alar_record_input_open(&reader->source[k].file, file);
}

/* The next record of a file.
   Errors: ALAR_E_EMPTY at its end, or where it was cut in the middle of a line; ALAR_E_INPUT. */
static enum alar_status source_next(struct alar_history_reader *reader, uint32_t k, bool *is_cut)
{
    struct source *source = &reader->source[k];
    struct alar_record_error error;
    enum alar_status status =
        reader->ahead != NULL
            ? alar_read_ahead_next(reader->ahead, k, &reader->event, &source->line, &error)
            : alar_record_input_next(&source->file, reader->records, &reader->event, &error);

    source->line = reader->ahead != NULL ? source->line : alar_record_input_number(&source->file);
    *is_cut = status == ALAR_E_EMPTY && error.is_cut;
    if (status == ALAR_E_INPUT) {
        return error.column > 0
                   ? reader_complain(reader, k, error.column, error.text)
                   : alar_complain(reader->error_line, reader->files->path[k], "%s", error.text);
    }
    reader->event.place = (struct alar_place){k, source->line};
    return status;
}

static void survey_add(struct alar_history_survey *survey, const struct alar_event *event)
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

/* Ranks are numbered from 0. */
static enum alar_status survey_check(struct alar_history_reader *reader, uint32_t k,
                                     const struct alar_history_survey *survey)
{
    bool is_world = survey->world > ALAR_WORLD_MAX;
    char text[ALAR_ERROR_LINE_BYTES];

    if (is_world || survey->highest >= ALAR_WORLD_MAX) {
        snprintf(text, sizeof text, "expected a world of at most %d ranks, found %s %lld",
                 ALAR_WORLD_MAX, is_world ? "world" : "rank",
                 (long long)(is_world ? survey->world : survey->highest));
        return reader_complain(reader, k, 1, text);
    }
    return ALAR_OK;
}

/* The clock is looked at now and then. */
static bool survey_is_late(const struct alar_history_survey *survey, uint64_t records)
{
    return survey->until_us && records % SURVEY_EVERY == 0 &&
           alar_clock_now(NULL) >= survey->until_us;
}

/* A file that begins with a header of known world need not be read twice. */
static enum alar_status source_survey(struct alar_history_reader *reader, uint32_t k,
                                      struct alar_history_survey *survey)
{
    enum alar_status status = ALAR_OK;
    bool is_cut, is_first = true;

    for (uint64_t records = 0; status == ALAR_OK && !survey_is_late(survey, records); records++) {
        status = source_next(reader, k, &is_cut);
        if (status == ALAR_OK) {
            survey_add(survey, &reader->event);
            ALAR_TRY(survey_check(reader, k, survey));
            if (is_first && survey->has_header && survey->world) {
                reader->source[k].rank =
                    (uint32_t)alar_event_number(&reader->event, ALAR_FIELD_RANK, ALAR_RANK_ALL);
                break;
            }
            is_first = false;
        }
    }
    if (status != ALAR_OK && status != ALAR_E_EMPTY) {
        return status;
    }
    return alar_record_input_rewind(&reader->source[k].file) == ALAR_OK
               ? ALAR_OK
               : reader_complain(reader, k, 1, "expected a file that can be read twice");
}

/* How many threads are to read and judge: those asked for, or else a core's each where there is
   enough to read. */
static uint32_t reader_threads(const struct alar_history_files *files, uint32_t asked)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct stat found;
    off_t bytes = 0;

    for (uint32_t k = 0; k < files->count && bytes < AHEAD_BYTES_LEAST; k++) {
        bytes += stat(files->path[k], &found) == 0 ? found.st_size : 0;
    }
    bool is_worth_while = files->count > 1 && bytes >= AHEAD_BYTES_LEAST && cores > 1;
    return asked > 0 ? asked : is_worth_while ? (uint32_t)cores : 1;
}

/* One thread reads and judges; the others read ahead of it. */
static enum alar_status reader_read_ahead(struct alar_history_reader *reader, uint32_t threads)
{
    uint32_t count = reader->files->count;

    if (threads <= 1 || count == 0) {
        return ALAR_OK;
    }
    struct alar_record_input **input = calloc(count, sizeof(struct alar_record_input *));
    if (input == NULL) {
        return ALAR_E_NOMEM;
    }
    for (uint32_t k = 0; k < count; k++) {
        input[k] = &reader->source[k].file;
    }
    enum alar_status status = alar_read_ahead_open(&reader->ahead, input, count, threads - 1);
    free(input);
    return status;
}

enum alar_status alar_history_reader_open(struct alar_history_reader **opened,
                                          const struct alar_history_files *files, uint32_t threads,
                                          struct alar_history_survey *survey, char *error_line)
{
    struct alar_history_reader *reader =
        calloc(1, sizeof *reader + files->count * sizeof reader->source[0]);

    *opened = reader;
    if (reader == NULL) {
        return ALAR_E_NOMEM;
    }
    reader->files = files;
    reader->error_line = error_line;
    reader->round = 1;
    *survey = (struct alar_history_survey){.highest = -1, .until_us = survey->until_us};
    ALAR_TRY(alar_record_reader_open(&reader->records));
    for (uint32_t k = 0; k < files->count; k++) {
        ALAR_TRY(source_open(reader, k));
    }
    for (uint32_t k = 0; k < files->count; k++) {
        ALAR_TRY(source_survey(reader, k, survey));
    }
    survey->world = survey->world == 0 ? survey->highest + 1 : survey->world;
    return reader_read_ahead(reader, reader_threads(files, threads));
}

/* Goes on to a file that may give a record in this round. */
static bool reader_turn(struct alar_history_reader *reader)
{
    while (reader->over < reader->files->count) {
        struct source *source = &reader->source[reader->current];

        if (!source->is_over && source->issued < reader->round) {
            return true;
        }
        if (++reader->current == reader->files->count) {
            reader->current = 0;
            reader->round++;
        }
    }
    return false;
}

enum alar_status alar_history_reader_next(struct alar_history_reader *reader,
                                          struct alar_history_record *record)
{
    bool is_cut = false;

    while (reader_turn(reader)) {
        uint32_t k = reader->current;
        struct source *source = &reader->source[k];
        enum alar_status status = source_next(reader, k, &is_cut);

        if (status != ALAR_OK && status != ALAR_E_EMPTY) {
            return status;
        }
        *record = (struct alar_history_record){NULL, {k, source->line}, source->rank};
        if (status == ALAR_OK) {
            record->event = &reader->event;
            source->issued += reader->event.record == ALAR_RECORD_ISSUE ||
                              reader->event.record == ALAR_RECORD_CALL;
            return ALAR_OK;
        }
        source->is_over = true;
        reader->over++;
        if (is_cut) {
            return ALAR_OK;
        }
    }
    return ALAR_E_EMPTY;
}

/* Reads the last record once more, so that its columns are known. Threads are ahead of it by then.
 */
static void source_again(struct alar_history_reader *reader, struct source *source)
{
    enum alar_status status = ALAR_OK;
    struct alar_record_error error;

    if (reader->ahead != NULL) {
        alar_read_ahead_close(reader->ahead);
        reader->ahead = NULL;
        status = alar_record_input_rewind(&source->file);
        while ((status == ALAR_OK || status == ALAR_E_INPUT) &&
               alar_record_input_number(&source->file) < source->line) {
            status = alar_record_input_line(&source->file, reader->records, &reader->event, &error);
        }
    }
    alar_record_input_again(&source->file, reader->records, &reader->event);
}

enum alar_status alar_history_reader_refuse(struct alar_history_reader *reader,
                                            enum alar_field field, const char *text)
{
    uint32_t file = reader->event.place.file;

    source_again(reader, &reader->source[file]);
    return reader_complain(reader, file, alar_record_column(reader->records, field), text);
}

uint64_t alar_history_reader_bytes(const struct alar_history_reader *reader)
{
    uint64_t bytes = 0;

    for (uint32_t k = 0; k < reader->files->count; k++) {
        bytes += reader->ahead != NULL ? alar_read_ahead_bytes(reader->ahead, k)
                                       : alar_record_input_bytes(&reader->source[k].file);
    }
    return bytes;
}

void alar_history_reader_close(struct alar_history_reader *reader)
{
    if (reader != NULL) {
        alar_read_ahead_close(reader->ahead);
    }
    for (uint32_t k = 0; reader != NULL && k < reader->files->count; k++) {
        alar_record_input_close(&reader->source[k].file);
    }
    if (reader != NULL) {
        alar_record_reader_close(reader->records);
    }
    free(reader);
}
