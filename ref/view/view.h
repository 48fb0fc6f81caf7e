/* A history as a page to look at: one file that needs nothing else, from disk, without a network.
 */
#ifndef ALAR_VIEW_H
#define ALAR_VIEW_H

#include "timeline/timeline.h"

#include <stdio.h>

enum {
    ALAR_VIEW_LEGAL_ELEMENTS = 2, /* of an operation whose legal values are explained */
    ALAR_VIEW_LEGAL_MAX = 40000,  /* explanations kept at most */
    ALAR_VIEW_NAME_MAX = 64
};

/* Why a value is legal, and the ends of what any order could have given. */
struct alar_view_legal {
    uint32_t group; /* name of the timeline */
    uint64_t number;
    uint32_t element;
    enum alar_dtype dtype;
    uint64_t value;
    const char *proof;
    char tree[ALAR_VIEW_NAME_MAX]; /* a tree that gives it; "" when none was named */
    bool has_range;
    uint64_t low, high;
};

/* Explanations being gathered; zero it before use. */
struct alar_view_legals {
    struct alar_timeline *timeline; /* for its names */
    struct alar_view_legal *legal;
    size_t count, room;
};

/* Keeps one; fits struct alar_reading_hooks.certify, with struct alar_view_legals as context. What
   there is no memory for is left out. */
void alar_view_legal_add(void *legals, const struct alar_legal_view *view);

/* What the page is made from. Borrowed. */
struct alar_view {
    const struct alar_history_files *files;
    const struct alar_timeline *timeline; /* finished */
    const struct alar_verdict *verdict;
    const struct alar_view_legals *legals;
};

/* Writes the page. Long histories are summarised, with detail around what was found.
   Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_view_write(FILE *out, const struct alar_view *view);

#endif
