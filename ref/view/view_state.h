/* What the files of the view share. */
#ifndef ALAR_VIEW_STATE_H
#define ALAR_VIEW_STATE_H

#include "sys/json_gen.h"
#include "view/view.h"

enum {
    VIEW_SPANS_MOST = 20000, /* all-reduces on a rank that are shown one by one */
    VIEW_MARKS_MOST = 20000,
    VIEW_REPORTS_MOST = 5000,
    VIEW_AROUND = 64 /* operations shown before and behind one that was found */
};

/* The page, as it stands in page/, with a line for the data. Made at build time. */
extern const unsigned char alar_view_page[];

/* What is shown one by one: a flag for each span, mark and report. */
struct view_choice {
    bool *span, *mark, *report;
    size_t spans, marks, reports; /* chosen */
    bool is_all;
};

/* Chooses. Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status view_choose(const struct alar_view *view,
                                           struct view_choice *choice);
void view_choice_free(struct view_choice *choice);

/* The history in a row of bins: how many all-reduces began, and how much of the time was blocked,
   for each rank. A value of the map being written. Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status view_bins(yajl_gen json, const struct alar_timeline *timeline);

#endif
