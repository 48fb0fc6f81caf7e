/* `alar export`: a history in somebody else's format. */
#include "cli/cli_timeline.h"
#include "timeline/perfetto.h"

int alar_cli_export(int argc, char **argv)
{
    struct cli_look look;
    const char *output = NULL;
    bool is_perfetto = false;
    int count;
    const struct alar_option options[] = {
        {"perfetto", ALAR_OPTION_FLAG, &is_perfetto, NULL,
         "a JSON trace for Perfetto and chrome://tracing", NULL, 0, 0},
        {"output", ALAR_OPTION_TEXT, &output, "FILE", "where to [standard output]", NULL, 0, 0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {
        .name = "export",
        .summary = "write a history as a trace for other tools",
        .operands = "HISTORY",
        .options = options,
        .examples = "  alar export --perfetto -o trace.json run/    then open it in Perfetto\n",
    };
    int code = alar_cli_options(&command, argc, argv, &count);

    if (code >= 0) {
        return code;
    }
    if (!is_perfetto || count != 1) {
        return alar_cli_complain("export", is_perfetto ? "expected one history"
                                                       : "expected a format: --perfetto");
    }
    code = cli_look_open(&look, "export", argv[1], NULL, NULL);
    FILE *out = code < 0 ? cli_output_open("export", output, &look, 1) : NULL;
    if (out != NULL) {
        enum alar_status status = alar_perfetto_write(out, &look.timeline, look.files->name);
        int closed = cli_output_close("export", output, out);
        code = status != ALAR_OK ? (int)alar_status_class(status) : closed;
    }
    cli_look_close(&look);
    return code < 0 ? ALAR_CLASS_UNUSABLE : code;
}
