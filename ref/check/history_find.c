/* A rank file says so in its first record; everything else that ends in .jsonl, or packed in .alar,
   is a history of its own. */
#include "check/history_find.h"

#include "check/history_head.h"
#include "check/history_queue.h"
#include "sys/error_line.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct finding {
    struct alar_history_set *set;
    struct alar_record_reader *records;
    char *error_line;
    size_t room; /* histories there is room for */
    size_t text_room;
};

static enum alar_status find_keep(struct finding *find, const char *text, char **kept)
{
    struct alar_history_set *set = find->set;

    if (set->texts == find->text_room) {
        size_t room = find->text_room ? 2 * find->text_room : 64;
        char **grown = realloc(set->text, room * sizeof *grown);

        if (grown == NULL) {
            return ALAR_E_NOMEM;
        }
        set->text = grown;
        find->text_room = room;
    }
    *kept = strdup(text);
    if (*kept == NULL) {
        return ALAR_E_NOMEM;
    }
    set->text[set->texts++] = *kept;
    return ALAR_OK;
}

/* Starts a history of that name, without files. */
static enum alar_status find_history(struct finding *find, const char *name)
{
    struct alar_history_set *set = find->set;
    char *kept;

    if (set->count == find->room) {
        size_t room = find->room ? 2 * find->room : 16;
        struct alar_history_files *grown = realloc(set->history, room * sizeof *grown);

        if (grown == NULL) {
            return ALAR_E_NOMEM;
        }
        set->history = grown;
        find->room = room;
    }
    ALAR_TRY(find_keep(find, name, &kept));
    set->history[set->count++] = (struct alar_history_files){kept, NULL, 0};
    return ALAR_OK;
}

/* A file is opened more than once, and has an end. */
static enum alar_status find_is_file(struct finding *find, const char *path)
{
    struct stat status;
    const char *kind = "a socket";

    if (strcmp(path, "-") == 0 || stat(path, &status) != 0 || S_ISREG(status.st_mode)) {
        return ALAR_OK;
    }
    if (S_ISDIR(status.st_mode)) {
        kind = "a directory";
    } else if (S_ISFIFO(status.st_mode)) {
        kind = "a pipe (a history from a pipe is -, standard input)";
    } else if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) {
        kind = "a device";
    }
    return alar_complain(find->error_line, path, "expected a file, found %s", kind);
}

/* Adds a file to the last history. */
static enum alar_status find_file(struct finding *find, const char *path)
{
    struct alar_history_files *history = &find->set->history[find->set->count - 1];
    const char **grown = realloc((void *)history->path, (history->count + 1) * sizeof *grown);
    char *kept;

    if (grown == NULL) {
        return ALAR_E_NOMEM;
    }
    history->path = grown;
    ALAR_TRY(find_keep(find, path, &kept));
    grown[history->count++] = kept;
    return ALAR_OK;
}

static bool is_history_name(const char *name)
{
    size_t length = strlen(name);

    return (length > 6 && strcmp(name + length - 6, ".jsonl") == 0) ||
           (length > 5 && strcmp(name + length - 5, ".alar") == 0);
}

static int order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a directory that matter: histories, or else sub-directories; sorted. */
static enum alar_status find_names(struct finding *find, const char *path, char ***names,
                                   size_t *count)
{
    DIR *directory = opendir(path);
    struct dirent *entry;

    *names = NULL;
    *count = 0;
    if (directory == NULL) {
        return alar_complain(find->error_line, path, "expected a directory to read, found: %s",
                             strerror(errno));
    }
    while ((entry = readdir(directory)) != NULL) {
        char **grown;

        if (entry->d_name[0] == '.') {
            continue;
        }
        grown = realloc(*names, (*count + 1) * sizeof *grown);
        if (grown == NULL) {
            break;
        }
        *names = grown;
        size_t room = strlen(path) + strlen(entry->d_name) + 2;
        grown[*count] = malloc(room);
        if (grown[*count] == NULL) {
            break;
        }
        snprintf(grown[(*count)++], room, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/",
                 entry->d_name);
    }
    closedir(directory);
    if (entry != NULL) {
        return ALAR_E_NOMEM;
    }
    if (*count > 0) {
        qsort(*names, *count, sizeof **names, order);
    }
    return ALAR_OK;
}

/* What the first file that says something says. */
static struct alar_history_head find_beside(struct finding *find, char **names, size_t count)
{
    struct alar_history_head head = {false, true, 0, 0, 0};

    for (size_t k = 0; k < count && head.is_blank; k++) {
        head = is_history_name(names[k]) ? alar_history_head_read(find->records, names[k]) : head;
    }
    return head;
}

/* Files of one directory: rank files together, or each one alone; never a mixture. */
static enum alar_status find_in_directory(struct finding *find, const char *path, char **names,
                                          size_t count)
{
    struct alar_history_head first = {false, false, 0, 0, 0};
    bool has_any = false;

    for (size_t k = 0; k < count; k++) {
        if (!is_history_name(names[k])) {
            continue;
        }
        ALAR_TRY(find_is_file(find, names[k]));
        struct alar_history_head head = alar_history_head_read(find->records, names[k]);

        if (head.is_blank) { /* a rank that wrote nothing, beside ranks that did. spec: O-82 */
            head = find_beside(find, names, count);
        }
        if (has_any && (first.is_rank_file || head.is_rank_file) &&
            !alar_history_head_is_same(&first, &head)) {
            char where[ALAR_ERROR_LINE_BYTES];

            snprintf(where, sizeof where, "%s:1:1", names[k]);
            return alar_complain(find->error_line, where,
                                 "expected a file of the same history as its neighbours in %s, "
                                 "found another one (header, world or tag differ)",
                                 path);
        }
        if (!has_any || !first.is_rank_file) {
            ALAR_TRY(find_history(find, head.is_rank_file ? path : names[k]));
        }
        first = has_any ? first : head;
        has_any = true;
        ALAR_TRY(find_file(find, names[k]));
    }
    return ALAR_OK;
}

static enum alar_status find_directory(struct finding *find, const char *path)
{
    struct history_queue queue = {0};
    size_t before = find->set->count;
    enum alar_status status = history_queue_add(&queue, path, 0, find->error_line);

    for (; status == ALAR_OK && queue.next < queue.count; queue.next++) {
        struct history_directory at = queue.item[queue.next];
        char **names;
        size_t count;

        status = find_names(find, at.path, &names, &count);
        if (status == ALAR_OK) {
            status = find_in_directory(find, at.path, names, count);
        }
        for (size_t k = 0; k < count; k++) {
            if (status == ALAR_OK && !is_history_name(names[k])) {
                status = history_queue_add(&queue, names[k], at.depth + 1, find->error_line);
            }
            free(names[k]);
        }
        free(names);
    }
    history_queue_free(&queue);
    if (status == ALAR_OK && find->set->count == before) {
        return alar_complain(find->error_line, path, "expected .jsonl or .alar files, found none");
    }
    return status;
}

static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? (size_t)(slash - path) : 0;
}

/* Does this rank file go on with the history that the file before it began? */
static bool find_goes_on(const char *before, const struct alar_history_head *last, const char *path,
                         const struct alar_history_head *head)
{
    size_t length = directory_length(path);

    return before != NULL && alar_history_head_is_same(last, head) && last->rank != head->rank &&
           directory_length(before) == length && memcmp(before, path, length) == 0;
}

static enum alar_status find_paths(struct finding *find, char *const *path, size_t count)
{
    struct alar_history_head last = {false, false, 0, 0, 0};
    const char *before = NULL;

    for (size_t k = 0; k < count; k++) {
        struct stat status;
        bool is_standard_input = strcmp(path[k], "-") == 0;

        if (!is_standard_input && stat(path[k], &status) != 0) {
            return alar_complain(find->error_line, path[k],
                                 "expected a file or directory, found: %s", strerror(errno));
        }
        if (!is_standard_input && S_ISDIR(status.st_mode)) {
            ALAR_TRY(find_directory(find, path[k]));
            before = NULL;
            continue;
        }
        ALAR_TRY(find_is_file(find, path[k]));
        struct alar_history_head head = is_standard_input
                                            ? (struct alar_history_head){false, false, 0, 0, 0}
                                            : alar_history_head_read(find->records, path[k]);
        if (!find_goes_on(before, &last, path[k], &head)) {
            ALAR_TRY(find_history(find, path[k]));
        }
        ALAR_TRY(find_file(find, path[k]));
        before = path[k];
        last = head;
    }
    return ALAR_OK;
}

enum alar_status alar_history_find(char *const *path, size_t count, struct alar_history_set *set,
                                   char *error_line)
{
    struct finding find = {.set = set, .error_line = error_line};
    enum alar_status status = alar_record_reader_open(&find.records);

    memset(set, 0, sizeof *set);
    if (status == ALAR_OK) {
        status = find_paths(&find, path, count);
    }
    alar_record_reader_close(find.records);
    if (status == ALAR_E_NOMEM) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES, "expected enough memory, found too little");
    }
    if (status != ALAR_OK) {
        alar_history_set_free(set);
    }
    return status;
}

bool alar_history_set_reads(const struct alar_history_set *set, const char *path)
{
    struct stat written, read;

    if (stat(path, &written) != 0) {
        return false;
    }
    for (size_t k = 0; k < set->count; k++) {
        for (uint32_t f = 0; f < set->history[k].count; f++) {
            if (stat(set->history[k].path[f], &read) == 0 && read.st_ino == written.st_ino &&
                read.st_dev == written.st_dev) {
                return true;
            }
        }
    }
    return false;
}

void alar_history_set_free(struct alar_history_set *set)
{
    for (size_t k = 0; k < set->count; k++) {
        free((void *)set->history[k].path);
    }
    for (size_t k = 0; k < set->texts; k++) {
        free(set->text[k]);
    }
    free(set->history);
    free(set->text);
    memset(set, 0, sizeof *set);
}
