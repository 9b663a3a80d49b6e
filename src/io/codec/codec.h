/* Block codecs: one call turns a compressed block into exactly as many bytes as its frame announced.
 *
 * Decompression trusts nothing: any input is either decoded or refused with NK_COMPUTE, and no byte
 * outside [out, out + n_out) is written. Functions are pure and may be called from any thread. */
#ifndef NK_IO_CODEC_CODEC_H
#define NK_IO_CODEC_CODEC_H

#include <limits.h>
#include <stdint.h>

#include "base/status.h"

typedef enum nk_codec {
	NK_CODEC_NONE,
	NK_CODEC_SNAPPY,
	NK_CODEC_ZSTD,
	NK_CODEC_LZ4_RAW, /* one LZ4 block without a frame */
	NK_CODEC_LZ4_FRAME,
	NK_CODEC_GZIP,
	NK_CODEC_BROTLI,
	NK_CODEC_LZ4_ANY, /* Hadoop's frame, LZ4's, or none: what Parquet's first "lz4" may be. Only read */
	NK_CODEC_N,
} nk_codec;

const char *nk__codec_name(nk_codec codec); /* borrowed, static */

/* Fails unless the block decodes to exactly n_out bytes. */
NK_MUST_CHECK nk_status nk__codec_decompress(nk_codec codec, const uint8_t *in, int64_t n_in, uint8_t *out,
                                             int64_t n_out, nk_error *err);

/* The room that nk__codec_compress needs at most for n_in bytes. */
int64_t nk__codec_bound(nk_codec codec, int64_t n_in);

enum { NK_LEVEL_USUAL = INT_MIN };

/* Compress into out, which has room for nk__codec_bound bytes; *n_out is set to the bytes written. Codecs without levels
 * ignore theirs. */
NK_MUST_CHECK nk_status nk__codec_compress(nk_codec codec, int level, const uint8_t *in, int64_t n_in,
                                           uint8_t *out, int64_t *n_out, nk_error *err);
/* Fails with NK_VALUE for a level that the codec does not have. */
NK_MUST_CHECK nk_status nk__codec_check_level(nk_codec codec, int level, nk_error *err);

#endif
