/* LZ4 in its two wrappings: the frames of the library, and those of Hadoop, in which lengths stand before each block. */
#include <limits.h>
#include <lz4.h>
#include <lz4frame.h>
#include <string.h>

#include "io/codec/codec_internal.h"

/* Frames that carry no checksum need no more than a context, which is small. */
nk_status nk__lz4_frame_decompress(const uint8_t *in, int64_t n_in, uint8_t *out, int64_t n_out,
                                   nk_error *err)
{
	LZ4F_dctx *context;
	if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an lz4 context");
	static const LZ4F_decompressOptions_t options = {.stableDst = 1};
	size_t left = 1;
	int64_t n_read = 0, n_written = 0;
	while (left > 0) {
		size_t n_from = (size_t)(n_in - n_read), n_to = (size_t)(n_out - n_written);
		left = LZ4F_decompress(context, out + n_written, &n_to, in + n_read, &n_from, &options);
		n_read += (int64_t)n_from;
		n_written += (int64_t)n_to;
		if (LZ4F_isError(left) || (n_from == 0 && n_to == 0))
			break;
	}
	LZ4F_freeDecompressionContext(context);
	if (LZ4F_isError(left) && strcmp(LZ4F_getErrorName(left), "ERROR_allocation_failed") == 0)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an lz4 context");
	if (left != 0)
		return nk_fail(err, NK_COMPUTE, "corrupt lz4 frame of %lld bytes: %s", (long long)n_in,
		               LZ4F_isError(left) ? LZ4F_getErrorName(left) : "it does not end where it should");
	if (n_written != n_out)
		return nk_fail(err, NK_COMPUTE, "corrupt lz4 frame: %lld bytes instead of %lld", (long long)n_written,
		               (long long)n_out);
	return NK_OK;
}

static uint32_t big_endian(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Each record is the length that it decodes to, the length of its one block, and that block. */
bool nk__lz4_hadoop_decompress(const uint8_t *in, int64_t n_in, uint8_t *out, int64_t n_out)
{
	enum { HEAD = 8 };
	while (n_in >= HEAD) {
		int64_t n_to = big_endian(in), n_from = big_endian(in + 4);
		if (n_from > n_in - HEAD || n_to > n_out || n_from > INT_MAX || n_to > INT_MAX)
			return false;
		if (LZ4_decompress_safe((const char *)in + HEAD, (char *)out, (int)n_from, (int)n_to) != (int)n_to)
			return false;
		in += HEAD + n_from;
		n_in -= HEAD + n_from;
		out += n_to;
		n_out -= n_to;
	}
	return n_in == 0 && n_out == 0;
}
