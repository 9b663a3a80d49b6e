/* Bits of arguments sixty-four rows at a time, whatever their encoding: for kernels that see nulls. Internal to
 * src/func. */
#ifndef NK_FUNC_WORDS_H
#define NK_FUNC_WORDS_H

#include "columnar/array.h"

/* Which of rows [i, i + 64) below n are valid; bits of other rows are zero. */
static inline uint64_t nk__valid_word(const nk_array *array, int64_t i, int64_t n)
{
	uint64_t rows = n - i < 64 ? ((uint64_t)1 << (n - i)) - 1 : UINT64_MAX;
	if (array->physical == NK_PHYSICAL_NONE)
		return 0;
	if (!array->validity)
		return rows;
	if (array->encoding == NK_CONSTANT)
		return nk_bitmap_get(array->validity, 0) ? rows : 0;
	return nk_bitmap_word(array->validity, i, n);
}

/* Values of a Boolean array (flat or constant). */
static inline uint64_t nk__true_word(const nk_array *array, int64_t i, int64_t n)
{
	uint64_t rows = n - i < 64 ? ((uint64_t)1 << (n - i)) - 1 : UINT64_MAX;
	if (array->physical == NK_PHYSICAL_NONE)
		return 0;
	if (array->encoding == NK_CONSTANT)
		return nk_bitmap_get(array->values, 0) ? rows : 0;
	return nk_bitmap_word(array->values, i, n);
}

static inline void nk__put_word(uint8_t *bits, int64_t i, int64_t n, uint64_t word)
{
	memcpy(bits + (i >> 3), &word, (size_t)nk_bitmap_bytes(n - i < 64 ? n - i : 64));
}

static inline bool nk__may_have_nulls(const nk_array *array)
{
	return array->physical == NK_PHYSICAL_NONE || (array->validity && array->n_nulls != 0);
}

#endif
