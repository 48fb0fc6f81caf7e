/* Hostile inputs: contributions of all ranks to one all-reduce, made to reveal what an easy input
   hides. The same numbers on every machine for the same kind, ranks, seed and index. */
#ifndef ALAR_HOSTILE_H
#define ALAR_HOSTILE_H

#include "api/dtype.h"
#include "api/terms.h"

enum alar_hostile {
#define HOSTILE(token, name, what, reveals) ALAR_HOSTILE_##token,
#include "numbers/hostile.def"
    ALAR_HOSTILE_COUNT
};

struct alar_hostile_row {
    const char *name;
    const char *what;
    const char *reveals;
};

extern const struct alar_hostile_row alar_hostile_kinds[ALAR_HOSTILE_COUNT];

enum {
    ALAR_HOSTILE_ELEMENTS_MAX = 48,
    ALAR_HOSTILE_RANKS_MAX = 4096
};

/* Which input: the index-th of its kind, as operation `index` of a run. */
struct alar_hostile_key {
    enum alar_hostile kind;
    uint32_t ranks; /* 1 .. ALAR_HOSTILE_RANKS_MAX */
    uint64_t seed;
    uint64_t index;
};

/* One all-reduce. */
struct alar_hostile_input {
    enum alar_dtype dtype;
    enum alar_reduction red;
    uint32_t elements;
    bool is_contested; /* libraries in use get it wrong: MAX or MIN of NaN, of zeros of both signs,
                          of bytes above 127 */
    uint64_t *bits; /* [ranks][elements]; the caller's, room for ALAR_HOSTILE_ELEMENTS_MAX each */
};

/* Makes the input. PRE: the key's fields are in range, input->bits has room. */
void alar_hostile_make(const struct alar_hostile_key *key, struct alar_hostile_input *input);

/* Errors: ALAR_E_INPUT when no kind has the name. */
ALAR_MUST_USE enum alar_status alar_hostile_find(const char *name, enum alar_hostile *kind);

#endif
