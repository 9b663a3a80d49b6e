/* Compiled once per instruction level. Rows become bytes in loops that the compiler vectorises; bytes become
 * bits by one compare or movemask of the level. */
#include "compute/compare.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

/* Bit j is the low bit of byte j. */
static inline uint64_t word_of_bytes(const uint8_t bytes[64])
{
#if defined(__AVX512BW__)
	__m512i all = _mm512_loadu_si512(bytes);
	return _mm512_test_epi8_mask(all, all);
#elif defined(__AVX2__)
	__m256i low = _mm256_loadu_si256((const __m256i *)bytes),
			high = _mm256_loadu_si256((const __m256i *)(bytes + 32));
	uint32_t bits_low = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(low, 7));
	uint32_t bits_high = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(high, 7));
	return (uint64_t)bits_high << 32 | bits_low;
#elif defined(__SSE2__)
	uint64_t word = 0;
	for (int part = 0; part < 4; part++) {
		__m128i sixteen = _mm_loadu_si128((const __m128i *)(bytes + 16 * part));
		word |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_slli_epi16(sixteen, 7)) << (16 * part);
	}
	return word;
#else
	uint64_t word = 0;
	for (int part = 0; part < 8; part++) {
		uint64_t eight;
		memcpy(&eight, bytes + 8 * part, 8);
		word |= (eight * 0x0102040810204080u >> 56) << (8 * part);
	}
	return word;
#endif
}

#define T int8_t
#define SUFFIX i8
#define IS_FLOAT 0
#include "compute/compare_tmpl.h"
#define T int16_t
#define SUFFIX i16
#define IS_FLOAT 0
#include "compute/compare_tmpl.h"
#define T int32_t
#define SUFFIX i32
#define IS_FLOAT 0
#include "compute/compare_tmpl.h"
#define T int64_t
#define SUFFIX i64
#define IS_FLOAT 0
#include "compute/compare_tmpl.h"
#define T __int128
#define SUFFIX i128
#define IS_FLOAT 0
#include "compute/compare_tmpl.h"
#define T uint8_t
#define SUFFIX u8
#define IS_FLOAT 0
#include "compute/compare_tmpl.h"
#define T uint16_t
#define SUFFIX u16
#define IS_FLOAT 0
#include "compute/compare_tmpl.h"
#define T uint32_t
#define SUFFIX u32
#define IS_FLOAT 0
#include "compute/compare_tmpl.h"
#define T uint64_t
#define SUFFIX u64
#define IS_FLOAT 0
#include "compute/compare_tmpl.h"
#define T float
#define SUFFIX f32
#define IS_FLOAT 1
#include "compute/compare_tmpl.h"
#define T double
#define SUFFIX f64
#define IS_FLOAT 1
#include "compute/compare_tmpl.h"

/* Two words hold all of a short view, unused bytes being zero. */
static void short_views(uint8_t *bits, const void *views, const void *one, int64_t n, bool equal)
{
	const uint64_t *words = views;
	uint64_t low, high;
	memcpy(&low, one, 8);
	memcpy(&high, (const char *)one + 8, 8);
	int64_t i = 0;
	for (; i + 64 <= n; i += 64) {
		uint8_t bytes[64];
		for (int j = 0; j < 64; j++)
			bytes[j] = ((words[2 * (i + j)] == low) & (words[2 * (i + j) + 1] == high)) == equal;
		uint64_t word = word_of_bytes(bytes);
		memcpy(bits + (i >> 3), &word, 8);
	}
	if (i < n) {
		uint64_t word = 0;
		for (int j = 0; i + j < n; j++)
			word |= (uint64_t)(((words[2 * (i + j)] == low) & (words[2 * (i + j) + 1] == high)) == equal)
			        << j;
		memcpy(bits + (i >> 3), &word, (size_t)((n - i + 7) >> 3));
	}
}

const nk_compare_table NK_ISA_NAME(nk__compare) = {
	.fixed =
		{
			[NK_PHYSICAL_I8] = compare_i8,
			[NK_PHYSICAL_I16] = compare_i16,
			[NK_PHYSICAL_I32] = compare_i32,
			[NK_PHYSICAL_I64] = compare_i64,
			[NK_PHYSICAL_I128] = compare_i128,
			[NK_PHYSICAL_U8] = compare_u8,
			[NK_PHYSICAL_U16] = compare_u16,
			[NK_PHYSICAL_U32] = compare_u32,
			[NK_PHYSICAL_U64] = compare_u64,
			[NK_PHYSICAL_F32] = compare_f32,
			[NK_PHYSICAL_F64] = compare_f64,
		},
	.short_views = short_views,
};
