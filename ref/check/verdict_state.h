/* Text being put together, private to words*.c. */
#ifndef ALAR_WORDS_STATE_H
#define ALAR_WORDS_STATE_H

#include "check/verdict_text.h"

enum {
    WORDS_BYTES = 1024 /* longest reason or row */
};

/* What does not fit is left out. */
struct verdict_phrase {
    char *text;
    size_t size, length;
};

void verdict_say(struct verdict_phrase *phrase, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void verdict_say_place(struct verdict_phrase *phrase, const struct alar_history_files *files,
                       struct alar_place place);
void verdict_say_value(struct verdict_phrase *phrase, enum alar_dtype dtype, uint64_t bits);
void verdict_say_finding(struct verdict_phrase *phrase, const struct alar_verdict *verdict,
                         const struct alar_evidence *evidence);
void verdict_say_list(struct verdict_phrase *phrase, const struct alar_list *list);
void verdict_say_pass(struct verdict_phrase *phrase, const struct alar_verdict *verdict);
void verdict_say_provenance(struct verdict_phrase *phrase, const struct alar_provenance *from);
void verdict_say_report(struct verdict_phrase *phrase, const struct alar_evidence *evidence);
void verdict_say_witness(struct verdict_phrase *phrase, const struct alar_evidence *evidence,
                         const struct alar_witness_event *witness);
void verdict_say_explanation(struct verdict_phrase *phrase, const struct alar_evidence *evidence,
                             const struct alar_explanation *why);
void verdict_say_diagnosis(struct verdict_phrase *phrase, const struct alar_evidence *evidence);
void verdict_say_answer(struct verdict_phrase *phrase, const struct alar_evidence *evidence);
void verdict_story_row(const struct alar_words *words, const char *head,
                       struct verdict_phrase *phrase);
void verdict_say_calls(struct verdict_phrase *phrase, const struct alar_evidence *evidence);
void verdict_story_stands(const struct alar_words *words, const struct alar_history_files *files,
                          const struct alar_verdict *verdict, struct verdict_phrase *phrase);
void verdict_say_pending(struct verdict_phrase *phrase, const struct alar_pending *pending);
void verdict_say_refused(struct verdict_phrase *phrase, const struct alar_verdict *verdict);
void verdict_say_list(struct verdict_phrase *phrase, const struct alar_list *list);
void verdict_say_unknown(struct verdict_phrase *phrase, const struct alar_history_files *files,
                         const struct alar_verdict *verdict, unsigned reason);

#endif
