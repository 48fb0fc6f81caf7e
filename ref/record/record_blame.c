/* What a program's file tells: an ELF file says what loads it and what it needs. memmem is an
   extension. */
#define _GNU_SOURCE
#include "record/record_blame.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file in memory. */
struct image {
    const unsigned char *bytes;
    size_t size;
};

static bool image_open(struct image *image, const char *path)
{
    struct stat stat = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;

    if (file >= 0 && fstat(file, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size > 0) {
        bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    if (file >= 0) {
        close(file);
    }
    *image = (struct image){bytes != MAP_FAILED ? bytes : NULL, (size_t)stat.st_size};
    return image->bytes != NULL;
}

static bool image_has(const struct image *image, const char *text)
{
    return memmem(image->bytes, image->size, text, strlen(text)) != NULL;
}

static bool is_elf(const struct image *image)
{
    return image->size > sizeof(Elf64_Ehdr) && memcmp(image->bytes, ELFMAG, SELFMAG) == 0;
}

/* Has it no loader, which would preload anything? */
static bool is_static(const struct image *image)
{
    Elf64_Ehdr header;
    Elf64_Phdr part;

    memcpy(&header, image->bytes, sizeof(header));
    for (size_t k = 0; k < header.e_phnum; k++) {
        size_t at = header.e_phoff + k * sizeof(part);

        if (at > image->size - sizeof(part)) {
            return false;
        }
        memcpy(&part, image->bytes + at, sizeof(part));
        if (part.p_type == PT_INTERP) {
            return false;
        }
    }
    return true;
}

static const char *image_blame(const struct image *image)
{
    if (!is_elf(image)) {
        return "is a script: what it runs is not linked dynamically with that library, or is "
               "started with another LD_PRELOAD";
    }
    if (is_static(image)) {
        return "is linked statically, and no library can be preloaded into it";
    }
    if (image_has(image, "_f08") || image_has(image, "mpi_f08")) {
        return "calls MPI through mpi_f08, which passes by the names that are recorded";
    }
    if (!image_has(image, "libmpi")) {
        return "is no MPI program: it needs neither libmpi nor libmpich";
    }
    if (image_has(image, "mpi_init_") || image_has(image, "libmpi_mpifh")) {
        return "calls MPI from Fortran, which with Open MPI passes by the names that are recorded";
    }
    return "never started MPI, or does not run on that library";
}

/* The program: the first word behind the launcher that is a file to be run, and no option. */
static const char *program_find(const struct alar_launch *launch, char *const *command, int count,
                                char *path)
{
    for (int k = launch->is_launcher ? launch->at + 1 : 0; k < count; k++) {
        bool is_value = k > 0 && command[k - 1][0] == '-' && strchr(command[k], '/') == NULL;

        if (command[k][0] != '-' && !is_value && alar_launch_file(command[k], path) &&
            access(path, X_OK) == 0) {
            return command[k];
        }
    }
    return NULL;
}

void alar_launch_blame(const struct alar_launch *launch, char *const *command, int count,
                       char *text, size_t bytes)
{
    char path[PATH_MAX];
    struct image image;
    const char *program = program_find(launch, command, count, path);

    if (program == NULL || !image_open(&image, path)) {
        snprintf(text, bytes, "no program was found in the command");
        return;
    }
    snprintf(text, bytes, "%.80s %s", program, image_blame(&image));
    munmap((void *)(uintptr_t)image.bytes, image.size);
}
