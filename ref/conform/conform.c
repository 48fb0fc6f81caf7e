/* The conformance run: worlds one after the other, their scenes played, judged, and put into rows.
 */
#include "conform/conform_history.h"
#include "conform/conform_launch.h"

#include "sys/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RESTARTS = 3,  /* of one world, each behind the scene that stopped it */
    HANGS_MOST = 3 /* in all: the rest would hang as well */
};

static const struct alar_conform_row rows[CONFORM_PROPERTIES] = {
#define PROPERTY(token, at, title, text) \
    [PROMISE_##token] = {.name = title, .what = text, .level = ALAR_CONFORM_##at},
#include "conform/conform.def"
};

struct run {
    const struct alar_conform_options *options;
    struct alar_conform_result *result;
    struct conform_launch launch;
    struct conform_scene plan[CONFORM_SCENES_MAX];
    char *error_line;
};

/* ---- one scene ---------------------------------------------------------------------------------
 */

/* Keeps the history of the first failure of a property, by its name. */
static void keep(struct run *run, struct alar_conform_row *row, const char *path)
{
    char name[64];

    snprintf(name, sizeof(name), "%s", row->name);
    for (char *at = name; *at != '\0'; at++) {
        *at = *at == ' ' || *at == ',' ? '-' : *at;
    }
    if (mkdir(run->options->directory, 0777) != 0 && errno != EEXIST) {
        return;
    }
    snprintf(row->history, sizeof(row->history), "%.3000s/%s.jsonl", run->options->directory, name);
    if (rename(path, row->history) != 0) {
        row->history[0] = '\0';
    }
}

static void scene_failed(struct run *run, const struct conform_shared *shared, uint32_t scene,
                         const struct conform_verdict *verdict, const char *path)
{
    const struct conform_scene *played = &shared->scene[scene];
    struct conform_op op = conform_op_get(played, &shared->caps, shared->ranks,
                                          verdict->op == UINT32_MAX ? 0 : verdict->op);
    enum conform_property property = conform_property_of(&verdict->finding, &op);
    bool is_value = verdict->finding.anomaly >= ALAR_ANOMALY_RANKS_DISAGREE;

    if (played->kind == SCENE_CONTESTED && shared->caps.nan == 0 && is_value) {
        property = PROMISE_NAN_KEPT;
    }
    struct alar_conform_row *row = &run->result->row[property];

    row->failed++;
    if (row->failed == 1) {
        row->ranks = shared->ranks;
        row->scene = shared->first_scene + scene;
        memcpy(row->reason, verdict->reason, sizeof(row->reason));
        keep(run, row, path);
    }
}

static const struct conform_event *done_find(const struct conform_seat *seat, uint32_t scene,
                                             uint32_t op)
{
    for (uint32_t e = 0; e < seat->events; e++) {
        if (seat->event[e].scene == scene && seat->event[e].kind == EVENT_DONE &&
            seat->event[e].op == op) {
            return &seat->event[e];
        }
    }
    return NULL;
}

/* Bits that came again, and those of the blocking call: notes. */
static void scene_compare(struct run *run, const struct conform_shared *shared, uint32_t scene)
{
    const struct conform_scene *played = &shared->scene[scene];
    const struct conform_seat *seat = &shared->seat[0];
    const struct conform_event *first = NULL;

    for (uint32_t i = 0; played->kind == SCENE_REPEAT && i < played->ops; i++) {
        struct conform_op op = conform_op_get(played, &shared->caps, shared->ranks, i);
        const struct conform_event *event = done_find(seat, scene, i);

        if (!op.is_again) {
            first = event;
        } else if (first != NULL && event != NULL && first->bytes == event->bytes) {
            struct alar_conform_row *row =
                &run->result->row[op.is_blocking ? PROMISE_BLOCKING_SAME : PROMISE_REPEATS];

            row->tried++;
            row->failed +=
                memcmp(&seat->byte[first->data], &seat->byte[event->data], event->bytes) != 0;
        }
    }
}

static enum alar_status scene_judge(struct run *run, const struct conform_shared *shared,
                                    uint32_t scene)
{
    struct conform_verdict verdict = {.kind = ALAR_UNKNOWN};
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%.4000s.jsonl", run->launch.file);
    enum alar_status status = conform_judge(shared, scene, path, &verdict);
    if (status == ALAR_OK && verdict.is_unread) {
        snprintf(run->error_line, ALAR_ERROR_LINE_BYTES, "%.400s", verdict.reason);
        return ALAR_E_ILLEGAL;
    }
    run->result->scenes++;
    run->result->operations += verdict.judged;
    if (status == ALAR_OK && verdict.kind == ALAR_FAIL) {
        scene_failed(run, shared, scene, &verdict, path);
    } else if (status == ALAR_OK && verdict.kind == ALAR_UNKNOWN && verdict.judged > 0) {
        run->result->undecided++;
    }
    scene_compare(run, shared, scene);
    unlink(path);
    return status;
}

/* ---- one world ---------------------------------------------------------------------------------
 */

static void rows_add(struct run *run, const struct conform_shared *shared)
{
    for (uint32_t r = 0; r < shared->ranks; r++) {
        for (uint32_t p = 0; p < CONFORM_PROPERTIES; p++) {
            run->result->row[p].tried += shared->seat[r].tried[p];
            run->result->row[p].failed += shared->seat[r].failed[p];
        }
    }
}

/* Values are tried as often as the oracle judged them; promises, where they were made. */
static void rows_of_values(struct run *run, const struct conform_shared *shared, uint64_t judged)
{
    struct alar_conform_row *row = run->result->row;
    const struct alar_caps *caps = &shared->caps;

    row[PROMISE_VALUES].tried += judged;
    row[PROMISE_AGREEMENT].tried += judged;
    row[PROMISE_NAN].tried += caps->nan != 0 ? judged : 0;
    row[PROMISE_HEIGHT].tried += caps->tree_height > 0 || caps->tree[0] != '\0' ||
                                         caps->adder > 0 || caps->width > 0 || caps->avg > 0
                                     ? judged
                                     : 0;
    row[PROMISE_FIXED_ORDER].tried += caps->has_fixed_order ? shared->scenes : 0;
    row[PROMISE_RETURNS].tried += shared->ranks;
    row[PROMISE_DECLARES_TREE].tried++;
    row[PROMISE_DECLARES_TREE].failed += caps->tree_height == 0 && shared->ranks > 1;
    row[PROMISE_NAN_KEPT].tried += caps->nan == 0;
}

static enum alar_status world_judge(struct run *run, struct conform_shared *shared)
{
    uint64_t before = run->result->operations;
    uint32_t played = 1;

    for (uint32_t r = 0; r < shared->ranks; r++) {
        uint32_t scene = atomic_load(&shared->seat[r].scene) + 1;

        played = scene > played ? scene : played;
    }
    for (uint32_t s = 0; s < played && s < shared->scenes; s++) {
        ALAR_TRY(scene_judge(run, shared, s));
    }
    rows_add(run, shared);
    rows_of_values(run, shared, run->result->operations - before);
    return ALAR_OK;
}

static const char *text_of(const struct conform_shared *shared)
{
    for (uint32_t r = 0; r < shared->ranks; r++) {
        if (shared->seat[r].text[0] != '\0') {
            return shared->seat[r].text;
        }
    }
    return "its ranks did not start";
}

/* Plays scenes `first` to `count` - 1 of the plan; *next is where to go on. */
static enum alar_status world_play(struct run *run, uint32_t ranks, uint32_t first, uint32_t count,
                                   uint32_t *next)
{
    bool is_given = run->launch.launcher == LAUNCH_GIVEN;
    struct conform_shared *shared = conform_shared_make(run->launch.file, is_given, ranks);
    enum alar_status status = ALAR_OK;

    if (shared == NULL) {
        return ALAR_E_IO;
    }
    shared->scenes = count - first;
    shared->first_scene = first;
    shared->op_deadline_us = 10000000;
    memcpy(shared->scene, &run->plan[first], (count - first) * sizeof(run->plan[0]));
    if (run->launch.launcher == LAUNCH_GIVEN && !conform_shared_show(run->launch.file)) {
        conform_shared_close(shared);
        return ALAR_E_IO;
    }
    run->result->is_cut |= !conform_launch_run(&run->launch, shared);
    if (atomic_load(&shared->is_unusable)) {
        snprintf(run->error_line, ALAR_ERROR_LINE_BYTES, "%.400s", text_of(shared));
        status = ALAR_E_INPUT;
    } else {
        snprintf(run->result->name, sizeof(run->result->name), "%s", shared->name);
        status = world_judge(run, shared);
    }
    *next = count;
    if (atomic_load(&shared->is_stopped) || atomic_load(&shared->seat[0].stage) != STAGE_OVER) {
        *next = first + 1;
        for (uint32_t r = 0; r < ranks; r++) {
            uint32_t scene = first + atomic_load(&shared->seat[r].scene) + 1;

            *next = scene > *next ? scene : *next;
        }
        /* What does not start will not start a second time. */
        *next = shared->seat[0].events == 0 || run->result->row[PROMISE_STARTS].failed > 0 ? count
                                                                                           : *next;
    } else {
        run->result->worlds++;
    }
    atomic_store(&shared->code,
                 status == ALAR_OK ? alar_conform_class(run->result) : alar_status_class(status));
    atomic_store(&shared->is_judged, 1);
    conform_shared_close(shared);
    unlink(run->launch.file);
    return status;
}

/* Is there no use, or no time, for more? */
static bool is_over(const struct run *run)
{
    return run->result->is_cut || run->launch.hangs >= HANGS_MOST ||
           alar_clock_now(NULL) >= run->launch.until_us;
}

static enum alar_status world_run(struct run *run, uint32_t ranks)
{
    const struct alar_conform_options *options = run->options;
    uint32_t count = conform_plan(run->plan, ranks, options->is_full, options->seed);
    uint32_t next = 0;

    if (options->scene >= 0) {
        next = (uint32_t)options->scene < count ? (uint32_t)options->scene : count;
        count = next < count ? next + 1 : count;
    }
    for (uint32_t k = 0; k <= (run->launch.launcher == LAUNCH_GIVEN ? 0 : RESTARTS) &&
                         next < count && !is_over(run);
         k++) {
        ALAR_TRY(world_play(run, ranks, next, count, &next));
    }
    return ALAR_OK;
}

enum alar_status alar_conform(const struct alar_conform_options *options,
                              struct alar_conform_result *result, char *error_line)
{
    static struct run run;
    const char *temporary = getenv("TMPDIR");
    uint64_t start = alar_clock_now(NULL);
    enum alar_status status = ALAR_OK;

    run = (struct run){.options = options, .result = result, .error_line = error_line};
    *result = (struct alar_conform_result){.rows = CONFORM_PROPERTIES};
    memcpy(result->row, rows, sizeof(rows));
    run.launch.options = options;
    run.launch.until_us = start + options->limit_us;
    temporary = temporary != NULL ? temporary : "/tmp";
    snprintf(run.launch.file, sizeof(run.launch.file), "%.3000s/alar-conform-%d", temporary,
             (int)getpid());
    snprintf(run.launch.log, sizeof(run.launch.log), "%.3000s/alar-conform-%d.log", temporary,
             (int)getpid());
    ALAR_TRY(conform_launch_find(&run.launch, error_line));
    if (options->is_launched) {
        uint32_t rank = 0;
        uint32_t ranks = 0;

        if (!conform_given(&rank, &ranks)) {
            return alar_complain(error_line, "--launched",
                                 "expected rank and world from a launcher (PMI_RANK, "
                                 "OMPI_COMM_WORLD_RANK, ALAR_RANK or RANK, and likewise the size)");
        }
        conform_given_name(temporary, run.launch.file);
        if (rank > 0) {
            result->is_follower = true;
            result->code = conform_given_follow(&run.launch, rank);
            return ALAR_OK;
        }
        status = world_run(&run, ranks);
        unlink(run.launch.log);
        result->seconds = (double)(alar_clock_now(NULL) - start) * 1e-6;
        return status;
    }
    for (uint32_t ranks = options->ranks_least; status == ALAR_OK && ranks <= options->ranks_most;
         ranks++) {
        status = world_run(&run, ranks);
        result->is_cut |= is_over(&run) && ranks < options->ranks_most;
        if (result->is_cut) {
            break;
        }
    }
    conform_python_end(&run.launch);
    unlink(run.launch.log);
    result->seconds = (double)(alar_clock_now(NULL) - start) * 1e-6;
    if (status == ALAR_E_IO) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES, "%.300s: expected to write there",
                 run.launch.file);
    }
    return status;
}

enum alar_class alar_conform_class(const struct alar_conform_result *result)
{
    for (uint32_t k = 0; k < result->rows; k++) {
        if (result->row[k].level == ALAR_CONFORM_MUST && result->row[k].failed > 0) {
            return ALAR_CLASS_WRONG;
        }
    }
    return result->is_cut || result->worlds == 0 ? ALAR_CLASS_INCOMPLETE : ALAR_CLASS_GOOD;
}
