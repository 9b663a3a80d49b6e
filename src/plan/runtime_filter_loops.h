/* The loops of runtime filters. Each narrows `passes`, a bit per row from bit 0 with clear bits past n, to the rows
 * that may match; rows whose bit is clear already cost no memory access. n is at most NK__FILTER_BLOCK. */
#ifndef NK_PLAN_RUNTIME_FILTER_LOOPS_H
#define NK_PLAN_RUNTIME_FILTER_LOOPS_H

#include <stdint.h>

#include "base/cpu.h"

enum { NK__FILTER_BLOCK = 1024 };

/* A Bloom filter of one word per key: which word, and which of its bits. */
static inline int64_t nk__bloom_word(uint64_t hash, int64_t n_words)
{
	return (int64_t)(((hash >> 32) * (uint64_t)n_words) >> 32);
}

static inline uint64_t nk__bloom_bits(uint64_t hash)
{
	return 1ull << (hash & 63) | 1ull << (hash >> 6 & 63) | 1ull << (hash >> 12 & 63) |
	       1ull << (hash >> 18 & 63);
}

typedef struct nk__filter_loops {
	/* min <= value <= max */
	void (*bounds)(uint8_t *passes, const int64_t *values, int64_t n, int64_t min, int64_t max);
	/* The same, and bit value - min of the bitmap's words is set. */
	void (*bitmap)(uint8_t *passes, const int64_t *values, int64_t n, int64_t min, int64_t max,
	               const uint64_t *words);
	/* n_words < 2^32 */
	void (*bloom)(uint8_t *passes, const uint64_t *hashes, int64_t n, const uint64_t *words, int64_t n_words);
} nk__filter_loops;
NK_ISA_DECLARE(nk__filter_loops, nk__runtime_filter);

#endif
