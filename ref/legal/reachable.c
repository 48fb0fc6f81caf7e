/* Reachable sets: fill cells in order of size, stop a cell when the line of values between its
   extremes is full. */
#include "legal/reachable.h"

#include "base/check.h"

#include <math.h>

/* Below this many values a scan is faster than a hash. */
enum {
    REACH_SCAN = 12
};

static uint64_t *reach_slot(const struct alar_reach *reach, const struct alar_reach_cell *cell,
                            uint64_t bits)
{
    uint32_t at = (uint32_t)((bits * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (reach->slots - 1);
    uint64_t stamp = (uint64_t)(uint32_t)(cell - reach->cell) + 1;

    while (reach->slot[at] >> 32 == stamp &&
           alar_fp_bits(reach->value[(uint32_t)reach->slot[at]]) != bits) {
        at = (at + 1) & (reach->slots - 1);
    }
    return &reach->slot[at];
}

/* Is the value in the cell already? When not, and a hash is kept, marks its place as taken. */
static bool cell_is_known(struct alar_reach *reach, const struct alar_reach_cell *cell,
                          uint64_t bits)
{
    uint64_t stamp = (uint64_t)(uint32_t)(cell - reach->cell) + 1;

    if (cell->count < REACH_SCAN) {
        for (uint32_t i = 0; i < cell->count; i++) {
            if (alar_fp_bits(reach->value[cell->first + i]) == bits) {
                return true;
            }
        }
        return false;
    }
    if (cell->count == REACH_SCAN) {
        for (uint32_t i = cell->first; i < cell->first + cell->count; i++) {
            *reach_slot(reach, cell, alar_fp_bits(reach->value[i])) = stamp << 32 | i;
        }
    }
    uint64_t *slot = reach_slot(reach, cell, bits);
    bool is_known = *slot >> 32 == stamp;

    *slot = is_known ? *slot : stamp << 32 | reach->values;
    return is_known;
}

/* Adds a value to the cell at the end of the arena. */
static enum alar_status cell_add(struct alar_reach *reach, struct alar_reach_cell *cell,
                                 double value)
{
    value = value + 0.0; /* -0 becomes +0 */
    if (cell_is_known(reach, cell, alar_fp_bits(value))) {
        return ALAR_OK;
    }
    if (reach->values >= reach->value_limit || cell->count >= reach->slots / 2) {
        return ALAR_E_RANGE;
    }
    reach->value[reach->values++] = value;
    cell->count++;
    return ALAR_OK;
}

/* How many values of adder.wide lie from low to high; zeros count once. */
static uint64_t cell_window(const struct alar_reach *reach, const struct alar_reach_cell *cell)
{
    enum alar_dtype wide = reach->adder.wide;
    uint64_t low = alar_fp_from_double(wide, cell->low);
    uint64_t high = alar_fp_from_double(wide, cell->high);

    return alar_fp_ulps(wide, low, high) + 1;
}

/* Extremes of a cell from those of its parts; infinities and NaN switch them off. To nearest, sums
   are rounded once for the cell, as in hull.c. */
static enum alar_status cell_extremes(struct alar_reach *reach, struct alar_block *block,
                                      struct alar_reach_cell *cell)
{
    uint32_t index = (uint32_t)(cell - reach->cell);
    bool is_nearest = reach->adder.model == ALAR_NEAREST;
    double low = INFINITY, high = -INFINITY;
    uint32_t a;
    uint32_t b;

    *cell = (struct alar_reach_cell){INFINITY, -INFINITY, reach->values, 0, true};
    for (uint32_t step = 0; alar_block_split(block, index, &step, &a, &b);) {
        const struct alar_reach_cell *left = &reach->cell[a];
        const struct alar_reach_cell *right = &reach->cell[b];
        if (reach->work < 2) {
            return ALAR_E_RANGE;
        }
        reach->work -= 2;
        if (!left->is_finite || !right->is_finite) {
            cell->is_finite = false;
            return ALAR_OK;
        }
        double least = is_nearest ? left->low + right->low
                                  : alar_hull_sum(reach->adder, left->low, right->low);
        double most = is_nearest ? left->high + right->high
                                 : alar_hull_sum(reach->adder, left->high, right->high);
        low = least < low ? least : low;
        high = most > high ? most : high;
    }
    cell->low = is_nearest ? alar_hull_sum(reach->adder, low, 0.0) : low;
    cell->high = is_nearest ? alar_hull_sum(reach->adder, high, 0.0) : high;
    cell->is_finite = isfinite(cell->low) && isfinite(cell->high);
    return ALAR_OK;
}

/* All sums of one split. */
static enum alar_status cell_combine(struct alar_reach *reach, struct alar_reach_cell *cell,
                                     const struct alar_reach_cell *a,
                                     const struct alar_reach_cell *b)
{
    uint64_t sums = (uint64_t)a->count * b->count;

    if (sums > reach->work) {
        return ALAR_E_RANGE;
    }
    reach->work -= sums;
    for (uint32_t i = a->first; i < a->first + a->count; i++) {
        for (uint32_t j = b->first; j < b->first + b->count; j++) {
            double sum = alar_hull_sum(reach->adder, reach->value[i], reach->value[j]);
            ALAR_TRY(cell_add(reach, cell, sum));
        }
    }
    return ALAR_OK;
}

static enum alar_status cell_fill(struct alar_reach *reach, struct alar_block *block,
                                  struct alar_reach_cell *cell)
{
    uint32_t index = (uint32_t)(cell - reach->cell);
    uint32_t a;
    uint32_t b;

    ALAR_TRY(cell_extremes(reach, block, cell));
    uint64_t window = cell->is_finite ? cell_window(reach, cell) : UINT64_MAX;

    for (uint32_t step = 0;
         cell->count < window && alar_block_split(block, index, &step, &a, &b);) {
        ALAR_TRY(cell_combine(reach, cell, &reach->cell[a], &reach->cell[b]));
    }
    return ALAR_OK;
}

/* The cell of one rank, or of one block as a whole. */
static enum alar_status block_fill_leaf(struct alar_reach *reach, const struct alar_block *block,
                                        uint32_t leaf)
{
    struct alar_reach_cell *cell = &reach->cell[alar_block_leaf_cell(block, leaf)];

    if (block->is_over_blocks) {
        *cell = reach->cell[alar_block_whole(&reach->block[leaf])];
        return ALAR_OK;
    }
    uint32_t rank = reach->member[block->first_member + leaf];
    uint64_t loaded = alar_adder_load(reach->adder, reach->bits[rank]);
    double value = alar_fp_to_double(reach->adder.wide, loaded);

    *cell = (struct alar_reach_cell){value, value, reach->values, 0, isfinite(value) != 0};
    return cell_add(reach, cell, isnan(value) ? alar_fp_double(alar_fp_nan(ALAR_F64)) : value);
}

static enum alar_status block_fill(struct alar_reach *reach, struct alar_block *block)
{
    for (uint32_t leaf = 0; leaf < block->leaves; leaf++) {
        ALAR_TRY(block_fill_leaf(reach, block, leaf));
    }
    uint32_t last = alar_block_whole(block);

    for (uint32_t cell = block->first_cell; cell <= last; cell++) {
        if (alar_block_is_sum(block, cell)) {
            ALAR_TRY(cell_fill(reach, block, &reach->cell[cell]));
        }
    }
    return ALAR_OK;
}

/* Shares the scratch out: cells as many as needed, a quarter of the rest for the hash, the rest for
   values. Blocks know their leaves; here they get their cells. */
static enum alar_status reach_carve(struct alar_reach *reach, struct alar_scratch *scratch)
{
    uint64_t cells = 0;

    for (uint32_t i = 0; i < reach->blocks; i++) {
        if (reach->block[i].leaves > UINT16_MAX || cells > UINT32_MAX / 2) {
            return ALAR_E_RANGE;
        }
        reach->block[i].first_cell = (uint32_t)cells;
        cells += alar_block_cells(&reach->block[i]);
    }
    reach->cell =
        cells < UINT32_MAX ? alar_scratch_take(scratch, cells, sizeof *reach->cell) : NULL;
    for (reach->slots = 16; reach->slots < scratch->bytes / 64 && reach->slots < UINT32_C(1) << 24;
         reach->slots *= 2) {
    }
    reach->slot = alar_scratch_take(scratch, reach->slots, sizeof *reach->slot);
    size_t room = scratch->bytes / sizeof *reach->value;
    reach->value_limit = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
    reach->value = alar_scratch_take(scratch, reach->value_limit, sizeof *reach->value);
    if (!reach->cell || !reach->slot || !reach->value) {
        return ALAR_E_RANGE;
    }
    for (uint32_t i = 0; i < reach->slots; i++) {
        reach->slot[i] = 0;
    }
    return ALAR_OK;
}

static enum alar_status reach_build(struct alar_reach *reach, struct alar_scratch scratch)
{
    ALAR_TRY(reach_carve(reach, &scratch));
    for (uint32_t i = 0; i < reach->blocks; i++) {
        ALAR_TRY(block_fill(reach, &reach->block[i]));
    }
    return ALAR_OK;
}

/* Common start: memory for the blocks and their members. */
static enum alar_status reach_start(struct alar_reach *reach, uint32_t blocks,
                                    struct alar_scratch *scratch)
{
    reach->blocks = blocks;
    reach->block = alar_scratch_take(scratch, blocks, sizeof *reach->block);
    reach->member = alar_scratch_take(scratch, reach->n, sizeof *reach->member);
    return reach->block && reach->member ? ALAR_OK : ALAR_E_RANGE;
}

static enum alar_status reach_single(struct alar_reach *reach, bool is_ordered,
                                     struct alar_scratch scratch)
{
    ALAR_TRY(reach_start(reach, 1, &scratch));
    for (uint32_t i = 0; i < reach->n; i++) {
        reach->member[i] = i;
    }
    reach->block[0] = (struct alar_block){is_ordered, false, reach->n, 0, 0};
    return reach_build(reach, scratch);
}

enum alar_status alar_reach_any(struct alar_reach *reach, struct alar_adder adder,
                                const uint64_t *bits, uint32_t n, uint64_t work,
                                struct alar_scratch scratch)
{
    PRE(n >= 1);
    *reach = (struct alar_reach){.adder = adder, .bits = bits, .n = n, .work = work};
    return n > ALAR_REACH_RANKS_MAX ? ALAR_E_RANGE : reach_single(reach, false, scratch);
}

enum alar_status alar_reach_ordered(struct alar_reach *reach, struct alar_adder adder,
                                    const uint64_t *bits, uint32_t n, uint64_t work,
                                    struct alar_scratch scratch)
{
    PRE(n >= 1);
    *reach = (struct alar_reach){.adder = adder, .bits = bits, .n = n, .work = work};
    return reach_single(reach, true, scratch);
}

enum alar_status alar_reach_nodes(struct alar_reach *reach, struct alar_adder adder,
                                  const uint64_t *bits, uint32_t n, const uint32_t *node,
                                  uint32_t nodes, uint64_t work, struct alar_scratch scratch)
{
    uint32_t members = 0;

    PRE(n >= 1);
    *reach = (struct alar_reach){.adder = adder, .bits = bits, .n = n, .work = work};
    if (nodes < 1 || nodes > ALAR_REACH_RANKS_MAX) {
        return ALAR_E_RANGE;
    }
    ALAR_TRY(reach_start(reach, nodes + 1, &scratch));
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t first = members;
        for (uint32_t rank = 0; rank < n; rank++) {
            if (node[rank] == i) {
                reach->member[members++] = rank;
            }
        }
        uint32_t leaves = members - first;
        if (leaves < 1 || leaves > ALAR_REACH_RANKS_MAX) {
            return ALAR_E_RANGE;
        }
        reach->block[i] = (struct alar_block){false, false, leaves, 0, first};
    }
    if (members != n) {
        return ALAR_E_RANGE;
    }
    reach->block[nodes] = (struct alar_block){false, true, nodes, 0, 0};
    return reach_build(reach, scratch);
}
