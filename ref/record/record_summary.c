/* What a recording holds, read as text: every line is one record of a writer that is ours. */
#include "record/record_summary.h"

#include "sys/error_line.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_rank_file(const char *name)
{
    size_t length = strlen(name);

    return strncmp(name, "rank", 4) == 0 && length > 6 && strcmp(name + length - 6, ".jsonl") == 0;
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
        recording->operations++;
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
        char path[4096];

        snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        FILE *file = is_rank_file(entry->d_name) ? fopen(path, "r") : NULL;
        if (file == NULL) {
            continue;
        }
        recording->ranks++;
        while (getline(&line, &room, file) > 0) {
            line_count(recording, line);
        }
        fclose(file);
    }
    free(line);
    closedir(entries);
    return ALAR_OK;
}
