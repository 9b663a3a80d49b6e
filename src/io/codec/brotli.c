/* brotli, through its library. */
#include <brotli/decode.h>
#include <brotli/encode.h>
#include <limits.h>

#include "io/codec/codec_internal.h"

nk_status nk__brotli_decompress(const uint8_t *in, int64_t n_in, uint8_t *out, int64_t n_out, nk_error *err)
{
	size_t n = (size_t)n_out;
	if (BrotliDecoderDecompress((size_t)n_in, in, &n, out) != BROTLI_DECODER_RESULT_SUCCESS)
		return nk_fail(err, NK_COMPUTE, "corrupt brotli block of %lld bytes", (long long)n_in);
	if ((int64_t)n != n_out)
		return nk_fail(err, NK_COMPUTE, "corrupt brotli block: %lld bytes instead of %lld", (long long)n,
		               (long long)n_out);
	return NK_OK;
}

int64_t nk__brotli_bound(int64_t n_in)
{
	return n_in == 0 ? 16 : (int64_t)BrotliEncoderMaxCompressedSize((size_t)n_in);
}

nk_status nk__brotli_compress(const uint8_t *in, int64_t n_in, int level, uint8_t *out, int64_t n_room,
                              int64_t *n_out, nk_error *err)
{
	enum { USUAL_LEVEL = 1 }; /* as Polars: it is fast */
	size_t n = (size_t)n_room;
	level = level == NK_LEVEL_USUAL ? USUAL_LEVEL : level;
	if (!BrotliEncoderCompress(level, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC, (size_t)n_in, in, &n, out))
		return nk_fail(err, NK_COMPUTE, "brotli refused a block");
	*n_out = (int64_t)n;
	return NK_OK;
}
