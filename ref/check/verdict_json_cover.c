/* What a verdict covers, as JSON: how values came about, what they could have shown, what was seen.
 */
#include "check/verdict_json_cover.h"

#include "api/terms.h"
#include "sys/json_gen.h"

#include <stdio.h>

void verdict_json_provenance(yajl_gen json, const struct alar_provenance *from)
{
    char name[ALAR_TREE_NAME_MAX];

    alar_gen_text(json, "provenance");
    yajl_gen_map_open(json);
    alar_gen_text(json, "trees");
    yajl_gen_array_open(json);
    for (uint32_t k = 0; k < from->names && k < ALAR_NAMES_MAX; k++) {
        alar_tree_name_print(from->name[k], name);
        alar_gen_text(json, name);
    }
    yajl_gen_array_close(json);
    alar_gen_key_count(json, "named", from->named);
    alar_gen_key_count(json, "chunked", from->chunked);
    alar_gen_text(json, "elements");
    yajl_gen_map_open(json);
    for (unsigned proof = 0; proof < ALAR_PROOF_UNDECIDED; proof++) {
        alar_gen_key_count(json, alar_proof_name((enum alar_proof)proof), from->element[proof]);
    }
    yajl_gen_map_close(json);
    yajl_gen_map_close(json);
}

/* What the operations with legal values could have shown. */
void verdict_json_power(yajl_gen json, const struct alar_reveal *reveal)
{
    alar_gen_text(json, "power");
    yajl_gen_map_open(json);
    alar_gen_key_count(json, "operations", reveal->operations);
    alar_gen_key_count(json, "unasked", reveal->unasked);
    alar_gen_key_count(json, "vacuous", reveal->vacuous);
    alar_gen_key_count(json, "ranks", reveal->ranks);
    alar_gen_key_count(json, "missing_seen", reveal->drops);
    alar_gen_key_count(json, "doubled_seen", reveal->doubles);
    yajl_gen_map_close(json);
}

/* What all reports without a declared normalization fit. */
void verdict_json_fits(yajl_gen json, const struct alar_verdict *verdict)
{
    char name[64];

    alar_gen_key_count(json, "reports_undeclared", verdict->reports_undeclared);
    alar_gen_text(json, "reports_fit");
    yajl_gen_array_open(json);
    for (unsigned fit = 0; fit < ALAR_NORMALIZATION_COUNT * ALAR_OVER_COUNT; fit++) {
        if (verdict->reports_fit >> fit & 1) {
            snprintf(name, sizeof name, "%s over %s",
                     alar_normalization_names[fit / ALAR_OVER_COUNT],
                     alar_over_names[fit % ALAR_OVER_COUNT]);
            alar_gen_text(json, name);
        }
    }
    yajl_gen_array_close(json);
}

/* What its recorder says that it sees; null when it does not say. */
void verdict_json_sees(yajl_gen json, const struct alar_verdict *verdict)
{
    alar_gen_text(json, "sees");
    if (!verdict->has_sees) {
        yajl_gen_null(json);
        return;
    }
    yajl_gen_array_open(json);
    for (unsigned k = 0; k < ALAR_SEES_COUNT; k++) {
        if (verdict->sees >> k & 1) {
            alar_gen_text(json, alar_sees_word(k));
        }
    }
    yajl_gen_array_close(json);
}
