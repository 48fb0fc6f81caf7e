/* Recorded losses of data-parallel ranks: what `alar run` takes for the training it logs.

   A directory holds NumPy files (R ranks, S steps, M microbatches a step, T tokens a microbatch):

       losses.rankR.npy       f32 [S, M, T]     loss of every token, R = 0, 1, ... without a gap
       mask.rankR.npy         u8  [S, M, T]     0: the token does not count
       steps.npy              i64 [S]           original step numbers of these two, increasing;
                                                without the file 0 ... S-1
       local_sum_tokens.npy   f32 [R, S, M, 2]  each rank's [sum of losses, tokens], steps 0 ... S-1

   Tokens come from the first three, sums from the last alone: a cut of the tokens may lie beside
   the sums of the whole run. Steps have an index, 0 ... S-1, and an original number. */
#ifndef ALAR_DATASET_H
#define ALAR_DATASET_H

#include "engine/loss.h"
#include "run/npy.h"

enum alar_input {
    ALAR_INPUT_TOKENS,
    ALAR_INPUT_SUMS,
    ALAR_INPUT_COUNT
};

enum {
    ALAR_DATASET_RANKS_MAX = 131072,
    ALAR_EVERY_RANK = -1
};

struct alar_dataset_source {
    const char *directory;
    enum alar_input input;
    uint32_t ranks; /* ranks wanted, the first ones; 0: all there are */
    int32_t rank;   /* the only rank whose losses are read, or ALAR_EVERY_RANK */
};

/* An open dataset; the first five fields are for the caller to read. */
struct alar_dataset {
    enum alar_input input;
    uint32_t ranks;
    uint64_t steps;
    uint32_t microbatches;
    uint64_t tokens;         /* positions of a microbatch, masked ones included; 0 for sums */
    struct alar_npy *losses; /* tokens: one a rank, closed for ranks that are not read */
    struct alar_npy *masks;  /* likewise */
    struct alar_npy sums;
    struct alar_npy numbers; /* steps.npy; closed when there is none */
};

/* Some steps, by index. */
struct alar_step_range {
    uint64_t begin;
    uint64_t end; /* one past the last */
};

/* Opens the files of all ranks that are wanted, so that every rank sees the same faults, and keeps
   those of `source->rank`. End it with alar_dataset_close.
   Errors: ALAR_E_INPUT, with one line in `error_line` (ALAR_ERROR_LINE_BYTES), for a missing
   directory or file, a file that is not as above, files of different shapes, more ranks than files,
   step numbers that do not increase, a token count that is no count; ALAR_E_NOMEM, likewise. */
ALAR_MUST_USE enum alar_status alar_dataset_open(const struct alar_dataset_source *source,
                                                 struct alar_dataset *dataset, char *error_line);

/* Closes all files and zeroes `dataset`; a zeroed one is closed already. */
void alar_dataset_close(struct alar_dataset *dataset);

/* The local loss of one rank, step (by index) and microbatch.
   PRE: all three exist, and the rank is one whose losses are read. */
void alar_dataset_local(const struct alar_dataset *dataset, uint32_t rank, uint64_t step,
                        uint32_t microbatch, struct alar_local *local);

/* The same; from tokens, unless `exact` is NULL, the sum without rounding too, in `exact`, which
   the result borrows. */
void alar_dataset_local_exact(const struct alar_dataset *dataset, uint32_t rank, uint64_t step,
                              uint32_t microbatch, struct alar_exact *exact,
                              struct alar_local *local);

/* Original number of the step at an index below `steps`. */
int64_t alar_dataset_step(const struct alar_dataset *dataset, uint64_t index);

/* The steps that `text`, the value of --steps, stands for: "A:B" is A <= number < B over original
   step numbers, as a Python slice; A may be left out for the first step, B for the end; "A" alone
   is that one step. NULL means all steps. Errors: ALAR_E_INPUT, with one line in `error_line`, when
   text is nothing of that, B lies behind the last step's end, or no step is left. */
ALAR_MUST_USE enum alar_status alar_dataset_select(const struct alar_dataset *dataset,
                                                   const char *text, struct alar_step_range *range,
                                                   char *error_line);

#endif
