/* Defects on purpose, one a test, to show that the sanitizer and valgrind gates see them although
   Criterion passes. Never part of build/unit. */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static char *volatile kept;
static volatile int sink;

Test(planted, nothing)
{
    free(malloc(8));
}

Test(planted, leak)
{
    kept = malloc(8);
    kept = NULL;
}

Test(planted, overrun)
{
    kept = malloc(8);
    memset(kept, 0, 8);
    sink = kept[8];
    free(kept);
}

Test(planted, uninitialised)
{
    kept = malloc(8);
    if (kept[3] == 7) {
        sink = 1;
    }
    free(kept);
}

Test(planted, overflow)
{
    sink = INT_MAX;
    sink = sink + 1;
}
