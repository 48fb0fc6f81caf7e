/* One element of an all-reduce as its encoding has it: a number in fp32 or fp64, or, in any
   encoding, a part of a set of ranks.

   A set is carried as a SUM can carry one exactly: rank r adds 2^(r mod B) to element r / B, with B
   bits a element (24 in fp32, 53 in fp64, 62 in int64). Each rank adds its bit at most once, so no
   order of addition rounds. spec: L-07 */
#ifndef ALAR_PAYLOAD_ELEMENT_H
#define ALAR_PAYLOAD_ELEMENT_H

#include "api/terms.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number, rounded once to the element. PRE: a pair encoding. */
double alar_element_read(enum alar_encoding encoding, const void *elements, size_t i);
void alar_element_write(enum alar_encoding encoding, void *elements, size_t i, double value);

/* Ranks that a element can name: the bits of the whole numbers that it holds and adds exactly. */
uint32_t alar_set_bits(enum alar_encoding encoding);

/* Elements of a set of that many ranks. */
size_t alar_set_elements(enum alar_encoding encoding, uint32_t ranks);

/* Writes a element of a set. */
void alar_set_write(enum alar_encoding encoding, void *elements, size_t i, uint64_t set);

/* Reads the `part`-th of the elements, from elements[first] on, that carry a set of `ranks` ranks;
   false for a element that holds no set of them: a broken back end may deliver anything. */
bool alar_set_read(enum alar_encoding encoding, uint32_t ranks, const void *elements, size_t first,
                   size_t part, uint64_t *set);

#endif
