/* Names of storage: one that a record reads, writes or frees and that no operation ever used is
   misspelt, or belongs to nothing that was recorded. Either way the record can't be passed over.
   spec: O-115 */
#include "judge/judge_state.h"

#include <string.h>

/* Where the name of a rank's storage is kept, or would be; JUDGE_NAMES when there is no room. */
static uint32_t name_find(const struct alar_judge *judge, uint64_t name)
{
    uint32_t at = (uint32_t)(name >> 32) % JUDGE_NAMES;

    for (uint32_t k = 0; k < JUDGE_NAMES; k++, at = (at + 1) % JUDGE_NAMES) {
        if (judge->name[at] == name || judge->name[at] == 0) {
            return at;
        }
    }
    return JUDGE_NAMES;
}

static uint64_t name_of(uint32_t rank, uint64_t hash)
{
    return ((hash ^ rank) * UINT64_C(0x9e3779b97f4a7c15)) | 1;
}

/* The place of a name, which it has from now on; JUDGE_NAMES where there is no room for more. */
static uint32_t name_keep(struct alar_judge *judge, uint64_t name)
{
    uint32_t at = name_find(judge, name);

    if (at < JUDGE_NAMES && judge->name[at] == 0) {
        if (judge->names == JUDGE_NAMES / 2) {
            at = JUDGE_NAMES;
        } else {
            judge->name[at] = name;
            judge->names++;
        }
    }
    judge->has_all_names = judge->has_all_names && at < JUDGE_NAMES;
    return at;
}

/* An operation of the rank uses the storage, or it was allocated; 0: none. */
void judge_name_used(struct alar_judge *judge, uint32_t rank, uint64_t hash)
{
    uint32_t at = hash ? name_keep(judge, name_of(rank, hash)) : JUDGE_NAMES;

    if (at < JUDGE_NAMES) {
        judge->is_used[at] = true;
    }
}

/* Is the name one of those that its rank freed, and that did not come back? */
static bool *name_freed(struct alar_judge *judge, uint32_t rank, uint64_t hash)
{
    uint64_t name = name_of(rank, hash);
    uint32_t at = hash ? name_find(judge, name) : JUDGE_NAMES;

    return at < JUDGE_NAMES && judge->name[at] == name ? &judge->is_freed[at] : NULL;
}

void judge_name_gone(struct alar_judge *judge, uint32_t rank, uint64_t hash)
{
    bool *freed = name_freed(judge, rank, hash);

    if (freed) {
        *freed = true;
    }
}

void judge_name_back(struct alar_judge *judge, uint32_t rank, uint64_t hash)
{
    bool *freed = name_freed(judge, rank, hash);

    if (freed) {
        *freed = false;
    }
}

/* Storage that its rank freed is used. It is told of once. spec: O-81 */
void judge_freed_used(struct alar_judge *judge, uint32_t rank, uint64_t hash)
{
    bool *freed = name_freed(judge, rank, hash);

    if (freed && *freed) {
        *freed = false;
        judge_show_event(judge, judge_found(judge, ALAR_ANOMALY_USE_AFTER_FREE, NULL, rank));
    }
}

static bool stray_is_used(const struct alar_judge *judge, const struct judge_stray *stray)
{
    uint32_t at = name_find(judge, stray->name);

    return at < JUDGE_NAMES && judge->is_used[at];
}

/* Those that an operation used since make room for others. */
static void strays_clear(struct alar_judge *judge)
{
    uint32_t kept = 0;

    for (uint32_t k = 0; k < judge->strays; k++) {
        if (!stray_is_used(judge, &judge->stray[k])) {
            judge->stray[kept++] = judge->stray[k];
        }
    }
    judge->strays = kept;
}

/* A record reads, writes or frees it; an operation may use it later. */
void judge_name_asked(struct alar_judge *judge, uint32_t rank)
{
    const struct alar_event *event = judge->event;
    struct judge_stray stray = {.name = name_of(rank, alar_text_hash(event->text[ALAR_FIELD_BUF])),
                                .place = event->place,
                                .rank = rank};
    uint32_t known = name_find(judge, stray.name);

    if (known < JUDGE_NAMES && judge->name[known] == stray.name) {
        return;
    }
    if (name_keep(judge, stray.name) == JUDGE_NAMES) {
        return;
    }
    if (judge->strays == JUDGE_STRAYS) {
        strays_clear(judge);
    }
    if (judge->strays < JUDGE_STRAYS) {
        alar_text_keep(event->text[ALAR_FIELD_BUF], stray.text, sizeof stray.text);
        judge->stray[judge->strays++] = stray;
    }
}

void judge_names_finish(struct alar_judge *judge)
{
    uint32_t unused = 0;

    for (uint32_t at = 0; judge->has_all_names && at < JUDGE_NAMES; at++) {
        unused += judge->name[at] != 0 && !judge->is_used[at];
    }
    judge->verdict.lacks_names = !judge->has_all_names;
    strays_clear(judge);
    for (uint32_t k = 0; k < unused; k++) {
        struct judge_stray none = {.rank = ALAR_RANK_ALL};
        const struct judge_stray *stray = k < judge->strays ? &judge->stray[k] : &none;

        judge_unknown(judge, ALAR_UNKNOWN_STORAGE, stray->place, stray->rank);
    }
    if (unused > 0 && judge->strays > 0) {
        memcpy(judge->verdict.stray, judge->stray[0].text, sizeof judge->verdict.stray);
    }
}
