/* Streams are decoded into a block that doubles; concatenated members follow one another, as the tools write them. */
#include "io/inflate.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

nk_packing nk__packing_of(const uint8_t *bytes, int64_t n)
{
	if (n >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
		return NK_PACKING_ZLIB;
	if (n >= 2 && bytes[0] == 0x78 && (bytes[1] == 0x01 || bytes[1] == 0x9c || bytes[1] == 0xda))
		return NK_PACKING_ZLIB;
	if (n >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0)
		return NK_PACKING_ZSTD;
	return NK_PACKING_NONE;
}

typedef struct target {
	nk_memory *memory;
	uint8_t *block;
	int64_t n, capacity, n_back; /* n bytes are written, n_back more must fit */
} target;

static nk_status make_room(target *to, nk_error *err)
{
	if (to->capacity - to->n - to->n_back >= 1 << 16)
		return NK_OK;
	int64_t capacity = 2 * to->capacity + (1 << 18);
	void *block = to->block;
	NK_TRY(nk_realloc(to->memory, &block, to->capacity, capacity, err));
	to->block = block;
	to->capacity = capacity;
	return NK_OK;
}

static nk_status inflate_zlib(target *to, const uint8_t *bytes, int64_t n, int64_t n_stop, bool *is_whole,
                              nk_error *err)
{
	enum { AUTOMATIC = 32, STEP = 1 << 30 };
	z_stream stream = {.next_in = (Bytef *)bytes};
	if (inflateInit2(&stream, MAX_WBITS + AUTOMATIC) != Z_OK)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for zlib");
	const uint8_t *end = bytes + n;
	nk_status status = NK_OK;
	for (*is_whole = false; status == NK_OK && !*is_whole && to->n < n_stop;) {
		status = make_room(to, err);
		if (status != NK_OK)
			break;
		int64_t n_room = NK_MIN(to->capacity - to->n - to->n_back, (int64_t)STEP);
		stream.avail_in = (uInt)NK_MIN(end - stream.next_in, (int64_t)STEP);
		stream.next_out = to->block + to->n;
		stream.avail_out = (uInt)n_room;
		int result = inflate(&stream, Z_NO_FLUSH);
		to->n += n_room - stream.avail_out;
		if (result == Z_STREAM_END) {
			/* another member may follow; zeros and rubbish behind the last one are ignored, as gzip does */
			*is_whole = nk__packing_of(stream.next_in, end - stream.next_in) != NK_PACKING_ZLIB;
			if (!*is_whole && inflateReset(&stream) != Z_OK)
				status = nk_fail(err, NK_IO, "zlib does not start anew");
		} else if (result != Z_OK) {
			status = nk_fail(err, NK_IO, "compressed data is damaged or cut: %s",
			                 stream.msg ? stream.msg : "it ends early");
		}
	}
	inflateEnd(&stream);
	return status;
}

static nk_status inflate_zstd(target *to, const uint8_t *bytes, int64_t n, int64_t n_stop, bool *is_whole,
                              nk_error *err)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	if (!context)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for zstd");
	ZSTD_inBuffer in = {bytes, (size_t)n, 0};
	nk_status status = NK_OK;
	for (*is_whole = false; status == NK_OK && !*is_whole && to->n < n_stop;) {
		status = make_room(to, err);
		if (status != NK_OK)
			break;
		ZSTD_outBuffer out = {to->block + to->n, (size_t)(to->capacity - to->n - to->n_back), 0};
		size_t result = ZSTD_decompressStream(context, &out, &in);
		to->n += (int64_t)out.pos;
		if (ZSTD_isError(result))
			status = nk_fail(err, NK_IO, "compressed data is damaged: %s", ZSTD_getErrorName(result));
		else if (result == 0 && in.pos == in.size)
			*is_whole = true;
		else if (in.pos == in.size && out.pos < out.size)
			status = nk_fail(err, NK_IO, "compressed data is cut");
	}
	ZSTD_freeDCtx(context);
	return status;
}

nk_status nk__inflate(nk_memory *memory, nk_packing packing, const uint8_t *bytes, int64_t n,
                      int64_t n_wanted, int64_t n_front, int64_t n_back, nk_buffer **out, bool *is_whole,
                      nk_error *err)
{
	target to = {.memory = memory, .n = n_front, .n_back = n_back};
	int64_t n_stop = n_wanted > INT64_MAX - n_front ? INT64_MAX : n_wanted + n_front;
	nk_status status = make_room(&to, err);
	if (status == NK_OK) {
		memset(to.block, 0, (size_t)n_front);
		status = packing == NK_PACKING_ZLIB ? inflate_zlib(&to, bytes, n, n_stop, is_whole, err)
		                                    : inflate_zstd(&to, bytes, n, n_stop, is_whole, err);
	}
	if (status != NK_OK) {
		nk_free(memory, to.block, to.capacity);
		return status;
	}
	memset(to.block + to.n, 0, (size_t)n_back);
	return nk_buffer_adopt(memory, to.block, to.capacity, to.n + n_back, out, err);
}
