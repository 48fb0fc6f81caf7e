/* A list, and a table of what was on it. */
#include "check/history_queue.h"

#include "sys/error_line.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIND_DEPTH = 8
};

static struct stat *seen_slot(const struct history_queue *queue, const struct stat *status)
{
    size_t at = (size_t)((status->st_ino * 0x9e3779b97f4a7c15u) ^ status->st_dev);

    for (;; at++) {
        struct stat *slot = &queue->seen[at & (queue->seen_room - 1)];

        if (slot->st_nlink == 0 ||
            (slot->st_ino == status->st_ino && slot->st_dev == status->st_dev)) {
            return slot;
        }
    }
}

static enum alar_status queue_grow(struct history_queue *queue)
{
    size_t room = queue->room ? 2 * queue->room : 16;
    struct history_directory *item = realloc(queue->item, room * sizeof *item);
    struct history_queue grown = {.seen = calloc(4 * room, sizeof(struct stat)),
                                  .seen_room = 4 * room};

    queue->item = item != NULL ? item : queue->item;
    if (item == NULL || grown.seen == NULL) {
        free(grown.seen);
        return ALAR_E_NOMEM;
    }
    for (size_t k = 0; k < queue->seen_room; k++) {
        if (queue->seen[k].st_nlink != 0) {
            *seen_slot(&grown, &queue->seen[k]) = queue->seen[k];
        }
    }
    free(queue->seen);
    queue->seen = grown.seen;
    queue->seen_room = grown.seen_room;
    queue->room = room;
    return ALAR_OK;
}

enum alar_status history_queue_add(struct history_queue *queue, const char *path, unsigned depth,
                                   char *error_line)
{
    struct stat status;

    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
        return ALAR_OK;
    }
    if (queue->count == queue->room) {
        ALAR_TRY(queue_grow(queue));
    }
    struct stat *slot = seen_slot(queue, &status);
    if (slot->st_nlink != 0) {
        return ALAR_OK;
    }
    if (depth > FIND_DEPTH) {
        return alar_complain(error_line, path,
                             "expected directories in directories to a depth of %d, found a deeper "
                             "one",
                             FIND_DEPTH);
    }
    *slot = status;
    slot->st_nlink = 1;
    queue->item[queue->count] = (struct history_directory){strdup(path), depth};
    queue->count += queue->item[queue->count].path != NULL;
    return queue->count > 0 && queue->item[queue->count - 1].path != NULL ? ALAR_OK : ALAR_E_NOMEM;
}

void history_queue_free(struct history_queue *queue)
{
    for (size_t k = 0; k < queue->count; k++) {
        free(queue->item[k].path);
    }
    free(queue->item);
    free(queue->seen);
}
