/* Shared by the commands that look at one history as a whole: view, cost, export. */
#ifndef ALAR_CLI_TIMELINE_H
#define ALAR_CLI_TIMELINE_H

#include "check/history_find.h"
#include "cli/cli.h"
#include "timeline/timeline.h"

/* A history that was read, with its verdict. */
struct cli_look {
    struct alar_history_set set;
    struct alar_reading reading;
    struct alar_timeline timeline;
    const struct alar_history_files *files; /* the history's */
    const struct alar_verdict *verdict;
};

/* Reads the one history at `path` and finishes its timeline; `legal` is told of the legal values
   of short histories, with the context; may be NULL. cli_look_close frees what it leaves, in any
   case. Returns -1 when all is well, else an exit code after one line on stderr that begins with
   `who`. */
int cli_look_open(struct cli_look *look, const char *who, char *path,
                  void (*legal)(void *context, const struct alar_legal_view *view), void *context);
void cli_look_close(struct cli_look *look);

/* The file to write: standard output for NULL and "-"; not one that the `looks` have read. Returns
   NULL after a complaint. */
FILE *cli_output_open(const char *who, const char *path, const struct cli_look *look, int looks);

/* Closes it; returns 0, or an exit code after a complaint when something was not written. */
int cli_output_close(const char *who, const char *path, FILE *file);

#endif
