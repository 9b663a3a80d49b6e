/* Compressed text as one run of bytes: gzip, zlib and zstd, recognised by their first bytes. */
#ifndef NK_IO_CSV_INFLATE_H
#define NK_IO_CSV_INFLATE_H

#include "columnar/buffer.h"

typedef enum nk_csv_packing { NK_CSV_PLAIN, NK_CSV_ZLIB, NK_CSV_ZSTD } nk_csv_packing; /* ZLIB: gzip too */

nk_csv_packing nk__csv_packing_of(const uint8_t *bytes, int64_t n);

/* The text, or at least its first n_wanted bytes (*is_whole tells which). There are n_front bytes of room before it and
 * n_back behind it, all zero: it is bytes [n_front, n_bytes - n_back) of the buffer. */
NK_MUST_CHECK nk_status nk__csv_inflate(nk_memory *memory, nk_csv_packing packing, const uint8_t *bytes,
                                        int64_t n, int64_t n_wanted, int64_t n_front, int64_t n_back,
                                        nk_buffer **out, bool *is_whole, nk_error *err);

#endif
