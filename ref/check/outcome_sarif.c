/* Outcomes as SARIF 2.1.0: a result per finding, at the line of the history that shows it. */
#include "check/outcome.h"

#include "check/verdict_text.h"
#include "sys/json_gen.h"

static void sarif_message(yajl_gen json, const char *text)
{
    alar_gen_text(json, "message");
    yajl_gen_map_open(json);
    alar_gen_key_text(json, "text", text);
    yajl_gen_map_close(json);
}

static void sarif_location(yajl_gen json, const char *path, uint32_t line)
{
    alar_gen_text(json, "locations");
    yajl_gen_array_open(json);
    yajl_gen_map_open(json);
    alar_gen_text(json, "physicalLocation");
    yajl_gen_map_open(json);
    alar_gen_text(json, "artifactLocation");
    yajl_gen_map_open(json);
    alar_gen_key_text(json, "uri", path);
    yajl_gen_map_close(json);
    alar_gen_text(json, "region");
    yajl_gen_map_open(json);
    alar_gen_key_count(json, "startLine", line > 0 ? line : 1);
    yajl_gen_map_close(json);
    yajl_gen_map_close(json);
    yajl_gen_map_close(json);
    yajl_gen_array_close(json);
}

static void sarif_result(yajl_gen json, const char *rule, const char *text, const char *path,
                         uint32_t line)
{
    yajl_gen_map_open(json);
    alar_gen_key_text(json, "ruleId", rule);
    alar_gen_key_text(json, "level", "error");
    sarif_message(json, text);
    sarif_location(json, path, line);
    yajl_gen_map_close(json);
}

/* A finding stands at the event that shows it: the last of its witnesses. */
static void sarif_finding(yajl_gen json, const struct alar_outcome *outcome,
                          const struct alar_evidence *evidence)
{
    struct alar_place place = {0, 0};
    char text[1024];

    if (evidence->witness_count > 0) {
        place = evidence->witness[evidence->witness_count - 1].place;
    }
    alar_verdict_finding(outcome->verdict, evidence, text, sizeof text);
    sarif_result(json, alar_anomaly_name(evidence->anomaly), text,
                 place.line > 0 && place.file < outcome->files->count
                     ? outcome->files->path[place.file]
                     : outcome->name,
                 place.line);
}

/* Opens the document as far as its list of results. */
static enum alar_status sarif_begin(struct alar_outcomes *outcomes)
{
    yajl_gen json = yajl_gen_alloc(NULL);

    outcomes->json = json;
    if (json == NULL) {
        return ALAR_E_NOMEM;
    }
    yajl_gen_map_open(json);
    alar_gen_key_text(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    alar_gen_key_text(json, "version", "2.1.0");
    alar_gen_text(json, "runs");
    yajl_gen_array_open(json);
    yajl_gen_map_open(json);
    alar_gen_text(json, "tool");
    yajl_gen_map_open(json);
    alar_gen_text(json, "driver");
    yajl_gen_map_open(json);
    alar_gen_key_text(json, "name", "alar check");
    alar_gen_key_text(json, "version", ALAR_VERSION);
    alar_gen_text(json, "rules");
    yajl_gen_array_open(json);
    for (unsigned a = 0; a < ALAR_ANOMALY_COUNT; a++) {
        yajl_gen_map_open(json);
        alar_gen_key_text(json, "id", alar_anomaly_name((enum alar_anomaly)a));
        alar_gen_text(json, "shortDescription");
        yajl_gen_map_open(json);
        alar_gen_key_text(json, "text", alar_anomaly_sentence((enum alar_anomaly)a));
        yajl_gen_map_close(json);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
    yajl_gen_map_close(json);
    yajl_gen_map_close(json);
    alar_gen_text(json, "results");
    yajl_gen_array_open(json);
    return ALAR_OK;
}

enum alar_status alar_sarif_add(struct alar_outcomes *outcomes, const struct alar_outcome *outcome)
{
    const struct alar_verdict *verdict = outcome->verdict;
    char reason[1024];

    if (outcomes->json == NULL) {
        ALAR_TRY(sarif_begin(outcomes));
    }
    if (verdict == NULL) {
        sarif_result(outcomes->json, "unusable", outcome->error_line, outcome->name, 1);
        return ALAR_OK;
    }
    if (verdict->kind == ALAR_UNKNOWN) {
        alar_verdict_reason(outcome->files, verdict, reason, sizeof reason);
        sarif_result(outcomes->json, "unknown", reason, outcome->name, 1);
    }
    for (uint32_t k = 0; k < verdict->finding_count; k++) {
        if (!alar_anomaly_is_note(verdict->finding[k].anomaly)) {
            sarif_finding(outcomes->json, outcome, &verdict->finding[k]);
        }
    }
    return ALAR_OK;
}

enum alar_status alar_sarif_end(struct alar_outcomes *outcomes)
{
    if (outcomes->json == NULL) {
        ALAR_TRY(sarif_begin(outcomes));
    }
    yajl_gen_array_close(outcomes->json);
    yajl_gen_map_close(outcomes->json);
    yajl_gen_array_close(outcomes->json);
    yajl_gen_map_close(outcomes->json);
    alar_gen_write(outcomes->json, outcomes->out);
    return ALAR_OK;
}
