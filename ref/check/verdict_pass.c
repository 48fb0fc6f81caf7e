/* What a PASS covers, in plain words, and how its values came about. */
#include "check/verdict_state.h"

enum {
    PASS_REPORTS = 512
};

/* Which of the things that can be seen were not, or that nobody said. spec: O-116 */
static void say_sees(struct verdict_phrase *phrase, const struct alar_verdict *verdict)
{
    bool is_first = true;

    if (!verdict->has_headers) {
        return;
    }
    if (!verdict->has_sees) {
        verdict_say(phrase, "; what its recorder can't see is not said");
        return;
    }
    for (unsigned k = 0; k < ALAR_SEES_COUNT; k++) {
        if ((verdict->sees >> k & 1) == 0) {
            verdict_say(phrase, "%s%s", is_first ? "; not seen by its recorder: " : ", ",
                        alar_sees_text(k));
            is_first = false;
        }
    }
}

/* What the inputs could have shown. spec: N-21 */
static void say_reveal(struct verdict_phrase *phrase, const struct alar_verdict *verdict)
{
    const struct alar_reveal *reveal = &verdict->reveal;

    if (reveal->operations == 0) {
        verdict_say(phrase,
                    reveal->unasked ? "; what a missing rank would have shown is not known" : "");
        return;
    }
    if (reveal->drops == 0) {
        verdict_say(phrase, "; vacuous: no missing rank would have shown");
    } else if (reveal->drops < reveal->ranks) {
        verdict_say(phrase, "; a missing rank would have shown for %llu of %llu contributions",
                    (unsigned long long)reveal->drops, (unsigned long long)reveal->ranks);
    } else if (reveal->unasked == 0) {
        verdict_say(phrase, "; any missing rank would have shown");
    } else {
        verdict_say(phrase, "; any missing rank would have shown in %llu of %llu operations",
                    (unsigned long long)reveal->operations,
                    (unsigned long long)(reveal->operations + reveal->unasked));
    }
}

void verdict_say_pass(struct verdict_phrase *phrase, const struct alar_verdict *verdict)
{
    char reports[PASS_REPORTS];

    verdict_say(phrase, "%llu of %llu operations judged, same %s on all ranks, all values legal",
                (unsigned long long)verdict->judged, (unsigned long long)verdict->operations,
                verdict->payloads ? "values" : "bits");
    if (verdict->payloads) {
        verdict_say(phrase, " (in %llu NaNs of different payloads)",
                    (unsigned long long)verdict->payloads);
    }
    if (verdict->given_up) {
        verdict_say(phrase, " (%llu were given up by ranks that ended with a code)",
                    (unsigned long long)verdict->given_up);
    }
    if (verdict->prefixes) {
        verdict_say(phrase, " (of %llu only the first elements, which is what was recorded)",
                    (unsigned long long)verdict->prefixes);
    }
    if (verdict->empty) {
        verdict_say(phrase, " (%llu had no element)", (unsigned long long)verdict->empty);
    }
    if (verdict->called) {
        verdict_say(phrase,
                    " (of %llu, no all-reduces, the calls alone were compared; the first: %s)",
                    (unsigned long long)verdict->called, verdict->refusal);
    }
    alar_verdict_reports(verdict, reports, sizeof reports);
    verdict_say(phrase, "%s", reports);
    say_reveal(phrase, verdict);
    say_sees(phrase, verdict);
    if (verdict->lacks_names) {
        verdict_say(phrase, "; more storage than is told apart: what was misspelt or freed of it "
                            "was not judged");
    }
    if (verdict->twins_same + verdict->twins_legal) {
        verdict_say(phrase, "; twin: same bits %llu, other legal bits %llu",
                    (unsigned long long)verdict->twins_same,
                    (unsigned long long)verdict->twins_legal);
    }
    for (unsigned a = 0; a < ALAR_ANOMALY_COUNT; a++) {
        if (a == ALAR_ANOMALY_CALL_REFUSED && verdict->found[a]) {
            verdict_say_refused(phrase, verdict);
        } else if (verdict->found[a]) {
            verdict_say(phrase, "; note: %s, %llu time%s", alar_anomaly_name((enum alar_anomaly)a),
                        (unsigned long long)verdict->found[a], verdict->found[a] == 1 ? "" : "s");
        }
    }
}

/* The order in which values were added up, as far as it shows. */
void verdict_say_provenance(struct verdict_phrase *phrase, const struct alar_provenance *from)
{
    const struct {
        uint64_t count;
        const char *words;
    } rows[] = {
        {from->named, "operations each by some named tree"},
        {from->chunked, "operations in chunks, as a ring"},
        {from->element[ALAR_PROOF_ONLY], "values are the only legal ones"},
        {from->element[ALAR_PROOF_ORDERED], "values by some tree in the order of ranks"},
        {from->element[ALAR_PROOF_ANY], "values by some tree over some order"},
        {from->element[ALAR_PROOF_HULL], "values inside the hull of any order"},
        {from->element[ALAR_PROOF_BOUND], "values inside the proven bound"},
    };
    char name[ALAR_TREE_NAME_MAX];
    bool is_first = true;

    for (uint32_t k = 0; k < from->names && k < ALAR_NAMES_MAX; k++) {
        alar_tree_name_print(from->name[k], name);
        verdict_say(phrase, "%s%s", k ? " = " : "", name);
    }
    verdict_say(phrase, from->names > ALAR_NAMES_MAX ? " = ..." : "");
    for (size_t k = 0; from->names == 0 && k < sizeof rows / sizeof *rows; k++) {
        if (rows[k].count) {
            verdict_say(phrase, "%s%llu %s", is_first ? "" : "; ",
                        (unsigned long long)rows[k].count, rows[k].words);
            is_first = false;
        }
    }
}
