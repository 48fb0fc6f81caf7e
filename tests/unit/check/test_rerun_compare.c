/* Two runs compared, operation by operation. */
#include "check/rerun_compare.h"

#include "tests/lib/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(rerun, .init = scratch_make, .fini = scratch_remove);

/* Operation 0 is the same in both, 1 has other bits, 2 other contributions, 3 is in one run only.
   spec: O-35 */
Test(rerun, counts_same_other_and_not_comparable)
{
    static const char *const texts[2] = {
        "{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":[1]}\n{\"ev\":\"done\",\"rank\":0,\"op\":0,"
        "\"out\":[1]}\n"
        "{\"ev\":\"issue\",\"rank\":0,\"op\":1,\"in\":[1]}\n{\"ev\":\"done\",\"rank\":0,\"op\":1,"
        "\"out\":[1]}\n"
        "{\"ev\":\"issue\",\"rank\":0,\"op\":2,\"in\":[1]}\n{\"ev\":\"done\",\"rank\":0,\"op\":2,"
        "\"out\":[1]}\n"
        "{\"ev\":\"issue\",\"rank\":0,\"op\":3,\"in\":[1]}\n{\"ev\":\"done\",\"rank\":0,\"op\":3,"
        "\"out\":[1]}\n",
        "{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":[1]}\n{\"ev\":\"done\",\"rank\":0,\"op\":0,"
        "\"out\":[1]}\n"
        "{\"ev\":\"issue\",\"rank\":0,\"op\":1,\"in\":[1]}\n{\"ev\":\"done\",\"rank\":0,\"op\":1,"
        "\"out\":[2]}\n"
        "{\"ev\":\"issue\",\"rank\":0,\"op\":2,\"in\":[5]}\n{\"ev\":\"done\",\"rank\":0,\"op\":2,"
        "\"out\":[5]}\n",
    };
    const char *path[2] = {scratch_write("a.jsonl", texts[0], strlen(texts[0])),
                           scratch_write("b.jsonl", texts[1], strlen(texts[1]))};
    struct alar_history_files files[2] = {{"a", &path[0], 1}, {"b", &path[1], 1}};
    struct alar_reading reading[2];
    struct alar_rerun rerun;

    cr_assert_eq(alar_rerun_compare(files, reading, &rerun), ALAR_OK);

    cr_assert_eq(rerun.same, 1);
    cr_assert_eq(rerun.different, 1);
    cr_assert_eq(rerun.other, 2);
    cr_assert(rerun.has_first && rerun.number == 1);
    cr_assert_eq(rerun.place[1].line, 3);
    alar_reading_free(&reading[0]);
    alar_reading_free(&reading[1]);
}

/* An input that can't be used is told in the reading it belongs to. */
Test(rerun, tells_which_input_is_unusable)
{
    const char *path[2] = {scratch_write("a.jsonl", "", 0), scratch_write("b.jsonl", "x\n", 2)};
    struct alar_history_files files[2] = {{"a", &path[0], 1}, {"b", &path[1], 1}};
    struct alar_reading reading[2];
    struct alar_rerun rerun;

    cr_assert_eq(alar_rerun_compare(files, reading, &rerun), ALAR_E_INPUT);

    cr_assert_eq(reading[0].error_line[0], '\0');
    cr_assert_not_null(strstr(reading[1].error_line, "b.jsonl:1:1: expected JSON"));
    alar_reading_free(&reading[0]);
    alar_reading_free(&reading[1]);
}
