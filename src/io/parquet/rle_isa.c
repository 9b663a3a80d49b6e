/* Hybrid run-length and bit-packed streams, compiled once per instruction level.
 *
 * A dictionary page of near-unique values is a sequence of packed runs, so unpacking and looking up go together
 * through a piece of codes that stays in the first cache. With AVX2 a group of 8 codes is one byte shuffle (each
 * lane gets the four bytes that hold its code), one variable shift and one mask; it covers widths up to 25, for
 * which a code at any bit position lies within four bytes. Wider codes and ends of streams go one at a time. */
#include "io/parquet/kernels.h"

#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

enum { PIECE = 1024, WIDTH_MAX_SHUFFLE = 25, READ_AHEAD = 32, SHORT_RUN = 32 };

/* Begin the next run unless one is under way. False at the end of the stream and on malformed headers. */
static inline bool start_run(nk_rle *rle)
{
	while (rle->n_repeated == 0 && rle->n_packed == 0) {
		if (rle->phase > 0) {
			rle->phase = 0;
			rle->at += rle->width;
		}
		if (rle->width == 0) {
			rle->value = 0;
			rle->n_repeated = INT64_MAX;
			return true;
		}
		uint64_t head = 0;
		int shift = 0;
		for (;; shift += 7) {
			if (rle->at >= rle->end || shift > 35)
				return false;
			uint8_t byte = *rle->at++;
			head |= (uint64_t)(byte & 127) << shift;
			if (byte < 128)
				break;
		}
		int64_t n_left = rle->end - rle->at;
		if (head & 1) {
			/* some writers cut the last group short: what is there counts */
			int64_t n_values = (int64_t)(head >> 1) * 8, n_there = n_left * 8 / rle->width;
			rle->n_packed = n_values < n_there ? n_values : n_there;
		} else {
			int n_bytes = (rle->width + 7) >> 3;
			if (n_left < n_bytes)
				return false;
			rle->value = 0;
			for (int i = 0; i < n_bytes; i++)
				rle->value |= (uint32_t)rle->at[i] << (8 * i);
			rle->at += n_bytes;
			rle->n_repeated = (int64_t)(head >> 1);
		}
	}
	return true;
}

/* One value of the group at `at`. */
static inline uint32_t packed_value(const nk_rle *rle, int phase)
{
	int bit = phase * rle->width;
	const uint8_t *at = rle->at + (bit >> 3);
	uint64_t word = 0;
	if (rle->end - at >= 8)
		memcpy(&word, at, 8);
	else if (rle->end > at)
		memcpy(&word, at, (size_t)(rle->end - at));
	uint64_t mask = ((uint64_t)1 << rle->width) - 1;
	return (uint32_t)((word >> (bit & 7)) & mask);
}

#ifdef __AVX2__
/* For 8 codes of one width: the 128-bit lanes start at byte 0 and at the byte that holds code 4. */
typedef struct unpacking {
	uint8_t bytes[32];
	uint32_t shifts[8];
} unpacking;

#define BIT(w, i) ((i) * (w) - ((i) < 4 ? 0 : 4 * (w) / 8 * 8))
#define FOUR_BYTES(w, i) BIT(w, i) / 8, BIT(w, i) / 8 + 1, BIT(w, i) / 8 + 2, BIT(w, i) / 8 + 3
#define UNPACKING(w)                                                                                  \
	{                                                                                                 \
		{FOUR_BYTES(w, 0), FOUR_BYTES(w, 1), FOUR_BYTES(w, 2), FOUR_BYTES(w, 3),                      \
		 FOUR_BYTES(w, 4), FOUR_BYTES(w, 5), FOUR_BYTES(w, 6), FOUR_BYTES(w, 7)},                     \
		{                                                                                             \
			BIT(w, 0) % 8, BIT(w, 1) % 8, BIT(w, 2) % 8, BIT(w, 3) % 8, BIT(w, 4) % 8, BIT(w, 5) % 8, \
				BIT(w, 6) % 8, BIT(w, 7) % 8                                                          \
		}                                                                                             \
	}
static const unpacking unpackings[WIDTH_MAX_SHUFFLE + 1] = {
	UNPACKING(0),  UNPACKING(1),  UNPACKING(2),  UNPACKING(3),  UNPACKING(4),  UNPACKING(5),  UNPACKING(6),
	UNPACKING(7),  UNPACKING(8),  UNPACKING(9),  UNPACKING(10), UNPACKING(11), UNPACKING(12), UNPACKING(13),
	UNPACKING(14), UNPACKING(15), UNPACKING(16), UNPACKING(17), UNPACKING(18), UNPACKING(19), UNPACKING(20),
	UNPACKING(21), UNPACKING(22), UNPACKING(23), UNPACKING(24), UNPACKING(25),
};

static inline int64_t unpack_groups(const nk_rle *rle, uint32_t *out, int64_t n_groups)
{
	int width = rle->width;
	if (width > WIDTH_MAX_SHUFFLE)
		return 0;
	int high = (4 * width) >> 3;
	__m256i shuffle = _mm256_loadu_si256((const __m256i *)unpackings[width].bytes);
	__m256i shift = _mm256_loadu_si256((const __m256i *)unpackings[width].shifts);
	__m256i mask = _mm256_set1_epi32((int)(((uint64_t)1 << width) - 1));
	const uint8_t *at = rle->at;
	if (rle->end - at < READ_AHEAD + n_groups * width) {
		int64_t n_safe = (rle->end - at - READ_AHEAD) / width;
		n_groups = n_groups < n_safe ? n_groups : n_safe;
	}
	for (int64_t g = 0; g < n_groups; g++, at += width, out += 8) {
		__m256i words = _mm256_loadu2_m128i((const __m128i *)(at + high), (const __m128i *)at);
		words = _mm256_srlv_epi32(_mm256_shuffle_epi8(words, shuffle), shift);
		_mm256_storeu_si256((__m256i *)out, _mm256_and_si256(words, mask));
	}
	return n_groups < 0 ? 0 : n_groups;
}
#else
static inline int64_t unpack_groups(const nk_rle *rle, uint32_t *out, int64_t n_groups)
{
	int width = rle->width;
	uint64_t mask = ((uint64_t)1 << width) - 1;
	const uint8_t *at = rle->at;
	int64_t n_safe = (rle->end - at - READ_AHEAD) / width;
	n_groups = n_groups < n_safe ? n_groups : n_safe;
	for (int64_t g = 0; g < n_groups; g++, at += width)
		for (int i = 0; i < 8; i++) {
			uint64_t word;
			memcpy(&word, at + ((i * width) >> 3), 8);
			*out++ = (uint32_t)((word >> ((i * width) & 7)) & mask);
		}
	return n_groups < 0 ? 0 : n_groups;
}
#endif

/* Take n values of the current packed run, which has them. */
static inline void take_packed(nk_rle *rle, uint32_t *out, int64_t n)
{
	rle->n_packed -= n;
	while (n > 0) {
		if (rle->phase == 0 && n >= 8) {
			int64_t n_groups = unpack_groups(rle, out, n >> 3);
			rle->at += n_groups * rle->width;
			out += n_groups * 8;
			n -= n_groups * 8;
			if (n == 0)
				break;
		}
		*out++ = packed_value(rle, rle->phase);
		n--;
		if (++rle->phase == 8) {
			rle->phase = 0;
			rle->at += rle->width;
		}
	}
}

static bool decode_codes(nk_rle *rle, uint32_t *out, int64_t n)
{
	while (n > 0) {
		if (!start_run(rle))
			return false;
		int64_t n_run = rle->n_repeated > 0 ? rle->n_repeated : rle->n_packed;
		int64_t n_now = n < n_run ? n : n_run;
		if (rle->n_repeated > 0) {
			uint32_t value = rle->value;
			if (n_now <= SHORT_RUN && n >= SHORT_RUN) { /* what is too much is overwritten */
				for (int64_t i = 0; i < SHORT_RUN; i++)
					out[i] = value;
			} else {
				for (int64_t i = 0; i < n_now; i++)
					out[i] = value;
			}
			rle->n_repeated -= n_now;
		} else {
			take_packed(rle, out, n_now);
		}
		out += n_now;
		n -= n_now;
	}
	return true;
}

static bool skip_values(nk_rle *rle, int64_t n)
{
	while (n > 0) {
		if (!start_run(rle))
			return false;
		int64_t n_run = rle->n_repeated > 0 ? rle->n_repeated : rle->n_packed;
		int64_t n_now = n < n_run ? n : n_run;
		if (rle->n_repeated > 0) {
			rle->n_repeated -= n_now;
		} else {
			int64_t n_taken = rle->phase + n_now;
			rle->n_packed -= n_now;
			rle->at += (n_taken >> 3) * rle->width;
			rle->phase = (int)(n_taken & 7);
		}
		n -= n_now;
	}
	return true;
}

static bool decode_bits(nk_rle *rle, uint8_t *out, int64_t at, int64_t n, int64_t *n_ones)
{
	if (rle->width != 1)
		return false;
	while (n > 0) {
		if (!start_run(rle))
			return false;
		int64_t n_run = rle->n_repeated > 0 ? rle->n_repeated : rle->n_packed;
		int64_t n_now = n < n_run ? n : n_run;
		/* up to 56 bits at a time, which fit a word with the position's bits before them */
		int64_t n_left = n_now;
		if (rle->n_repeated > 0) {
			uint64_t ones = rle->value & 1 ? UINT64_MAX : 0;
			*n_ones += ones ? n_now : 0;
			for (; n_left > 0 && (at & 7); n_left--, at++)
				out[at >> 3] = (uint8_t)((out[at >> 3] & ((1 << (at & 7)) - 1)) | ((ones & 1) << (at & 7)));
			if (n_left > 0)
				memset(out + (at >> 3), (int)(ones & 0xff), (size_t)((n_left + 7) >> 3));
			at += n_left;
			rle->n_repeated -= n_now;
		} else {
			while (n_left > 0) {
				int64_t n_bits = n_left < 48 ? n_left : 48;
				uint64_t word = 0;
				int64_t n_there = rle->end - rle->at;
				memcpy(&word, rle->at, (size_t)(n_there < 8 ? n_there : 8));
				word = (word >> rle->phase) & (((uint64_t)1 << n_bits) - 1);
				*n_ones += __builtin_popcountll(word);
				int64_t n_taken = rle->phase + n_bits;
				rle->at += n_taken >> 3;
				rle->phase = (int)(n_taken & 7);
				int before = (int)(at & 7);
				uint64_t kept = out[at >> 3] & (((uint64_t)1 << before) - 1);
				word = word << before | kept;
				memcpy(out + (at >> 3), &word, (size_t)((before + n_bits + 7) >> 3));
				at += n_bits;
				n_left -= n_bits;
			}
			rle->n_packed -= n_now;
		}
		n -= n_now;
	}
	return true;
}

static bool all_below(const uint32_t *codes, int64_t n, int64_t limit)
{
	uint32_t largest = 0;
	for (int64_t i = 0; i < n; i++)
		largest = codes[i] > largest ? codes[i] : largest;
	return n == 0 || largest < limit;
}

typedef uint16_t any_u16 __attribute__((aligned(1)));
typedef uint32_t any_u32 __attribute__((aligned(1)));
typedef uint64_t any_u64 __attribute__((aligned(1)));
typedef unsigned __int128 any_u128 __attribute__((aligned(1)));

#define T uint8_t
#define SUFFIX 8
#include "io/parquet/gather_tmpl.h"
#define T any_u16
#define SUFFIX 16
#include "io/parquet/gather_tmpl.h"
#define T any_u32
#define SUFFIX 32
#include "io/parquet/gather_tmpl.h"
#define T any_u64
#define SUFFIX 64
#include "io/parquet/gather_tmpl.h"
#define T any_u128
#define SUFFIX 128
#include "io/parquet/gather_tmpl.h"

static int64_t positions_of_ones(uint32_t *out, const uint8_t *bits, int64_t n)
{
	int64_t n_out = 0;
	for (int64_t i = 0; i < n; i += 64) {
		uint64_t word = 0;
		int64_t n_bits = n - i < 64 ? n - i : 64;
		memcpy(&word, bits + (i >> 3), (size_t)((n_bits + 7) >> 3));
		if (n_bits < 64)
			word &= ((uint64_t)1 << n_bits) - 1;
		while (word) {
			out[n_out++] = (uint32_t)(i + __builtin_ctzll(word));
			word &= word - 1;
		}
	}
	return n_out;
}

static bool is_ascii(const uint8_t *bytes, int64_t n)
{
	int64_t i = 0;
	for (; i + 1024 <= n; i += 1024) {
		uint8_t all = 0;
		for (int64_t k = 0; k < 1024; k++)
			all |= bytes[i + k];
		if (all >= 128)
			return false;
	}
	uint8_t all = 0;
	for (; i < n; i++)
		all |= bytes[i];
	return all < 128;
}

const nk_parquet_table NK_ISA_NAME(nk__parquet_kernels) = {
	.codes = decode_codes,
	.skip = skip_values,
	.bits = decode_bits,
	.lookup = {lookup_8, lookup_16, lookup_32, lookup_64, lookup_128},
	.gather = {gather_8, gather_16, gather_32, gather_64, gather_128},
	.all_below = all_below,
	.spread = {spread_8, spread_16, spread_32, spread_64, spread_128},
	.positions = positions_of_ones,
	.is_ascii = is_ascii,
};
