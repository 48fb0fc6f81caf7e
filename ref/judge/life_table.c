/* What a record means in each state of a rank's part, expanded from life.def. */
#include "judge/judge_state.h"

#include "base/check.h"

enum {
#define MOVE(state, act, next, why) +1
#define FIND(state, act, anomaly, why) +1
#define STAY(state, act, why) +1
    ROW_COUNT = 0
#include "judge/life.def"
};

/* FREE takes no act: a record of what was never issued is refused. */
_Static_assert(ROW_COUNT == (JUDGE_LIFE_COUNT - 1) * (int)JUDGE_ACT_COUNT,
               "life.def decides every (state, act) pair");

/* One number per pair, so that a pair decided twice is a duplicate case. */
#define PAIR(state, act) ((unsigned)(state) * (unsigned)JUDGE_ACT_COUNT + (unsigned)(act))

struct judge_row judge_life_row(enum judge_life state, enum judge_act act)
{
    struct judge_row row = {state, ALAR_ANOMALY_COUNT};

    PRE(state != JUDGE_FREE);
    switch (PAIR(state, act)) {
#define MOVE(state, act, to, why)              \
    case PAIR(JUDGE_##state, JUDGE_ACT_##act): \
        row.next = JUDGE_##to;                 \
        break;
#define FIND(state, act, anomaly, why)         \
    case PAIR(JUDGE_##state, JUDGE_ACT_##act): \
        row.finding = ALAR_ANOMALY_##anomaly;  \
        break;
#define STAY(state, act, why)                  \
    case PAIR(JUDGE_##state, JUDGE_ACT_##act): \
        break;
#include "judge/life.def"
    default:
        break;
    }
    return row;
}

bool judge_life_is_owned(enum judge_life state)
{
    static const bool owned[] = {
#define LIFE(name, owned, meaning) owned,
#include "judge/life.def"
    };

    return owned[state];
}
