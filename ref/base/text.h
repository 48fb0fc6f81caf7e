/* Pieces of text that somebody else keeps. */
#ifndef ALAR_TEXT_H
#define ALAR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of text, not terminated; data is NULL when there is none. */
struct alar_text {
    const char *data;
    size_t length;
};

/* Same bytes? */
bool alar_text_is(struct alar_text text, const char *other);

/* 64-bit FNV-1a of the bytes; for telling names apart, never for security. */
uint64_t alar_text_hash(struct alar_text text);

/* Copies text into `room` bytes, terminated; a text too long keeps its end, after "..". PRE: room
 * >= 4. */
void alar_text_keep(struct alar_text text, char *copy, size_t room);

#endif
