/* Why a command left no recording. */
#ifndef ALAR_RECORD_BLAME_H
#define ALAR_RECORD_BLAME_H

#include "record/record_launch.h"

#include <stddef.h>

/* Looks at the program that the command of `count` words starts, and writes the cause into `text`:
   "./prog is linked statically, ...". */
void alar_launch_blame(const struct alar_launch *launch, char *const *command, int count,
                       char *text, size_t bytes);

#endif
