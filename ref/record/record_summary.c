/* What a recording holds, read as text: every line is one record of a writer that is ours. */
#include "record/record_summary.h"

#include "sys/error_line.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool alar_recording_is_file(const char *name)
{
    char expected[32];
    unsigned rank = 0;

    if (sscanf(name, "rank%9u", &rank) != 1) {
        return false;
    }
    snprintf(expected, sizeof(expected), "rank%u.jsonl", rank);
    return strcmp(name, expected) == 0;
}

FILE *alar_recording_open(int directory, const char *name)
{
    int handle = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *file = handle >= 0 ? fdopen(handle, "r") : NULL;

    if (file == NULL && handle >= 0) {
        close(handle);
    }
    return file;
}

/* Keeps the text behind `key`, up to its quote, unless one is kept already. */
static void text_keep(const char *line, const char *key, char *text, size_t bytes)
{
    const char *at = strstr(line, key);

    if (at != NULL && text[0] == '\0') {
        at += strlen(key);
        snprintf(text, bytes, "%.*s", (int)strcspn(at, "\""), at);
    }
}

static void line_count(struct alar_recording *recording, const char *line)
{
    recording->ended += strncmp(line, "{\"ev\":\"end\"", 11) == 0;
    if (strncmp(line, "{\"ev\":\"exit\"", 12) == 0 && strstr(line, "\"E_INPUT\"") != NULL) {
        text_keep(line, "\"text\":\"", recording->unusable, sizeof(recording->unusable));
    }
    if (strncmp(line, "{\"ev\":\"issue\"", 13) == 0) {
        bool is_other = strstr(line, "\"coll\":\"") != NULL;

        recording->others += is_other;
        recording->operations += !is_other;
        recording->refused += strstr(line, "\"refused\":\"") != NULL;
        text_keep(line, "\"refused\":\"", recording->refusal, sizeof(recording->refusal));
    }
}

enum alar_status alar_recording_look(const char *directory, struct alar_recording *recording,
                                     char *error_line)
{
    DIR *entries = opendir(directory);
    struct dirent *entry = NULL;
    char *line = NULL;
    size_t room = 0;

    *recording = (struct alar_recording){0};
    if (entries == NULL) {
        return alar_complain(error_line, directory, "expected a recording, found: %s",
                             strerror(errno));
    }
    while ((entry = readdir(entries)) != NULL) {
        FILE *file = alar_recording_is_file(entry->d_name)
                         ? alar_recording_open(dirfd(entries), entry->d_name)
                         : NULL;
        if (file == NULL) {
            continue;
        }
        recording->ranks++;
        bool is_replaced = false;

        while (getline(&line, &room, file) > 0) {
            line_count(recording, line);
            /* What was reserved for the file and not used is no line. */
            is_replaced =
                line[0] == '{' ? strstr(line, "\"function\":\"exec") != NULL : is_replaced;
        }
        recording->replaced += is_replaced;
        fclose(file);
    }
    free(line);
    closedir(entries);
    return ALAR_OK;
}
