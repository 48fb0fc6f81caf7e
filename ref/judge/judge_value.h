/* Values: whether one is legal, what a legal one is worth, and the results of one operation.
   Private to the judge; part of judge_state.h. */
#ifndef ALAR_JUDGE_VALUE_H
#define ALAR_JUDGE_VALUE_H

#include "judge/judge_state.h"

/* In order of preference: the best of several conventions counts. */
enum judge_legality {
    JUDGE_LEGAL,
    JUDGE_UNDECIDED,
    JUDGE_NAN_IS_LOST,
    JUDGE_ILLEGAL
};

/* Where a result is not legal, and what would have been. */
struct judge_limits {
    uint32_t element;
    bool is_known; /* are the two below? */
    uint64_t lowest, highest;
};

/* One element of one result: what was asked about it, and the answer. */
struct judge_element {
    struct alar_reduce reduce;
    uint64_t value;
    struct alar_origin origin;
    bool has_origin;             /* false: the scratch did not suffice */
    bool is_widened;             /* legal by another arithmetic than the plainest alone */
    struct alar_scratch scratch; /* what is left of it */
};

/* element.c: one element. */
struct judge_element judge_ask(const struct alar_judge *judge, const struct judge_op *op,
                               uint32_t element, const uint64_t *out);
uint32_t judge_arithmetics(const struct alar_judge *judge, const struct alar_reduce *reduce,
                           struct alar_reduce *all); /* room for JUDGE_ARITHMETICS */
enum judge_legality judge_answer(struct alar_judge *judge, struct judge_element *asked);
void judge_limits(const struct judge_element *asked, struct judge_limits *limits);

/* result.c: all elements of one result, and the trees that give them. */
enum judge_legality judge_result(struct alar_judge *judge, const struct judge_op *op,
                                 const uint64_t *out, struct judge_limits *limits);
bool judge_is_promised_tree(const struct alar_judge *judge, const struct judge_op *op,
                            const uint64_t *out, uint32_t *element);
void judge_provenance(struct alar_judge *judge);

/* worth.c: the nearest operation of the same kind before this one, or after it; NULL: none is
 * known. */
const struct judge_op *judge_neighbour(const struct alar_judge *judge, const struct judge_op *op,
                                       bool is_after);

/* worth.c: why a value is illegal, and what a legal one is worth. */
void judge_diagnose(struct alar_judge *judge, const struct judge_op *op, const uint64_t *out,
                    struct alar_evidence *evidence);
void judge_power(struct alar_judge *judge, const struct judge_op *op);

/* value_take.c: bits in; a row for each different result, and its legality behind it. */
uint64_t *judge_value_row(const struct alar_judge *judge, const struct judge_op *op, uint32_t row);
bool judge_values_are_same(struct judge_op *op, const uint64_t *a, const uint64_t *b,
                           uint32_t count, uint32_t *element);
void judge_give_out(struct alar_judge *judge, const struct judge_op *op);
enum alar_status judge_bits_from(struct alar_judge *judge, enum alar_field field, uint64_t first,
                                 enum alar_dtype dtype, uint64_t *bits, uint32_t count);
enum alar_status judge_bits(struct alar_judge *judge, enum alar_field field, enum alar_dtype dtype,
                            uint64_t *bits, uint32_t count);
enum alar_status judge_take_out(struct alar_judge *judge, struct judge_op *op,
                                struct judge_entry *entry);
enum alar_status judge_take_twin(struct alar_judge *judge, struct judge_op *op,
                                 struct judge_entry *entry);
enum alar_status judge_take_read(struct alar_judge *judge, struct judge_op *op,
                                 struct judge_entry *entry, uint64_t at);

/* What is made of a class of results once all of them are judged. */
struct judge_tally {
    uint32_t held;           /* classes that are some rank's result */
    uint32_t legal, illegal; /* of these; the others are undecided */
    uint32_t first;          /* one of those held */
};

/* value_found.c: how many ranks hold a class of results, whether it is legal, and a finding about
   it that names them. */
uint32_t judge_value_holders(const struct alar_judge *judge, const struct judge_op *op,
                             uint32_t class);
enum judge_legality judge_value_legality(const struct alar_judge *judge, const struct judge_op *op,
                                         uint32_t class);
bool judge_value_is_illegal(const struct alar_judge *judge, const struct judge_op *op,
                            uint32_t class);
struct alar_evidence *judge_value_found(struct alar_judge *judge, struct judge_op *op,
                                        uint32_t class, enum alar_anomaly anomaly,
                                        const struct judge_limits *limits);
void judge_value_blame(struct alar_judge *judge, const struct judge_op *op,
                       enum alar_anomaly anomaly, uint32_t class);
/* value_doubt.c: what was read and never told. */
void judge_value_doubts(struct alar_judge *judge, struct judge_op *op, bool is_judged,
                        struct judge_tally *tally);
void judge_value_twins(struct alar_judge *judge, struct judge_op *op,
                       const struct judge_tally *tally);
void judge_value(struct alar_judge *judge, struct judge_op *op);

#endif
