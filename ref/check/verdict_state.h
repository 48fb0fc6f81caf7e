/* Text being put together, private to words*.c. */
#ifndef ALAR_WORDS_STATE_H
#define ALAR_WORDS_STATE_H

#include "check/verdict_text.h"

enum {
    WORDS_BYTES = 1024 /* longest reason or row */
};

/* What does not fit is left out. */
struct words_phrase {
    char *text;
    size_t size, length;
};

void words_say(struct words_phrase *phrase, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void words_say_place(struct words_phrase *phrase, const struct alar_history_files *files,
                     struct alar_place place);
void words_say_value(struct words_phrase *phrase, enum alar_dtype dtype, uint64_t bits);
void words_say_finding(struct words_phrase *phrase, const struct alar_verdict *verdict,
                       const struct alar_evidence *evidence);
void words_say_diagnosis(struct words_phrase *phrase, const struct alar_evidence *evidence);
void words_say_unknown(struct words_phrase *phrase, const struct alar_history_files *files,
                       const struct alar_verdict *verdict, unsigned reason);

#endif
