/* `alar cost`: what a history's all-reduces cost, and who was late. */
#include "cli/cli_timeline.h"
#include "cost/cost_text.h"

static const char *const formats[] = {"text", "csv", "json", "svg", NULL};

struct cost_options {
    int format;
    const char *output;
    bool is_compare;
};

static int cost_write(const struct cost_options *options, FILE *out, const char *name,
                      const struct alar_cost *cost)
{
    enum alar_status status = ALAR_OK;

    switch (options->format) {
    case 1:
        alar_cost_csv(out, cost);
        break;
    case 2:
        status = alar_cost_json(out, name, cost);
        break;
    case 3:
        alar_cost_svg(out, name, cost);
        break;
    default:
        alar_cost_text(out, name, cost);
    }
    return (int)alar_status_class(status);
}

/* Accounts for one history, or for two side by side, and writes it. */
static int cost_histories(const struct cost_options *options, int count, char **path)
{
    struct cli_look look[2] = {0};
    struct alar_cost cost[2] = {0};
    int code = -1;

    for (int k = 0; k < count && code < 0; k++) {
        code = cli_look_open(&look[k], "cost", path[k], NULL, NULL);
        if (code < 0 && alar_cost_account(&look[k].timeline, &cost[k]) != ALAR_OK) {
            code = alar_cli_complain("cost", "expected enough memory, found too little");
        }
    }
    FILE *out = code < 0 ? cli_output_open("cost", options->output, look, count) : NULL;
    if (out != NULL && count == 2) {
        alar_cost_compare(out, (const char *[2]){look[0].files->name, look[1].files->name}, cost);
        code = cli_output_close("cost", options->output, out);
    } else if (out != NULL) {
        code = cost_write(options, out, look[0].files->name, &cost[0]);
        int closed = cli_output_close("cost", options->output, out);
        code = code != 0 ? code : closed;
    }
    for (int k = 0; k < count; k++) {
        alar_cost_free(&cost[k]);
        cli_look_close(&look[k]);
    }
    return code < 0 ? ALAR_CLASS_UNUSABLE : code;
}

int alar_cli_cost(int argc, char **argv)
{
    struct cost_options cost = {0};
    int count;
    const struct alar_option options[] = {
        {"format", ALAR_OPTION_CHOICE, &cost.format, "text|csv|json|svg",
         "a table [text], or a picture", formats, 0, 0},
        {"compare", ALAR_OPTION_FLAG, &cost.is_compare, NULL, "two histories side by side", NULL, 0,
         0},
        {"output", ALAR_OPTION_TEXT, &cost.output, "FILE", "where to [standard output]", NULL, 0,
         0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {
        .name = "cost",
        .summary = "say what the all-reduces of a history cost, and who was late",
        .operands = "HISTORY | --compare A B",
        .options = options,
        .examples =
            "  alar cost run/\n"
            "  alar cost --format svg -o cost.svg run/\n"
            "  alar cost --compare waited-at-the-step/ waited-at-the-log-line/\n\n"
            "Times are those of the history. The interval of who is last is Wilson's, 95 %;\n"
            "a rank is chronic when it is last more often than its turn at 99.9 %, too.\n",
    };
    int code = alar_cli_options(&command, argc, argv, &count);

    if (code >= 0) {
        return code;
    }
    if (cost.is_compare && cost.format != 0) {
        return alar_cli_complain("cost", "expected --compare without --format");
    }
    if (count != (cost.is_compare ? 2 : 1)) {
        return alar_cli_complain("cost", cost.is_compare ? "expected two histories with --compare"
                                                         : "expected one history");
    }
    return cost_histories(&cost, count, argv + 1);
}
