/* Compiled once per instruction level. A needle is found by comparing its first and its last byte with a whole
 * vector of positions at once; the few positions that pass are compared in full. Short text is what columns
 * hold, so AVX-512 masks its loads, and the other levels end with one vector that overlaps the one before. */
#include "compute/text.h"

#if defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

static inline bool bytes_equal(const char *a, const char *b, int64_t n)
{
	uint64_t x, y;
	if (n >= 8) {
		for (int64_t i = 0; i < n - 8; i += 8) {
			memcpy(&x, a + i, 8);
			memcpy(&y, b + i, 8);
			if (x != y)
				return false;
		}
		memcpy(&x, a + n - 8, 8);
		memcpy(&y, b + n - 8, 8);
		return x == y;
	}
	if (n >= 4) {
		uint32_t low_a, low_b, high_a, high_b;
		memcpy(&low_a, a, 4);
		memcpy(&low_b, b, 4);
		memcpy(&high_a, a + n - 4, 4);
		memcpy(&high_b, b + n - 4, 4);
		return low_a == low_b && high_a == high_b;
	}
	for (int64_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* Of the positions at + bit that a mask holds, the first where all of the needle lies. */
static inline const char *first_full_match(const char *at, uint64_t mask, const char *needle,
                                           int64_t n_needle)
{
	for (; mask; mask &= mask - 1) {
		const char *found = at + __builtin_ctzll(mask);
		if (n_needle <= 2 || bytes_equal(found + 1, needle + 1, n_needle - 2))
			return found;
	}
	return NULL;
}

#if defined(__AVX512BW__)

static inline const char *find_many(const char *bytes, int64_t n_positions, const char *needle,
                                    int64_t n_needle)
{
	const __m512i first = _mm512_set1_epi8(needle[0]), last = _mm512_set1_epi8(needle[n_needle - 1]);
	for (int64_t i = 0; i < n_positions; i += 64) {
		int64_t left = n_positions - i;
		__mmask64 lanes = left >= 64 ? UINT64_MAX : ((uint64_t)1 << left) - 1;
		__m512i heads = _mm512_maskz_loadu_epi8(lanes, bytes + i);
		__m512i tails = _mm512_maskz_loadu_epi8(lanes, bytes + i + n_needle - 1);
		uint64_t mask =
			_mm512_mask_cmpeq_epi8_mask(lanes, heads, first) & _mm512_cmpeq_epi8_mask(tails, last);
		const char *found = mask ? first_full_match(bytes + i, mask, needle, n_needle) : NULL;
		if (found)
			return found;
	}
	return NULL;
}

#else

static const char *find_few(const char *bytes, int64_t n_positions, const char *needle, int64_t n_needle)
{
	for (int64_t i = 0; i < n_positions; i++)
		if (bytes[i] == needle[0] && bytes_equal(bytes + i, needle, n_needle))
			return bytes + i;
	return NULL;
}

#ifdef __SSE2__

static inline uint64_t mask_16(const char *at, const char *needle, int64_t n_needle)
{
	__m128i heads = _mm_loadu_si128((const __m128i *)at);
	__m128i tails = _mm_loadu_si128((const __m128i *)(at + n_needle - 1));
	__m128i both = _mm_and_si128(_mm_cmpeq_epi8(heads, _mm_set1_epi8(needle[0])),
	                             _mm_cmpeq_epi8(tails, _mm_set1_epi8(needle[n_needle - 1])));
	return (uint32_t)_mm_movemask_epi8(both);
}

#ifdef __AVX2__
enum { WIDTH = 32 };
static inline uint64_t mask_of(const char *at, const char *needle, int64_t n_needle)
{
	__m256i heads = _mm256_loadu_si256((const __m256i *)at);
	__m256i tails = _mm256_loadu_si256((const __m256i *)(at + n_needle - 1));
	__m256i both = _mm256_and_si256(_mm256_cmpeq_epi8(heads, _mm256_set1_epi8(needle[0])),
	                                _mm256_cmpeq_epi8(tails, _mm256_set1_epi8(needle[n_needle - 1])));
	return (uint32_t)_mm256_movemask_epi8(both);
}
#else
enum { WIDTH = 16 };
static inline uint64_t mask_of(const char *at, const char *needle, int64_t n_needle)
{
	return mask_16(at, needle, n_needle);
}
#endif

static inline const char *find_many(const char *bytes, int64_t n_positions, const char *needle,
                                    int64_t n_needle)
{
	int64_t i = 0;
	const char *found;
	for (; i + WIDTH <= n_positions; i += WIDTH) {
		uint64_t mask = mask_of(bytes + i, needle, n_needle);
		if (mask && (found = first_full_match(bytes + i, mask, needle, n_needle)))
			return found;
	}
	if (i == n_positions)
		return NULL;
	if (n_positions >= WIDTH) {
		uint64_t mask = mask_of(bytes + n_positions - WIDTH, needle, n_needle);
		return first_full_match(bytes + n_positions - WIDTH, mask, needle, n_needle);
	}
	if (n_positions < 16)
		return find_few(bytes, n_positions, needle, n_needle);
	if ((found = first_full_match(bytes, mask_16(bytes, needle, n_needle), needle, n_needle)))
		return found;
	return first_full_match(bytes + n_positions - 16, mask_16(bytes + n_positions - 16, needle, n_needle),
	                        needle, n_needle);
}

#else

static inline const char *find_many(const char *bytes, int64_t n_positions, const char *needle,
                                    int64_t n_needle)
{
	return find_few(bytes, n_positions, needle, n_needle);
}

#endif
#endif

static inline const char *find(const char *bytes, int64_t n, const char *needle, int64_t n_needle)
{
	if (n_needle > n)
		return NULL;
	return n_needle == 0 ? bytes : find_many(bytes, n - n_needle + 1, needle, n_needle);
}

static inline const char *line_feed(const char *from, const char *to)
{
	return from < to ? memchr(from, '\n', (size_t)(to - from)) : NULL;
}

/* Leftmost places for each piece in turn leave the most room to those that follow, so one pass decides; only a
 * line feed in a gap sends the search back to the first piece, behind it. */
static inline bool match_pieces(const char *bytes, int64_t n, const nk_text_pieces *pieces)
{
	const char *at = bytes, *end = bytes + n;
	int i = 0, n_free = pieces->n_pieces - pieces->at_end;
	if (pieces->at_start) {
		const nk_text_piece *first = &pieces->pieces[0];
		if (n < first->n_bytes || !bytes_equal(bytes, first->bytes, first->n_bytes))
			return false;
		if (pieces->n_pieces == 1)
			return !pieces->at_end || n == first->n_bytes;
		at += first->n_bytes;
		i = 1;
	}
	const nk_text_piece *last = pieces->at_end ? &pieces->pieces[pieces->n_pieces - 1] : NULL;
	if (last && (end - at < last->n_bytes || !bytes_equal(end - last->n_bytes, last->bytes, last->n_bytes)))
		return false;
	for (;;) {
		const char *feed = NULL, *gap = at;
		for (; i < n_free && !feed; i++) {
			const char *found = find(at, end - at, pieces->pieces[i].bytes, pieces->pieces[i].n_bytes);
			if (!found)
				return false;
			if (i > 0 && !pieces->gaps_cross_lines)
				feed = line_feed(gap, found);
			gap = at = found + pieces->pieces[i].n_bytes;
		}
		if (!feed && last) {
			if (end - at < last->n_bytes)
				return false;
			if (pieces->n_pieces > 1 && !pieces->gaps_cross_lines)
				feed = line_feed(gap, end - last->n_bytes);
		}
		if (!feed)
			return true;
		if (pieces->at_start)
			return false;
		at = feed + 1;
		i = 0;
	}
}

/* ---- Loops over views ---- */

typedef enum match_shape { SHORT_PREFIX, PREFIX, SHORT_SUFFIX, ANY } match_shape;

/* Short prefixes and suffixes as integers with the mask that cuts them out. */
typedef struct affix {
	uint64_t bytes, mask;
	uint32_t n_bytes;
} affix;

/* The last eight bytes of a text, the last one on top; zeros before a shorter one. */
static inline uint64_t last_eight(const nk_view *view, const nk_heap *heap)
{
	uint64_t tail;
	const char *text = nk_view_bytes(view, heap);
	if (view->n_bytes >= 8) {
		memcpy(&tail, text + view->n_bytes - 8, 8);
		return tail;
	}
	memcpy(&tail, view->inlined, 8);
	return view->n_bytes ? tail << (64 - 8 * view->n_bytes) : 0;
}

static inline __attribute__((always_inline)) bool row_matches(match_shape shape, const nk_view *view,
                                                              const nk_heap *heap,
                                                              const nk_text_pieces *pieces, affix wanted)
{
	uint32_t prefix;
	const nk_text_piece *piece = &pieces->pieces[0];
	memcpy(&prefix, view->inlined, 4);
	switch (shape) {
	case SHORT_PREFIX: /* length and prefix lie in the view's first eight bytes */
		return (view->n_bytes >= wanted.n_bytes) &
		       ((prefix & (uint32_t)wanted.mask) == (uint32_t)wanted.bytes);
	case PREFIX:
		return view->n_bytes >= wanted.n_bytes && prefix == (uint32_t)wanted.bytes &&
		       bytes_equal(nk_view_bytes(view, heap) + 4, piece->bytes + 4, piece->n_bytes - 4);
	case SHORT_SUFFIX:
		return view->n_bytes >= wanted.n_bytes && (last_eight(view, heap) & wanted.mask) == wanted.bytes;
	case ANY: break;
	}
	return match_pieces(nk_view_bytes(view, heap), view->n_bytes, pieces);
}

static inline __attribute__((always_inline)) void match_rows(match_shape shape, const nk_view *views,
                                                             const nk_heap *heap, int64_t n_rows,
                                                             const nk_text_pieces *pieces, affix wanted,
                                                             uint8_t *bits)
{
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t word = 0;
		int64_t n = n_rows - i < 64 ? n_rows - i : 64;
		for (int64_t k = 0; k < n; k++)
			word |= (uint64_t)row_matches(shape, &views[i + k], heap, pieces, wanted) << k;
		memcpy(bits + (i >> 3), &word, (size_t)((n + 7) >> 3));
	}
}

static void match(const nk_view *views, const nk_heap *heap, int64_t n_rows, const nk_text_pieces *pieces,
                  uint8_t *bits)
{
	const nk_text_piece *piece = &pieces->pieces[0];
	bool is_little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	affix wanted = {.n_bytes = (uint32_t)piece->n_bytes};
	if (pieces->n_pieces > 1 || piece->n_bytes == 0 || piece->n_bytes > INT32_MAX || !is_little_endian ||
	    pieces->at_start == pieces->at_end) {
		match_rows(ANY, views, heap, n_rows, pieces, wanted, bits);
	} else if (pieces->at_start) {
		memcpy(&wanted.bytes, piece->bytes, (size_t)NK_MIN(piece->n_bytes, 4));
		wanted.mask = piece->n_bytes >= 4 ? UINT32_MAX : ((uint32_t)1 << (8 * piece->n_bytes)) - 1;
		if (piece->n_bytes <= 4)
			match_rows(SHORT_PREFIX, views, heap, n_rows, pieces, wanted, bits);
		else
			match_rows(PREFIX, views, heap, n_rows, pieces, wanted, bits);
	} else if (piece->n_bytes <= 8) {
		memcpy((char *)&wanted.bytes + 8 - piece->n_bytes, piece->bytes, (size_t)piece->n_bytes);
		wanted.mask = UINT64_MAX << (64 - 8 * piece->n_bytes);
		match_rows(SHORT_SUFFIX, views, heap, n_rows, pieces, wanted, bits);
	} else {
		match_rows(ANY, views, heap, n_rows, pieces, wanted, bits);
	}
}

/* Every byte that does not continue a character starts one. */
static inline int64_t count_chars(const char *bytes, int64_t n)
{
	int64_t count = 0;
	for (int64_t i = 0; i < n; i++)
		count += (signed char)bytes[i] >= -64;
	return count;
}

static void count_chars_of_views(const nk_view *views, const nk_heap *heap, int64_t n_rows, uint32_t *out)
{
	for (int64_t i = 0; i < n_rows; i++)
		out[i] = (uint32_t)count_chars(nk_view_bytes(&views[i], heap), views[i].n_bytes);
}

static bool change_case(char *to, const char *bytes, int64_t n, bool upper)
{
	unsigned char first = upper ? 'a' : 'A', seen = 0;
	for (int64_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)bytes[i];
		seen |= c;
		to[i] = (char)(c ^ ((unsigned char)(c - first) < 26 ? 0x20 : 0));
	}
	return seen < 128;
}

static const char *find_one(const char *bytes, int64_t n, const char *needle, int64_t n_needle)
{
	return find(bytes, n, needle, n_needle);
}

static int64_t count_chars_of_one(const char *bytes, int64_t n) { return count_chars(bytes, n); }

const nk_text_loops NK_ISA_NAME(nk__text_loops) = {
	.find = find_one,
	.match = match,
	.count_chars = count_chars_of_one,
	.change_case = change_case,
	.count_chars_of_views = count_chars_of_views,
};
