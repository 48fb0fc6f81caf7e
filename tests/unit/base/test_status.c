/* Status codes: every code has a name, a text and a class, and classes are ordered. */
#include "api/status.h"

#include <criterion/criterion.h>
#include <string.h>

/* A code without words would reachable the user as a number. */
Test(status, every_code_has_a_name_and_a_text)
{
    for (int code = 0; code < ALAR_STATUS_COUNT; code++) {
        cr_assert_str_neq(alar_status_name((enum alar_status)code), "?", "code %d", code);
        cr_assert(strlen(alar_status_text((enum alar_status)code)) > 0, "code %d", code);
    }
}

/* A number that is no code is a defect of ours, and never reads beyond the table. */
Test(status, a_number_that_is_no_code_is_a_defect)
{
    enum alar_status none = ALAR_STATUS_COUNT;

    cr_assert_str_eq(alar_status_name(none), "?");
    cr_assert_str_eq(alar_status_text(none), "unknown status");
    cr_assert_eq(alar_status_class(none), ALAR_CLASS_DEFECT);
}

/* Success is the only good code, so no error can leave with exit code 0. */
Test(status, ok_alone_is_good)
{
    for (int code = 0; code < ALAR_STATUS_COUNT; code++) {
        bool is_good = alar_status_class((enum alar_status)code) == ALAR_CLASS_GOOD;

        cr_assert_eq(is_good, code == ALAR_OK, "%s", alar_status_name((enum alar_status)code));
    }
}

/* Over several inputs the exit codes win in the order 4 > 1 > 3 > 2 > 0, whichever comes first. */
Test(status, worst_class_follows_the_declared_order)
{
    static const enum alar_class order[] = {
        ALAR_CLASS_DEFECT,     ALAR_CLASS_WRONG, ALAR_CLASS_UNUSABLE,
        ALAR_CLASS_INCOMPLETE, ALAR_CLASS_GOOD,
    };

    for (int i = 0; i < 5; i++) {
        for (int j = i; j < 5; j++) {
            cr_assert_eq(alar_class_worst(order[i], order[j]), order[i]);
            cr_assert_eq(alar_class_worst(order[j], order[i]), order[i]);
        }
    }
}
