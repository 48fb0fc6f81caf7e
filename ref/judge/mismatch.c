/* Do the ranks of an operation mean the same one? Asked once all of them have issued it, or the
   history is over; who is odd is told by the others, never by who stands first. spec: O-10, O-72 */
#include "judge/judge_state.h"

#include "base/check.h"

#include <string.h>

enum {
    MISMATCH_KINDS = 16 /* different things that ranks may mean and that are counted */
};

bool judge_group_is_strange(const struct alar_judge *judge, const struct judge_group *group,
                            uint32_t rank)
{
    uint32_t member;

    (void)judge;
    for (uint32_t k = 0; k < group->strangers.count && k < ALAR_LIST_MAX; k++) {
        if (group->strangers.item[k] == rank) {
            return true;
        }
    }
    return group->strangers.count > ALAR_LIST_MAX &&
           !judge_member_find(judge, group, rank, &member);
}

void judge_group_stranger(struct judge_group *group, uint32_t rank, uint64_t number)
{
    group->strange = group->strangers.count && group->strange < number ? group->strange : number;
    alar_list_add(&group->strangers, rank);
    group->mismatch = group->mismatch < group->strange ? group->mismatch : group->strange;
}

/* Nothing is concluded from this operation on: they are matched by order, and the order is broken.
 */
void judge_match(struct alar_judge *judge, struct judge_op *op)
{
    struct judge_group *group = judge_group_at(judge, op->group);

    if (op->is_mixed && op->number < group->mismatch) {
        group->mismatch = op->number;
    }
}

/* What a rank means, of what the anomaly is about; 0: it does not say. */
static uint64_t mismatch_meant(const struct judge_entry *entry, enum alar_anomaly anomaly)
{
    switch ((int)anomaly) {
    case ALAR_ANOMALY_MISMATCH_MEMBERS:
        return entry->members;
    case ALAR_ANOMALY_MISMATCH_KEY:
        return entry->key;
    case ALAR_ANOMALY_MISMATCH_RED:
        return (uint64_t)entry->red + 1;
    case ALAR_ANOMALY_MISMATCH_DTYPE:
        return (uint64_t)entry->dtype + 1;
    default:
        return entry->n + 1;
    }
}

/* How many ranks mean what, in the order of ranks. */
struct votes {
    uint32_t kinds;
    uint64_t meant[MISMATCH_KINDS];
    uint32_t ranks[MISMATCH_KINDS];
};

static struct votes mismatch_votes(const struct alar_judge *judge, const struct judge_op *op,
                                   enum alar_anomaly anomaly)
{
    struct votes votes = {0};

    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        uint64_t meant = entry->life == JUDGE_FREE ? 0 : mismatch_meant(entry, anomaly);
        uint32_t kind = 0;

        while (kind < votes.kinds && votes.meant[kind] != meant) {
            kind++;
        }
        if (meant != 0 && kind < MISMATCH_KINDS) {
            votes.meant[kind] = meant;
            votes.ranks[kind]++;
            votes.kinds += kind == votes.kinds;
        }
    }
    return votes;
}

/* What most ranks mean; 0 when no one thing is meant by more ranks than any other. */
static uint64_t mismatch_usual(const struct votes *votes)
{
    uint32_t most = 0;
    uint64_t usual = 0;

    for (uint32_t kind = 0; kind < votes->kinds; kind++) {
        usual = votes->ranks[kind] > most    ? votes->meant[kind]
                : votes->ranks[kind] == most ? 0
                                             : usual;
        most = votes->ranks[kind] > most ? votes->ranks[kind] : most;
    }
    return votes->kinds < MISMATCH_KINDS ? usual : 0;
}

/* As many ranks mean the one as the other. Of dtypes the narrower one is taken for the usual: what
   the wider ranks send does not fit the others' buffers, and it is said that this is all there is
   to it. */
static uint64_t mismatch_narrower(const struct votes *votes, enum alar_anomaly anomaly)
{
    uint64_t least = 0;

    for (uint32_t kind = 0; anomaly == ALAR_ANOMALY_MISMATCH_DTYPE && kind < votes->kinds; kind++) {
        size_t bytes = alar_dtype_bytes((enum alar_dtype)(votes->meant[kind] - 1));

        if (votes->kinds == 2 &&
            bytes < alar_dtype_bytes((enum alar_dtype)(votes->meant[!kind] - 1))) {
            least = votes->meant[kind];
        }
    }
    return least;
}

static const struct judge_entry *mismatch_first(const struct alar_judge *judge,
                                                const struct judge_op *op,
                                                enum alar_anomaly anomaly, uint64_t meant,
                                                bool is_other)
{
    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        uint64_t mine = entry->life == JUDGE_FREE ? 0 : mismatch_meant(entry, anomaly);

        if (mine != 0 && (mine == meant) != is_other) {
            return entry;
        }
    }
    return NULL;
}

/* Two operations in the other order on one rank look like a mismatch of the first one until the
   second one is looked at. */
static bool mismatch_is_swapped(const struct alar_judge *judge, const struct judge_op *op)
{
    uint64_t made = judge_op_find(judge, op->group, op->number + 1);
    const struct judge_op *next = made ? judge_op_at(judge, made) : NULL;

    for (uint32_t a = 0; next && a < op->members; a++) {
        for (uint32_t b = 0; b < op->members && b < MISMATCH_KINDS; b++) {
            const struct judge_entry *mine = judge_entry_at(judge, op, a);
            const struct judge_entry *other = judge_entry_at(judge, op, b);
            const struct judge_entry *mine_next = judge_entry_at(judge, next, a);
            const struct judge_entry *other_next = judge_entry_at(judge, next, b);

            if (mine_next->life != JUDGE_FREE && other_next->life != JUDGE_FREE &&
                mine->life != JUDGE_FREE && other->life != JUDGE_FREE &&
                mine->signature != other->signature && mine->signature == other_next->signature &&
                other->signature == mine_next->signature) {
                return true;
            }
        }
    }
    return false;
}

/* The first of these that the ranks do not agree on. */
static enum alar_anomaly mismatch_kind(const struct alar_judge *judge, const struct judge_op *op)
{
    static const enum alar_anomaly kinds[] = {
        ALAR_ANOMALY_MISMATCH_MEMBERS, ALAR_ANOMALY_MISMATCH_KEY, ALAR_ANOMALY_MISMATCH_RED,
        ALAR_ANOMALY_MISMATCH_DTYPE, ALAR_ANOMALY_MISMATCH_ELEMENTS};

    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (mismatch_votes(judge, op, kinds[k]).kinds > 1) {
            return kinds[k];
        }
    }
    return ALAR_ANOMALY_COUNT;
}

/* What they disagree on, as numbers or names. The usual thing first. */
static void mismatch_words(struct alar_evidence *evidence, const struct judge_op *op,
                           enum alar_anomaly about, const struct judge_entry *usual,
                           const struct judge_entry *odd)
{
    bool is_first = usual->key == op->key_hash;

    evidence->amount[0] = mismatch_meant(usual, about) - 1;
    evidence->amount[1] = mismatch_meant(odd, about) - 1;
    memcpy(evidence->name[0], is_first ? op->key : op->other_key, sizeof evidence->name[0]);
    memcpy(evidence->name[1], is_first ? op->other_key : op->key, sizeof evidence->name[1]);
}

/* Ranks that issued operations of a group whose members, by what others say, they are not. */
static void mismatch_strangers(struct alar_judge *judge, const struct judge_group *group,
                               struct judge_op *op)
{
    struct alar_evidence *evidence =
        judge_found(judge, ALAR_ANOMALY_MISMATCH_MEMBERS, op, ALAR_RANK_ALL);
    uint32_t issued = op ? op->issued : 0;

    if (!evidence) {
        return;
    }
    evidence->has_op = true;
    evidence->number = group->strange;
    memcpy(evidence->group, group->name, sizeof evidence->group);
    evidence->is_open = group->strangers.count == issued;
    if (group->strangers.count <= issued || !issued) {
        evidence->ranks = group->strangers;
    }
    for (uint32_t m = 0; op && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->life != JUDGE_FREE && group->strangers.count >= issued) {
            alar_list_add(&evidence->ranks, entry->rank);
        }
        if (entry->life != JUDGE_FREE) {
            judge_show_issue(judge, evidence, op, entry);
        }
    }
}

void judge_strangers(struct alar_judge *judge)
{
    for (uint64_t at = judge->group; at; at = judge_group_at(judge, at)->next) {
        const struct judge_group *group = judge_group_at(judge, at);
        uint64_t made = group->strangers.count ? judge_op_find(judge, at, group->strange) : 0;

        if (group->strangers.count) {
            mismatch_strangers(judge, group, made ? judge_op_at(judge, made) : NULL);
        }
    }
}

void judge_mismatch(struct alar_judge *judge, struct judge_op *op)
{
    const struct judge_group *group = judge_group_at(judge, op->group);
    enum alar_anomaly about = mismatch_kind(judge, op);
    enum alar_anomaly anomaly = about;

    op->is_tainted = true;
    if (op->number != group->mismatch || about == ALAR_ANOMALY_COUNT ||
        (group->strangers.count && group->strange == op->number)) {
        return;
    }
    if (about >= ALAR_ANOMALY_MISMATCH_RED && mismatch_is_swapped(judge, op)) {
        anomaly = ALAR_ANOMALY_MISMATCH_ORDER;
    }
    struct alar_evidence *evidence = judge_found(judge, anomaly, op, ALAR_RANK_ALL);
    if (!evidence) {
        return;
    }
    struct votes votes = mismatch_votes(judge, op, about);
    uint64_t usual = mismatch_usual(&votes);
    evidence->is_open = usual == 0;
    usual = usual ? usual : mismatch_narrower(&votes, about);
    uint64_t meant = usual ? usual : votes.meant[0];
    const struct judge_entry *first = mismatch_first(judge, op, about, meant, false);
    const struct judge_entry *odd = mismatch_first(judge, op, about, meant, true);
    mismatch_words(evidence, op, about, first, odd);
    judge_show_issue(judge, evidence, op, first);
    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        uint64_t mine = entry->life == JUDGE_FREE ? 0 : mismatch_meant(entry, about);

        if (mine != 0) {
            alar_list_add(usual && mine == usual ? &evidence->joined : &evidence->ranks,
                          entry->rank);
        }
        if (mine != 0 && entry != first && (!usual || mine != usual)) {
            judge_show_issue(judge, evidence, op, entry);
        }
    }
}
