/* The same verdict as data: one JSON object on one line. */
#include "check/verdict_json_cover.h"
#include "check/verdict_state.h"

#include "api/terms.h"
#include "sys/json_gen.h"

#include <string.h>

static void json_bits(yajl_gen json, enum alar_dtype dtype, uint64_t bits)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%0*llx", (int)(2 * alar_dtype_bytes(dtype)),
             (unsigned long long)bits);
    alar_gen_text(json, digits);
}

static void json_key_bits(yajl_gen json, const char *key, enum alar_dtype dtype, uint64_t bits)
{
    alar_gen_text(json, key);
    json_bits(json, dtype, bits);
}

static void json_key_list(yajl_gen json, const char *key, const struct alar_list *list)
{
    alar_gen_text(json, key);
    yajl_gen_array_open(json);
    for (uint32_t k = 0; k < list->count && k < ALAR_LIST_MAX; k++) {
        yajl_gen_integer(json, (long long)list->item[k]);
    }
    yajl_gen_array_close(json);
}

static void json_place(yajl_gen json, const struct alar_history_files *files,
                       struct alar_place place)
{
    if (place.line > 0 && place.file < files->count) {
        alar_gen_key_text(json, "file", files->path[place.file]);
        alar_gen_key_count(json, "line", place.line);
    }
}

static void json_witness(yajl_gen json, const struct alar_history_files *files,
                         const struct alar_evidence *evidence,
                         const struct alar_witness_event *witness)
{
    char text[WORDS_BYTES] = "";
    struct verdict_phrase phrase = {text, sizeof text, 0};

    verdict_say_witness(&phrase, evidence, witness);
    yajl_gen_map_open(json);
    alar_gen_key_text(json, "says", text);
    alar_gen_key_text(json, "ev", alar_record_name(witness->record));
    alar_gen_key_count(json, "rank", witness->rank);
    json_place(json, files, witness->place);
    if (witness->has_t) {
        alar_gen_key_signed(json, "t", witness->t);
    }
    if (witness->is_backend) {
        alar_gen_key_text(json, "by", "backend");
    }
    if (witness->n > 0) {
        alar_gen_key_count(json, "n", witness->n);
    }
    if (witness->src[0]) {
        alar_gen_key_text(json, "src", witness->src);
    }
    if (witness->shown > 0) {
        alar_gen_key_signed(json, "at", witness->at);
        alar_gen_text(json, "bits");
        yajl_gen_array_open(json);
        for (uint32_t k = 0; k < witness->shown; k++) {
            json_bits(json, witness->dtype, witness->bits[k]);
        }
        yajl_gen_array_close(json);
    }
    yajl_gen_map_close(json);
}

/* What is known of a report that is wrong. */
static void json_report(yajl_gen json, const struct alar_evidence *evidence)
{
    static const char *const counts[] = {"", "tokens", "nonfinite", "empty"};

    if (evidence->count != ALAR_REPORT_COUNT_NONE) {
        alar_gen_key_text(json, "count", counts[evidence->count]);
        alar_gen_key_count(json, "count_shown", evidence->count_shown);
        alar_gen_key_count(json, "count_due", evidence->count_due);
    }
    if (evidence->microbatch >= 0) {
        alar_gen_key_signed(json, "microbatch", evidence->microbatch);
    }
    if (evidence->is_report) {
        alar_gen_text(json, "also_fits");
        yajl_gen_array_open(json);
        for (unsigned a = 0; a < ALAR_ANOMALY_COUNT; a++) {
            if (evidence->fits[a / 64] >> a % 64 & 1) {
                alar_gen_text(json, alar_anomaly_name((enum alar_anomaly)a));
            }
        }
        yajl_gen_array_close(json);
    }
}

/* How far the ranks came. */
static void json_standing(yajl_gen json, const struct alar_evidence *evidence)
{
    alar_gen_text(json, "standing");
    yajl_gen_array_open(json);
    for (uint32_t k = 0; k < evidence->standing_count; k++) {
        yajl_gen_map_open(json);
        alar_gen_key_count(json, "rank", evidence->standing[k].rank);
        alar_gen_key_text(json, "is", alar_standing_text(evidence->standing[k].kind));
        alar_gen_key_text(json, "last", alar_record_name(evidence->standing[k].last));
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}

static void json_numbers(yajl_gen json, const struct alar_evidence *evidence)
{
    if (evidence->element >= 0) {
        alar_gen_key_signed(json, "element", evidence->element);
    }
    if (evidence->has_found) {
        alar_gen_key_text(json, "dtype", alar_dtype_name(evidence->dtype));
        json_key_bits(json, "found", evidence->dtype, evidence->found);
    }
    if (evidence->has_range) {
        json_key_bits(json, "lowest", evidence->dtype, evidence->lowest);
        json_key_bits(json, "highest", evidence->dtype, evidence->highest);
    }
    alar_gen_text(json, "amount");
    yajl_gen_array_open(json);
    yajl_gen_integer(json, (long long)evidence->amount[0]);
    yajl_gen_integer(json, (long long)evidence->amount[1]);
    yajl_gen_array_close(json);
    for (unsigned k = 0; k < 3; k++) {
        static const char *const keys[] = {"name", "other_name", "third_name"};

        if (evidence->name[k][0]) {
            alar_gen_key_text(json, keys[k], evidence->name[k]);
        }
    }
    json_report(json, evidence);
}

static void json_explanation(yajl_gen json, const struct alar_evidence *evidence,
                             const struct alar_explanation *why)
{
    char text[WORDS_BYTES] = "";
    struct verdict_phrase phrase = {text, sizeof text, 0};

    verdict_say_explanation(&phrase, evidence, why);
    yajl_gen_map_open(json);
    alar_gen_key_text(json, "says", text);
    alar_gen_key_text(json, "cause", alar_cause_name(why->cause));
    alar_gen_key_count(json, "tier", alar_cause_tier(why->cause));
    if (why->cause == ALAR_CAUSE_SUBSET) {
        alar_gen_text(json, "ranks");
        yajl_gen_array_open(json);
        for (uint32_t m = 0; m < ALAR_LIST_MAX; m++) {
            if (why->subset >> m & 1) {
                yajl_gen_integer(json, evidence->member[m]);
            }
        }
        yajl_gen_array_close(json);
    } else if (alar_cause_has_rank(why->cause)) {
        alar_gen_key_count(json, "rank", why->rank);
    }
    if (why->cause == ALAR_CAUSE_WIDTH) {
        alar_gen_key_text(json, "dtype", alar_dtype_name((enum alar_dtype)why->other));
    } else if (why->cause == ALAR_CAUSE_REDUCTION) {
        alar_gen_key_text(json, "red", alar_reduction_names[why->other]);
    } else if (why->cause == ALAR_CAUSE_MODEL) {
        alar_gen_key_text(json, "model", alar_model_name((enum alar_model)why->other));
    } else if (why->cause == ALAR_CAUSE_COUNT_OFF || why->cause == ALAR_CAUSE_REPLACED) {
        alar_gen_key_count(json, why->cause == ALAR_CAUSE_REPLACED ? "by" : "count", why->other);
    } else if (why->cause == ALAR_CAUSE_FLIPPED || why->cause == ALAR_CAUSE_RESULT_FLIPPED) {
        alar_gen_key_count(json, "bit", why->other);
    }
    alar_gen_key_text(json, "rung", alar_proof_name(why->proof));
    yajl_gen_map_close(json);
}

static void json_diagnosis(yajl_gen json, const struct alar_evidence *evidence)
{
    const struct alar_diagnosis *diagnosis = &evidence->diagnosis;

    alar_gen_text(json, "diagnosis");
    yajl_gen_map_open(json);
    alar_gen_text(json, "unique");
    yajl_gen_bool(json, diagnosis->is_unique);
    alar_gen_text(json, "complete");
    yajl_gen_bool(json, diagnosis->cut == 0);
    alar_gen_text(json, "torn");
    yajl_gen_bool(json, evidence->is_torn);
    alar_gen_key_count(json, "fit", diagnosis->count);
    alar_gen_text(json, "explanations");
    yajl_gen_array_open(json);
    for (uint32_t k = 0; k < diagnosis->kept; k++) {
        json_explanation(json, evidence, &diagnosis->kept_explanation[k]);
    }
    yajl_gen_array_close(json);
    yajl_gen_map_close(json);
}

static void json_finding(yajl_gen json, const struct alar_history_files *files,
                         const struct alar_verdict *verdict, const struct alar_evidence *evidence)
{
    char text[WORDS_BYTES];

    alar_verdict_finding(verdict, evidence, text, sizeof text);
    yajl_gen_map_open(json);
    alar_gen_key_text(json, "says", text);
    alar_gen_key_text(json, "anomaly", alar_anomaly_name(evidence->anomaly));
    alar_gen_key_text(json, "rule", alar_anomaly_rule(evidence->anomaly));
    if (evidence->has_op) {
        alar_gen_key_text(json, "group", evidence->group);
        alar_gen_key_count(json, "op", evidence->number);
        json_key_list(json, "ops", &evidence->ops);
    }
    if (evidence->is_report) {
        alar_gen_key_text(json, "metric", evidence->name[0]);
        json_key_list(json, "ops", &evidence->ops);
    }
    if (evidence->step >= 0) {
        alar_gen_key_signed(json, "step", evidence->step);
    }
    json_key_list(json, "ranks", &evidence->ranks);
    json_key_list(json, "joined", &evidence->joined);
    json_key_list(json, "missing", &evidence->missing);
    if (evidence->is_open) {
        alar_gen_text(json, "open");
        yajl_gen_bool(json, true);
    }
    if (evidence->is_late) {
        alar_gen_key_count(json, "late_by", evidence->late);
    }
    if (evidence->standing_count > 0) {
        json_standing(json, evidence);
    }
    json_numbers(json, evidence);
    if (evidence->has_diagnosis) {
        json_diagnosis(json, evidence);
    }
    alar_gen_text(json, "events");
    yajl_gen_array_open(json);
    for (uint32_t k = 0; k < evidence->witness_count; k++) {
        json_witness(json, files, evidence, &evidence->witness[k]);
    }
    yajl_gen_array_close(json);
    if (evidence->has_good) {
        alar_gen_key_count(json, "last_good", evidence->good);
    }
    alar_gen_key_text(json, "sentence", alar_anomaly_sentence(evidence->anomaly));
    alar_gen_key_text(json, "allowed", alar_anomaly_allowed(evidence->anomaly));
    if (evidence->excused >= 0) {
        alar_gen_key_text(json, "excused_by", verdict->fault[evidence->excused].point);
    }
    yajl_gen_map_close(json);
}

static void json_findings(yajl_gen json, const struct alar_history_files *files,
                          const struct alar_verdict *verdict, const char *key, bool notes)
{
    alar_gen_text(json, key);
    yajl_gen_array_open(json);
    for (uint32_t k = 0; k < verdict->finding_count; k++) {
        if (alar_anomaly_is_note(verdict->finding[k].anomaly) == notes) {
            json_finding(json, files, verdict, &verdict->finding[k]);
        }
    }
    yajl_gen_array_close(json);
}

static void json_unknown(yajl_gen json, const struct alar_history_files *files,
                         const struct alar_verdict *verdict)
{
    alar_gen_text(json, "unknown");
    yajl_gen_array_open(json);
    for (unsigned u = 0; u < ALAR_UNKNOWN_COUNT; u++) {
        if (verdict->unknown[u] == 0) {
            continue;
        }
        yajl_gen_map_open(json);
        alar_gen_key_text(json, "reason", alar_unknown_text((enum alar_unknown)u));
        alar_gen_key_count(json, "times", verdict->unknown[u]);
        if (verdict->unknown_rank[u] != ALAR_RANK_ALL) {
            alar_gen_key_count(json, "rank", verdict->unknown_rank[u]);
        }
        if (u == ALAR_UNKNOWN_STORAGE) {
            alar_gen_key_text(json, "buf", verdict->stray);
        }
        if (u == ALAR_UNKNOWN_COUNTS && verdict->claimed >= 0) {
            alar_gen_key_count(json, "tokens", (uint64_t)verdict->claimed);
        }
        json_place(json, files, verdict->unknown_place[u]);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}

static void json_faults(yajl_gen json, const struct alar_history_files *files,
                        const struct alar_verdict *verdict)
{
    alar_gen_text(json, "faults");
    yajl_gen_array_open(json);
    for (uint32_t k = 0; k < verdict->fault_count && k < ALAR_FAULTS_MAX; k++) {
        yajl_gen_map_open(json);
        alar_gen_key_text(json, "point", verdict->fault[k].point);
        json_place(json, files, verdict->fault[k].place);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}

static void json_verdict(yajl_gen json, const struct alar_history_files *files,
                         const struct alar_verdict *verdict)
{
    char reason[1024];

    alar_verdict_reason(files, verdict, reason, sizeof reason);
    yajl_gen_map_open(json);
    alar_gen_key_text(json, "path", files->name);
    alar_gen_key_text(json, "verdict", alar_verdict_name(verdict->kind));
    alar_gen_key_text(json, "reason", reason);
    alar_gen_key_count(json, "events", verdict->events);
    alar_gen_key_count(json, "operations", verdict->operations);
    alar_gen_key_count(json, "judged", verdict->judged);
    alar_gen_key_count(json, "given_up", verdict->given_up);
    alar_gen_key_count(json, "empty", verdict->empty);
    alar_gen_key_count(json, "called", verdict->called);
    alar_gen_key_count(json, "prefixes", verdict->prefixes);
    alar_gen_key_count(json, "reports", verdict->reports);
    if (verdict->reports > 0) {
        alar_gen_key_count(json, "reports_judged", verdict->reports_judged);
        verdict_json_fits(json, verdict);
    }
    verdict_json_sees(json, verdict);
    alar_gen_key_count(json, "peak", verdict->peak);
    alar_gen_key_count(json, "twins_same", verdict->twins_same);
    alar_gen_key_count(json, "twins_legal", verdict->twins_legal);
    json_findings(json, files, verdict, "findings", false);
    alar_gen_key_count(json, "findings_more", alar_verdict_more(verdict));
    json_findings(json, files, verdict, "notes", true);
    json_unknown(json, files, verdict);
    verdict_json_provenance(json, &verdict->provenance);
    verdict_json_power(json, &verdict->reveal);
    json_faults(json, files, verdict);
    yajl_gen_map_close(json);
}

enum alar_status alar_unusable_json(FILE *out, const char *name, const char *error_line)
{
    yajl_gen json = yajl_gen_alloc(NULL);

    if (json == NULL) {
        return ALAR_E_NOMEM;
    }
    yajl_gen_map_open(json);
    alar_gen_key_text(json, "path", name);
    alar_gen_key_text(json, "verdict", "UNUSABLE");
    alar_gen_key_text(json, "reason", error_line);
    yajl_gen_map_close(json);
    alar_gen_write(json, out);
    return ALAR_OK;
}

enum alar_status alar_verdict_json(FILE *out, const struct alar_history_files *files,
                                   const struct alar_verdict *verdict)
{
    yajl_gen json = yajl_gen_alloc(NULL);

    if (json == NULL) {
        return ALAR_E_NOMEM;
    }
    json_verdict(json, files, verdict);
    alar_gen_write(json, out);
    return ALAR_OK;
}
