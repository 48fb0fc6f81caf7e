/* One line, one event: the plain shape is read without a JSON library, and must be read as the
   library reads it, to the last field and to the last word of what is wrong with it. */
#include "base/rng.h"
#include "check/record_read.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum {
    LINE_BYTES = 512,
    DRAWS = 40000
};

static const char *const lines[] = {
    "{\"ev\":\"trace\",\"rank\":0,\"i\":0,\"t\":-3,\"v\":1,\"world\":4,"
    "\"backend\":\"gloo\",\"clock\":"
    "\"monotonic_ns\",\"t0\":2452574622258,\"sees\":\"values "
    "polls\",\"check_for_nan\":\"off\"}",
    "{\"ev\":\"issue\",\"rank\":0,\"i\":1,\"t\":7,\"op\":\"world/"
    "0\",\"red\":\"sum\",\"dtype\":\"f32\",\"n\":2,"
    "\"sync\":false,\"buf\":\"b0\",\"ver\":0,\"in\":[\"4534a76d\",\"43ff8000\"]"
    "}",
    "{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":[ 1 , "
    "-2.5e-3,\"nan\",\"-inf\", 0.1 ],\"members\":[0,1,2]}",
    " { \"ev\" : \"wait\" , \"rank\" : 0 , \"op\" : \"world/3\" , \"done\" : "
    "true , \"now\" : [ ] } ",
    "{\"ev\":\"done\",\"rank\":0,\"op\":12,\"own_field\":[1,\"x\",null],"
    "\"out\":[\"46127cbe\"]}\r",
    "{\"ev\":\"fail\",\"rank\":0,\"op\":0,\"error\":\"timeout\",\"text\":"
    "\"gave \\u0075p\",\"missing\":[2]}",
    "{\"ev\":\"read\",\"rank\":2,\"op\":\"world/"
    "9\",\"at\":0,\"n\":1,\"bits\":[\"445b6634\"],\"by\":\"backend\"}",
    "{\"ev\":\"fault\",\"rank\":2,\"point\":\"alar/rank/mute/"
    "2\",\"hit\":1,\"value\":{\"a\":[0,{}]}}",
    "{\"ev\":\"report\",\"rank\":0,\"metric\":\"\xc3\xa9tat\",\"step\":10,"
    "\"loss\":5.519273,\"bits\":\"40b09de2\","
    "\"ops\":[0,\"dp/1\",2],\"sink\":\"log\"}",
    "{\"ev\":\"report\",\"rank\":0,\"metric\":\"lm "
    "loss\",\"step\":10,\"loss\":null,\"logged_at_step\":11}",
    "{\"ev\":\"exit\",\"rank\":3,\"t\":4,\"code\":-9}",
    "{\"ev\":\"answer\",\"rank\":1,\"op\":0,\"call\":\"wait\",\"told\":"
    "\"done\",\"code\":-11}",
    "{}",
    "{\"rank\":0}",
};

/* What can be put into a line, and breaks most of them. */
static const char pieces[] =
    "\"\"\\{}[]:,,0123456789.eE+--tfnaux/ \t\r\f\v\x01\x1f\x7f\x80\xc3\xff";

/* A reader, and what it read last. */
struct reading {
    struct alar_record_reader *reader;
    struct alar_event event;
    struct alar_record_error error;
    enum alar_status status;
};

static void reading_line(struct reading *reading, const char *line, size_t length)
{
    reading->status =
        alar_record_read(reading->reader, line, length, &reading->event, &reading->error);
}

static bool is_same_list(const struct alar_event *a, const struct alar_event *b, unsigned field)
{
    for (int64_t k = 0; k < a->number[field]; k++) {
        const struct alar_value *x = &a->list[field][k], *y = &b->list[field][k];

        if (x->bits != y->bits || x->digits != y->digits ||
            (x->text == NULL) != (y->text == NULL) ||
            (x->text != NULL && strcmp(x->text, y->text) != 0)) {
            return false;
        }
    }
    return true;
}

static bool is_same_text(struct alar_text a, struct alar_text b)
{
    return a.length == b.length && (a.data == NULL) == (b.data == NULL) &&
           (a.data == NULL || memcmp(a.data, b.data, a.length) == 0);
}

/* The same field, and in the second line `shift` bytes further on? */
static bool is_same_field(const struct reading *a, const struct reading *b, enum alar_field field,
                          size_t shift)
{
    const struct alar_event *x = &a->event, *y = &b->event;
    enum alar_field_type type = alar_field_type(field);
    bool is_list = type == ALAR_TYPE_VALUES || type == ALAR_TYPE_RANKS || type == ALAR_TYPE_OPS;
    bool is_text = type == ALAR_TYPE_TEXT || type == ALAR_TYPE_OP || type == ALAR_TYPE_LOSS;

    if (x->has[field] != y->has[field] || !x->has[field]) {
        return x->has[field] == y->has[field];
    }
    return x->number[field] == y->number[field] && (!is_list || is_same_list(x, y, field)) &&
           (!is_text || is_same_text(x->text[field], y->text[field])) &&
           alar_record_column(a->reader, field) + shift == alar_record_column(b->reader, field);
}

static void claim_same(const struct reading *a, const struct reading *b, const char *line,
                       size_t shift)
{
    cr_assert_eq(a->status, b->status, "%s: %s and %s", line, a->error.text, b->error.text);
    if (a->status != ALAR_OK) {
        cr_assert_str_eq(a->error.text, b->error.text, "%s", line);
        cr_assert_eq(a->error.is_cut, b->error.is_cut, "%s", line);
        return;
    }
    cr_assert_eq(a->event.record, b->event.record, "%s", line);
    cr_assert_eq(a->event.loss_is_empty, b->event.loss_is_empty, "%s", line);
    for (unsigned f = 0; f < ALAR_FIELD_COUNT; f++) {
        cr_assert(is_same_field(a, b, (enum alar_field)f, shift), "%s: field %s", line,
                  alar_field_name((enum alar_field)f));
    }
    cr_assert(!a->event.has[ALAR_FIELD_LOSS] ||
                  memcmp(&a->event.loss, &b->event.loss, sizeof a->event.loss) == 0,
              "%s", line);
}

/* Replaces, leaves out, or puts in a byte. */
static size_t line_break(struct alar_rng *rng, char *line, size_t length)
{
    size_t at = (size_t)alar_rng_below(rng, length);
    uint64_t how = alar_rng_below(rng, 3);

    if (how == 0) {
        memmove(line + at, line + at + 1, length - at - 1);
        return length - 1;
    }
    if (how == 1) {
        memmove(line + at + 1, line + at, length - at);
        length++;
    }
    line[at] = pieces[alar_rng_below(rng, sizeof pieces - 1)];
    return length;
}

/* A form feed before the object is a blank of the library and none of the plain shape, so that the
   second of each two readings is the library's. spec: O-01 */
Test(record_read, plain_lines_are_read_as_the_library_reads_them)
{
    struct alar_rng rng = alar_rng_stream(23, 1);
    struct reading plain = {0}, library = {0};
    char line[LINE_BYTES];
    unsigned good = 0;

    cr_assert_eq(alar_record_reader_open(&plain.reader), ALAR_OK);
    cr_assert_eq(alar_record_reader_open(&library.reader), ALAR_OK);
    for (unsigned k = 0; k < DRAWS; k++) {
        const char *base = lines[k % (sizeof lines / sizeof lines[0])];
        size_t length = strlen(base);

        line[0] = '\f';
        memcpy(line + 1, base, length);
        for (uint64_t left = k < 100 ? 0 : alar_rng_below(&rng, 4); left > 0 && length > 2;
             left--) {
            length = line_break(&rng, line + 1, length);
        }
        line[1 + length] = '\0';
        reading_line(&plain, line + 1, length);
        reading_line(&library, line, length + 1);
        claim_same(&plain, &library, line + 1, 1);
        good += plain.status == ALAR_OK;
    }
    cr_assert_gt(good, DRAWS / 5, "%u lines are good", good);
    cr_assert_lt(good, 4 * DRAWS / 5, "%u lines are good", good);
    alar_record_reader_close(plain.reader);
    alar_record_reader_close(library.reader);
}
