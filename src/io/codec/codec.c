/* Dispatch to the codecs. zstd and lz4 come from their libraries, which are as fast as blocks of theirs can be
 * decoded; snappy is our own (see snappy_isa.c). zstd contexts are large, so each thread keeps one. */
#include "io/codec/codec.h"

#include <limits.h>
#include <lz4.h>
#include <lz4frame.h>
#include <string.h>
#include <threads.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/cpu.h"
#include "io/codec/codec_internal.h"
#include "io/codec/snappy.h"

const char *nk__codec_name(nk_codec codec)
{
	static const char *const names[NK_CODEC_N] = {"uncompressed", "snappy", "zstd",   "lz4_raw",
	                                              "lz4",          "gzip",   "brotli", "lz4"};
	return names[codec];
}

static const nk_snappy_table *snappy_table(void) { return NK_ISA_TABLE(nk__snappy); }

bool nk__snappy_decompress_two(const nk_snappy_block blocks[2])
{
	return snappy_table()->decompress_two(blocks);
}

static tss_t zstd_context_key;
static once_flag zstd_context_once = ONCE_FLAG_INIT;
static bool has_zstd_key;

static void free_zstd_context(void *context) { ZSTD_freeDCtx(context); }

static void make_zstd_key(void)
{
	has_zstd_key = tss_create(&zstd_context_key, free_zstd_context) == thrd_success;
}

static nk_status decompress_zstd(const uint8_t *in, int64_t n_in, uint8_t *out, int64_t n_out, nk_error *err)
{
	call_once(&zstd_context_once, make_zstd_key);
	ZSTD_DCtx *context = has_zstd_key ? tss_get(zstd_context_key) : NULL;
	bool is_kept = context;
	if (!context) {
		context = ZSTD_createDCtx();
		if (!context)
			return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a zstd context");
		is_kept = has_zstd_key && tss_set(zstd_context_key, context) == thrd_success;
	}
	size_t n = ZSTD_decompressDCtx(context, out, (size_t)n_out, in, (size_t)n_in);
	if (!is_kept)
		ZSTD_freeDCtx(context);
	if (ZSTD_isError(n))
		return nk_fail(err,
		               ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation ? NK_OUT_OF_MEMORY : NK_COMPUTE,
		               "corrupt zstd block: %s", ZSTD_getErrorName(n));
	if ((int64_t)n != n_out)
		return nk_fail(err, NK_COMPUTE, "corrupt zstd block: %lld bytes instead of %lld", (long long)n,
		               (long long)n_out);
	return NK_OK;
}

nk_status nk__codec_decompress(nk_codec codec, const uint8_t *in, int64_t n_in, uint8_t *out, int64_t n_out,
                               nk_error *err)
{
	switch (codec) {
	case NK_CODEC_NONE:
		if (n_in != n_out)
			return nk_fail(err, NK_COMPUTE, "uncompressed block has %lld bytes instead of %lld",
			               (long long)n_in, (long long)n_out);
		if (n_in > 0)
			memcpy(out, in, (size_t)n_in);
		return NK_OK;
	case NK_CODEC_SNAPPY:
		if (snappy_table()->decompress(in, n_in, out, n_out))
			return NK_OK;
		break;
	case NK_CODEC_ZSTD: return decompress_zstd(in, n_in, out, n_out, err);
	case NK_CODEC_LZ4_RAW:
		if (n_in <= INT_MAX && n_out <= INT_MAX &&
		    LZ4_decompress_safe((const char *)in, (char *)out, (int)n_in, (int)n_out) == (int)n_out)
			return NK_OK;
		break;
	case NK_CODEC_LZ4_FRAME: return nk__lz4_frame_decompress(in, n_in, out, n_out, err);
	case NK_CODEC_GZIP: return nk__gzip_decompress(in, n_in, out, n_out, err);
	case NK_CODEC_BROTLI: return nk__brotli_decompress(in, n_in, out, n_out, err);
	case NK_CODEC_LZ4_ANY:
		if (nk__lz4_hadoop_decompress(in, n_in, out, n_out) ||
		    nk__lz4_frame_decompress(in, n_in, out, n_out, NULL) == NK_OK)
			return NK_OK;
		return nk__codec_decompress(NK_CODEC_LZ4_RAW, in, n_in, out, n_out, err);
	case NK_CODEC_N: break;
	}
	return nk_fail(err, NK_COMPUTE, "corrupt %s block of %lld bytes", nk__codec_name(codec), (long long)n_in);
}

int64_t nk__codec_bound(nk_codec codec, int64_t n_in)
{
	switch (codec) {
	case NK_CODEC_SNAPPY: return nk__snappy_bound(n_in);
	case NK_CODEC_ZSTD: return (int64_t)ZSTD_compressBound((size_t)n_in);
	case NK_CODEC_LZ4_RAW: return n_in + n_in / 255 + 16;
	case NK_CODEC_LZ4_FRAME: return (int64_t)LZ4F_compressFrameBound((size_t)n_in, NULL);
	case NK_CODEC_GZIP: return nk__gzip_bound(n_in);
	case NK_CODEC_BROTLI: return nk__brotli_bound(n_in);
	default: return n_in;
	}
}

nk_status nk__codec_compress(nk_codec codec, int level, const uint8_t *in, int64_t n_in, uint8_t *out,
                             int64_t *n_out, nk_error *err)
{
	enum { ZSTD_LEVEL = 3 };
	int64_t n_room = nk__codec_bound(codec, n_in);
	if (n_in > INT_MAX && (codec == NK_CODEC_SNAPPY || codec == NK_CODEC_LZ4_RAW || codec == NK_CODEC_GZIP))
		return nk_fail(err, NK_COMPUTE, "a block of %lld bytes is too large to compress", (long long)n_in);
	switch (codec) {
	case NK_CODEC_NONE:
		if (n_in > 0)
			memcpy(out, in, (size_t)n_in);
		*n_out = n_in;
		return NK_OK;
	case NK_CODEC_SNAPPY: *n_out = nk__snappy_compress(in, n_in, out); return NK_OK;
	case NK_CODEC_ZSTD: {
		size_t n = ZSTD_compress(out, (size_t)n_room, in, (size_t)n_in,
		                         level == NK_LEVEL_USUAL ? ZSTD_LEVEL : level);
		if (ZSTD_isError(n))
			return nk_fail(err, NK_COMPUTE, "zstd: %s", ZSTD_getErrorName(n));
		*n_out = (int64_t)n;
		return NK_OK;
	}
	case NK_CODEC_LZ4_RAW: {
		int n = LZ4_compress_default((const char *)in, (char *)out, (int)n_in, (int)n_room);
		if (n <= 0)
			return nk_fail(err, NK_COMPUTE, "lz4 refused a block");
		*n_out = n;
		return NK_OK;
	}
	case NK_CODEC_LZ4_FRAME: {
		size_t n = LZ4F_compressFrame(out, (size_t)n_room, in, (size_t)n_in, NULL);
		if (LZ4F_isError(n))
			return nk_fail(err, NK_COMPUTE, "lz4: %s", LZ4F_getErrorName(n));
		*n_out = (int64_t)n;
		return NK_OK;
	}
	case NK_CODEC_GZIP: return nk__gzip_compress(in, n_in, level, out, n_room, n_out, err);
	case NK_CODEC_BROTLI: return nk__brotli_compress(in, n_in, level, out, n_room, n_out, err);
	case NK_CODEC_LZ4_ANY:
	case NK_CODEC_N: break;
	}
	return nk_fail(err, NK_COMPUTE, "unknown codec");
}

nk_status nk__codec_check_level(nk_codec codec, int level, nk_error *err)
{
	int least = codec == NK_CODEC_ZSTD ? -7 : 0, most = codec == NK_CODEC_ZSTD     ? 22
	                                                    : codec == NK_CODEC_GZIP   ? 10
	                                                    : codec == NK_CODEC_BROTLI ? 11
	                                                                               : INT_MAX;
	if (level != NK_LEVEL_USUAL && (level < least || level > most))
		return nk_fail(err, NK_VALUE, "%s has compression levels %d to %d, not %d", nk__codec_name(codec),
		               least, most, level);
	return NK_OK;
}
