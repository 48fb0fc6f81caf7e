/* Ranges of elements that may overlap, in an arena: those that meet a given range are found in
   log n steps each, however many do not. A balanced tree by where ranges begin, each node of which
   knows how far the ranges below it reach. The tree is named by its root, 0 when it is empty. */
#ifndef ALAR_EXTENT_TREE_H
#define ALAR_EXTENT_TREE_H

#include "base/arena.h"

#include <stdbool.h>

enum {
    ALAR_EXTENT_MARKS = 3 /* kinds of ranges; every range is of the first one */
};

struct alar_extent {
    uint64_t at, n;           /* elements; an empty range meets what goes on on both sides of it */
    uint64_t order;           /* from 1 on, later ones are greater; no two are the same */
    uint64_t owner;           /* whose it is, for the caller */
    uint32_t marks;           /* bit set, of the kinds it is of; bit 0 is set */
    uint32_t weight;          /* drawn: a node is no lighter than those below it */
    uint64_t left, right, up; /* other ranges; 0: none */
    uint64_t reach[ALAR_EXTENT_MARKS]; /* of its kind, here and below: where the last one ends */
    uint64_t latest;                   /* here and below: greatest order */
    uint64_t next;                     /* of a list the caller makes */
};

/* Puts a range, whose first five fields are filled in, into the tree. Returns the new root. */
uint64_t alar_extent_add(struct alar_arena *arena, uint64_t root, uint64_t made);

/* Takes a range out of its tree. Returns the new root. */
uint64_t alar_extent_remove(struct alar_arena *arena, uint64_t root, uint64_t removed);

/* It is of no kind any more but those of `marks`. */
void alar_extent_mark(struct alar_arena *arena, uint64_t range, uint32_t marks);

/* Do elements at .. at + n meet it? */
bool alar_extent_meets(const struct alar_extent *range, uint64_t at, uint64_t n);

/* All ranges of kind `mark` that meet at .. at + n, as a list, latest first. Returns its first. */
uint64_t alar_extent_list(const struct alar_arena *arena, uint64_t root, unsigned mark, uint64_t at,
                          uint64_t n);

/* The latest of all ranges that meet at .. at + n; 0: there is none. */
uint64_t alar_extent_latest(const struct alar_arena *arena, uint64_t root, uint64_t at, uint64_t n);

#endif
