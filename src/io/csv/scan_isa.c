/* The structure of CSV text, 64 bytes at a time: comparisons give bit masks of separators, line ends and quotes; the
 * running parity of quotes tells what is quoted. A prefix sum by shifts is needed only in blocks that have a quote, so
 * carry-less multiplication would gain nothing. Blocks without any are the common case and cost three comparisons.
 *
 * Conversion of fields is branch-free for what columns usually hold: numbers of up to 16 bytes are brought to the
 * right end of a register, their point is squeezed out, and three multiplications add up the digits. */
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "base/bitmap.h"
#include "io/csv/kernels.h"

typedef struct block {
	uint64_t separators, eols, quotes, high;
} block;

#if defined(__AVX512BW__)
static inline block block_read(const uint8_t *at, const nk_csv_marks *marks)
{
	__m512i bytes = _mm512_loadu_si512(at);
	return (block){
		.separators = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8((char)marks->separator)),
		.eols = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8((char)marks->eol)),
		.quotes = marks->has_quote ? _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8((char)marks->quote)) : 0,
		.high = _mm512_movepi8_mask(bytes),
	};
}
#elif defined(__AVX2__)
static inline uint64_t equal_64(__m256i low, __m256i high, uint8_t byte)
{
	__m256i all = _mm256_set1_epi8((char)byte);
	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, all)) |
	       (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, all)) << 32;
}
static inline block block_read(const uint8_t *at, const nk_csv_marks *marks)
{
	__m256i low = _mm256_loadu_si256((const __m256i *)at),
			high = _mm256_loadu_si256((const __m256i *)(at + 32));
	return (block){
		.separators = equal_64(low, high, marks->separator),
		.eols = equal_64(low, high, marks->eol),
		.quotes = marks->has_quote ? equal_64(low, high, marks->quote) : 0,
		.high = (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32,
	};
}
#elif defined(__SSE2__)
static inline block block_read(const uint8_t *at, const nk_csv_marks *marks)
{
	block out = {0};
	__m128i separator = _mm_set1_epi8((char)marks->separator), eol = _mm_set1_epi8((char)marks->eol),
			quote = _mm_set1_epi8((char)marks->quote);
	for (int i = 0; i < 4; i++) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(at + 16 * i));
		out.separators |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, separator)) << 16 * i;
		out.eols |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, eol)) << 16 * i;
		out.quotes |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quote)) << 16 * i;
		out.high |= (uint64_t)(uint32_t)_mm_movemask_epi8(bytes) << 16 * i;
	}
	out.quotes = marks->has_quote ? out.quotes : 0;
	return out;
}
#else
static inline block block_read(const uint8_t *at, const nk_csv_marks *marks)
{
	block out = {0};
	for (int i = 0; i < 64; i++) {
		out.separators |= (uint64_t)(at[i] == marks->separator) << i;
		out.eols |= (uint64_t)(at[i] == marks->eol) << i;
		out.quotes |= (uint64_t)(marks->has_quote && at[i] == marks->quote) << i;
		out.high |= (uint64_t)(at[i] >> 7) << i;
	}
	return out;
}
#endif

/* The last block, of n < 64 bytes. */
static inline block block_read_tail(const uint8_t *at, int64_t n, const nk_csv_marks *marks)
{
	uint8_t copy[64] = {0};
	memcpy(copy, at, (size_t)n);
	block out = block_read(copy, marks);
	uint64_t inside = (1ull << n) - 1;
	return (block){out.separators & inside, out.eols & inside, out.quotes & inside, out.high & inside};
}

static void summarise(const uint8_t *text, int64_t n, const nk_csv_marks *marks_given, nk_csv_summary *out)
{
	nk_csv_marks marks = *marks_given;
	nk_csv_summary sum = {.last_eol = {-1, -1}};
	uint64_t quoted = 0; /* all ones inside of quotes, if the text begins outside */
	for (int64_t i = 0; i < n; i += 64) {
		block b = n - i >= 64 ? block_read(text + i, &marks) : block_read_tail(text + i, n - i, &marks);
		sum.n_marks += __builtin_popcountll(b.separators | b.eols);
		uint64_t inside = quoted;
		if (b.quotes) {
			inside = nk_running_parity(b.quotes) ^ quoted;
			quoted = (uint64_t)((int64_t)inside >> 63);
		}
		uint64_t eols = b.eols & ~inside, quoted_eols = b.eols & inside;
		sum.n_eols[0] += __builtin_popcountll(eols);
		sum.n_eols[1] += __builtin_popcountll(quoted_eols);
		if (eols)
			sum.last_eol[0] = i + 63 - __builtin_clzll(eols);
		if (quoted_eols)
			sum.last_eol[1] = i + 63 - __builtin_clzll(quoted_eols);
	}
	sum.is_odd = quoted != 0;
	*out = sum;
}

/* Positions behind the bits of a block at `base`; may write 16 more than there are. */
static inline uint32_t *put_positions(uint32_t *out, uint64_t bits, uint32_t base)
{
	int n = __builtin_popcountll(bits);
	for (int done = 0;;) {
		for (int i = 0; i < 8; i++) {
			out[done + i] = base + 1 + (uint32_t)__builtin_ctzll(bits | 1ull << 63);
			bits &= bits - 1;
		}
		if (__builtin_expect((done += 8) >= n, 1))
			break;
	}
	return out + n;
}

static void make_index(const uint8_t *text, int64_t n, const nk_csv_marks *marks_given, uint32_t *out,
                       nk_csv_index *found)
{
	nk_csv_marks marks = *marks_given;
	uint32_t *at = out;
	uint64_t quoted = 0, high = 0, irregular = 0;
	uint64_t may_open = 1, just_closed = 0; /* carried into bit 0 of the next block */
	int64_t n_eols = 0;
	for (int64_t i = 0; i < n; i += 64) {
		block b = n - i >= 64 ? block_read(text + i, &marks) : block_read_tail(text + i, n - i, &marks);
		high |= b.high;
		uint64_t ends = b.separators | b.eols;
		if (__builtin_expect(b.quotes == 0 && !just_closed, 1)) {
			ends &= ~quoted;
			may_open = ends >> 63;
		} else {
			uint64_t inside = nk_running_parity(b.quotes) ^ quoted, opening = b.quotes & inside,
					 closing = b.quotes & ~inside;
			quoted = (uint64_t)((int64_t)inside >> 63);
			ends &= ~inside;
			uint64_t behind_closing = closing << 1 | just_closed;
			irregular |= opening & ~(ends << 1 | may_open | behind_closing);
			uint64_t stray = behind_closing & ~(ends | opening);
			if (n - i < 64)
				stray &= (1ull << (n - i)) - 1;
			for (; stray; stray &= stray - 1)
				irregular |= text[i + __builtin_ctzll(stray)] != '\r';
			may_open = ends >> 63;
			just_closed = closing >> 63;
		}
		n_eols += __builtin_popcountll(b.eols & ends);
		at = put_positions(at, ends, (uint32_t)i);
	}
	*found = (nk_csv_index){.n_marks = at - out,
	                        .n_eols = n_eols,
	                        .is_irregular = irregular != 0,
	                        .is_open = quoted != 0,
	                        .has_high = high != 0};
}

/* ---- UTF-8 ---- */

/* One character that is no ASCII; its length, 0 when it is malformed. */
static inline int char_length(const uint8_t *at, int64_t n)
{
	uint8_t c = at[0];
	if (c >= 0xc2 && c < 0xe0)
		return n >= 2 && (at[1] & 0xc0) == 0x80 ? 2 : 0;
	if (c >= 0xe0 && c < 0xf0) {
		if (n < 3 || (at[1] & 0xc0) != 0x80 || (at[2] & 0xc0) != 0x80)
			return 0;
		return (c == 0xe0 && at[1] < 0xa0) || (c == 0xed && at[1] >= 0xa0) ? 0 : 3;
	}
	if (c >= 0xf0 && c < 0xf5) {
		if (n < 4 || (at[1] & 0xc0) != 0x80 || (at[2] & 0xc0) != 0x80 || (at[3] & 0xc0) != 0x80)
			return 0;
		return (c == 0xf0 && at[1] < 0x90) || (c == 0xf4 && at[1] >= 0x90) ? 0 : 4;
	}
	return 0;
}

static bool is_utf8_plain(const uint8_t *text, int64_t n)
{
	for (int64_t i = 0; i < n;) {
		uint64_t word;
		if (n - i >= 8 && (memcpy(&word, text + i, 8), (word & 0x8080808080808080) == 0)) {
			i += 8;
		} else if (text[i] < 0x80) {
			i++;
		} else {
			int length = char_length(text + i, n - i);
			if (length == 0)
				return false;
			i += length;
		}
	}
	return true;
}

#if defined(__AVX2__)
/* After Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte" (2020): three look-ups by the
 * nibbles of a byte and its predecessor give the sets of errors that each allows; what they share is an error. */
enum {
	TOO_SHORT = 1,
	TOO_LONG = 2,
	OVERLONG_3 = 4,
	TOO_LARGE = 8,
	SURROGATE = 16,
	OVERLONG_2 = 32,
	TOO_LARGE_1000 = 64,
	OVERLONG_4 = 64,
	TWO_CONTINUATIONS = 128,
	CARRY = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS,
};

#define TWICE(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)
#define C(x) ((char)(x))

static inline __m256i shifted_in(__m256i now, __m256i before, int n)
{
	__m256i middle = _mm256_permute2x128_si256(before, now, 0x21);
	return n == 1   ? _mm256_alignr_epi8(now, middle, 15)
	       : n == 2 ? _mm256_alignr_epi8(now, middle, 14)
	                : _mm256_alignr_epi8(now, middle, 13);
}

static inline __m256i utf8_errors(__m256i now, __m256i before)
{
	__m256i low_nibble = _mm256_set1_epi8(15);
	__m256i first_high = TWICE(
		TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, C(TWO_CONTINUATIONS),
		C(TWO_CONTINUATIONS), C(TWO_CONTINUATIONS), C(TWO_CONTINUATIONS), TOO_SHORT | OVERLONG_2, TOO_SHORT,
		TOO_SHORT | OVERLONG_3 | SURROGATE, TOO_SHORT | TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4);
	__m256i first_low =
		TWICE(C(CARRY | OVERLONG_3 | OVERLONG_2 | OVERLONG_4), C(CARRY | OVERLONG_2), C(CARRY), C(CARRY),
	          C(CARRY | TOO_LARGE), C(CARRY | TOO_LARGE | TOO_LARGE_1000),
	          C(CARRY | TOO_LARGE | TOO_LARGE_1000), C(CARRY | TOO_LARGE | TOO_LARGE_1000),
	          C(CARRY | TOO_LARGE | TOO_LARGE_1000), C(CARRY | TOO_LARGE | TOO_LARGE_1000),
	          C(CARRY | TOO_LARGE | TOO_LARGE_1000), C(CARRY | TOO_LARGE | TOO_LARGE_1000),
	          C(CARRY | TOO_LARGE | TOO_LARGE_1000), C(CARRY | TOO_LARGE | TOO_LARGE_1000 | SURROGATE),
	          C(CARRY | TOO_LARGE | TOO_LARGE_1000), C(CARRY | TOO_LARGE | TOO_LARGE_1000));
	__m256i second_high =
		TWICE(TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
	          C(TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4),
	          C(TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | OVERLONG_3 | TOO_LARGE),
	          C(TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | SURROGATE | TOO_LARGE),
	          C(TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | SURROGATE | TOO_LARGE), TOO_SHORT, TOO_SHORT,
	          TOO_SHORT, TOO_SHORT);
	__m256i one = shifted_in(now, before, 1);
	__m256i errors = _mm256_and_si256(
		_mm256_and_si256(
			_mm256_shuffle_epi8(first_high, _mm256_and_si256(_mm256_srli_epi16(one, 4), low_nibble)),
			_mm256_shuffle_epi8(first_low, _mm256_and_si256(one, low_nibble))),
		_mm256_shuffle_epi8(second_high, _mm256_and_si256(_mm256_srli_epi16(now, 4), low_nibble)));
	__m256i third = _mm256_subs_epu8(shifted_in(now, before, 2), _mm256_set1_epi8((char)(0xe0 - 0x80)));
	__m256i fourth = _mm256_subs_epu8(shifted_in(now, before, 3), _mm256_set1_epi8((char)(0xf0 - 0x80)));
	__m256i must_continue = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8(C(0x80)));
	return _mm256_xor_si256(must_continue, errors);
}

static bool is_utf8(const uint8_t *text, int64_t n)
{
	__m256i before = _mm256_setzero_si256(), errors = before;
	int64_t i = 0;
	for (; n - i >= 32; i += 32) {
		__m256i now = _mm256_loadu_si256((const __m256i *)(text + i));
		if (_mm256_movemask_epi8(_mm256_or_si256(now, before)))
			errors = _mm256_or_si256(errors, utf8_errors(now, before));
		before = now;
	}
	if (!_mm256_testz_si256(errors, errors))
		return false;
	/* the rest, from the start of the character that the last block may have cut */
	int64_t judged = i;
	for (int back = 0; back < 3 && i > 0 && (text[i - 1] & 0x80); back++) {
		i--;
		if (text[i] >= 0xc0)
			break;
	}
	while (i < judged && (text[i] & 0xc0) == 0x80)
		i++; /* of a character that was complete */
	return is_utf8_plain(text + i, n - i);
}
#undef TWICE
#undef C
#else
static bool is_utf8(const uint8_t *text, int64_t n) { return is_utf8_plain(text, n); }
#endif

/* ---- Numbers ---- */

enum { NO_POINT = 16, NEGATIVE = 32 };

static inline void field_at(const nk_csv_fields *f, int64_t row, bool has_rows, uint32_t *begin,
                            uint32_t *end)
{
	int64_t i = f->stride * (has_rows ? f->rows[row] : row);
	*begin = f->starts[i];
	*end = f->ends[i] - 1;
}

#if defined(__SSE4_1__)
/* Loaded at 16 - n, 16 bytes begin with n of all ones. */
static const uint8_t ones_then_zeros[32] = {
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
};
static const uint8_t zeros_then_ones[32] = {
	0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
};

/* Digits with at most one point among the n <= 16 bytes before `end`. *places: digits behind the point, or NO_POINT. */
static inline bool parse_digits(const uint8_t *end, uint32_t n, uint8_t point, uint64_t *digits,
                                uint32_t *places)
{
	__m128i bytes = _mm_loadu_si128((const __m128i *)(end - 16));
	bytes = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
	bytes = _mm_and_si128(bytes, _mm_loadu_si128((const __m128i *)(zeros_then_ones + n)));
	__m128i points = _mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)(point - '0')));
	uint32_t mask = (uint32_t)_mm_movemask_epi8(points);
	uint32_t behind = mask ? (uint32_t)__builtin_clz(mask) - 16 : NO_POINT;
	__m128i moved = _mm_slli_si128(bytes, 1);
	bytes = _mm_blendv_epi8(bytes, moved, _mm_loadu_si128((const __m128i *)(ones_then_zeros + behind)));
	__m128i nine = _mm_set1_epi8(9);
	bool good = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(bytes, nine), nine)) == 0xffff;
	__m128i pairs = _mm_maddubs_epi16(bytes, _mm_set1_epi16(10 | 1 << 8));
	__m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(100 | 1 << 16));
	__m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(10000 | 1 << 16));
	uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
	*digits = (both & 0xffffffff) * 100000000 + (both >> 32);
	*places = behind;
	return good & (n > (behind != NO_POINT));
}
#else
static inline bool parse_digits(const uint8_t *end, uint32_t n, uint8_t point, uint64_t *digits,
                                uint32_t *places)
{
	uint64_t value = 0;
	uint32_t behind = NO_POINT;
	for (const uint8_t *at = end - n; at < end; at++) {
		if (*at == point && behind == NO_POINT) {
			behind = (uint32_t)(end - at) - 1;
			continue;
		}
		if ((uint8_t)(*at - '0') > 9)
			return false;
		value = value * 10 + (uint64_t)(*at - '0');
	}
	*digits = value;
	*places = behind;
	return n > (behind != NO_POINT);
}
#endif

/* One field: false when it is left to others. *places carries NEGATIVE too. */
static inline bool parse_number(const nk_csv_fields *f, int64_t row, bool has_rows, uint8_t point,
                                uint64_t *digits, uint32_t *places)
{
	uint32_t begin, end;
	field_at(f, row, has_rows, &begin, &end);
	uint32_t is_negative = f->text[begin] == '-', n = end - begin - is_negative;
	bool fits = n <= 16; /* also when the field is empty, and its one byte no sign of its own */
	bool good = parse_digits(f->text + end, fits ? n : 0, point, digits, places);
	*places |= is_negative ? NEGATIVE : 0;
	return good & fits;
}

static inline int64_t integers_of(const nk_csv_fields *f, int64_t first, int64_t n, int64_t *out,
                                  uint32_t *retry, bool has_rows)
{
	int64_t n_retry = 0;
	for (int64_t r = 0; r < n; r++) {
		uint64_t digits = 0;
		uint32_t places = 0;
		bool good = parse_number(f, first + r, has_rows, '.', &digits, &places);
		out[r] = (int64_t)(places & NEGATIVE ? -digits : digits);
		retry[n_retry] = (uint32_t)r;
		n_retry += !(good & ((places & ~(uint32_t)NEGATIVE) == NO_POINT));
	}
	return n_retry;
}

static int64_t integers(const nk_csv_fields *f, int64_t first, int64_t n, int64_t *out, uint32_t *retry)
{
	return f->rows ? integers_of(f, first, n, out, retry, true) : integers_of(f, first, n, out, retry, false);
}

static inline int64_t doubles_of(const nk_csv_fields *f, int64_t first, int64_t n, uint8_t point, double *out,
                                 uint32_t *retry, bool has_rows)
{
	static const double powers[17] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
	                                  1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e0};
	int64_t n_retry = 0;
	for (int64_t r = 0; r < n; r++) {
		uint64_t digits = 0;
		uint32_t places = 0;
		bool good = parse_number(f, first + r, has_rows, point, &digits, &places);
		/* both exact, so that one division rounds correctly */
		double value = (double)(int64_t)digits / powers[places & 31];
		out[r] = places & NEGATIVE ? -value : value;
		retry[n_retry] = (uint32_t)r;
		n_retry += !(good & (digits <= 1ull << 53));
	}
	return n_retry;
}

static int64_t doubles(const nk_csv_fields *f, int64_t first, int64_t n, uint8_t point, double *out,
                       uint32_t *retry)
{
	return f->rows ? doubles_of(f, first, n, point, out, retry, true)
	               : doubles_of(f, first, n, point, out, retry, false);
}

static int64_t decimals(const nk_csv_fields *f, int64_t first, int64_t n, uint8_t point, int64_t *out,
                        uint8_t *places, uint32_t *retry)
{
	int64_t n_retry = 0;
	for (int64_t r = 0; r < n; r++) {
		uint64_t digits = 0;
		uint32_t behind = 0;
		bool good = parse_number(f, first + r, f->rows != NULL, point, &digits, &behind);
		out[r] = (int64_t)(behind & NEGATIVE ? -digits : digits);
		places[r] = (uint8_t)(behind & 15);
		retry[n_retry] = (uint32_t)r;
		n_retry += !good;
	}
	return n_retry;
}

/* ---- Text ---- */

static inline int64_t views_of(const nk_csv_fields *f, int64_t first, int64_t n, int first_quote,
                               nk_view *out, uint32_t *retry, nk_csv_long *longs, int64_t *n_longs,
                               bool has_rows)
{
	int64_t n_retry = 0, n_long = 0;
	for (int64_t r = 0; r < n; r++) {
		uint32_t begin, end;
		field_at(f, first + r, has_rows, &begin, &end);
		const uint8_t *text = f->text + begin;
		uint32_t n_bytes = end - begin, n_inside = n_bytes < NK_VIEW_INLINE ? n_bytes : NK_VIEW_INLINE;
#if defined(__SSE4_1__)
		__m128i bytes = _mm_loadu_si128((const __m128i *)text);
		bytes = _mm_and_si128(bytes, _mm_loadu_si128((const __m128i *)(ones_then_zeros + 16 - n_inside)));
		bytes = _mm_insert_epi32(_mm_slli_si128(bytes, 4), (int)n_bytes, 0);
		_mm_storeu_si128((__m128i *)(out + r), bytes);
#else
		out[r] = (nk_view){.n_bytes = n_bytes};
		memcpy(out[r].inlined, text, n_inside);
#endif
		bool is_special = (n_bytes == 0) | (text[0] == first_quote) | (f->text[(int64_t)end - 1] == '\r');
		retry[n_retry] = (uint32_t)r;
		n_retry += is_special;
		longs[n_long] = (nk_csv_long){.row = (uint32_t)(first + r), .begin = begin, .n_bytes = n_bytes};
		n_long += (n_bytes > NK_VIEW_INLINE) & !is_special;
	}
	*n_longs = n_long;
	return n_retry;
}

static int64_t views(const nk_csv_fields *f, int64_t first, int64_t n, int first_quote, nk_view *out,
                     uint32_t *retry, nk_csv_long *longs, int64_t *n_longs)
{
	return f->rows ? views_of(f, first, n, first_quote, out, retry, longs, n_longs, true)
	               : views_of(f, first, n, first_quote, out, retry, longs, n_longs, false);
}

const nk_csv_loops NK_ISA_NAME(nk__csv_loops) = {
	.summarise = summarise,
	.index = make_index,
	.is_utf8 = is_utf8,
	.integers = integers,
	.doubles = doubles,
	.decimals = decimals,
	.views = views,
};
