/* Compiled once per instruction level. From bits to positions: AVX-512 compresses sixteen positions at a time
 * in a register and stores all of them (a compressing store would be microcoded); elsewhere ones are counted
 * off word by word, with whole words of ones and zeros done at once. */
#include "compute/select_table.h"

#include "base/bitmap.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

static int64_t rows_of_bits(const uint8_t *bits, const uint8_t *validity, int64_t n_rows, uint32_t *rows)
{
	int64_t count = 0;
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t word = nk_bitmap_word(bits, i, n_rows);
		if (validity)
			word &= nk_bitmap_word(validity, i, n_rows);
		if (!word)
			continue;
#ifdef __AVX512F__
		const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
		for (int part = 0; part < 4; part++) {
			__mmask16 mask = (__mmask16)(word >> (16 * part));
			__m512i positions = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)(i + 16 * part)));
			_mm512_storeu_si512(rows + count, _mm512_maskz_compress_epi32(mask, positions));
			count += __builtin_popcount(mask);
		}
#else
		if (word == UINT64_MAX) {
			for (int j = 0; j < 64; j++)
				rows[count + j] = (uint32_t)(i + j);
			count += 64;
			continue;
		}
		while (word) {
			rows[count++] = (uint32_t)(i + __builtin_ctzll(word));
			word &= word - 1;
		}
#endif
	}
	return count;
}

typedef struct wide_value {
	uint64_t low, high;
} wide_value;

#define I uint32_t
#define T uint8_t
#define TAKE take_1
#include "compute/take_tmpl.h"
#define I uint32_t
#define T uint16_t
#define TAKE take_2
#include "compute/take_tmpl.h"
#define I uint32_t
#define T uint32_t
#define TAKE take_4
#include "compute/take_tmpl.h"
#define I uint32_t
#define T uint64_t
#define TAKE take_8
#include "compute/take_tmpl.h"
#define I uint32_t
#define T wide_value
#define TAKE take_16
#include "compute/take_tmpl.h"
#define I uint32_t
#define TAKE_BITS take_bits
#include "compute/take_tmpl.h"

#define I int64_t
#define T uint8_t
#define TAKE take_wide_1
#include "compute/take_tmpl.h"
#define I int64_t
#define T uint16_t
#define TAKE take_wide_2
#include "compute/take_tmpl.h"
#define I int64_t
#define T uint32_t
#define TAKE take_wide_4
#include "compute/take_tmpl.h"
#define I int64_t
#define T uint64_t
#define TAKE take_wide_8
#include "compute/take_tmpl.h"
#define I int64_t
#define T wide_value
#define TAKE take_wide_16
#include "compute/take_tmpl.h"
#define I int64_t
#define TAKE_BITS take_bits_wide
#include "compute/take_tmpl.h"

const nk_select_table NK_ISA_NAME(nk__select) = {
	.rows = rows_of_bits,
	.take = {take_1, take_2, take_4, take_8, take_16},
	.take_wide = {take_wide_1, take_wide_2, take_wide_4, take_wide_8, take_wide_16},
	.take_bits = take_bits,
	.take_bits_wide = take_bits_wide,
};
