/* Verdicts as words and as JSON. Renders what the evidence holds; decides nothing. */
#ifndef ALAR_WORDS_H
#define ALAR_WORDS_H

#include "check/history_judge.h"

#include <stdio.h>

/* How to write. */
struct alar_words {
    FILE *out;
    bool has_colours;
};

/* `path<TAB>PASS|FAIL|UNKNOWN<TAB>reason` and a newline. */
void alar_verdict_line(const struct alar_words *words, const struct alar_history_files *files,
                       const struct alar_verdict *verdict);

/* After the line, for FAIL: the rule, Let / Then / However with file:line and src, last good state,
   what would have been allowed, and what excuses it; then what else was found. For UNKNOWN: every
   reason. For PASS: notes, if there are any. */
void alar_verdict_story(const struct alar_words *words, const struct alar_history_files *files,
                        const struct alar_verdict *verdict);

/* The reason alone, as in the line; cut when it does not fit. */
void alar_verdict_reason(const struct alar_history_files *files, const struct alar_verdict *verdict,
                         char *text, size_t size);

/* One finding, in words. */
void alar_verdict_finding(const struct alar_verdict *verdict, const struct alar_evidence *evidence,
                          char *text, size_t size);

/* One JSON object on one line: the same as data.
   Errors: ALAR_E_NOMEM; nothing is written then. */
ALAR_MUST_USE enum alar_status alar_verdict_json(FILE *out, const struct alar_history_files *files,
                                                 const struct alar_verdict *verdict);

/* The same for an input that can't be used: its path, UNUSABLE, and why. Errors: as above. */
ALAR_MUST_USE enum alar_status alar_unusable_json(FILE *out, const char *name,
                                                  const char *error_line);

/* What a PASS says of log lines. */
void alar_verdict_reports(const struct alar_verdict *verdict, char *text, size_t size);

#endif
