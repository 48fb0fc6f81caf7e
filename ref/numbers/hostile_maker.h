/* Inside the generators of hostile inputs: what their files share. */
#ifndef ALAR_HOSTILE_MAKER_H
#define ALAR_HOSTILE_MAKER_H

#include "base/rng.h"
#include "numbers/hostile.h"

/* One input while it is made. */
struct hostile_maker {
    struct alar_hostile_input *input;
    uint32_t ranks;
    uint64_t index;
    struct alar_rng rng;
};

/* One contribution, rounded to the input's dtype; the same one everywhere. */
void hostile_set(struct hostile_maker *maker, uint32_t rank, uint32_t element, double value);
void hostile_fill(struct hostile_maker *maker, double value);

uint32_t hostile_below(struct hostile_maker *maker, uint64_t bound);

/* Deals the contributions to an element out anew among the ranks. */
void hostile_shuffle(struct hostile_maker *maker, uint32_t element);

/* The kinds of hostile_edge.c. */
void hostile_edges(struct hostile_maker *maker);
void hostile_specials(struct hostile_maker *maker);
void hostile_averages(struct hostile_maker *maker);
void hostile_integers(struct hostile_maker *maker);
void hostile_live(struct hostile_maker *maker);

#endif
