/* The cyclic redundancy check of zip, PNG and Ethernet: damage is noticed, forgery is not. */
#ifndef ALAR_CRC32_H
#define ALAR_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 (reflected polynomial 0xedb88320, as zlib's crc32) of the bytes. */
uint32_t alar_crc32(const void *bytes, size_t count);

#endif
