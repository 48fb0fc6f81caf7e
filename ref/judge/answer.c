/* What the functions of a back end answered, held against backend.h. An `answer` record stands by
   itself: it says which function, what had been told of the operation before, and what came back.
   spec: F-30, F-31, F-32, F-33 */
#include "judge/judge_state.h"

/* In the order of the words of `call` in record.def. */
enum answer_call {
    CALL_LOAD,
    CALL_INIT,
    CALL_CAPS,
    CALL_FINI,
    CALL_COMM_CREATE,
    CALL_COMM_FREE,
    CALL_ALLREDUCE,
    CALL_TEST,
    CALL_WAIT,
    CALL_REQUEST_FREE,
    CALL_NONE = 16
};

/* Of `told`. */
enum answer_told {
    TOLD_NOTHING,
    TOLD_PENDING,
    TOLD_DONE,
    TOLD_FAILED
};

static int64_t given(const struct alar_judge *judge, enum alar_field field, int64_t otherwise)
{
    return alar_event_number(judge->event, field, otherwise);
}

/* A call into the back end that its caller never came back from, or where memory outside was hit.
 */
static enum alar_answer_fault answer_end(const struct alar_judge *judge, enum alar_anomaly *anomaly)
{
    if (judge->event->has[ALAR_FIELD_OUTSIDE]) {
        *anomaly = ALAR_ANOMALY_OUT_OF_BOUNDS;
        return ALAR_ANSWER_OUTSIDE;
    }
    if (judge->event->has[ALAR_FIELD_GONE]) {
        *anomaly = ALAR_ANOMALY_NO_RETURN;
        return ALAR_ANSWER_SIGNAL + (enum alar_answer_fault)judge->event->number[ALAR_FIELD_GONE];
    }
    if (judge->event->has[ALAR_FIELD_LIMIT] &&
        given(judge, ALAR_FIELD_TOOK, 0) > judge->event->number[ALAR_FIELD_LIMIT]) {
        *anomaly = ALAR_ANOMALY_BLOCKING_CALL;
        return ALAR_ANSWER_BLOCKED;
    }
    return ALAR_ANSWER_GOOD;
}

/* A wait answers 0, or that the time passed: after the time, and not once the value is there. */
static enum alar_answer_fault answer_wait(const struct alar_judge *judge, int64_t told,
                                          int64_t code)
{
    if (code == -ALAR_E_TIMEOUT && told == TOLD_DONE) {
        return ALAR_ANSWER_TIMEOUT_DONE;
    }
    if (code == -ALAR_E_TIMEOUT && judge->event->has[ALAR_FIELD_DEADLINE] &&
        given(judge, ALAR_FIELD_TOOK, INT64_MAX) < judge->event->number[ALAR_FIELD_DEADLINE] / 2) {
        return ALAR_ANSWER_TIMEOUT_EARLY;
    }
    return code == 0 || code == -ALAR_E_TIMEOUT ? ALAR_ANSWER_GOOD : ALAR_ANSWER_ERROR;
}

static enum alar_answer_fault answer_free(int64_t told, int64_t code)
{
    if (told == TOLD_PENDING) {
        return code == -ALAR_E_ILLEGAL ? ALAR_ANSWER_GOOD : ALAR_ANSWER_FREED;
    }
    return code == 0 ? ALAR_ANSWER_GOOD : ALAR_ANSWER_NOT_FREED;
}

/* Full is an answer only once as many are pending as were promised. */
static enum alar_answer_fault answer_issue(const struct alar_judge *judge, int64_t code)
{
    int64_t most = judge->contract.outstanding;

    if (code == -ALAR_E_FULL) {
        return most > 0 && given(judge, ALAR_FIELD_PENDING, 0) >= most ? ALAR_ANSWER_GOOD
                                                                       : ALAR_ANSWER_FULL;
    }
    return ALAR_ANSWER_GOOD; /* other errors are the operation's: its `fail` says them */
}

/* All had issued, nobody called for a while, and it was pending still. */
static bool answer_stood_still(const struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;

    return event->number[ALAR_FIELD_CALL] == CALL_NONE && event->has[ALAR_FIELD_DONE] &&
           event->number[ALAR_FIELD_DONE] == 0 &&
           judge->is_contract_given[ALAR_FIELD_NEEDS_PROGRESS] &&
           judge->contract.needs_progress == 0;
}

static enum alar_answer_fault answer_code(const struct alar_judge *judge)
{
    int64_t told = given(judge, ALAR_FIELD_TOLD, TOLD_NOTHING);
    int64_t code = given(judge, ALAR_FIELD_CODE, 0);

    if (code > 0 || code <= -(int64_t)ALAR_STATUS_COUNT) {
        return ALAR_ANSWER_NO_STATUS;
    }
    if (judge->event->has[ALAR_FIELD_GAVE]) {
        return ALAR_ANSWER_GAVE;
    }
    switch (judge->event->number[ALAR_FIELD_CALL]) {
    case CALL_WAIT:
        return answer_wait(judge, told, code);
    case CALL_REQUEST_FREE:
        return answer_free(told, code);
    case CALL_ALLREDUCE:
        return answer_issue(judge, code);
    default:
        return code == 0 ? ALAR_ANSWER_GOOD : ALAR_ANSWER_ERROR;
    }
}

/* What is done stays done, and has no second thoughts. */
static bool answer_went_back(const struct alar_judge *judge)
{
    return judge->event->number[ALAR_FIELD_CALL] == CALL_TEST &&
           given(judge, ALAR_FIELD_TOLD, TOLD_NOTHING) == TOLD_DONE &&
           given(judge, ALAR_FIELD_CODE, 0) == 0 && given(judge, ALAR_FIELD_DONE, 1) == 0;
}

enum alar_status judge_said(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    enum alar_anomaly anomaly = ALAR_ANOMALY_WRONG_ANSWER;
    enum alar_answer_fault fault = answer_end(judge, &anomaly);

    if (fault == ALAR_ANSWER_GOOD && answer_went_back(judge)) {
        anomaly = ALAR_ANOMALY_PREMATURE;
        fault = ALAR_ANSWER_WENT_BACK;
    }
    if (fault == ALAR_ANSWER_GOOD && answer_stood_still(judge)) {
        fault = ALAR_ANSWER_STOOD_STILL;
    }
    fault = fault == ALAR_ANSWER_GOOD ? answer_code(judge) : fault;
    if (fault == ALAR_ANSWER_GOOD) {
        return ALAR_OK;
    }
    struct alar_evidence *evidence =
        judge_found(judge, anomaly, NULL, (uint32_t)event->number[ALAR_FIELD_RANK]);
    if (evidence) {
        evidence->answer = fault;
        evidence->call = (uint32_t)event->number[ALAR_FIELD_CALL];
        evidence->amount[0] = (uint64_t)given(judge, ALAR_FIELD_CODE, 0);
        evidence->amount[1] =
            (uint64_t)(fault == ALAR_ANSWER_OUTSIDE ? event->number[ALAR_FIELD_OUTSIDE]
                       : fault == ALAR_ANSWER_GAVE  ? event->number[ALAR_FIELD_GAVE]
                                                    : given(judge, ALAR_FIELD_TOOK, 0));
        if (event->has[ALAR_FIELD_TEXT]) {
            alar_text_keep(event->text[ALAR_FIELD_TEXT], evidence->name[1],
                           sizeof evidence->name[1]);
        }
    }
    judge_show_event(judge, evidence);
    return ALAR_OK;
}
