/* Bitmaps, least bit first: validity and Boolean values. Positions and counts are in bits. */
#ifndef NK_BASE_BITMAP_H
#define NK_BASE_BITMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline int64_t nk_bitmap_bytes(int64_t n_bits) { return (n_bits + 7) >> 3; }

static inline bool nk_bitmap_get(const uint8_t *bits, int64_t i) { return (bits[i >> 3] >> (i & 7)) & 1; }

static inline void nk_bitmap_set(uint8_t *bits, int64_t i) { bits[i >> 3] |= (uint8_t)(1u << (i & 7)); }

static inline void nk_bitmap_clear(uint8_t *bits, int64_t i) { bits[i >> 3] &= (uint8_t) ~(1u << (i & 7)); }

static inline void nk_bitmap_put(uint8_t *bits, int64_t i, bool value)
{
	uint8_t mask = (uint8_t)(1u << (i & 7));
	bits[i >> 3] = (uint8_t)((bits[i >> 3] & ~mask) | (value ? mask : 0));
}

/* 64 bits from position i on; only the bytes that hold positions below n are read, bits from n on are zero. */
static inline uint64_t nk_bitmap_word(const uint8_t *bits, int64_t i, int64_t n)
{
	uint64_t word = 0;
	int64_t left = n - i;
	if (left <= 0)
		return 0;
	const uint8_t *at = bits + (i >> 3);
	int shift = (int)(i & 7);
	int64_t n_bytes = nk_bitmap_bytes((left < 64 ? left : 64) + shift);
	if (n_bytes >= 8) {
		memcpy(&word, at, 8);
		word >>= shift;
		if (n_bytes > 8)
			word |= (uint64_t)at[8] << (64 - shift);
	} else {
		memcpy(&word, at, (size_t)n_bytes);
		word >>= shift;
	}
	return left < 64 ? word & ((1ull << left) - 1) : word;
}

/* Bit i is the parity of bits 0 to i. */
static inline uint64_t nk_running_parity(uint64_t bits)
{
	bits ^= bits << 1;
	bits ^= bits << 2;
	bits ^= bits << 4;
	bits ^= bits << 8;
	bits ^= bits << 16;
	return bits ^ bits << 32;
}

/* Number of ones among n bits from position `offset` on. */
static inline int64_t nk_bitmap_count(const uint8_t *bits, int64_t offset, int64_t n)
{
	int64_t count = 0;
	for (int64_t i = 0; i < n; i += 64)
		count += __builtin_popcountll(nk_bitmap_word(bits, offset + i, offset + n));
	return count;
}

/* Copy n bits from position `offset` of `bits` to the start of `out`; bits from n on in the last byte are zero. */
static inline void nk_bitmap_copy(uint8_t *out, const uint8_t *bits, int64_t offset, int64_t n)
{
	for (int64_t i = 0; i < n; i += 64) {
		uint64_t word = nk_bitmap_word(bits, offset + i, offset + n);
		int64_t n_bytes = nk_bitmap_bytes(n - i < 64 ? n - i : 64);
		memcpy(out + (i >> 3), &word, (size_t)n_bytes);
	}
}

/* Write n bits of `bits` (from its position 0) at position `at` of `out`; other bits of out are kept. */
static inline void nk_bitmap_paste(uint8_t *out, int64_t at, const uint8_t *bits, int64_t n)
{
	if ((at & 7) == 0) {
		int64_t n_whole = n >> 3;
		memcpy(out + (at >> 3), bits, (size_t)n_whole);
		for (int64_t i = n_whole << 3; i < n; i++)
			nk_bitmap_put(out, at + i, nk_bitmap_get(bits, i));
		return;
	}
	for (int64_t i = 0; i < n; i++)
		nk_bitmap_put(out, at + i, nk_bitmap_get(bits, i));
}

/* Set or clear n bits from position `at` on. */
static inline void nk_bitmap_fill(uint8_t *bits, int64_t at, int64_t n, bool value)
{
	int64_t i = at, end = at + n;
	while (i < end && (i & 7))
		nk_bitmap_put(bits, i++, value);
	int64_t n_whole = (end - i) >> 3;
	if (n_whole > 0) {
		memset(bits + (i >> 3), value ? 0xff : 0, (size_t)n_whole);
		i += n_whole << 3;
	}
	while (i < end)
		nk_bitmap_put(bits, i++, value);
}

#endif
