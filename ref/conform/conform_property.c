/* Which promise a finding of the judge breaks. */
#include "conform/conform_history.h"

static enum conform_property property_of_call(uint32_t call)
{
    switch (call) {
    case CONFORM_LOAD:
    case CONFORM_INIT:
    case CONFORM_CAPS:
    case CONFORM_COMM_CREATE:
        return PROMISE_STARTS;
    case CONFORM_COMM_FREE:
    case CONFORM_FAREWELL:
    case CONFORM_FINI:
        return PROMISE_ENDS;
    case CONFORM_ROLL_CALL:
        return PROMISE_ROLLS;
    default:
        return PROMISE_ANSWERS;
    }
}

static enum conform_property property_of_answer(const struct alar_evidence *finding)
{
    switch (finding->answer) {
    case ALAR_ANSWER_TIMEOUT_DONE:
        return PROMISE_STAYS_DONE;
    case ALAR_ANSWER_TIMEOUT_EARLY:
        return PROMISE_WAIT_DEADLINE;
    case ALAR_ANSWER_FREED:
    case ALAR_ANSWER_NOT_FREED:
        return PROMISE_FREE_PENDING;
    case ALAR_ANSWER_FULL:
        return PROMISE_OUTSTANDING;
    case ALAR_ANSWER_STOOD_STILL:
        return PROMISE_OWN_PROGRESS;
    default:
        return property_of_call(finding->call);
    }
}

/* An error of a legal all-reduce breaks the promise that made it legal. */
static enum conform_property property_of_op(const struct conform_op *op)
{
    return op->is_blocking     ? PROMISE_CAN_BLOCK
           : op->elements == 0 ? PROMISE_EMPTY
           : op->is_in_place   ? PROMISE_IN_PLACE
                               : PROMISE_NO_ERROR;
}

enum conform_property conform_property_of(const struct alar_evidence *finding,
                                          const struct conform_op *op)
{
    switch (finding->anomaly) {
    case ALAR_ANOMALY_NO_RETURN:
        return PROMISE_RETURNS;
    case ALAR_ANOMALY_OUT_OF_BOUNDS:
        return PROMISE_BOUNDS;
    case ALAR_ANOMALY_PREMATURE:
        return finding->answer == ALAR_ANSWER_WENT_BACK ? PROMISE_STAYS_DONE : PROMISE_COMPLETION;
    case ALAR_ANOMALY_LATE_WRITE:
        return PROMISE_HANDS_OFF;
    case ALAR_ANOMALY_WRONG_ANSWER:
        return property_of_answer(finding);
    case ALAR_ANOMALY_BLOCKING_CALL:
        return finding->call == CONFORM_WAIT ? PROMISE_WAIT_DEADLINE : PROMISE_NO_BLOCKING;
    case ALAR_ANOMALY_TIMEOUT:
    case ALAR_ANOMALY_STALL:
        return PROMISE_COMPLETES;
    case ALAR_ANOMALY_RANKS_DISAGREE:
        return PROMISE_AGREEMENT;
    case ALAR_ANOMALY_ILLEGAL_VALUE:
        return op->elements > 64 ? PROMISE_LARGE : PROMISE_VALUES;
    case ALAR_ANOMALY_NAN_LOST:
        return PROMISE_NAN;
    case ALAR_ANOMALY_NOT_THE_TREE:
        return PROMISE_HEIGHT;
    case ALAR_ANOMALY_TWIN_DIFFERS:
        return PROMISE_FIXED_ORDER;
    default:
        return property_of_op(op);
    }
}
