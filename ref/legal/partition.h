/* How a family of trees takes a set of ranks apart: the geometry of its subsets.

   Subsets are numbered so that parts come before wholes. */
#ifndef ALAR_PARTITION_H
#define ALAR_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

/* A family over `leaves` parts. A part is a rank, or another partition's whole set. */
struct alar_partition {
    bool is_ordered;         /* parts keep their order: intervals; else any subset */
    bool is_over_partitions; /* parts are the partitions 0 .. leaves-1 */
    uint32_t leaves;
    uint32_t first_subset;
    uint32_t first_member; /* where its ranks start in member */
};

/* How many subset numbers the partition takes up; an ordered partition leaves some of them unused.
 */
uint64_t alar_partition_subsets(const struct alar_partition *partition);

/* The subset of all parts, and of one part. */
uint32_t alar_partition_whole(const struct alar_partition *partition);
uint32_t alar_partition_leaf_subset(const struct alar_partition *partition, uint32_t leaf);

/* The part that a subset is; UINT32_MAX for subsets of several parts. */
uint32_t alar_partition_leaf(const struct alar_partition *partition, uint32_t subset);

/* Is the number in use, for a subset of several parts? */
bool alar_partition_is_sum(const struct alar_partition *partition, uint32_t subset);

/* Walks over the splits of a subset: *step is 0 at first; false when there are no more. */
bool alar_partition_split(const struct alar_partition *partition, uint32_t subset, uint32_t *step,
                          uint32_t *a, uint32_t *b);

#endif
