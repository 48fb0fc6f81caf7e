/* Reports as JSON lines. */
#include "history/report_json.h"

#include "base/check.h"
#include "engine/schema.h"

enum {
    LINE_BYTES = 1024
};

void alar_report_meaning(struct alar_json *json, const struct alar_report *report,
                         const char *normalization, const char *over)
{
    if (report->kind == ALAR_METRIC_MEAN) {
        alar_json_text(json, "normalization", normalization);
        alar_json_text(json, "over", over);
        return;
    }
    alar_json_text(json, "kind", alar_metric_kind_names[report->kind]);
    if (alar_metric_is_extreme(report->kind) && !report->is_empty) {
        alar_json_count(json, "holder", report->extreme_rank);
    }
}

void alar_report_loss(struct alar_json *json, const struct alar_report *report,
                      enum alar_encoding encoding)
{
    float narrow = (float)report->loss;
    struct alar_elements loss = {&narrow, 1, ALAR_F32};

    if (encoding != ALAR_PAIR32) {
        loss = (struct alar_elements){&report->loss, 1, ALAR_F64};
    }
    if (report->is_empty) {
        alar_json_null(json, "loss");
    } else {
        alar_json_value(json, "loss", loss);
        alar_json_bits(json, "bits", loss);
    }
}

bool alar_report_has_tokens(const struct alar_report *report, enum alar_normalization normalization)
{
    const double tokens_max = 9007199254740992.0; /* 2^53: every count below is a double */
    bool travels = report->kind != ALAR_METRIC_MEAN || normalization == ALAR_TOKEN_WEIGHTED ||
                   normalization == ALAR_MICROBATCH_MEAN;

    return travels && report->tokens >= 0.0 && report->tokens <= tokens_max;
}

enum alar_status alar_report_file_open(struct alar_report_file *file, const char *path,
                                       char *error_line)
{
    return alar_line_write_open(&file->append, path, true /* may exist */, error_line);
}

void alar_report_file_write(struct alar_report_file *file, const struct alar_report *report)
{
    char line[LINE_BYTES];
    struct alar_json json = {.bytes = line, .room = sizeof(line)};

    alar_json_begin(&json);
    alar_json_signed(&json, "step", report->step);
    alar_json_signed(&json, "first_step", report->first_step);
    alar_json_signed(&json, "logged_at_step", report->logged_at_step);
    alar_json_text(&json, "metric", report->metric);
    alar_report_meaning(&json, report, alar_normalization_names[file->normalization], NULL);
    alar_report_loss(&json, report, file->encoding);
    if (report->is_empty) {
        alar_json_null(&json, "bits");
    }
    if (alar_report_has_tokens(report, file->normalization)) {
        alar_json_count(&json, "tokens", (uint64_t)report->tokens);
    } else {
        alar_json_null(&json, "tokens");
    }
    if (file->counts_nonfinite) {
        alar_json_count(&json, "nonfinite", report->nonfinite);
    } else {
        alar_json_null(&json, "nonfinite");
    }
    alar_json_count(&json, "empty", report->empty);
    alar_json_end(&json);
    PRE(!json.is_full); /* the metric's name is ours, and short */
    alar_line_write_line(&file->append, line, json.length);
}

enum alar_status alar_report_file_close(struct alar_report_file *file)
{
    return alar_line_write_close(&file->append);
}
