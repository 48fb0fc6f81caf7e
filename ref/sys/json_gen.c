/* What everybody who writes JSON through yajl needs. */
#include "sys/json_gen.h"

#include "sys/json_out.h"
#include "sys/plain_numbers.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    TEXT_BYTES = 8192
};

void alar_gen_text(yajl_gen json, const char *text)
{
    char clean[TEXT_BYTES];
    size_t length = 0;

    while (*text != '\0' && length + 4 < sizeof clean) {
        size_t bytes = alar_utf8_bytes(text);

        memcpy(clean + length, bytes > 0 ? text : "?", bytes > 0 ? bytes : 1);
        length += bytes > 0 ? bytes : 1;
        text += bytes > 0 ? bytes : 1;
    }
    yajl_gen_string(json, (const unsigned char *)clean, length);
}

void alar_gen_count(yajl_gen json, uint64_t count)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%" PRIu64, count);
    yajl_gen_number(json, digits, strlen(digits));
}

void alar_gen_key_text(yajl_gen json, const char *key, const char *text)
{
    alar_gen_text(json, key);
    alar_gen_text(json, text);
}

void alar_gen_key_count(yajl_gen json, const char *key, uint64_t count)
{
    alar_gen_text(json, key);
    alar_gen_count(json, count);
}

void alar_gen_key_signed(yajl_gen json, const char *key, int64_t number)
{
    alar_gen_text(json, key);
    yajl_gen_integer(json, number);
}

void alar_gen_key_flag(yajl_gen json, const char *key, bool truth)
{
    alar_gen_text(json, key);
    yajl_gen_bool(json, truth);
}

void alar_gen_key_real(yajl_gen json, const char *key, double number, int digits)
{
    char text[64];

    alar_gen_text(json, key);
    if (!isfinite(number) || fabs(number) > 1e15) {
        yajl_gen_null(json);
        return;
    }
    alar_plain_print(text, sizeof text, "%.*f", digits, number);
    yajl_gen_number(json, text, strlen(text));
}

void alar_gen_write(yajl_gen json, FILE *out)
{
    const unsigned char *text;
    size_t length;

    yajl_gen_get_buf(json, &text, &length);
    fwrite(text, 1, length, out);
    fputc('\n', out);
    yajl_gen_free(json);
}
