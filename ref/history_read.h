/* Reads the files of one history and has them judged: rank files are merged operation by operation,
   so that memory follows what is pending and not how long the files are. */
#ifndef ALAR_HISTORY_READ_H
#define ALAR_HISTORY_READ_H

#include "judge.h"
#include "options.h"

enum {
    ALAR_WORLD_MAX = 131072 /* ranks of a history */
};

/* The files of one history, and the name it goes by. Borrowed texts. */
struct alar_history_files {
    const char *name;        /* "-" or a path */
    const char *const *path; /* "-" is standard input */
    uint32_t count;
};

/* What reading and judging one history came to. */
struct alar_reading {
    struct alar_judge *judge; /* owned; holds verdict and contract; NULL when there is none */
    struct alar_arena arena;
    uint64_t bytes;                       /* read */
    char complaint[ALAR_COMPLAINT_BYTES]; /* one line, when the input can't be used */
};

/* Told now and then while a long history is read: bytes so far. */
struct alar_progress {
    void (*tell)(void *context, uint64_t bytes);
    void *context;
};

/* Told of every operation once it is settled; see struct alar_op_view. */
struct alar_settled {
    void (*tell)(void *context, const struct alar_op_view *view);
    void *context;
};

/* Reads and judges. Hooks may be NULL. alar_reading_free frees what it leaves, in any case.
   Errors: ALAR_E_INPUT when the input can't be used, with the complaint `file:line:column: expected
   ..., found ...`; ALAR_E_NOMEM, likewise. */
ALAR_MUST_USE enum alar_status alar_reading_judge(struct alar_reading *reading,
                                                  const struct alar_history_files *files,
                                                  const struct alar_progress *progress,
                                                  const struct alar_settled *settled);

void alar_reading_free(struct alar_reading *reading);

#endif
