/* What alar-rank.so offers to processes of other languages; in no other product. */
#include "conform/conform_rank.h"

/* One rank of the run that shares `file`, with a table of the caller's; the rank stands in
   ALAR_RANK. Returns the exit code. ref/python/alar/conform.py calls it. */
ALAR_API int alar_conform_serve(const char *file, const struct alar_backend *table,
                                const char *config);

/* Who forks ranks tells how each ended: `status` is that of waitpid. */
ALAR_API void alar_conform_ended(const char *file, uint32_t rank, int status);

int alar_conform_serve(const char *file, const struct alar_backend *table, const char *config)
{
    return conform_serve(file, table, config);
}

void alar_conform_ended(const char *file, uint32_t rank, int status)
{
    conform_ended(file, rank, status);
}
