/* Inside `alar order`: what its two files share. */
#ifndef ALAR_CLI_ORDER_H
#define ALAR_CLI_ORDER_H

#include "order/order_measure.h"

enum {
    CLI_ORDER_TEXT_BYTES = 16384
};

/* "non-blocking", "blocking". */
extern const char *const cli_order_calls[];

/* How measurements are shown, one after the other. */
struct cli_order_view {
    bool as_json;
    const struct alar_order_options *options; /* of the one that is shown */
    char first[2][CLI_ORDER_TEXT_BYTES]; /* the first order of each call, to compare other counts
                                            with */
};

void cli_order_show(struct cli_order_view *view, const struct alar_order_measured *measured,
                    uint32_t n);

/* The first order as a Graphviz graph. */
void cli_order_dot(const struct alar_order *found, const char *title);

/* Do all ranks have the same orders in the same elements? */
bool cli_order_alike(const struct alar_order_measured *measured, uint32_t n);

#endif
