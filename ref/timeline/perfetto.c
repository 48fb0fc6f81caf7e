/* The trace event format: complete events for waits, asynchronous pairs for what is pending. */
#include "timeline/perfetto.h"

#include "sys/json_gen.h"

#include <inttypes.h>

struct trace {
    yajl_gen json;
    const struct alar_timeline *timeline;
    bool has_time;
};

enum {
    THREAD_WAITS = 1,
    THREAD_RECORDS = 2
};

/* Microseconds; nanoseconds become three digits behind the point. */
static void trace_time(const struct trace *trace, const char *key, const struct alar_moment *from,
                       const struct alar_moment *to)
{
    double unit = trace->timeline->is_in_ticks ? 1 : 1e3;
    double begin = from == NULL      ? 0
                   : trace->has_time ? (double)from->t / unit
                                     : (double)from->order;
    double end = trace->has_time ? (double)to->t / unit : (double)to->order;

    alar_gen_key_real(trace->json, key, end - begin, 3);
}

static bool has_moment(const struct trace *trace, const struct alar_moment *moment)
{
    return trace->has_time ? moment->t != ALAR_TIME_NONE && moment->order != 0 : moment->order != 0;
}

static void trace_begin(const struct trace *trace, const char *phase, const char *name,
                        uint32_t rank, int thread)
{
    yajl_gen_map_open(trace->json);
    alar_gen_key_text(trace->json, "name", name);
    alar_gen_key_text(trace->json, "ph", phase);
    alar_gen_key_count(trace->json, "pid", rank + 1);
    alar_gen_key_count(trace->json, "tid", (uint64_t)thread);
}

static void trace_named(const struct trace *trace, const char *what, uint32_t rank, int thread,
                        const char *name)
{
    trace_begin(trace, "M", what, rank, thread);
    alar_gen_text(trace->json, "args");
    yajl_gen_map_open(trace->json);
    alar_gen_key_text(trace->json, "name", name);
    yajl_gen_map_close(trace->json);
    yajl_gen_map_close(trace->json);
}

static void trace_bits(const struct trace *trace, const char *key, struct alar_span_values values,
                       enum alar_dtype dtype)
{
    char digits[24];

    if (values.count == 0) {
        return;
    }
    alar_gen_text(trace->json, key);
    yajl_gen_array_open(trace->json);
    for (uint32_t k = 0; k < values.count && k < 4; k++) {
        snprintf(digits, sizeof digits, "%0*" PRIx64, (int)(2 * alar_dtype_bytes(dtype)),
                 trace->timeline->value[values.first + k]);
        alar_gen_text(trace->json, digits);
    }
    yajl_gen_array_close(trace->json);
}

static void trace_arguments(const struct trace *trace, const struct alar_span *span)
{
    alar_gen_text(trace->json, "args");
    yajl_gen_map_open(trace->json);
    alar_gen_key_count(trace->json, "elements", span->n);
    if (span->step >= 0) {
        alar_gen_key_signed(trace->json, "step", span->step);
    }
    if (span->key != 0) {
        alar_gen_key_text(trace->json, "metric", trace->timeline->name[span->key]);
    }
    if (span->site != 0) {
        alar_gen_key_text(trace->json, "called from", trace->timeline->name[span->site]);
    }
    alar_gen_key_count(trace->json, "polls", span->polls);
    alar_gen_key_flag(trace->json, "sync", span->is_sync);
    trace_bits(trace, "in", span->in, span->dtype);
    trace_bits(trace, "out", span->out, span->dtype);
    yajl_gen_map_close(trace->json);
}

static void trace_pending(const struct trace *trace, const struct alar_span *span, size_t index,
                          const char *name)
{
    const struct alar_moment *end = has_moment(trace, &span->end) ? &span->end : &span->issue;
    char id[24];

    snprintf(id, sizeof id, "0x%zx", index + 1);
    for (int k = 0; k < 2; k++) {
        trace_begin(trace, k ? "e" : "b", name, span->rank, THREAD_WAITS);
        alar_gen_key_text(trace->json, "cat", "pending");
        /* Of this process: with a plain id, what is pending would be no rank's. */
        alar_gen_text(trace->json, "id2");
        yajl_gen_map_open(trace->json);
        alar_gen_key_text(trace->json, "local", id);
        yajl_gen_map_close(trace->json);
        trace_time(trace, "ts", NULL, k ? end : &span->issue);
        if (k == 0) {
            trace_arguments(trace, span);
        }
        yajl_gen_map_close(trace->json);
    }
}

static void trace_wait(const struct trace *trace, const struct alar_span *span, const char *name)
{
    const struct alar_moment *from = span->is_sync ? &span->issue : &span->wait;

    if (!has_moment(trace, from) || !has_moment(trace, &span->end)) {
        return;
    }
    trace_begin(trace, "X", name, span->rank, THREAD_WAITS);
    alar_gen_key_text(trace->json, "cat", "blocked");
    trace_time(trace, "ts", NULL, from);
    trace_time(trace, "dur", from, &span->end);
    trace_arguments(trace, span);
    yajl_gen_map_close(trace->json);
}

static void trace_span(const struct trace *trace, size_t index)
{
    const struct alar_span *span = &trace->timeline->span[index];
    char name[128];

    if (!has_moment(trace, &span->issue)) {
        return;
    }
    snprintf(name, sizeof name, "%.90s/%" PRIu64, trace->timeline->name[span->group], span->number);
    trace_pending(trace, span, index, name);
    trace_wait(trace, span, name);
}

static void trace_instant(const struct trace *trace, const char *name, uint32_t rank,
                          const struct alar_moment *at)
{
    if (!has_moment(trace, at) || rank == ALAR_RANK_ALL) {
        return;
    }
    trace_begin(trace, "i", name, rank, THREAD_RECORDS);
    alar_gen_key_text(trace->json, "s", "t");
    trace_time(trace, "ts", NULL, at);
    yajl_gen_map_close(trace->json);
}

static void trace_ranks(const struct trace *trace)
{
    char name[32];

    for (uint32_t r = 0; r < trace->timeline->ranks; r++) {
        snprintf(name, sizeof name, "rank %u", r);
        trace_named(trace, "process_name", r, 0, name);
        trace_named(trace, "thread_name", r, THREAD_WAITS, "waits");
        trace_named(trace, "thread_name", r, THREAD_RECORDS, "reads, writes, reports, faults");
    }
}

static void print(void *context, const char *text, size_t length)
{
    fwrite(text, 1, length, context);
}

enum alar_status alar_perfetto_write(FILE *out, const struct alar_timeline *timeline,
                                     const char *name)
{
    struct trace trace = {yajl_gen_alloc(NULL), timeline, false};

    if (trace.json == NULL) {
        return ALAR_E_NOMEM;
    }
    yajl_gen_config(trace.json, yajl_gen_print_callback, print, out);
    for (size_t k = 0; k < timeline->spans && !trace.has_time; k++) {
        trace.has_time = timeline->span[k].issue.t != ALAR_TIME_NONE;
    }
    yajl_gen_map_open(trace.json);
    alar_gen_key_text(trace.json, "displayTimeUnit", "ns");
    alar_gen_text(trace.json, "otherData");
    yajl_gen_map_open(trace.json);
    alar_gen_key_text(trace.json, "history", name);
    alar_gen_key_text(trace.json, "time",
                      !trace.has_time         ? "order of records"
                      : timeline->is_in_ticks ? "ticks"
                                              : "nanoseconds");
    yajl_gen_map_close(trace.json);
    alar_gen_text(trace.json, "traceEvents");
    yajl_gen_array_open(trace.json);
    trace_ranks(&trace);
    for (size_t k = 0; k < timeline->spans; k++) {
        trace_span(&trace, k);
    }
    for (size_t k = 0; k < timeline->marks; k++) {
        const struct alar_mark *mark = &timeline->mark[k];

        trace_instant(&trace, alar_record_name(mark->record), mark->rank, &mark->at);
    }
    for (size_t k = 0; k < timeline->reports; k++) {
        trace_instant(&trace, "report", timeline->report[k].rank, &timeline->report[k].at);
    }
    yajl_gen_array_close(trace.json);
    yajl_gen_map_close(trace.json);
    fputc('\n', out);
    yajl_gen_free(trace.json);
    return ALAR_OK;
}
