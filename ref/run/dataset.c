/* Opens recorded losses and checks, before anything runs, all that could be wrong with them but the
   values. */
#include "run/dataset.h"

#include "base/check.h"
#include "sys/error_line.h"
#include "sys/parse.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void path_print(char path[PATH_MAX], const char *directory, const char *format,
                       unsigned long rank)
{
    char name[64];

    snprintf(name, sizeof(name), format, rank);
    snprintf(path, PATH_MAX, "%s/%s", directory, name);
}

/* R + 1 when the name is `losses.rankR.npy`, otherwise 0. */
static uint32_t rank_after(const char *name)
{
    char text[64];
    unsigned rank = 0;

    if (sscanf(name, "losses.rank%6u", &rank) != 1 || rank >= ALAR_DATASET_RANKS_MAX) {
        return 0;
    }
    snprintf(text, sizeof(text), "losses.rank%u.npy", rank);
    return strcmp(text, name) == 0 ? rank + 1 : 0;
}

/* The highest rank of which there is a file, plus 1. */
static enum alar_status ranks_find(const char *directory, uint32_t *ranks, char *error_line)
{
    struct dirent *entry = NULL;
    DIR *entries = opendir(directory);

    if (entries == NULL) {
        return alar_complain(error_line, directory, "expected a directory of losses, found: %s",
                             strerror(errno));
    }
    *ranks = 0;
    while ((entry = readdir(entries)) != NULL) {
        uint32_t after = rank_after(entry->d_name);

        *ranks = after > *ranks ? after : *ranks;
    }
    closedir(entries);
    return ALAR_OK;
}

/* Decides how many ranks there are; `found` of them have files. */
static enum alar_status ranks_settle(const struct alar_dataset_source *source, uint32_t found,
                                     uint32_t *ranks, char *error_line)
{
    if (source->ranks > found) {
        return alar_complain(error_line, source->directory,
                             "expected losses of %" PRIu32 " ranks, found those of %" PRIu32,
                             source->ranks, found);
    }
    *ranks = source->ranks == 0 ? found : source->ranks;
    if (source->rank != ALAR_EVERY_RANK && (source->rank < 0 || (uint32_t)source->rank >= *ranks)) {
        return alar_complain(error_line, source->directory,
                             "expected a rank from 0 to %" PRIu32 ", found %" PRId32, *ranks - 1,
                             source->rank);
    }
    return ALAR_OK;
}

static enum alar_status microbatches_settle(struct alar_dataset *dataset, const char *path,
                                            uint64_t microbatches, char *error_line)
{
    if (microbatches > UINT32_MAX) {
        return alar_complain(error_line, path,
                             "expected at most %" PRIu32 " microbatches, found %" PRIu64,
                             UINT32_MAX, microbatches);
    }
    dataset->microbatches = (uint32_t)microbatches;
    return ALAR_OK;
}

/* ---- tokens -------------------------------------------------------------------------------- */

/* Opens one rank's losses and mask; the first rank's shape is everyone's. */
static enum alar_status rank_open(struct alar_dataset *dataset, const char *directory,
                                  uint32_t rank, char *error_line)
{
    struct alar_npy_wanted wanted = {
        .dtype = ALAR_F32,
        .dimensions = 3,
        .shape = {dataset->steps, dataset->microbatches, dataset->tokens},
        .axes = rank == 0 ? "steps, microbatches, tokens" : "as the files before it"};
    char path[PATH_MAX];

    path_print(path, directory, "losses.rank%lu.npy", rank);
    ALAR_TRY(alar_npy_open(path, &wanted, &dataset->losses[rank], error_line));
    wanted.dtype = ALAR_U8;
    wanted.axes = "as the losses";
    memcpy(wanted.shape, dataset->losses[rank].shape, sizeof(wanted.shape));
    path_print(path, directory, "mask.rank%lu.npy", rank);
    ALAR_TRY(alar_npy_open(path, &wanted, &dataset->masks[rank], error_line));
    dataset->steps = wanted.shape[0];
    dataset->tokens = wanted.shape[2];
    return microbatches_settle(dataset, path, wanted.shape[1], error_line);
}

/* steps.npy, which may be missing. */
static enum alar_status numbers_open(struct alar_dataset *dataset, const char *directory,
                                     char *error_line)
{
    const struct alar_npy_wanted wanted = {.dtype = ALAR_I64,
                                           .dimensions = 1,
                                           .shape = {dataset->steps},
                                           .axes = "steps of the losses"};
    const int64_t *number = NULL;
    int64_t least = 0;
    char path[PATH_MAX];

    path_print(path, directory, "steps.npy", 0);
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        return ALAR_OK;
    }
    ALAR_TRY(alar_npy_open(path, &wanted, &dataset->numbers, error_line));
    number = dataset->numbers.data;
    for (uint64_t i = 0; i < dataset->steps; i++) {
        if (number[i] < least || number[i] == INT64_MAX) {
            return alar_complain(error_line, path,
                                 "expected increasing step numbers, at least %" PRId64
                                 " at index %" PRIu64 ", found %" PRId64,
                                 least, i, number[i]);
        }
        least = number[i] + 1;
    }
    return ALAR_OK;
}

static enum alar_status tokens_open(const struct alar_dataset_source *source,
                                    struct alar_dataset *dataset, char *error_line)
{
    uint32_t found = 0;

    ALAR_TRY(ranks_find(source->directory, &found, error_line));
    if (found == 0) {
        return alar_complain(error_line, source->directory,
                             "expected losses.rank0.npy and mask.rank0.npy, found neither");
    }
    ALAR_TRY(ranks_settle(source, found, &dataset->ranks, error_line));
    dataset->losses = calloc(dataset->ranks, sizeof(*dataset->losses));
    dataset->masks = calloc(dataset->ranks, sizeof(*dataset->masks));
    if (dataset->losses == NULL || dataset->masks == NULL) {
        (void)!alar_complain(error_line, source->directory, "expected memory for %" PRIu32 " ranks",
                             dataset->ranks);
        return ALAR_E_NOMEM;
    }
    for (uint32_t rank = 0; rank < dataset->ranks; rank++) {
        ALAR_TRY(rank_open(dataset, source->directory, rank, error_line));
        if (source->rank != ALAR_EVERY_RANK && rank != (uint32_t)source->rank) {
            alar_npy_close(&dataset->losses[rank]);
            alar_npy_close(&dataset->masks[rank]);
        }
    }
    return numbers_open(dataset, source->directory, error_line);
}

/* ---- sums ---------------------------------------------------------------------------------- */

static enum alar_status pair_read(const struct alar_dataset *dataset, uint64_t index,
                                  struct alar_local *local)
{
    const float *pair = (const float *)dataset->sums.data + 2 * index;

    return alar_loss_recorded((double)pair[0], (double)pair[1], local);
}

static enum alar_status sums_open(const struct alar_dataset_source *source,
                                  struct alar_dataset *dataset, char *error_line)
{
    const struct alar_npy_wanted wanted = {.dtype = ALAR_F32,
                                           .dimensions = 4,
                                           .shape = {0, 0, 0, 2},
                                           .axes = "ranks, steps, microbatches, [sum, tokens]"};
    struct alar_local local;
    uint32_t found = 0;
    char path[PATH_MAX];

    ALAR_TRY(ranks_find(source->directory, &found, error_line));
    path_print(path, source->directory, "local_sum_tokens.npy", 0);
    ALAR_TRY(alar_npy_open(path, &wanted, &dataset->sums, error_line));
    if (dataset->sums.shape[0] > ALAR_DATASET_RANKS_MAX) {
        return alar_complain(error_line, path, "expected at most %d ranks, found %" PRIu64,
                             ALAR_DATASET_RANKS_MAX, dataset->sums.shape[0]);
    }
    ALAR_TRY(ranks_settle(source, (uint32_t)dataset->sums.shape[0], &dataset->ranks, error_line));
    dataset->steps = dataset->sums.shape[1];
    ALAR_TRY(microbatches_settle(dataset, path, dataset->sums.shape[2], error_line));
    for (uint64_t i = 0; i < dataset->sums.count / 2; i++) {
        if (pair_read(dataset, i, &local) != ALAR_OK) {
            uint64_t step = i / dataset->microbatches;

            return alar_complain(error_line, path,
                                 "expected a whole number of tokens at [%" PRIu64 ", %" PRIu64
                                 ", %" PRIu64 ", 1], found %g",
                                 step / dataset->steps, step % dataset->steps,
                                 i % dataset->microbatches,
                                 (double)((const float *)dataset->sums.data)[2 * i + 1]);
        }
    }
    return ALAR_OK;
}

/* ---- both ---------------------------------------------------------------------------------- */

enum alar_status alar_dataset_open(const struct alar_dataset_source *source,
                                   struct alar_dataset *dataset, char *error_line)
{
    struct alar_dataset opened = {.input = source->input};
    enum alar_status status = source->input == ALAR_INPUT_SUMS
                                  ? sums_open(source, &opened, error_line)
                                  : tokens_open(source, &opened, error_line);

    if (status != ALAR_OK) {
        alar_dataset_close(&opened);
        return status;
    }
    *dataset = opened;
    return ALAR_OK;
}

void alar_dataset_close(struct alar_dataset *dataset)
{
    for (uint32_t rank = 0; rank < dataset->ranks; rank++) {
        if (dataset->losses != NULL) {
            alar_npy_close(&dataset->losses[rank]);
        }
        if (dataset->masks != NULL) {
            alar_npy_close(&dataset->masks[rank]);
        }
    }
    free(dataset->losses);
    free(dataset->masks);
    alar_npy_close(&dataset->sums);
    alar_npy_close(&dataset->numbers);
    *dataset = (struct alar_dataset){0};
}

void alar_dataset_local_exact(const struct alar_dataset *dataset, uint32_t rank, uint64_t step,
                              uint32_t microbatch, struct alar_exact *exact,
                              struct alar_local *local)
{
    uint64_t index = step * dataset->microbatches + microbatch;

    PRE(rank < dataset->ranks);
    PRE(step < dataset->steps);
    PRE(microbatch < dataset->microbatches);
    if (dataset->input == ALAR_INPUT_SUMS) {
        uint64_t losses_a_rank = dataset->steps * dataset->microbatches;
        enum alar_status status = pair_read(dataset, rank * losses_a_rank + index, local);

        INV("token counts were checked when the file was opened", status == ALAR_OK);
        return;
    }
    PRE(dataset->losses[rank].data != NULL);
    const float *losses = (const float *)dataset->losses[rank].data + index * dataset->tokens;
    const uint8_t *mask = (const uint8_t *)dataset->masks[rank].data + index * dataset->tokens;

    *local = exact == NULL ? alar_loss_select(losses, mask, (size_t)dataset->tokens)
                           : alar_loss_select_exact(losses, mask, (size_t)dataset->tokens, exact);
}

void alar_dataset_local(const struct alar_dataset *dataset, uint32_t rank, uint64_t step,
                        uint32_t microbatch, struct alar_local *local)
{
    alar_dataset_local_exact(dataset, rank, step, microbatch, NULL, local);
}

int64_t alar_dataset_step(const struct alar_dataset *dataset, uint64_t index)
{
    PRE(index < dataset->steps);
    return dataset->numbers.data == NULL ? (int64_t)index
                                         : ((const int64_t *)dataset->numbers.data)[index];
}

/* Index of the first step whose number is at least `number`; `steps` when there is none. */
static uint64_t index_at(const struct alar_dataset *dataset, uint64_t number)
{
    uint64_t low = 0;
    uint64_t high = dataset->steps;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if ((uint64_t)alar_dataset_step(dataset, middle) < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The two ends of "A:B", "A:", ":B" or "A"; those left out are kept as they are. */
static bool slice_parse(const char *text, uint64_t *first, uint64_t *past)
{
    char begin[32];
    const char *colon = strchr(text, ':');
    size_t length = colon == NULL ? strlen(text) : (size_t)(colon - text);

    if (length >= sizeof(begin) || (colon == NULL && length == 0)) {
        return false;
    }
    memcpy(begin, text, length);
    begin[length] = '\0';
    if (length > 0 && alar_number_parse(begin, 0, INT64_MAX - 1, first) != ALAR_OK) {
        return false;
    }
    if (colon == NULL) {
        *past = *first + 1;
        return true;
    }
    return colon[1] == '\0' || alar_number_parse(colon + 1, 0, INT64_MAX, past) == ALAR_OK;
}

enum alar_status alar_dataset_select(const struct alar_dataset *dataset, const char *text,
                                     struct alar_step_range *range, char *error_line)
{
    uint64_t least = (uint64_t)alar_dataset_step(dataset, 0);
    uint64_t limit = (uint64_t)alar_dataset_step(dataset, dataset->steps - 1) + 1;
    uint64_t first = least;
    uint64_t past = limit;

    if (text != NULL && !slice_parse(text, &first, &past)) {
        return alar_complain(error_line, "--steps",
                             "expected A:B, the steps from A to before B, found '%.40s'", text);
    }
    if (past > limit || first >= limit) {
        return alar_complain(error_line, "--steps",
                             "expected steps from %" PRIu64 " to before %" PRIu64 ", found '%.40s'",
                             least, limit, text);
    }
    if (index_at(dataset, first) >= index_at(dataset, past)) {
        return alar_complain(error_line, "--steps",
                             "expected at least one recorded step, found none in '%.40s'", text);
    }
    *range = (struct alar_step_range){index_at(dataset, first), index_at(dataset, past)};
    return ALAR_OK;
}
