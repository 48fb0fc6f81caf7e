/* From the paths on a command line to histories: which files belong together. */
#ifndef ALAR_HISTORY_FIND_H
#define ALAR_HISTORY_FIND_H

#include "check/history_judge.h"

/* The histories found, each with its files; all owned by the set. */
struct alar_history_set {
    struct alar_history_files *history;
    size_t count;
    char **text; /* every path, for freeing */
    size_t texts;
};

/* Sorts out `count` paths: "-", files, directories (each once, whatever links there are; to a depth
   of 8). Rank files of one directory, or named in a row, become one history.
   Errors: ALAR_E_INPUT, with one line in `error_line` (ALAR_ERROR_LINE_BYTES): no such path, no
   file but a pipe or a device, nothing found, directories that go deeper, or files that do not
   belong together; ALAR_E_NOMEM. The set is then empty. */
ALAR_MUST_USE enum alar_status alar_history_find(char *const *path, size_t count,
                                                 struct alar_history_set *set, char *error_line);

/* Is that file, under whatever name, one of those that are read? */
bool alar_history_set_reads(const struct alar_history_set *set, const char *path);

/* Frees what a set owns; a zeroed one is fine. */
void alar_history_set_free(struct alar_history_set *set);

#endif
