/* The parser of command lines: what it takes, and every way in which it complains. */
#include "cli/options.h"
#include "sys/parse.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum {
    WORDS_MAX = 16
};

struct parsed {
    bool is_fast;
    const char *dir;
    uint64_t ranks;
    int choice;
    int operands;
    bool wants_help;
    enum alar_status status;
    char error_line[ALAR_ERROR_LINE_BYTES];
    char *argv[WORDS_MAX];
};

static const char *const colours[] = {"red", "green", "blue", NULL};

/* Parses "alar" and the given words, which end with NULL. */
static struct parsed parse(const char *operands, const char *const *words)
{
    static struct parsed parsed;
    static char storage[WORDS_MAX][1024];
    const struct alar_option options[] = {
        {"fast", ALAR_OPTION_FLAG, &parsed.is_fast, NULL, "go fast", NULL, 0, 0},
        {"dir", ALAR_OPTION_TEXT, &parsed.dir, "DIR", "where", NULL, 0, 0},
        {"ranks", ALAR_OPTION_NUMBER, &parsed.ranks, "N", "how many", NULL, 1, 64},
        {"colour", ALAR_OPTION_CHOICE, &parsed.choice, "red|green|blue", "which", colours, 0, 0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {
        .name = "paint", .summary = "paint it", .operands = operands, .options = options};
    int argc = 1;

    parsed = (struct parsed){.dir = "default", .ranks = 4, .choice = 2, .operands = -1};
    for (int i = 0; words[i] != NULL; i++) {
        snprintf(storage[i + 1], sizeof(storage[0]), "%s", words[i]);
        parsed.argv[argc++] = storage[i + 1];
    }
    parsed.status = alar_options_parse(&command, argc, parsed.argv, &parsed.operands,
                                       &parsed.wants_help, parsed.error_line);
    return parsed;
}

#define PARSE(operands, ...) parse(operands, (const char *const[]){__VA_ARGS__, NULL})

/* An option that is not given keeps its default. */
Test(options, defaults_stay)
{
    struct parsed parsed = parse(NULL, (const char *const[]){NULL});

    cr_assert_eq(parsed.status, ALAR_OK);
    cr_assert_not(parsed.is_fast);
    cr_assert_str_eq(parsed.dir, "default");
    cr_assert_eq(parsed.ranks, 4);
    cr_assert_eq(parsed.choice, 2);
    cr_assert_eq(parsed.operands, 0);
}

/* Both ways to write a value mean the same; the last of two wins. */
Test(options, values_stand_behind_the_name_or_in_the_next_word)
{
    struct parsed a = PARSE(NULL, "--fast", "--dir=x=y", "--ranks=64", "--colour=red");
    struct parsed b = PARSE(NULL, "--dir", "z", "--dir", "x=y", "--ranks", "64", "--colour", "red");

    cr_assert_eq(a.status, ALAR_OK, "%s", a.error_line);
    cr_assert_eq(b.status, ALAR_OK, "%s", b.error_line);
    cr_assert(a.is_fast);
    cr_assert_str_eq(a.dir, "x=y");
    cr_assert_str_eq(b.dir, "x=y");
    cr_assert_eq(a.ranks, 64);
    cr_assert_eq(b.ranks, 64);
    cr_assert_eq(a.choice, 0);
    cr_assert_eq(b.choice, 0);
}

/* An empty text is a text, and a value may look like an option. */
Test(options, any_word_can_be_a_value)
{
    cr_assert_str_eq(PARSE(NULL, "--dir=").dir, "");
    cr_assert_str_eq(PARSE(NULL, "--dir", "--fast").dir, "--fast");
    cr_assert_not(PARSE(NULL, "--dir", "--fast").is_fast);
}

/* Operands are kept in order wherever they stand; `--` ends the options; `-` is an operand. */
Test(options, operands_are_kept_in_order)
{
    struct parsed parsed = PARSE("[PATH]...", "a", "--fast", "-", "--", "--dir", "b");

    cr_assert_eq(parsed.status, ALAR_OK, "%s", parsed.error_line);
    cr_assert(parsed.is_fast);
    cr_assert_eq(parsed.operands, 4);
    cr_assert_str_eq(parsed.argv[1], "a");
    cr_assert_str_eq(parsed.argv[2], "-");
    cr_assert_str_eq(parsed.argv[3], "--dir");
    cr_assert_str_eq(parsed.argv[4], "b");
}

/* Help is a wish, not an error, and ends the reading; behind `--` it is an operand. */
Test(options, help_ends_the_reading)
{
    cr_assert(PARSE(NULL, "--help", "--nonsense").wants_help);
    cr_assert(PARSE(NULL, "-h").wants_help);
    cr_assert_eq(PARSE(NULL, "-h").status, ALAR_OK);
    cr_assert_not(PARSE("[PATH]", "--", "--help").wants_help);
}

/* Every error_line is one line that says what was expected and what was found. */
Test(options, complaints_say_what_was_expected_and_found)
{
    static const struct {
        const char *words[3];
        const char *error_line;
    } table[] = {
        {{"--rnaks", "4"},
         "expected an option of 'alar paint', found '--rnaks'; did you mean '--ranks'?"},
        {{"--color=red"},
         "expected an option of 'alar paint', found '--color'; did you mean '--colour'?"},
        {{"--dirdir"},
         "expected an option of 'alar paint', found '--dirdir'; see: alar help paint"},
        {{"-fast"}, "expected an option of 'alar paint', found '-fast'; did you mean '--fast'?"},
        {{"-x"}, "expected an option of 'alar paint', found '-x'; see: alar help paint"},
        {{"--fast=yes"}, "--fast: expected no value, found 'yes'"},
        {{"--dir"}, "--dir: expected a value (DIR), found the end of the line"},
        {{"--ranks"}, "--ranks: expected a value (N), found the end of the line"},
        {{"--colour"}, "--colour: expected a value (red|green|blue), found the end of the line"},
        {{"--ranks", "four"}, "--ranks: expected a whole number from 1 to 64, found 'four'"},
        {{"--ranks", "0"}, "--ranks: expected a whole number from 1 to 64, found '0'"},
        {{"--ranks", "65"}, "--ranks: expected a whole number from 1 to 64, found '65'"},
        {{"--ranks", "-4"}, "--ranks: expected a whole number from 1 to 64, found '-4'"},
        {{"--ranks", "4.0"}, "--ranks: expected a whole number from 1 to 64, found '4.0'"},
        {{"--ranks="}, "--ranks: expected a whole number from 1 to 64, found ''"},
        {{"--ranks", "99999999999999999999"},
         "--ranks: expected a whole number from 1 to 64, found '99999999999999999999'"},
        {{"--colour", "gren"},
         "--colour: expected red|green|blue, found 'gren'; did you mean 'green'?"},
        {{"--colour="}, "--colour: expected red|green|blue, found ''"},
        {{"here"}, "expected options only, found 'here'"},
        {{"-"}, "expected options only, found '-'"},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct parsed parsed = parse(NULL, table[i].words);

        cr_assert_eq(parsed.status, ALAR_E_INPUT, "%s", table[i].words[0]);
        cr_assert_str_eq(parsed.error_line, table[i].error_line);
        cr_assert_not(parsed.wants_help);
    }
}

/* Words of any length end in one line. */
Test(options, long_words_are_cut)
{
    char word[900];

    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    word[0] = word[1] = '-';
    struct parsed parsed = PARSE(NULL, word);
    cr_assert_eq(parsed.status, ALAR_E_INPUT);
    cr_assert_lt(strlen(parsed.error_line), 200);
    parsed = PARSE(NULL, "--colour", word + 2);
    cr_assert_eq(parsed.status, ALAR_E_INPUT);
    cr_assert_lt(strlen(parsed.error_line), sizeof(parsed.error_line));
}

/* A command without options still has a word to say. */
Test(options, a_command_without_options_offers_help)
{
    const struct alar_option none = {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0};
    const struct alar_command command = {.name = "sit", .options = &none};
    char error_line[ALAR_ERROR_LINE_BYTES];
    char *argv[] = {(char[]){"sit"}, (char[]){"--down"}, NULL};
    int operands = 0;
    bool wants_help = false;

    cr_assert_eq(alar_options_parse(&command, 2, argv, &operands, &wants_help, error_line),
                 ALAR_E_INPUT);
    cr_assert_str_eq(error_line,
                     "expected an option of 'alar sit', found '--down'; see: alar help sit");
}

/* Numbers fill their whole range, and a refusal writes nothing. */
Test(options, numbers_reach_the_greatest)
{
    uint64_t number = 7;

    cr_assert_eq(alar_number_parse("18446744073709551615", 0, UINT64_MAX, &number), ALAR_OK);
    cr_assert_eq(number, UINT64_MAX);
    cr_assert_eq(alar_number_parse("18446744073709551616", 0, UINT64_MAX, &number), ALAR_E_INPUT);
    cr_assert_eq(alar_number_parse(" 1", 0, 9, &number), ALAR_E_INPUT);
    cr_assert_eq(alar_number_parse("+1", 0, 9, &number), ALAR_E_INPUT);
    cr_assert_eq(alar_number_parse("0x1", 0, 9, &number), ALAR_E_INPUT);
    cr_assert_eq(number, UINT64_MAX);
    cr_assert_eq(alar_number_parse("007", 0, 9, &number), ALAR_OK);
    cr_assert_eq(number, 7);
}

/* The nearest name by edits: insertions, deletions, substitutions. */
Test(options, nearest_counts_edits)
{
    static const char *const none[] = {NULL};

    cr_assert_eq(alar_nearest("blu", colours), 2);
    cr_assert_eq(alar_nearest("bblue", colours), 2);
    cr_assert_eq(alar_nearest("rad", colours), 0);
    cr_assert_eq(alar_nearest("blue", none), -1);
}

/* A name is suggested only when it is near: a wild guess is worse than none. */
Test(options, suggestions_have_a_limit)
{
    static const char *const names[] = {"check", "run", "record", NULL};

    cr_assert_str_eq(alar_meant("chekc", names), "check");
    cr_assert_str_eq(alar_meant("rum", names), "run");
    cr_assert_str_eq(alar_meant("recrod", names), "record");
    cr_assert_null(alar_meant("zebra", names));
    cr_assert_null(alar_meant("", names));
    cr_assert_null(alar_meant("x", (const char *const[]){NULL}));
}

/* One letter is one option, in every command that has it. */
Test(options, letters_stand_for_names)
{
    bool is_quiet = false;
    const char *output = NULL;
    const struct alar_option options[] = {
        {"output", ALAR_OPTION_TEXT, &output, "FILE", "where", NULL, 0, 0},
        {"quiet", ALAR_OPTION_FLAG, &is_quiet, NULL, "less", NULL, 0, 0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {.name = "paint", .options = options};
    char error_line[ALAR_ERROR_LINE_BYTES];
    char *words[] = {(char[]){"paint"}, (char[]){"-q"}, (char[]){"-o"}, (char[]){"a"}, NULL};
    char *joined[] = {(char[]){"paint"}, (char[]){"-ob"}, NULL};
    char *twice[] = {(char[]){"paint"}, (char[]){"-qq"}, NULL};
    int operands;
    bool wants_help = false;

    cr_assert_eq(alar_options_parse(&command, 4, words, &operands, &wants_help, error_line),
                 ALAR_OK);
    cr_assert(is_quiet);
    cr_assert_str_eq(output, "a");
    cr_assert_eq(alar_options_parse(&command, 2, joined, &operands, &wants_help, error_line),
                 ALAR_OK);
    cr_assert_str_eq(output, "b");
    cr_assert_eq(alar_options_parse(&command, 2, twice, &operands, &wants_help, error_line),
                 ALAR_E_INPUT);
    cr_assert_eq(alar_option_letter("help"), 'h');
    cr_assert_eq(alar_option_letter("dir"), '\0');
}

/* The help names every option, its argument and its words. */
Test(options, help_is_made_from_the_table)
{
    const struct alar_option options[] = {
        {"fast", ALAR_OPTION_FLAG, NULL, NULL, "go fast", NULL, 0, 0},
        {"colour", ALAR_OPTION_CHOICE, NULL, "red|green|blue|orange|violet", "which", colours, 0,
         0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {.name = "paint",
                                         .summary = "paint it",
                                         .operands = "[PATH]...",
                                         .options = options,
                                         .examples = "  alar paint\n"};
    char text[1024] = "";
    FILE *file = tmpfile();

    cr_assert_not_null(file);
    alar_options_help(&command, file);
    rewind(file);
    cr_assert_gt(fread(text, 1, sizeof(text) - 1, file), 0);
    fclose(file);
    cr_assert_str_eq(text, "alar paint: paint it\n\nusage: alar paint [OPTION]... [PATH]...\n\n"
                           "      --fast                    go fast\n"
                           "      --colour red|green|blue|orange|violet\n"
                           "                                which\n"
                           "  -h, --help                    this text\n"
                           "\nexamples:\n  alar paint\n");
}
