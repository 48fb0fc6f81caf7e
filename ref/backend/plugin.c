/* Back ends by name or path. dladdr, which tells where this very library lies, is a GNU extension.
 */
#define _GNU_SOURCE
#include "backend/plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PLACES = 4
};

struct places {
    char path[PLACES][PATH_MAX];
};

/* The shortest table that holds all mandatory functions. */
static const size_t size_least =
    offsetof(struct alar_backend, request_free) + sizeof(((struct alar_backend *)0)->request_free);

__attribute__((format(printf, 2, 3))) static enum alar_status refuse(char *error_line,
                                                                     const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error_line, ALAR_ERROR_LINE_BYTES, format, arguments);
    va_end(arguments);
    return ALAR_E_INPUT;
}

/* The first mandatory function that is missing, or NULL. */
static const char *function_missing(const struct alar_backend *backend)
{
    const struct {
        const char *name;
        bool is_there;
    } functions[] = {
        {"init", backend->init != NULL},
        {"caps", backend->caps != NULL},
        {"fini", backend->fini != NULL},
        {"comm_create", backend->comm_create != NULL},
        {"comm_free", backend->comm_free != NULL},
        {"allreduce", backend->allreduce != NULL},
        {"test", backend->test != NULL},
        {"wait", backend->wait != NULL},
        {"request_free", backend->request_free != NULL},
    };

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (!functions[i].is_there) {
            return functions[i].name;
        }
    }
    return NULL;
}

/* Copies a table that came from `where` when it can be used. */
static enum alar_status table_take(const struct alar_backend *table, const char *where,
                                   struct alar_backend *backend, char *error_line)
{
    struct alar_backend whole = {0};

    if (table == NULL || table->abi != ALAR_BACKEND_ABI) {
        return refuse(error_line, "%s: expected a back end of interface version %u, found %s",
                      where, ALAR_BACKEND_ABI, table == NULL ? "none" : "another version");
    }
    if (table->size < size_least) {
        return refuse(error_line, "%s: expected a table of at least %zu bytes, found %u", where,
                      size_least, table->size);
    }
    if (table->name == NULL || table->name[0] == '\0') {
        return refuse(error_line, "%s: expected a back end with a name, found none", where);
    }
    memcpy(&whole, table, table->size < sizeof(whole) ? table->size : sizeof(whole));
    const char *missing = function_missing(&whole);
    if (missing != NULL) {
        return refuse(error_line, "%s: expected nine mandatory functions, found no %s", where,
                      missing);
    }
    int roll_call = (whole.note_set != NULL) + (whole.roll_call != NULL) +
                    (whole.farewell != NULL) + (whole.leave != NULL);
    if (roll_call != 0 && roll_call != 4) {
        return refuse(error_line,
                      "%s: expected all or none of note_set, roll_call, farewell and leave, "
                      "found %d of 4",
                      where, roll_call);
    }
    *backend = whole;
    return ALAR_OK;
}

static enum alar_status file_load(const char *path, const char *remedy,
                                  struct alar_backend *backend, char *error_line)
{
    union {
        void *object;
        alar_backend_entry *function;
    } entry;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        const char *text = dlerror();
        /* Also said of a library that the plug-in itself needs. */
        bool is_missing = strstr(text, "cannot open shared object file") != NULL;

        return refuse(error_line, "expected a back end that loads, found: %s%s", text,
                      is_missing ? remedy : "");
    }
    entry.object = dlsym(library, "alar_backend");
    if (entry.object == NULL) {
        return refuse(error_line, "%s: expected the symbol alar_backend, found none", path);
    }
    return table_take(entry.function(ALAR_BACKEND_ABI), path, backend, error_line);
}

/* Cuts the file's name off; "" for a bare name. */
static void directory_keep(char *path)
{
    char *slash = strrchr(path, '/');

    *(slash == NULL ? path : slash) = '\0';
}

static void path_join(char *path, const char *directory, const char *rest)
{
    if (directory[0] == '\0' || snprintf(path, PATH_MAX, "%s/%s", directory, rest) >= PATH_MAX) {
        path[0] = '\0';
    }
}

/* Where a plug-in of that file name may lie; "" where there is no such place. */
static void places_list(struct places *places, const char *file)
{
    static const char here = 0;
    char directory[PATH_MAX] = "";
    char rest[64];
    Dl_info library;
    ssize_t length = readlink("/proc/self/exe", directory, sizeof(directory) - 1);

    directory[length > 0 ? length : 0] = '\0';
    directory_keep(directory);
    path_join(places->path[0], directory, file);
    snprintf(rest, sizeof(rest), "../lib/alar/%s", file);
    path_join(places->path[1], directory, rest);
    directory[0] = '\0';
    if (dladdr(&here, &library) != 0 && library.dli_fname != NULL) {
        snprintf(directory, sizeof(directory), "%s", library.dli_fname);
    }
    directory_keep(directory);
    snprintf(rest, sizeof(rest), "alar/%s", file);
    path_join(places->path[2], directory, rest);
    snprintf(rest, sizeof(rest), "../alar/%s", file); /* a library in lib/TRIPLET, as Debian's */
    path_join(places->path[3], directory, rest);
}

enum alar_status alar_plugin_find(const char *file, char path[PATH_MAX], char *error_line)
{
    struct places places;

    places_list(&places, file);
    for (int i = 0; i < PLACES; i++) {
        if (places.path[i][0] != '\0' && access(places.path[i], F_OK) == 0) {
            memcpy(path, places.path[i], PATH_MAX);
            return ALAR_OK;
        }
    }
    return refuse(error_line,
                  "expected %s at %.200s or %.200s, found none; build it with: make all", file,
                  places.path[0], places.path[1]);
}

static enum alar_status mpi_load(struct alar_backend *backend, char *error_line)
{
    const char *library = getenv("ALAR_MPI");
    char path[PATH_MAX];
    char file[32];

    if (library == NULL || library[0] == '\0') {
        library = getenv("OMPI_COMM_WORLD_SIZE") != NULL ? "openmpi" : "mpich";
    }
    bool is_openmpi = strcmp(library, "openmpi") == 0;
    if (!is_openmpi && strcmp(library, "mpich") != 0) {
        return refuse(error_line, "ALAR_MPI: expected mpich or openmpi, found '%s'", library);
    }
    snprintf(file, sizeof(file), "alar-%s.so", library);
    ALAR_TRY(alar_plugin_find(file, path, error_line));
    return file_load(path,
                     is_openmpi ? "; install it with: apt-get install openmpi-bin"
                                : "; install it with: apt-get install mpich",
                     backend, error_line);
}

enum alar_status alar_plugin_load(const char *name, const struct alar_backend *const *builtin,
                                  struct alar_backend *backend, char *error_line)
{
    if (strchr(name, '/') != NULL) {
        return file_load(name, "", backend, error_line);
    }
    for (size_t i = 0; builtin[i] != NULL; i++) {
        if (strcmp(builtin[i]->name, name) == 0) {
            return table_take(builtin[i], name, backend, error_line);
        }
    }
    if (strcmp(name, "mpi") == 0) {
        return mpi_load(backend, error_line);
    }
    return refuse(error_line,
                  "expected the name of a back end, as mpi, or a path with a slash, found '%s'",
                  name);
}
