/* Directories to be searched, each once, private to history_find.c. */
#ifndef ALAR_HISTORY_QUEUE_H
#define ALAR_HISTORY_QUEUE_H

#include "api/status.h"

#include <stddef.h>
#include <sys/stat.h>

struct history_directory {
    char *path;
    unsigned depth;
};

struct history_queue {
    struct history_directory *item;
    size_t count, next, room;
    struct stat *seen; /* by hash of device and number; st_nlink 0 where there is none */
    size_t seen_room;  /* a power of two, more than twice `count` */
};

/* Adds a directory; a path that is none is passed over, and one that was there before, under
   another name: links may go round.
   Errors: ALAR_E_INPUT, with one line, when it lies too deep; ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status history_queue_add(struct history_queue *queue, const char *path,
                                                 unsigned depth, char *error_line);

/* A zeroed one is fine. */
void history_queue_free(struct history_queue *queue);

#endif
