/* What a broken claim does in a test: one line, then SIGABRT, so that a test can expect it with
   `.signal = SIGABRT`. Weak, so that a suite may bring a hook of its own. */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

__attribute__((weak)) _Noreturn void alar_check_failed(const char *kind, const char *claim,
                                                       const char *file, int line)
{
    fprintf(stderr, "%s:%d: broken %s: %s\n", file, line, kind, claim);
    abort();
}
