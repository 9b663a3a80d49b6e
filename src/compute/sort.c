/* Keys become integers whose order is the wanted one, rebased to their observed range, so that a key takes as many
 * bits as its values need: several small keys share one 64-bit word. Rows are sorted by the first word with LSD
 * radix passes over the bits in use; only runs of equal words look at the next word. Text counts with as many bytes
 * as fit behind those that all texts begin with, exactly when that is the whole text or when it is dictionary-encoded
 * (then by the rank of its entry); ties within are settled by comparing rows. A word and a row number travel in 8
 * bytes when both fit. */
#include "compute/sort.h"

#include "columnar/categories.h"

enum {
	SMALL = 48,        /* insertion sort */
	MERGE_BELOW = 768, /* merge sort; above, radix passes pay */
	MAX_DIGIT = 11,
};

typedef struct level {
	uint64_t *words; /* by row */
	int n_bits;
	int first_key; /* equal words are settled by comparing from this key on; -1: the word is exact */
} level;

typedef struct wide {
	uint64_t word;
	uint64_t row;
} wide;

typedef struct sorter {
	nk_memory *memory;
	nk_array *const *keys;
	const nk_sort_key *specs;
	int n_keys;
	int64_t n_array_rows;
	level *levels;
	int n_levels;
	int next_key;      /* first key not in a level yet */
	uint64_t *pending; /* codes of next_key that did not fit the level before */
	int n_pending_bits;
	bool pending_exact;
	wide *a, *b; /* room for entries */
} sorter;

/* ---- Codes ---- */

static int bits_of(uint64_t span) { return span ? 64 - __builtin_clzll(span) : 0; }

static uint64_t code_double(double value)
{
	uint64_t bits;
	if (value == 0)
		value = 0;
	if (value != value)
		value = __builtin_nan("");
	memcpy(&bits, &value, 8);
	return bits >> 63 ? ~bits : bits | 1ull << 63;
}

static uint64_t code_float(float value)
{
	uint32_t bits;
	if (value == 0)
		value = 0;
	if (value != value)
		value = __builtin_nanf("");
	memcpy(&bits, &value, 4);
	return bits >> 31 ? (uint32_t)~bits : bits | 1u << 31;
}

#define FILL(T, code)                                 \
	do {                                              \
		const T *values = array->values;              \
		for (int64_t i = 0; i < array->n_rows; i++) { \
			T value = values[i];                      \
			out[i] = (code);                          \
		}                                             \
	} while (0)

/* How the texts of a column become codes: what all of them begin with is left out, and where few different bytes
 * follow, each takes as many bits as there are bytes to tell apart (0 is the end), so that more of a text fits. */
typedef struct text_code {
	int64_t n_common;  /* bytes that all begin with */
	uint32_t longest;  /* bytes of the longest text */
	int n_bits;        /* of a byte; 0: bytes are taken as they are */
	uint8_t rank[256]; /* from 1, in the order of bytes */
} text_code;

enum {
	SAMPLED_TEXTS = 256,
	PACKED_BITS_MAX = 6,
	PACKED_BYTES_MAX = 64, /* in a code: of one bit each */
};

static bool text_is_valid(const nk_array *array, int64_t row)
{
	return !array->validity || nk_bitmap_get(array->validity, row);
}

static void measure_texts(const nk_array *array, text_code *code)
{
	const nk_view *views = array->values;
	const char *first = NULL;
	code->n_common = -1;
	for (int64_t i = 0; i < array->n_rows; i++) {
		if (!text_is_valid(array, i))
			continue;
		const char *bytes = nk_view_bytes(&views[i], array->heap);
		int64_t n = views[i].n_bytes;
		code->longest = NK_MAX(code->longest, views[i].n_bytes);
		if (!first) {
			first = bytes;
			code->n_common = n;
		}
		code->n_common = NK_MIN(code->n_common, n);
		if (memcmp(first, bytes, (size_t)code->n_common) == 0)
			continue;
		n = 0;
		while (first[n] == bytes[n])
			n++;
		code->n_common = n;
	}
	code->n_common = NK_MAX(code->n_common, 0);
}

/* Bytes that follow the common ones in every step-th text, as ranks; returns the bits that tell them apart. */
static int rank_bytes(const nk_array *array, int64_t step, text_code *code)
{
	const nk_view *views = array->values;
	memset(code->rank, 0, sizeof code->rank);
	for (int64_t i = 0; i < array->n_rows; i += step) {
		if (!text_is_valid(array, i))
			continue;
		const uint8_t *bytes = (const uint8_t *)nk_view_bytes(&views[i], array->heap);
		int64_t end = NK_MIN((int64_t)views[i].n_bytes, code->n_common + PACKED_BYTES_MAX);
		for (int64_t b = code->n_common; b < end; b++)
			code->rank[bytes[b]] = 1;
	}
	int n = 0;
	for (int b = 0; b < 256; b++)
		code->rank[b] = code->rank[b] ? (uint8_t)++n : 0;
	return NK_MAX(bits_of((uint64_t)n), 1);
}

static uint64_t packed_text(const nk_view *view, const nk_heap *heap, const text_code *code, int n_most)
{
	const uint8_t *bytes = (const uint8_t *)nk_view_bytes(view, heap) + code->n_common;
	int64_t n = NK_MIN((int64_t)view->n_bytes - code->n_common, (int64_t)n_most);
	uint64_t packed = 0;
	for (int64_t b = 0; b < n; b++)
		packed = packed << code->n_bits | code->rank[bytes[b]];
	return n > 0 ? packed << (n_most - n) * code->n_bits : 0;
}

/* The first 8 bytes after the common ones, or at most 7 and the length. */
static uint64_t plain_text(const nk_view *view, const nk_heap *heap, int64_t n_common, bool with_length)
{
	uint64_t head = 0;
	int64_t n = (int64_t)view->n_bytes - n_common;
	if (n > 0)
		memcpy(&head, nk_view_bytes(view, heap) + n_common, (size_t)NK_MIN(n, (int64_t)8));
	head = __builtin_bswap64(head);
	return with_length ? head | (uint64_t)NK_MAX(n, (int64_t)0) : head;
}

/* Null rows get any code. */
static void code_text(const nk_array *array, uint64_t *out, bool *exact)
{
	const nk_view *views = array->values;
	text_code code = {0};
	measure_texts(array, &code);
	int64_t n_longest = (int64_t)code.longest - code.n_common;
	*exact = n_longest <= 7;
	if (n_longest > 7 && rank_bytes(array, array->n_rows / SAMPLED_TEXTS + 1, &code) <= PACKED_BITS_MAX) {
		int n_bits = rank_bytes(array, 1, &code);
		code.n_bits = n_bits <= PACKED_BITS_MAX ? n_bits : 0;
	}
	int n_most = code.n_bits ? (int)NK_MIN((int64_t)(64 / code.n_bits), n_longest) : 0;
	*exact |= n_most == n_longest;
	for (int64_t i = 0; i < array->n_rows; i++)
		out[i] = code.n_bits ? packed_text(&views[i], array->heap, &code, n_most)
		                     : plain_text(&views[i], array->heap, code.n_common, *exact);
}

static void code_wide(const nk_array *array, uint64_t *out, bool *exact)
{
	const __int128 *values = array->values;
	*exact = true;
	for (int64_t i = 0; i < array->n_rows; i++)
		*exact &= values[i] == (int64_t)values[i];
	for (int64_t i = 0; i < array->n_rows; i++)
		out[i] = (uint64_t)(int64_t)(*exact ? values[i] : values[i] >> 64) ^ 1ull << 63;
}

/* Ascending codes of a flat array; *exact: equal codes mean equal values. */
static void code_flat(const nk_array *array, uint64_t *out, bool *exact)
{
	*exact = true;
	switch (array->physical) {
	case NK_PHYSICAL_BOOL:
		for (int64_t i = 0; i < array->n_rows; i++)
			out[i] = nk_bitmap_get(array->values, i);
		return;
	case NK_PHYSICAL_I8: FILL(int8_t, (uint64_t)(int64_t)value ^ 1ull << 63); return;
	case NK_PHYSICAL_I16: FILL(int16_t, (uint64_t)(int64_t)value ^ 1ull << 63); return;
	case NK_PHYSICAL_I32: FILL(int32_t, (uint64_t)(int64_t)value ^ 1ull << 63); return;
	case NK_PHYSICAL_I64: FILL(int64_t, (uint64_t)value ^ 1ull << 63); return;
	case NK_PHYSICAL_U8: FILL(uint8_t, value); return;
	case NK_PHYSICAL_U16: FILL(uint16_t, value); return;
	case NK_PHYSICAL_U32: FILL(uint32_t, value); return;
	case NK_PHYSICAL_U64: FILL(uint64_t, value); return;
	case NK_PHYSICAL_F32: FILL(float, code_float(value)); return;
	case NK_PHYSICAL_F64: FILL(double, code_double(value)); return;
	case NK_PHYSICAL_I128: code_wide(array, out, exact); return;
	case NK_PHYSICAL_VIEW: code_text(array, out, exact); return;
	default: /* nested: only comparisons tell */
		memset(out, 0, (size_t)array->n_rows * 8);
		*exact = false;
		return;
	}
}

/* Ranks of the entries of a dictionary; equal entries share one. */
static nk_status code_dictionary(nk_memory *memory, const nk_array *array, uint64_t *out, nk_error *err)
{
	nk_array *entries = array->dictionary;
	int64_t n = entries->n_rows;
	NK_AUTO(nk_buffer) rows_buffer = NULL, *ranks_buffer = NULL;
	NK_TRY(nk_buffer_new(memory, n * 4, &rows_buffer, err));
	NK_TRY(nk_buffer_new(memory, n * 4, &ranks_buffer, err));
	uint32_t *rows = (uint32_t *)rows_buffer->bytes, *ranks = (uint32_t *)ranks_buffer->bytes, rank = 0;
	nk_sort_key ascending = {0};
	NK_TRY(nk_sort_rows(memory, &entries, &ascending, 1, n, rows, err));
	for (int64_t i = 0; i < n; i++) {
		rank += i > 0 && nk_sort_compare(&entries, rows[i - 1], &entries, rows[i], &ascending, 1) != 0;
		ranks[rows[i]] = rank;
	}
	const uint32_t *codes = array->values;
	for (int64_t i = 0; i < array->n_rows; i++)
		out[i] =
			codes[i] < n ? ranks[codes[i]] : 0; /* codes under null may be anything in an empty dictionary */
	return NK_OK;
}

/* Ranks of the texts of a Categorical, or texts themselves when there are many more than rows. */
static nk_status code_categories(nk_memory *memory, const nk_array *array, uint64_t *out, bool *exact,
                                 nk_error *err)
{
	NK_AUTO(nk_array) texts = NULL;
	NK_TRY(nk_categories_texts(array->dtype->categories, &texts, err));
	int64_t n_rows = array->n_rows, n_texts = texts->n_rows;
	*exact = n_texts <= NK_MAX(n_rows * 2, (int64_t)64);
	if (!*exact) {
		const nk_view *views = texts->values;
		for (int64_t i = 0; i < n_rows; i++) {
			uint64_t code = nk_category_code(array, i);
			out[i] = (int64_t)code < n_texts ? plain_text(&views[code], texts->heap, 0, false) : 0;
		}
		return NK_OK;
	}
	NK_AUTO(nk_buffer) codes = NULL;
	NK_TRY(nk_buffer_new(memory, n_rows * 4, &codes, err));
	for (int64_t i = 0; i < n_rows; i++)
		((uint32_t *)codes->bytes)[i] = (uint32_t)nk_category_code(array, i);
	nk_array encoded = {.n_rows = n_rows, .dictionary = texts, .values = codes->bytes};
	return code_dictionary(memory, &encoded, out, err);
}

/* Codes of a key in the wanted direction, rebased to 0, nulls placed. When values and nulls need more than 64 bits
 * together, nulls share the extreme code and the key counts as inexact. */
static nk_status key_codes(sorter *sort, int k, uint64_t *out, int *n_bits, bool *exact, nk_error *err)
{
	const nk_array *array = sort->keys[k];
	const nk_sort_key *spec = &sort->specs[k];
	int64_t n = array->n_rows;
	*n_bits = 0;
	*exact = true;
	if (array->encoding == NK_CONSTANT || array->physical == NK_PHYSICAL_NONE) {
		memset(out, 0, (size_t)n * 8);
		return NK_OK;
	}
	NK_AUTO(nk_array) flat = NULL;
	if (array->encoding == NK_DICTIONARY &&
	    array->dictionary->n_rows > n) { /* ranking it costs more than it saves */
		NK_TRY(nk_array_flatten(sort->memory, sort->keys[k], &flat, err));
		array = flat;
	}
	if (array->encoding == NK_DICTIONARY)
		NK_TRY(code_dictionary(sort->memory, array, out, err));
	else if (array->dtype->id == NK_TYPE_CATEGORICAL)
		NK_TRY(code_categories(sort->memory, array, out, exact, err));
	else
		code_flat(array, out, exact);
	const uint8_t *validity = array->validity;
	uint64_t low = UINT64_MAX, high = 0;
	int64_t n_nulls = 0;
	if (validity) {
		for (int64_t i = 0; i < n; i++) {
			if (!nk_bitmap_get(validity, i)) {
				n_nulls++;
				continue;
			}
			low = out[i] < low ? out[i] : low;
			high = out[i] > high ? out[i] : high;
		}
	} else {
		for (int64_t i = 0; i < n; i++) {
			low = out[i] < low ? out[i] : low;
			high = out[i] > high ? out[i] : high;
		}
	}
	uint64_t span = low > high ? 0 : high - low;
	if (spec->descending)
		for (int64_t i = 0; i < n; i++)
			out[i] = high - out[i];
	else
		for (int64_t i = 0; i < n; i++)
			out[i] -= low;
	if (n_nulls) {
		bool is_full = span == UINT64_MAX;
		uint64_t shift = !spec->nulls_last && !is_full, null_code = spec->nulls_last ? span + !is_full : 0;
		if (is_full) {
			null_code = spec->nulls_last ? UINT64_MAX : 0;
			*exact = false;
		}
		for (int64_t i = 0; i < n; i++)
			out[i] = nk_bitmap_get(validity, i) ? out[i] + shift : null_code;
		span += !is_full;
	}
	*n_bits = bits_of(span);
	return NK_OK;
}

/* ---- Levels ---- */

/* Make the next level: codes of as many further keys as fit 64 bits. */
static nk_status level_make(sorter *sort, nk_error *err)
{
	int64_t n = sort->n_array_rows, n_bytes = n * 8;
	level *made = &sort->levels[sort->n_levels];
	*made = (level){.first_key = -1};
	sort->n_levels++;
	bool is_first = true;
	while (sort->next_key < sort->n_keys) {
		if (!sort->pending) {
			NK_TRY(nk_alloc(sort->memory, n_bytes, (void **)&sort->pending, err));
			NK_TRY(key_codes(sort, sort->next_key, sort->pending, &sort->n_pending_bits, &sort->pending_exact,
			                 err));
		}
		if (!is_first && made->n_bits + sort->n_pending_bits > 64)
			return NK_OK; /* it opens the next level */
		uint64_t *codes = NK_STEAL(sort->pending);
		if (is_first) {
			made->words = codes;
		} else {
			int shift = sort->n_pending_bits;
			for (int64_t i = 0; i < n && shift; i++)
				made->words[i] = (shift < 64 ? made->words[i] << shift : 0) | codes[i];
			nk_free(sort->memory, codes, n_bytes);
		}
		is_first = false;
		made->n_bits += sort->n_pending_bits;
		int key = sort->next_key++;
		if (!sort->pending_exact) {
			made->first_key = key;
			sort->next_key = sort->n_keys; /* comparisons settle this key and all that follow */
		}
	}
	return NK_OK;
}

static bool has_level(const sorter *sort, int l)
{
	return l < sort->n_levels || sort->next_key < sort->n_keys;
}

/* ---- Sorting entries ---- */

static void insertion_u64(uint64_t *entries, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		uint64_t moved = entries[i];
		int64_t at = i;
		for (; at > 0 && entries[at - 1] > moved; at--)
			entries[at] = entries[at - 1];
		entries[at] = moved;
	}
}

static void insertion_wide(wide *entries, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		wide moved = entries[i];
		int64_t at = i;
		for (; at > 0 && entries[at - 1].word > moved.word; at--)
			entries[at] = entries[at - 1];
		entries[at] = moved;
	}
}

/* Merge passes over insertion-sorted runs; returns where the result is. */
static uint64_t *merge_u64(uint64_t *from, uint64_t *to, int64_t n)
{
	for (int64_t begin = 0; begin < n; begin += SMALL)
		insertion_u64(from + begin, NK_MIN((int64_t)SMALL, n - begin));
	for (int64_t width = SMALL; width < n; width *= 2) {
		for (int64_t begin = 0; begin < n; begin += 2 * width) {
			int64_t middle = NK_MIN(begin + width, n), end = NK_MIN(begin + 2 * width, n), a = begin,
					b = middle;
			for (int64_t at = begin; at < end; at++) {
				bool left = b == end || (a < middle && from[a] <= from[b]);
				to[at] = left ? from[a] : from[b];
				a += left;
				b += !left;
			}
		}
		uint64_t *swap = from;
		from = to;
		to = swap;
	}
	return from;
}

static wide *merge_wide(wide *from, wide *to, int64_t n)
{
	for (int64_t begin = 0; begin < n; begin += SMALL)
		insertion_wide(from + begin, NK_MIN((int64_t)SMALL, n - begin));
	for (int64_t width = SMALL; width < n; width *= 2) {
		for (int64_t begin = 0; begin < n; begin += 2 * width) {
			int64_t middle = NK_MIN(begin + width, n), end = NK_MIN(begin + 2 * width, n), a = begin,
					b = middle;
			for (int64_t at = begin; at < end; at++)
				to[at] = b == end || (a < middle && from[a].word <= from[b].word) ? from[a++] : from[b++];
		}
		wide *swap = from;
		from = to;
		to = swap;
	}
	return from;
}

/* Radix passes over bits [low, low + n_bits) of a word; returns where the result is. */
static uint64_t *radix_u64(uint64_t *from, uint64_t *to, int64_t n, int low, int n_bits)
{
	uint32_t counts[1 << MAX_DIGIT];
	int n_passes = (n_bits + MAX_DIGIT - 1) / MAX_DIGIT,
		digit = n_passes ? (n_bits + n_passes - 1) / n_passes : 0;
	for (int pass = 0; pass < n_passes; pass++) {
		int shift = low + pass * digit;
		uint64_t mask = (1ull << digit) - 1;
		memset(counts, 0, sizeof *counts << digit);
		for (int64_t i = 0; i < n; i++)
			counts[from[i] >> shift & mask]++;
		if (counts[from[0] >> shift & mask] == n)
			continue;
		uint32_t sum = 0;
		for (uint64_t d = 0; d <= mask; d++) {
			uint32_t count = counts[d];
			counts[d] = sum;
			sum += count;
		}
		for (int64_t i = 0; i < n; i++)
			to[counts[from[i] >> shift & mask]++] = from[i];
		uint64_t *swap = from;
		from = to;
		to = swap;
	}
	return from;
}

static wide *radix_wide(wide *from, wide *to, int64_t n, int n_bits)
{
	uint32_t counts[1 << MAX_DIGIT];
	int n_passes = (n_bits + MAX_DIGIT - 1) / MAX_DIGIT,
		digit = n_passes ? (n_bits + n_passes - 1) / n_passes : 0;
	for (int pass = 0; pass < n_passes; pass++) {
		int shift = pass * digit;
		uint64_t mask = (1ull << digit) - 1;
		memset(counts, 0, sizeof *counts << digit);
		for (int64_t i = 0; i < n; i++)
			counts[from[i].word >> shift & mask]++;
		if (counts[from[0].word >> shift & mask] == n)
			continue;
		uint32_t sum = 0;
		for (uint64_t d = 0; d <= mask; d++) {
			uint32_t count = counts[d];
			counts[d] = sum;
			sum += count;
		}
		for (int64_t i = 0; i < n; i++)
			to[counts[from[i].word >> shift & mask]++] = from[i];
		wide *swap = from;
		from = to;
		to = swap;
	}
	return from;
}

/* ---- Sorting rows ---- */

static void compare_sort(sorter *sort, uint32_t *rows, int64_t n, int first_key)
{
	nk_array *const *keys = sort->keys + first_key;
	const nk_sort_key *specs = sort->specs + first_key;
	int n_keys = sort->n_keys - first_key;
	uint32_t *from = rows, *to = (uint32_t *)sort->b;
	for (int64_t begin = 0; begin < n; begin += 8)
		for (int64_t i = begin + 1; i < NK_MIN(begin + 8, n); i++) {
			uint32_t moved = from[i];
			int64_t at = i;
			for (; at > begin && nk_sort_compare(keys, from[at - 1], keys, moved, specs, n_keys) > 0; at--)
				from[at] = from[at - 1];
			from[at] = moved;
		}
	for (int64_t width = 8; width < n; width *= 2) {
		for (int64_t begin = 0; begin < n; begin += 2 * width) {
			int64_t middle = NK_MIN(begin + width, n), end = NK_MIN(begin + 2 * width, n), a = begin,
					b = middle;
			for (int64_t at = begin; at < end; at++) {
				bool left = b == end ||
				            (a < middle && nk_sort_compare(keys, from[a], keys, from[b], specs, n_keys) <= 0);
				to[at] = left ? from[a++] : from[b++];
			}
		}
		uint32_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != rows)
		memcpy(rows, from, (size_t)n * 4);
}

/* Order rows by the words of a level. */
static void sort_by_words(sorter *sort, uint32_t *rows, int64_t n, const level *by)
{
	const uint64_t *words = by->words;
	int row_bits = bits_of((uint64_t)sort->n_array_rows);
	bool is_sorted = true;
	for (int64_t i = 1; i < n && is_sorted; i++)
		is_sorted = words[rows[i - 1]] <= words[rows[i]];
	if (is_sorted)
		return;
	if (by->n_bits + row_bits <= 64) {
		/* Small sorts compare the row number as well, which is stable only for rows in ascending order: number
		 * entries by their place instead. */
		uint64_t *from = (uint64_t *)sort->a, *to = (uint64_t *)sort->b;
		for (int64_t i = 0; i < n; i++)
			from[i] = words[rows[i]] << row_bits | (uint64_t)i;
		uint64_t *sorted =
			n <= MERGE_BELOW ? merge_u64(from, to, n) : radix_u64(from, to, n, row_bits, by->n_bits);
		uint32_t *out = (uint32_t *)(sorted == from ? to : from);
		uint64_t mask = (1ull << row_bits) - 1;
		for (int64_t i = 0; i < n; i++)
			out[i] = rows[sorted[i] & mask];
		memcpy(rows, out, (size_t)n * 4);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		sort->a[i] = (wide){words[rows[i]], rows[i]};
	wide *sorted =
		n <= MERGE_BELOW ? merge_wide(sort->a, sort->b, n) : radix_wide(sort->a, sort->b, n, by->n_bits);
	for (int64_t i = 0; i < n; i++)
		rows[i] = (uint32_t)sorted[i].row;
}

static nk_status sort_range(sorter *sort, uint32_t *rows, int64_t n, int l, nk_error *err)
{
	if (l >= sort->n_levels)
		NK_TRY(level_make(sort, err));
	const level *by = &sort->levels[l];
	const uint64_t *words = by->words;
	if (by->n_bits)
		sort_by_words(sort, rows, n, by);
	if (by->first_key < 0 && !has_level(sort, l + 1))
		return NK_OK;
	int first_key = by->first_key;
	for (int64_t begin = 0, end; begin < n; begin = end) {
		for (end = begin + 1; end < n && words[rows[end]] == words[rows[begin]];)
			end++;
		if (end - begin == 1)
			continue;
		if (first_key >= 0)
			compare_sort(sort, rows + begin, end - begin, first_key);
		else
			NK_TRY(sort_range(sort, rows + begin, end - begin, l + 1, err));
	}
	return NK_OK;
}

nk_status nk_sort_some_rows(nk_memory *memory, nk_array *const *keys, const nk_sort_key *specs, int n_keys,
                            uint32_t *rows, int64_t n_rows, nk_error *err)
{
	if (n_rows < 2 || n_keys == 0)
		return NK_OK;
	sorter sort = {
		.memory = memory, .keys = keys, .specs = specs, .n_keys = n_keys, .n_array_rows = keys[0]->n_rows};
	int64_t n_room_bytes = n_rows * (int64_t)sizeof(wide), n_level_bytes = n_keys * (int64_t)sizeof(level);
	NK_AUTO(nk_buffer) a = NULL, *b = NULL, *levels = NULL;
	NK_TRY(nk_buffer_new(memory, n_room_bytes, &a, err));
	NK_TRY(nk_buffer_new(memory, n_room_bytes, &b, err));
	NK_TRY(nk_buffer_new_zeroed(memory, n_level_bytes, &levels, err));
	sort.a = (wide *)a->bytes;
	sort.b = (wide *)b->bytes;
	sort.levels = (level *)levels->bytes;
	nk_status status = sort_range(&sort, rows, n_rows, 0, err);
	for (int l = 0; l < sort.n_levels; l++)
		nk_free(memory, sort.levels[l].words, sort.n_array_rows * 8);
	nk_free(memory, sort.pending, sort.n_array_rows * 8);
	return status;
}

nk_status nk_sort_rows(nk_memory *memory, nk_array *const *keys, const nk_sort_key *specs, int n_keys,
                       int64_t n_rows, uint32_t *rows, nk_error *err)
{
	if (n_rows >= UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "%lld rows are too many to sort at once", (long long)n_rows);
	for (int64_t i = 0; i < n_rows; i++)
		rows[i] = (uint32_t)i;
	return nk_sort_some_rows(memory, keys, specs, n_keys, rows, n_rows, err);
}
