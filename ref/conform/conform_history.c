/* Writes histories: a header with the contract, the groups, then each rank's records in its order.
 */
#include "conform/conform_history.h"

#include "api/terms.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    SHOWN = 64 /* as in conform_slot.c */
};

/* One file being written. */
struct writer {
    const struct conform_extract *extract;
    const struct conform_scene *scene;
    FILE *file;
    uint64_t since; /* time 0 */
    uint32_t rank;
};

static const char *const told_names[] = {"nothing", "pending", "done", "failed"};
static const char *const gone_names[] = {"", "signal", "exit", "hang"};

static bool is_kept(const struct conform_extract *extract, uint32_t index)
{
    return index >= extract->first && index <= extract->last;
}

/* ---- records -----------------------------------------------------------------------------------
 */

static void begin(const struct writer *writer, const char *kind, const struct conform_event *event)
{
    fprintf(writer->file, "{\"ev\":\"%s\",\"rank\":%u,\"t\":%" PRIu64, kind, writer->rank,
            event->t > writer->since ? event->t - writer->since : 0);
}

static void name_op(const struct writer *writer, uint32_t index)
{
    const struct conform_shared *shared = writer->extract->shared;
    struct conform_op op = writer->extract->op[index];

    fprintf(writer->file, ",\"op\":\"%s/%u\"",
            conform_group_name(op.group, shared->ranks, writer->rank),
            writer->extract->number[index]);
}

static void bits_write(const struct writer *writer, const char *field, enum alar_dtype dtype,
                       const uint64_t *bits, uint64_t count)
{
    fprintf(writer->file, ",\"%s\":[", field);
    for (uint64_t k = 0; k < count; k++) {
        fprintf(writer->file, "%s\"%0*" PRIx64 "\"", k > 0 ? "," : "",
                (int)(2 * alar_dtype_bytes(dtype)), bits[k]);
    }
    fputs("]", writer->file);
}

static void write_issue(const struct writer *writer, const struct conform_event *event)
{
    const struct conform_shared *shared = writer->extract->shared;
    struct conform_op op = writer->extract->op[event->op];
    int32_t members[CONFORM_RANKS_MAX];
    uint64_t bits[SHOWN];
    uint32_t member = 0;
    uint32_t count = conform_members(op.group, shared->ranks, writer->rank, members, &member);
    uint64_t first = op.elements > SHOWN ? conform_element_shown(writer->extract, event->op) : 0;
    uint64_t shown = op.elements > SHOWN ? 1 : op.elements;

    for (uint64_t e = 0; e < shown; e++) {
        bits[e] = conform_input(writer->scene, &op, member, count, first + e);
    }
    begin(writer, "issue", event);
    name_op(writer, event->op);
    fprintf(writer->file, ",\"red\":\"%s\",\"dtype\":\"%s\",\"n\":%" PRIu64,
            alar_reduction_names[op.reduction], alar_dtype_name(op.dtype), shown);
    if (op.is_blocking) {
        fputs(",\"sync\":true", writer->file);
    }
    fprintf(writer->file, ",\"src\":\"%s %s%s", conform_scene_names[writer->scene->kind],
            conform_family_names[op.family], op.is_in_place ? ", in place" : "");
    if (op.elements > SHOWN) {
        fprintf(writer->file, ", element %" PRIu64 " of %" PRIu64, first, op.elements);
    }
    fputs("\"", writer->file);
    bits_write(writer, "in", op.dtype, bits, shown);
    fputs("}\n", writer->file);
}

/* The result as this rank was told it. */
static uint64_t result_get(const struct writer *writer, const struct conform_event *event,
                           uint64_t *bits)
{
    const struct conform_shared *shared = writer->extract->shared;
    struct conform_op op = writer->extract->op[event->op];
    uint64_t at = op.elements > SHOWN ? conform_element_shown(writer->extract, event->op) : 0;
    int32_t members[CONFORM_RANKS_MAX];
    uint32_t member = 0;
    uint32_t count = conform_members(op.group, shared->ranks, writer->rank, members, &member);

    if (op.elements > SHOWN && op.reduction != ALAR_AVG && (!event->has_gave || event->at > at)) {
        struct conform_named expected = conform_named_expected(&op, count);

        bits[0] = conform_named_bits(&expected, at);
        return 1;
    }
    memcpy(bits, &shared->seat[writer->rank].byte[event->data], event->bytes);
    return event->bytes / sizeof(*bits);
}

static void write_result(const struct writer *writer, const char *kind,
                         const struct conform_event *event, const struct conform_event *result,
                         const struct conform_event *rewritten)
{
    struct conform_op op = writer->extract->op[event->op];
    uint64_t bits[SHOWN];
    uint64_t count = result_get(writer, result, bits);

    if (rewritten != NULL) {
        uint64_t at = op.elements > SHOWN ? 0 : rewritten->at;

        memcpy(&bits[at], &writer->extract->shared->seat[writer->rank].byte[rewritten->data],
               sizeof(bits[0]));
    }
    begin(writer, kind, event);
    name_op(writer, event->op);
    bits_write(writer, "out", op.dtype, bits, count);
    fputs("}\n", writer->file);
}

/* Promised a fixed order, the same all-reduce done again is its twin. */
static void write_done(const struct writer *writer, const struct conform_event *event)
{
    const struct conform_extract *extract = writer->extract;

    if (event->op + 1 < writer->scene->ops && extract->shared->caps.has_fixed_order &&
        extract->scene < extract->shared->scenes) {
        struct conform_op next = extract->op[event->op + 1];
        const struct conform_event *again =
            conform_event_find(extract, writer->rank, EVENT_DONE, event->op + 1);

        if (next.is_again && !next.is_blocking && again != NULL) {
            write_result(writer, "twin", event, again, NULL);
            /* Of the twin only the bits count: it keeps this one's name. */
        }
    }
    write_result(writer, "done", event, event, NULL);
}

static void write_rewritten(const struct writer *writer, const struct conform_event *event)
{
    const struct conform_extract *extract = writer->extract;
    const struct conform_event *done =
        conform_event_find(extract, writer->rank, EVENT_DONE, event->op);
    struct conform_op op = extract->op[event->op];

    if (done == NULL || extract->is_first_look) {
        return;
    }
    if (extract->is_premature) {
        write_result(writer, "complete", event, done, event);
        return;
    }
    uint64_t bits = 0;

    memcpy(&bits, &extract->shared->seat[writer->rank].byte[event->data], sizeof(bits));
    begin(writer, "write", event);
    name_op(writer, event->op);
    fprintf(writer->file, ",\"by\":\"backend\",\"at\":%u", op.elements > SHOWN ? 0 : event->at);
    bits_write(writer, "bits", op.dtype, &bits, 1);
    fputs("}\n", writer->file);
}

static void write_fail(const struct writer *writer, const struct conform_event *event)
{
    begin(writer, "fail", event);
    name_op(writer, event->op);
    if (event->code == -ALAR_E_TIMEOUT && event->call == 0) {
        fputs(",\"error\":\"timeout\"}\n", writer->file);
        return;
    }
    fprintf(writer->file, ",\"error\":\"%s\",\"text\":\"%s answered %d\"}\n",
            event->code < 0 ? alar_status_name((enum alar_status) - event->code) : "positive",
            conform_call_names[event->call], event->code);
}

static void write_answer(const struct writer *writer, const struct conform_event *event)
{
    FILE *file = writer->file;

    begin(writer, "answer", event);
    if (event->op != UINT32_MAX) {
        name_op(writer, event->op);
    }
    fprintf(file, ",\"call\":\"%s\"", conform_call_names[event->call]);
    if (event->told > 0) {
        fprintf(file, ",\"told\":\"%s\"", told_names[event->told]);
    }
    if (event->has_code) {
        fprintf(file, ",\"code\":%d", event->code);
    }
    if (event->has_done) {
        fprintf(file, ",\"done\":%s", event->done ? "true" : "false");
    }
    if (event->has_gave) {
        fprintf(file, ",\"gave\":%d", event->gave);
    }
    if (event->call == CONFORM_ALLREDUCE && event->has_code) {
        fprintf(file, ",\"pending\":%u", event->pending);
    }
    if (event->took > 0) {
        fprintf(file, ",\"took\":%" PRIu64, event->took);
    }
    if (event->limit > 0) {
        fprintf(file, ",\"limit\":%" PRIu64, event->limit);
    }
    if (event->deadline > 0) {
        fprintf(file, ",\"deadline\":%" PRIu64, event->deadline);
    }
    if (event->outside > 0) {
        fprintf(file, ",\"outside\":%u", event->outside);
    }
    if (event->gone > 0) {
        fprintf(file, ",\"gone\":\"%s\"", gone_names[event->gone]);
    }
    fputs("}\n", file);
}

static void write_event(const struct writer *writer, const struct conform_event *event)
{
    switch (event->kind) {
    case EVENT_ISSUE:
        write_issue(writer, event);
        break;
    case EVENT_WAIT:
        begin(writer, "wait", event);
        name_op(writer, event->op);
        fputs(",\"done\":false}\n", writer->file);
        break;
    case EVENT_DONE:
        write_done(writer, event);
        break;
    case EVENT_FAIL:
        write_fail(writer, event);
        break;
    case EVENT_REWRITTEN:
        write_rewritten(writer, event);
        break;
    default:
        write_answer(writer, event);
        break;
    }
}

/* ---- the file ----------------------------------------------------------------------------------
 */

/* Of a rank that issued nothing there is no operation to name. */
static bool is_written(const struct writer *writer, const struct conform_event *event)
{
    return event->scene == writer->extract->scene &&
           (event->op == UINT32_MAX || is_kept(writer->extract, event->op));
}

/* A rank with something pending has no regular end, nor one that gave up in between. */
static bool is_open(const struct writer *writer)
{
    const struct conform_seat *seat = &writer->extract->shared->seat[writer->rank];
    uint32_t issued = 0;
    uint32_t over = 0;
    bool is_cut = conform_extract_is_cut(writer->extract);

    for (uint32_t e = 0; e < seat->events; e++) {
        if (is_written(writer, &seat->event[e])) {
            issued += seat->event[e].kind == EVENT_ISSUE;
            over += seat->event[e].kind == EVENT_DONE || seat->event[e].kind == EVENT_FAIL;
        }
    }
    return is_cut || over < issued;
}

static void write_header(const struct writer *writer)
{
    static const char *const adder_names[] = {ALAR_ADDER_TERMS(ALAR_TERM_NAME)};
    const struct conform_shared *shared = writer->extract->shared;
    const struct alar_caps *caps = &shared->caps;
    FILE *file = writer->file;

    fprintf(
        file,
        "{\"ev\":\"trace\",\"v\":1,\"world\":%u,\"backend\":\"%s\",\"tag\":\"alar conform, scene "
        "%u\",\"clock\":\"ticks\",\"wait\":\"%s\",\"order\":\"%s\"",
        shared->ranks, shared->name, shared->first_scene + writer->extract->scene,
        caps->wait_kind == ALAR_WAIT_STREAM ? "stream" : "blocking",
        caps->has_fixed_order ? "fixed" : "free");
    if (caps->tree_height > 0) {
        fprintf(file, ",\"height\":%u", caps->tree_height);
    }
    if (caps->tree[0] != '\0') {
        fprintf(file, ",\"tree\":\"%s\"", caps->tree);
    }
    if (caps->adder > 0 && caps->adder < ALAR_ADDER_COUNT) {
        fprintf(file, ",\"adder\":\"%s\"", adder_names[caps->adder]);
    }
    if (caps->width > 0 && caps->width <= ALAR_DTYPE_COUNT) {
        fprintf(file, ",\"width\":\"%s\"", alar_dtype_name((enum alar_dtype)(caps->width - 1)));
    }
    if (caps->avg < 5 && caps->nan < 4) {
        fprintf(file, ",\"avg\":\"%s\",\"nan\":\"%s\"", alar_avg_names[caps->avg],
                alar_nan_names[caps->nan]);
    }
    fprintf(file,
            ",\"outstanding\":%u,\"in_place\":%s,\"allows_empty\":%s,\"needs_progress\":%s,"
            "\"can_block\":%s}\n",
            caps->outstanding_max, caps->is_in_place ? "true" : "false",
            caps->allows_empty ? "true" : "false", caps->needs_progress ? "true" : "false",
            caps->can_block ? "true" : "false");
}

static void write_groups(const struct writer *writer)
{
    uint32_t ranks = writer->extract->shared->ranks;
    const struct {
        enum conform_group group;
        uint32_t of;
    } groups[] = {{GROUP_HALF, 0}, {GROUP_HALF, ranks - 1}, {GROUP_PARITY, 0}, {GROUP_PARITY, 1}};

    for (size_t g = 0; ranks >= 3 && g < sizeof(groups) / sizeof(groups[0]); g++) {
        int32_t members[CONFORM_RANKS_MAX];
        uint32_t member = 0;
        uint32_t count = conform_members(groups[g].group, ranks, groups[g].of, members, &member);

        fprintf(writer->file, "{\"ev\":\"declare\",\"group\":\"%s\",\"members\":[",
                conform_group_name(groups[g].group, ranks, groups[g].of));
        for (uint32_t m = 0; m < count; m++) {
            fprintf(writer->file, "%s%d", m > 0 ? "," : "", members[m]);
        }
        fputs("]}\n", writer->file);
    }
}

static uint64_t time_first(const struct conform_extract *extract)
{
    uint64_t first = UINT64_MAX;

    for (uint32_t r = 0; r < extract->shared->ranks; r++) {
        const struct conform_seat *seat = &extract->shared->seat[r];

        for (uint32_t e = 0; e < seat->events; e++) {
            if (seat->event[e].scene == extract->scene && seat->event[e].t < first) {
                first = seat->event[e].t;
            }
        }
    }
    return first;
}

enum alar_status conform_history_write(const struct conform_extract *extract, const char *path)
{
    struct writer writer = {.extract = extract,
                            .scene = &extract->shared->scene[extract->scene],
                            .file = fopen(path, "w"),
                            .since = time_first(extract)};

    if (writer.file == NULL) {
        return ALAR_E_IO;
    }
    conform_extract_number(extract);
    write_header(&writer);
    write_groups(&writer);
    for (writer.rank = 0; writer.rank < extract->shared->ranks; writer.rank++) {
        const struct conform_seat *seat = &extract->shared->seat[writer.rank];

        for (uint32_t e = 0; e < seat->events; e++) {
            if (is_written(&writer, &seat->event[e])) {
                write_event(&writer, &seat->event[e]);
            }
        }
        if (!is_open(&writer)) {
            fprintf(writer.file, "{\"ev\":\"end\",\"rank\":%u}\n", writer.rank);
        }
    }
    bool is_lost = ferror(writer.file) != 0;
    return fclose(writer.file) != 0 || is_lost ? ALAR_E_IO : ALAR_OK;
}
