/* The end of a process that stands still in somebody else's code, where no deadline of ours
 * reaches. */
#ifndef ALAR_GUARD_H
#define ALAR_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Unless it is cleared or set anew within that time (and a twentieth of a second), `expired` is
   called on a thread of its own, while the caller still stands where it does; it should say so and
   end the process, or return true to be asked again after as long. Cheap after the first time.
   Errors: without a thread there is no guard. */
void alar_guard_set(uint64_t limit_us, bool (*expired)(void *data, const char *what), void *data,
                    const char *what);
void alar_guard_clear(void);

#endif
