/* Claims: a true one costs nothing, a false one ends the program at once. */
#include "base/check.h"

#include <criterion/criterion.h>
#include <signal.h>

Test(check, true_claims_pass)
{
    PRE(1 < 2);
    POST(IMPLIES(1 == 2, 2 == 3));
    INV("one is one", 1 == 1);
}

Test(check, a_broken_precondition_ends_the_program, .signal = SIGABRT)
{
    PRE(2 < 1);
}

Test(check, a_broken_invariant_ends_the_program, .signal = SIGABRT)
{
    INV("one is two", 1 == 2);
}

/* Unit builds run the clauses that cost time in the size of a struct; others leave them out. */
Test(check, deep_clauses_run_in_this_build, .signal = SIGABRT)
{
    DEEP(alar_check_failed("invariant", "deep", __FILE__, __LINE__));
}
