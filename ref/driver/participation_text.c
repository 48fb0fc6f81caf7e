/* A census in words. */
#include "driver/participation_text.h"

#include <inttypes.h>
#include <stdio.h>

static void finding_print(const struct alar_census_finding *finding, char *text, size_t bytes)
{
    switch (finding->kind) {
    case ALAR_CENSUS_MISSING:
        snprintf(text, bytes, "rank %u is missing from", finding->rank);
        break;
    case ALAR_CENSUS_DOUBLED:
        snprintf(text, bytes, "rank %u counts twice in", finding->rank);
        break;
    case ALAR_CENSUS_REPLACED:
        snprintf(text, bytes, "rank %u is missing from, and rank %u counts twice in,",
                 finding->rank, finding->other);
        break;
    case ALAR_CENSUS_STALE:
        snprintf(text, bytes, "rank %u's contribution to all-reduce %" PRId64 " is in",
                 finding->rank, finding->count);
        break;
    case ALAR_CENSUS_ANOTHER:
        if (finding->count >= 0) {
            snprintf(text, bytes, "what belongs to all-reduce %" PRId64 " came out of",
                     finding->count);
        } else {
            snprintf(text, bytes, "what belongs to other all-reduces came out of");
        }
        break;
    case ALAR_CENSUS_DAMAGED:
        snprintf(text, bytes, "what no contributions can add up to came out of");
        break;
    case ALAR_CENSUS_SCHEMA:
        snprintf(text, bytes, "rank %u has other metrics than the others in", finding->rank);
        break;
    case ALAR_CENSUS_MIXED:
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

void alar_mishap_print(const struct alar_mishap *mishap, char text[ALAR_MISHAP_BYTES])
{
    char finding[128];

    finding_print(&mishap->finding, finding, sizeof(finding));
    snprintf(text, ALAR_MISHAP_BYTES, "%s all-reduce %" PRIu64 " (step %" PRId64 ", microbatch %u)",
             finding, mishap->number, mishap->step, mishap->microbatch);
}
