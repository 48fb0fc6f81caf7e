/* Several metrics of all kinds in one post: metrics PLUGIN ENCODING [HISTORY | name | kind]. Ranks
   list them in different orders; with `name`, rank 1 has another name among them, with `kind` the
   least where the others have the greatest. */
#include "api/alar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    METRICS = 5,
    STEPS = 6,
    INTERVAL = 3,
    MICROBATCHES = 2
};

static const struct alar_metric metrics[METRICS] = {{"lm loss", ALAR_METRIC_MEAN},
                                                    {"best", ALAR_METRIC_MIN},
                                                    {"aux loss", ALAR_METRIC_MEAN},
                                                    {"worst", ALAR_METRIC_MAX},
                                                    {"tokens", ALAR_METRIC_SUM}};
static const char *const sorted[METRICS] = {"aux loss", "best", "lm loss", "tokens", "worst"};

/* What a rank posts: means that all ranks share, of tokens that differ; for the others numbers that
   differ by rank and microbatch. The auxiliary loss has no token on rank 0, nor has the least one,
   of which rank 0 would be; the worst one is worst on the last rank. */
static struct alar_sample sample_of(const char *name, uint32_t rank, int microbatch)
{
    double tokens = (name[0] == 'a' || name[0] == 'b') && rank == 0 ? 0.0 : 1.0 + rank;

    switch (name[0]) {
    case 'b':
        return (struct alar_sample){.sum = -1.0 / (1.0 + rank) - microbatch, .tokens = tokens};
    case 't':
        return (struct alar_sample){.sum = tokens, .tokens = tokens};
    case 'w':
        return (struct alar_sample){.sum = 0.5 * rank - microbatch, .tokens = tokens};
    default:
        return (struct alar_sample){.sum = tokens * name[0], .tokens = tokens};
    }
}

static enum alar_status post(struct alar *log, const struct alar_metric *own, int microbatch)
{
    struct alar_sample samples[METRICS];

    for (int m = 0; m < METRICS; m++) {
        samples[m] = sample_of(own[m].name, alar_rank(log), microbatch);
    }
    return alar_post_metrics(log, samples);
}

/* The value of a metric's reports; `holder` is the rank that has it, where one does. */
static double value_of(const char *name, uint32_t ranks, uint32_t *holder)
{
    *holder = 0;
    switch (name[0]) {
    case 'b': /* rank 0 has none */
        *holder = ranks > 1;
        return (double)(float)(-0.5 - (MICROBATCHES - 1));
    case 't':
        return INTERVAL * MICROBATCHES * (ranks * (ranks + 1.0) / 2);
    case 'w':
        *holder = ranks - 1;
        return 0.5 * (ranks - 1);
    default:
        return name[0];
    }
}

/* Each log line has one report a metric, sorted by name. */
static int reports_check(struct alar *log)
{
    struct alar_report report;
    uint32_t ranks = alar_ranks(log);
    int failed = 0;

    for (int m = 0; m < METRICS; m++) {
        uint32_t holder = 0;
        double value = value_of(sorted[m], ranks, &holder);
        bool is_empty = m < 2 && ranks == 1;

        if (alar_report(log, &report) != ALAR_OK || strcmp(report.metric, sorted[m]) != 0 ||
            report.steps != INTERVAL || report.is_empty != is_empty ||
            report.extreme_rank != holder || (!is_empty && fabs(report.loss - value) > 0)) {
            fprintf(stderr, "FAIL rank %u: %s is %g on rank %u, not %g on rank %u\n",
                    alar_rank(log), sorted[m], report.loss, report.extreme_rank, value, holder);
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

/* This rank's list: turned round on odd ranks, and with one thing changed on rank 1 if so asked. */
static void list_make(struct alar_metric *own, int rank, const char *odd)
{
    for (int m = 0; m < METRICS; m++) {
        own[m] = metrics[rank % 2 == 0 ? m : METRICS - 1 - m];
        if (rank == 1 && own[m].kind == ALAR_METRIC_MAX && strcmp(odd, "name") == 0) {
            own[m].name = "west";
        } else if (rank == 1 && own[m].kind == ALAR_METRIC_MAX && strcmp(odd, "kind") == 0) {
            own[m].kind = ALAR_METRIC_MIN;
        }
    }
}

int main(int argc, char **argv)
{
    struct alar_metric own[METRICS];

    if (argc < 3) {
        return ALAR_CLASS_UNUSABLE;
    }
    const char *rank_text = getenv("PMI_RANK");
    int rank = rank_text != NULL ? (int)strtol(rank_text, NULL, 10) : 0;
    const char *last = argc > 3 ? argv[3] : "";
    bool is_odd = strcmp(last, "name") == 0 || strcmp(last, "kind") == 0;

    list_make(own, rank, last);
    const struct alar_config config = {.backend = argv[1],
                                       .encoding = encoding_of(argv[2]),
                                       .microbatches = MICROBATCHES,
                                       .log_interval = INTERVAL,
                                       .history = is_odd || last[0] == '\0' ? NULL : last,
                                       .metrics = own,
                                       .metric_count = METRICS};
    char error_line[512] = "";
    struct alar *log = NULL;
    enum alar_status status = alar_open(&log, &config, error_line);
    int failed = 0;

    for (int i = 0; i < STEPS * MICROBATCHES && status == ALAR_OK; i++) {
        status = post(log, own, i % MICROBATCHES);
        if (status == ALAR_OK && i % MICROBATCHES == MICROBATCHES - 1) {
            status = alar_step_end(log);
        }
        if (status == ALAR_OK && i % (INTERVAL * MICROBATCHES) == INTERVAL * MICROBATCHES - 1) {
            failed |= reports_check(log);
        }
    }
    if (status != ALAR_OK) {
        fprintf(stderr, "rank %d: %s %s: %s\n", rank, error_line, alar_status_name(status),
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
