/* Writing a text from its end. */
#include "numbers/prepend.h"

void alar_prepend_put(struct alar_prepend *out, char c)
{
    if (out->next == out->start) {
        out->is_full = true;
        return;
    }
    *--out->next = c;
}

void alar_prepend_put_number(struct alar_prepend *out, uint32_t number)
{
    do {
        alar_prepend_put(out, (char)('0' + number % 10));
        number /= 10;
    } while (number > 0);
}
