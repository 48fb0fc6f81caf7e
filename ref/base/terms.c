/* The names of the terms. */
#include "api/terms.h"

#include <stddef.h>

const char *const alar_schedule_names[] = {
    "async-microbatch", "async-step", "async-window", "sync-microbatch", "sync-step",
    "sync-window",      NULL};

const char *const alar_placement_names[] = {"microbatch", "step", "window", NULL};

const char *const alar_normalization_names[] = {"token-weighted", "rank-mean", "microbatch-mean",
                                                "seed-undivided", NULL};

const char *const alar_over_names[] = {"steps", "pooled", NULL};

const char *const alar_encoding_names[] = {"pair32", "pair64", "exact", NULL};

const char *const alar_check_names[] = {"agree", "raise", "count", "off", NULL};
const char *const alar_red_names[] = {"sum",  "max",  "min", "product", "avg",    "land",   "lor",
                                      "lxor", "band", "bor", "bxor",    "maxloc", "minloc", NULL};

const char *const alar_metric_kind_names[] = {"mean", "sum", "min", "max", NULL};
