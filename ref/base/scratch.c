/* Lent memory, handed out from the front in aligned pieces. */
#include "base/scratch.h"

#include <stdalign.h>

void *alar_scratch_take(struct alar_scratch *scratch, uint64_t count, size_t size)
{
    const size_t align = alignof(max_align_t);

    if (count > scratch->bytes / size) {
        return NULL;
    }
    void *taken = scratch->memory;
    size_t used = ((size_t)count * size + align - 1) / align * align;
    used = used < scratch->bytes ? used : scratch->bytes;
    scratch->memory = (char *)scratch->memory + used;
    scratch->bytes -= used;
    return taken;
}
