/* The data of the page as JSON, between the two halves of the template. */
#include "view/view_state.h"

#include "check/verdict_text.h"
#include "sys/decimal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_VALUES = 256
};

/* ---- JSON -------------------------------------------------------------------------------------
 */

static void put_bits(yajl_gen json, uint64_t bits, uint32_t digits)
{
    char text[24];

    snprintf(text, sizeof text, "%0*" PRIx64, (int)digits, bits);
    alar_gen_text(json, text);
}

static void put_values(yajl_gen json, const struct alar_timeline *timeline,
                       struct alar_span_values values, enum alar_dtype dtype)
{
    yajl_gen_array_open(json);
    for (uint32_t k = 0; k < values.count && k < SHOWN_VALUES; k++) {
        put_bits(json, timeline->value[values.first + k], (uint32_t)(2 * alar_dtype_bytes(dtype)));
    }
    yajl_gen_array_close(json);
}

/* Order, time or null, file, line. */
static void put_moment(yajl_gen json, const struct alar_moment *moment)
{
    alar_gen_count(json, moment->order);
    if (moment->order == 0 || moment->t == ALAR_TIME_NONE) {
        yajl_gen_null(json);
    } else {
        yajl_gen_integer(json, moment->t);
    }
    alar_gen_count(json, moment->place.file);
    alar_gen_count(json, moment->place.line);
}

/* The columns are those of `columns` in page/data.js. */
static void put_span(yajl_gen json, const struct alar_timeline *timeline,
                     const struct alar_span *span)
{
    yajl_gen_array_open(json);
    alar_gen_count(json, span->rank);
    alar_gen_count(json, span->group);
    alar_gen_count(json, span->number);
    yajl_gen_integer(json, span->step);
    yajl_gen_integer(json, span->mb);
    alar_gen_count(json, span->key);
    alar_gen_count(json, span->site);
    alar_gen_count(json, (uint64_t)span->red);
    alar_gen_text(json, alar_dtype_name(span->dtype));
    alar_gen_count(json, span->n);
    alar_gen_count(json, span->pairs);
    alar_gen_count(json, span->is_sync);
    alar_gen_count(json, span->ended);
    alar_gen_count(json, span->polls);
    put_moment(json, &span->issue);
    put_moment(json, &span->wait);
    put_moment(json, &span->complete);
    put_moment(json, &span->end);
    put_values(json, timeline, span->in, span->dtype);
    put_values(json, timeline, span->out, span->dtype);
    yajl_gen_array_close(json);
}

static void put_mark(yajl_gen json, const struct alar_timeline *timeline,
                     const struct alar_mark *mark)
{
    const struct alar_span *span =
        mark->group ? alar_timeline_span(timeline, mark->rank, mark->group, mark->number) : NULL;

    yajl_gen_array_open(json);
    alar_gen_text(json, alar_record_name(mark->record));
    yajl_gen_integer(json, mark->rank == ALAR_RANK_ALL ? -1 : (long long)mark->rank);
    alar_gen_count(json, mark->group);
    alar_gen_count(json, mark->number);
    alar_gen_count(json, mark->text);
    alar_gen_count(json, mark->is_backend);
    alar_gen_text(json, span ? alar_dtype_name(span->dtype) : "f32");
    put_moment(json, &mark->at);
    put_values(json, timeline, mark->bits, span ? span->dtype : ALAR_F32);
    yajl_gen_array_close(json);
}

static void put_report(yajl_gen json, const struct alar_timeline *timeline,
                       const struct alar_report_line *report)
{
    char loss[ALAR_DECIMAL_MAX];
    uint64_t bits;

    memcpy(&bits, &report->loss, sizeof bits);
    alar_decimal_print(ALAR_F64, bits, loss);
    yajl_gen_array_open(json);
    alar_gen_count(json, report->rank);
    alar_gen_count(json, report->metric);
    alar_gen_count(json, report->normalization);
    alar_gen_count(json, report->over);
    yajl_gen_integer(json, report->step);
    yajl_gen_integer(json, report->first_step);
    alar_gen_text(json, report->is_empty ? "EMPTY" : loss);
    if (report->has_bits) {
        put_bits(json, report->bits, report->digits);
    } else {
        alar_gen_text(json, "");
    }
    yajl_gen_integer(json, report->tokens);
    put_moment(json, &report->at);
    yajl_gen_array_open(json);
    for (uint32_t k = 0; k < report->ops; k++) {
        alar_gen_count(json, timeline->op[report->first_op + k].group);
        alar_gen_count(json, timeline->op[report->first_op + k].number);
    }
    yajl_gen_array_close(json);
    yajl_gen_array_close(json);
}

static void put_legal(yajl_gen json, const struct alar_view_legal *legal)
{
    uint32_t digits = (uint32_t)(2 * alar_dtype_bytes(legal->dtype));

    yajl_gen_array_open(json);
    alar_gen_count(json, legal->group);
    alar_gen_count(json, legal->number);
    alar_gen_count(json, legal->element);
    put_bits(json, legal->value, digits);
    alar_gen_text(json, legal->proof);
    alar_gen_text(json, legal->tree);
    if (legal->has_range) {
        put_bits(json, legal->low, digits);
        put_bits(json, legal->high, digits);
    }
    yajl_gen_array_close(json);
}

static void put_ranks(yajl_gen json, const struct alar_timeline *timeline)
{
    alar_gen_text(json, "ranks");
    yajl_gen_array_open(json);
    for (uint32_t r = 0; r < timeline->ranks; r++) {
        const struct alar_rank_line *rank = &timeline->rank[r];

        yajl_gen_array_open(json);
        if (rank->first_t == ALAR_TIME_NONE) {
            yajl_gen_null(json);
            yajl_gen_null(json);
        } else {
            yajl_gen_integer(json, rank->first_t);
            yajl_gen_integer(json, rank->last_t);
        }
        alar_gen_count(json, rank->records);
        alar_gen_count(json, rank->has_end);
        alar_gen_count(json, rank->clock == timeline->rank[0].clock && rank->clock != 0);
        yajl_gen_array_close(json);
    }
    yajl_gen_array_close(json);
}

static void put_texts(yajl_gen json, const char *key, const char *const *text, size_t count)
{
    alar_gen_text(json, key);
    yajl_gen_array_open(json);
    for (size_t k = 0; k < count; k++) {
        alar_gen_text(json, text[k]);
    }
    yajl_gen_array_close(json);
}

static void put_chosen(yajl_gen json, const struct alar_view *view,
                       const struct view_choice *choice)
{
    const struct alar_timeline *timeline = view->timeline;

    alar_gen_text(json, "spans");
    yajl_gen_array_open(json);
    for (size_t k = 0; k < timeline->spans; k++) {
        if (choice->span[k]) {
            put_span(json, timeline, &timeline->span[k]);
        }
    }
    yajl_gen_array_close(json);
    alar_gen_text(json, "marks");
    yajl_gen_array_open(json);
    for (size_t k = 0; k < timeline->marks; k++) {
        if (choice->mark[k]) {
            put_mark(json, timeline, &timeline->mark[k]);
        }
    }
    yajl_gen_array_close(json);
    alar_gen_text(json, "reports");
    yajl_gen_array_open(json);
    for (size_t k = 0; k < timeline->reports; k++) {
        if (choice->report[k]) {
            put_report(json, timeline, &timeline->report[k]);
        }
    }
    yajl_gen_array_close(json);
}

static bool is_timed(const struct alar_moment *moment)
{
    return moment->order == 0 || moment->t != ALAR_TIME_NONE;
}

/* A picture over time leaves out what has none, so all must have one. */
static bool has_all_times(const struct alar_timeline *timeline)
{
    bool has_all = timeline->spans + timeline->marks + timeline->reports > 0;

    for (size_t k = 0; has_all && k < timeline->spans; k++) {
        const struct alar_span *span = &timeline->span[k];

        has_all = is_timed(&span->issue) && is_timed(&span->wait) && is_timed(&span->complete) &&
                  is_timed(&span->end);
    }
    for (size_t k = 0; has_all && k < timeline->marks; k++) {
        has_all = is_timed(&timeline->mark[k].at);
    }
    for (size_t k = 0; has_all && k < timeline->reports; k++) {
        has_all = is_timed(&timeline->report[k].at);
    }
    return has_all;
}

static enum alar_status put_data(yajl_gen json, const struct alar_view *view,
                                 const struct view_choice *choice)
{
    const struct alar_timeline *timeline = view->timeline;

    yajl_gen_map_open(json);
    alar_gen_key_text(json, "version", ALAR_VERSION);
    alar_gen_key_text(json, "unit",
                      !has_all_times(timeline) ? ""
                      : timeline->is_in_ticks  ? "ticks"
                                               : "ns");
    alar_gen_key_count(json, "records", timeline->records);
    alar_gen_key_count(json, "all_spans", timeline->spans);
    alar_gen_key_flag(json, "is_all", choice->is_all);
    put_texts(json, "names", (const char *const *)timeline->name, timeline->names);
    put_texts(json, "files", view->files->path, view->files->count);
    put_ranks(json, timeline);
    put_chosen(json, view, choice);
    alar_gen_text(json, "legal");
    yajl_gen_array_open(json);
    for (size_t k = 0; view->legals != NULL && k < view->legals->count; k++) {
        put_legal(json, &view->legals->legal[k]);
    }
    yajl_gen_array_close(json);
    alar_gen_text(json, "bins");
    ALAR_TRY(view_bins(json, timeline));
    yajl_gen_map_close(json);
    return ALAR_OK;
}

/* ---- the page ---------------------------------------------------------------------------------
 */

/* Inside a script element no '<' may stand, lest it end there; in JSON it only stands in strings.
 */
static void print_escaped(void *context, const char *text, size_t length)
{
    for (size_t k = 0; k < length;) {
        const char *angle = memchr(text + k, '<', length - k);
        size_t plain = angle != NULL ? (size_t)(angle - text) - k : length - k;

        fwrite(text + k, 1, plain, context);
        k += plain;
        if (angle != NULL) {
            fputs("\\u003c", context);
            k++;
        }
    }
}

/* The verdict as `alar check --json` writes it. */
static enum alar_status verdict_write(FILE *out, const struct alar_view *view)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (file == NULL) {
        return ALAR_E_NOMEM;
    }
    enum alar_status status = alar_verdict_json(file, view->files, view->verdict);
    if (fclose(file) != 0) {
        status = ALAR_E_NOMEM;
    }
    if (status == ALAR_OK) {
        print_escaped(out, text, size);
    }
    free(text);
    return status;
}

static enum alar_status data_write(FILE *out, const struct alar_view *view)
{
    struct view_choice choice;
    yajl_gen json = yajl_gen_alloc(NULL);

    if (json == NULL) {
        return ALAR_E_NOMEM;
    }
    yajl_gen_config(json, yajl_gen_print_callback, print_escaped, out);
    enum alar_status status = view_choose(view, &choice);
    if (status == ALAR_OK) {
        status = put_data(json, view, &choice);
        view_choice_free(&choice);
    }
    yajl_gen_free(json);
    return status;
}

enum alar_status alar_view_write(FILE *out, const struct alar_view *view)
{
    static const char here[] = "@DATA@";
    const char *page = (const char *)alar_view_page;
    const char *at = strstr(page, here);

    fwrite(page, 1, (size_t)(at - page), out);
    fputs("{\"verdict\":", out);
    ALAR_TRY(verdict_write(out, view));
    fputs(",\"history\":", out);
    ALAR_TRY(data_write(out, view));
    fputs("}", out);
    fputs(at + sizeof here - 1, out);
    return ALAR_OK;
}
