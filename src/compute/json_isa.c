/* The structure of JSON, 64 bytes at a time: comparisons give bit masks of quotes, backslashes and marks; which quotes are
 * escaped follows from runs of backslashes, which bytes are in strings from the running parity of the other quotes. */
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "base/bitmap.h"
#include "compute/json.h"

typedef struct block {
	uint64_t quotes, backslashes, marks, eols, blanks, controls, high; /* blanks without line ends */
} block;

/* Braces and brackets differ in one bit from each other: {[ and }]. */
#if defined(__AVX512BW__)
static inline block block_read(const uint8_t *at)
{
	__m512i bytes = _mm512_loadu_si512(at);
	__m512i folded = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
#define EQUAL(what, byte) _mm512_cmpeq_epi8_mask(what, _mm512_set1_epi8(byte))
	return (block){
		.quotes = EQUAL(bytes, '"'),
		.backslashes = EQUAL(bytes, '\\'),
		.marks = EQUAL(folded, '{') | EQUAL(folded, '}') | EQUAL(bytes, ',') | EQUAL(bytes, ':'),
		.eols = EQUAL(bytes, '\n'),
		.blanks = EQUAL(bytes, ' ') | EQUAL(bytes, '\t') | EQUAL(bytes, '\r'),
		.controls = _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20)),
		.high = _mm512_movepi8_mask(bytes),
	};
#undef EQUAL
}
#elif defined(__SSE2__)
#if defined(__AVX2__)
enum { WIDTH = 32 };
typedef __m256i vector;
static inline vector load(const uint8_t *at) { return _mm256_loadu_si256((const __m256i *)at); }
static inline vector all(uint8_t byte) { return _mm256_set1_epi8((char)byte); }
static inline vector either(vector a, vector b) { return _mm256_or_si256(a, b); }
static inline vector equal(vector a, vector b) { return _mm256_cmpeq_epi8(a, b); }
static inline vector smaller(vector a, vector b) { return _mm256_min_epu8(a, b); }
static inline uint64_t bits_of(vector a) { return (uint32_t)_mm256_movemask_epi8(a); }
#else
enum { WIDTH = 16 };
typedef __m128i vector;
static inline vector load(const uint8_t *at) { return _mm_loadu_si128((const __m128i *)at); }
static inline vector all(uint8_t byte) { return _mm_set1_epi8((char)byte); }
static inline vector either(vector a, vector b) { return _mm_or_si128(a, b); }
static inline vector equal(vector a, vector b) { return _mm_cmpeq_epi8(a, b); }
static inline vector smaller(vector a, vector b) { return _mm_min_epu8(a, b); }
static inline uint64_t bits_of(vector a) { return (uint32_t)_mm_movemask_epi8(a); }
#endif
static inline block block_read(const uint8_t *at)
{
	block out = {0};
	for (int i = 0; i < 64; i += WIDTH) {
		vector bytes = load(at + i), folded = either(bytes, all(0x20));
		out.quotes |= bits_of(equal(bytes, all('"'))) << i;
		out.backslashes |= bits_of(equal(bytes, all('\\'))) << i;
		out.marks |= bits_of(either(either(equal(folded, all('{')), equal(folded, all('}'))),
		                            either(equal(bytes, all(',')), equal(bytes, all(':')))))
		             << i;
		out.eols |= bits_of(equal(bytes, all('\n'))) << i;
		out.blanks |=
			bits_of(either(either(equal(bytes, all(' ')), equal(bytes, all('\t'))), equal(bytes, all('\r'))))
			<< i;
		out.controls |= bits_of(equal(smaller(bytes, all(0x1f)), bytes)) << i;
		out.high |= bits_of(bytes) << i;
	}
	return out;
}
#else
static inline block block_read(const uint8_t *at)
{
	block out = {0};
	for (int i = 0; i < 64; i++) {
		uint8_t c = at[i], folded = c | 0x20;
		uint64_t bit = 1ull << i;
		out.quotes |= c == '"' ? bit : 0;
		out.backslashes |= c == '\\' ? bit : 0;
		out.marks |= folded == '{' || folded == '}' || c == ',' || c == ':' ? bit : 0;
		out.eols |= c == '\n' ? bit : 0;
		out.blanks |= c == ' ' || c == '\t' || c == '\r' ? bit : 0;
		out.controls |= c < 0x20 ? bit : 0;
		out.high |= c >= 0x80 ? bit : 0;
	}
	return out;
}
#endif

/* The last block, of n < 64 bytes: blanks behind them. */
static inline block block_read_tail(const uint8_t *at, int64_t n)
{
	uint8_t copy[64];
	memset(copy, ' ', sizeof copy);
	memcpy(copy, at, (size_t)n);
	return block_read(copy);
}

/* Bytes behind an odd run of backslashes. *carried: the first byte is one. */
static inline uint64_t escaped_of(uint64_t backslashes, uint64_t *carried)
{
	if (!backslashes) {
		uint64_t escaped = *carried;
		*carried = 0;
		return escaped;
	}
	const uint64_t even = 0x5555555555555555;
	backslashes &= ~*carried;
	uint64_t follows = backslashes << 1 | *carried, odd_starts = backslashes & ~even & ~follows, ends_even;
	*carried = __builtin_add_overflow(odd_starts, backslashes, &ends_even);
	return (even ^ ends_even << 1) & follows;
}

/* Positions of the bits of a block at `base`; may write 8 more than there are. */
static inline uint32_t *put_positions(uint32_t *out, uint64_t bits, uint32_t base)
{
	int n = __builtin_popcountll(bits);
	for (int done = 0; done < n; done += 8)
		for (int i = 0; i < 8; i++) {
			out[done + i] = base + (uint32_t)__builtin_ctzll(bits | 1ull << 63);
			bits &= bits - 1;
		}
	return out + n;
}

static void make_index(const uint8_t *text, int64_t n, bool is_lines, uint32_t *marks, nk_json_found *found)
{
	uint32_t *at = marks;
	uint64_t quoted = 0, carried = 0, in_value = 0, controls = 0, escapes = 0, high = 0;
	for (int64_t i = 0; i < n; i += 64) {
		block b = n - i >= 64 ? block_read(text + i) : block_read_tail(text + i, n - i);
		uint64_t quotes = b.quotes & ~escaped_of(b.backslashes, &carried);
		uint64_t inside = nk_running_parity(quotes) ^ quoted; /* of opening quotes, not of closing ones */
		quoted = (uint64_t)((int64_t)inside >> 63);
		uint64_t value = ~(b.marks | b.blanks | b.eols | quotes | inside);
		uint64_t starts = value & ~(value << 1 | in_value);
		in_value = value >> 63;
		controls |= b.controls & inside;
		escapes |= b.backslashes;
		high |= b.high;
		uint64_t bits = (b.marks & ~inside) | quotes | starts | (is_lines ? b.eols & ~inside : 0);
		at = put_positions(at, bits, (uint32_t)i);
	}
	*found = (nk_json_found){.n_marks = at - marks,
	                         .is_open = quoted != 0,
	                         .has_control = controls != 0,
	                         .has_escapes = escapes != 0,
	                         .has_high = high != 0};
}

/* Blank lines are rare: only a block that may have one looks at its lines one by one. */
static void count_lines(const uint8_t *text, int64_t n, nk_json_lines *out)
{
	nk_json_lines sum = {.last_eol = {-1, -1}, .is_begun = {false, true}};
	for (int64_t i = 0; i < n; i += 64) {
		block b = n - i >= 64 ? block_read(text + i) : block_read_tail(text + i, n - i);
		uint64_t full = ~(b.blanks | b.eols);
		while (b.eols) {
			int eol = __builtin_ctzll(b.eols);
			uint64_t upto = eol == 63 ? ~0ull : (2ull << eol) - 1;
			bool has_any = (full & upto) != 0;
			for (int k = 0; k < 2; k++) {
				bool counts = sum.is_begun[k] | has_any;
				sum.n_lines[k] += counts;
				sum.last_eol[k] = counts ? i + eol : sum.last_eol[k];
				sum.is_begun[k] = false;
			}
			full &= ~upto;
			b.eols &= b.eols - 1;
		}
		sum.is_begun[0] |= full != 0;
		sum.is_begun[1] |= full != 0;
	}
	*out = sum;
}

const nk_json_loops NK_ISA_NAME(nk__json_loops) = {.index = make_index, .lines = count_lines};
