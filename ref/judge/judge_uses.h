/* uses.c: which operations use which storage. Part of judge_state.h. */
#ifndef ALAR_JUDGE_USES_H
#define ALAR_JUDGE_USES_H

/* Elements of a rank's storage; its name is hashed. */
struct judge_storage {
    uint32_t rank;
    uint64_t name;
    uint64_t at, n;
};

/* Do the rank's entries stand in trees, or will they with one more? Then the functions below are to
   be told of each of them. */
static inline bool judge_uses_trees(const struct judge_rank *rank)
{
    return rank->is_indexed || rank->remembered >= JUDGE_WALKED;
}

/* Bytes of the arena that one more entry of the rank may need then. */
size_t judge_uses_growth(const struct alar_judge *judge, const struct judge_rank *rank);

/* An entry begins to use its storage, or is forgotten; was moved in the arena; its buffers were
   given back, or its storage was lost. */
void judge_uses_add(struct alar_judge *judge, uint64_t made);
void judge_uses_remove(struct alar_judge *judge, const struct judge_entry *entry);
void judge_uses_move(struct alar_judge *judge, uint64_t moved);
void judge_uses_close(struct alar_judge *judge, const struct judge_entry *entry);

/* Adds to a list, 0 for a new one, the entries whose output, or also whose input, is there and
   belongs to the back end. They are linked by `beside`, the latest first; the list lasts until a
   new one is begun. */
uint64_t judge_uses_open(struct alar_judge *judge, uint64_t list, struct judge_storage storage,
                         bool has_inputs);

/* The last entry whose output is there, pending or over, as far as it is remembered; or NULL. */
struct judge_entry *judge_uses_latest(const struct alar_judge *judge, struct judge_storage storage);

/* What the program writes there, or gives away, is no result any more, of whichever operation. */
void judge_uses_touch(struct alar_judge *judge, struct judge_storage storage);

#endif
