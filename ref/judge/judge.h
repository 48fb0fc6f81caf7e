/* The oracle: a history in, a verdict out.

   Events go in one by one: those of one rank in its program order, those of different ranks in any
   order. Every operation is replayed through the handle table on every rank; when all its ranks are
   through with it, its value is judged and it is forgotten. So memory follows what is pending.
   The judge recomputes from what was contributed and never believes a back end. */
#ifndef ALAR_JUDGE_H
#define ALAR_JUDGE_H

#include "base/arena.h"
#include "base/scratch.h"
#include "judge/verdict.h"

/* What a back end promised; see spec/history.md, `contract`. Zero is the default of every field but
   height and deadline, where 0 means none. */
struct alar_contract {
    bool is_stream; /* a wait orders a stream, not the host */
    bool is_fixed;  /* the same bits every time */
    bool is_once;   /* one wait, one use */
    enum alar_avg avg;
    enum alar_nan_policy nan;
    uint32_t adder;           /* enum alar_model */
    int32_t width;            /* enum alar_dtype of a wide accumulator; -1 for none */
    char tree[ALAR_NAME_MAX]; /* promised tree; "" for none */
    uint32_t height;
    int64_t deadline;    /* in units of t */
    int64_t outstanding; /* operations a rank may have pending; 0: no bound */
    int64_t is_in_place, allows_empty, needs_progress, can_block; /* of struct alar_caps */
};

/* What the logging loop was told to do (the header's fields); -1 or "" where not said. */
struct alar_loop {
    int32_t normalization, over, encoding, check_for_nan, wait_at; /* index of the word */
    int64_t microbatches, report_interval;
    char schedule[ALAR_NAME_MAX];
};

/* An operation whose contributions are all known, as the judgement of log lines sees it. Borrowed.
 */
struct alar_op_view {
    const char *group;
    uint64_t number;
    enum alar_reduction red;
    enum alar_dtype dtype;
    struct alar_text key;
    int64_t step, mb; /* -1 when not recorded */
    uint32_t pairs;
    uint32_t members, elements;
    const uint32_t *rank; /* [members], ascending */
    const uint64_t *in;   /* [members][elements] bits */
    const uint64_t
        *out;     /* [elements] bits all ranks hold; NULL when there is none, or they disagree */
    bool is_good; /* life and value were found good */
    struct alar_place place; /* of the first issue */
};

/* A value that was found legal, for whoever writes its certificate. Borrowed. */
struct alar_legal_view {
    const char *group;
    uint64_t number;
    uint32_t element;
    uint64_t value;
    const struct alar_reduce *reduce;
    const struct alar_origin *origin;
    struct alar_scratch scratch; /* free until the hook returns */
};

/* Given once, before the first event. */
struct alar_judge_setup {
    uint32_t world; /* ranks, at least 1 */
    bool is_bare;   /* no rank has a header: complete as it stands, one clock */
    /* Rounds decimal text to a dtype: alar_decimal_parse, which the core can't call itself. */
    enum alar_status (*decimal)(enum alar_dtype dtype, const char *text, uint64_t *bits);
    /* Told of each operation that is settled, with context; may be NULL. */
    void (*settled)(void *context, const struct alar_op_view *view);
    /* Told of each element of each legal result; may be NULL. Then no tree is taken for granted. */
    void (*certify)(void *context, const struct alar_legal_view *view);
    void *context;
    /* Room for findings, lent as long as the judge; NULL: ALAR_FINDINGS_MAX are kept. */
    struct alar_evidence *findings;
    uint32_t finding_room;
    bool needs_power;            /* an input that could not show a missing rank is no PASS */
    struct alar_scratch scratch; /* alar_judge_scratch_bytes at least; lent as long as the judge */
};

/* Why an event can't be part of any history. Static texts; numbers where they say more. */
struct alar_judge_error {
    struct alar_place place;
    enum alar_field field; /* at which field of the record */
    const char *expected;
    const char *found;
    bool has_expected, has_found;
    int64_t expected_number, found_number;
};

struct alar_judge;

/* Bytes of a judge, for whoever gives it room. */
size_t alar_judge_size(void);

/* Bytes of scratch in which values are judged. */
size_t alar_judge_scratch_bytes(uint32_t world);

/* Starts judging in `arena`, which the caller prepared and grows: before every call the arena must
   have the room that alar_judge_headroom (or _start_room) asks for. Borrows arena and setup.
   Errors: ALAR_E_RANGE when world is 0, or the scratch too small. */
size_t alar_judge_start_room(uint32_t world);
ALAR_MUST_USE enum alar_status alar_judge_start(struct alar_judge *judge, struct alar_arena *arena,
                                                const struct alar_judge_setup *setup);

/* Bytes the arena must have room for before this event is judged. */
size_t alar_judge_headroom(const struct alar_judge *judge, const struct alar_event *event);

/* Judges one event.
   Errors: ALAR_E_INPUT when it can't be part of any history; see alar_judge_error_of. Nothing more
   may be judged then. spec: O-01 */
ALAR_MUST_USE enum alar_status alar_judge_event(struct alar_judge *judge,
                                                const struct alar_event *event);

/* Tells the judge that the file of `rank` stops in the middle of a line. */
void alar_judge_cut(struct alar_judge *judge, uint32_t rank, struct alar_place place);

/* Judges what is left and settles the verdict; call once. */
void alar_judge_finish(struct alar_judge *judge);

/* Ends the judgement before the record at `place`, because `limited` seconds or MiB are spent;
   instead of alar_judge_finish. What was found stays found; of what is left nothing is said. spec:
   O-117 */
void alar_judge_stop(struct alar_judge *judge, struct alar_place place, enum alar_limit limit,
                     uint64_t limited);

/* The verdict; whole only after alar_judge_finish or alar_judge_stop. Lives as long as the judge.
 */
const struct alar_verdict *alar_judge_verdict(const struct alar_judge *judge);
const struct alar_judge_error *alar_judge_error_of(const struct alar_judge *judge);
const struct alar_contract *alar_judge_contract(const struct alar_judge *judge);

#endif
