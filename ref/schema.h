/* What a post carries: named metrics, side by side in one all-reduce.

   Lanes lie in the order of the sorted names, so that ranks which name them in another order still
   add like to like; a hash of the sorted names tells ranks with other metrics apart. spec: N-52 */
#ifndef ALAR_SCHEMA_H
#define ALAR_SCHEMA_H

#include "status.h"

#include <stddef.h>
#include <stdint.h>

/* The most metrics, and the longest list of their names with its end. */
#define ALAR_METRICS_MAX 16
#define ALAR_SCHEMA_KEY_BYTES 512

/* The one metric of a log that names none. */
#define ALAR_METRIC_DEFAULT "lm loss"

struct alar_schema {
    uint32_t count;
    const char *name[ALAR_METRICS_MAX]; /* sorted; borrowed */
    uint32_t origin[ALAR_METRICS_MAX];  /* place of each in the list it came from */
    char key[ALAR_SCHEMA_KEY_BYTES];    /* sorted names, joined by commas */
    uint64_t hash;                      /* of the key */
};

/* Sorts `count` names, which live as long as the schema; no names (0) mean the default one.
   Errors: ALAR_E_RANGE for more names than fit, an empty one, one with a comma, and one given
   twice; `schema` is then untouched. */
ALAR_MUST_USE enum alar_status alar_schema_init(struct alar_schema *schema,
                                                const char *const *names, uint32_t count);

#endif
