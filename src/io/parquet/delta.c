/* DELTA_BINARY_PACKED and BYTE_STREAM_SPLIT, decoded a page at a time into plain layout: a delta stream has no
 * entry points, so values in the middle of a page cost the whole page anyway. */
#include <string.h>

#include "io/parquet/values.h"

typedef struct cursor {
	const uint8_t *at, *end;
	bool failed;
} cursor;

static uint64_t read_varint(cursor *c)
{
	uint64_t value = 0;
	for (int shift = 0; shift < 70; shift += 7) {
		if (c->at == c->end)
			break;
		uint8_t byte = *c->at++;
		value |= (uint64_t)(byte & 127) << (shift & 63);
		if (byte < 128)
			return value;
	}
	c->failed = true;
	return 0;
}

static uint64_t read_zigzag(cursor *c)
{
	uint64_t value = read_varint(c);
	return (value >> 1) ^ (0 - (value & 1));
}

/* Value i of values of `width` bits (0..64) packed from `at`; end bounds the reads. */
static inline uint64_t packed(const uint8_t *at, const uint8_t *end, int width, int64_t i)
{
	if (width == 0)
		return 0;
	int64_t bit = i * width;
	at += bit >> 3;
	int shift = (int)(bit & 7);
	uint64_t low = 0;
	memcpy(&low, at, (size_t)(end - at < 8 ? end - at : 8));
	low >>= shift;
	if (shift + width > 64 && end - at > 8)
		low |= (uint64_t)at[8] << (64 - shift);
	return width == 64 ? low : low & (((uint64_t)1 << width) - 1);
}

static inline void store(void *out, int n_each, int64_t i, uint64_t value)
{
	if (n_each == 4)
		((uint32_t *)out)[i] = (uint32_t)value;
	else
		((uint64_t *)out)[i] = value;
}

typedef struct delta_header {
	uint64_t n_block, n_minis, n_values, first;
} delta_header;

static nk_status read_header(cursor *c, delta_header *out, nk_error *err)
{
	out->n_block = read_varint(c);
	out->n_minis = read_varint(c);
	out->n_values = read_varint(c);
	out->first = read_zigzag(c);
	if (c->failed || out->n_minis == 0 || out->n_minis > 4096 || out->n_block == 0 ||
	    out->n_block > 1 << 24 || out->n_block % out->n_minis != 0 || out->n_block / out->n_minis % 8 != 0)
		return nk_fail(err, NK_COMPUTE, "corrupt page: malformed delta header");
	return NK_OK;
}

nk_status nk__delta_count(const uint8_t *bytes, int64_t n_bytes, int64_t n_max, int64_t *n, nk_error *err)
{
	cursor c = {bytes, bytes + n_bytes, false};
	delta_header header;
	NK_TRY(read_header(&c, &header, err));
	if (header.n_values > (uint64_t)n_max)
		return nk_fail(err, NK_COMPUTE, "corrupt page: more values than rows");
	*n = (int64_t)header.n_values;
	return NK_OK;
}

nk_status nk__delta_integers(const uint8_t *bytes, int64_t n_bytes, void *out, int n_each, int64_t n,
                             int64_t *n_used, nk_error *err)
{
	cursor c = {bytes, bytes + n_bytes, false};
	delta_header header;
	NK_TRY(read_header(&c, &header, err));
	if (header.n_values != (uint64_t)n)
		return nk_fail(err, NK_COMPUTE, "corrupt page: delta streams of different lengths");
	int64_t n_mini = (int64_t)(header.n_block / header.n_minis), n_done = 0;
	uint64_t value = header.first;
	if (n > 0)
		store(out, n_each, n_done++, value);
	while (n_done < n) {
		uint64_t least = read_zigzag(&c);
		const uint8_t *widths = c.at;
		if (c.failed || (uint64_t)(c.end - c.at) < header.n_minis)
			return nk_fail(err, NK_COMPUTE, "corrupt page: a delta block is cut");
		c.at += header.n_minis;
		for (uint64_t mini = 0; mini < header.n_minis && n_done < n; mini++) {
			int width = widths[mini];
			if (width > 64)
				return nk_fail(err, NK_COMPUTE, "corrupt page: deltas of %d bits", width);
			int64_t n_now = n - n_done < n_mini ? n - n_done : n_mini;
			/* the last block may be cut after the values that count */
			if ((n_now * width + 7) / 8 > c.end - c.at)
				return nk_fail(err, NK_COMPUTE, "corrupt page: a delta block is cut");
			for (int64_t i = 0; i < n_now; i++) {
				value += least + packed(c.at, c.end, width, i);
				store(out, n_each, n_done++, value);
			}
			int64_t n_mini_bytes = n_mini * width / 8;
			c.at = n_mini_bytes > c.end - c.at ? c.end : c.at + n_mini_bytes;
		}
	}
	*n_used = c.at - bytes;
	return NK_OK;
}

void nk__byte_stream_split(const uint8_t *bytes, int64_t n_bytes, uint8_t *out, int n_each)
{
	int64_t n = n_bytes / n_each;
	for (int64_t i = 0; i < n; i++)
		for (int k = 0; k < n_each; k++)
			out[i * n_each + k] = bytes[k * n + i];
}

/* Shared prefixes are copied from the string before, so the sum of lengths may exceed the page by far: it is added
 * up before anything is allocated. */
nk_status nk__delta_texts(nk_memory *memory, nk_parquet_encoding encoding, const uint8_t *bytes,
                          int64_t n_bytes, int64_t n, int32_t *lengths, nk_buffer **out, nk_error *err)
{
	bool has_prefixes = encoding == NK_ENCODING_DELTA_BYTE_ARRAY;
	int64_t n_used = 0, n_total = 0, n_suffixes = 0;
	NK_AUTO(nk_buffer) prefixes = NULL;
	if (has_prefixes) {
		NK_TRY(nk_buffer_new(memory, 4 * n, &prefixes, err));
		NK_TRY(nk__delta_integers(bytes, n_bytes, prefixes->bytes, 4, n, &n_used, err));
		bytes += n_used;
		n_bytes -= n_used;
	}
	NK_TRY(nk__delta_integers(bytes, n_bytes, lengths, 4, n, &n_used, err));
	bytes += n_used;
	n_bytes -= n_used;
	const int32_t *prefix = prefixes ? (const int32_t *)prefixes->bytes : NULL;
	int64_t n_before = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t n_prefix = prefix ? prefix[i] : 0;
		if (lengths[i] < 0 || n_prefix < 0 || n_prefix > n_before)
			return nk_fail(err, NK_COMPUTE, "corrupt page: impossible length of a byte array");
		n_suffixes += lengths[i];
		n_before = n_prefix + lengths[i];
		n_total += n_before;
	}
	if (n_suffixes > n_bytes || n_total > INT32_MAX)
		return nk_fail(err, NK_COMPUTE, "corrupt page: byte arrays reach past the end of their page");
	NK_AUTO(nk_buffer) texts = NULL;
	NK_TRY(nk_buffer_new(memory, n_total, &texts, err));
	uint8_t *at = texts->bytes, *before = at;
	for (int64_t i = 0; i < n; i++) {
		int32_t n_prefix = prefix ? prefix[i] : 0, n_suffix = lengths[i];
		uint8_t *start = at;
		memcpy(at, before, (size_t)n_prefix);
		memcpy(at + n_prefix, bytes, (size_t)n_suffix);
		bytes += n_suffix;
		lengths[i] = n_prefix + n_suffix;
		at += lengths[i];
		before = start;
	}
	*out = NK_STEAL(texts);
	return NK_OK;
}
