/* The NumPy reader. The header is a Python dictionary with exactly three keys; it is read strictly,
   but for blanks, the kind of quotes and the order of the keys, which differ between writers. */
#include "run/npy.h"

#include "base/check.h"
#include "sys/error_line.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are used where they lie");

enum {
    MAGIC_BYTES = 8,  /* "\x93NUMPY", major, minor */
    ALIGN_BYTES = 16, /* every NumPy since 1.0 pads its header to this, or to 64 */
    DESCR_BYTES = 64, /* room for a dtype's name; longer ones are none of ours */
    SHAPE_TEXT_BYTES = 128
};

/* The header's text, and how far it has been read. */
struct cursor {
    const char *at;
    const char *end;
};

/* What a header says. */
struct header {
    char descr[DESCR_BYTES];
    bool is_fortran;
    uint32_t dimensions;
    uint64_t shape[ALAR_NPY_DIMENSIONS];
    bool has_descr;
    bool has_order;
    bool has_shape;
};

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\n')) {
        cursor->at++;
    }
}

/* Takes `token` when it comes next, after blanks. */
static bool take(struct cursor *cursor, const char *token)
{
    size_t length = strlen(token);

    skip_blanks(cursor);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, token, length) != 0) {
        return false;
    }
    cursor->at += length;
    return true;
}

static bool take_string(struct cursor *cursor, char text[DESCR_BYTES])
{
    const char *quote = take(cursor, "'") ? "'" : "\"";
    size_t length = 0;

    if (*quote == '"' && !take(cursor, quote)) {
        return false;
    }
    while (cursor->at < cursor->end && *cursor->at != *quote && length < DESCR_BYTES - 1) {
        text[length++] = *cursor->at++;
    }
    text[length] = '\0';
    return take(cursor, quote);
}

static bool take_number(struct cursor *cursor, uint64_t *number)
{
    uint64_t value = 0;
    int digits = 0;

    skip_blanks(cursor);
    while (cursor->at < cursor->end && isdigit((unsigned char)*cursor->at) && digits < 18) {
        value = value * 10 + (uint64_t)(*cursor->at++ - '0');
        digits++;
    }
    *number = value;
    return digits > 0;
}

/* `(2, 3)`, `(2,)` or `()`. */
static bool take_shape(struct cursor *cursor, struct header *header)
{
    if (!take(cursor, "(")) {
        return false;
    }
    while (!take(cursor, ")")) {
        uint32_t axis = header->dimensions++;

        if (axis >= ALAR_NPY_DIMENSIONS || !take_number(cursor, &header->shape[axis])) {
            return false;
        }
        if (!take(cursor, ",")) {
            return axis > 0 && take(cursor, ")");
        }
    }
    return true;
}

static bool take_order(struct cursor *cursor, struct header *header)
{
    header->is_fortran = take(cursor, "True");
    return header->is_fortran || take(cursor, "False");
}

/* One `key: value`, each key once. */
static bool take_entry(struct cursor *cursor, struct header *header)
{
    char key[DESCR_BYTES];

    if (!take_string(cursor, key) || !take(cursor, ":")) {
        return false;
    }
    if (strcmp(key, "descr") == 0 && !header->has_descr) {
        header->has_descr = true;
        return take_string(cursor, header->descr);
    }
    if (strcmp(key, "fortran_order") == 0 && !header->has_order) {
        header->has_order = true;
        return take_order(cursor, header);
    }
    if (strcmp(key, "shape") == 0 && !header->has_shape) {
        header->has_shape = true;
        return take_shape(cursor, header);
    }
    return false;
}

static bool header_parse(struct cursor cursor, struct header *header)
{
    if (!take(&cursor, "{")) {
        return false;
    }
    while (!take(&cursor, "}")) {
        if (!take_entry(&cursor, header)) {
            return false;
        }
        if (!take(&cursor, ",")) {
            if (!take(&cursor, "}")) {
                return false;
            }
            break;
        }
    }
    skip_blanks(&cursor);
    return cursor.at == cursor.end && header->has_descr && header->has_order && header->has_shape;
}

static const char *dtype_descr(enum alar_dtype dtype)
{
    switch (dtype) {
    case ALAR_F32:
        return "<f4";
    case ALAR_I64:
        return "<i8";
    default:
        return "|u1";
    }
}

/* "[40, 4, any]" */
static void shape_print(uint32_t dimensions, const uint64_t *shape, bool is_wanted,
                        char text[SHAPE_TEXT_BYTES])
{
    size_t length = (size_t)snprintf(text, SHAPE_TEXT_BYTES, "[");

    for (uint32_t axis = 0; axis < dimensions; axis++) {
        const char *comma = axis > 0 ? ", " : "";

        length += (size_t)(is_wanted && shape[axis] == 0
                               ? snprintf(text + length, SHAPE_TEXT_BYTES - length, "%sany", comma)
                               : snprintf(text + length, SHAPE_TEXT_BYTES - length, "%s%" PRIu64,
                                          comma, shape[axis]));
    }
    snprintf(text + length, SHAPE_TEXT_BYTES - length, "]");
}

static bool shape_fits(const struct alar_npy_wanted *wanted, const struct header *header)
{
    if (header->dimensions != wanted->dimensions) {
        return false;
    }
    for (uint32_t axis = 0; axis < wanted->dimensions; axis++) {
        uint64_t length = header->shape[axis];

        if (length == 0 || (wanted->shape[axis] != 0 && wanted->shape[axis] != length)) {
            return false;
        }
    }
    return true;
}

static enum alar_status header_compare(const char *path, const struct alar_npy_wanted *wanted,
                                       const struct header *header, char *error_line)
{
    char expected[SHAPE_TEXT_BYTES];
    char found[SHAPE_TEXT_BYTES];

    if (strcmp(header->descr, dtype_descr(wanted->dtype)) != 0) {
        return alar_complain(error_line, path, "expected dtype '%s' (%s), found '%s'",
                             dtype_descr(wanted->dtype), alar_dtype_name(wanted->dtype),
                             header->descr);
    }
    if (header->is_fortran) {
        return alar_complain(error_line, path, "expected C order, found Fortran order");
    }
    if (!shape_fits(wanted, header)) {
        shape_print(wanted->dimensions, wanted->shape, true, expected);
        shape_print(header->dimensions, header->shape, false, found);
        return alar_complain(error_line, path, "expected shape %s (%s), found %s", expected,
                             wanted->axes, found);
    }
    return ALAR_OK;
}

/* Elements that the shape stands for; UINT64_MAX when no file could hold them. */
static uint64_t shape_count(const struct header *header)
{
    uint64_t count = 1;

    for (uint32_t axis = 0; axis < header->dimensions; axis++) {
        if (count > UINT64_C(1) << 56 || header->shape[axis] > (UINT64_C(1) << 58) / count) {
            return UINT64_MAX;
        }
        count *= header->shape[axis];
    }
    return count;
}

/* Where the header's text begins and the data begin; 0 and a error_line when it is no NumPy file.
 */
static size_t header_locate(const char *path, const struct alar_npy *npy, size_t *text_offset,
                            char *error_line)
{
    const unsigned char *bytes = npy->map;
    size_t length = 0;
    bool is_wide = false;
    enum alar_status status = ALAR_OK;

    if (npy->map_bytes < MAGIC_BYTES + 2 || memcmp(bytes, "\x93NUMPY", MAGIC_BYTES - 2) != 0) {
        status =
            alar_complain(error_line, path, "expected a NumPy file (.npy), found something else");
    } else if ((bytes[6] != 1 && bytes[6] != 2) || bytes[7] != 0) {
        status = alar_complain(error_line, path, "expected NumPy format 1.0 or 2.0, found %d.%d",
                               bytes[6], bytes[7]);
    } else if (bytes[6] == 2 && npy->map_bytes < MAGIC_BYTES + 4) {
        status = alar_complain(error_line, path, "expected a header, found the end of the file");
    }
    if (status != ALAR_OK) {
        return 0;
    }
    is_wide = bytes[6] == 2;
    *text_offset = is_wide ? MAGIC_BYTES + 4 : MAGIC_BYTES + 2;
    length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (is_wide) {
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    }
    return *text_offset + length;
}

/* As many bytes as the shape asks for, and none behind them. */
static enum alar_status data_check(const char *path, const struct alar_npy *npy, size_t found,
                                   char *error_line)
{
    size_t bytes = alar_dtype_bytes(npy->dtype);
    char shape[SHAPE_TEXT_BYTES];

    if (found % bytes == 0 && found / bytes == npy->count) {
        return ALAR_OK;
    }
    shape_print(npy->dimensions, npy->shape, false, shape);
    return alar_complain(error_line, path,
                         "expected shape %s of %zu bytes each, found %zu bytes of data", shape,
                         bytes, found);
}

/* Checks what is mapped, and points into it. */
static enum alar_status npy_read(const char *path, const struct alar_npy_wanted *wanted,
                                 struct alar_npy *npy, char *error_line)
{
    struct header header = {0};
    size_t text = 0;
    size_t data = header_locate(path, npy, &text, error_line);
    const char *bytes = npy->map;

    if (data == 0) {
        return ALAR_E_INPUT;
    }
    if (data > npy->map_bytes) {
        return alar_complain(error_line, path,
                             "expected a header of %zu bytes, found %zu bytes in all", data,
                             npy->map_bytes);
    }
    if (data % ALIGN_BYTES != 0) {
        return alar_complain(error_line, path,
                             "expected a header padded to %d bytes, found %zu bytes", ALIGN_BYTES,
                             data);
    }
    if (!header_parse((struct cursor){bytes + text, bytes + data}, &header)) {
        return alar_complain(error_line, path,
                             "expected a header {'descr': '%s', 'fortran_order': False, 'shape': "
                             "(...), }, found '%.*s'",
                             dtype_descr(wanted->dtype),
                             data - text < 100 ? (int)(data - text) : 100, bytes + text);
    }
    ALAR_TRY(header_compare(path, wanted, &header, error_line));
    npy->dtype = wanted->dtype;
    npy->dimensions = header.dimensions;
    memcpy(npy->shape, header.shape, sizeof(npy->shape));
    npy->count = shape_count(&header);
    npy->data = bytes + data;
    return data_check(path, npy, npy->map_bytes - data, error_line);
}

static enum alar_status npy_map(const char *path, struct alar_npy *npy, char *error_line)
{
    enum alar_status status = ALAR_OK;
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (file < 0 || fstat(file, &about) != 0) {
        status = alar_complain(error_line, path, "expected a NumPy file (.npy), found: %s",
                               strerror(errno));
    } else if (!S_ISREG(about.st_mode)) {
        status = alar_complain(error_line, path, "expected a NumPy file (.npy), found %s",
                               S_ISDIR(about.st_mode) ? "a directory" : "no regular file");
    } else if (about.st_size == 0) {
        status =
            alar_complain(error_line, path, "expected a NumPy file (.npy), found no byte in it");
    } else {
        npy->map_bytes = (size_t)about.st_size;
        npy->map = mmap(NULL, npy->map_bytes, PROT_READ, MAP_SHARED, file, 0);
        if (npy->map == MAP_FAILED) {
            npy->map = NULL;
            status = alar_complain(error_line, path, "expected %zu bytes to map, found: %s",
                                   npy->map_bytes, strerror(errno));
        }
    }
    if (file >= 0) {
        close(file);
    }
    return status;
}

enum alar_status alar_npy_open(const char *path, const struct alar_npy_wanted *wanted,
                               struct alar_npy *npy, char *error_line)
{
    struct alar_npy opened = {0};
    enum alar_status status = npy_map(path, &opened, error_line);

    PRE(wanted->dimensions >= 1 && wanted->dimensions <= ALAR_NPY_DIMENSIONS);
    if (status == ALAR_OK) {
        status = npy_read(path, wanted, &opened, error_line);
    }
    if (status != ALAR_OK) {
        alar_npy_close(&opened);
        return status;
    }
    *npy = opened;
    return ALAR_OK;
}

void alar_npy_close(struct alar_npy *npy)
{
    if (npy->map != NULL) {
        munmap(npy->map, npy->map_bytes);
    }
    *npy = (struct alar_npy){0};
}
