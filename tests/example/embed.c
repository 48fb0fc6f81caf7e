/* A host with a communication of its own: two processes and a socket. cc embed.c -lalar */
#define _POSIX_C_SOURCE 200809L
#include <embed.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Carries out an action; what answers it. The peer's elements stay in the socket until AWAIT. */
static enum alar_embed_event_kind answer(struct alar_embed *log, struct alar_action act, int peer)
{
    struct alar_embed_op op;
    struct alar_report line;

    if (act.kind == ALAR_ACTION_POST && alar_embed_op(log, act.slot, &op) == ALAR_OK) {
        bool is_sent = write(peer, op.send, 8 * op.elements) > 0;
        return is_sent ? ALAR_EMBED_POSTED : ALAR_EMBED_POST_REFUSED;
    }
    if (act.kind == ALAR_ACTION_AWAIT && alar_embed_op(log, act.slot, &op) == ALAR_OK) {
        bool is_here = recv(peer, op.receive, 8 * op.elements, MSG_WAITALL) > 0;
        for (size_t i = 0; i < op.elements; i++) {
            ((double *)op.receive)[i] += ((const double *)op.send)[i];
        }
        return is_here ? ALAR_EMBED_COMPLETE : ALAR_EMBED_FAIL;
    }
    if (act.kind == ALAR_ACTION_REPORT && alar_embed_report(log, 0, &line) == ALAR_OK) {
        printf("at step %d: loss %.6g of steps %d to %d\n", (int)line.logged_at_step, line.loss,
               (int)line.first_step, (int)line.step);
        return ALAR_EMBED_REPORTED;
    }
    return act.kind == ALAR_ACTION_RETIRE ? ALAR_EMBED_RETIRED : ALAR_EMBED_TORN_DOWN;
}

int main(void)
{
    int peer[2], rank = socketpair(AF_UNIX, SOCK_STREAM, 0, peer) == 0 && fork() == 0;
    struct alar_config config = {
        .encoding = ALAR_PAIR64, .log_interval = 10, .waits_at_log = true, .lag = 1};
    struct alar_embed_place place = {.rank = (uint32_t)rank, .ranks = 2};
    size_t bytes = alar_embed_bytes(&config, &place);
    struct alar_embed *log = NULL;
    enum alar_status status = alar_embed_init(&log, &config, &place, malloc(bytes), bytes);

    for (int i = 0; i <= 50 && status == ALAR_OK; i++) { /* of each of 25 steps both events */
        struct alar_sample loss = {.sum = 100.0 * (rank + 1) / (i / 2 + 1), .tokens = 100};
        struct alar_embed_event event = {ALAR_EMBED_CONTRIBUTE, 0, ALAR_OK, i / 2, &loss};
        struct alar_action act = {ALAR_ACTION_READY, 0, ALAR_OUTCOME_VALUE, ALAR_OK};

        event.kind = i == 50 ? ALAR_EMBED_FINISH : i % 2 ? ALAR_EMBED_STEP_END : event.kind;
        while ((status = alar_embed_step(log, &event, &act)) == ALAR_OK && act.kind > 0 &&
               act.kind != ALAR_ACTION_CLOSED) {
            event.kind = answer(log, act, peer[rank]);
            event.slot = act.slot;
        }
    }
    return (int)(status == ALAR_OK ? alar_embed_status(log) : status);
}
