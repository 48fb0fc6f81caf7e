/* What ranks tell through the shared mapping, when one of them is killed. */
#include "conform/conform_shared.h"
#include "tests/lib/scratch.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KILLS = 100
};

TestSuite(conform_shared, .init = scratch_make, .fini = scratch_remove);

static void tell_on(struct conform_seat *seat)
{
    const struct conform_event event = {.kind = EVENT_ANSWER, .op = 7};

    while (conform_tell(seat, &event, NULL, 0) != NULL) {
    }
    pause();
}

/* Every event that is counted is whole, at whatever moment its rank is killed. */
Test(conform_shared, what_is_counted_is_whole)
{
    for (uint32_t k = 0; k < KILLS; k++) {
        struct conform_shared *shared = conform_shared_make(scratch_path("shared"), false, 1);
        cr_assert_not_null(shared);
        struct conform_seat *seat = &shared->seat[0];
        pid_t child = fork();

        cr_assert_geq(child, 0);
        if (child == 0) {
            tell_on(seat);
            _exit(0);
        }
        while (seat->events < 97 * k + 1) {
        }
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        for (uint32_t e = 0; e < seat->events; e++) {
            cr_assert_eq(seat->event[e].kind, EVENT_ANSWER, "event %u of %u", e, seat->events);
        }
        conform_shared_close(shared);
    }
}
