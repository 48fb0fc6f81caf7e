/* From addresses to lines of source, by addr2line, which binutils has. */
#define _GNU_SOURCE
#include "record/record_summary.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PLACES_MOST = 1024,
    PATH_BYTES = 4096
};

struct place {
    char *text;  /* "/path/program+0x1234", as it is in the records */
    char *found; /* "program.c:12"; NULL: not found */
};

struct places {
    struct place place[PLACES_MOST];
    size_t count;
};

/* The `src` of a line, and its length; NULL when it has none of the kind that is to be resolved. */
static const char *line_place(const char *line, size_t *length)
{
    const char *at = strstr(line, "\"src\":\"");

    if (at == NULL) {
        return NULL;
    }
    at += 7;
    *length = strcspn(at, "\"\\");
    bool is_whole = at[*length] == '"';
    const char *plus = memrchr(at, '+', *length);
    return is_whole && plus != NULL && strncmp(plus, "+0x", 3) == 0 ? at : NULL;
}

static struct place *place_find(struct places *places, const char *text, size_t length)
{
    for (size_t k = 0; k < places->count; k++) {
        if (strlen(places->place[k].text) == length &&
            memcmp(places->place[k].text, text, length) == 0) {
            return &places->place[k];
        }
    }
    return NULL;
}

/* What addr2line prints for one address; false when it can't be run. */
static bool line_ask(const char *file, const char *address, char *answer, size_t bytes)
{
    int out[2];

    if (pipe2(out, O_CLOEXEC) != 0) {
        return false;
    }
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);

        dup2(out[1], STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execlp("addr2line", "addr2line", "-e", file, address, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    size_t used = 0;
    for (ssize_t more = 1; child > 0 && more > 0 && used < bytes - 1; used += (size_t)more) {
        more = read(out[0], answer + used, bytes - 1 - used);
        more = more < 0 ? 0 : more;
    }
    answer[used] = '\0';
    close(out[0]);
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* "/path/program.c:12 (discriminator 3)" as "program.c:12"; "??:0" is no answer. */
static void place_resolve(struct place *place)
{
    char file[PATH_BYTES];
    char answer[PATH_BYTES];
    char *plus = strrchr(place->text, '+');

    snprintf(file, sizeof(file), "%.*s", (int)(plus - place->text), place->text);
    if (!line_ask(file, plus + 1, answer, sizeof(answer))) {
        return;
    }
    answer[strcspn(answer, " \n\"\\")] = '\0';
    const char *slash = strrchr(answer, '/');
    const char *found = slash != NULL ? slash + 1 : answer;
    const char *colon = strrchr(found, ':');
    if (colon != NULL && found[0] != '?' && colon[1] != '?' && strcmp(colon, ":0") != 0) {
        place->found = strdup(found);
    }
}

/* Resolves what is met for the first time. */
static const char *place_answer(struct places *places, const char *text, size_t length)
{
    struct place *place = place_find(places, text, length);

    if (place == NULL && places->count < PLACES_MOST) {
        place = &places->place[places->count];
        place->text = strndup(text, length);
        if (place->text == NULL) {
            return NULL;
        }
        places->count++;
        place_resolve(place);
    }
    return place != NULL ? place->found : NULL;
}

static void line_copy(FILE *to, const char *line, struct places *places)
{
    size_t length = 0;
    const char *text = line_place(line, &length);
    const char *found = text != NULL ? place_answer(places, text, length) : NULL;

    if (found == NULL) {
        fputs(line, to);
        return;
    }
    fwrite(line, 1, (size_t)(text - line), to);
    fputs(found, to);
    fputs(text + length, to);
}

static enum alar_status lines_copy(FILE *from, FILE *to, struct places *places)
{
    char *line = NULL;
    size_t room = 0;

    while (getline(&line, &room, from) > 0) {
        line_copy(to, line, places);
    }
    free(line);
    return ferror(from) == 0 && fflush(to) == 0 ? ALAR_OK : ALAR_E_IO;
}

/* A new file beside this one, of its mode; *copy is its name. */
static FILE *copy_open(int directory, FILE *from, const char *name, char *copy, size_t bytes)
{
    struct stat stat = {0};

    snprintf(copy, bytes, "%s.%ld", name, (long)getpid());
    int handle =
        openat(directory, copy, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *to =
        handle >= 0 && fstat(fileno(from), &stat) == 0 && fchmod(handle, stat.st_mode & 07777) == 0
            ? fdopen(handle, "w")
            : NULL;
    if (to == NULL && handle >= 0) {
        close(handle);
        unlinkat(directory, copy, 0);
    }
    return to;
}

/* The copy takes the file's place. A line that a crash has cut is copied as far as it goes. */
static enum alar_status file_resolve(int directory, const char *name, struct places *places)
{
    char copy[320];
    FILE *from = alar_recording_open(directory, name);
    FILE *to = from != NULL ? copy_open(directory, from, name, copy, sizeof(copy)) : NULL;
    enum alar_status status = to != NULL ? lines_copy(from, to, places) : ALAR_E_IO;

    if (from != NULL) {
        fclose(from);
    }
    if (to == NULL) {
        return ALAR_E_IO;
    }
    status = fclose(to) == 0 ? status : ALAR_E_IO;
    if (status == ALAR_OK && renameat(directory, copy, directory, name) == 0) {
        return ALAR_OK;
    }
    unlinkat(directory, copy, 0);
    return ALAR_E_IO;
}

enum alar_status alar_recording_resolve(const char *directory)
{
    struct places *places = calloc(1, sizeof(*places));
    DIR *entries = opendir(directory);
    enum alar_status status = places != NULL && entries != NULL ? ALAR_OK : ALAR_E_NOMEM;
    struct dirent *entry = NULL;

    while (status == ALAR_OK && (entry = readdir(entries)) != NULL) {
        if (alar_recording_is_file(entry->d_name)) {
            status = file_resolve(dirfd(entries), entry->d_name, places);
        }
    }
    for (size_t k = 0; places != NULL && k < places->count; k++) {
        free(places->place[k].text);
        free(places->place[k].found);
    }
    free(places);
    if (entries != NULL) {
        closedir(entries);
    }
    return status;
}
