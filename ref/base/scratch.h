/* Memory that a caller lends for one computation. */
#ifndef ALAR_SCRATCH_H
#define ALAR_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

/* `memory` is aligned for any type; whoever lends it owns it. */
struct alar_scratch {
    void *memory;
    size_t bytes;
};

/* Takes count entries of a size off the front; NULL, and nothing taken, when they do not fit. */
void *alar_scratch_take(struct alar_scratch *scratch, uint64_t count, size_t size);

#endif
