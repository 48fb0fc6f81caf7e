/* Files read by several threads: what comes out is what one thread reads. Here also under
   sanitizers and valgrind; letter by letter in tests/cli/threads.sh. */
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

TestSuite(read_ahead, .init = scratch_make, .fini = scratch_remove);

static size_t file_read(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");

    cr_assert_not_null(file, "%s", path);
    size_t length = fread(text, 1, room - 1, file);
    fclose(file);
    text[length] = '\0';
    return strlen(text) == length ? length : 0; /* told_with takes texts without zeros */
}

/* Nothing about a history may follow from how many threads there are. */
Test(read_ahead, any_number_of_threads_tells_the_same)
{
    static char text[1 << 17], reason[1 << 14];
    DIR *folder = opendir("tests/histories");
    struct dirent *entry;
    unsigned count = 0;

    cr_assert_not_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        struct alar_reading_hooks hooks = {.threads = 2 + count % 3};
        struct told one, several;
        char path[512];

        snprintf(path, sizeof path, "tests/histories/%s", entry->d_name);
        if (strstr(path, ".jsonl") == NULL || file_read(path, text, sizeof text) == 0) {
            continue;
        }
        told(&one, text);
        told_with(&several, text, &hooks);
        count++;
        cr_assert_eq(one.status, several.status, "%s", path);
        cr_assert_str_eq(one.reading.error_line, several.reading.error_line, "%s", path);
        if (one.status == ALAR_OK) {
            cr_assert_eq(told_verdict(&one)->kind, told_verdict(&several)->kind, "%s", path);
            snprintf(reason, sizeof reason, "%s", told_reason(&one));
            cr_assert_str_eq(reason, told_reason(&several), "%s", path);
        }
        told_free(&one);
        told_free(&several);
    }
    closedir(folder);
    cr_assert_gt(count, 300);
}
