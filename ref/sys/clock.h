/* Real time: microseconds on a clock that never runs backwards. */
#ifndef ALAR_CLOCK_H
#define ALAR_CLOCK_H

#include <stdint.h>

/* Microseconds since some fixed moment of this machine; `unused` fits the driver's clock hook. */
uint64_t alar_clock_now(void *unused);

/* The same in nanoseconds. */
uint64_t alar_clock_now_ns(void);

/* Sleeps until alar_clock_now() is at least `until_us`; signals do not cut it short. */
void alar_clock_sleep(uint64_t until_us);

#endif
