/* A temporary directory for one test, and the files that a test wants in it. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

enum {
    SCRATCH_PATH_BYTES = 256
};

/* Makes an empty directory, the only one of this process; scratch_remove deletes it and all files
   in it. For .init and .fini of a test. */
void scratch_make(void);
void scratch_remove(void);

/* DIRECTORY/name, or the directory for "". Static storage, overwritten by the fourth call after. */
const char *scratch_path(const char *name);

/* Writes a file of `size` bytes and returns its path. */
const char *scratch_write(const char *name, const void *bytes, size_t size);

/* Writes a NumPy 1.0 file as numpy does. `descr` is "<f4", `shape` the text "(2, 3)". Returns its
   path. */
const char *scratch_npy(const char *name, const char *descr, const char *shape, const void *data,
                        size_t size);

/* Reads a whole file into `text` with a 0 behind it; returns its bytes. A test that reads more than
   `room` fails. */
size_t scratch_read(const char *name, char *text, size_t room);

#endif
