/* Status codes: what a call says about itself, and the exit code that follows from it. */
#ifndef ALAR_STATUS_H
#define ALAR_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ALAR_MUST_USE __attribute__((warn_unused_result))
/* What the libraries offer; everything else in them is hidden. */
#define ALAR_API __attribute__((visibility("default")))
#else
#define ALAR_MUST_USE
#define ALAR_API
#endif

/* ALAR_OK is 0; every other code is an error. Outputs stay untouched when a call fails. */
enum alar_status {
#define X(code, class, text) ALAR_##code,
#include "status.def"
#undef X
    ALAR_STATUS_COUNT
};

/* The numbers are the exit codes of every subcommand. */
enum alar_class {
    ALAR_CLASS_GOOD = 0,       /* nothing wrong was found */
    ALAR_CLASS_WRONG = 1,      /* FAIL, NONFINITE, or an illegal difference */
    ALAR_CLASS_INCOMPLETE = 2, /* UNKNOWN, a deadline, a silent rank */
    ALAR_CLASS_UNUSABLE = 3,   /* the command line or the input can't be used */
    ALAR_CLASS_DEFECT = 4,     /* a defect of alar itself */
};

/* Passes a failure on when there is nothing to undo. */
#define ALAR_TRY(call)                              \
    do {                                            \
        enum alar_status alar_try_status_ = (call); \
        if (alar_try_status_ != ALAR_OK) {          \
            return alar_try_status_;                \
        }                                           \
    } while (0)

/* The code's name without prefix ("E_FULL"); "?" for a number that is no code. */
ALAR_API const char *alar_status_name(enum alar_status status);

/* One line for people; "unknown status" for a number that is no code. */
ALAR_API const char *alar_status_text(enum alar_status status);

/* The class of a code; DEFECT for a number that is no code. */
ALAR_API enum alar_class alar_status_class(enum alar_status status);

/* Which of two exit codes wins over several inputs: 4 > 1 > 3 > 2 > 0. */
ALAR_API enum alar_class alar_class_worst(enum alar_class a, enum alar_class b);

#ifdef __cplusplus
}
#endif

#endif
