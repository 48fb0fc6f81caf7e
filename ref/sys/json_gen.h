/* JSON of any shape through yajl, and what everybody who writes it needs: text that is always
   UTF-8, keys with values, a document on one line. Lines of a history have their own, faster
   writer: json_out.h. */
#ifndef ALAR_JSON_GEN_H
#define ALAR_JSON_GEN_H

#include "api/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <yajl/yajl_gen.h>

/* A string: bytes that are no UTF-8 become '?'; of texts longer than 8 KiB the beginning. */
void alar_gen_text(yajl_gen json, const char *text);

/* A number without sign, of any size. */
void alar_gen_count(yajl_gen json, uint64_t count);

/* A key of a map, and its value. */
void alar_gen_key_text(yajl_gen json, const char *key, const char *text);
void alar_gen_key_count(yajl_gen json, const char *key, uint64_t count);
void alar_gen_key_signed(yajl_gen json, const char *key, int64_t number);
void alar_gen_key_flag(yajl_gen json, const char *key, bool truth);

/* A number with at most `digits` digits behind the point; null when it is not finite. */
void alar_gen_key_real(yajl_gen json, const char *key, double number, int digits);

/* Writes the document and a newline, and frees the generator. */
void alar_gen_write(yajl_gen json, FILE *out);

#endif
