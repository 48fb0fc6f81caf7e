/* The names of the terms, each list ended by NULL. */
#include "api/terms.h"

#include <stddef.h>

#define ASYNC(token, word, meaning) "async-" word,
#define SYNC(token, word, meaning) "sync-" word,

const char *const alar_schedule_names[] = {ALAR_PLACEMENT_TERMS(ASYNC) ALAR_PLACEMENT_TERMS(SYNC)
                                               NULL};
const char *const alar_placement_names[] = {ALAR_PLACEMENT_TERMS(ALAR_TERM_NAME) NULL};
const char *const alar_normalization_names[] = {ALAR_NORMALIZATION_TERMS(ALAR_TERM_NAME) NULL};
const char *const alar_over_names[] = {ALAR_OVER_TERMS(ALAR_TERM_NAME) NULL};
const char *const alar_encoding_names[] = {ALAR_ENCODING_TERMS(ALAR_TERM_NAME) NULL};
const char *const alar_check_names[] = {ALAR_CHECK_TERMS(ALAR_TERM_NAME) NULL};
const char *const alar_reduction_names[] = {ALAR_REDUCTION_TERMS(ALAR_TERM_NAME) NULL};
const char *const alar_avg_names[] = {ALAR_AVG_TERMS(ALAR_TERM_NAME) NULL};
const char *const alar_nan_names[] = {ALAR_NAN_TERMS(ALAR_TERM_NAME) NULL};
const char *const alar_wait_at_names[] = {ALAR_WAIT_AT_TERMS(ALAR_TERM_NAME) NULL};
const char *const alar_scope_names[] = {ALAR_SCOPE_TERMS(ALAR_TERM_NAME) NULL};
const char *const alar_order_names[] = {ALAR_ORDER_TERMS(ALAR_TERM_NAME) NULL};
const char *const alar_metric_kind_names[] = {ALAR_METRIC_KIND_TERMS(ALAR_TERM_NAME) NULL};
