/* Buffers between guards. MAP_ANONYMOUS is no POSIX. */
#define _GNU_SOURCE
#include "conform/conform_rank.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BEFORE = 64, /* bytes looked at before a buffer */
    CANARY = 0xC5,
    LEAST = 1 << 13 /* of a map, so that it is seldom made anew */
};

bool conform_buffer_place(struct conform_buffer *buffer, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t wanted = bytes + BEFORE < LEAST ? LEAST : bytes + BEFORE;

    wanted = (wanted + page - 1) / page * page;
    if (buffer->map == NULL || buffer->bytes < wanted) {
        conform_buffer_free(buffer);
        void *map =
            mmap(NULL, wanted + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (map == MAP_FAILED || mprotect((char *)map + wanted, page, PROT_NONE) != 0) {
            return false;
        }
        buffer->map = map;
        buffer->bytes = wanted;
    }
    buffer->at = buffer->map + buffer->bytes - bytes;
    buffer->used = bytes;
    memset(buffer->at - BEFORE, CANARY, BEFORE);
    return true;
}

uint32_t conform_buffer_harm(const struct conform_buffer *buffer)
{
    uint32_t harm = 0;

    for (int k = 1; k <= BEFORE; k++) {
        harm += buffer->at[-k] != CANARY;
    }
    return harm;
}

void conform_buffer_free(struct conform_buffer *buffer)
{
    if (buffer->map != NULL) {
        munmap(buffer->map, buffer->bytes + (size_t)sysconf(_SC_PAGESIZE));
    }
    *buffer = (struct conform_buffer){0};
}
