/* Keys become integers whose order is the wanted one, rebased to their observed range, so that a key takes as many
 * bits as its values need: several small keys share one 64-bit word. Rows are sorted by the first word with LSD
 * radix passes over the bits in use; only runs of equal words look at the next word. Text counts with as many bytes
 * as fit behind those that all texts begin with, exactly when that is the whole text or when it is dictionary-encoded
 * (then by the rank of its entry); ties within are settled by comparing rows. A word and a row number travel in 8
 * bytes when both fit. */
#include "compute/sort.h"

#include "base/watch.h"
#include "columnar/categories.h"
#include "compute/select.h"

enum {
	SMALL = 48,        /* insertion sort */
	MERGE_BELOW = 768, /* merge sort; above, radix passes pay */
	MAX_DIGIT = 11,
	CODED_ALONE = 1 << 15, /* rows up to which codes are made by one thread */
	SPLIT_FROM = 1 << 16,  /* rows */
	BUCKET_ROWS = 4096,    /* wanted: entries and their copies in half of L2 */
	RANGES_A_WORKER = 4,
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
	const nk_parallel *parallel;
	nk_array *const *keys;
	const nk_sort_key *specs;
	int n_keys;
	int64_t n_array_rows;
	bool is_whole; /* all rows of the arrays are sorted, given in order */
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

/* Zeros are equal to each other, unless values are to be made again of their codes. */
static uint64_t code_double(double value, bool is_reversible)
{
	uint64_t bits;
	if (value == 0 && !is_reversible)
		value = 0;
	if (value != value)
		value = __builtin_nan("");
	memcpy(&bits, &value, 8);
	return bits >> 63 ? ~bits : bits | 1ull << 63;
}

static uint64_t code_float(float value, bool is_reversible)
{
	uint32_t bits;
	if (value == 0 && !is_reversible)
		value = 0;
	if (value != value)
		value = __builtin_nanf("");
	memcpy(&bits, &value, 4);
	return bits >> 31 ? (uint32_t)~bits : bits | 1u << 31;
}

#define FILL(T, code)                           \
	do {                                        \
		const T *values = array->values;        \
		for (int64_t i = begin; i < end; i++) { \
			T value = values[i];                \
			out[i] = (code);                    \
		}                                       \
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
	for (int64_t i = 0; i < array->n_rows && !nk_watch_stopped_at(i); i++) {
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
	for (int64_t i = 0; i < array->n_rows && !nk_watch_stopped_at(i); i += step) {
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
	for (int64_t i = 0; i < array->n_rows && !nk_watch_stopped_at(i); i++)
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

/* Ascending codes of rows [begin, end) of a flat array; false: of this type all have to be looked at together. */
static bool code_plain(const nk_array *array, uint64_t *out, int64_t begin, int64_t end, bool is_reversible)
{
	switch (array->physical) {
	case NK_PHYSICAL_BOOL:
		for (int64_t i = begin; i < end; i++)
			out[i] = nk_bitmap_get(array->values, i);
		return true;
	case NK_PHYSICAL_I8: FILL(int8_t, (uint64_t)(int64_t)value ^ 1ull << 63); return true;
	case NK_PHYSICAL_I16: FILL(int16_t, (uint64_t)(int64_t)value ^ 1ull << 63); return true;
	case NK_PHYSICAL_I32: FILL(int32_t, (uint64_t)(int64_t)value ^ 1ull << 63); return true;
	case NK_PHYSICAL_I64: FILL(int64_t, (uint64_t)value ^ 1ull << 63); return true;
	case NK_PHYSICAL_U8: FILL(uint8_t, value); return true;
	case NK_PHYSICAL_U16: FILL(uint16_t, value); return true;
	case NK_PHYSICAL_U32: FILL(uint32_t, value); return true;
	case NK_PHYSICAL_U64: FILL(uint64_t, value); return true;
	case NK_PHYSICAL_F32: FILL(float, code_float(value, is_reversible)); return true;
	case NK_PHYSICAL_F64: FILL(double, code_double(value, is_reversible)); return true;
	default: return false;
	}
}

/* The same for the other types; *exact: equal codes mean equal values. */
static void code_others(const nk_array *array, uint64_t *out, bool *exact)
{
	switch (array->physical) {
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
	NK_TRY(nk_sort_rows(memory, NULL, &entries, &ascending, 1, n, rows, err));
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

/* Codes of a key under way, range by range of its rows. */
typedef struct coding {
	const nk_array *array;
	const nk_sort_key *spec;
	uint64_t *out;
	bool is_plain; /* codes are yet to be made */
	bool is_reversible;
	int64_t range_rows;
	uint64_t low, high; /* of valid rows */
	int64_t n_nulls;    /* atomic */
	uint64_t base, shift, null_code;
} coding;

static void widen_bounds(uint64_t *low, uint64_t *high, uint64_t range_low, uint64_t range_high)
{
	uint64_t seen = __atomic_load_n(low, __ATOMIC_RELAXED);
	while (range_low < seen &&
	       !__atomic_compare_exchange_n(low, &seen, range_low, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	seen = __atomic_load_n(high, __ATOMIC_RELAXED);
	while (range_high > seen &&
	       !__atomic_compare_exchange_n(high, &seen, range_high, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static nk_status code_range(void *data, int64_t range, int worker, nk_error *err)
{
	(void)worker, (void)err;
	coding *all = data;
	uint64_t *out = all->out, low = UINT64_MAX, high = 0;
	int64_t begin = range * all->range_rows, end = NK_MIN(begin + all->range_rows, all->array->n_rows),
			n_nulls = 0;
	const uint8_t *validity = all->array->validity;
	if (all->is_plain)
		code_plain(all->array, out, begin, end, all->is_reversible);
	for (int64_t i = begin; i < end; i++) {
		if (validity && !nk_bitmap_get(validity, i)) {
			n_nulls++;
			continue;
		}
		low = out[i] < low ? out[i] : low;
		high = out[i] > high ? out[i] : high;
	}
	widen_bounds(&all->low, &all->high, low, high);
	__atomic_fetch_add(&all->n_nulls, n_nulls, __ATOMIC_RELAXED);
	return NK_OK;
}

/* From 0 in the wanted direction, and nulls in their place. */
static nk_status rebase_range(void *data, int64_t range, int worker, nk_error *err)
{
	(void)worker, (void)err;
	const coding *all = data;
	uint64_t *out = all->out, base = all->base;
	int64_t begin = range * all->range_rows, end = NK_MIN(begin + all->range_rows, all->array->n_rows);
	if (all->spec->descending)
		for (int64_t i = begin; i < end; i++)
			out[i] = base - out[i];
	else
		for (int64_t i = begin; i < end; i++)
			out[i] -= base;
	if (all->n_nulls)
		for (int64_t i = begin; i < end; i++)
			out[i] = nk_bitmap_get(all->array->validity, i) ? out[i] + all->shift : all->null_code;
	return NK_OK;
}

/* Codes of a key in the wanted direction, rebased to 0, nulls placed. When values and nulls need more than 64 bits
 * together, nulls share the extreme code and the key counts as inexact. */
static nk_status key_codes(sorter *sort, int k, coding *made, uint64_t *out, int *n_bits, bool *exact,
                           nk_error *err)
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
	int64_t n_ranges = n < CODED_ALONE ? 1 : nk_parallel_n_workers(sort->parallel) * RANGES_A_WORKER;
	*made = (coding){.array = array,
	                 .spec = spec,
	                 .out = out,
	                 .is_reversible = made->is_reversible,
	                 .range_rows = (n + n_ranges - 1) / n_ranges,
	                 .low = UINT64_MAX};
	if (array->encoding == NK_DICTIONARY)
		NK_TRY(code_dictionary(sort->memory, array, out, err));
	else if (array->dtype->id == NK_TYPE_CATEGORICAL)
		NK_TRY(code_categories(sort->memory, array, out, exact, err));
	else if (code_plain(array, out, 0, 0, false))
		made->is_plain = true;
	else
		code_others(array, out, exact);
	NK_TRY(nk_parallel_each(sort->parallel, n_ranges, code_range, made, err));
	uint64_t span = made->low > made->high ? 0 : made->high - made->low;
	made->base = spec->descending ? made->high : made->low;
	if (made->n_nulls) {
		bool is_full = span == UINT64_MAX;
		made->shift = !spec->nulls_last && !is_full;
		made->null_code = spec->nulls_last ? span + !is_full : 0;
		if (is_full) {
			made->null_code = spec->nulls_last ? UINT64_MAX : 0;
			*exact = false;
		}
		span += !is_full;
	}
	NK_TRY(nk_parallel_each(sort->parallel, n_ranges, rebase_range, made, err));
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
			coding made_of = {0};
			NK_TRY(key_codes(sort, sort->next_key, &made_of, sort->pending, &sort->n_pending_bits,
			                 &sort->pending_exact, err));
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

typedef enum entry_kind {
	PACKED, /* 64 bits: word and row */
	WIDE,   /* a word, a row */
	WORDS   /* words alone: they are the values */
} entry_kind;

/* A sort of many rows: entries are split by the first bits of their words into buckets that fit a cache, and buckets
 * are sorted by themselves, several at a time. Rows are those of a whole array in order. */
typedef struct split {
	entry_kind kind;
	struct sorter *sort;
	const level *by;
	uint32_t *rows;             /* the result; of WORDS it is sort->b */
	int64_t n_rows, range_rows; /* a range: rows that are counted and moved together */
	int low;                    /* of the word in an entry */
	int digit;                  /* bits that name the bucket */
	uint64_t row_mask;
	uint32_t *places; /* by range and bucket: first how many, then where the next goes */
	uint32_t *begins; /* of buckets, and the end */
} split;

#define ENTRY uint64_t
#define WORD(e) (e)
#define LESS(x, y) ((x) < (y))
#define ROW(e, all) ((uint32_t)((e) & (all)->row_mask))
#define MAKE(word, row, all) ((word) << (all)->low | ((uint64_t)(row) & (all)->row_mask))
#define NAME(x) x##_u64
#include "compute/sort_tmpl.h"

static void sort_bucket_words(split *all, int64_t begin, int64_t end)
{
	uint64_t *a = (uint64_t *)all->sort->a + begin, *b = (uint64_t *)all->sort->b + begin;
	uint64_t *sorted = sort_u64(b, a, end - begin, 0, all->by->n_bits - all->digit);
	if (sorted != b)
		memcpy(b, sorted, (size_t)(end - begin) * 8);
}

#define ENTRY wide
#define WORD(e) ((e).word)
#define LESS(x, y) ((x).word < (y).word)
#define ROW(e, all) ((uint32_t)(e).row)
#define MAKE(word, row, all) ((wide){word, (uint64_t)(row)})
#define NAME(x) x##_wide
#include "compute/sort_tmpl.h"

static nk_status count_range(void *data, int64_t range, int worker, nk_error *err)
{
	(void)worker, (void)err;
	const split *all = data;
	uint32_t *counts = all->places + (range << all->digit);
	const uint64_t *words = all->by->words;
	int shift = all->by->n_bits - all->digit;
	int64_t begin = range * all->range_rows, end = NK_MIN(begin + all->range_rows, all->n_rows);
	memset(counts, 0, sizeof *counts << all->digit);
	for (int64_t i = begin; i < end; i++)
		counts[words[i] >> shift]++;
	return NK_OK;
}

static nk_status scatter_range(void *data, int64_t range, int worker, nk_error *err)
{
	(void)worker, (void)err;
	const split *all = data;
	uint32_t *places = all->places + (range << all->digit);
	int64_t begin = range * all->range_rows, end = NK_MIN(begin + all->range_rows, all->n_rows);
	if (all->kind == WIDE)
		scatter_wide(all, places, begin, end);
	else
		scatter_u64(all, places, begin, end);
	return NK_OK;
}

enum { BUCKETS_A_TASK = 16 };

static nk_status sort_buckets(void *data, int64_t task, int worker, nk_error *err)
{
	(void)worker, (void)err;
	split *all = data;
	for (int64_t b = task * BUCKETS_A_TASK; b < (task + 1) * BUCKETS_A_TASK; b++) {
		int64_t begin = all->begins[b], end = all->begins[b + 1];
		if (begin == end)
			continue;
		if (all->kind == PACKED)
			sort_bucket_u64(all, begin, end);
		else if (all->kind == WIDE)
			sort_bucket_wide(all, begin, end);
		else
			sort_bucket_words(all, begin, end);
	}
	return NK_OK;
}

static nk_status split_sort(sorter *sort, entry_kind kind, uint32_t *rows, int64_t n, const level *by,
                            nk_error *err)
{
	int most = NK_MIN(by->n_bits, (int)MAX_DIGIT), digit = NK_MIN(bits_of((uint64_t)(n / BUCKET_ROWS)), most);
	int64_t n_buckets = 1LL << digit, n_ranges = nk_parallel_n_workers(sort->parallel) * RANGES_A_WORKER;
	int row_bits = kind == PACKED ? bits_of((uint64_t)n) : 0;
	split all = {.kind = kind,
	             .sort = sort,
	             .by = by,
	             .rows = rows,
	             .n_rows = n,
	             .range_rows = (n + n_ranges - 1) / n_ranges,
	             .low = row_bits,
	             .digit = digit,
	             .row_mask = (1ull << row_bits) - 1};
	int64_t n_padded = (n_buckets + BUCKETS_A_TASK - 1) / BUCKETS_A_TASK * BUCKETS_A_TASK;
	NK_AUTO(nk_buffer) places = NULL, *begins = NULL;
	NK_TRY(nk_buffer_new(sort->memory, (n_ranges << digit) * 4, &places, err));
	NK_TRY(nk_buffer_new(sort->memory, (n_padded + 1) * 4, &begins, err));
	all.places = (uint32_t *)places->bytes;
	all.begins = (uint32_t *)begins->bytes;
	NK_TRY(nk_parallel_each(sort->parallel, n_ranges, count_range, &all, err));
	uint32_t sum = 0;
	for (int64_t b = 0; b < n_buckets; b++) {
		all.begins[b] = sum;
		for (int64_t r = 0; r < n_ranges; r++) {
			uint32_t count = all.places[(r << digit) + b];
			all.places[(r << digit) + b] = sum;
			sum += count;
		}
	}
	for (int64_t b = n_buckets; b <= n_padded; b++)
		all.begins[b] = sum;
	NK_TRY(nk_parallel_each(sort->parallel, n_ranges, scatter_range, &all, err));
	return nk_parallel_each(sort->parallel, n_padded / BUCKETS_A_TASK, sort_buckets, &all, err);
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
				if (nk_watch_stopped_at(at))
					return;
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
static nk_status sort_by_words(sorter *sort, uint32_t *rows, int64_t n, const level *by, nk_error *err)
{
	const uint64_t *words = by->words;
	int row_bits = bits_of((uint64_t)sort->n_array_rows);
	bool is_sorted = true;
	for (int64_t i = 1; i < n && is_sorted; i++)
		is_sorted = words[rows[i - 1]] <= words[rows[i]];
	if (is_sorted)
		return NK_OK;
	if (sort->is_whole && n == sort->n_array_rows && n >= SPLIT_FROM && by == sort->levels)
		return split_sort(sort, by->n_bits + row_bits <= 64 ? PACKED : WIDE, rows, n, by, err);
	if (by->n_bits + row_bits <= 64) {
		/* Small sorts compare the row number as well, which is stable only for rows in ascending order: number
		 * entries by their place instead. */
		uint64_t *from = (uint64_t *)sort->a, *to = (uint64_t *)sort->b;
		for (int64_t i = 0; i < n; i++)
			from[i] = words[rows[i]] << row_bits | (uint64_t)i;
		uint64_t *sorted = sort_u64(from, to, n, row_bits, by->n_bits);
		uint32_t *out = (uint32_t *)(sorted == from ? to : from);
		uint64_t mask = (1ull << row_bits) - 1;
		for (int64_t i = 0; i < n; i++)
			out[i] = rows[sorted[i] & mask];
		memcpy(rows, out, (size_t)n * 4);
		return NK_OK;
	}
	for (int64_t i = 0; i < n; i++)
		sort->a[i] = (wide){words[rows[i]], rows[i]};
	wide *sorted = sort_wide(sort->a, sort->b, n, 0, by->n_bits);
	for (int64_t i = 0; i < n; i++)
		rows[i] = (uint32_t)sorted[i].row;
	return NK_OK;
}

static nk_status sort_range(sorter *sort, uint32_t *rows, int64_t n, int l, nk_error *err)
{
	if (l >= sort->n_levels)
		NK_TRY(level_make(sort, err));
	const level *by = &sort->levels[l];
	const uint64_t *words = by->words;
	if (by->n_bits)
		NK_TRY(sort_by_words(sort, rows, n, by, err));
	if (by->first_key < 0 && !has_level(sort, l + 1))
		return NK_OK;
	int first_key = by->first_key;
	for (int64_t begin = 0, end; begin < n; begin = end) {
		if (nk_watch_stopped_at(begin))
			break;
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

static nk_status sort_with(sorter *sort, uint32_t *rows, int64_t n_rows, nk_error *err)
{
	if (n_rows < 2 || sort->n_keys == 0)
		return NK_OK;
	nk_memory *memory = sort->memory;
	int64_t n_room_bytes = n_rows * (int64_t)sizeof(wide);
	NK_AUTO(nk_buffer) a = NULL, *b = NULL, *levels = NULL;
	NK_TRY(nk_buffer_new(memory, n_room_bytes, &a, err));
	NK_TRY(nk_buffer_new(memory, n_room_bytes, &b, err));
	NK_TRY(nk_buffer_new_zeroed(memory, sort->n_keys * (int64_t)sizeof(level), &levels, err));
	sort->a = (wide *)a->bytes;
	sort->b = (wide *)b->bytes;
	sort->levels = (level *)levels->bytes;
	nk_status status = sort_range(sort, rows, n_rows, 0, err);
	if (status == NK_OK)
		status = nk_watch_check(err);
	for (int l = 0; l < sort->n_levels; l++)
		nk_free(memory, sort->levels[l].words, sort->n_array_rows * 8);
	nk_free(memory, sort->pending, sort->n_array_rows * 8);
	return status;
}

nk_status nk_sort_some_rows(nk_memory *memory, nk_array *const *keys, const nk_sort_key *specs, int n_keys,
                            uint32_t *rows, int64_t n_rows, nk_error *err)
{
	sorter sort = {.memory = memory,
	               .keys = keys,
	               .specs = specs,
	               .n_keys = n_keys,
	               .n_array_rows = n_keys ? keys[0]->n_rows : 0};
	return sort_with(&sort, rows, n_rows, err);
}

nk_status nk_sort_rows(nk_memory *memory, const nk_parallel *parallel, nk_array *const *keys,
                       const nk_sort_key *specs, int n_keys, int64_t n_rows, uint32_t *rows, nk_error *err)
{
	if (n_rows >= UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "%lld rows are too many to sort at once", (long long)n_rows);
	for (int64_t i = 0; i < n_rows; i++)
		rows[i] = (uint32_t)i;
	sorter sort = {.memory = memory,
	               .parallel = parallel,
	               .keys = keys,
	               .specs = specs,
	               .n_keys = n_keys,
	               .n_array_rows = n_rows,
	               .is_whole = true};
	return sort_with(&sort, rows, n_rows, err);
}

/* ---- Values alone ---- */

/* What codes stand for, range by range. */
typedef struct decoding {
	const coding *made;
	const uint64_t *codes; /* sorted */
	nk_array *out;
	int64_t first, n; /* rows that are not null */
	int64_t range_rows;
} decoding;

static double double_of(uint64_t code)
{
	double value;
	code = code >> 63 ? code & ~(1ull << 63) : ~code;
	memcpy(&value, &code, 8);
	return value;
}

static float float_of(uint32_t code)
{
	float value;
	code = code >> 31 ? code & ~(1u << 31) : ~code;
	memcpy(&value, &code, 4);
	return value;
}

#define UNFILL(T, value)                                                                 \
	do {                                                                                 \
		T *to = (T *)nk_array_values(all->out);                                          \
		for (int64_t i = begin; i < end; i++) {                                          \
			uint64_t code = is_descending ? base - all->codes[i] : all->codes[i] + base; \
			to[i] = (T)(value);                                                          \
		}                                                                                \
	} while (0)

static nk_status decode_range(void *data, int64_t range, int worker, nk_error *err)
{
	(void)worker, (void)err;
	const decoding *all = data;
	const coding *made = all->made;
	int64_t begin = all->first + range * all->range_rows,
			end = NK_MIN(begin + all->range_rows, all->first + all->n);
	bool is_descending = made->spec->descending;
	/* A code is that of the value, shifted by one when nulls come before it. */
	uint64_t base = is_descending ? made->base + made->shift : made->base - made->shift;
	switch (all->out->physical) {
	case NK_PHYSICAL_I8: UNFILL(int8_t, code ^ 1ull << 63); break;
	case NK_PHYSICAL_I16: UNFILL(int16_t, code ^ 1ull << 63); break;
	case NK_PHYSICAL_I32: UNFILL(int32_t, code ^ 1ull << 63); break;
	case NK_PHYSICAL_I64: UNFILL(int64_t, code ^ 1ull << 63); break;
	case NK_PHYSICAL_U8: UNFILL(uint8_t, code); break;
	case NK_PHYSICAL_U16: UNFILL(uint16_t, code); break;
	case NK_PHYSICAL_U32: UNFILL(uint32_t, code); break;
	case NK_PHYSICAL_U64: UNFILL(uint64_t, code); break;
	case NK_PHYSICAL_F32: UNFILL(float, float_of((uint32_t)code)); break;
	default: UNFILL(double, double_of(code)); break;
	}
	return NK_OK;
}

static nk_status decode(const sorter *sort, const coding *made, const uint64_t *codes, nk_array **out,
                        nk_error *err)
{
	const nk_array *from = made->array;
	int64_t n = from->n_rows, n_nulls = made->n_nulls;
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(nk_array_alloc(sort->memory, from->dtype, from->physical, n, n_nulls > 0, &array, err));
	decoding all = {.made = made, .codes = codes, .out = array, .n = n - n_nulls};
	if (n_nulls) {
		int64_t first_null = made->spec->nulls_last ? n - n_nulls : 0,
				width = nk_physical_size(from->physical);
		all.first = made->spec->nulls_last ? 0 : n_nulls;
		nk_bitmap_fill(nk_array_validity(array), first_null, n_nulls, false);
		memset((char *)nk_array_values(array) + first_null * width, 0, (size_t)(n_nulls * width));
		array->n_nulls = n_nulls;
	}
	int64_t n_ranges = n < CODED_ALONE ? 1 : nk_parallel_n_workers(sort->parallel) * RANGES_A_WORKER;
	all.range_rows = (all.n + n_ranges - 1) / n_ranges;
	NK_TRY(nk_parallel_each(sort->parallel, all.n ? n_ranges : 0, decode_range, &all, err));
	*out = NK_STEAL(array);
	return NK_OK;
}

static bool are_sorted(const uint64_t *words, int64_t n)
{
	for (int64_t i = 1; i < n; i++)
		if (words[i - 1] > words[i])
			return false;
	return true;
}

/* Codes of plain numbers say all about them: they are sorted without rows and turned back. */
static nk_status sort_codes(sorter *sort, nk_array **out, nk_error *err)
{
	int64_t n = sort->n_array_rows;
	coding made = {.is_reversible = true};
	level by = {.first_key = -1};
	bool exact;
	NK_AUTO(nk_buffer) a = NULL, *b = NULL;
	NK_TRY(nk_buffer_new(sort->memory, n * 8, &a, err));
	by.words = (uint64_t *)a->bytes;
	NK_TRY(key_codes(sort, 0, &made, by.words, &by.n_bits, &exact, err));
	if (!exact) /* every code is a value's: none is left for nulls */
		return NK_OK;
	if (are_sorted(by.words, n)) {
		*out = nk_array_ref(sort->keys[0]);
		return NK_OK;
	}
	NK_TRY(nk_buffer_new(sort->memory, n * 8, &b, err));
	uint64_t *sorted = (uint64_t *)b->bytes;
	sort->a = (wide *)a->bytes;
	sort->b = (wide *)b->bytes;
	if (n >= SPLIT_FROM)
		NK_TRY(split_sort(sort, WORDS, NULL, n, &by, err));
	else
		sorted = sort_u64(by.words, sorted, n, 0, by.n_bits);
	return decode(sort, &made, sorted, out, err);
}

nk_status nk_sort_array(nk_memory *memory, const nk_parallel *parallel, nk_array *array, nk_sort_key spec,
                        nk_array **out, nk_error *err)
{
	sorter sort = {.memory = memory,
	               .parallel = parallel,
	               .keys = &array,
	               .specs = &spec,
	               .n_keys = 1,
	               .n_array_rows = array->n_rows};
	*out = NULL;
	if (array->n_rows < UINT32_MAX && array->encoding == NK_FLAT && array->physical != NK_PHYSICAL_BOOL &&
	    array->dtype->id != NK_TYPE_CATEGORICAL && code_plain(array, NULL, 0, 0, true))
		NK_TRY(sort_codes(&sort, out, err));
	if (*out)
		return NK_OK;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(memory, array->n_rows * 4, &rows, err));
	NK_TRY(nk_sort_rows(memory, parallel, &array, &spec, 1, array->n_rows, (uint32_t *)rows->bytes, err));
	return nk_array_take(memory, array, (const uint32_t *)rows->bytes, array->n_rows, out, err);
}
