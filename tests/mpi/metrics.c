/* Several metrics in one post: metrics PLUGIN ENCODING [HISTORY | odd]. Ranks list the names in
   different orders; with `odd`, rank 1 has another name among them. */
#include "alar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    METRICS = 3,
    STEPS = 6,
    MICROBATCHES = 2
};

static const char *const names[2][METRICS] = {{"lm loss", "aux loss", "z loss"},
                                              {"z loss", "lm loss", "aux loss"}};
static const char *const odd[METRICS] = {"z loss", "lm loss", "mtp loss"};
static const char *const sorted[METRICS] = {"aux loss", "lm loss", "z loss"};

/* What a rank posts for a metric: tokens and a sum that differ by metric and rank; the auxiliary
   loss has none on rank 0. */
static struct alar_sample sample_of(const char *name, uint32_t rank)
{
    double tokens = name[0] == 'a' && rank == 0 ? 0.0 : 1.0 + rank;

    return (struct alar_sample){.sum = tokens * name[0], .tokens = tokens};
}

static enum alar_status post(struct alar *log, const char *const *own)
{
    struct alar_sample samples[METRICS];

    for (int m = 0; m < METRICS; m++) {
        samples[m] = sample_of(own[m], alar_rank(log));
    }
    return alar_post_metrics(log, samples);
}

/* Each log line has one report a metric, sorted by name; all contributions have the same mean. */
static int reports_check(struct alar *log)
{
    struct alar_report report;
    int failed = 0;

    for (int m = 0; m < METRICS; m++) {
        if (alar_report(log, &report) != ALAR_OK || strcmp(report.metric, sorted[m]) != 0 ||
            report.steps != 3 || report.is_empty != (m == 0 && alar_ranks(log) == 1) ||
            (!report.is_empty && (int)report.loss != sorted[m][0])) {
            fprintf(stderr, "FAIL rank %u: metric %d\n", alar_rank(log), m);
            failed = 1;
        }
    }
    return failed;
}

static enum alar_encoding encoding_of(const char *text)
{
    int encoding = 0;

    while (encoding < ALAR_EXACT && strcmp(alar_encoding_names[encoding], text) != 0) {
        encoding++;
    }
    return (enum alar_encoding)encoding;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        return ALAR_CLASS_UNUSABLE;
    }
    const char *rank_text = getenv("PMI_RANK");
    int rank = rank_text != NULL ? (int)strtol(rank_text, NULL, 10) : 0;
    const char *last = argc > 3 ? argv[3] : NULL;
    bool is_odd = last != NULL && strcmp(last, "odd") == 0;
    const char *const *own = is_odd && rank == 1 ? odd : names[rank % 2];
    const struct alar_config config = {.backend = argv[1],
                                       .encoding = encoding_of(argv[2]),
                                       .microbatches = MICROBATCHES,
                                       .log_interval = 3,
                                       .history = is_odd ? NULL : last,
                                       .metrics = own,
                                       .metric_count = METRICS};
    char complaint[512] = "";
    struct alar *log = NULL;
    enum alar_status status = alar_open(&log, &config, complaint);
    int failed = 0;

    for (int i = 0; i < STEPS * MICROBATCHES && status == ALAR_OK; i++) {
        status = post(log, own);
        if (status == ALAR_OK && i % MICROBATCHES == MICROBATCHES - 1) {
            status = alar_step_end(log);
        }
        if (status == ALAR_OK && i % (3 * MICROBATCHES) == 3 * MICROBATCHES - 1) {
            failed |= reports_check(log);
        }
    }
    if (status != ALAR_OK) {
        fprintf(stderr, "rank %d: %s %s: %s\n", rank, complaint, alar_status_name(status),
                log != NULL && alar_why(log) != NULL ? alar_why(log) : "");
        fflush(stderr);
    } else if (rank == 0 && !failed) {
        printf("ok %u ranks log %d metrics in one post, %s\n", alar_ranks(log), METRICS, argv[2]);
        fflush(stdout);
    }
    enum alar_status closed = alar_close(log);

    status = status != ALAR_OK ? status : closed;
    return failed ? ALAR_CLASS_WRONG : (int)alar_status_class(status);
}
