/* One rank's part in one operation, and the states it can be in. */
#ifndef ALAR_JUDGE_ENTRY_H
#define ALAR_JUDGE_ENTRY_H

#include "judge/anomaly.h"
#include "judge/verdict.h"

enum {
    JUDGE_STREAMS = 3, /* of one operation that are told apart; of more nothing is said */
};

/* What a rank's part in an operation can be, and what can happen to it; see life.def. */
enum judge_life {
#define LIFE(name, owned, meaning) JUDGE_##name,
#include "judge/life.def"
    JUDGE_LIFE_COUNT
};
enum judge_act {
#define ACT(name, meaning) JUDGE_ACT_##name,
#include "judge/life.def"
    JUDGE_ACT_COUNT
};

/* What the table says of an act in a state. */
struct judge_row {
    enum judge_life next;
    enum alar_anomaly finding; /* ALAR_ANOMALY_COUNT: none */
};

/* When something was recorded. */
struct judge_moment {
    struct alar_place place; /* line 0: never */
    bool has_t;
    enum alar_record record;
    int64_t t; /* with t0 added, so that it can be compared on one clock */
};

/* A stream that comes after the end of an operation, from this line of its rank on. */
struct judge_order {
    uint64_t stream;
    uint32_t line;
};

/* One rank's part in one operation. */
struct judge_entry {
    uint8_t life; /* enum judge_life; written by judge_life_act alone */
    bool is_lent; /* its storage is the back end's */
    bool is_sync; /* a blocking call */
    bool has_in, has_out, has_ver;
    bool was_pending_at_wait;
    bool is_told_lost;  /* its failure was that a rank had left */
    bool is_suspect;    /* written to, maybe after its completion */
    bool is_touched;    /* the program wrote into the result after the end */
    bool is_finished;   /* counted in judge_op.finished */
    uint32_t acts;      /* bit set of enum judge_act: what happened to it so far */
    uint32_t class;     /* of its result */
    uint32_t other;     /* class of another one that was recorded later, plus 1; 0: none */
    uint32_t twin;      /* class of its blocking twin, plus 1; 0: none */
    bool is_class_read; /* nobody told the result: it is what the program read, */
    bool is_read_sure;  /* and a counter shows that it had not written there */
    uint32_t rank;
    enum alar_dtype dtype; /* of what it contributed */
    bool gets_nothing;     /* its part of the result is empty */
    uint32_t red;          /* with the kind of collective above it */
    int64_t step, mb;      /* as this rank labels it; -1: not */
    uint64_t op;
    uint64_t older, newer; /* in the rank's chain */
    struct judge_moment issue, wait, done;
    struct judge_moment asked; /* the last query */
    struct judge_moment told;  /* when anything first said complete */
    struct judge_moment fetch; /* last read of its input by a peer's back end */
    uint32_t fetch_rank;
    int64_t deadline;        /* absolute, in the same units; INT64_MAX for none */
    uint64_t ver, buf, send; /* hashes of names; 0 for none */
    uint64_t use[2];         /* its output's and its input's places in trees of uses.c; 0: none */
    uint64_t order;          /* later entries have greater ones */
    uint64_t beside, listed; /* the next of a list of entries, and which list: judge_uses_open */
    uint64_t issued_on;      /* stream of the issue; JUDGE_NEVER: the rank's only one */
    uint64_t stream;         /* the same, then that of its wait */
    struct judge_order ordered[JUDGE_STREAMS]; /* by waits that returned */
    uint32_t orders;                           /* streams that were; the first ones are kept */
    uint64_t read_mask;                        /* elements below 64 that were read */
    uint64_t at, n;                            /* elements of the storage that it uses */
    uint64_t signature, key, members;          /* what ranks must agree on; hashes, 0 for none */
    char src[ALAR_NAME_MAX];
};

/* Was a wait for it told of success, or the operation seen complete? */
static inline bool judge_is_done(const struct judge_entry *entry)
{
    return entry->life == JUDGE_SEEN || entry->life == JUDGE_ORDERED || entry->life == JUDGE_DONE ||
           entry->life == JUDGE_KNOWN;
}

/* Has this happened to it? */
static inline bool judge_did(const struct judge_entry *entry, enum judge_act act)
{
    return (entry->acts >> act & 1) != 0;
}

/* Does that stream come after its end, because a wait ordered it? */
static inline bool judge_stream_orders(const struct judge_entry *entry, uint64_t stream)
{
    for (uint32_t k = 0; k < entry->orders && k < JUDGE_STREAMS; k++) {
        if (entry->ordered[k].stream == stream) {
            return true;
        }
    }
    return entry->orders > JUDGE_STREAMS;
}

/* Its end came by no call on its handle: neither a wait nor a query, nor the operation itself. A
   sync ends operations and not handles. spec: O-78 */
static inline bool judge_is_leaked(const struct judge_entry *entry)
{
    bool is_open = entry->life == JUDGE_PENDING || entry->life == JUDGE_SEEN;

    return is_open && !entry->is_sync && !judge_did(entry, JUDGE_ACT_WAIT) &&
           !judge_did(entry, JUDGE_ACT_QUERY_YES) && !judge_did(entry, JUDGE_ACT_COMPLETE) &&
           !judge_did(entry, JUDGE_ACT_DROP) && !judge_did(entry, JUDGE_ACT_UNHANDLE);
}

/* Nobody told its result: it was read, and the program may have written there before. */
static inline bool judge_is_doubtful(const struct judge_entry *entry)
{
    return entry->has_out && entry->is_class_read && !entry->is_read_sure;
}

#endif
