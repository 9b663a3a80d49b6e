/* Compressed text as one run of bytes: gzip, zlib and zstd, recognised by their first bytes. */
#ifndef NK_IO_INFLATE_H
#define NK_IO_INFLATE_H

#include "columnar/buffer.h"

typedef enum nk_packing { NK_PACKING_NONE, NK_PACKING_ZLIB, NK_PACKING_ZSTD } nk_packing; /* ZLIB: gzip too */

nk_packing nk__packing_of(const uint8_t *bytes, int64_t n);

/* The text, or at least its first n_wanted bytes (*is_whole tells which). There are n_front bytes of room before it and
 * n_back behind it, all zero: it is bytes [n_front, n_bytes - n_back) of the buffer. */
NK_MUST_CHECK nk_status nk__inflate(nk_memory *memory, nk_packing packing, const uint8_t *bytes, int64_t n,
                                    int64_t n_wanted, int64_t n_front, int64_t n_back, nk_buffer **out,
                                    bool *is_whole, nk_error *err);

#endif
