/* Parts of the JSON of a verdict that say what it covers, private to verdict_json*.c. */
#ifndef ALAR_VERDICT_JSON_COVER_H
#define ALAR_VERDICT_JSON_COVER_H

#include "judge/verdict.h"

#include <yajl/yajl_gen.h>

void verdict_json_provenance(yajl_gen json, const struct alar_provenance *from);
void verdict_json_power(yajl_gen json, const struct alar_reveal *reveal);
void verdict_json_fits(yajl_gen json, const struct alar_verdict *verdict);
void verdict_json_sees(yajl_gen json, const struct alar_verdict *verdict);

#endif
