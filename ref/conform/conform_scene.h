/* What is played: scenes of all-reduces, all drawn from the scene's seed, the same on every rank
   and in the supervisor, so that no contribution travels but through the back end. */
#ifndef ALAR_CONFORM_SCENE_H
#define ALAR_CONFORM_SCENE_H

#include "api/terms.h"
#include "conform/conform_shared.h"
#include "numbers/fp.h"

enum conform_scene_kind {
    SCENE_VALUES,    /* hostile inputs in every dtype and reduction */
    SCENE_LATE,      /* one rank comes late, or does not call for a while */
    SCENE_WAIT,      /* deadlines of wait, answers after the end */
    SCENE_DEEP,      /* as many pending as there may be, and one more */
    SCENE_LONG,      /* a thousand in a row */
    SCENE_SIZES,     /* 1 to 10^6 elements */
    SCENE_BLOCKING,  /* blocking calls beside pending ones */
    SCENE_REPEAT,    /* the same contributions again */
    SCENE_IDLE,      /* nobody calls */
    SCENE_CONTESTED, /* MAX and MIN of NaN: a note, unless a policy was promised */
    SCENE_EDGE,      /* what caps leaves out */
    SCENE_END,       /* roll call, farewell */
    SCENE_KINDS
};

extern const char *const conform_scene_names[SCENE_KINDS];

enum conform_family {
    FAMILY_LEDGER,
    FAMILY_MASKS,
    FAMILY_WIDTH,
    FAMILY_TIES,
    FAMILY_ORDERED,
    FAMILY_UNORDERED,
    FAMILY_CANCEL,
    FAMILY_EDGES,
    FAMILY_SPECIALS,
    FAMILY_THIRDS,
    FAMILY_WRAP, /* integers */
    FAMILY_ASYNC,
    FAMILY_EQUAL,
    FAMILY_ALONE,
    FAMILY_COUNT
};

extern const char *const conform_family_names[FAMILY_COUNT];

/* Communicators: all ranks; the lower and the upper half; even and odd ranks. */
enum conform_group {
    GROUP_WORLD,
    GROUP_HALF,
    GROUP_PARITY,
    CONFORM_GROUPS
};

/* One all-reduce of a scene. */
struct conform_op {
    enum alar_dtype dtype;
    enum alar_reduction reduction;
    enum conform_family family;
    enum conform_group group;
    uint64_t elements;
    bool is_in_place;
    bool is_blocking;
    bool is_again;    /* the contributions of the one before */
    bool is_unserved; /* caps leaves it out */
    uint32_t number;  /* of its inputs: operations that repeat share it */
};

/* The index-th all-reduce of a scene for a back end with these caps. */
struct conform_op conform_op_get(const struct conform_scene *scene, const struct alar_caps *caps,
                                 uint32_t ranks, uint32_t index);

/* Who reduces with a rank: the members of its own group, ascending; returns how many, and its own
   place in *member. */
uint32_t conform_members(enum conform_group group, uint32_t ranks, uint32_t rank, int32_t *members,
                         uint32_t *member);

/* "world", "half0", "odd" ... of the rank's own group. */
const char *conform_group_name(enum conform_group group, uint32_t ranks, uint32_t rank);

/* Bits that member `member` of `members` contributes as element `element`. */
uint64_t conform_input(const struct conform_scene *scene, const struct conform_op *op,
                       uint32_t member, uint32_t members, uint64_t element);

/* conform_named.c: FAMILY_ASYNC without a call for each element. Element e of a row is the whole
   number base + step * salt(e), where salts come in turn. */
struct conform_named {
    enum alar_dtype dtype;
    struct alar_fp_shape shape; /* zeros for integers */
    uint64_t room;              /* of one member */
    uint64_t base, step;
    uint64_t salts, start;
};

/* The row that a member contributes, and the one that SUM, MAX or MIN gives; AVG has none. */
struct conform_named conform_named_input(const struct conform_op *op, uint32_t member,
                                         uint32_t members);
struct conform_named conform_named_expected(const struct conform_op *op, uint32_t members);

/* Bits of one element; and of `count` elements from `first` on, as they lie in memory. */
uint64_t conform_named_bits(const struct conform_named *named, uint64_t element);
void conform_named_fill(const struct conform_named *named, uint64_t first, uint64_t count,
                        unsigned char *out);

/* Does a dtype and reduction make sense at all? Averages of integers have no meaning. */
bool conform_is_served(const struct alar_caps *caps, enum alar_dtype dtype,
                       enum alar_reduction reduction);

/* Fills `scene` with those of one world; returns how many. */
uint32_t conform_plan(struct conform_scene *scene, uint32_t ranks, bool is_full, uint64_t seed);

#endif
