/* Temporary files of tests. */
#include "scratch.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[64];

void scratch_make(void)
{
    snprintf(directory, sizeof(directory), "/tmp/alar-test-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
}

static void remove_all(const char *path, int depth)
{
    DIR *entries = opendir(path);
    struct dirent *entry = NULL;

    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        char name[2 * SCRATCH_PATH_BYTES];

        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlink(name) != 0 && depth > 0) {
            remove_all(name, depth - 1);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    rmdir(path);
}

void scratch_remove(void)
{
    remove_all(directory, 2 /* levels below */);
}

const char *scratch_path(const char *name)
{
    static char paths[4][SCRATCH_PATH_BYTES];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, SCRATCH_PATH_BYTES, "%s%s%s", directory, *name ? "/" : "", name);
    return path;
}

const char *scratch_write(const char *name, const void *bytes, size_t size)
{
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "wb");

    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fwrite(bytes, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
    return path;
}

const char *scratch_npy(const char *name, const char *descr, const char *shape, const void *data,
                        size_t size)
{
    static const char magic[10] = "\x93NUMPY\x01\x00\x76";
    char *bytes = malloc(128 + size);
    const char *path = NULL;

    cr_assert_not_null(bytes);
    memset(bytes, ' ', 127);
    memcpy(bytes, magic, sizeof(magic));
    int length = snprintf(bytes + 10, 118, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                          descr, shape);
    bytes[10 + length] = ' ';
    bytes[127] = '\n';
    if (size > 0) {
        memcpy(bytes + 128, data, size);
    }
    path = scratch_write(name, bytes, 128 + size);
    free(bytes);
    return path;
}

size_t scratch_read(const char *name, char *text, size_t room)
{
    FILE *file = fopen(scratch_path(name), "rb");

    cr_assert_not_null(file, "%s", scratch_path(name));
    size_t size = fread(text, 1, room, file);
    cr_assert_lt(size, room);
    fclose(file);
    text[size] = '\0';
    return size;
}
