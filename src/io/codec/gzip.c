/* gzip through zlib. Members may follow one another, and some writers leave out the wrapping or use that of zlib. */
#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "io/codec/codec_internal.h"

enum { WITH_GZIP_HEADER = 16, MEMORY_LEVEL = 8, USUAL_LEVEL = 6 };

nk_status nk__gzip_decompress(const uint8_t *in, int64_t n_in, uint8_t *out, int64_t n_out, nk_error *err)
{
	enum { AUTOMATIC = 32 };
	if (n_in > INT_MAX || n_out > INT_MAX)
		return nk_fail(err, NK_COMPUTE, "a gzip block of %lld bytes is too large", (long long)n_out);
	z_stream stream = {
		.next_in = (Bytef *)in, .avail_in = (uInt)n_in, .next_out = (Bytef *)out, .avail_out = (uInt)n_out};
	uint8_t nothing; /* zlib wants a place even for no bytes */
	if (n_out == 0)
		stream.next_out = &nothing;
	if (inflateInit2(&stream, MAX_WBITS + AUTOMATIC) != Z_OK)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for zlib");
	int result = Z_OK;
	while (result == Z_OK) {
		result = inflate(&stream, Z_FINISH);
		if (result == Z_STREAM_END && stream.avail_in > 0 && stream.avail_out > 0)
			result = inflateReset(&stream);
	}
	int64_t n_left = stream.avail_out;
	inflateEnd(&stream);
	if (result != Z_STREAM_END || n_left > 0)
		return nk_fail(err, NK_COMPUTE, "corrupt gzip block of %lld bytes", (long long)n_in);
	return NK_OK;
}

int64_t nk__gzip_bound(int64_t n_in) { return n_in + n_in / 1000 + 64; }

nk_status nk__gzip_compress(const uint8_t *in, int64_t n_in, int level, uint8_t *out, int64_t n_room,
                            int64_t *n_out, nk_error *err)
{
	z_stream stream = {0};
	level = level == NK_LEVEL_USUAL ? USUAL_LEVEL : level;
	if (level < 0 || deflateInit2(&stream, NK_MIN(level, 9), Z_DEFLATED, MAX_WBITS + WITH_GZIP_HEADER,
	                              MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return nk_fail(err, NK_COMPUTE, "zlib cannot compress at level %d", level);
	stream.next_in = (Bytef *)in;
	stream.avail_in = (uInt)n_in;
	stream.next_out = (Bytef *)out;
	stream.avail_out = (uInt)n_room;
	int result = deflate(&stream, Z_FINISH);
	*n_out = n_room - stream.avail_out;
	deflateEnd(&stream);
	return result == Z_STREAM_END ? NK_OK : nk_fail(err, NK_COMPUTE, "zlib refused a block");
}
