/* Files whose batch was taken queue up, and so they are read in the order in which they are going
   to be asked for. Who asks for a batch that nobody has begun reads it himself. */
#include "check/read_ahead.h"

#include "check/event_batch.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    BATCH_BYTES = 16 << 10, /* when a batch is full */
    NOBODY = -1
};

enum lane_state {
    LANE_QUEUED,  /* its second batch is to be read */
    LANE_READING, /* somebody does */
    LANE_READ
};

/* What was read at once, and what came behind it. */
struct batch {
    struct alar_event_batch events;
    enum alar_status status; /* behind the last event; ALAR_OK when the file goes on */
    struct alar_record_error error;
    uint32_t line;
    uint64_t bytes; /* read of the file by then */
};

/* One file. The first batch is the taker's, the second one the reader's until it is LANE_READ. */
struct lane {
    struct alar_record_input *input;
    struct batch batch[2];
    unsigned first;
    enum lane_state state;
    int64_t before, after; /* in the queue */
};

struct alar_read_ahead {
    pthread_mutex_t lock; /* of all states, of the queue and of is_over */
    pthread_cond_t queued, read;
    bool is_over;
    int64_t head, tail; /* of the queue of lanes; NOBODY */
    pthread_t *thread;
    uint32_t threads;
    struct alar_record_reader *records; /* the taker's */
    struct alar_event event;            /* likewise */
    uint32_t lanes;
    struct lane lane[];
};

static void queue_add(struct alar_read_ahead *ahead, uint32_t k)
{
    struct lane *lane = &ahead->lane[k];

    lane->state = LANE_QUEUED;
    lane->before = ahead->tail;
    lane->after = NOBODY;
    if (ahead->tail == NOBODY) {
        ahead->head = k;
    } else {
        ahead->lane[ahead->tail].after = k;
    }
    ahead->tail = k;
}

/* Takes a lane out of the queue, to be read by whoever took it. */
static void queue_take(struct alar_read_ahead *ahead, struct lane *lane)
{
    if (lane->before == NOBODY) {
        ahead->head = lane->after;
    } else {
        ahead->lane[lane->before].after = lane->after;
    }
    if (lane->after == NOBODY) {
        ahead->tail = lane->before;
    } else {
        ahead->lane[lane->after].before = lane->before;
    }
    lane->state = LANE_READING;
}

/* Reads a batch of a lane that is LANE_READING. */
static void batch_read(struct lane *lane, struct batch *batch, struct alar_record_reader *records,
                       struct alar_event *event)
{
    alar_event_batch_clear(&batch->events);
    batch->status = ALAR_OK;
    while (batch->status == ALAR_OK && batch->events.used < BATCH_BYTES) {
        batch->status = alar_record_input_next(lane->input, records, event, &batch->error);
        batch->line = alar_record_input_number(lane->input);
        if (batch->status == ALAR_OK) {
            event->place.line = batch->line;
            batch->status = alar_event_batch_add(&batch->events, event);
        }
    }
    batch->bytes = alar_record_input_bytes(lane->input);
}

static void *thread_run(void *context)
{
    struct alar_read_ahead *ahead = context;
    struct alar_record_reader *records = NULL;
    struct alar_event *event = malloc(sizeof *event);
    bool is_able = event != NULL && alar_record_reader_open(&records) == ALAR_OK;

    pthread_mutex_lock(&ahead->lock);
    while (is_able && !ahead->is_over) {
        if (ahead->head == NOBODY) {
            pthread_cond_wait(&ahead->queued, &ahead->lock);
            continue;
        }
        struct lane *lane = &ahead->lane[ahead->head];
        queue_take(ahead, lane);
        pthread_mutex_unlock(&ahead->lock);
        batch_read(lane, &lane->batch[!lane->first], records, event);
        pthread_mutex_lock(&ahead->lock);
        lane->state = LANE_READ;
        pthread_cond_signal(&ahead->read);
    }
    pthread_mutex_unlock(&ahead->lock);
    alar_record_reader_close(records);
    free(event);
    return NULL;
}

enum alar_status alar_read_ahead_open(struct alar_read_ahead **opened,
                                      struct alar_record_input *const *input, uint32_t count,
                                      uint32_t threads)
{
    struct alar_read_ahead *ahead = calloc(1, sizeof *ahead + count * sizeof ahead->lane[0]);

    *opened = ahead;
    if (ahead == NULL) {
        return ALAR_E_NOMEM;
    }
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->queued, NULL);
    pthread_cond_init(&ahead->read, NULL);
    ahead->head = ahead->tail = NOBODY;
    ahead->lanes = count;
    for (uint32_t k = 0; k < count; k++) {
        ahead->lane[k].input = input[k];
        queue_add(ahead, k);
    }
    ALAR_TRY(alar_record_reader_open(&ahead->records));
    ahead->thread = calloc(threads ? threads : 1, sizeof *ahead->thread);
    if (ahead->thread == NULL) {
        return ALAR_E_NOMEM;
    }
    while (ahead->threads < threads &&
           pthread_create(&ahead->thread[ahead->threads], NULL, thread_run, ahead) == 0) {
        ahead->threads++;
    }
    return ALAR_OK;
}

void alar_read_ahead_close(struct alar_read_ahead *ahead)
{
    if (ahead == NULL) {
        return;
    }
    pthread_mutex_lock(&ahead->lock);
    ahead->is_over = true;
    pthread_cond_broadcast(&ahead->queued);
    pthread_mutex_unlock(&ahead->lock);
    for (uint32_t k = 0; k < ahead->threads; k++) {
        pthread_join(ahead->thread[k], NULL);
    }
    for (uint32_t k = 0; k < ahead->lanes; k++) {
        alar_event_batch_free(&ahead->lane[k].batch[0].events);
        alar_event_batch_free(&ahead->lane[k].batch[1].events);
    }
    pthread_mutex_destroy(&ahead->lock);
    pthread_cond_destroy(&ahead->queued);
    pthread_cond_destroy(&ahead->read);
    alar_record_reader_close(ahead->records);
    free(ahead->thread);
    free(ahead);
}

/* The second batch becomes the first one, and what was the first one is to be read anew. */
static void lane_turn(struct alar_read_ahead *ahead, uint32_t k)
{
    struct lane *lane = &ahead->lane[k];

    pthread_mutex_lock(&ahead->lock);
    while (lane->state == LANE_READING) {
        pthread_cond_wait(&ahead->read, &ahead->lock);
    }
    if (lane->state == LANE_QUEUED) {
        queue_take(ahead, lane);
        pthread_mutex_unlock(&ahead->lock);
        batch_read(lane, &lane->batch[!lane->first], ahead->records, &ahead->event);
        pthread_mutex_lock(&ahead->lock);
        lane->state = LANE_READ;
    }
    lane->first = !lane->first;
    if (lane->batch[lane->first].status == ALAR_OK) {
        queue_add(ahead, k);
        pthread_cond_signal(&ahead->queued);
    }
    pthread_mutex_unlock(&ahead->lock);
}

enum alar_status alar_read_ahead_next(struct alar_read_ahead *ahead, uint32_t input,
                                      struct alar_event *event, uint32_t *line,
                                      struct alar_record_error *error)
{
    struct lane *lane = &ahead->lane[input];
    struct batch *batch = &lane->batch[lane->first];

    while (!alar_event_batch_take(&batch->events, event)) {
        if (batch->status != ALAR_OK) {
            *error = batch->error;
            *line = batch->line;
            return batch->status;
        }
        lane_turn(ahead, input);
        batch = &lane->batch[lane->first];
    }
    *line = event->place.line;
    return ALAR_OK;
}

uint64_t alar_read_ahead_bytes(const struct alar_read_ahead *ahead, uint32_t input)
{
    const struct lane *lane = &ahead->lane[input];

    return lane->batch[lane->first].bytes;
}
