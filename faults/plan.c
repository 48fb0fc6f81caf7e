/* Reading a plan: every word checked, everything random drawn here and never later. */
#include "plan.h"

#include "base/rng.h"
#include "sys/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LINE_BYTES = 512,
    WORDS = 5
};

static const char *const word_names[WORDS] = {"a failure point", "a rank, * or ?",
                                              "a first hit, or a range A..B", "a repeat, or *",
                                              "a value"};

/* One line while it is read. */
struct reading {
    const char *path;
    size_t number; /* of the line, from 1 */
    const char *line;
    size_t length;
    char *word[WORDS];
    char *error_line;
};

static enum alar_status refuse(const struct reading *reading, int word, const char *expected)
{
    char where[256];
    const char *found = reading->word[word] != NULL ? reading->word[word] : "the end of the line";
    size_t column = reading->word[word] != NULL ? (size_t)(reading->word[word] - reading->line)
                                                : reading->length;

    snprintf(where, sizeof(where), "%.*s:%zu:%zu", 200, reading->path, reading->number, column + 1);
    return alar_complain(reading->error_line, where, "expected %s, found '%s'", expected, found);
}

static enum alar_status point_read(const struct reading *reading, struct alar_fault_line *line)
{
    char expected[128];

    if (alar_point_find(reading->word[0], &line->point)) {
        return ALAR_OK;
    }
    snprintf(expected, sizeof(expected), "%s (did you mean '%s'?)", word_names[0],
             alar_points[line->point].name);
    return refuse(reading, 0, expected);
}

static enum alar_status rank_read(const struct reading *reading, struct alar_fault_line *line)
{
    const char *word = reading->word[1];
    uint64_t rank = 0;

    if (strcmp(word, "*") == 0 || strcmp(word, "?") == 0) {
        line->rank = word[0] == '*' ? ALAR_FAULT_EVERY_RANK : ALAR_FAULT_SOME_RANK;
        return ALAR_OK;
    }
    if (alar_number_parse(word, 0, INT32_MAX, &rank) != ALAR_OK) {
        return refuse(reading, 1, word_names[1]);
    }
    line->rank = (int64_t)rank;
    return ALAR_OK;
}

/* "17", or "10..40": one of these, drawn. */
static enum alar_status first_read(const struct reading *reading, struct alar_rng *rng,
                                   struct alar_fault_line *line)
{
    char text[64];
    uint64_t last = 0;

    snprintf(text, sizeof(text), "%s", reading->word[2]);
    char *dots = strstr(text, "..");
    if (dots != NULL) {
        *dots = '\0';
    }
    if (alar_number_parse(text, 1, INT64_MAX, &line->first) != ALAR_OK ||
        (dots != NULL && alar_number_parse(dots + 2, line->first, INT64_MAX, &last) != ALAR_OK)) {
        return refuse(reading, 2, word_names[2]);
    }
    if (dots != NULL) {
        line->first += alar_rng_below(rng, last - line->first + 1);
    }
    return ALAR_OK;
}

static enum alar_status value_read(const struct reading *reading, struct alar_fault_line *line)
{
    const struct alar_point_row *row = &alar_points[line->point];
    char expected[192];
    uint64_t value = 0;

    if (alar_number_parse(reading->word[4], (uint64_t)row->least, (uint64_t)row->most, &value) ==
        ALAR_OK) {
        line->value = (int64_t)value;
        return ALAR_OK;
    }
    snprintf(expected, sizeof(expected), "a value (%s) from %lld to %lld", row->value,
             (long long)row->least, (long long)row->most);
    return refuse(reading, 4, expected);
}

static enum alar_status line_read(const struct reading *reading, struct alar_rng rng,
                                  struct alar_fault_line *line)
{
    line->draw = alar_rng_next(&rng);
    ALAR_TRY(point_read(reading, line));
    ALAR_TRY(rank_read(reading, line));
    ALAR_TRY(first_read(reading, &rng, line));
    line->repeat = UINT64_MAX;
    if (strcmp(reading->word[3], "*") != 0 &&
        alar_number_parse(reading->word[3], 1, INT64_MAX, &line->repeat) != ALAR_OK) {
        return refuse(reading, 3, word_names[3]);
    }
    return value_read(reading, line);
}

/* Cuts the line into words; false for one that is empty or a comment. */
static enum alar_status words_cut(struct reading *reading, char *line, bool *is_fault)
{
    int count = 0;
    char *at = line + strspn(line, " \t");

    *is_fault = *at != '\0' && *at != '#';
    while (*is_fault && *at != '\0') {
        char *end = at + strcspn(at, " \t");

        if (count == WORDS) {
            reading->word[WORDS - 1] = at;
            return refuse(reading, WORDS - 1, "the end of the line");
        }
        reading->word[count++] = at;
        at = end + strspn(end, " \t");
        *end = '\0';
    }
    return *is_fault && count < WORDS ? refuse(reading, count, word_names[count]) : ALAR_OK;
}

static enum alar_status text_read(struct alar_faults *faults, FILE *file, struct reading reading,
                                  uint64_t seed)
{
    char text[LINE_BYTES];
    bool is_fault = false;

    while (fgets(text, sizeof(text), file) != NULL) {
        struct alar_rng rng = alar_rng_stream(seed, ++reading.number);
        size_t length = strcspn(text, "\r\n");

        reading.line = text;
        reading.length = length;
        memset(reading.word, 0, sizeof(reading.word));
        if (text[length] == '\0' && length == sizeof(text) - 1) {
            return refuse(&reading, 0, "a line of less than 512 characters");
        }
        text[length] = '\0';
        ALAR_TRY(words_cut(&reading, text, &is_fault));
        if (!is_fault) {
            continue;
        }
        if (faults->line_count == ALAR_FAULT_LINES_MAX) {
            return refuse(&reading, 0, "at most 64 lines with a fault");
        }
        struct alar_fault_line *line = &faults->line[faults->line_count++];
        ALAR_TRY(line_read(&reading, rng, line));
        faults->highest_rank =
            line->rank > faults->highest_rank ? line->rank : faults->highest_rank;
    }
    return ferror(file) ? alar_complain(reading.error_line, reading.path,
                                        "expected a plan, found: %s", strerror(errno))
                        : ALAR_OK;
}

enum alar_status alar_plan_read(struct alar_faults *faults, const char *path, uint64_t seed,
                                char *error_line)
{
    FILE *file = fopen(path, "re");

    if (file == NULL) {
        return alar_complain(error_line, path, "expected a fault plan, found: %s", strerror(errno));
    }
    faults->highest_rank = faults->is_fiu ? faults->highest_rank : -1;
    faults->is_plan = true;
    enum alar_status status =
        text_read(faults, file, (struct reading){.path = path, .error_line = error_line}, seed);
    fclose(file);
    if (status == ALAR_OK && faults->line_count == 0) {
        return alar_complain(error_line, path, "expected at least one fault, found none");
    }
    return status;
}
