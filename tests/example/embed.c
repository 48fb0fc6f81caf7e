/* A host with a communication of its own: here two processes and a socket. cc embed.c -lalar */
#define _POSIX_C_SOURCE 200809L
#include <embed.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct alar_embed *log_;
static int peer[2], rank;

/* The sum of both ranks' elements, which each sent at its post. */
static bool receive(const struct alar_embed_op *op)
{
    ssize_t bytes = (ssize_t)(op->elements * sizeof(double));
    bool is_here = recv(peer[rank], op->receive, (size_t)bytes, MSG_WAITALL) == bytes;

    for (size_t i = 0; i < op->elements; i++) {
        ((double *)op->receive)[i] += ((const double *)op->send)[i];
    }
    return is_here;
}

/* Carries out one action; the event that answers it. */
static struct alar_embed_event answer(const struct alar_action *action)
{
    struct alar_embed_event event = {.kind = ALAR_EMBED_RETIRED, .slot = action->slot};
    struct alar_embed_op op;
    struct alar_report line;

    if (action->kind == ALAR_ACTION_REPORT && alar_embed_report(log_, 0, &line) == ALAR_OK) {
        printf("rank %d, at step %d: loss %.6g of steps %d to %d\n", rank, (int)line.logged_at_step,
               line.loss, (int)line.first_step, (int)line.step);
        event.kind = ALAR_EMBED_REPORTED;
    } else if (action->kind != ALAR_ACTION_RETIRE &&
               alar_embed_op(log_, action->slot, &op) == ALAR_OK) {
        bool is_post = action->kind == ALAR_ACTION_POST;
        bool is_good =
            is_post ? write(peer[rank], op.send, op.elements * sizeof(double)) > 0 : receive(&op);

        event.kind = is_post ? (is_good ? ALAR_EMBED_POSTED : ALAR_EMBED_POST_REFUSED)
                             : (is_good ? ALAR_EMBED_COMPLETE : ALAR_EMBED_FAIL);
    }
    return event;
}

/* An event of the program, and all that the log then asks for; true: the program goes on. */
static bool tell(struct alar_embed_event event)
{
    struct alar_action action = {ALAR_ACTION_CLOSED, 0, ALAR_OUTCOME_VALUE, ALAR_OK};

    while (alar_embed_step(log_, &event, &action) == ALAR_OK && action.kind != ALAR_ACTION_READY &&
           action.kind != ALAR_ACTION_STOP) {
        event = answer(&action);
    }
    return action.kind == ALAR_ACTION_READY;
}

int main(void)
{
    struct alar_config config = {.placement = ALAR_PLACEMENT_STEP,
                                 .encoding = ALAR_PAIR64,
                                 .log_interval = 10,
                                 .waits_at_log = true,
                                 .lag = 1};
    rank = socketpair(AF_UNIX, SOCK_STREAM, 0, peer) == 0 && fork() == 0;
    struct alar_embed_place place = {.rank = (uint32_t)rank, .ranks = 2};
    size_t bytes = alar_embed_bytes(&config, &place);
    bool goes_on = alar_embed_init(&log_, &config, &place, malloc(bytes), bytes) == ALAR_OK;

    for (int step = 0; goes_on && step < 25; step++) {
        struct alar_sample loss = {.sum = 100.0 * (rank + 1) / (step + 1), .tokens = 100};

        goes_on = tell((struct alar_embed_event){
                      .kind = ALAR_EMBED_CONTRIBUTE, .step = step, .samples = &loss}) &&
                  tell((struct alar_embed_event){.kind = ALAR_EMBED_STEP_END});
    }
    tell((struct alar_embed_event){.kind = ALAR_EMBED_FINISH});
    return (int)alar_embed_status(log_);
}
