/* Snappy encoding: greedy matches through one hash table of 4-byte groups, restarted every 64 KiB so that
 * positions fit 16 bits and offsets never need the 4-byte form. Where nothing matches, steps grow, so that
 * incompressible data costs little. Written for files that the engine writes; the decoder is snappy_isa.c. */
#include "io/codec/snappy.h"

#include <string.h>

enum { BLOCK = 1 << 16, HASH_BITS = 14 };

static inline uint32_t load32(const uint8_t *bytes)
{
	uint32_t word;
	memcpy(&word, bytes, 4);
	return word;
}

int64_t nk__snappy_bound(int64_t n_in) { return 32 + n_in + n_in / 6; }

static uint8_t *put_literal(uint8_t *out, const uint8_t *in, int64_t n)
{
	if (n == 0)
		return out;
	int64_t length = n - 1;
	if (length < 60) {
		*out++ = (uint8_t)(length << 2);
	} else {
		uint8_t *tag = out++;
		int n_bytes = 0;
		for (int64_t left = length; left > 0; left >>= 8, n_bytes++)
			*out++ = (uint8_t)left;
		*tag = (uint8_t)((59 + n_bytes) << 2);
	}
	memcpy(out, in, (size_t)n);
	return out + n;
}

static uint8_t *put_copy(uint8_t *out, int64_t offset, int64_t length)
{
	/* pieces of at most 64, none of which leaves fewer than 4 */
	while (length > 0) {
		int64_t n = length <= 64 ? length : length < 68 ? 60 : 64;
		if (n >= 4 && n <= 11 && offset < 2048) {
			*out++ = (uint8_t)(1 | (n - 4) << 2 | (offset >> 8) << 5);
			*out++ = (uint8_t)offset;
		} else {
			*out++ = (uint8_t)(2 | (n - 1) << 2);
			*out++ = (uint8_t)offset;
			*out++ = (uint8_t)(offset >> 8);
		}
		length -= n;
	}
	return out;
}

static uint8_t *compress_block(const uint8_t *in, int64_t n_in, uint8_t *out)
{
	uint16_t last_seen[1 << HASH_BITS];
	memset(last_seen, 0, sizeof last_seen);
	int64_t i = 1, literal_start = 0, n_missed = 0;
	while (i + 4 <= n_in) {
		uint32_t group = load32(in + i);
		uint32_t hash = (group * 0x9E3779B1u) >> (32 - HASH_BITS);
		int64_t candidate = last_seen[hash];
		last_seen[hash] = (uint16_t)i;
		if (load32(in + candidate) != group) {
			i += 1 + (n_missed++ >> 5);
			continue;
		}
		int64_t length = 4;
		while (i + length < n_in && in[candidate + length] == in[i + length])
			length++;
		out = put_literal(out, in + literal_start, i - literal_start);
		out = put_copy(out, i - candidate, length);
		i += length;
		literal_start = i;
		n_missed = 0;
	}
	return put_literal(out, in + literal_start, n_in - literal_start);
}

int64_t nk__snappy_compress(const uint8_t *in, int64_t n_in, uint8_t *out)
{
	uint8_t *start = out;
	uint64_t left = (uint64_t)n_in;
	for (; left >= 128; left >>= 7)
		*out++ = (uint8_t)(left | 128);
	*out++ = (uint8_t)left;
	for (int64_t i = 0; i < n_in; i += BLOCK)
		out = compress_block(in + i, n_in - i < BLOCK ? n_in - i : BLOCK, out);
	return out - start;
}
