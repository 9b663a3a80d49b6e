/* Eight rows a step, a byte of `passes`. With AVX-512 the words come by masked gathers: what bounds or an earlier
 * filter ruled out is not fetched. */
#include "plan/runtime_filter_loops.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>

static inline __mmask8 lanes(const uint8_t *passes, int64_t i) { return (__mmask8)passes[i / 8]; }

static inline __mmask8 inside(__m512i at, __m512i span, __mmask8 mask)
{
	return _mm512_mask_cmple_epu64_mask(mask, at, span);
}

static void bounds(uint8_t *passes, const int64_t *values, int64_t n, int64_t min, int64_t max)
{
	__m512i low = _mm512_set1_epi64(min), span = _mm512_set1_epi64((int64_t)((uint64_t)max - (uint64_t)min));
	for (int64_t i = 0; i < n; i += 8) {
		__mmask8 mask = lanes(passes, i);
		__m512i at = _mm512_sub_epi64(_mm512_maskz_loadu_epi64(mask, values + i), low);
		passes[i / 8] = (uint8_t)inside(at, span, mask);
	}
}

static void bitmap(uint8_t *passes, const int64_t *values, int64_t n, int64_t min, int64_t max,
                   const uint64_t *words)
{
	__m512i low = _mm512_set1_epi64(min), span = _mm512_set1_epi64((int64_t)((uint64_t)max - (uint64_t)min));
	__m512i one = _mm512_set1_epi64(1), low_bits = _mm512_set1_epi64(63);
	for (int64_t i = 0; i < n; i += 8) {
		__mmask8 mask = lanes(passes, i);
		__m512i at = _mm512_sub_epi64(_mm512_maskz_loadu_epi64(mask, values + i), low);
		mask = inside(at, span, mask);
		__m512i word =
			_mm512_mask_i64gather_epi64(_mm512_setzero_si512(), mask, _mm512_srli_epi64(at, 6), words, 8);
		__m512i bit = _mm512_sllv_epi64(one, _mm512_and_si512(at, low_bits));
		passes[i / 8] = (uint8_t)_mm512_mask_test_epi64_mask(mask, word, bit);
	}
}

static void bloom(uint8_t *passes, const uint64_t *hashes, int64_t n, const uint64_t *words, int64_t n_words)
{
	__m512i one = _mm512_set1_epi64(1), low_bits = _mm512_set1_epi64(63), count = _mm512_set1_epi64(n_words);
	for (int64_t i = 0; i < n; i += 8) {
		__mmask8 mask = lanes(passes, i);
		__m512i hash = _mm512_maskz_loadu_epi64(mask, hashes + i);
		__m512i at = _mm512_srli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(hash, 32), count), 32);
		__m512i word = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), mask, at, words, 8);
		__m512i bits = _mm512_sllv_epi64(one, _mm512_and_si512(hash, low_bits));
		for (int shift = 6; shift <= 18; shift += 6) {
			__m512i position = _mm512_and_si512(_mm512_srl_epi64(hash, _mm_cvtsi32_si128(shift)), low_bits);
			bits = _mm512_or_si512(bits, _mm512_sllv_epi64(one, position));
		}
		passes[i / 8] = (uint8_t)_mm512_mask_cmpeq_epi64_mask(mask, _mm512_and_si512(word, bits), bits);
	}
}

#else

static void bounds(uint8_t *passes, const int64_t *values, int64_t n, int64_t min, int64_t max)
{
	for (int64_t i = 0; i < n; i += 8) {
		unsigned mask = 0;
		for (int64_t j = i; j < n && j < i + 8; j++)
			mask |= (unsigned)(values[j] >= min && values[j] <= max) << (j - i);
		passes[i / 8] &= (uint8_t)mask;
	}
}

static void bitmap(uint8_t *passes, const int64_t *values, int64_t n, int64_t min, int64_t max,
                   const uint64_t *words)
{
	uint64_t span = (uint64_t)max - (uint64_t)min;
	for (int64_t i = 0; i < n; i += 8) {
		unsigned mask = 0;
		for (int64_t j = i; j < n && j < i + 8; j++) {
			uint64_t at = (uint64_t)values[j] - (uint64_t)min, is_inside = at <= span,
					 bit = is_inside ? at : 0;
			mask |= (unsigned)(is_inside & words[bit >> 6] >> (bit & 63)) << (j - i);
		}
		passes[i / 8] &= (uint8_t)mask;
	}
}

static void bloom(uint8_t *passes, const uint64_t *hashes, int64_t n, const uint64_t *words, int64_t n_words)
{
	for (int64_t i = 0; i < n; i += 8) {
		unsigned mask = 0;
		for (int64_t j = i; passes[i / 8] && j < n && j < i + 8; j++) {
			uint64_t bits = nk__bloom_bits(hashes[j]);
			mask |= (unsigned)((words[nk__bloom_word(hashes[j], n_words)] & bits) == bits) << (j - i);
		}
		passes[i / 8] &= (uint8_t)mask;
	}
}

#endif

const nk__filter_loops NK_ISA_NAME(nk__runtime_filter) = {.bounds = bounds, .bitmap = bitmap, .bloom = bloom};
