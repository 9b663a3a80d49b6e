/* A file that is being written: nobody sees it under its name before it is whole.
 *
 * Bytes go to a new file of another name in the same folder, which `finish` syncs and renames, so that a process that is
 * killed at any moment leaves the old file or the new one. What is there and no ordinary file (a device, a pipe) is
 * written to as it is. Bytes may pass through a compressor on their way. Single-owner. */
#ifndef NK_IO_OUTPUT_H
#define NK_IO_OUTPUT_H

#include <sys/uio.h>

#include "base/memory.h"

typedef struct nk_output nk_output;

typedef enum nk_output_packing { NK_OUTPUT_PLAIN, NK_OUTPUT_GZIP, NK_OUTPUT_ZSTD } nk_output_packing;

/* "uncompressed" (or NULL), "gzip", "zstd". Fails with NK_VALUE. */
NK_MUST_CHECK nk_status nk__output_packing(const char *name, nk_output_packing *out, nk_error *err);

/* level -1: the usual one. Fails with NK_FILE_NOT_FOUND when the folder does not exist, NK_IO for whatever else the system
 * says, NK_VALUE for a level that the compressor does not have. */
NK_MUST_CHECK nk_status nk__output_open(const char *path, nk_output_packing packing, int level,
                                        nk_output **out, nk_error *err);
NK_MUST_CHECK nk_status nk__output_put(nk_output *output, const void *bytes, int64_t n_bytes, nk_error *err);
/* Pieces one after another; they are changed. Not with a compressor. */
NK_MUST_CHECK nk_status nk__output_put_pieces(nk_output *output, struct iovec *pieces, int n, nk_error *err);
/* Bytes put so far. */
int64_t nk__output_position(const nk_output *output);
NK_MUST_CHECK nk_status nk__output_finish(nk_output *output, nk_error *err);
/* Without a finish before, nothing is left of it. NULL is allowed. */
void nk__output_free(nk_output *output);
static inline void nk_output__auto(nk_output **output) { nk__output_free(*output); }

#endif
