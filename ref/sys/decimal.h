/* Decimal text to bits and back, each correctly rounded once. Shell: uses the C library. */
#ifndef ALAR_DECIMAL_H
#define ALAR_DECIMAL_H

#include "api/dtype.h"

/* Longest text that alar_decimal_print writes, with its end. */
#define ALAR_DECIMAL_MAX 32

/* Reads all of text as one value: for floats what strtod takes, without leading blanks (1.5e-3,
   inf, nan, 0x1p-3), rounded once to the nearest value of the dtype, also for F16, BF16 and F32;
   for integers decimal digits with an optional sign.
   Errors: ALAR_E_INPUT when text is no number; ALAR_E_RANGE when an integer does not fit.
   spec: N-05 */
ALAR_MUST_USE enum alar_status alar_decimal_parse(enum alar_dtype dtype, const char *text,
                                                  uint64_t *bits);

/* Writes the shortest decimal that reads back as the same bits, whole numbers below 1e9 as such;
   "nan", "inf", "-inf". */
void alar_decimal_print(enum alar_dtype dtype, uint64_t bits, char text[ALAR_DECIMAL_MAX]);

#endif
