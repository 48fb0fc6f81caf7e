/* NumPy files (.npy, format 1.0 and 2.0), mapped read-only: f32, u8 and i64, little-endian, C
   order, up to 4 dimensions. Assumes a little-endian host, and that nobody cuts a file short while
   it is open. */
#ifndef ALAR_NPY_H
#define ALAR_NPY_H

#include "api/dtype.h"

enum {
    ALAR_NPY_DIMENSIONS = 4
};

/* What the caller can use. */
struct alar_npy_wanted {
    enum alar_dtype dtype;               /* ALAR_F32, ALAR_U8 or ALAR_I64 */
    uint32_t dimensions;                 /* 1 to ALAR_NPY_DIMENSIONS */
    uint64_t shape[ALAR_NPY_DIMENSIONS]; /* 0: any length but 0 */
    const char *axes; /* names them in a error_line: "steps, microbatches, tokens" */
};

/* An open file. Zero it before use; a zeroed one is closed. */
struct alar_npy {
    enum alar_dtype dtype;
    uint32_t dimensions;
    uint64_t shape[ALAR_NPY_DIMENSIONS];
    uint64_t count;   /* elements */
    const void *data; /* `count` elements, the last axis fastest; aligned for them */
    void *map;        /* the whole file */
    size_t map_bytes;
};

/* Opens `path`; alar_npy_close ends the mapping.
   Errors: ALAR_E_INPUT when there is no such file or it is not exactly what is wanted: another kind
   of file, dtype, order or shape, too few or too many bytes. `error_line` (ALAR_ERROR_LINE_BYTES)
   then holds one line, `PATH: expected ..., found ...`. */
ALAR_MUST_USE enum alar_status alar_npy_open(const char *path, const struct alar_npy_wanted *wanted,
                                             struct alar_npy *npy, char *error_line);

/* Ends the mapping, if there is one, and zeroes `npy`. */
void alar_npy_close(struct alar_npy *npy);

#endif
