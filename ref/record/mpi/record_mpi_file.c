/* The history's file as memory. Blocks are reserved before they are touched, so that a full disk is
   an error and never a signal. fallocate is an extension. */
#define _GNU_SOURCE
#include "record_mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    WINDOW_BYTES = 1 << 20
};

static struct {
    unsigned char *window; /* NULL: none */
    off_t start;           /* of the window in the file */
    size_t used;           /* bytes of it */
} file;

static void window_close(void)
{
    if (file.window != NULL) {
        munmap(file.window, WINDOW_BYTES);
        file.start += WINDOW_BYTES;
    }
    file.window = NULL;
    file.used = 0;
}

static bool window_open(int handle)
{
    if (fallocate(handle, 0, file.start, WINDOW_BYTES) != 0) {
        return false;
    }
    void *window = mmap(NULL, WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                        handle, file.start);
    if (window == MAP_FAILED) {
        return false;
    }
    file.window = window;
    return true;
}

/* As write(2); a line that does not fit into the window is written in two pieces. */
static ssize_t file_write(int handle, const void *bytes, size_t count)
{
    if (file.used == WINDOW_BYTES) {
        window_close();
    }
    if (file.window == NULL && !window_open(handle)) {
        return -1;
    }
    size_t left = WINDOW_BYTES - file.used;
    size_t now = count < left ? count : left;
    memcpy(file.window + file.used, bytes, now);
    file.used += now;
    return (ssize_t)now;
}

void record_file_start(struct alar_line_writer *append)
{
    if (window_open(append->file)) {
        append->write = file_write;
    }
}

void record_file_end(struct alar_line_writer *append)
{
    if (append->write == file_write) {
        off_t length = file.start + (off_t)file.used;

        window_close();
        if (ftruncate(append->file, length) != 0 && append->error == 0) {
            append->error = errno;
        }
    }
}
