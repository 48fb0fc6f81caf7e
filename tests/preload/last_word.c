/* The rank that LAST_WORD names is stopped once its library has ended: it has said all it had to
   say, and only its process is left. */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int MPI_Finalize(void);

int MPI_Finalize(void)
{
    const char *own = getenv("PMI_RANK");
    const char *last = getenv("LAST_WORD");
    void *library = dlopen("libmpich.so.12", RTLD_LAZY | RTLD_NOLOAD);
    union {
        void *object;
        int (*function)(void);
    } finalize = {library != NULL ? dlsym(library, "PMPI_Finalize") : NULL};
    int status = finalize.object != NULL ? finalize.function() : -1;

    if (own != NULL && last != NULL && strcmp(own, last) == 0) {
        raise(SIGSTOP);
    }
    return status;
}
