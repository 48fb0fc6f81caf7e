/* `alar faults`: lists the failure points, each with a command to try. */
#include "cli/cli.h"
#include "faults/plan.h"

#include <stdio.h>

static const char examples[] =
    "  alar faults\n"
    "  alar run --async-log-allreduce --faults faults/plans/straggler.plan --history h\n"
    "  mpiexec.mpich -n 4 fiu-run -c 'enable name=alar/rank/delay/2,failinfo=50000' alar run\n";

/* One point and its command, for rank 0, which is there in every run. */
static void point_show(const struct alar_point_row *row)
{
    printf("%s/RANK\n"
           "  models   %s\n"
           "  strikes  %s; a hit is %s\n"
           "  value    %s",
           row->name, row->models, row->site, row->hit, row->value);
    if (row->most > row->least) {
        printf(" (%lld to %lld)", (long long)row->least, (long long)row->most);
    }
    printf("\n  try      fiu-run -c 'enable name=%s/0,failinfo=%lld,onetime' \\\n"
           "               alar run --async-log-allreduce --deadline-ms 1000 --history h\n\n",
           row->name, (long long)row->example);
}

int alar_cli_faults(int argc, char **argv)
{
    const struct alar_option options[] = {{NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0}};
    const struct alar_command command = {
        .name = "faults",
        .summary = "list the failure points and how to try them",
        .options = options,
        .examples = examples,
    };
    int operands = 0;
    int code = alar_cli_options(&command, argc, argv, &operands);

    if (code >= 0) {
        return code;
    }
    for (int i = 0; i < ALAR_POINT_COUNT; i++) {
        point_show(&alar_points[i]);
    }
    puts("RANK is a number or *. In a plan (alar run --faults PLAN), a line is\n"
         "POINT RANK FIRST-HIT REPEAT VALUE: see faults/README.md.");
    return ALAR_CLASS_GOOD;
}
