/* What the files of the timeline share. */
#ifndef ALAR_TIMELINE_STATE_H
#define ALAR_TIMELINE_STATE_H

#include "timeline/timeline.h"

/* Room for item number `count` of a growing array: its address, or NULL without memory. */
void *timeline_room(void **items, size_t *room, size_t count, size_t size);

/* The number of a name, which becomes one when it is new; 0 when memory ran out. */
uint32_t timeline_intern(struct alar_timeline *timeline, struct alar_text text);

/* Notes a record's rank and time; false when memory ran out. */
bool timeline_rank_add(struct alar_timeline *timeline, const struct alar_event *event);

/* Keeps a logged value. */
void timeline_report_add(struct alar_timeline *timeline, const struct alar_event *event);

#endif
