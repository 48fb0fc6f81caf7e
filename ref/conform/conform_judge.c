/* Has a scene judged, and makes the history of a failure small. */
#include "conform/conform_history.h"

#include "check/history_find.h"
#include "check/verdict_text.h"

#include <stdio.h>
#include <string.h>

/* One reading of one file. */
static void judge_file(const char *path, struct conform_verdict *verdict)
{
    char *paths[] = {(char *)path};
    char error_line[ALAR_ERROR_LINE_BYTES];
    struct alar_history_set set;
    struct alar_reading reading;

    *verdict = (struct conform_verdict){.op = UINT32_MAX, .kind = ALAR_UNKNOWN};
    if (alar_history_find(paths, 1, &set, error_line) != ALAR_OK) {
        verdict->is_unread = true;
        snprintf(verdict->reason, sizeof(verdict->reason), "%.600s", error_line);
        return;
    }
    if (alar_reading_judge(&reading, &set.history[0], NULL) == ALAR_OK) {
        const struct alar_verdict *said = alar_judge_verdict(reading.judge);

        verdict->kind = said->kind;
        verdict->judged = said->judged;
        if (said->kind == ALAR_FAIL) {
            verdict->finding = said->finding[0];
        }
        alar_verdict_reason(&set.history[0], said, verdict->reason, sizeof(verdict->reason));
    } else {
        verdict->is_unread = true;
        snprintf(verdict->reason, sizeof(verdict->reason), "%.600s", reading.error_line);
    }
    alar_reading_free(&reading);
    alar_history_set_free(&set);
}

static enum alar_status extract_judge(const struct conform_extract *extract, const char *path,
                                      struct conform_verdict *verdict)
{
    ALAR_TRY(conform_history_write(extract, path));
    judge_file(path, verdict);
    if (verdict->kind == ALAR_FAIL && verdict->finding.has_op) {
        verdict->op = conform_op_find(extract, verdict->finding.group, verdict->finding.number);
    }
    return ALAR_OK;
}

static bool is_same_reason(const struct conform_verdict *a, const struct conform_verdict *b)
{
    return b->kind == ALAR_FAIL && a->finding.anomaly == b->finding.anomaly && a->op == b->op &&
           a->finding.answer == b->finding.answer &&
           a->finding.ranks.count == b->finding.ranks.count &&
           memcmp(a->finding.ranks.item, b->finding.ranks.item, sizeof(a->finding.ranks.item)) == 0;
}

/* Was what changed after the end the value itself? Then the end was told before it was there. */
static enum alar_status judge_late(struct conform_extract *extract, const char *path,
                                   struct conform_verdict *verdict)
{
    struct conform_verdict at_first = {.kind = ALAR_UNKNOWN};

    extract->is_first_look = true;
    ALAR_TRY(extract_judge(extract, path, &at_first));
    extract->is_first_look = false;
    extract->is_premature = at_first.kind == ALAR_FAIL && at_first.op == verdict->op;
    return extract_judge(extract, path, verdict);
}

/* Fewer all-reduces: the one that is named, alone, or with a few before it. */
static enum alar_status judge_shrink(struct conform_extract *extract, const char *path,
                                     struct conform_verdict *verdict)
{
    static const uint32_t before[] = {0, 1, 3, 8};
    const struct conform_extract whole = *extract;

    for (size_t k = 0; verdict->op != UINT32_MAX && k < sizeof(before) / sizeof(before[0]); k++) {
        struct conform_verdict small = {.kind = ALAR_UNKNOWN};

        extract->first = verdict->op > before[k] ? verdict->op - before[k] : 0;
        extract->last = verdict->op;
        ALAR_TRY(extract_judge(extract, path, &small));
        if (is_same_reason(verdict, &small)) {
            *verdict = small;
            return ALAR_OK;
        }
    }
    *extract = whole;
    return extract_judge(extract, path, verdict);
}

enum alar_status conform_judge(const struct conform_shared *shared, uint32_t scene,
                               const char *path, struct conform_verdict *verdict)
{
    struct conform_extract extract = {.shared = shared, .scene = scene, .last = UINT32_MAX - 1};
    enum alar_status status = conform_extract_open(&extract) ? ALAR_OK : ALAR_E_NOMEM;

    if (status == ALAR_OK) {
        status = extract_judge(&extract, path, verdict);
    }
    uint64_t judged = verdict->judged;
    if (status == ALAR_OK && verdict->kind == ALAR_FAIL &&
        verdict->finding.anomaly == ALAR_ANOMALY_LATE_WRITE) {
        status = judge_late(&extract, path, verdict);
    }
    if (status == ALAR_OK && verdict->kind == ALAR_FAIL) {
        status = judge_shrink(&extract, path, verdict);
    }
    verdict->judged = judged;
    conform_extract_close(&extract);
    return status;
}
