/* A training loop that logs its loss over all ranks without waiting for the slowest one.

   cc train.c $(pkg-config --cflags --libs alar) -o train && mpiexec.mpich -n 4 ./train */
#include <alar.h>

#include <stdio.h>

enum {
    STEPS = 20,
    MICROBATCHES = 4,
    TOKENS = 512
};

/* Stands for a forward and backward pass; returns the sum of the losses of its tokens, in nats. */
static double train_microbatch(int step, int microbatch, unsigned rank)
{
    return TOKENS * (5.0 / (1 + step) + 0.01 * microbatch + 0.1 * rank);
}

int main(void)
{
    const struct alar_config config = {
        .microbatches = MICROBATCHES, .log_interval = 5, .waits_at_log = true};
    char error_line[512];
    struct alar_report report;
    struct alar *log = NULL;
    enum alar_status status = alar_open(&log, &config, error_line);

    if (status != ALAR_OK) {
        fprintf(stderr, "train: %s\n", error_line);
        return (int)alar_status_class(status);
    }
    for (int step = 0; step < STEPS && status == ALAR_OK; step++) {
        for (int microbatch = 0; microbatch < MICROBATCHES && status == ALAR_OK; microbatch++) {
            double loss_sum = train_microbatch(step, microbatch, alar_rank(log));

            status = alar_post(log, loss_sum, TOKENS);
        }
        status = status == ALAR_OK ? alar_step_end(log) : status;
        if (alar_report(log, &report) == ALAR_OK && alar_rank(log) == 0) {
            printf("step %2lld: loss %.6f over %.0f tokens\n", (long long)report.step, report.loss,
                   report.tokens);
        }
    }
    status = alar_close(log);
    return (int)alar_status_class(status);
}
