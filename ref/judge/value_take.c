/* Results as they are recorded: bits in, equal ones kept once. */
#include "judge/judge_state.h"

#include "base/check.h"
#include "numbers/fp.h"

#include <string.h>

/* Are they the same value? NaNs are, whatever their payloads: that is noted. spec: N-03, N-19 */
bool judge_values_are_same(struct judge_op *op, const uint64_t *a, const uint64_t *b,
                           uint32_t count, uint32_t *element)
{
    bool has_payloads = false;

    for (uint32_t k = 0; k < count; k++) {
        if (!alar_fp_is_same(op->dtype, a[k], b[k])) {
            *element = k;
            return false;
        }
        has_payloads = has_payloads || a[k] != b[k];
    }
    op->has_payloads = op->has_payloads || has_payloads;
    return true;
}

/* Room for one result more: rows double. Behind its values a row has its legality. */
static void value_grow(struct alar_judge *judge, struct judge_op *op)
{
    uint32_t rows = op->rows ? 2 * op->rows : 2;
    size_t row = (op->out_elements + 1) * sizeof(uint64_t);
    uint64_t grown;

    if (op->rows > op->classes) {
        return;
    }
    grown = alar_arena_take(judge->arena, rows * row);
    if (op->rows) {
        memcpy(alar_arena_at(judge->arena, grown), alar_arena_at(judge->arena, op->out),
               op->rows * row);
        alar_arena_give(judge->arena, op->out, op->rows * row);
    }
    op->out = grown;
    op->rows = rows;
    judge->rows_max = rows > judge->rows_max ? rows : judge->rows_max;
    judge->out_max = op->out_elements > judge->out_max ? op->out_elements : judge->out_max;
}

void judge_give_out(struct alar_judge *judge, const struct judge_op *op)
{
    if (op->rows) {
        alar_arena_give(judge->arena, op->out,
                        op->rows * (op->out_elements + 1) * sizeof(uint64_t));
    }
}

/* The class of the result in the scratch row; equal results of several ranks are kept once. */
static uint32_t value_class(struct alar_judge *judge, struct judge_op *op)
{
    const uint64_t *mine = judge_value_row(judge, op, op->classes);
    uint32_t class = 0, element;

    while (class < op->classes && !judge_values_are_same(op, judge_value_row(judge, op, class),
                                                         mine, op->out_elements, &element)) {
        class ++;
    }
    op->classes += class == op->classes;
    return class;
}

/* Reads the record's list of values as a result of the operation.
   Errors: ALAR_E_INPUT, complained about. */
static enum alar_status value_read(struct alar_judge *judge, struct judge_op *op,
                                   const struct judge_entry *entry, bool *is_there, uint32_t *class)
{
    uint32_t count = (uint32_t)judge->event->number[ALAR_FIELD_OUT];

    *is_there = false;
    if ((uint64_t)count > entry->n) {
        return judge_complain_numbers(judge, ALAR_FIELD_OUT, "at most n values", (int64_t)entry->n,
                                      "values", count);
    }
    op->out_elements = op->rows ? op->out_elements : count;
    if (count != op->out_elements || count == 0 || op->is_in_parts) {
        op->is_partial = true;
        return ALAR_OK;
    }
    value_grow(judge, op);
    ALAR_TRY(judge_bits(judge, ALAR_FIELD_OUT, entry->dtype,
                        judge_value_row(judge, op, op->classes), count));
    if (entry->dtype != op->dtype) {
        op->is_partial = true; /* a mismatch: there is nothing to compare it with */
        return ALAR_OK;
    }
    *is_there = true;
    *class = value_class(judge, op);
    return ALAR_OK;
}

/* Reads one rank's part of a result that no rank needs to hold whole: the parts of all ranks are
   one result. spec: H-50 */
static enum alar_status value_take_part(struct alar_judge *judge, struct judge_op *op,
                                        struct judge_entry *entry, uint32_t count)
{
    uint64_t at = (uint64_t)judge->event->number[ALAR_FIELD_AT];

    entry->gets_nothing = count == 0;
    if (!op->in || (op->rows && !op->is_in_parts)) {
        op->is_partial = true; /* nothing to hold it against, or others got all of it */
        return ALAR_OK;
    }
    if (!op->rows) {
        op->is_in_parts = true;
        op->out_elements = op->elements;
        value_grow(judge, op);
        op->classes = 1;
    }
    if (at > entry->n || count > entry->n - at) {
        return judge_complain_numbers(judge, ALAR_FIELD_OUT, "values from `at` up to",
                                      (int64_t)entry->n, "values", count);
    }
    if (at > op->elements || count > op->elements - at) {
        op->is_partial = true; /* others mean fewer elements, or recorded fewer */
        return ALAR_OK;
    }
    ALAR_TRY(
        judge_bits(judge, ALAR_FIELD_OUT, op->dtype, judge_value_row(judge, op, 0) + at, count));
    if (!entry->has_out) {
        op->in_parts += count;
        op->outs++;
        entry->has_out = true;
    }
    return ALAR_OK;
}

/* One more result of this rank. What it read before its wait returned gives way; two that were told
   are two results. spec: O-73 */
static void value_hold(struct judge_op *op, struct judge_entry *entry, uint32_t class)
{
    if (!entry->has_out || entry->is_class_read) {
        op->outs += !entry->has_out;
        entry->has_out = true;
        entry->is_class_read = false;
        entry->class = class;
    } else if (entry->class != class) {
        entry->other = class + 1;
        op->is_changed = true;
    }
}

/* Reads the result of one rank: each that is recorded, not the first alone. */
enum alar_status judge_take_out(struct alar_judge *judge, struct judge_op *op,
                                struct judge_entry *entry)
{
    bool is_there;
    uint32_t class;

    if (!judge->event->has[ALAR_FIELD_OUT]) {
        return ALAR_OK;
    }
    if (judge->event->has[ALAR_FIELD_AT]) {
        return value_take_part(judge, op, entry, (uint32_t)judge->event->number[ALAR_FIELD_OUT]);
    }
    ALAR_TRY(value_read(judge, op, entry, &is_there, &class));
    if (is_there && entry->is_class_read && entry->class != class) {
        judge_unknown(judge, ALAR_UNKNOWN_READ, judge->event->place, entry->rank);
    }
    if (is_there) {
        value_hold(op, entry, class);
    }
    return ALAR_OK;
}

/* Each twin is judged like a result. spec: N-20 */
enum alar_status judge_take_twin(struct alar_judge *judge, struct judge_op *op,
                                 struct judge_entry *entry)
{
    uint32_t count = (uint32_t)judge->event->number[ALAR_FIELD_OUT];
    bool is_there;
    uint32_t class;

    if (count < entry->n && count != (op->rows ? op->out_elements : op->elements)) {
        if (count > 0) { /* less of it than of the result: there is nothing to compare it with */
            judge_unknown(judge, ALAR_UNKNOWN_NO_VALUE, judge->event->place, entry->rank);
        }
        return ALAR_OK;
    }
    ALAR_TRY(value_read(judge, op, entry, &is_there, &class));
    if (is_there) {
        op->has_twin = true;
        entry->twin = class + 1;
    }
    return ALAR_OK;
}

/* The bits of the record that are of the operation, which uses the storage from its own `at` on.
   Errors: ALAR_E_INPUT, complained about. */
static enum alar_status read_bits(struct alar_judge *judge, const struct judge_op *op,
                                  const struct judge_entry *entry, uint64_t at, uint64_t *mine)
{
    uint64_t count = (uint64_t)judge->event->number[ALAR_FIELD_BITS];
    uint64_t skipped = at < entry->at ? entry->at - at : 0;
    uint64_t first = at > entry->at ? at - entry->at : 0;

    if (skipped >= count || first >= op->out_elements) {
        return ALAR_OK;
    }
    count = count - skipped < op->out_elements - first ? count - skipped : op->out_elements - first;
    return judge_bits_from(judge, ALAR_FIELD_BITS, skipped, op->dtype, mine + first,
                           (uint32_t)count);
}

/* What the program found in the buffer after the end, from element `at` of the storage on: the
   result, unless it wrote there since. When nothing shows whether it did, other bits convict
   nobody. spec: O-73 */
enum alar_status judge_take_read(struct alar_judge *judge, struct judge_op *op,
                                 struct judge_entry *entry, uint64_t at)
{
    const struct alar_event *event = judge->event;
    uint32_t count = (uint32_t)alar_event_number(event, ALAR_FIELD_BITS, 0);
    bool is_counted = entry->has_ver && event->has[ALAR_FIELD_VER] &&
                      (uint64_t)event->number[ALAR_FIELD_VER] == entry->ver;
    bool is_whole = at == entry->at && count > 0 && count <= entry->n &&
                    entry->dtype == op->dtype && (!op->rows || count >= op->out_elements);

    if (count == 0 || entry->is_touched || entry->dtype != op->dtype ||
        (!entry->has_out && !is_whole)) {
        return ALAR_OK;
    }
    op->out_elements = op->rows ? op->out_elements : count;
    value_grow(judge, op);
    uint64_t *mine = judge_value_row(judge, op, op->classes);
    if (entry->has_out) {
        memcpy(mine, judge_value_row(judge, op, entry->class), op->out_elements * sizeof *mine);
    }
    ALAR_TRY(read_bits(judge, op, entry, at, mine));
    uint32_t element;
    if (entry->has_out && judge_values_are_same(op, judge_value_row(judge, op, entry->class), mine,
                                                op->out_elements, &element)) {
        return ALAR_OK;
    }
    if (!entry->has_out) {
        value_hold(op, entry, value_class(judge, op));
        entry->is_class_read = true;
        entry->is_read_sure = is_counted;
    } else if (is_counted) {
        value_hold(op, entry, value_class(judge, op));
    } else {
        judge_unknown(judge, ALAR_UNKNOWN_READ, event->place, entry->rank);
    }
    return ALAR_OK;
}
