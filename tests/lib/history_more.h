/* Records that no command of ours writes, for the tests that play whole histories: contracts,
   twins, storage. They are composed by the writer of ref/history. */
#ifndef TESTS_HISTORY_MORE_H
#define TESTS_HISTORY_MORE_H

#include "history/history.h"

/* What the back end promises; before the first issue. */
struct alar_history_contract {
    const char *wait;  /* "blocking" or "stream" */
    const char *order; /* "free" or "fixed" */
    const char *tree;
    const char *nan;   /* "propagate" ... */
    uint32_t height;   /* 0: left out */
    uint64_t deadline; /* in units of t; 0: left out */
};

void alar_history_contract(struct alar_history *history, uint64_t t,
                           const struct alar_history_contract *record);

void alar_history_twin(struct alar_history *history, uint64_t t,
                       const struct alar_history_done *record);

/* The back end wrote to the buffer of an operation. */
void alar_history_write(struct alar_history *history, uint64_t t,
                        const struct alar_history_read *record);

void alar_history_alloc(struct alar_history *history, uint64_t t, const char *buffer);

void alar_history_free(struct alar_history *history, uint64_t t, const char *buffer);

#endif
