/* Parquet's inner loops, compiled once per instruction level from rle_isa.c.
 *
 * Loops see pointers and counts. Streams come from files, so every read is bounded by the stream's end and every
 * dictionary code by the dictionary's size; a function that meets bad input says so by its result and has
 * written nothing outside of its output. Outputs hold exactly what is asked for: no slack is needed. */
#ifndef NK_IO_PARQUET_KERNELS_H
#define NK_IO_PARQUET_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"

/* A hybrid stream of repeated and bit-packed runs: definition levels, dictionary codes, RLE booleans.
 * A decoder: read it in pieces of any size. */
typedef struct nk_rle {
	const uint8_t *at, *end;      /* of a packed run: the group of 8 values that comes next */
	int width;                    /* bits per value, 0 to 32 */
	int phase;                    /* values of the group at `at` that are already taken */
	int64_t n_repeated, n_packed; /* left in the current run; at most one is not 0 */
	uint32_t value;               /* of the repeated run */
} nk_rle;

/* width must be 0..32. */
static inline nk_rle nk__rle_start(const uint8_t *bytes, int64_t n_bytes, int width)
{
	return (nk_rle){.at = bytes, .end = bytes + n_bytes, .width = width};
}

typedef struct nk_parquet_table {
	/* The next n values. False when the stream has fewer. */
	bool (*codes)(nk_rle *rle, uint32_t *out, int64_t n);
	/* Pass over the next n values. */
	bool (*skip)(nk_rle *rle, int64_t n);
	/* The next n values of a stream of width 1 as bits from position `at` of `out`, whose bits from there on are
	 * overwritten up to the end of the last byte. *n_ones grows by the ones. */
	bool (*bits)(nk_rle *rle, uint8_t *out, int64_t at, int64_t n, int64_t *n_ones);
	/* dictionary[code] for the next n codes; false when a code is not below n_dictionary. By log2 of the value's size. */
	bool (*lookup[5])(nk_rle *rle, void *out, int64_t n, const void *dictionary, int64_t n_dictionary);
	/* values[positions[i]]: positions are the caller's and right. By log2 of the value's size. */
	void (*gather[5])(void *out, const void *values, const uint32_t *positions, int64_t n);
	/* Whether all codes are below the limit. */
	bool (*all_below)(const uint32_t *codes, int64_t n, int64_t limit);
	/* Spread values that stand at the end of `out` over its n rows, zeros where validity is 0. By log2 of size. */
	void (*spread[5])(void *out, const uint8_t *validity, int64_t n, int64_t n_values);
	/* Positions of the ones among n bits, as offsets from the first; returns their number. `out` has room for n. */
	int64_t (*positions)(uint32_t *out, const uint8_t *bits, int64_t n);
	bool (*is_ascii)(const uint8_t *bytes, int64_t n);
} nk_parquet_table;

NK_ISA_DECLARE(nk_parquet_table, nk__parquet_kernels);

#endif
