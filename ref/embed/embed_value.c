/* Values on their way: local losses kept until they are posted, payloads written, sums taken,
   checked and added to their steps. */
#include "embed/embed_log.h"

#include "base/check.h"

/* The world's number of a rank of the group. */
static uint32_t world_rank(const struct alar_embed *log, uint32_t rank)
{
    return log->plan.place.first_rank + rank * log->plan.layout.cp;
}

uint32_t embed_culprit(const struct alar_embed *log, const struct alar_local *local)
{
    uint32_t own = world_rank(log, log->plan.place.rank);
    uint32_t share = 0;

    if (local->shares == 0) {
        return own;
    }
    while ((local->shares >> share & 1) == 0) {
        share++;
    }
    return own - log->plan.place.cp_rank + share;
}

/* Contributed so far, of all steps of the interval. PRE: one was begun. */
static size_t microbatches_of(const struct alar_embed *log)
{
    const struct embed_interval *interval = &log->interval[log->current];

    return (interval->steps - 1) * log->plan.layout.microbatches + interval->microbatch;
}

bool embed_keep(struct alar_embed *log, const struct alar_local *local)
{
    struct embed_interval *interval = &log->interval[log->current];
    size_t metrics = log->plan.layout.metrics;
    size_t microbatches = microbatches_of(log);
    struct alar_local *kept = &interval->local[microbatches * metrics];
    struct alar_exact *exact =
        log->exact != NULL ? &log->exact[(microbatches - log->posted_microbatches) * metrics]
                           : NULL;

    for (size_t i = 0; i < metrics; i++) {
        kept[i] = local[i];
        if (exact == NULL) {
            continue;
        }
        if (local[i].tokens > ALAR_LOSS_EXACT_TOKENS_MAX - interval->tokens) {
            return false;
        }
        interval->tokens += local[i].tokens;
        if (local[i].exact != NULL) {
            exact[i] = *local[i].exact;
            kept[i].exact = &exact[i];
        }
    }
    return true;
}

/* What the next all-reduce covers: all that was contributed and not posted yet. */
static struct embed_slot embed_next(const struct alar_embed *log)
{
    const struct embed_interval *interval = &log->interval[log->current];
    bool is_window = log->plan.layout.placement == ALAR_PLACEMENT_WINDOW;
    bool is_microbatch = log->plan.layout.placement == ALAR_PLACEMENT_MICROBATCH;

    return (struct embed_slot){
        .number = log->posted,
        .microbatches = microbatches_of(log) - log->posted_microbatches,
        .step = is_window ? 0 : interval->steps - 1,
        .microbatch = is_microbatch ? interval->microbatch - 1 : 0,
        .interval = log->current,
    };
}

void embed_write(struct alar_embed *log, uint16_t index)
{
    const struct alar_layout *layout = &log->plan.layout;
    struct embed_interval *interval = &log->interval[log->current];
    struct embed_slot *slot = &log->slot[index];

    *slot = embed_next(log);
    alar_payload_write(layout, log->plan.place.rank, slot->number,
                       &interval->local[log->posted_microbatches * layout->metrics],
                       slot->microbatches, log->send + index * log->slot_bytes);
    log->posted++;
    log->posted_microbatches += slot->microbatches;
    interval->ops++;
}

enum alar_status alar_embed_op(const struct alar_embed *log, uint16_t slot,
                               struct alar_embed_op *op)
{
    const struct alar_layout *layout = &log->plan.layout;

    if (slot >= log->plan.window) {
        return ALAR_E_RANGE;
    }
    const struct embed_slot *posted = &log->slot[slot];
    *op = (struct alar_embed_op){
        .send = log->send + slot * log->slot_bytes,
        .receive = log->receive + slot * log->slot_bytes,
        .elements = alar_payload_elements(layout, posted->microbatches),
        .dtype = alar_payload_dtype(layout),
        .number = posted->number,
        .step = log->interval[posted->interval].step[posted->step],
        .microbatch = posted->microbatch,
        .pairs = alar_payload_pairs(layout, posted->microbatches),
    };
    return ALAR_OK;
}

/* Notes every flag of a taken payload; true when there was one. */
static bool embed_find(struct alar_embed *log, const struct embed_slot *slot, const void *elements)
{
    const struct alar_layout *layout = &log->plan.layout;
    const struct embed_interval *interval = &log->interval[slot->interval];

    if (alar_payload_flag_count(layout, elements, slot->microbatches) == 0) {
        return false;
    }
    uint32_t ranks = alar_payload_set_ranks(layout);
    uint32_t first = log->plan.place.first_rank - log->plan.place.cp_rank;
    size_t metrics = layout->metrics;

    for (size_t i = 0; i < slot->microbatches * metrics * ranks; i++) {
        size_t metric = i / ranks % metrics;
        uint32_t rank = (uint32_t)(i % ranks);
        size_t microbatch = slot->microbatch + i / ranks / metrics; /* counted on over the steps */
        size_t step = slot->step + microbatch / layout->microbatches;

        if (!alar_payload_flag(layout, elements, slot->microbatches, i / ranks, rank)) {
            continue;
        }
        interval->tally[step * metrics + metric].nonfinite++;
        if (log->finding_count < ALAR_FINDINGS_KEPT) {
            log->findings[log->finding_count] = (struct alar_finding){
                .step = interval->step[step],
                .microbatch = (uint32_t)(microbatch % layout->microbatches),
                .rank = first + rank,
            };
        }
        log->finding_count++;
    }
    return true;
}

/* Did each rank take part once, and with the same metrics? What did not is no value. */
static enum alar_status embed_check(struct alar_embed *log, const struct embed_slot *slot,
                                    const void *elements)
{
    struct alar_participation_error error = {
        .finding = alar_payload_check(&log->plan.layout, log->plan.place.rank, slot->number,
                                      elements, slot->microbatches),
        .step = log->interval[slot->interval].step[slot->step],
        .microbatch = slot->microbatch,
        .number = slot->number,
    };

    if (error.finding.kind == ALAR_PARTICIPATION_WHOLE) {
        return ALAR_OK;
    }
    error.finding.rank = world_rank(log, error.finding.rank);
    error.finding.other = world_rank(log, error.finding.other);
    if (log->participation_error.finding.kind == ALAR_PARTICIPATION_WHOLE) {
        log->participation_error = error;
    }
    return error.finding.kind < ALAR_PARTICIPATION_SCHEMA ? ALAR_E_MISCOUNT : ALAR_E_SCHEMA;
}

/* Adds what was reduced to the steps that it covers. */
static void embed_add(struct alar_embed *log, const struct embed_slot *slot, const void *elements)
{
    const struct alar_layout *layout = &log->plan.layout;
    const struct embed_interval *interval = &log->interval[slot->interval];
    size_t metrics = layout->metrics;
    size_t each = alar_payload_pair_microbatches(layout);
    size_t at = slot->step * metrics; /* of the step's first metric */
    size_t microbatch = slot->microbatch;
    size_t pair = 0;

    for (size_t done = 0; done < slot->microbatches; done += each) {
        for (size_t metric = 0; metric < metrics; metric++, pair++) {
            alar_payload_add(layout, elements, pair, &interval->tally[at + metric]);
            if (interval->extreme != NULL) {
                alar_payload_add_extreme(layout, elements, slot->microbatches, pair,
                                         &interval->extreme[at + metric]);
            }
        }
        microbatch += each;
        if (microbatch == layout->microbatches) {
            microbatch = 0;
            at += metrics;
        }
    }
}

enum alar_engine_event_kind embed_take(struct alar_embed *log, enum alar_status *status)
{
    const struct embed_slot *slot = &log->slot[log->action.slot];
    const void *elements = log->receive + log->action.slot * log->slot_bytes;

    *status = embed_check(log, slot, elements);
    if (*status != ALAR_OK) {
        return ALAR_ENGINE_RETIRED_WRONG;
    }
    embed_add(log, slot, elements);
    return embed_find(log, slot, elements) ? ALAR_ENGINE_RETIRED_NONFINITE : ALAR_ENGINE_RETIRED;
}
