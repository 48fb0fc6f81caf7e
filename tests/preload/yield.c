/* MPICH never gives its processor away while it waits. With more ranks than cores each round of an
   operation then takes a slice of the scheduler's. This stands before the function in which MPICH
   asks UCX for news: when that has come back empty-handed some times in a row, somebody else may
   run. What is computed, and in which order, is not touched. RTLD_NEXT is an extension. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

enum {
    PATIENCE = 16 /* empty-handed calls in a row */
};

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    static int empty;
    union {
        void *object;
        unsigned (*function)(void *);
    } next;

    if (progress == NULL) {
        next.object = dlsym(RTLD_NEXT, "ucp_worker_progress");
        if (next.object == NULL) {
            /* MPICH was loaded on demand, out of sight of the search above. */
            void *library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);

            next.object = library != NULL ? dlsym(library, "ucp_worker_progress") : NULL;
        }
        progress = next.function;
    }
    unsigned news = progress(worker);
    empty = news > 0 ? 0 : empty + 1;
    if (empty >= PATIENCE) {
        empty = 0;
        sched_yield();
    }
    return news;
}
