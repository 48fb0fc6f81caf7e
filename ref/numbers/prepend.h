/* Text that grows from the end of a buffer toward its start, as a postfix program is read. */
#ifndef ALAR_PREPEND_H
#define ALAR_PREPEND_H

#include <stdbool.h>
#include <stdint.h>

/* Start with {buffer, buffer + size, false}; what was written begins at `next`. */
struct alar_prepend {
    char *start;
    char *next;   /* one past the next free byte */
    bool is_full; /* something did not fit and was left out */
};

void alar_prepend_put(struct alar_prepend *out, char c);

/* In decimal. */
void alar_prepend_put_number(struct alar_prepend *out, uint32_t number);

#endif
