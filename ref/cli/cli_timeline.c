/* Reading one history for those who look at it as a whole. */
#include "cli/cli_timeline.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum {
    FINDINGS_ALL = 1000,
    LEGAL_BYTES_MOST = 16 << 20
};

/* What the hooks of the reader are given. */
struct looking {
    struct cli_look *look;
    struct alar_cli_progress progress;
    void (*legal)(void *context, const struct alar_legal_view *view);
    void *context;
};

static void look_progress(void *context, uint64_t bytes)
{
    alar_cli_progress_tell(&((struct looking *)context)->progress, bytes);
}

static void look_event(void *context, const struct alar_event *event)
{
    alar_timeline_add(&((struct looking *)context)->look->timeline, event);
}

static void look_legal(void *context, const struct alar_legal_view *view)
{
    struct looking *looking = context;

    looking->legal(looking->context, view);
}

/* Explaining each legal value takes its time: short histories only. */
static bool is_short(const struct alar_history_files *files)
{
    struct stat found;
    off_t bytes = 0;

    for (uint32_t k = 0; k < files->count; k++) {
        bytes += stat(files->path[k], &found) == 0 ? found.st_size : 0;
    }
    return bytes <= LEGAL_BYTES_MOST;
}

static enum alar_status look_read(struct looking *looking, char *path, char *error_line)
{
    struct cli_look *look = looking->look;
    struct alar_reading_hooks hooks = {.progress = look_progress,
                                       .event = look_event,
                                       .finding_room = FINDINGS_ALL,
                                       .context = looking};

    ALAR_TRY(alar_timeline_open(&look->timeline));
    ALAR_TRY(alar_history_find(&path, 1, &look->set, error_line));
    if (look->set.count != 1) {
        return alar_complain(error_line, path, "expected one history, found %zu", look->set.count);
    }
    look->files = &look->set.history[0];
    hooks.certify = looking->legal && is_short(look->files) ? look_legal : NULL;
    looking->progress = (struct alar_cli_progress){.what = look->files->name};
    enum alar_status status = alar_reading_judge(&look->reading, look->files, &hooks);
    alar_cli_progress_end(&looking->progress);
    if (status != ALAR_OK) {
        memcpy(error_line, look->reading.error_line, ALAR_ERROR_LINE_BYTES);
        return status;
    }
    alar_timeline_finish(&look->timeline);
    look->verdict = alar_judge_verdict(look->reading.judge);
    return look->timeline.is_out_of_memory ? ALAR_E_NOMEM : ALAR_OK;
}

int cli_look_open(struct cli_look *look, const char *who, char *path,
                  void (*legal)(void *context, const struct alar_legal_view *view), void *context)
{
    struct looking looking = {.look = look, .legal = legal, .context = context};
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    memset(look, 0, sizeof *look);
    enum alar_status status = look_read(&looking, path, error_line);
    if (status == ALAR_OK) {
        return -1;
    }
    alar_cli_complain(who, error_line[0] ? error_line : "expected enough memory, found too little");
    return (int)alar_status_class(status);
}

void cli_look_close(struct cli_look *look)
{
    alar_timeline_free(&look->timeline);
    alar_reading_free(&look->reading);
    alar_history_set_free(&look->set);
}

FILE *cli_output_open(const char *who, const char *path, const struct cli_look *look, int looks)
{
    char text[ALAR_ERROR_LINE_BYTES];
    bool is_own = false;

    if (path == NULL || strcmp(path, "-") == 0) {
        return stdout;
    }
    for (int k = 0; k < looks; k++) {
        is_own = is_own || alar_history_set_reads(&look[k].set, path);
    }
    FILE *file = is_own ? NULL : fopen(path, "w");
    if (file == NULL) {
        enum alar_status status =
            alar_complain(text, path, "expected a file to write, found: %s",
                          is_own ? "the history that is read" : strerror(errno));
        (void)status;
        alar_cli_complain(who, text);
    }
    return file;
}

int cli_output_close(const char *who, const char *path, FILE *file)
{
    char text[ALAR_ERROR_LINE_BYTES];

    if (file == stdout) {
        return ALAR_CLASS_GOOD; /* the program looks after it */
    }
    errno = 0;
    bool is_torn = ferror(file) != 0;
    if (fclose(file) == 0 && !is_torn) {
        return ALAR_CLASS_GOOD;
    }
    enum alar_status status = alar_complain(text, path, "expected to write all of it, found: %s",
                                            errno ? strerror(errno) : "an earlier write failed");
    (void)status;
    alar_cli_complain(who, text);
    return ALAR_CLASS_INCOMPLETE;
}
