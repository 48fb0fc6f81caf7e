/* Numbers and parts of sets, element by element. */
#include "engine/payload_element.h"

#include <math.h>
#include <string.h>

double alar_element_read(enum alar_encoding encoding, const void *elements, size_t i)
{
    if (encoding == ALAR_PAIR32) {
        float element;

        memcpy(&element, (const char *)elements + i * sizeof(element), sizeof(element));
        return (double)element;
    }
    double element;

    memcpy(&element, (const char *)elements + i * sizeof(element), sizeof(element));
    return element;
}

void alar_element_write(enum alar_encoding encoding, void *elements, size_t i, double value)
{
    if (encoding == ALAR_PAIR32) {
        float element = (float)value;

        memcpy((char *)elements + i * sizeof(element), &element, sizeof(element));
        return;
    }
    memcpy((char *)elements + i * sizeof(value), &value, sizeof(value));
}

uint32_t alar_set_bits(enum alar_encoding encoding)
{
    static const uint32_t bits[] = {[ALAR_PAIR32] = 24, [ALAR_PAIR64] = 53, [ALAR_EXACT] = 62};

    return bits[encoding];
}

size_t alar_set_elements(enum alar_encoding encoding, uint32_t ranks)
{
    uint32_t bits = alar_set_bits(encoding);

    return ranks <= bits ? 1 : (ranks + bits - 1) / bits;
}

void alar_set_write(enum alar_encoding encoding, void *elements, size_t i, uint64_t set)
{
    if (encoding == ALAR_EXACT) {
        memcpy((char *)elements + i * sizeof(set), &set, sizeof(set));
    } else {
        alar_element_write(encoding, elements, i, (double)set);
    }
}

/* False for a element that is no whole number from 0. */
static bool element_count(enum alar_encoding encoding, const void *elements, size_t i,
                          uint64_t *count)
{
    if (encoding == ALAR_EXACT) {
        memcpy(count, (const char *)elements + i * sizeof(*count), sizeof(*count));
        return true;
    }
    double value = alar_element_read(encoding, elements, i);

    if (!(value >= 0.0 && value < 0x1p63) || floor(value) < value) {
        return false;
    }
    *count = (uint64_t)value;
    return true;
}

bool alar_set_read(enum alar_encoding encoding, uint32_t ranks, const void *elements, size_t first,
                   size_t part, uint64_t *set)
{
    size_t per_element = alar_set_bits(encoding);
    size_t left = ranks - part * per_element;
    size_t bits = left < per_element ? left : per_element;
    uint64_t read = 0;

    if (!element_count(encoding, elements, first + part, &read) || read >> bits != 0) {
        return false;
    }
    *set = read;
    return true;
}
