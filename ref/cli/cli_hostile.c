/* `alar hostile`: hostile inputs as histories that lack nothing but the results. */
#include "cli/cli.h"
#include "numbers/hostile.h"
#include "sys/json_out.h"
#include "sys/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    LINE_BYTES = 4096,
    PATH_BYTES = 4096
};

struct making {
    const char *kind; /* a name, or "all" */
    uint64_t ranks;
    uint64_t count;
    uint64_t seed;
    const char *out; /* a directory, or "-" */
    bool lists;
    uint64_t *bits;
    unsigned char *row; /* contributions of one rank, as in memory */
};

static const char examples[] = "  alar hostile --list\n"
                               "  alar hostile ledger --ranks 4 --count 3 --seed 7\n"
                               "  alar hostile all --ranks 8 -o inputs\n\n"
                               "Each line is the `issue` record of one rank. Reduce what stands in "
                               "`in`, and append, for each,\n"
                               "{\"ev\":\"done\",\"rank\":R,\"op\":K,\"out\":[...]} with the "
                               "result's bits; then: alar check FILE\n";

static void kinds_list(void)
{
    for (int i = 0; i < ALAR_HOSTILE_COUNT; i++) {
        printf("%-11s %s\n            reveals %s\n", alar_hostile_kinds[i].name,
               alar_hostile_kinds[i].what, alar_hostile_kinds[i].reveals);
    }
}

static void issue_print(struct making *making, const struct alar_hostile_input *input,
                        const struct alar_hostile_key *key, uint32_t rank, FILE *file)
{
    char line[LINE_BYTES];
    struct alar_json json = {.bytes = line, .room = sizeof(line)};
    size_t size = alar_dtype_bytes(input->dtype);

    for (uint32_t e = 0; e < input->elements; e++) {
        memcpy(making->row + e * size, &input->bits[(size_t)rank * input->elements + e], size);
    }
    alar_json_begin(&json);
    alar_json_text(&json, "ev", "issue");
    alar_json_count(&json, "rank", rank);
    alar_json_op(&json, "op", "world", key->index);
    alar_json_text(&json, "red", alar_reduction_names[input->red]);
    alar_json_text(&json, "dtype", alar_dtype_name(input->dtype));
    alar_json_elements(&json, "in",
                       (struct alar_elements){making->row, input->elements, input->dtype});
    alar_json_text(&json, "key", alar_hostile_kinds[key->kind].name);
    alar_json_end(&json);
    fwrite(line, 1, json.length, file);
}

static void hostile_print(struct making *making, enum alar_hostile kind, FILE *file)
{
    for (uint64_t k = 0; k < making->count; k++) {
        const struct alar_hostile_key key = {kind, (uint32_t)making->ranks, making->seed, k};
        struct alar_hostile_input input = {.bits = making->bits};

        alar_hostile_make(&key, &input);
        for (uint32_t r = 0; r < key.ranks; r++) {
            issue_print(making, &input, &key, r, file);
        }
    }
}

/* Writes one file a kind.
   Errors: ALAR_E_INPUT, with one line in `error_line`. */
static enum alar_status hostile_write(struct making *making, enum alar_hostile kind,
                                      char *error_line)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof(path), "%s/%s.jsonl", making->out, alar_hostile_kinds[kind].name);
    FILE *file = fopen(path, "wx");
    if (file != NULL) {
        hostile_print(making, kind, file);
    }
    if (file == NULL || fclose(file) != 0) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES, "%.300s: expected a new file, found: %s", path,
                 strerror(errno));
        return ALAR_E_INPUT;
    }
    return ALAR_OK;
}

/* The kind of that name, or all of them. */
static enum alar_status kinds_find(const struct making *making, int *first, int *last,
                                   char *error_line)
{
    const char *names[ALAR_HOSTILE_COUNT + 2] = {"all"};
    enum alar_hostile kind = ALAR_HOSTILE_LEDGER;

    if (strcmp(making->kind, "all") == 0) {
        *first = 0;
        *last = ALAR_HOSTILE_COUNT - 1;
        return ALAR_OK;
    }
    for (int i = 0; i < ALAR_HOSTILE_COUNT; i++) {
        names[i + 1] = alar_hostile_kinds[i].name;
    }
    if (alar_hostile_find(making->kind, &kind) != ALAR_OK) {
        const char *meant = alar_meant(making->kind, names);

        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "expected a kind of inputs, or all, found '%.100s'; %s%s%s", making->kind,
                 meant ? "did you mean '" : "see --list", meant ? meant : "", meant ? "'?" : "");
        return ALAR_E_INPUT;
    }
    *first = *last = (int)kind;
    return ALAR_OK;
}

static enum alar_status hostile_make(struct making *making, char *error_line)
{
    int first = 0;
    int last = 0;

    ALAR_TRY(kinds_find(making, &first, &last, error_line));
    bool is_stdout = strcmp(making->out, "-") == 0;
    if (is_stdout && first != last) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "expected one kind on standard output, found all: numbers of operations would "
                 "repeat; give -o DIR");
        return ALAR_E_INPUT;
    }
    if (!is_stdout && mkdir(making->out, 0777) != 0 && errno != EEXIST) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES, "%.300s: expected a directory, found: %s",
                 making->out, strerror(errno));
        return ALAR_E_INPUT;
    }
    for (int i = first; i <= last; i++) {
        if (is_stdout) {
            hostile_print(making, (enum alar_hostile)i, stdout);
        } else {
            ALAR_TRY(hostile_write(making, (enum alar_hostile)i, error_line));
        }
    }
    return ALAR_OK;
}

int alar_cli_hostile(int argc, char **argv)
{
    struct making making = {.ranks = 4, .count = 16, .seed = 1, .out = "-"};
    char error_line[ALAR_ERROR_LINE_BYTES];
    const struct alar_option options[] = {
        {"list", ALAR_OPTION_FLAG, &making.lists, NULL, "the kinds, and what each can reveal", NULL,
         0, 0},
        {"ranks", ALAR_OPTION_NUMBER, &making.ranks, "N", "ranks [4]", NULL, 1,
         ALAR_HOSTILE_RANKS_MAX},
        {"count", ALAR_OPTION_NUMBER, &making.count, "K", "all-reduces of each kind [16]", NULL, 1,
         1000000},
        {"seed", ALAR_OPTION_NUMBER, &making.seed, "S", "of all draws [1]", NULL, 0, UINT64_MAX},
        {"output", ALAR_OPTION_TEXT, &making.out, "DIR|-",
         "one file a kind there, or standard output [-]", NULL, 0, 0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {
        .name = "hostile",
        .summary = "make hostile inputs, as histories to be filled in",
        .operands = "KIND|all",
        .options = options,
        .examples = examples,
    };
    int operands = 0;
    int code = alar_cli_options(&command, argc, argv, &operands);

    if (code >= 0) {
        return code;
    }
    if (making.lists) {
        kinds_list();
        return ALAR_CLASS_GOOD;
    }
    if (operands != 1) {
        return alar_cli_complain("hostile", "expected one kind of inputs, or all; see --list");
    }
    making.kind = argv[1];
    making.bits = calloc(making.ranks * ALAR_HOSTILE_ELEMENTS_MAX, sizeof(*making.bits));
    making.row = calloc(ALAR_HOSTILE_ELEMENTS_MAX, sizeof(*making.bits));
    enum alar_status status =
        making.bits && making.row ? hostile_make(&making, error_line) : ALAR_E_NOMEM;
    free(making.bits);
    free(making.row);
    if (status == ALAR_E_NOMEM) {
        return alar_cli_complain("hostile", "out of memory");
    }
    return status == ALAR_OK ? ALAR_CLASS_GOOD : alar_cli_complain("hostile", error_line);
}
