/* `alar conform`: tries every promise of a back end on ranks it starts itself, has what they did
   judged by the oracle, and keeps the smallest history of each failure. */
#ifndef ALAR_CONFORM_H
#define ALAR_CONFORM_H

#include "api/backend.h"
#include "sys/error_line.h"

#include <limits.h>

enum alar_conform_level {
    ALAR_CONFORM_MUST,
    ALAR_CONFORM_SHOULD,
    ALAR_CONFORM_NOTE
};

enum {
    ALAR_CONFORM_REASON_BYTES = 640,
    ALAR_CONFORM_PROPERTIES_MAX = 48
};

/* One row of the table: a property, and how it went. */
struct alar_conform_row {
    const char *name;
    const char *what;
    enum alar_conform_level level;
    uint64_t tried;
    uint64_t failed;
    uint32_t ranks; /* of the first failure: the world, and the number of its scene */
    uint32_t scene;
    char reason[ALAR_CONFORM_REASON_BYTES]; /* as alar check says it */
    char history[PATH_MAX];                 /* "" when there is none */
};

struct alar_conform_result {
    struct alar_conform_row row[ALAR_CONFORM_PROPERTIES_MAX];
    uint32_t rows;
    char name[64];   /* of the back end, as it calls itself */
    uint32_t worlds; /* played to their end */
    uint64_t scenes;
    uint64_t operations; /* judged */
    uint64_t undecided;  /* scenes whose verdict is UNKNOWN, though they were whole */
    bool is_cut;         /* the time was over before all was tried */
    double seconds;
    bool is_follower; /* a launcher's rank that is not the first: it tells nothing */
    int code;         /* with which it leaves */
};

/* Puts something in the place of a rank's back end. */
struct alar_conform_wrap {
    void *data;
    enum alar_status (*open)(void *data, uint32_t rank, uint32_t ranks,
                             const struct alar_backend **backend, void **context, void **wrapped);
    void (*free)(void *wrapped);
};

struct alar_conform_options {
    const char *backend;   /* a path, "sim", "mpi", "mpi:mpich", "torch:gloo" ... */
    const char *config;    /* for init; "" for none */
    const char *directory; /* for histories of failures; made when there is one */
    uint32_t ranks_least;  /* sizes of the world, from ... to */
    uint32_t ranks_most;
    bool is_full;
    bool is_launched; /* this process is one of a launcher's ranks */
    uint64_t seed;
    int64_t scene;          /* this one alone; -1: all */
    uint64_t limit_us;      /* of the whole run */
    char *const *rank_argv; /* extra words for the command line of a rank; NULL-terminated */
    void (*progress)(void *data, uint32_t ranks, uint32_t scene, uint32_t scenes);
    void *data;
};

/* Runs it. Errors: ALAR_E_INPUT, with one line in `error_line`, when the back end can't be had, or
   its ranks can't be started; ALAR_E_IO when the directory can't be written. */
ALAR_MUST_USE enum alar_status alar_conform(const struct alar_conform_options *options,
                                            struct alar_conform_result *result, char *error_line);

/* One rank of it: what `alar conform --rank-of FILE` does. Returns the process's exit code. */
int alar_conform_rank(const char *file, const char *backend, const char *config,
                      const struct alar_conform_wrap *wrap);

/* GOOD, WRONG when a must is broken, INCOMPLETE when not all was tried or decided. */
enum alar_class alar_conform_class(const struct alar_conform_result *result);

/* A back end to start from, line by line; ends with NULL. */
extern const char *const alar_conform_skeleton[];

#endif
