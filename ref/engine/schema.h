/* What a post carries: named metrics, side by side in one all-reduce.

   Elements lie in the order of the sorted names, so that ranks which name them in another order
   still add like to like; a hash of the sorted names and of what is made of each tells ranks with
   other metrics apart. spec: N-52 */
#ifndef ALAR_SCHEMA_H
#define ALAR_SCHEMA_H

#include "api/status.h"
#include "api/terms.h"

#include <stdbool.h>
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
    uint32_t kinds;                     /* of the sorted names, two bits each; 0: all are means */
    char key[ALAR_SCHEMA_KEY_BYTES];    /* sorted names, joined by commas */
    uint64_t hash;                      /* of the key, and of the kinds that are not means */
};

/* The kind of the metric at a place of the sorted names, and kinds with that one put in. */
enum alar_metric_kind alar_kinds_get(uint32_t kinds, uint32_t metric);
uint32_t alar_kinds_put(uint32_t kinds, uint32_t metric, enum alar_metric_kind kind);

/* Is it carried by one element for each rank? */
bool alar_metric_is_extreme(enum alar_metric_kind kind);

/* Sorts `count` metrics, whose names live as long as the schema; no metrics (0) mean the mean of
   the default one. Errors: ALAR_E_RANGE for more metrics than fit, a name that is empty, has a
   comma or is given twice, and what is no kind; `schema` is then untouched. */
ALAR_MUST_USE enum alar_status alar_schema_init(struct alar_schema *schema,
                                                const struct alar_metric *metrics, uint32_t count);

#endif
