/* What a broken claim does outside of tests: one line, then exit code 4. Alone in its file, so that
   a program that brings a hook of its own never pulls this one from the archive. */
#include "api/status.h"
#include "base/check.h"

#include <stdio.h>
#include <unistd.h>

_Noreturn void alar_check_failed(const char *kind, const char *claim, const char *file, int line)
{
    fprintf(stderr, "alar: %s:%d: a defect of alar: %s broken: %s\n", file, line, kind, claim);
    _exit(ALAR_CLASS_DEFECT);
}
