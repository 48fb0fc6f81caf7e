/* The history writer: how a file is opened and closed, and what every record begins and ends with.
   The records themselves are in history_record.c. */
#include "history/history_state.h"

#include "sys/error_line.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BASE_BYTES = 8192, /* a line without elements and operations, texts included */
    LANE_BYTES = 19,   /* "0123456789abcdef", */
    OP_BYTES = 64      /* "group/number", */
};

static bool is_rank_file(const char *name)
{
    char expected[32];
    unsigned rank = 0;

    if (sscanf(name, "rank%9u", &rank) != 1) {
        return false;
    }
    snprintf(expected, sizeof(expected), "rank%u.jsonl", rank);
    return strcmp(name, expected) == 0;
}

/* A file of a recording begins as one, or has nothing but reserved room in it since its writer was
   killed at once. */
static bool is_recording(int directory, const char *name)
{
    static const char head[] = "{\"ev\":\"trace\"";
    char start[sizeof(head) - 1];
    struct stat stat = {0};
    int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is =
        file >= 0 && fstat(file, &stat) == 0 && S_ISREG(stat.st_mode) &&
        (stat.st_size == 0 || (read(file, start, sizeof(start)) == (ssize_t)sizeof(start) &&
                               (start[0] == '\0' || memcmp(start, head, sizeof(start)) == 0)));

    if (file >= 0) {
        close(file);
    }
    return is;
}

static enum alar_status entries_clear(DIR *entries, const char *directory, bool may_replace,
                                      char *error_line)
{
    struct dirent *entry = NULL;

    while ((entry = readdir(entries)) != NULL) {
        if (!is_rank_file(entry->d_name)) {
            continue;
        }
        if (!may_replace) {
            return alar_complain(error_line, directory,
                                 "expected a directory without a history, found %s in it",
                                 entry->d_name);
        }
        if (!is_recording(dirfd(entries), entry->d_name)) {
            return alar_complain(error_line, directory,
                                 "expected a recording to replace, found %s, which is none",
                                 entry->d_name);
        }
        if (unlinkat(dirfd(entries), entry->d_name, 0) != 0 && errno != ENOENT) {
            return alar_complain(error_line, directory, "expected to replace %s, found: %s",
                                 entry->d_name, strerror(errno));
        }
    }
    return ALAR_OK;
}

enum alar_status alar_history_prepare(const char *directory, bool may_replace, char *error_line)
{
    DIR *entries = NULL;

    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        return alar_complain(error_line, directory,
                             "expected a directory to write a history to, found: %s",
                             strerror(errno));
    }
    entries = opendir(directory);
    if (entries == NULL || access(directory, W_OK | X_OK) != 0) {
        int error = errno;

        if (entries != NULL) {
            closedir(entries);
        }
        return alar_complain(error_line, directory,
                             "expected a directory to write a history to, found: %s",
                             strerror(error));
    }
    enum alar_status status = entries_clear(entries, directory, may_replace, error_line);
    closedir(entries);
    return status;
}

/* Room for one line. */
static size_t line_bytes(const struct alar_history_options *options)
{
    if (options->elements > ALAR_HISTORY_LINE_BYTES || options->ops > ALAR_HISTORY_LINE_BYTES) {
        return ALAR_HISTORY_LINE_BYTES;
    }
    size_t bytes = BASE_BYTES + options->elements * LANE_BYTES + options->ops * OP_BYTES;
    return bytes < ALAR_HISTORY_LINE_BYTES ? bytes : ALAR_HISTORY_LINE_BYTES;
}

enum alar_status alar_history_open(struct alar_history **history,
                                   const struct alar_history_options *options, char *error_line)
{
    size_t path_bytes = strlen(options->directory) + sizeof("/rank4294967295.jsonl");
    size_t room = line_bytes(options);
    struct alar_history *made = calloc(1, sizeof(*made) + path_bytes + room);

    if (made == NULL) {
        (void)!alar_complain(error_line, options->directory, "expected memory for a history");
        return ALAR_E_NOMEM;
    }
    made->rank = options->rank;
    made->path = (char *)(made + 1);
    made->json.bytes = made->path + path_bytes;
    made->json.room = room;
    snprintf(made->path, path_bytes, "%s/rank%u.jsonl", options->directory, options->rank);
    enum alar_status status =
        alar_line_write_open(&made->append, made->path, false /* must not exist */, error_line);
    if (status != ALAR_OK) {
        free(made);
        return status;
    }
    made->append.spoil = options->spoil;
    made->append.faults = options->faults;
    *history = made;
    return ALAR_OK;
}

bool alar_history_is_whole(const struct alar_history *history)
{
    return history == NULL || history->append.error == 0;
}

enum alar_status alar_history_close(struct alar_history *history, char *error_line)
{
    if (history == NULL) {
        return ALAR_OK;
    }
    enum alar_status status = alar_line_write_close(&history->append);
    if (status != ALAR_OK && error_line != NULL) {
        (void)!alar_complain(error_line, history->path,
                             "expected to write the history, found: %s after %llu records",
                             strerror(history->append.error), (unsigned long long)history->written);
    }
    free(history);
    return status;
}

struct alar_json *history_begin(struct alar_history *history, uint64_t t, const char *event)
{
    struct alar_json *json = &history->json;

    alar_json_begin(json);
    alar_json_text(json, "ev", event);
    alar_json_count(json, "rank", history->rank);
    alar_json_count(json, "i", history->records++);
    alar_json_count(json, "t", t);
    return json;
}

void history_elements(struct alar_history *history, const char *key, struct alar_elements elements)
{
    size_t left = history->json.room - history->json.length;
    size_t each = 2 * alar_dtype_bytes(elements.dtype) + 3;
    size_t most = left > BASE_BYTES / 2 ? (left - BASE_BYTES / 2) / each : 0;

    elements.count = elements.count < most ? elements.count : most;
    alar_json_elements(&history->json, key, elements);
}

void history_end(struct alar_history *history)
{
    struct alar_line_writer *append = &history->append;

    alar_json_end(&history->json);
    if (history->json.is_full && append->error == 0) {
        append->error = EMSGSIZE;
    }
    alar_line_write_line(append, history->json.bytes, history->json.length);
    history->written += append->error == 0 ? 1U : 0U;
}
