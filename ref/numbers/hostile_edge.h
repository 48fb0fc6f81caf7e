/* Inside the generators of hostile inputs: what their files share. */
#ifndef ALAR_VECTORS_EDGE_H
#define ALAR_VECTORS_EDGE_H

#include "base/rng.h"
#include "numbers/hostile.h"

/* One vector while it is made. */
struct vectors_maker {
    struct alar_vector *vector;
    uint32_t ranks;
    uint64_t index;
    struct alar_rng rng;
};

/* One contribution, rounded to the vector's dtype; the same one everywhere. */
void vectors_set(struct vectors_maker *maker, uint32_t rank, uint32_t element, double value);
void vectors_fill(struct vectors_maker *maker, double value);

uint32_t vectors_below(struct vectors_maker *maker, uint64_t bound);

/* Deals the contributions to an element out anew among the ranks. */
void vectors_shuffle(struct vectors_maker *maker, uint32_t element);

/* The families of vectors_edge.c. */
void vectors_edges(struct vectors_maker *maker);
void vectors_specials(struct vectors_maker *maker);
void vectors_averages(struct vectors_maker *maker);
void vectors_integers(struct vectors_maker *maker);
void vectors_live(struct vectors_maker *maker);

#endif
