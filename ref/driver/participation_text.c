/* A participation in words. */
#include "driver/participation_text.h"

#include <inttypes.h>
#include <stdio.h>

static void finding_print(const struct alar_participation_finding *finding, char *text,
                          size_t bytes)
{
    switch (finding->kind) {
    case ALAR_PARTICIPATION_MISSING:
        snprintf(text, bytes, "rank %u is missing from", finding->rank);
        break;
    case ALAR_PARTICIPATION_DOUBLED:
        snprintf(text, bytes, "rank %u counts twice in", finding->rank);
        break;
    case ALAR_PARTICIPATION_REPLACED:
        snprintf(text, bytes, "rank %u is missing from, and rank %u counts twice in,",
                 finding->rank, finding->other);
        break;
    case ALAR_PARTICIPATION_STALE:
        snprintf(text, bytes, "rank %u's contribution to all-reduce %" PRId64 " is in",
                 finding->rank, finding->count);
        break;
    case ALAR_PARTICIPATION_ANOTHER:
        if (finding->count >= 0) {
            snprintf(text, bytes, "what belongs to all-reduce %" PRId64 " came out of",
                     finding->count);
        } else {
            snprintf(text, bytes, "what belongs to other all-reduces came out of");
        }
        break;
    case ALAR_PARTICIPATION_DAMAGED:
        snprintf(text, bytes, "what no contributions can add up to came out of");
        break;
    case ALAR_PARTICIPATION_SCHEMA:
        snprintf(text, bytes, "rank %u has other metrics than the others in", finding->rank);
        break;
    case ALAR_PARTICIPATION_MIXED:
        snprintf(text, bytes, "several ranks have other metrics in");
        break;
    default: /* MISCOUNT */
        if (finding->count >= 0) {
            snprintf(text, bytes, "%" PRId64 " contributions, not one of each rank, are in",
                     finding->count);
        } else {
            snprintf(text, bytes, "no contributions can be counted in");
        }
        break;
    }
}

void alar_participation_print(const struct alar_participation_error *error,
                              char text[ALAR_PARTICIPATION_TEXT_BYTES])
{
    char finding[128];

    finding_print(&error->finding, finding, sizeof(finding));
    snprintf(text, ALAR_PARTICIPATION_TEXT_BYTES,
             "%s all-reduce %" PRIu64 " (step %" PRId64 ", microbatch %u)", finding, error->number,
             error->step, error->microbatch);
}

enum alar_status alar_embed_why(const struct alar_embed *log,
                                char text[ALAR_PARTICIPATION_TEXT_BYTES])
{
    const struct alar_participation_error *error = alar_embed_participation_error(log);

    if (error == NULL) {
        return ALAR_E_EMPTY;
    }
    alar_participation_print(error, text);
    return ALAR_OK;
}
