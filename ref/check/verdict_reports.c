/* What is said of log lines that were recomputed. */
#include "check/verdict_text.h"

#include "api/terms.h"

/* Adds to a text of which `length` bytes are there; what does not fit is left out. */
static size_t add(char *text, size_t size, size_t length, const char *piece)
{
    int more = snprintf(text + length, size - length, "%s", piece);

    return more > 0 && (size_t)more < size - length ? length + (size_t)more : length;
}

/* Reports without a declared normalization: which ones give all their numbers. */
static void add_fits(const struct alar_verdict *verdict, char *text, size_t size, size_t length)
{
    char piece[96];

    snprintf(piece, sizeof piece,
             ", %llu of them undeclared: ", (unsigned long long)verdict->reports_undeclared);
    length = add(text, size, length, piece);
    for (unsigned fit = 0; fit < ALAR_NORMALIZATION_COUNT * ALAR_OVER_COUNT; fit++) {
        if (verdict->reports_fit >> fit & 1) {
            snprintf(piece, sizeof piece, "%s over %s, ",
                     alar_normalization_names[fit / ALAR_OVER_COUNT],
                     alar_over_names[fit % ALAR_OVER_COUNT]);
            length = add(text, size, length, piece);
        }
    }
    add(text, size, length,
        verdict->reports_fit ? "as the numbers fit" : "no one normalization fits all");
}

void alar_verdict_reports(const struct alar_verdict *verdict, char *text, size_t size)
{
    char piece[96];

    text[0] = '\0';
    if (verdict->reports == 0) {
        add(text, size, 0,
            "; no logged value was recorded: what the log makes of these sums was not judged");
        return;
    }
    snprintf(piece, sizeof piece, "; %llu of %llu reports recomputed",
             (unsigned long long)verdict->reports_judged, (unsigned long long)verdict->reports);
    size_t length = add(text, size, 0, piece);
    if (verdict->reports_undeclared > 0) {
        add_fits(verdict, text, size, length);
    }
}
