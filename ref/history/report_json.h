/* Reports as JSON: the lines of `--log-json FILE`, one for each report, EMPTY ones included, and
   the fields that a history's report shares with them. */
#ifndef ALAR_REPORT_JSON_H
#define ALAR_REPORT_JSON_H

#include "api/alar.h"
#include "sys/json_out.h"
#include "sys/line_write.h"

/* An open report file. */
struct alar_report_file {
    struct alar_line_writer append;
    enum alar_normalization normalization;
    enum alar_encoding encoding; /* the width of the bits */
    bool counts_nonfinite;       /* do flags travel? */
};

/* Creates the file or empties it; `file` has its last three fields set.
   Errors: ALAR_E_INPUT, with one line in `error_line` (ALAR_ERROR_LINE_BYTES). */
ALAR_MUST_USE enum alar_status alar_report_file_open(struct alar_report_file *file,
                                                     const char *path, char *error_line);

/* Appends one line: step, first_step, logged_at_step, metric, normalization (of a mean) or kind (of
   anything else), holder (the rank that holds an extreme), loss (a number; null when EMPTY; "nan",
   "inf", "-inf"), bits (hex; null when EMPTY), tokens (null where none travel), nonfinite (null
   where no flags travel), empty.
 */
void alar_report_file_write(struct alar_report_file *file, const struct alar_report *report);

/* Errors: ALAR_E_IO when any line could not be written; see `append.error`. */
ALAR_MUST_USE enum alar_status alar_report_file_close(struct alar_report_file *file);

/* Adds what the value is: of a mean `normalization` and, unless NULL, `over`; of anything else
   `kind`, and of an extreme that is not EMPTY its `holder`. */
void alar_report_meaning(struct alar_json *json, const struct alar_report *report,
                         const char *normalization, const char *over);

/* Adds `loss` and, unless it is EMPTY, `bits`. */
void alar_report_loss(struct alar_json *json, const struct alar_report *report,
                      enum alar_encoding encoding);

/* Is `tokens` the number of tokens? Not where none travel, nor when it was damaged on its way. */
bool alar_report_has_tokens(const struct alar_report *report,
                            enum alar_normalization normalization);

#endif
