/* The NumPy reader: what numpy writes is read as it is, and nothing else is. */
#include "run/npy.h"
#include "sys/error_line.h"
#include "tests/lib/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(npy, .init = scratch_make, .fini = scratch_remove);

static const struct alar_npy_wanted pairs = {
    .dtype = ALAR_F32, .dimensions = 2, .shape = {0, 2}, .axes = "steps, pair"};

static const float six[6] = {1, 2, 3, 4, 5, 6};

/* A file that begins with `header`, padded with blanks to 64 or 128 bytes as numpy pads it. */
static const char *file_with_header(int major, const char *header, const void *data, size_t size)
{
    char bytes[512];
    size_t prefix = major == 1 ? 10 : 12;
    size_t offset = (prefix + strlen(header) + 1 + 63) / 64 * 64;
    size_t length = offset - prefix;

    memset(bytes, 0, prefix);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (char)major;
    bytes[8] = (char)length;
    memset(bytes + prefix, ' ', length);
    memcpy(bytes + prefix, header, strlen(header));
    bytes[offset - 1] = '\n';
    memcpy(bytes + offset, data, size);
    return scratch_write("a.npy", bytes, offset + size);
}

static void assert_six(const char *path, const char *what)
{
    struct alar_npy npy = {0};
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    cr_assert_eq(alar_npy_open(path, &pairs, &npy, error_line), ALAR_OK, "%s: %s", what,
                 error_line);
    cr_assert_eq(npy.count, 6);
    cr_assert_eq(npy.shape[0], 3);
    cr_assert_eq(npy.shape[1], 2);
    cr_assert_arr_eq(npy.data, six, sizeof(six));
    alar_npy_close(&npy);
    cr_assert_null(npy.map);
}

/* Spacing, quotes, order of keys and the last comma differ between writers and versions. */
Test(npy, reads_every_spelling_of_the_same_header)
{
    static const char *const headers[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}",
        "{'descr':'<f4','fortran_order':False,'shape':(3,2)}",
        "{ 'shape' : ( 3 , 2 , ) , 'descr' : '<f4' , 'fortran_order' : False , } ",
        "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (3, 2)}",
    };

    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        for (int major = 1; major <= 2; major++) {
            assert_six(file_with_header(major, headers[i], six, sizeof(six)), headers[i]);
        }
    }
}

/* Each dtype at each number of dimensions, down to the one of `(2,)`. */
Test(npy, reads_every_dtype_and_dimension)
{
    static const char *const shapes[] = {"(2,)", "(1, 2)", "(1, 2, 1)", "(2, 1, 1, 1)"};
    static const struct {
        enum alar_dtype dtype;
        const char *descr;
        size_t bytes;
    } dtypes[] = {{ALAR_F32, "<f4", 4}, {ALAR_U8, "|u1", 1}, {ALAR_I64, "<i8", 8}};
    static const uint64_t data[2] = {UINT64_C(0x0102030405060708), UINT64_C(0x1112131415161718)};

    for (size_t d = 0; d < 3; d++) {
        for (uint32_t dimensions = 1; dimensions <= ALAR_NPY_DIMENSIONS; dimensions++) {
            struct alar_npy_wanted wanted = {
                .dtype = dtypes[d].dtype, .dimensions = dimensions, .axes = "any"};
            struct alar_npy npy = {0};
            char error_line[ALAR_ERROR_LINE_BYTES] = "";
            const char *path = scratch_npy("a.npy", dtypes[d].descr, shapes[dimensions - 1], data,
                                           2 * dtypes[d].bytes);

            cr_assert_eq(alar_npy_open(path, &wanted, &npy, error_line), ALAR_OK, "%s", error_line);
            cr_assert_eq(npy.count, 2);
            cr_assert_eq(npy.dimensions, dimensions);
            cr_assert_arr_eq(npy.data, data, 2 * dtypes[d].bytes);
            alar_npy_close(&npy);
        }
    }
}

/* Expects a refusal in one line that begins with the path, holds `expected`, and changes nothing.
 */
static void assert_refused(const char *path, const char *expected)
{
    struct alar_npy npy = {.count = 77};
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    cr_assert_eq(alar_npy_open(path, &pairs, &npy, error_line), ALAR_E_INPUT, "%s", expected);
    cr_assert_eq(strncmp(error_line, path, strlen(path)), 0, "%s", error_line);
    cr_assert_not_null(strstr(error_line, expected), "'%s' lacks '%s'", error_line, expected);
    cr_assert_not_null(strstr(error_line, ", found"), "%s", error_line);
    cr_assert_null(strchr(error_line, '\n'), "%s", error_line);
    cr_assert_eq(npy.count, 77);
}

/* The header is no place for guesses: every other dictionary is refused. */
Test(npy, refuses_every_other_header)
{
    static const struct {
        const char *header;
        const char *error_line;
    } rows[] = {
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }",
         "expected dtype '<f4' (f32), found '<f8'"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (3, 2), }", "found '>f4'"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }",
         "expected C order, found Fortran order"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }",
         "expected shape [any, 2] (steps, pair), found [6]"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", "found [2, 3]"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 2), }", "found [0, 2]"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }", "found []"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6), }", "expected a header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, -2), }", "expected a header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 3, 2), }",
         "expected a header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 9999999999999999999), }",
         "expected a header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999999999, 2), }",
         "expected shape [999999999999999999, 2] of 4 bytes each, found 24 bytes of data"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3, 2), }",
         "expected a header"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3, 2), }", "expected a header"},
        {"{'descr': '<f4', 'fortran_order': False, }", "expected a header"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }",
         "expected a header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), 'more': 1}",
         "expected a header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), } more", "expected a header"},
        {"'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)", "expected a header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2", "expected a header"},
        {"", "expected a header"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_refused(file_with_header(1, rows[i].header, six, sizeof(six)), rows[i].error_line);
    }
}

/* A copy that stopped early is the likeliest bad file: wherever it stops, it is refused. */
Test(npy, refuses_a_file_cut_anywhere)
{
    char bytes[160];

    scratch_npy("whole.npy", "<f4", "(3, 2)", six, sizeof(six));
    size_t size = scratch_read("whole.npy", bytes, sizeof(bytes));
    cr_assert_eq(size, 128 + sizeof(six));
    assert_six(scratch_write("cut.npy", bytes, size), "whole");
    for (size_t cut = 0; cut < size; cut++) {
        assert_refused(scratch_write("cut.npy", bytes, cut), "expected");
    }
    bytes[size] = 0;
    assert_refused(scratch_write("cut.npy", bytes, size + 1), "found 25 bytes of data");
}

Test(npy, refuses_what_is_no_numpy_file)
{
    static const char text[] = "step,loss\n1,5.6\n2,5.5\n3,5.4\n";
    static const char third[] = "\x93NUMPY\x03\x00\x04\x00\x00\x00{}  and more";
    static const char odd[] = "\x93NUMPY\x01\x00\x03\x00{ }and more";

    assert_refused(scratch_write("a.npy", text, sizeof(text)), "found something else");
    assert_refused(scratch_write("a.npy", third, sizeof(third)), "1.0 or 2.0, found 3.0");
    assert_refused(scratch_write("a.npy", odd, sizeof(odd)), "padded to 16 bytes, found 13");
    assert_refused(scratch_path("none.npy"), "found: No such file");
    cr_assert_eq(mkdir(scratch_path("dir.npy"), 0700), 0);
    assert_refused(scratch_path("dir.npy"), "found a directory");
    cr_assert_eq(mkfifo(scratch_path("fifo.npy"), 0600), 0);
    assert_refused(scratch_path("fifo.npy"), "found no regular file");
}

/* One line stays one line, whatever the path is. */
Test(npy, a_complaint_survives_any_path)
{
    char path[1000];
    char error_line[ALAR_ERROR_LINE_BYTES] = "";
    struct alar_npy npy = {0};

    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    cr_assert_eq(alar_npy_open(path, &pairs, &npy, error_line), ALAR_E_INPUT);
    cr_assert_eq(strncmp(error_line, "...xxx", 6), 0);
    cr_assert_not_null(strstr(error_line, "File name too long"), "%s", error_line);

    cr_assert_eq(alar_npy_open("new\nline\x1b", &pairs, &npy, error_line), ALAR_E_INPUT);
    cr_assert_eq(strncmp(error_line, "new?line?: expected", 19), 0, "%s", error_line);
}
