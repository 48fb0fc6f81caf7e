/* Inside the history writer: its state, shared by the files that keep it and that compose records.
 */
#ifndef ALAR_HISTORY_STATE_H
#define ALAR_HISTORY_STATE_H

#include "history/history.h"
#include "sys/line_write.h"

struct alar_history {
    struct alar_line_writer append;
    struct alar_json json;
    uint32_t rank;
    uint64_t records; /* composed; the next one's running number */
    uint64_t written;
    char *path; /* behind this struct, then the room of `json` */
};

/* Begins a record: `ev`, `rank`, `i`, `t`. */
struct alar_json *history_begin(struct alar_history *history, uint64_t t, const char *event);

/* Adds bits, as many as leave room for the fields behind them. */
void history_elements(struct alar_history *history, const char *key, struct alar_elements elements);

/* Ends the record and writes it, unless a write failed before. */
void history_end(struct alar_history *history);

#endif
