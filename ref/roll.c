/* Judging a roll call. */
#include "roll.h"

bool alar_roll_is_culprit(const struct alar_roll *roll, const struct alar_ending *ending,
                          uint32_t rank)
{
    bool is_here = roll->presence[rank] == ALAR_HERE;

    if (ending->status == ALAR_E_NONFINITE) {
        return is_here && roll->note[rank].status == ALAR_E_NONFINITE;
    }
    return ending->status == ALAR_E_LOST && !is_here;
}

static struct alar_ending ending_of(const struct alar_roll *roll, enum alar_status status)
{
    struct alar_ending ending = {.status = status};

    /* From the highest rank down, so that the lowest culprit stays. */
    for (uint32_t i = roll->ranks; i-- > 0;) {
        if (alar_roll_is_culprit(roll, &ending, i)) {
            ending.culprit = i;
            ending.note = roll->note[i];
            ending.count++;
        }
    }
    return ending;
}

/* Everybody is there: the rank that has posted least holds the others up. */
static struct alar_ending ending_of_laggard(const struct alar_roll *roll)
{
    struct alar_ending ending = {.status = ALAR_E_TIMEOUT, .note = roll->note[0]};

    for (uint32_t i = 1; i < roll->ranks; i++) {
        if (roll->note[i].posted < ending.note.posted) {
            ending.culprit = i;
            ending.note = roll->note[i];
        }
    }
    return ending;
}

struct alar_ending alar_roll_judge(const struct alar_roll *roll)
{
    struct alar_ending raised = ending_of(roll, ALAR_E_NONFINITE);
    struct alar_ending lost = ending_of(roll, ALAR_E_LOST);

    if (raised.count > 0) {
        return raised;
    }
    return lost.count > 0 ? lost : ending_of_laggard(roll);
}
