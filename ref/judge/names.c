/* Names of storage: one that a record reads or writes and that no operation ever used is misspelt,
   or belongs to nothing that was recorded. Either way the record can't be passed over. spec: O-115
 */
#include "judge/judge_state.h"

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

/* An operation of the rank uses the storage; 0: none. */
void judge_name_used(struct alar_judge *judge, uint32_t rank, uint64_t hash)
{
    uint32_t at = hash ? name_find(judge, name_of(rank, hash)) : 0;

    if (hash == 0) {
        return;
    }
    if (at == JUDGE_NAMES || judge->names == JUDGE_NAMES / 2) {
        judge->has_all_names = false; /* of storage that comes and goes nothing is said any more */
    } else if (judge->name[at] == 0) {
        judge->name[at] = name_of(rank, hash);
        judge->names++;
    }
}

/* A record reads or writes it; an operation may use it later. */
void judge_name_asked(struct alar_judge *judge, uint32_t rank, uint64_t hash)
{
    uint32_t at = name_find(judge, name_of(rank, hash));

    if ((at == JUDGE_NAMES || judge->name[at] == 0) && judge->strays < JUDGE_STRAYS) {
        judge->stray[judge->strays++] =
            (struct judge_stray){name_of(rank, hash), judge->event->place, rank};
    }
}

void judge_names_finish(struct alar_judge *judge)
{
    for (uint32_t k = 0; judge->has_all_names && k < judge->strays; k++) {
        const struct judge_stray *stray = &judge->stray[k];

        if (judge->name[name_find(judge, stray->name)] == 0) {
            judge_unknown(judge, ALAR_UNKNOWN_STORAGE, stray->place, stray->rank);
        }
    }
}
