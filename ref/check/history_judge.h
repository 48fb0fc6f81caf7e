/* One history, from its files to its verdict: what the reader gives goes to the judge, whose memory
   follows what is pending and not how long the files are. */
#ifndef ALAR_HISTORY_JUDGE_H
#define ALAR_HISTORY_JUDGE_H

#include "check/history_read.h"
#include "judge/judge.h"

/* What reading and judging one history came to. */
struct alar_reading {
    struct alar_judge *judge; /* owned; holds verdict and contract; NULL when there is none */
    struct alar_arena arena;
    void *scratch;
    struct alar_evidence *findings; /* room for them, when more were to be kept */
    uint64_t bytes;                 /* read */
    uint64_t until_us;              /* on alar_clock_now; 0: there is no limit */
    size_t memory_most; /* bytes that the arena may have; SIZE_MAX: as many as there are */
    char error_line[ALAR_ERROR_LINE_BYTES]; /* one line, when the input can't be used */
};

/* What whoever reads wants to know on the way; any of the functions may be NULL. */
struct alar_reading_hooks {
    /* Told now and then while a long history is read: bytes so far. */
    void (*progress)(void *context, uint64_t bytes);
    /* Told of every operation once it is settled, and of every legal value: see judge.h. */
    void (*settled)(void *context, const struct alar_op_view *view);
    void (*certify)(void *context, const struct alar_legal_view *view);
    /* Told of every record after it was judged; the event is borrowed. */
    void (*event)(void *context, const struct alar_event *event);
    void *context;
    uint32_t threads;      /* that read, the caller's included; 0: see history_read.h */
    uint32_t finding_room; /* findings to keep at most; 0: ALAR_FINDINGS_MAX */
    bool needs_power;      /* see struct alar_judge_setup */
    /* The verdict is about what was judged when so much is spent: seconds by the clock, and MiB
       that the judge keeps. spec: O-117 */
    bool has_seconds, has_memory;
    uint64_t seconds, memory_mib;
};

/* Reads and judges. hooks may be NULL. alar_reading_free frees what it leaves, in any case.
   Errors: ALAR_E_INPUT when the input can't be used, with the error_line
   `file:line:column: expected ..., found ...`; ALAR_E_NOMEM, likewise. */
ALAR_MUST_USE enum alar_status alar_reading_judge(struct alar_reading *reading,
                                                  const struct alar_history_files *files,
                                                  const struct alar_reading_hooks *hooks);

void alar_reading_free(struct alar_reading *reading);

#endif
