/* Numbers and parts of sets, lane by lane. */
#include "engine/payload_element.h"

#include <math.h>
#include <string.h>

double alar_lane_read(enum alar_encoding encoding, const void *lanes, size_t i)
{
    if (encoding == ALAR_PAIR32) {
        float lane;

        memcpy(&lane, (const char *)lanes + i * sizeof(lane), sizeof(lane));
        return (double)lane;
    }
    double lane;

    memcpy(&lane, (const char *)lanes + i * sizeof(lane), sizeof(lane));
    return lane;
}

void alar_lane_write(enum alar_encoding encoding, void *lanes, size_t i, double value)
{
    if (encoding == ALAR_PAIR32) {
        float lane = (float)value;

        memcpy((char *)lanes + i * sizeof(lane), &lane, sizeof(lane));
        return;
    }
    memcpy((char *)lanes + i * sizeof(value), &value, sizeof(value));
}

uint32_t alar_set_bits(enum alar_encoding encoding)
{
    static const uint32_t bits[] = {[ALAR_PAIR32] = 24, [ALAR_PAIR64] = 53, [ALAR_EXACT] = 62};

    return bits[encoding];
}

size_t alar_set_lanes(enum alar_encoding encoding, uint32_t ranks)
{
    uint32_t bits = alar_set_bits(encoding);

    return ranks <= bits ? 1 : (ranks + bits - 1) / bits;
}

void alar_set_write(enum alar_encoding encoding, void *lanes, size_t i, uint64_t set)
{
    if (encoding == ALAR_EXACT) {
        memcpy((char *)lanes + i * sizeof(set), &set, sizeof(set));
    } else {
        alar_lane_write(encoding, lanes, i, (double)set);
    }
}

/* False for a lane that is no whole number from 0. */
static bool lane_count(enum alar_encoding encoding, const void *lanes, size_t i, uint64_t *count)
{
    if (encoding == ALAR_EXACT) {
        memcpy(count, (const char *)lanes + i * sizeof(*count), sizeof(*count));
        return true;
    }
    double value = alar_lane_read(encoding, lanes, i);

    if (!(value >= 0.0 && value < 0x1p63) || floor(value) < value) {
        return false;
    }
    *count = (uint64_t)value;
    return true;
}

bool alar_set_read(enum alar_encoding encoding, uint32_t ranks, const void *lanes, size_t first,
                   size_t part, uint64_t *set)
{
    size_t per_lane = alar_set_bits(encoding);
    size_t left = ranks - part * per_lane;
    size_t bits = left < per_lane ? left : per_lane;
    uint64_t read = 0;

    if (!lane_count(encoding, lanes, first + part, &read) || read >> bits != 0) {
        return false;
    }
    *set = read;
    return true;
}
