/* `alar pack` and `alar unpack`: histories in a smaller form, and back. */
#include "cli/cli.h"
#include "pack/pack_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One way or the other. */
struct packing {
    const char *who; /* the subcommand */
    bool is_unpack;
    bool is_quiet;
    const char *from, *to; /* how names of files end */
    uint64_t files, read;
    struct alar_pack_counts counts;
};

static bool is_standard(const char *path)
{
    return path == NULL || strcmp(path, "-") == 0;
}

/* An exit code after one line. */
static int packing_failed(const struct packing *packing, enum alar_status status,
                          const char *error_line)
{
    alar_cli_complain(packing->who,
                      error_line[0] ? error_line : "expected enough memory, found too little");
    return (int)alar_status_class(status);
}

static int packing_complain(const struct packing *packing, const char *path, const char *text,
                            const char *found)
{
    char error_line[ALAR_ERROR_LINE_BYTES];
    enum alar_status status = alar_complain(error_line, path, "%s, found: %s", text, found);

    return packing_failed(packing, status, error_line);
}

/* Unpacking looks at any place of its file, so what comes through a pipe is kept. */
static int spool(int in)
{
    char block[1 << 16];
    FILE *copy = tmpfile();
    ssize_t got = 1;

    while (copy != NULL && got > 0) {
        got = read(in, block, sizeof block);
        got = got < 0 && errno == EINTR ? 1 : got;
        if (got > 0 && fwrite(block, 1, (size_t)got, copy) != (size_t)got) {
            got = -1;
        }
    }
    int file = copy != NULL && got == 0 && fflush(copy) == 0 ? dup(fileno(copy)) : -1;
    if (copy != NULL) {
        fclose(copy);
    }
    return file;
}

static int input_open(const struct packing *packing, const char *path)
{
    if (!is_standard(path)) {
        return open(path, O_RDONLY | O_CLOEXEC);
    }
    return packing->is_unpack && lseek(STDIN_FILENO, 0, SEEK_CUR) < 0 ? spool(STDIN_FILENO)
                                                                      : dup(STDIN_FILENO);
}

static bool is_same_file(int file, const char *path)
{
    struct stat one, other;

    return fstat(file, &one) == 0 && stat(path, &other) == 0 && one.st_ino == other.st_ino &&
           one.st_dev == other.st_dev;
}

/* One open file to the open file `out`. */
static int file_pack(struct packing *packing, const struct alar_pack_job *job)
{
    char error_line[ALAR_ERROR_LINE_BYTES] = "";
    struct alar_pack_counts counts = {0, 0, 0};
    struct stat found = {0};

    (void)!fstat(job->in, &found);
    enum alar_status status = packing->is_unpack ? alar_unpack_file(job, error_line)
                                                 : alar_pack_file(job, &counts, error_line);
    packing->files++;
    packing->read += (uint64_t)found.st_size;
    packing->counts.lines += counts.lines;
    packing->counts.records += counts.records;
    packing->counts.bytes += counts.bytes;
    return status == ALAR_OK ? -1 : packing_failed(packing, status, error_line);
}

/* One file to another; a beginning of one is not left behind. Returns -1, or an exit code. */
static int path_pack(struct packing *packing, const char *path, const char *output)
{
    struct alar_pack_job job = {.in = input_open(packing, path),
                                .name = is_standard(path) ? "standard input" : path};

    if (job.in < 0) {
        return packing_complain(packing, path, "expected a file to read", strerror(errno));
    }
    if (is_standard(output)) {
        job.out = stdout;
        return file_pack(packing, &job);
    }
    bool is_own = is_same_file(job.in, output);
    job.out = is_own ? NULL : fopen(output, "w");
    if (job.out == NULL) {
        int error = errno;

        close(job.in);
        return packing_complain(packing, output, "expected a file to write",
                                is_own ? "the one that is read" : strerror(error));
    }
    int code = file_pack(packing, &job);
    if (fclose(job.out) != 0 && code < 0) {
        code = packing_complain(packing, output, "expected to write all of it", strerror(errno));
    }
    if (code >= 0) {
        unlink(output);
    }
    return code;
}

/* What a file of that name is called on the other side; false when it is none of ours. */
static bool name_change(const struct packing *packing, const char *name, char *changed, size_t room)
{
    size_t length = strlen(name), end = strlen(packing->from);

    if (name[0] == '.' || length <= end || strcmp(name + length - end, packing->from) != 0) {
        return false;
    }
    snprintf(changed, room, "%.*s%s", (int)(length - end), name, packing->to);
    return true;
}

static int directory_pack(struct packing *packing, const char *path, const char *output)
{
    char changed[NAME_MAX + 16], from[PATH_MAX], to[PATH_MAX];
    struct dirent *entry;
    int code = -1;

    if (is_standard(output)) {
        return packing_complain(packing, path, "expected -o DIRECTORY for a directory", "none");
    }
    if (mkdir(output, 0777) != 0 && errno != EEXIST) {
        return packing_complain(packing, output, "expected a directory to write to",
                                strerror(errno));
    }
    DIR *directory = opendir(path);
    if (directory == NULL) {
        return packing_complain(packing, path, "expected a directory to read", strerror(errno));
    }
    while (code < 0 && (entry = readdir(directory)) != NULL) {
        if (name_change(packing, entry->d_name, changed, sizeof changed)) {
            snprintf(from, sizeof from, "%.3800s/%s", path, entry->d_name);
            snprintf(to, sizeof to, "%.3800s/%s", output, changed);
            code = path_pack(packing, from, to);
        }
    }
    closedir(directory);
    if (code < 0 && packing->files == 0) {
        char text[64];

        snprintf(text, sizeof text, "expected files that end in %s", packing->from);
        code = packing_complain(packing, path, text, "none");
    }
    return code;
}

static void packing_tell(const struct packing *packing)
{
    const struct alar_pack_counts *counts = &packing->counts;

    printf("%llu file%s, %llu lines, %llu of them records: %llu bytes to %llu, %.1f a line\n",
           (unsigned long long)packing->files, packing->files == 1 ? "" : "s",
           (unsigned long long)counts->lines, (unsigned long long)counts->records,
           (unsigned long long)packing->read, (unsigned long long)counts->bytes,
           counts->lines ? (double)counts->bytes / (double)counts->lines : 0.0);
}

static int packing_run(struct packing *packing, const char *path, const char *output)
{
    struct stat found;
    bool is_directory = !is_standard(path) && stat(path, &found) == 0 && S_ISDIR(found.st_mode);

    if (!is_directory && is_standard(output) && !packing->is_unpack && isatty(STDOUT_FILENO)) {
        return alar_cli_complain(packing->who, "expected -o FILE, for a packed history is no text");
    }
    int code =
        is_directory ? directory_pack(packing, path, output) : path_pack(packing, path, output);
    if (code < 0 && !packing->is_quiet && !packing->is_unpack && !is_standard(output)) {
        packing_tell(packing);
    }
    return code < 0 ? ALAR_CLASS_GOOD : code;
}

int alar_cli_pack(int argc, char **argv)
{
    struct packing packing = {.who = "pack", .from = ".jsonl", .to = ".alar"};
    const char *output = NULL;
    int count;
    const struct alar_option options[] = {
        {"output", ALAR_OPTION_TEXT, &output, "PATH",
         "the file, or for a directory the directory, to write [standard output]", NULL, 0, 0},
        {"quiet", ALAR_OPTION_FLAG, &packing.is_quiet, NULL, "say nothing of how small it is", NULL,
         0, 0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {
        "pack",
        "pack a history: smaller, and read faster",
        "PATH | -",
        options,
        "  alar pack -o packed run/      packed/rank0.alar ... of run/rank0.jsonl ...\n"
        "  alar check packed/            the same verdict\n"
        "  alar pack -o h.alar h.jsonl   one file\n",
    };
    int code = alar_cli_options(&command, argc, argv, &count);

    if (code >= 0) {
        return code;
    }
    return count == 1 ? packing_run(&packing, argv[1], output)
                      : alar_cli_complain("pack", "expected one file or directory, or -");
}

int alar_cli_unpack(int argc, char **argv)
{
    struct packing packing = {.who = "unpack", .is_unpack = true, .from = ".alar", .to = ".jsonl"};
    const char *output = NULL;
    int count;
    const struct alar_option options[] = {
        {"output", ALAR_OPTION_TEXT, &output, "PATH",
         "the file, or for a directory the directory, to write [standard output]", NULL, 0, 0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {
        "unpack",
        "unpack a history: the bytes that were packed",
        "PATH | -",
        options,
        "  alar unpack -o run packed/    run/rank0.jsonl ... of packed/rank0.alar ...\n"
        "  alar unpack h.alar | head     as text\n",
    };
    int code = alar_cli_options(&command, argc, argv, &count);

    if (code >= 0) {
        return code;
    }
    return count == 1 ? packing_run(&packing, argv[1], output)
                      : alar_cli_complain("unpack", "expected one file or directory, or -");
}
