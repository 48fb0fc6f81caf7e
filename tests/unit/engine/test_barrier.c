/* Judging a roll call, for every roll of up to four ranks. */
#include "engine/barrier.h"
#include "tests/lib/demand.h"

enum {
    RANKS_MAX = 4,
    KINDS = 6
};

/* What a rank may be: 0 silent, 1 here with 5 posted, 2 here with 3 posted, 3 raised with 5 posted,
   4 silent although it left a note that says it raised, 5 here and failed by its back end. */
static struct alar_note note_of(int kind, uint32_t rank)
{
    static const enum alar_status status[KINDS] = {
        ALAR_OK, ALAR_OK, ALAR_OK, ALAR_E_NONFINITE, ALAR_E_NONFINITE, ALAR_E_BACKEND};

    return (struct alar_note){
        .status = (int32_t)status[kind], .step = rank, .posted = kind == 2 ? 3 : 5};
}

static bool is_silent(int kind)
{
    return kind == 0 || kind == 4;
}

/* The verdict by words: the first that raised, else the first that failed for a reason of its own,
   else the first silent, else the first that is behind. */
static struct alar_barrier_outcome expected_of(const int *kind, uint32_t ranks)
{
    struct alar_barrier_outcome raised = {.status = ALAR_E_NONFINITE};
    struct alar_barrier_outcome failed = {.status = ALAR_E_BACKEND};
    struct alar_barrier_outcome silent = {.status = ALAR_E_LOST};
    struct alar_barrier_outcome behind = {.status = ALAR_E_TIMEOUT, .culprit = ranks};

    for (uint32_t i = 0; i < ranks; i++) {
        if (kind[i] == 3 && raised.count++ == 0) {
            raised.culprit = i;
        } else if (kind[i] == 5 && failed.count++ == 0) {
            failed.culprit = i;
        } else if (is_silent(kind[i]) && silent.count++ == 0) {
            silent.culprit = i;
        } else if (kind[i] == 2 && behind.culprit == ranks) {
            behind.culprit = i;
        }
    }
    behind.culprit = behind.culprit == ranks ? 0 : behind.culprit;
    return raised.count > 0   ? raised
           : failed.count > 0 ? failed
           : silent.count > 0 ? silent
                              : behind;
}

static void check_roll(const int *kind, uint32_t ranks)
{
    uint8_t presence[RANKS_MAX];
    struct alar_note note[RANKS_MAX];
    struct alar_barrier_outcome expected = expected_of(kind, ranks);

    for (uint32_t i = 0; i < ranks; i++) {
        presence[i] = is_silent(kind[i]) ? ALAR_SILENT : ALAR_HERE;
        note[i] = note_of(kind[i], i);
    }
    for (uint32_t own = 0; own < ranks; own++) {
        struct alar_barrier roll = {
            .ranks = ranks, .rank = own, .presence = presence, .note = note};
        struct alar_barrier_outcome found = alar_barrier_judge(&roll);

        demand(found.status == expected.status, "expected %s, found %s",
               alar_status_name(expected.status), alar_status_name(found.status));
        demand(found.culprit == expected.culprit, "%s: expected rank %u, found %u",
               alar_status_name(found.status), expected.culprit, found.culprit);
        demand(found.count == expected.count, "%s: expected %u, found %u",
               alar_status_name(found.status), expected.count, found.count);
        demand(found.note.step == expected.culprit, "another rank's note");
        for (uint32_t i = 0; i < ranks; i++) {
            bool is_culprit = (found.status == ALAR_E_NONFINITE && kind[i] == 3) ||
                              (found.status == ALAR_E_BACKEND && kind[i] == 5) ||
                              (found.status == ALAR_E_LOST && is_silent(kind[i]));

            demand(alar_barrier_is_culprit(&roll, &found, i) == is_culprit, "culprit %u", i);
        }
    }
}

/* Every roll ends in one way, and in the same way whichever rank judges it: a rank that raised
   explains it best, then one that failed by itself, then silent ranks, then the lowest rank that
   has posted least. spec: F-05 */
Test(roll, every_roll_has_one_ending)
{
    for (uint32_t ranks = 1, rolls = KINDS; ranks <= RANKS_MAX; ranks++, rolls *= KINDS) {
        for (uint32_t i = 0; i < rolls; i++) {
            int kind[RANKS_MAX];

            for (uint32_t rank = 0, n = i; rank < ranks; rank++, n /= KINDS) {
                kind[rank] = (int)(n % KINDS);
            }
            check_roll(kind, ranks);
        }
    }
}
