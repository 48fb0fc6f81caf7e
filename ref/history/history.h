/* Writes the history of one rank: DIRECTORY/rankR.jsonl, one record a line (spec/history.md), each
   line with one write(2). Nothing is allocated after the opening. A NULL history takes every record
   and does nothing. Times `t` come from the caller, in units of the header's clock since its t0.
   Fields that are NULL, or 0 or -1 where a comment says so, are left out. */
#ifndef ALAR_HISTORY_H
#define ALAR_HISTORY_H

#include "api/alar.h"
#include "api/backend.h"
#include "sys/json_out.h"

struct alar_history;

enum {
    ALAR_HISTORY_LINE_BYTES = 16 << 20 /* no line is longer */
};

struct alar_history_options {
    const char *directory; /* exists, see alar_history_prepare */
    uint32_t rank;
    size_t elements; /* most elements of an operation, of up to 8 bytes; a line that grows too long
                     keeps the first ones */
    size_t ops;      /* most operations of a report */
    bool (*spoil)(void *faults, size_t *count); /* a fault of its writes; NULL: none */
    void *faults;                               /* borrowed */
};

/* Makes the directory when it is missing, and its parent exists. Refuses it when it holds rank
   files, or, with `may_replace`, deletes them: of every rank, as ranks of another run must not
   stay. Call it before any rank opens its history. Errors: ALAR_E_INPUT, with one line in
   `error_line` (ALAR_ERROR_LINE_BYTES). */
ALAR_MUST_USE enum alar_status alar_history_prepare(const char *directory, bool may_replace,
                                                    char *error_line);

/* Creates the rank's file, which must not exist.
   Errors: ALAR_E_INPUT, with one line in `error_line`; ALAR_E_NOMEM, likewise. */
ALAR_MUST_USE enum alar_status alar_history_open(struct alar_history **history,
                                                 const struct alar_history_options *options,
                                                 char *error_line);

/* Has no record been lost so far? */
bool alar_history_is_whole(const struct alar_history *history);

/* Closes the file and frees the history; NULL is fine. Does not write `end`.
   Errors: ALAR_E_IO when a record could not be written: it and all later ones are missing, none
   before it; `error_line`, unless NULL, then says which file and why. */
ALAR_MUST_USE enum alar_status alar_history_close(struct alar_history *history, char *error_line);

/* An operation: the number-th of its group on this rank. */
struct alar_history_op {
    const char *group; /* NULL: "world" */
    uint64_t number;
};

/* The header; the first record. */
struct alar_history_trace {
    uint32_t world;
    const char *backend;
    const char *tag;
    const char *clock; /* "monotonic_ns" or "ticks" */
    int64_t t0;        /* of the clock at t = 0 */
    const char *host;
    const char *boot_id; /* NULL: left out */
    const char *sees;    /* what the writer sees, words with blanks between them */
    const char *schedule;
    const char *normalization;
    const char *over;
    const char *encoding;
    uint32_t microbatches; /* 0: left out */
    uint32_t log_interval; /* 0: left out */
    const char *check_for_nan;
    const char *wait_at;
};

/* What a group is, and what a metric is in it. */
struct alar_history_declare {
    const char *group;       /* NULL: left out */
    const uint32_t *members; /* ascending; NULL: left out */
    size_t count;
    const char *key;   /* NULL: left out */
    const char *scope; /* "partial" or "replicated"; NULL: left out */
    const char *kind;  /* "mean", "sum", "min" or "max"; NULL: left out */
};

struct alar_history_issue {
    struct alar_history_op op;
    const char *reduction; /* "sum" ... */
    bool is_sync;
    const char *buffer;
    uint64_t version;
    struct alar_elements in; /* also gives dtype and n */
    const char *key;
    bool has_step;
    int64_t step;
    bool has_microbatch;
    uint32_t microbatch;
    uint64_t pairs; /* 0: left out */
};

struct alar_history_wait {
    struct alar_history_op op;
    bool is_done; /* what a completion query said */
    uint64_t version;
    struct alar_elements now; /* no values: left out */
};

/* End of a wait (`done`), or the blocking twin's value (`twin`). */
struct alar_history_done {
    struct alar_history_op op;
    uint64_t version;
    struct alar_elements out;
};

struct alar_history_fail {
    struct alar_history_op op;
    const char *error; /* "timeout", or a kind of error */
    const char *text;
    const uint32_t *missing; /* ranks that the back end named, ascending */
    size_t missing_count;
};

struct alar_history_read {
    struct alar_history_op op;
    uint64_t at; /* element */
    struct alar_elements bits;
};

struct alar_history_report {
    bool counts_nonfinite;            /* do flags travel? Else nobody knows how many there are */
    const struct alar_report *report; /* borrowed for the call */
    const char *metric;
    enum alar_normalization normalization;
    enum alar_over over;
    enum alar_encoding encoding; /* the bits' width */
    const char *sink;
    struct alar_history_op first_op; /* `ops` operations of one group in a row */
    uint64_t ops;
};

struct alar_history_fault {
    const char *point;
    uint64_t hit;
    int64_t value;
    bool has_op;
    struct alar_history_op op;
};

struct alar_history_exit {
    int32_t code; /* exit code, or minus the signal's number */
    enum alar_status status;
    const char *text;
};

void alar_history_trace(struct alar_history *history, uint64_t t,
                        const struct alar_history_trace *record);

/* What a back end promises, before the first issue. */
void alar_history_caps(struct alar_history *history, uint64_t t, const struct alar_caps *caps);

void alar_history_declare(struct alar_history *history, uint64_t t,
                          const struct alar_history_declare *record);
void alar_history_issue(struct alar_history *history, uint64_t t,
                        const struct alar_history_issue *record);
void alar_history_wait(struct alar_history *history, uint64_t t,
                       const struct alar_history_wait *record);
void alar_history_done(struct alar_history *history, uint64_t t,
                       const struct alar_history_done *record);

void alar_history_complete(struct alar_history *history, uint64_t t, struct alar_history_op op);
void alar_history_fail(struct alar_history *history, uint64_t t,
                       const struct alar_history_fail *record);
void alar_history_read(struct alar_history *history, uint64_t t,
                       const struct alar_history_read *record);

void alar_history_report(struct alar_history *history, uint64_t t,
                         const struct alar_history_report *record);
void alar_history_fault(struct alar_history *history, uint64_t t,
                        const struct alar_history_fault *record);
/* The communicator of a group was torn down; NULL: "world". */
void alar_history_abort(struct alar_history *history, uint64_t t, const char *group);
void alar_history_exit(struct alar_history *history, uint64_t t,
                       const struct alar_history_exit *record);
/* The regular end; the last record. */
void alar_history_end(struct alar_history *history, uint64_t t);

#endif
