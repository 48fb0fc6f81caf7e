/* Findings: counted always, kept worst first, with the events that show them. */
#include "judge/judge_state.h"

#include "base/check.h"

#include <string.h>

void judge_unknown(struct alar_judge *judge, enum alar_unknown reason, struct alar_place place,
                   uint32_t rank)
{
    if (judge->verdict.unknown[reason]++ == 0) {
        judge->verdict.unknown_place[reason] = place;
        judge->verdict.unknown_rank[reason] = rank;
    }
}

/* A finding that is there already, and that one more rank or operation only widens. */
struct alar_evidence *judge_kept(struct alar_judge *judge, enum alar_anomaly anomaly,
                                 const struct judge_op *op)
{
    const char *group = op ? judge_group_at(judge, op->group)->name : "";

    for (uint32_t k = 0; k < judge->verdict.finding_count; k++) {
        struct alar_evidence *kept = &judge->verdict.finding[k];
        bool is_wide = anomaly == ALAR_ANOMALY_LEAK || anomaly == ALAR_ANOMALY_UNUSED;

        if (kept->anomaly == anomaly && op && strcmp(kept->group, group) == 0 &&
            (is_wide || kept->number == op->number)) {
            return kept;
        }
    }
    return NULL;
}

/* Does the one that is kept come after a new one? Among equals the lower operation comes first, in
   whatever order they were found. */
static bool find_is_after(const struct alar_judge *judge, const struct alar_evidence *kept,
                          enum alar_anomaly anomaly, const struct judge_op *op)
{
    if (kept->anomaly != anomaly || !op || !kept->has_op) {
        return kept->anomaly > anomaly;
    }
    return kept->number != op->number
               ? kept->number > op->number
               : strcmp(kept->group, judge_group_at(judge, op->group)->name) > 0;
}

/* Makes room for a finding where its severity puts it; NULL when worse ones fill the list. */
static struct alar_evidence *find_slot(struct alar_judge *judge, enum alar_anomaly anomaly,
                                       const struct judge_op *op)
{
    struct alar_verdict *verdict = &judge->verdict;
    uint32_t k = verdict->finding_count;

    while (k > 0 && find_is_after(judge, &verdict->finding[k - 1], anomaly, op)) {
        k--;
    }
    if (k == verdict->finding_room) {
        return NULL;
    }
    if (verdict->finding_count < verdict->finding_room) {
        verdict->finding_count++;
    }
    memmove(&verdict->finding[k + 1], &verdict->finding[k],
            (verdict->finding_count - 1 - k) * sizeof *verdict->finding);
    return &verdict->finding[k];
}

static struct alar_evidence *find_fill(struct alar_judge *judge, struct alar_evidence *slot,
                                       enum alar_anomaly anomaly, const struct judge_op *op)
{
    memset(slot, 0, sizeof *slot);
    slot->anomaly = anomaly;
    slot->step = -1;
    slot->microbatch = -1;
    slot->own = ALAR_RANK_ALL;
    slot->element = -1;
    slot->excused = -1;
    slot->faults = UINT32_MAX;
    if (op) {
        const struct judge_group *group = judge_group_at(judge, op->group);

        slot->has_op = true;
        memcpy(slot->group, group->name, sizeof slot->group);
        slot->number = op->number;
        slot->step = op->step;
        slot->dtype = op->dtype;
        if (op->finished == op->members) {
            slot->faults = op->faults; /* later ones came after its ranks' ends */
        }
    } else if (judge->event && judge->event->has[ALAR_FIELD_OP]) {
        slot->has_op = true;
        alar_text_keep(judge->event->text[ALAR_FIELD_OP], slot->group, sizeof slot->group);
        slot->number = (uint64_t)judge->event->number[ALAR_FIELD_OP];
    }
    return slot;
}

struct alar_evidence *judge_found(struct alar_judge *judge, enum alar_anomaly anomaly,
                                  struct judge_op *op, uint32_t rank)
{
    struct alar_evidence *same = judge_kept(judge, anomaly, op);

    if (op) {
        op->is_found = op->is_found || !alar_anomaly_is_note(anomaly);
    }
    if (same) {
        if (rank != ALAR_RANK_ALL) {
            alar_list_add(&same->ranks, rank);
        }
        alar_list_add(&same->ops, op->number);
        return NULL;
    }
    judge->verdict.found[anomaly]++;
    struct alar_evidence *slot = find_slot(judge, anomaly, op);
    if (slot) {
        find_fill(judge, slot, anomaly, op);
        if (rank != ALAR_RANK_ALL) {
            alar_list_add(&slot->ranks, rank);
        }
        if (op) {
            alar_list_add(&slot->ops, op->number);
        }
    }
    return slot;
}

static struct alar_witness_event *find_witness(struct alar_evidence *evidence,
                                               enum alar_record record, struct alar_place place,
                                               uint32_t rank)
{
    if (!evidence || evidence->witness_count == ALAR_SCENES_MAX || place.line == 0) {
        return NULL;
    }
    struct alar_witness_event *witness = &evidence->witness[evidence->witness_count++];
    witness->record = record;
    witness->place = place;
    witness->rank = rank;
    witness->dtype = evidence->dtype;
    return witness;
}

/* As its rank's clock showed it. */
static void witness_time(const struct alar_judge *judge, struct alar_witness_event *witness,
                         const struct judge_entry *entry, const struct judge_moment *moment)
{
    int64_t t0 = judge_rank_at(judge, entry->rank)->t0;

    witness->has_t = moment->has_t;
    witness->t = t0 == INT64_MIN ? moment->t : judge_time(moment->t, -t0);
}

void judge_show_issue(const struct alar_judge *judge, struct alar_evidence *evidence,
                      const struct judge_op *op, const struct judge_entry *entry)
{
    struct alar_witness_event *witness =
        find_witness(evidence, ALAR_RECORD_ISSUE, entry->issue.place, entry->rank);
    uint32_t member = 0;

    if (!witness) {
        return;
    }
    witness->n = entry->n;
    witness->dtype = entry->dtype;
    witness_time(judge, witness, entry, &entry->issue);
    memcpy(witness->src, entry->src, sizeof witness->src);
    if (entry->has_in) {
        INV("who contributed is a member",
            judge_member_find(judge, judge_group_at(judge, op->group), entry->rank, &member));
        const uint64_t *in =
            (const uint64_t *)alar_arena_at(judge->arena, op->in) + (size_t)member * op->elements;

        witness->at = evidence->element > 0 ? evidence->element : 0;
        witness->shown =
            op->elements - (uint32_t)witness->at < 2 ? op->elements - (uint32_t)witness->at : 2;
        memcpy(witness->bits, in + witness->at, witness->shown * sizeof *in);
    }
}

void judge_show_wait(const struct alar_judge *judge, struct alar_evidence *evidence,
                     const struct judge_entry *entry)
{
    struct alar_witness_event *witness =
        find_witness(evidence, ALAR_RECORD_WAIT, entry->wait.place, entry->rank);

    if (witness) {
        witness_time(judge, witness, entry, &entry->wait);
    }
}

static void show_end(const struct alar_judge *judge, struct alar_evidence *evidence,
                     const struct judge_op *op, const struct judge_entry *entry,
                     const struct judge_moment *end)
{
    struct alar_witness_event *witness =
        find_witness(evidence, end->record, end->place, entry->rank);

    if (!witness) {
        return;
    }
    witness_time(judge, witness, entry, end);
    if (entry->has_out && evidence->element < (int64_t)op->out_elements) {
        witness->at = evidence->element > 0 ? evidence->element : 0;
        witness->shown = op->out_elements - (uint32_t)witness->at < 2
                             ? op->out_elements - (uint32_t)witness->at
                             : 2;
        memcpy(witness->bits, judge_value_row(judge, op, entry->class) + witness->at,
               witness->shown * sizeof *witness->bits);
    }
}

void judge_show_done(const struct alar_judge *judge, struct alar_evidence *evidence,
                     const struct judge_op *op, const struct judge_entry *entry)
{
    show_end(judge, evidence, op, entry, entry->done.place.line ? &entry->done : &entry->told);
}

void judge_show_told(const struct alar_judge *judge, struct alar_evidence *evidence,
                     const struct judge_op *op, const struct judge_entry *entry)
{
    show_end(judge, evidence, op, entry, &entry->told);
}

void judge_evidence_late(struct alar_evidence *evidence, const struct judge_entry *entry)
{
    const struct judge_moment *told =
        judge_did(entry, JUDGE_ACT_EXPIRE) ? &entry->done : &entry->told;

    if (evidence && told->has_t && entry->deadline != INT64_MAX && told->t >= entry->deadline) {
        uint64_t late = (uint64_t)told->t - (uint64_t)entry->deadline;

        evidence->late = !evidence->is_late || late > evidence->late ? late : evidence->late;
        evidence->is_late = true;
    }
}

void judge_show_event(struct alar_judge *judge, struct alar_evidence *evidence)
{
    const struct alar_event *event = judge->event;
    struct alar_witness_event *witness =
        find_witness(evidence, event->record, event->place,
                     (uint32_t)alar_event_number(event, ALAR_FIELD_RANK, ALAR_RANK_ALL));

    if (!witness) {
        return;
    }
    witness->has_t = event->has[ALAR_FIELD_T];
    witness->t = alar_event_number(event, ALAR_FIELD_T, 0);
    witness->at = alar_event_number(event, ALAR_FIELD_AT, 0);
    witness->is_backend = alar_event_number(event, ALAR_FIELD_BY, 0) == 1;
    if (event->has[ALAR_FIELD_SRC]) {
        alar_text_keep(event->text[ALAR_FIELD_SRC], witness->src, sizeof witness->src);
    }
    if (event->has[ALAR_FIELD_BITS]) {
        uint32_t count =
            event->number[ALAR_FIELD_BITS] < 2 ? (uint32_t)event->number[ALAR_FIELD_BITS] : 2;

        if (judge_bits(judge, ALAR_FIELD_BITS, evidence->dtype, witness->bits, count) == ALAR_OK) {
            witness->shown = count;
        }
    }
}

void judge_good(struct alar_judge *judge, const struct judge_op *op)
{
    const char *name = judge_group_at(judge, op->group)->name;

    for (uint32_t k = 0; k < judge->verdict.finding_count; k++) {
        struct alar_evidence *kept = &judge->verdict.finding[k];

        if (kept->has_op && op->number < kept->number && strcmp(kept->group, name) == 0 &&
            (!kept->has_good || kept->good < op->number)) {
            kept->has_good = true;
            kept->good = op->number;
        }
    }
}
