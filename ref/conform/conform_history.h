/* From what the seats of a world hold to a history that alar check reads, and its verdict. */
#ifndef ALAR_CONFORM_HISTORY_H
#define ALAR_CONFORM_HISTORY_H

#include "check/history_judge.h"
#include "conform/conform.h"
#include "conform/conform_scene.h"

/* Which part of a scene goes into a history, and how what came later is told. */
struct conform_extract {
    const struct conform_shared *shared;
    uint32_t scene;        /* index in shared */
    uint32_t first, last;  /* all-reduces of the scene that are kept */
    bool is_premature;     /* what changed after the end is the value that was told too early */
    bool is_first_look;    /* what changed later is left out */
    struct conform_op *op; /* of the scene */
    uint32_t *number;      /* of each within its group */
};

/* Draws the scene's all-reduces; false when out of memory. */
bool conform_extract_open(struct conform_extract *extract);
void conform_extract_close(struct conform_extract *extract);

/* Was the scene the last one of a world that did not come to its end? Then no rank has an end in
   it: what was not issued was not forgotten. */
bool conform_extract_is_cut(const struct conform_extract *extract);

/* Gives the kept ones their numbers. */
void conform_extract_number(const struct conform_extract *extract);

/* The event of that kind of a rank and an all-reduce; NULL: none. */
const struct conform_event *conform_event_find(const struct conform_extract *extract, uint32_t rank,
                                               enum conform_event_kind kind, uint32_t op);

/* The element that every rank shows of a large one: the first that was wrong on one. */
uint64_t conform_element_shown(const struct conform_extract *extract, uint32_t index);

/* Writes one merged history. Errors: ALAR_E_IO. */
ALAR_MUST_USE enum alar_status conform_history_write(const struct conform_extract *extract,
                                                     const char *path);

/* What the oracle said of one scene. */
struct conform_verdict {
    enum alar_verdict_kind kind;
    bool is_unread; /* the history can't be read: a defect of ours */
    uint64_t judged;
    struct alar_evidence finding; /* the first one, of a FAIL */
    uint32_t op;                  /* of the scene that it names; UINT32_MAX: none */
    char reason[ALAR_CONFORM_REASON_BYTES];
};

/* Writes the scene to `path`, has it judged, and, when it fails, makes the history as small as it
   can be for the same reason. Errors: ALAR_E_IO. */
ALAR_MUST_USE enum alar_status conform_judge(const struct conform_shared *shared, uint32_t scene,
                                             const char *path, struct conform_verdict *verdict);

/* The promise that a finding breaks; `op` is the all-reduce it names, or the first of the scene. */
enum conform_property conform_property_of(const struct alar_evidence *finding,
                                          const struct conform_op *op);

/* Index in its scene of the number-th all-reduce of a group, among those kept; UINT32_MAX: none. */
uint32_t conform_op_find(const struct conform_extract *extract, const char *group, uint64_t number);

#endif
