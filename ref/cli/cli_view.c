/* `alar view`: a history as a page. */
#include "cli/cli_timeline.h"
#include "view/view.h"

#include <stdlib.h>

static int view_history(char *path, const char *output)
{
    struct cli_look look;
    struct alar_view_legals legals = {.timeline = &look.timeline};
    int code = cli_look_open(&look, "view", path, alar_view_legal_add, &legals);
    FILE *out = code < 0 ? cli_output_open("view", output, &look, 1) : NULL;

    if (out != NULL) {
        struct alar_view view = {look.files, &look.timeline, look.verdict, &legals};
        enum alar_status status = alar_view_write(out, &view);
        int closed = cli_output_close("view", output, out);

        if (status != ALAR_OK) {
            alar_cli_complain("view", "expected enough memory, found too little");
        }
        code = status != ALAR_OK ? (int)alar_status_class(status) : closed;
    }
    free(legals.legal);
    cli_look_close(&look);
    return code < 0 ? ALAR_CLASS_UNUSABLE : code;
}

int alar_cli_view(int argc, char **argv)
{
    const char *output = NULL;
    int count;
    const struct alar_option options[] = {
        {"output", ALAR_OPTION_TEXT, &output, "FILE", "the page; - is standard output", NULL, 0, 0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {
        .name = "view",
        .summary = "draw a history and its verdict as a page",
        .operands = "HISTORY",
        .options = options,
        .examples = "  alar view run/ -o run.html      then open run.html in a browser\n\n"
                    "The page is one file that needs nothing else. Keys are listed under ? there.\n"
                    "The exit code speaks of the page alone; the verdict is alar check's.\n",
    };
    int code = alar_cli_options(&command, argc, argv, &count);

    if (code >= 0) {
        return code;
    }
    if (count != 1) {
        return alar_cli_complain("view", "expected one history");
    }
    if (output == NULL) {
        return alar_cli_complain("view", "expected -o FILE, found none");
    }
    return view_history(argv[1], output);
}
