/* The geometry of cells: intervals and subsets. */
#include "legal/partition.h"

uint64_t alar_block_cells(const struct alar_block *block)
{
    uint64_t leaves = block->leaves;

    return block->is_ordered ? leaves * leaves : UINT64_C(1) << leaves;
}

/* Cells of an ordered block are numbered (length - 1) * leaves + start, others by subset. */
bool alar_block_split(const struct alar_block *block, uint32_t cell, uint32_t *step, uint32_t *a,
                      uint32_t *b)
{
    uint32_t base = block->first_cell;
    uint32_t id = cell - base;

    if (block->is_ordered) {
        uint32_t start = id % block->leaves;
        uint32_t length = id / block->leaves + 1;
        uint32_t left = ++*step;
        if (left >= length) {
            return false;
        }
        *a = base + (left - 1) * block->leaves + start;
        *b = base + (length - left - 1) * block->leaves + start + left;
        return true;
    }
    uint32_t rest = id & (id - 1);
    if (*step == rest) {
        return false;
    }
    *a = base + ((id ^ rest) | *step);
    *b = base + (rest ^ *step);
    *step = (*step - rest) & rest;
    return true;
}

uint32_t alar_block_whole(const struct alar_block *block)
{
    return block->first_cell + (block->is_ordered ? (block->leaves - 1) * block->leaves
                                                  : (UINT32_C(1) << block->leaves) - 1);
}

uint32_t alar_block_leaf_cell(const struct alar_block *block, uint32_t leaf)
{
    return block->first_cell + (block->is_ordered ? leaf : UINT32_C(1) << leaf);
}

uint32_t alar_block_leaf(const struct alar_block *block, uint32_t cell)
{
    for (uint32_t leaf = 0; leaf < block->leaves; leaf++) {
        if (alar_block_leaf_cell(block, leaf) == cell) {
            return leaf;
        }
    }
    return UINT32_MAX;
}

bool alar_block_is_sum(const struct alar_block *block, uint32_t cell)
{
    uint32_t id = cell - block->first_cell;

    if (block->is_ordered) {
        uint32_t length = id / block->leaves + 1;
        return length > 1 && id % block->leaves + length <= block->leaves;
    }
    return (id & (id - 1)) != 0;
}
