/* Packed histories: the same bytes come back, the same events are read, and no bytes at all make
   the reader do anything but refuse or read. */
#include "check/record_read.h"
#include "pack/pack.h"
#include "pack/pack_file.h"
#include "pack/pack_read.h"
#include "sys/crc32.h"
#include "tests/lib/draw.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(pack, .init = scratch_make, .fini = scratch_remove);

enum {
    TEXT_BYTES = 1 << 18,
    CHANGES = 10000
};

/* Packs a text to the file "packed" and to `bytes`, which has room for twice TEXT_BYTES. */
static size_t pack(unsigned char *bytes, const char *text, size_t length)
{
    const char *path = scratch_write("text", text, length);
    char error_line[ALAR_ERROR_LINE_BYTES];
    struct alar_pack_counts counts;
    FILE *out = fopen(scratch_path("packed"), "w+");
    struct alar_pack_job job = {.in = open(path, O_RDONLY), .name = path, .out = out};

    cr_assert_eq(alar_pack_file(&job, &counts, error_line), ALAR_OK, "%s", error_line);
    rewind(out);
    size_t size = fread(bytes, 1, 2 * TEXT_BYTES, out);
    fclose(out);
    cr_assert_eq(size, counts.bytes);
    return size;
}

/* Unpacks a file to another. */
static enum alar_status unpack(const char *from, const char *to, char *error_line)
{
    FILE *out = fopen(to, "w");
    struct alar_pack_job job = {.in = open(from, O_RDONLY), .name = from, .out = out};
    enum alar_status status = alar_unpack_file(&job, error_line);

    fclose(out);
    return status;
}

static void comes_back(const char *text, size_t length)
{
    static char again[TEXT_BYTES];
    static unsigned char bytes[2 * TEXT_BYTES];
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    pack(bytes, text, length);
    cr_assert_eq(unpack(scratch_path("packed"), scratch_path("unpacked"), error_line), ALAR_OK,
                 "%s", error_line);
    cr_assert_eq(scratch_read("unpacked", again, sizeof again), length, "%.200s", text);
    cr_assert_eq(memcmp(again, text, length), 0, "%.200s", text);
}

/* Appends to a text of that length; returns the new one. */
__attribute__((format(printf, 3, 4))) static size_t add(char *text, size_t length,
                                                        const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    length += (size_t)vsnprintf(text + length, 4096, format, arguments);
    va_end(arguments);
    return length;
}

/* Pieces of lines: values as they are packed, and as they are not. */
static const char *const keys[] = {"rank", "i",   "t",     "op",      "n",    "at",
                                   "buf",  "src", "in",    "out",     "now",  "ver",
                                   "sync", "red", "step",  "members", "ops",  "bits",
                                   "loss", "x",   "value", "dtype",   "code", "missing"};
static const char *const values[] = {"0",
                                     "1",
                                     "17",
                                     "-3",
                                     "-0",
                                     "1e3",
                                     "5.25",
                                     "true",
                                     "false",
                                     "null",
                                     "\"world/3\"",
                                     "\"tp0/12\"",
                                     "\"/3\"",
                                     "\"world/03\"",
                                     "\"b0\"",
                                     "\"\"",
                                     "\"sum\"",
                                     "\"f32\"",
                                     "[]",
                                     "[0,1,5]",
                                     "[1,0]",
                                     "[1,2]",
                                     "\"nan\"",
                                     "\"3f800000\"",
                                     "[\"3f800000\",\"00000000\"]",
                                     "[\"3f80\"]",
                                     "[\"0123456789abcdef\"]",
                                     "[\"w/0\",\"w/1\",\"w/2\",\"w/9\"]",
                                     "[\"w/1\",\"v/2\"]",
                                     "[\"3F800000\"]",
                                     "9223372036854775807",
                                     "999999999999999999",
                                     "18446744073709551616",
                                     "\"a\\nb\"",
                                     "\"\xc3\xa9\"",
                                     "[\"3f800000\", \"3f800001\"]",
                                     "{}",
                                     "[[]]",
                                     "[1,\"3f800000\"]",
                                     "01",
                                     "\"-inf\"",
                                     "[2147483648]"};

static size_t line_draw(struct draw *draw, char *line)
{
    static const char *const events[] = {"issue", "done", "wait",  "read",    "report", "trace",
                                         "fault", "end",  "issue", "declare", "isue"};
    size_t length =
        add(line, 0, "{\"ev\":\"%s\"", events[draw_below(draw, sizeof events / sizeof *events)]);
    uint32_t fields = draw_below(draw, 8);

    if (draw_below(draw, 4) > 0) {
        length = add(line, length, ",\"rank\":%u,\"op\":\"world/%u\"", draw_below(draw, 3),
                     draw_below(draw, 100));
    }
    for (uint32_t k = 0; k < fields; k++) {
        length = add(line, length, ",\"%s\":%s", keys[draw_below(draw, sizeof keys / sizeof *keys)],
                     values[draw_below(draw, sizeof values / sizeof *values)]);
    }
    return add(line, length, draw_below(draw, 20) ? "}" : "} \r");
}

static void fields_are_same(const struct alar_event *a, const struct alar_event *b, unsigned f,
                            const char *line)
{
    enum alar_field_type type = alar_field_type((enum alar_field)f);
    bool is_list = type == ALAR_TYPE_VALUES || type == ALAR_TYPE_RANKS || type == ALAR_TYPE_OPS;

    cr_assert_eq(a->has[f], b->has[f], "%s", line);
    if (!a->has[f]) {
        return;
    }
    cr_assert_eq(a->number[f], b->number[f], "%s: %s", alar_field_name((enum alar_field)f), line);
    if (f != ALAR_FIELD_EV &&
        (type == ALAR_TYPE_TEXT || type == ALAR_TYPE_OP || type == ALAR_TYPE_LOSS)) {
        cr_assert_eq(a->text[f].length, b->text[f].length, "%s", line);
        cr_assert(a->text[f].length == 0 ||
                      memcmp(a->text[f].data, b->text[f].data, a->text[f].length) == 0,
                  "%s", line);
    }
    for (int64_t k = 0; is_list && k < a->number[f]; k++) {
        const struct alar_value *x = &a->list[f][k], *y = &b->list[f][k];

        cr_assert_eq(x->bits, y->bits, "%s", line);
        cr_assert_eq(x->digits, y->digits, "%s", line);
        cr_assert_eq(x->text == NULL, y->text == NULL, "%s", line);
        cr_assert(x->text == NULL || strcmp(x->text, y->text) == 0, "%s", line);
    }
}

/* Every packed record of the file "packed" is the event that its line is. Returns how many. */
static unsigned events_are_same(struct alar_pack_desk *desk)
{
    static struct alar_event event, other;
    struct alar_record_reader *records;
    struct alar_record_error error;
    struct alar_pack_reader *reader;
    struct alar_pack_piece piece;
    unsigned count = 0;

    cr_assert_eq(alar_record_reader_open(&records), ALAR_OK);
    cr_assert_eq(alar_pack_open(&reader, open(scratch_path("packed"), O_RDONLY)), ALAR_OK);
    while (alar_pack_next(reader, desk, &piece) == ALAR_OK) {
        struct alar_text line;
        char kept[4096];

        if (piece.kind != ALAR_PACK_RECORD) {
            continue;
        }
        memset(&event, 0xa5, sizeof event);
        memset(&other, 0x5a, sizeof other);
        alar_pack_event(desk, &event);
        cr_assert_eq(alar_pack_text(desk, &line), ALAR_OK);
        snprintf(kept, sizeof kept, "%.*s", (int)line.length, line.data);
        cr_assert_eq(alar_record_read(records, line.data, line.length, &other, &error), ALAR_OK,
                     "%s", kept);
        cr_assert_eq(event.record, other.record, "%s", kept);
        for (unsigned f = 0; f < ALAR_FIELD_COUNT; f++) {
            fields_are_same(&event, &other, f, kept);
        }
        cr_assert(!event.has[ALAR_FIELD_LOSS] || memcmp(&event.loss, &other.loss, 8) == 0, "%s",
                  kept);
        cr_assert_eq(event.loss_is_empty, other.loss_is_empty, "%s", kept);
        count++;
    }
    cr_assert_str_eq(alar_pack_error(reader), "");
    alar_pack_close(reader);
    alar_record_reader_close(records);
    return count;
}

/* A packed record is read without its text, so nothing but this keeps both readings together. All
   files share a desk, which has room for fewer shapes than they have. */
Test(pack, drawn_lines_come_back_and_are_the_same_events)
{
    static char text[TEXT_BYTES];
    struct alar_pack_desk *desk;
    struct draw draw = {23};
    unsigned records = 0;

    cr_assert_eq(alar_pack_desk_open(&desk), ALAR_OK);
    for (unsigned round = 0; round < DRAWN(40); round++) {
        uint32_t lines = 1 + draw_below(&draw, 400);
        size_t length = 0;

        for (uint32_t k = 0; k < lines && length < TEXT_BYTES - 4096; k++) {
            length += line_draw(&draw, text + length);
            text[length++] = '\n';
        }
        comes_back(text, length - draw_below(&draw, 2) * draw_below(&draw, 9));
        records += events_are_same(desk);
    }
    alar_pack_desk_close(desk);
    cr_assert_gt(records, DRAWN(500));
}

/* Whatever is not a line of a record is kept as it stands: zeros of a killed recorder, lines
   without end, no lines at all. */
Test(pack, bytes_that_are_no_records_come_back)
{
    static const struct {
        const char *text;
        size_t length;
    } rows[] = {
        {"", 0},
        {"\n", 1},
        {"\n\n\r\n", 4},
        {"no json", 7},
        {"{\"ev\":\"end\"}\n{\"ev\":\"e", 21},
        {"{\"ev\":\"end\"}\n\0\0\0\0", 17},
        {"{\"ev\":\"end\"}\n{\"e\0\0x\0\0", 22},
        {"\0\0\0", 3},
        {"a\0b\nc\0d\n", 8},
        {"\x89"
         "alar",
         5},
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        comes_back(rows[k].text, rows[k].length);
    }
}

/* A history with something of every kind in it, packed; returns its bytes. */
static size_t history_pack(unsigned char *whole)
{
    static char text[TEXT_BYTES];
    size_t length = 0;

    for (int k = 0; k < 40; k++) {
        length = add(text, length,
                     "{\"ev\":\"issue\",\"rank\":0,\"op\":\"world/"
                     "%d\",\"n\":2,\"in\":[\"%08x\",\"3f800000\"],"
                     "\"members\":[0,2,7],\"src\":\"a.c:%d\"}\n"
                     "{\"ev\":\"done\",\"rank\":0,\"op\":%d,\"out\":[\"%08x\",\"3f800000\"]}\n",
                     k, 0x40000000U + 77U * (unsigned)k, k % 7, k, 0x41000000U + 99U * (unsigned)k);
    }
    length = add(text, length,
                 "{\"ev\":\"report\",\"rank\":0,\"metric\":\"m\",\"step\":1,\"loss\":1.5,"
                 "\"bits\":\"3fc00000\",\"ops\":[\"world/0\",\"world/1\",\"world/2\"]}\n"
                 "{\"ev\": \"sync\",\"rank\":0}\n{\"ev\":\"end\",\"rank\":0}\n{\"ev\":");
    return pack(whole, text, length);
}

/* Reads the bytes in both ways: as a history to be judged, and back to text. */
static void is_survived(const unsigned char *bytes, size_t size, bool *is_refused)
{
    char error_line[ALAR_ERROR_LINE_BYTES] = "";
    struct told judged;

    told_bytes(&judged, (const char *)bytes, size);
    *is_refused = judged.status != ALAR_OK;
    cr_assert_eq(*is_refused, judged.reading.error_line[0] != '\0');
    cr_assert(unpack(judged.path, "/dev/null", error_line) == ALAR_OK || error_line[0] != '\0');
    told_free(&judged);
}

/* A file that stops anywhere is refused: no beginning of a packed history passes for all of it. */
Test(pack, every_cut_is_refused)
{
    static unsigned char whole[2 * TEXT_BYTES];
    size_t size = history_pack(whole);
    bool is_refused;

    is_survived(whole, size, &is_refused);
    cr_assert(!is_refused);
    for (size_t cut = 0; cut < size; cut++) {
        is_survived(whole, cut, &is_refused);
        cr_assert(is_refused || cut == 0, "cut at byte %zu of %zu", cut, size);
    }
}

/* A changed byte is noticed by the check sums. */
Test(pack, every_changed_byte_is_refused)
{
    static unsigned char whole[2 * TEXT_BYTES];
    size_t size = history_pack(whole);
    struct draw draw = {24};
    bool is_refused;

    for (size_t at = 0; at < size; at++) {
        unsigned char old = whole[at];

        whole[at] = (unsigned char)(old ^ (1 + draw_below(&draw, 255)));
        is_survived(whole, size, &is_refused);
        cr_assert(is_refused, "byte %zu of %zu changed", at, size);
        whole[at] = old;
    }
}

/* Somebody who forges the check sums too gets a verdict or a refusal, and nothing else. */
Test(pack, forged_bytes_are_survived)
{
    static unsigned char whole[2 * TEXT_BYTES];
    size_t size = history_pack(whole);
    struct draw draw = {25};
    unsigned refused = 0, changes = DRAWN(CHANGES);

    for (unsigned k = 0; k < changes; k++) {
        size_t block = pack_get(whole + PACK_HEAD_BYTES, 4);
        size_t at = PACK_HEAD_BYTES + PACK_FRAME_BYTES + draw_below(&draw, (uint32_t)block);
        unsigned char old = whole[at];
        bool is_refused;

        whole[at] = (unsigned char)draw_bits(&draw);
        pack_put(whole + PACK_HEAD_BYTES + 4,
                 alar_crc32(whole + PACK_HEAD_BYTES + PACK_FRAME_BYTES, block), 4);
        is_survived(whole, size, &is_refused);
        refused += is_refused;
        if (draw_below(&draw, 3) > 0) {
            whole[at] = old;
        }
        if (k % 16 == 0) {
            history_pack(whole);
        }
    }
    cr_assert(refused > changes / 50 && refused < changes, "%u of %u", refused, changes);
}

/* What zlib and Python's binascii make of the same bytes. */
Test(pack, the_check_sum_is_the_usual_one)
{
    cr_assert_eq(alar_crc32("123456789", 9), 0xcbf43926U);
    cr_assert_eq(alar_crc32("", 0), 0U);
}
