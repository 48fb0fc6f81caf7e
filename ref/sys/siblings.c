/* Processes with the same parent whose environment names a rank. */
#include "sys/siblings.h"

#include "sys/parse.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ENVIRONMENT_BYTES = 1 << 17
};

static const char *const rank_names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK"};
static const char *const local_names[] = {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"};

static int64_t number_of(const char *text)
{
    uint64_t number;

    return text != NULL && alar_number_parse(text, 0, INT32_MAX, &number) == ALAR_OK
               ? (int64_t)number
               : -1;
}

int64_t alar_sibling_own_rank(void)
{
    int64_t hydra = number_of(getenv(rank_names[0]));

    return hydra >= 0 ? hydra : number_of(getenv(rank_names[1]));
}

static size_t file_read(const char *pid, const char *name, char *text, size_t size)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%.20s/%s", pid, name);
    FILE *file = fopen(path, "r");
    size_t length = file != NULL ? fread(text, 1, size - 1, file) : 0;

    if (file != NULL) {
        fclose(file);
    }
    text[length] = '\0';
    return length;
}

/* The state of a process of this parent: a letter as in proc(5); 0 when it is none. */
static char sibling_state(const char *pid)
{
    char text[512];
    char state = '\0';
    int parent = -1;

    file_read(pid, "stat", text, sizeof text);
    const char *after = strrchr(text, ')'); /* names may hold anything */
    bool is_read = after != NULL && sscanf(after + 1, " %c %d", &state, &parent) == 2;

    return is_read && parent == getppid() ? state : '\0';
}

static int64_t sibling_rank(const char *pid, char *environment)
{
    size_t length = file_read(pid, "environ", environment, ENVIRONMENT_BYTES);

    for (size_t at = 0; at < length; at += strlen(environment + at) + 1) {
        for (size_t k = 0; k < sizeof rank_names / sizeof *rank_names; k++) {
            size_t name = strlen(rank_names[k]);

            if (strncmp(environment + at, rank_names[k], name) == 0 &&
                environment[at + name] == '=') {
                return number_of(environment + at + name + 1);
            }
        }
    }
    return -1;
}

void alar_siblings_abort(int code)
{
    int64_t launcher = number_of(getenv("PMI_FD"));

    if (launcher > STDERR_FILENO) {
        dprintf((int)launcher, "cmd=abort exitcode=%d\n", code);
    }
}

void alar_siblings_look(struct alar_sibling *sibling, uint32_t ranks, bool *all_here)
{
    DIR *directory = opendir("/proc");
    char *environment = malloc(ENVIRONMENT_BYTES);
    struct dirent *entry;
    int64_t local = number_of(getenv(local_names[0]));

    local = local >= 0 ? local : number_of(getenv(local_names[1]));
    *all_here = local == ranks;
    memset(sibling, 0, ranks * sizeof *sibling);
    while (directory != NULL && environment != NULL && (entry = readdir(directory)) != NULL) {
        char found = entry->d_name[0] >= '0' && entry->d_name[0] <= '9'
                         ? sibling_state(entry->d_name)
                         : '\0';
        int64_t rank = found != '\0' ? sibling_rank(entry->d_name, environment) : -1;

        if (rank >= 0 && rank < ranks) {
            sibling[rank] = (struct alar_sibling){found, (int32_t)number_of(entry->d_name)};
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
    free(environment);
}
