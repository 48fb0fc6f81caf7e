/* Judging a roll call. */
#include "engine/barrier.h"

/* Does the status say something of the rank itself, and not of those it waits for? */
static bool is_own(enum alar_status status)
{
    return status != ALAR_OK && status != ALAR_E_TIMEOUT && status != ALAR_E_LOST;
}

bool alar_barrier_is_culprit(const struct alar_barrier *roll,
                             const struct alar_barrier_outcome *ending, uint32_t rank)
{
    bool is_here = roll->presence[rank] == ALAR_HERE;

    if (ending->status == ALAR_E_LOST) {
        return !is_here;
    }
    return is_here && is_own(ending->status) && roll->note[rank].status == (int32_t)ending->status;
}

static struct alar_barrier_outcome ending_of(const struct alar_barrier *roll,
                                             enum alar_status status)
{
    struct alar_barrier_outcome ending = {.status = status};

    /* From the highest rank down, so that the lowest culprit stays. */
    for (uint32_t i = roll->ranks; i-- > 0;) {
        if (alar_barrier_is_culprit(roll, &ending, i)) {
            ending.culprit = i;
            ending.note = roll->note[i];
            ending.count++;
        }
    }
    return ending;
}

/* Everybody is there: the rank that has posted least holds the others up. */
static struct alar_barrier_outcome ending_of_laggard(const struct alar_barrier *roll)
{
    struct alar_barrier_outcome ending = {.status = ALAR_E_TIMEOUT, .note = roll->note[0]};

    for (uint32_t i = 1; i < roll->ranks; i++) {
        if (roll->note[i].posted < ending.note.posted) {
            ending.culprit = i;
            ending.note = roll->note[i];
        }
    }
    return ending;
}

struct alar_barrier_outcome alar_barrier_judge(const struct alar_barrier *roll)
{
    struct alar_barrier_outcome raised = ending_of(roll, ALAR_E_NONFINITE);
    struct alar_barrier_outcome lost = ending_of(roll, ALAR_E_LOST);

    if (raised.count > 0) {
        return raised;
    }
    for (uint32_t i = 0; i < roll->ranks; i++) {
        enum alar_status status = (enum alar_status)roll->note[i].status;

        if (roll->presence[i] == ALAR_HERE && is_own(status)) {
            return ending_of(roll, status);
        }
    }
    return lost.count > 0 ? lost : ending_of_laggard(roll);
}
