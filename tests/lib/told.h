/* Judges a history that a test writes out as text. */
#ifndef TESTS_TOLD_H
#define TESTS_TOLD_H

#include "check/history_judge.h"
#include "check/verdict_text.h"

struct told {
    enum alar_status status;
    struct alar_reading reading; /* error_line; verdict by told_verdict */
    char path[256];
};

/* Judges `text` as one merged file of that many bytes. Needs a scratch directory. */
void told_bytes(struct told *told, const char *text, size_t length);

/* The same for a text that ends with 0. */
void told(struct told *told, const char *text);

/* The same for a text in which ' stands for ", so that it can be read. */
void told_quoted(struct told *judged, const char *text);

/* The same with hooks. */
void told_with(struct told *judged, const char *text, const struct alar_reading_hooks *hooks);

/* Judges the rank files rank0.jsonl ... in a directory. */
void told_ranks(struct told *told, const char *directory, uint32_t ranks);

/* PRE: it was judged. */
const struct alar_verdict *told_verdict(const struct told *told);

/* The line's reason, in static storage. */
const char *told_reason(const struct told *told);

void told_free(struct told *told);

/* A history, as told_quoted takes it, what it must be judged, and words that its reason, or the
   error_line about it, must hold. */
struct told_row {
    const char *name, *text;
    enum alar_verdict_kind kind; /* ALAR_VERDICT_COUNT: refused */
    const char *says;
};

/* Judges each row. */
void told_rows(const struct told_row *row, size_t count);

#endif
