/* Two runs on the same contributions, compared operation by operation. */
#ifndef ALAR_RERUN_H
#define ALAR_RERUN_H

#include "check/history_judge.h"

/* What the comparison came to. */
struct alar_rerun {
    uint64_t same;      /* operations with the same contributions and the same bits */
    uint64_t different; /* the same contributions, other bits */
    uint64_t
        other; /* other contributions, or in one run only, or without one result: not compared */
    bool has_first;             /* is the first difference below? */
    uint64_t number;            /* of the operation within its group */
    struct alar_place place[2]; /* of its first issue, in each run */
};

/* Reads and judges both runs, then compares. `reading` keeps both judgements, to be freed by
   alar_reading_free, in any case. Memory grows with the number of operations: 48 bytes each.
   Errors: ALAR_E_INPUT, with the error_line in the reading concerned; ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_rerun_compare(const struct alar_history_files files[2],
                                                  struct alar_reading reading[2],
                                                  struct alar_rerun *rerun);

#endif
