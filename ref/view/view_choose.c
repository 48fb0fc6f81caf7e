/* Which parts of a long history are shown one by one, and the summary of all of it. */
#include "view/view_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    BINS_MANY = 1000,
    BINS_FEW = 250,
    RANKS_MANY = 64,
    WINDOWS_MOST = 4096
};

/* Operations around one that was found. */
struct window {
    uint32_t group;
    uint64_t first, last;
};

static size_t windows_make(const struct alar_view *view, struct window *window)
{
    const struct alar_verdict *verdict = view->verdict;
    size_t count = 0;

    for (uint32_t k = 0; k < verdict->finding_count; k++) {
        const struct alar_evidence *evidence = &verdict->finding[k];
        uint32_t group = alar_timeline_name(view->timeline, evidence->group);

        for (uint32_t m = 0; m < evidence->ops.count && m < ALAR_LIST_MAX && count < WINDOWS_MOST;
             m++) {
            uint64_t number = evidence->ops.item[m];

            window[count++] = (struct window){
                group, number > VIEW_AROUND ? number - VIEW_AROUND : 0, number + VIEW_AROUND};
        }
    }
    return count;
}

static bool is_near(const struct window *window, size_t count, uint32_t group, uint64_t number)
{
    for (size_t k = 0; k < count; k++) {
        if (window[k].group == group && window[k].first <= number && number <= window[k].last) {
            return true;
        }
    }
    return false;
}

static bool *flags(size_t count, bool value)
{
    bool *flag = malloc(count + 1);

    if (flag != NULL) {
        memset(flag, value, count + 1);
    }
    return flag;
}

/* Takes what was found, then from both ends inward as much as there is room for. */
static size_t take_ends(bool *flag, size_t count, size_t most)
{
    size_t taken = 0;

    for (size_t k = 0; k < count; k++) {
        taken += flag[k];
    }
    for (size_t k = 0; k < count / 2 && taken + 2 <= most; k++) {
        taken += !flag[k];
        flag[k] = true;
        taken += !flag[count - 1 - k];
        flag[count - 1 - k] = true;
    }
    return taken;
}

static bool is_rare(const struct alar_mark *mark)
{
    return mark->record == ALAR_RECORD_FAULT || mark->record == ALAR_RECORD_FAIL ||
           mark->record == ALAR_RECORD_EXIT || mark->record == ALAR_RECORD_ABORT;
}

static void choose_some(const struct alar_view *view, struct view_choice *choice,
                        const struct window *window, size_t windows)
{
    const struct alar_timeline *timeline = view->timeline;
    size_t near = 0, rare = 0;

    for (size_t k = 0; k < timeline->spans && near < VIEW_SPANS_MOST; k++) {
        const struct alar_span *span = &timeline->span[k];

        choice->span[k] = is_near(window, windows, span->group, span->number);
        near += choice->span[k];
    }
    for (size_t k = 0; k < timeline->marks && rare < VIEW_MARKS_MOST; k++) {
        const struct alar_mark *mark = &timeline->mark[k];

        choice->mark[k] = is_rare(mark) || is_near(window, windows, mark->group, mark->number);
        rare += choice->mark[k];
    }
    for (uint32_t k = 0; k < view->verdict->finding_count; k++) {
        const struct alar_evidence *evidence = &view->verdict->finding[k];

        for (size_t r = 0; evidence->is_report && r < timeline->reports; r++) {
            choice->report[r] = choice->report[r] || timeline->report[r].step == evidence->step;
        }
    }
    choice->spans = take_ends(choice->span, timeline->spans, VIEW_SPANS_MOST);
    choice->marks = take_ends(choice->mark, timeline->marks, VIEW_MARKS_MOST);
    choice->reports = take_ends(choice->report, timeline->reports, VIEW_REPORTS_MOST);
}

enum alar_status view_choose(const struct alar_view *view, struct view_choice *choice)
{
    const struct alar_timeline *timeline = view->timeline;
    struct window *window = calloc(WINDOWS_MOST, sizeof *window);
    bool is_all = timeline->spans <= VIEW_SPANS_MOST && timeline->marks <= VIEW_MARKS_MOST &&
                  timeline->reports <= VIEW_REPORTS_MOST;

    *choice = (struct view_choice){.span = flags(timeline->spans, is_all),
                                   .mark = flags(timeline->marks, is_all),
                                   .report = flags(timeline->reports, is_all),
                                   .spans = timeline->spans,
                                   .marks = timeline->marks,
                                   .reports = timeline->reports,
                                   .is_all = is_all};
    if (window == NULL || !choice->span || !choice->mark || !choice->report) {
        free(window);
        view_choice_free(choice);
        return ALAR_E_NOMEM;
    }
    if (!is_all) {
        choose_some(view, choice, window, windows_make(view, window));
    }
    free(window);
    return ALAR_OK;
}

void view_choice_free(struct view_choice *choice)
{
    free(choice->span);
    free(choice->mark);
    free(choice->report);
    memset(choice, 0, sizeof *choice);
}

/* ---- the summary ------------------------------------------------------------------------------
 */

struct bins {
    uint32_t count;
    int64_t first, last; /* of the axis */
    double *began, *blocked;
};

static uint32_t bin_of(const struct bins *bins, int64_t at)
{
    double share = (double)(at - bins->first) / (double)(bins->last - bins->first + 1);

    return share <= 0 ? 0 : share >= 1 ? bins->count - 1 : (uint32_t)(share * bins->count);
}

/* Spreads the blocked time of a span over the bins that it touches, as shares of a bin. */
static void bins_block(struct bins *bins, double *row, int64_t from, int64_t to)
{
    double width = (double)(bins->last - bins->first + 1) / bins->count;
    uint32_t last = bin_of(bins, to);

    for (uint32_t b = bin_of(bins, from); b <= last; b++) {
        double begin = (double)bins->first + b * width, end = begin + width;
        double low = (double)from > begin ? (double)from : begin;
        double high = (double)to < end ? (double)to : end;

        row[b] += high > low ? (high - low) / width : 0;
    }
}

static void bins_rows(yajl_gen json, const char *key, const double *value, uint32_t ranks,
                      uint32_t count, double scale)
{
    alar_gen_text(json, key);
    yajl_gen_array_open(json);
    for (uint32_t r = 0; r < ranks; r++) {
        yajl_gen_array_open(json);
        for (uint32_t b = 0; b < count; b++) {
            double scaled = value[(size_t)r * count + b] * scale;

            yajl_gen_integer(json, (long long)(scaled + 0.5));
        }
        yajl_gen_array_close(json);
    }
    yajl_gen_array_close(json);
}

static void bins_fill(struct bins *bins, const struct alar_timeline *timeline, bool is_time)
{
    for (size_t k = 0; k < timeline->spans; k++) {
        const struct alar_span *span = &timeline->span[k];
        const struct alar_moment *from = span->is_sync ? &span->issue : &span->wait;
        size_t row = (size_t)span->rank * bins->count;

        if (!is_time) {
            bins->began[row + bin_of(bins, (int64_t)span->issue.order)]++;
        } else if (span->issue.t != ALAR_TIME_NONE) {
            bins->began[row + bin_of(bins, span->issue.t)]++;
            if (from->order != 0 && from->t != ALAR_TIME_NONE && span->end.t > from->t) {
                bins_block(bins, bins->blocked + row, from->t, span->end.t);
            }
        }
    }
}

static void bins_axis(yajl_gen json, const char *key, struct bins *bins,
                      const struct alar_timeline *timeline, bool is_time)
{
    size_t cells = (size_t)timeline->ranks * bins->count;

    memset(bins->began, 0, cells * sizeof *bins->began);
    memset(bins->blocked, 0, cells * sizeof *bins->blocked);
    bins_fill(bins, timeline, is_time);
    alar_gen_text(json, key);
    yajl_gen_map_open(json);
    alar_gen_key_signed(json, "first", bins->first);
    alar_gen_key_signed(json, "last", bins->last);
    alar_gen_key_count(json, "count", bins->count);
    bins_rows(json, "began", bins->began, timeline->ranks, bins->count, 1);
    bins_rows(json, "blocked", bins->blocked, timeline->ranks, is_time ? bins->count : 0, 100);
    yajl_gen_map_close(json);
}

enum alar_status view_bins(yajl_gen json, const struct alar_timeline *timeline)
{
    struct bins bins = {.count = timeline->ranks > RANKS_MANY ? BINS_FEW : BINS_MANY};
    size_t cells = (size_t)timeline->ranks * bins.count;

    bins.began = calloc(cells + 1, sizeof *bins.began);
    bins.blocked = calloc(cells + 1, sizeof *bins.blocked);
    if (bins.began == NULL || bins.blocked == NULL) {
        free(bins.began);
        free(bins.blocked);
        return ALAR_E_NOMEM;
    }
    yajl_gen_map_open(json);
    bins.last = (int64_t)timeline->records;
    bins_axis(json, "order", &bins, timeline, false);
    bins.last = 0;
    for (uint32_t r = 0; r < timeline->ranks; r++) {
        const struct alar_rank_line *rank = &timeline->rank[r];

        bins.last =
            rank->first_t != ALAR_TIME_NONE && rank->last_t > bins.last ? rank->last_t : bins.last;
    }
    bins_axis(json, "time", &bins, timeline, true);
    yajl_gen_map_close(json);
    free(bins.began);
    free(bins.blocked);
    return ALAR_OK;
}
