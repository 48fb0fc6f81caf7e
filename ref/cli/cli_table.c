/* `alar table`: the handle's machine as text, Markdown, Mermaid or Graphviz, all from handle.def.
 */
#include "api/terms.h"
#include "cli/cli.h"
#include "engine/handle.h"

#include <stdio.h>

struct row {
    const char *from;
    const char *event;
    const char *to; /* NULL: refused */
    const char *why;
};

static const struct row rows[] = {
#define MOVE(from, event, to, why) {#from, #event, #to, why},
#define REFUSE(from, event, why) {#from, #event, NULL, why},
#include "engine/handle.def"
};

struct meaning {
    const char *name;
    const char *text;
};

#define MEANING(token, word, meaning) {word, meaning},
#define TERMS(title, list)              \
    {                                   \
        title, (const struct meaning[]) \
        {                               \
            list(MEANING)               \
            {                           \
                NULL, NULL              \
            }                           \
        }                               \
    }

/* The lists of terms.def under the option or field they are words of. */
static const struct {
    const char *title;
    const struct meaning *terms;
} term_lists[] = {
    TERMS("`--schedule`, second half: where a reduction is issued", ALAR_PLACEMENT_TERMS),
    TERMS("`--normalization`: what the reported number is", ALAR_NORMALIZATION_TERMS),
    TERMS("`--over`: over the steps of a log interval", ALAR_OVER_TERMS),
    TERMS("`--encoding`: what travels", ALAR_ENCODING_TERMS),
    TERMS("`--check-for-nan`: on a non-finite local loss", ALAR_CHECK_TERMS),
    TERMS("`--wait`: where handles are waited for", ALAR_WAIT_AT_TERMS),
    TERMS("`--scope`: what a context parallel rank holds", ALAR_SCOPE_TERMS),
    TERMS("`kind`: what a report makes of a metric", ALAR_METRIC_KIND_TERMS),
    TERMS("`red`: what a reduction does", ALAR_REDUCTION_TERMS),
    TERMS("`avg`: where an average divides", ALAR_AVG_TERMS),
    TERMS("`nan`: what `max` and `min` make of a NaN", ALAR_NAN_TERMS),
    TERMS("`adder`: how additions round", ALAR_ADDER_TERMS),
    TERMS("`wait` of a contract: what a wait means", ALAR_WAIT_TERMS),
    TERMS("`order` of a contract: of additions", ALAR_ORDER_TERMS),
};

static const struct meaning states[] = {
#define STATE(name, meaning) {#name, meaning},
#include "engine/handle.def"
};

static const struct meaning events[] = {
#define EVENT(name, meaning) {#name, meaning},
#include "engine/handle.def"
};

enum {
    ROW_COUNT = sizeof(rows) / sizeof(rows[0])
};

static void print_meanings(const char *title, const struct meaning *meanings, int count)
{
    printf("\n## %s\n\n| name | meaning |\n| --- | --- |\n", title);
    for (int i = 0; i < count; i++) {
        printf("| `%s` | %s |\n", meanings[i].name, meanings[i].text);
    }
}

static void print_terms(void)
{
    puts("# The words of a run\n\nGenerated from `ref/api/terms.def` by `alar table --terms`: "
         "options of `alar run` and "
         "fields of\nhistories. Enums, names and help come from the same table.");
    for (size_t i = 0; i < sizeof(term_lists) / sizeof(term_lists[0]); i++) {
        int count = 0;

        while (term_lists[i].terms[count].name != NULL) {
            count++;
        }
        print_meanings(term_lists[i].title, term_lists[i].terms, count);
    }
}

static void print_rows(const char *title, bool is_move)
{
    printf("\n## %s\n\n| in | on | to | because |\n| --- | --- | --- | --- |\n", title);
    for (int i = 0; i < ROW_COUNT; i++) {
        if ((rows[i].to != NULL) == is_move) {
            printf("| `%s` | `%s` | %s%s%s | %s |\n", rows[i].from, rows[i].event,
                   is_move ? "`" : "", is_move ? rows[i].to : "refused", is_move ? "`" : "",
                   rows[i].why);
        }
    }
}

/* A slot begins and ends free, so that is where the picture enters. */
static void print_mermaid(void)
{
    printf("stateDiagram-v2\n    [*] --> %s\n", states[0].name);
    for (int i = 0; i < ROW_COUNT; i++) {
        if (rows[i].to != NULL) {
            printf("    %s --> %s: %s\n", rows[i].from, rows[i].to, rows[i].event);
        }
    }
}

static void print_markdown(void)
{
    puts("# The life of a handle\n\n"
         "Generated from `ref/engine/handle.def` by `alar table --markdown`; the picture alone by\n"
         "`alar table --mermaid` or `--dot`. Every pair of a state and an event is here once.\n\n"
         "```mermaid");
    print_mermaid();
    puts("```");
    print_meanings("States", states, ALAR_HANDLE_STATE_COUNT);
    print_meanings("Events", events, ALAR_HANDLE_EVENT_COUNT);
    print_rows("Moves", true);
    print_rows("Refusals: nothing changes", false);
}

static void print_dot(void)
{
    puts("/* Generated from ref/engine/handle.def by `alar table --dot`. */\n"
         "digraph handle {\n    rankdir=LR;\n    node [shape=box, style=rounded];");
    for (int i = 0; i < ROW_COUNT; i++) {
        if (rows[i].to != NULL) {
            printf("    %s -> %s [label=\"%s\"];\n", rows[i].from, rows[i].to, rows[i].event);
        }
    }
    puts("}");
}

static void print_text(void)
{
    for (int i = 0; i < ROW_COUNT; i++) {
        printf("%-12s %-9s %-12s %s\n", rows[i].from, rows[i].event,
               rows[i].to ? rows[i].to : "refused", rows[i].why);
    }
}

int alar_cli_table(int argc, char **argv)
{
    bool is_markdown = false;
    bool is_dot = false;
    bool is_mermaid = false;
    bool is_terms = false;
    int operands = 0;
    const struct alar_option options[] = {
        {"markdown", ALAR_OPTION_FLAG, &is_markdown, NULL, "as a page: spec/handle.md", NULL, 0, 0},
        {"terms", ALAR_OPTION_FLAG, &is_terms, NULL, "the words of a run instead: spec/terms.md",
         NULL, 0, 0},
        {"mermaid", ALAR_OPTION_FLAG, &is_mermaid, NULL, "as a Mermaid diagram", NULL, 0, 0},
        {"dot", ALAR_OPTION_FLAG, &is_dot, NULL, "as a Graphviz graph: spec/handle.dot", NULL, 0,
         0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {
        .name = "table",
        .summary = "print the handle's state machine",
        .options = options,
        .examples = "  alar table\n  alar table --dot | dot -Tsvg > handle.svg\n",
    };
    int code = alar_cli_options(&command, argc, argv, &operands);

    if (code >= 0) {
        return code;
    }
    if (is_terms) {
        print_terms();
    } else if (is_markdown) {
        print_markdown();
    } else if (is_mermaid) {
        print_mermaid();
    } else if (is_dot) {
        print_dot();
    } else {
        print_text();
    }
    return ALAR_CLASS_GOOD;
}
