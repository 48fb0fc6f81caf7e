/* Events on their way from the thread that reads them to the one that has them judged: copies, one
   behind the other, that borrow from nobody. */
#ifndef ALAR_EVENT_BATCH_H
#define ALAR_EVENT_BATCH_H

#include "api/status.h"
#include "judge/event.h"

struct alar_event_batch {
    unsigned char *bytes; /* owned */
    size_t used, room;
    size_t at; /* of the next event to take */
};

/* Appends a copy of an event.
   Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_event_batch_add(struct alar_event_batch *batch,
                                                    const struct alar_event *event);

/* Takes the next event; false when there is none. It borrows from the batch. */
bool alar_event_batch_take(struct alar_event_batch *batch, struct alar_event *event);

/* Empties it, keeping its room. */
void alar_event_batch_clear(struct alar_event_batch *batch);

/* Frees what it has; a zeroed one is fine. */
void alar_event_batch_free(struct alar_event_batch *batch);

#endif
