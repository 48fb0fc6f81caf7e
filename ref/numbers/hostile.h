/* Hostile inputs: contributions of all ranks to one all-reduce, made to reveal what an easy input
   hides. The same numbers on every machine for the same family, ranks, seed and index. */
#ifndef ALAR_VECTORS_H
#define ALAR_VECTORS_H

#include "api/dtype.h"
#include "api/terms.h"

enum alar_family {
#define FAMILY(token, name, what, reveals) ALAR_FAMILY_##token,
#include "numbers/hostile.def"
    ALAR_FAMILY_COUNT
};

struct alar_family_row {
    const char *name;
    const char *what;
    const char *reveals;
};

extern const struct alar_family_row alar_families[ALAR_FAMILY_COUNT];

enum {
    ALAR_VECTOR_ELEMENTS_MAX = 48,
    ALAR_VECTOR_RANKS_MAX = 4096
};

/* Which vector: the index-th of its family, as operation `index` of a run. */
struct alar_vector_key {
    enum alar_family family;
    uint32_t ranks; /* 1 .. ALAR_VECTOR_RANKS_MAX */
    uint64_t seed;
    uint64_t index;
};

/* One all-reduce. */
struct alar_vector {
    enum alar_dtype dtype;
    enum alar_red red;
    uint32_t elements;
    bool is_contested; /* libraries in use get it wrong: MAX or MIN of NaN, of zeros of both signs,
                          of bytes above 127 */
    uint64_t *bits;    /* [ranks][elements]; the caller's, room for ALAR_VECTOR_ELEMENTS_MAX each */
};

/* Makes the vector. PRE: the key's fields are in range, vector->bits has room. */
void alar_vector_make(const struct alar_vector_key *key, struct alar_vector *vector);

/* Errors: ALAR_E_INPUT when no family has the name. */
ALAR_MUST_USE enum alar_status alar_family_find(const char *name, enum alar_family *family);

#endif
