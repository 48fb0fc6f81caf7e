/* Four bytes at once, by four tables that are made when the first one is asked for. */
#include "sys/crc32.h"

#include <pthread.h>

static uint32_t tables[4][256];

static void tables_make(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;

        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
        }
        tables[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (int k = 1; k < 4; k++) {
            uint32_t before = tables[k - 1][byte];

            tables[k][byte] = before >> 8 ^ tables[0][before & 255];
        }
    }
}

uint32_t alar_crc32(const void *bytes, size_t count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const unsigned char *byte = bytes;
    uint32_t crc = UINT32_MAX;

    pthread_once(&once, tables_make);
    for (; count >= 4; count -= 4, byte += 4) {
        crc ^= (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
               (uint32_t)byte[3] << 24;
        crc = tables[3][crc & 255] ^ tables[2][crc >> 8 & 255] ^ tables[1][crc >> 16 & 255] ^
              tables[0][crc >> 24];
    }
    for (; count > 0; count--, byte++) {
        crc = crc >> 8 ^ tables[0][(crc ^ *byte) & 255];
    }
    return ~crc;
}
