/* The geometry of subsets: intervals and subsets. */
#include "legal/partition.h"

uint64_t alar_partition_subsets(const struct alar_partition *partition)
{
    uint64_t leaves = partition->leaves;

    return partition->is_ordered ? leaves * leaves : UINT64_C(1) << leaves;
}

/* Subsets of an ordered partition are numbered (length - 1) * leaves + start, others by subset. */
bool alar_partition_split(const struct alar_partition *partition, uint32_t subset, uint32_t *step,
                          uint32_t *a, uint32_t *b)
{
    uint32_t base = partition->first_subset;
    uint32_t id = subset - base;

    if (partition->is_ordered) {
        uint32_t start = id % partition->leaves;
        uint32_t length = id / partition->leaves + 1;
        uint32_t left = ++*step;
        if (left >= length) {
            return false;
        }
        *a = base + (left - 1) * partition->leaves + start;
        *b = base + (length - left - 1) * partition->leaves + start + left;
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

uint32_t alar_partition_whole(const struct alar_partition *partition)
{
    return partition->first_subset + (partition->is_ordered
                                          ? (partition->leaves - 1) * partition->leaves
                                          : (UINT32_C(1) << partition->leaves) - 1);
}

uint32_t alar_partition_leaf_subset(const struct alar_partition *partition, uint32_t leaf)
{
    return partition->first_subset + (partition->is_ordered ? leaf : UINT32_C(1) << leaf);
}

uint32_t alar_partition_leaf(const struct alar_partition *partition, uint32_t subset)
{
    for (uint32_t leaf = 0; leaf < partition->leaves; leaf++) {
        if (alar_partition_leaf_subset(partition, leaf) == subset) {
            return leaf;
        }
    }
    return UINT32_MAX;
}

bool alar_partition_is_sum(const struct alar_partition *partition, uint32_t subset)
{
    uint32_t id = subset - partition->first_subset;

    if (partition->is_ordered) {
        uint32_t length = id / partition->leaves + 1;
        return length > 1 && id % partition->leaves + length <= partition->leaves;
    }
    return (id & (id - 1)) != 0;
}
