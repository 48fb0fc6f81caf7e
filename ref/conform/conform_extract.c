/* What of a scene is told: which all-reduces, under which numbers, and which element of large ones.
 */
#include "conform/conform_history.h"

#include <stdlib.h>
#include <string.h>

bool conform_extract_open(struct conform_extract *extract)
{
    const struct conform_shared *shared = extract->shared;
    const struct conform_scene *scene = &shared->scene[extract->scene];

    extract->op = calloc(scene->ops + 1, sizeof(*extract->op));
    extract->number = calloc(scene->ops + 1, sizeof(*extract->number));
    for (uint32_t i = 0; extract->op != NULL && extract->number != NULL && i < scene->ops; i++) {
        extract->op[i] = conform_op_get(scene, &shared->caps, shared->ranks, i);
    }
    return extract->op != NULL && extract->number != NULL;
}

bool conform_extract_is_cut(const struct conform_extract *extract)
{
    uint32_t last = 0;
    bool is_whole = true;

    for (uint32_t r = 0; r < extract->shared->ranks; r++) {
        const struct conform_seat *seat = &extract->shared->seat[r];
        uint32_t scene = atomic_load(&seat->scene);

        last = scene > last ? scene : last;
        is_whole = is_whole && atomic_load(&seat->stage) == STAGE_OVER;
    }
    return !is_whole && extract->scene == last;
}

void conform_extract_close(struct conform_extract *extract)
{
    free(extract->op);
    free(extract->number);
}

/* Numbers within their groups, of those that are kept. */
void conform_extract_number(const struct conform_extract *extract)
{
    uint32_t next[CONFORM_GROUPS] = {0};
    uint32_t ops = extract->shared->scene[extract->scene].ops;

    for (uint32_t i = extract->first; i < ops && i <= extract->last; i++) {
        extract->number[i] = next[extract->op[i].group]++;
    }
}

uint32_t conform_op_find(const struct conform_extract *extract, const char *group, uint64_t number)
{
    static const char *const starts[CONFORM_GROUPS] = {"world", "half", "even odd"};
    uint32_t ops = extract->shared->scene[extract->scene].ops;

    for (uint32_t i = extract->first; i < ops && i <= extract->last; i++) {
        const char *of = starts[extract->op[i].group];

        if ((strstr(of, group) != NULL || strncmp(group, of, strlen(of)) == 0) &&
            extract->number[i] == number) {
            return i;
        }
    }
    return UINT32_MAX;
}

const struct conform_event *conform_event_find(const struct conform_extract *extract, uint32_t rank,
                                               enum conform_event_kind kind, uint32_t op)
{
    const struct conform_seat *seat = &extract->shared->seat[rank];

    for (uint32_t e = 0; e < seat->events; e++) {
        const struct conform_event *event = &seat->event[e];

        if (event->scene == extract->scene && event->op == op && event->kind == kind) {
            return event;
        }
    }
    return NULL;
}

/* The element that every rank shows: the first that was wrong on one. */
uint64_t conform_element_shown(const struct conform_extract *extract, uint32_t index)
{
    uint64_t at = UINT64_MAX;

    for (uint32_t r = 0; r < extract->shared->ranks; r++) {
        const struct conform_event *event = conform_event_find(extract, r, EVENT_DONE, index);

        if (event != NULL && event->has_gave && event->at < at) {
            at = event->at;
        }
    }
    return at == UINT64_MAX ? 0 : at;
}
