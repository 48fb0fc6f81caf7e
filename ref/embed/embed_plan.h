/* What a configuration means to one rank of a group, and the memory that its log needs. */
#ifndef ALAR_EMBED_PLAN_H
#define ALAR_EMBED_PLAN_H

#include "api/embed.h"
#include "engine/engine.h"
#include "engine/payload.h"
#include "engine/schema.h"

/* Fixed for a run. */
struct alar_embed_plan {
    struct alar_embed_place place; /* `cp` is at least 1 */
    struct alar_engine_rules rules;
    struct alar_layout layout;
    struct alar_schema schema; /* of layout.metrics metrics */
    enum alar_over over;
    enum alar_check check;
    uint16_t window; /* slots */
};

/* Puts the defaults where zeros are. */
void alar_config_complete(struct alar_config *config);

/* The plan of a configuration, complete or not; the metrics' names are borrowed.
   Errors: those of alar_embed_init but for ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_embed_plan(struct alar_embed_plan *plan,
                                               const struct alar_config *config,
                                               const struct alar_embed_place *place);

/* Microbatches that one all-reduce covers at most. */
size_t alar_embed_plan_microbatches(const struct alar_embed_plan *plan);

#endif
