/* What kind of file a history is in: of one rank, or of all. */
#ifndef ALAR_HISTORY_HEAD_H
#define ALAR_HISTORY_HEAD_H

#include "check/record_read.h"

/* What the first record of a file says. */
struct alar_history_head {
    bool is_rank_file; /* it is of one rank of several */
    bool is_blank;     /* no whole record is in it */
    int64_t rank, world;
    uint64_t tag; /* hash; 0 for none */
};

/* A file that can't be read, or does not begin with a header, has a zero head: reading it in
   earnest will say what is wrong with it. A file that begins with the header of one rank and has
   records of another one, among its first 256 or as its last, is no rank file. */
struct alar_history_head alar_history_head_read(struct alar_record_reader *records,
                                                const char *path);

/* Are both rank files, of one history? */
bool alar_history_head_is_same(const struct alar_history_head *a,
                               const struct alar_history_head *b);

#endif
