/* What the judge reads of a record, and how it refuses one. */
#include "judge/judge_state.h"

#include "base/arena.h"

enum alar_status judge_complain(struct alar_judge *judge, enum alar_field field,
                                const char *expected, const char *found)
{
    judge->error =
        (struct alar_judge_error){judge->event->place, field, expected, found, false, false, 0, 0};
    return ALAR_E_INPUT;
}

enum alar_status judge_complain_numbers(struct alar_judge *judge, enum alar_field field,
                                        const char *expected, int64_t expected_number,
                                        const char *found, int64_t found_number)
{
    judge->error = (struct alar_judge_error){
        judge->event->place, field, expected, found, true, true, expected_number, found_number};
    return ALAR_E_INPUT;
}

enum alar_status judge_bits(struct alar_judge *judge, enum alar_field field, enum alar_dtype dtype,
                            uint64_t *bits, uint32_t count)
{
    return judge_bits_from(judge, field, 0, dtype, bits, count);
}

/* Values of the record's list, from one on, as bits of the dtype.
   Errors: ALAR_E_INPUT, complained about. spec: O-04 */
enum alar_status judge_bits_from(struct alar_judge *judge, enum alar_field field, uint64_t first,
                                 enum alar_dtype dtype, uint64_t *bits, uint32_t count)
{
    const struct alar_value *value = judge->event->list[field] + first;

    for (uint32_t k = 0; k < count; k++) {
        uint32_t digits = (uint32_t)(2 * alar_dtype_bytes(dtype));

        if (value[k].text) {
            if (judge->setup.decimal(dtype, value[k].text, &bits[k]) != ALAR_OK) {
                return judge_complain(judge, field, "values that the dtype can hold",
                                      "one it can't");
            }
        } else if (value[k].digits != digits) {
            return judge_complain_numbers(judge, field, "hex digits", digits, "digits",
                                          value[k].digits);
        } else {
            bits[k] = value[k].bits;
        }
    }
    return ALAR_OK;
}

int64_t judge_time(int64_t t, int64_t more)
{
    if (more > 0 && t > INT64_MAX - more) {
        return INT64_MAX;
    }
    return more < 0 && t < INT64_MIN - more ? INT64_MIN : t + more;
}
