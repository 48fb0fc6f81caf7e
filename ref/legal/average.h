/* What an average means: four conventions, each a sum with something before it or after it.

   The step before turns contributions into what is summed; the step after is monotone, so a value
   belongs to a range of sums. spec: N-16 */
#ifndef ALAR_AVERAGE_H
#define ALAR_AVERAGE_H

#include "api/terms.h"
#include "numbers/fp.h"

/* Writes what is summed for n contributions: x / n, x * fl(1/n), or x itself. */
void alar_average_prepare(enum alar_avg avg, enum alar_dtype dtype, const uint64_t *bits,
                          uint32_t n, uint64_t *prepared);

/* The same for one contribution. */
uint64_t alar_average_before(enum alar_avg avg, enum alar_dtype dtype, uint64_t bits, uint32_t n);

/* What a sum is turned into: s / n, s * fl(1/n), or s itself. */
uint64_t alar_average_finish(enum alar_avg avg, enum alar_dtype dtype, uint64_t sum, uint32_t n);

/* The sums that alar_average_finish turns into this value, as ranks on the line of values of a
   float dtype; false when there are none. NaN comes from NaN alone: not to be asked. */
bool alar_average_sums(enum alar_avg avg, enum alar_dtype dtype, uint64_t value, uint32_t n,
                       int64_t *first, int64_t *last);

/* How a sum becomes a result. With another result dtype the average is made in `dtype` from
   beginning to end and rounded once by the model; that is monotone as well. spec: N-31 */
struct alar_average {
    enum alar_avg avg;
    enum alar_dtype dtype;  /* of the sum, and of the division or multiplication */
    enum alar_dtype result; /* the same, or that of the contributions */
    enum alar_model model;
    bool is_flushed; /* the quotient too, where subnormal numbers are */
    uint32_t n;
};

uint64_t alar_average_result(const struct alar_average *average, uint64_t sum);

/* As alar_average_sums: the sums, ranks on the line of `dtype`, that become this result. */
bool alar_average_sources(const struct alar_average *average, uint64_t value, int64_t *first,
                          int64_t *last);

#endif
