/* The losses that all cases share: sums of drawn losses, some microbatches without a token. */
#include "base/rng.h"
#include "swarm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    HEADER_BYTES = 128
};

_Noreturn void swarm_give_up(const char *what, const char *why)
{
    fprintf(stderr, "swarm: %s: %s\n", what, why);
    exit(ALAR_CLASS_UNUSABLE);
}

static void directory_make(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        swarm_give_up(path, strerror(errno));
    }
}

/* A NumPy file of version 1.0, f32, C order. */
static void header_write(FILE *file, uint32_t microbatches)
{
    char header[HEADER_BYTES];
    unsigned char start[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, HEADER_BYTES - 10, 0};
    int length = snprintf(header, sizeof(header),
                          "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, %u, 2), }",
                          SWARM_RANKS, SWARM_STEPS, microbatches);

    fwrite(start, 1, sizeof(start), file);
    fprintf(file, "%s%*s\n", header, HEADER_BYTES - 11 - length, "");
}

static void values_write(FILE *file, uint32_t microbatches)
{
    struct alar_rng rng = alar_rng_stream(1, microbatches);

    for (uint32_t i = 0; i < SWARM_RANKS * SWARM_STEPS * microbatches; i++) {
        float pair[2];
        uint64_t tokens = alar_rng_below(&rng, 20) == 0 ? 0 : 1 + alar_rng_below(&rng, 512);

        pair[1] = (float)tokens;
        pair[0] = (float)((2.0 + 9.0 * alar_rng_unit(&rng)) * (double)tokens);
        fwrite(pair, sizeof(pair), 1, file);
    }
}

void swarm_losses_write(const char *directory)
{
    char path[SWARM_PATH];

    directory_make(directory);
    for (uint32_t m = 1; m <= SWARM_MICROBATCHES; m++) {
        snprintf(path, sizeof(path), "%s/losses%u", directory, m);
        directory_make(path);
        snprintf(path, sizeof(path), "%s/losses%u/local_sum_tokens.npy", directory, m);
        FILE *file = fopen(path, "wb");
        if (file == NULL) {
            swarm_give_up(path, strerror(errno));
        }
        header_write(file, m);
        values_write(file, m);
        if (fclose(file) != 0) {
            swarm_give_up(path, strerror(errno));
        }
    }
}
