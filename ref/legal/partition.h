/* How a family of trees takes a set of ranks apart: the geometry of its cells.

   Cells are numbered so that parts come before wholes. */
#ifndef ALAR_BLOCK_H
#define ALAR_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* A family over `leaves` parts. A part is a rank, or another block's whole set. */
struct alar_block {
    bool is_ordered;     /* parts keep their order: intervals; else any subset */
    bool is_over_blocks; /* parts are the blocks 0 .. leaves-1 */
    uint32_t leaves;
    uint32_t first_cell;
    uint32_t first_member; /* where its ranks start in member */
};

/* How many cell numbers the block takes up; an ordered block leaves some of them unused. */
uint64_t alar_block_cells(const struct alar_block *block);

/* The cell of all parts, and of one part. */
uint32_t alar_block_whole(const struct alar_block *block);
uint32_t alar_block_leaf_cell(const struct alar_block *block, uint32_t leaf);

/* The part that a cell is; UINT32_MAX for cells of several parts. */
uint32_t alar_block_leaf(const struct alar_block *block, uint32_t cell);

/* Is the number in use, for a cell of several parts? */
bool alar_block_is_sum(const struct alar_block *block, uint32_t cell);

/* Walks over the splits of a cell: *step is 0 at first; false when there are no more. */
bool alar_block_split(const struct alar_block *block, uint32_t cell, uint32_t *step, uint32_t *a,
                      uint32_t *b);

#endif
