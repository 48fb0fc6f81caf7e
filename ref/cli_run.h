/* How the command line shows a run. */
#ifndef ALAR_CLI_RUN_H
#define ALAR_CLI_RUN_H

#include "run.h"

extern const struct alar_run_view alar_cli_run_view;

#endif
