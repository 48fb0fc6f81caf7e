/* What a struct alar_config means to the parts: shared by the library's face and by `alar run`. */
#ifndef ALAR_CONFIG_H
#define ALAR_CONFIG_H

#include "api/alar.h"
#include "driver/driver.h"

/* The driver's options as far as the configuration decides them; `config` is complete. */
struct alar_driver_options alar_config_driver(const struct alar_config *config, uint32_t ranks);

/* Does a run that stops with `status` stop on all ranks at the same point of the program, so that
   no rank is left waiting and the library can be ended in order? So for a value that all ranks
   took: all of them see the same non-finite flag, count or schema in it. spec: L-09 */
bool alar_config_ends_together(const struct alar_config *config, enum alar_status status);

/* Who opens a history. */
struct alar_config_writer {
    uint32_t rank;
    uint32_t ranks;
    const char *backend; /* its name */
    const char *tag;
    bool is_simulated;                          /* ticks, not a clock of this host */
    bool (*spoil)(void *faults, size_t *count); /* a fault of its writes; NULL: none */
    void *faults;                               /* borrowed */
};

/* Opens the history of one rank in config->history, which is prepared, and writes its header.
   *since_us is the tick its times count from.
   Errors: those of alar_history_open. */
ALAR_MUST_USE enum alar_status alar_config_history(const struct alar_config *config,
                                                   const struct alar_config_writer *writer,
                                                   struct alar_history **history,
                                                   uint64_t *since_us, char *error_line);

/* What comm_create's code comes to: a rank that does not come is no defect of the back end. */
ALAR_MUST_USE enum alar_status alar_comm_status(int code);

/* Adds up at most 16 elements over all ranks of a back end in whose wait real time passes, on a
   communicator of its own with that epoch; waits for `limit_us` at most.
   Errors: ALAR_E_BACKEND; ALAR_E_TIMEOUT when a rank does not come. */
ALAR_MUST_USE enum alar_status alar_sum_over_ranks(const struct alar_backend *backend,
                                                   void *context, uint64_t epoch, uint64_t limit_us,
                                                   int64_t *elements, size_t count);

#endif
