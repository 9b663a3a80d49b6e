/* 64-bit hashing with fixed seeds: results never depend on the run.
 *
 * Use of the bits, everywhere: top bits choose the partition, middle bits are salt and Bloom bits, low bits
 * choose the slot. The mixer is the 128-bit multiply-fold of wyhash (public domain, Wang Yi). */
#ifndef NK_BASE_HASH_H
#define NK_BASE_HASH_H

#include <stdint.h>
#include <string.h>

#define NK_HASH_SEED 0x9e3779b97f4a7c15ull
#define NK_HASH_MULTIPLIER 0xd6e8feb86659fd93ull
#define NK_HASH_NULL 0x7a1d5b3c9e8f6241ull

static inline uint64_t nk_hash_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Hash of one 64-bit value: a bijective xorshift-multiply mixer, vectorisable. */
static inline uint64_t nk_hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= NK_HASH_MULTIPLIER;
	x ^= x >> 32;
	x *= NK_HASH_MULTIPLIER;
	x ^= x >> 32;
	return x;
}

/* Combine the hash of an earlier key column with that of a later one; order matters. */
static inline uint64_t nk_hash_combine(uint64_t left, uint64_t right)
{
	return (left ^ (left >> 29)) * NK_HASH_SEED + right;
}

/* Hash of a run of bytes. Equal bytes hash alike wherever they lie. */
static inline uint64_t nk_hash_bytes(const void *bytes, int64_t n)
{
	const uint8_t *at = bytes;
	uint64_t hash = NK_HASH_SEED ^ ((uint64_t)n * NK_HASH_MULTIPLIER), a, b;
	while (n > 16) {
		memcpy(&a, at, 8);
		memcpy(&b, at + 8, 8);
		hash = nk_hash_fold(a ^ NK_HASH_MULTIPLIER, b ^ hash);
		at += 16;
		n -= 16;
	}
	a = b = 0;
	if (n >= 8) {
		memcpy(&a, at, 8);
		memcpy(&b, at + n - 8, 8);
	} else if (n >= 4) {
		uint32_t low, high;
		memcpy(&low, at, 4);
		memcpy(&high, at + n - 4, 4);
		a = low;
		b = high;
	} else if (n > 0) {
		a = ((uint64_t)at[0] << 16) | ((uint64_t)at[n >> 1] << 8) | at[n - 1];
	}
	return nk_hash_fold(a ^ NK_HASH_SEED, b ^ hash ^ NK_HASH_MULTIPLIER);
}

#endif
