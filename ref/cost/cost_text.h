/* A cost account for people, spreadsheets, programs and eyes. */
#ifndef ALAR_COST_TEXT_H
#define ALAR_COST_TEXT_H

#include "cost/cost.h"

#include <stdio.h>

/* The unit times are told in, and how many of the history's make one. */
struct alar_cost_unit {
    const char *name; /* "ms" or "ticks" */
    double of;
};
struct alar_cost_unit alar_cost_unit(const struct alar_cost *cost);

/* A table of sites, then what holds for the whole. */
void alar_cost_text(FILE *out, const char *name, const struct alar_cost *cost);

/* A line a site, after a line of names; RFC 4180. */
void alar_cost_csv(FILE *out, const struct alar_cost *cost);

/* One object on one line. Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_cost_json(FILE *out, const char *name,
                                              const struct alar_cost *cost);

/* A picture: each rank's time, split into computing beside pending all-reduces, blocked, and the
   rest. */
void alar_cost_svg(FILE *out, const char *name, const struct alar_cost *cost);

/* Two accounts side by side, a line a site. */
void alar_cost_compare(FILE *out, const char *const name[2], const struct alar_cost cost[2]);

#endif
