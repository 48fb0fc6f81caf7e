/* What the judge keeps, private to judge*.c. All of it lives in the arena, linked by offset. */
#ifndef ALAR_JUDGE_STATE_H
#define ALAR_JUDGE_STATE_H

#include "base/table.h"
#include "engine/schema.h"
#include "judge/judge.h"
#include "judge/judge_entry.h"
#include "legal/provenance.h"

enum {
    JUDGE_WINDOW = 64, /* settled operations of a group that are remembered, see judge_window */
    JUDGE_WINDOW_RANKS = 1024, /* up to here; beyond that fewer, so that memory stays */
    JUDGE_WALKED = 256,        /* entries of a rank that are looked at one by one */
    JUDGE_BUCKETS = 64,        /* of the table of operations, at first */
    JUDGE_TICKS = 1,           /* the clock that all ranks share which count ticks */
    JUDGE_HULL_RANKS = 12,     /* up to here an exact hull costs less than a millisecond */
    JUDGE_THOROUGH = 256, /* values that are searched for as long as it takes; later ones aren't */
    JUDGE_HELD_ELEMENTS = 4096,
    JUDGE_ARITHMETICS = 4,
    JUDGE_NAMES = 8192, /* of storage that are told apart; beyond half of them nothing is said */
    JUDGE_STRAYS = 16,  /* names that no operation had when they were asked for */
    JUDGE_STARTS = 16,  /* starts tried for each named tree */
};

#define JUDGE_NEVER UINT64_MAX /* number of an operation not issued yet */

struct judge_rank {
    struct alar_place last; /* its last record */
    uint64_t next_i;        /* running number expected next */
    bool has_i, has_t, has_any, has_trace, has_issued;
    bool is_over;        /* `end` or `exit` seen, or the history is bare */
    bool is_exited;      /* `exit` seen, and no `end` after it */
    bool is_killed;      /* by a signal */
    bool is_given_up;    /* ended with a code other than 0: nobody waits for what was pending */
    bool is_aborted;     /* `abort` seen: */
    uint64_t aborted;    /* of this group; JUDGE_NEVER: of all */
    int64_t t;           /* latest */
    int64_t t0;          /* added to make times of one clock comparable */
    uint64_t clock;      /* ranks with the same clock, not 0, are comparable */
    uint32_t leader;     /* the first rank that had this clock; of it: */
    uint64_t settling;   /* the operation whose times were read, */
    uint32_t latest;     /* and the member that issued it last */
    uint64_t newest;     /* of its entries of unsettled operations, in the order it issued them */
    uint32_t remembered; /* how many these are, */
    uint32_t pending;    /* and of these: handles whose buffers belong to the back end */
    bool is_indexed;     /* were they ever too many to look at one by one? see uses.c */
    struct alar_stand stand; /* where it stood when it was last looked at; no place: it moved on */
};

/* The collective calls of a group that not all members have made yet, in order. */
struct judge_call {
    uint64_t next;
    uint64_t nth;
    uint64_t signature;
    uint64_t number; /* all-reduces that the first caller had issued before */
    uint32_t made;   /* by so many members */
    uint32_t rank;   /* who made it first */
    struct alar_place place;
    char name[ALAR_NAME_MAX];
    char src[ALAR_NAME_MAX];
};

struct judge_group {
    uint64_t next; /* another group */
    uint64_t hash;
    char name[ALAR_NAME_MAX];
    uint32_t members;
    uint64_t rank;     /* uint32_t[members], ascending */
    uint64_t expected; /* uint64_t[members]: next number; JUDGE_NEVER before the first */
    uint64_t highest;  /* number that was issued in it so far */
    uint64_t lowest_op, highest_op; /* unsettled ones, by number; 0: there is none */
    bool is_world;
    bool is_declared;           /* are the members known, rather than assumed to be all ranks? */
    uint64_t members_hash;      /* of all of them */
    uint64_t held;              /* last settled operation that no report may ask for; 0: none */
    uint64_t mismatch;          /* number from which nothing more is concluded; JUDGE_NEVER: none */
    uint64_t claim;             /* uint64_t[members]: hash of the members that this rank declared */
    struct alar_list strangers; /* ranks that issued in it and are no members */
    uint64_t strange;           /* number of the first operation they issued */
    uint64_t oldest_call, newest_call; /* struct judge_call; 0: none is open */
    uint64_t reached;    /* uint64_t[members]: the last call of each; 0: see judge_call */
    uint64_t calls;      /* uint64_t[members]: how many each has made */
    bool is_call_unsure; /* calls differed, or one was refused: nothing more is concluded */
};

/* Words of `coll`, in the order of record.def. */
enum judge_collective {
    JUDGE_ALL_REDUCE,
    JUDGE_ALL_GATHER,
    JUDGE_GATHER,
    JUDGE_REDUCE,
    JUDGE_REDUCE_SCATTER,
    JUDGE_BROADCAST,
    JUDGE_SCAN
};

struct judge_op {
    uint64_t group, number;
    uint64_t chain;         /* next in the hash bucket */
    uint64_t newer, older;  /* all unsettled operations, by creation */
    uint64_t higher, lower; /* those of its group, by number */
    uint32_t members, issued, finished;
    uint32_t room;   /* parts there is memory for: members, before the group was narrowed */
    uint32_t passed; /* members that have issued all operations of its window */
    uint32_t faults; /* injected faults that were known when its ranks were through */
    uint32_t first;  /* member that issued it first */
    enum alar_reduction red;
    enum alar_dtype dtype;
    uint64_t n, key_hash, signature;
    int64_t step, mb;
    uint32_t pairs;
    uint32_t collective; /* enum judge_collective + 8 * (1 + `root`, where one is given) */
    char key[ALAR_NAME_MAX];
    uint64_t names;                /* struct judge_names; 0: the key is one name, or none */
    char other_key[ALAR_NAME_MAX]; /* the first one that differs */
    char error[ALAR_NAME_MAX];
    uint32_t error_rank;
    struct alar_list named;          /* ranks the back end said were missing */
    uint64_t entry;                  /* struct judge_entry[members] */
    uint32_t elements, out_elements; /* elements recorded */
    uint32_t ins, outs;              /* ranks that recorded them */
    uint64_t in;                     /* uint64_t[members][elements] */
    uint64_t out;                    /* uint64_t[rows][out_elements]: a row for each class */
    uint32_t classes, rows;
    bool is_refused;   /* its recorder had no word for what a rank put in */
    bool is_in_parts;  /* each rank got a part of one result, or none of it */
    uint32_t in_parts; /* elements of it that ranks recorded */
    bool is_partial;   /* ranks recorded different numbers of elements */
    bool has_twin;
    bool is_changed;         /* one rank recorded different results */
    bool has_payloads;       /* NaNs of one class differ in their payloads */
    bool is_sync;            /* a rank calls it blocking */
    bool is_mixed;           /* its ranks do not mean the same all-reduce */
    bool is_tainted;         /* a cause was found; what its value says is an echo */
    bool is_found;           /* something was found */
    bool is_kept;            /* settled, and kept for reports */
    uint64_t waiting;        /* reports that wait for it first; see report_keep.c */
    struct alar_place place; /* of the first member's issue, once the entries are gone */
};

/* The names in a key that joins several. */
struct judge_names {
    uint32_t count; /* more than ALAR_METRICS_MAX: the first ones are kept */
    uint64_t hash[ALAR_METRICS_MAX];
};

#include "judge/judge_log.h"

/* Storage that a record names and no operation used so far. */
struct judge_stray {
    uint64_t name;
    struct alar_place place;
    uint32_t rank;
    char text[ALAR_NAME_MAX];
};

struct alar_judge {
    struct alar_arena *arena;
    struct alar_judge_setup setup;
    struct alar_contract contract;
    struct alar_loop loop;
    bool is_contract_given[ALAR_FIELD_COUNT];
    uint64_t rank;            /* struct judge_rank[world] */
    uint64_t group;           /* first group */
    struct alar_table groups; /* by the hash of the name */
    struct alar_table clocks; /* the leader of each, and 1 */
    uint16_t
        is_refuted[ALAR_TREE_KIND_COUNT]; /* by start: trees that failed to explain something */
    uint64_t searched;                    /* values that no named tree explained */
    uint64_t bucket;                      /* uint64_t[buckets] */
    uint64_t buckets, live;
    uint64_t settling;              /* operations whose times were read */
    struct alar_table uses;         /* of storage, by rank and name; see uses.c */
    uint64_t used, listing;         /* entries so far, and lists that were made of them */
    uint32_t rows_max, out_max;     /* of all operations so far: results, and their elements */
    uint64_t oldest, newest;        /* unsettled operations */
    const struct alar_event *event; /* being judged */
    struct report log;
    uint64_t name[JUDGE_NAMES]; /* of storage, hashed with their rank; 0: free */
    bool is_used[JUDGE_NAMES];  /* by an operation, or allocated; else a record asked for it */
    bool is_freed[JUDGE_NAMES]; /* and it did not come back */
    uint32_t names;
    bool has_all_names;
    bool has_failure; /* a rank was told an error that is no other rank's silence: */
    uint64_t failure_clock;
    int64_t failure_t; /* the first on that clock */
    uint32_t strays;
    struct judge_stray stray[JUDGE_STRAYS];
    bool has_absent; /* a record gives `world` other members than all ranks: */
    struct alar_place absent;
    struct alar_verdict verdict;
    struct alar_evidence kept[ALAR_FINDINGS_MAX]; /* where no other room is lent */
    struct alar_judge_error error;
};

#include "judge/judge_at.h" /* needs all of the above */

/* judge_state.c: who is a member. operations.c, forget.c: groups, unsettled operations. */
bool judge_member_find(const struct alar_judge *judge, const struct judge_group *group,
                       uint32_t rank, uint32_t *member);
uint64_t judge_group_find(const struct alar_judge *judge, struct alar_text name);
uint64_t judge_group_make(struct alar_judge *judge, struct alar_text name,
                          const struct alar_value *ranks, uint32_t count);
/* Its members were assumed, and the event names them: ranks that have issued in it and are none are
   strangers. */
void judge_group_narrow(struct alar_judge *judge, uint64_t group);
uint64_t judge_members_hash(const struct alar_event *event);
uint64_t judge_op_find(const struct alar_judge *judge, uint64_t group, uint64_t number);
uint64_t judge_op_make(struct alar_judge *judge, uint64_t group, uint64_t number);
void judge_op_forget(struct alar_judge *judge, uint64_t op);
uint64_t judge_op_find_kept(const struct alar_judge *judge, uint64_t group, uint64_t number);
/* It is settled, and can no longer be found but among those that are kept. */
void judge_op_unlink(struct alar_judge *judge, uint64_t op, bool is_kept);
void judge_op_give(struct alar_judge *judge, uint64_t op);
void judge_chain_add(struct alar_judge *judge, uint64_t entry);
void judge_chain_remove(struct alar_judge *judge, const struct judge_entry *entry);

/* Does what one rank is told say that another rank has contributed? Not of who gets nothing from
   it: a root may have sent all its elements, another rank its own, before others come. spec: H-52
 */
static inline bool judge_needs(const struct judge_op *op, const struct judge_entry *told,
                               uint32_t giver)
{
    uint32_t root = op->collective / 8 - 1;

    switch (op->collective % 8) {
    case JUDGE_BROADCAST:
        return giver == root;
    case JUDGE_GATHER:
    case JUDGE_REDUCE:
        return told->rank == root;
    case JUDGE_REDUCE_SCATTER:
        return !told->gets_nothing;
    case JUDGE_SCAN:
        return false; /* who stands before whom is the communicator's business */
    default:
        return true;
    }
}

/* findings.c, read.c: findings and their witnesses. A finding that is not kept is NULL: it was
 * counted. */
struct alar_evidence *judge_found(struct alar_judge *judge, enum alar_anomaly anomaly,
                                  struct judge_op *op, uint32_t rank);
struct alar_evidence *judge_kept(struct alar_judge *judge, enum alar_anomaly anomaly,
                                 const struct judge_op *op);
void judge_unknown(struct alar_judge *judge, enum alar_unknown reason, struct alar_place place,
                   uint32_t rank);
void judge_show_issue(const struct alar_judge *judge, struct alar_evidence *evidence,
                      const struct judge_op *op, const struct judge_entry *entry);
void judge_show_wait(const struct alar_judge *judge, struct alar_evidence *evidence,
                     const struct judge_entry *entry);
void judge_show_done(const struct alar_judge *judge, struct alar_evidence *evidence,
                     const struct judge_op *op, const struct judge_entry *entry);
void judge_show_told(const struct alar_judge *judge, struct alar_evidence *evidence,
                     const struct judge_op *op, const struct judge_entry *entry);
/* By how much the deadline had passed when the rank was told; the longest counts. */
void judge_evidence_late(struct alar_evidence *evidence, const struct judge_entry *entry);
void judge_show_event(struct alar_judge *judge, struct alar_evidence *evidence);
void judge_good(struct alar_judge *judge, const struct judge_op *op);
enum alar_status judge_complain(struct alar_judge *judge, enum alar_field field,
                                const char *expected, const char *found);
enum alar_status judge_complain_numbers(struct alar_judge *judge, enum alar_field field,
                                        const char *expected, int64_t expected_number,
                                        const char *found, int64_t found_number);

/* The operation and entry a record speaks of; both NULL when the rank left it behind its window, or
   the storage is free. */
struct judge_subject {
    struct judge_op *op;
    struct judge_entry *entry;
    bool is_past;
};

/* declarations.c: records about the history itself. */
enum alar_status judge_trace(struct alar_judge *judge);
enum alar_status judge_contract(struct alar_judge *judge);
enum alar_status judge_declare(struct alar_judge *judge);
enum alar_status judge_members(struct alar_judge *judge, struct alar_text group);
enum alar_status judge_over(struct alar_judge *judge);
enum alar_status judge_fault(struct alar_judge *judge);

/* calls.c: records of collective calls, of refused ones, and of where a rank stands. */
enum alar_status judge_call(struct alar_judge *judge);
enum alar_status judge_call_of_issue(struct alar_judge *judge, uint64_t group, uint32_t member);
size_t judge_call_headroom(const struct alar_judge *judge, const struct alar_event *event);
enum alar_status judge_refuse(struct alar_judge *judge);
enum alar_status judge_stand(struct alar_judge *judge);
void judge_stands_finish(struct alar_judge *judge);

/* life_table.c: life.def. PRE: the part was issued. */
struct judge_row judge_life_row(enum judge_life state, enum judge_act act);
bool judge_life_is_owned(enum judge_life state);

/* issue.c, life.c, storage.c: one record each. */
enum alar_status judge_issue(struct alar_judge *judge);
enum alar_status judge_life(struct alar_judge *judge);
enum alar_status judge_storage(struct alar_judge *judge);
enum alar_status judge_said(struct alar_judge *judge); /* answer.c */
void judge_everything(struct alar_judge *judge);       /* everything.c: sync, abort */
void judge_aborted(struct alar_judge *judge);
enum alar_status judge_life_find(struct alar_judge *judge, uint32_t rank,
                                 struct judge_subject *subject);
enum alar_status judge_life_past(struct alar_judge *judge, enum judge_act act);
bool judge_is_told_lost(const struct alar_event *event);
bool judge_is_told_timeout(const struct alar_event *event);

/* act.c: what an act does to a part, and a finding about it. The record says that the operation is
   complete: whether it can have been is asked later. */
void judge_life_told(struct alar_judge *judge, struct judge_entry *entry);
struct judge_row judge_life_act(struct alar_judge *judge, struct judge_subject subject,
                                enum judge_act act);
void judge_life_found(struct alar_judge *judge, enum alar_anomaly anomaly,
                      struct judge_subject subject);
struct judge_moment judge_moment_of(const struct alar_judge *judge);
int64_t judge_time(int64_t t, int64_t more); /* their sum, or the nearest number there is */

/* streams.c: a wait for it returned, that orders a stream; it is over for the host: operations that
   ended before it began are told likewise. */
void judge_stream_wait(struct alar_judge *judge, struct judge_entry *entry);
void judge_stream_end(struct alar_judge *judge, const struct judge_entry *entry);

/* names.c: names of storage. */
void judge_name_used(struct alar_judge *judge, uint32_t rank, uint64_t hash);
void judge_name_asked(struct alar_judge *judge, uint32_t rank);
void judge_name_gone(struct alar_judge *judge, uint32_t rank, uint64_t hash);
void judge_name_back(struct alar_judge *judge, uint32_t rank, uint64_t hash);
void judge_freed_used(struct alar_judge *judge, uint32_t rank, uint64_t hash);
void judge_names_finish(struct alar_judge *judge);

/* settle.c: how many operations of its group a rank may issue before it is through with one for
   good, and what is asked of all ranks together once they all are. unsettled.c: the history is
   over. */
uint64_t judge_window(const struct alar_judge *judge);
void judge_window_pass(struct alar_judge *judge, uint64_t group, uint64_t number);
void judge_entry_over(struct alar_judge *judge, struct judge_op *op, struct judge_entry *entry);
void judge_entry_unfinish(struct judge_op *op, struct judge_entry *entry);
void judge_settle(struct alar_judge *judge, struct judge_op *op);
bool judge_is_echo(const struct alar_judge *judge, const struct judge_op *op);
void judge_leftovers(struct alar_judge *judge);
struct alar_evidence *judge_leftover_found(struct alar_judge *judge, enum alar_anomaly anomaly,
                                           struct judge_op *op);

/* headline.c: puts echoes behind their causes. */
void judge_headline(struct alar_verdict *verdict);

/* mismatch.c: do its ranks mean the same operation? */
void judge_match(struct alar_judge *judge, struct judge_op *op);
void judge_mismatch(struct alar_judge *judge, struct judge_op *op);
bool judge_group_is_strange(const struct alar_judge *judge, const struct judge_group *group,
                            uint32_t rank);
void judge_group_stranger(struct judge_group *group, uint32_t rank, uint64_t number);
void judge_strangers(struct alar_judge *judge);

#include "judge/judge_uses.h"
#include "judge/judge_value.h"

#endif
