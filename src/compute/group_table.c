/* Groups keep their key as a row of words (compute/key_rows.h) under their dense id; slots hold 32 salt bits and
 * the id, so that a miss costs no look at a key and growing moves 8 bytes a group. Text longer than a view holds
 * lies in shared heap buffers, so that keys come out without copying. A lone integer key starts in window mode:
 * slot = value - base, no hash at all; it moves to hashing when its range becomes too wide for the number of
 * groups seen. Dictionary-encoded keys look each combination of codes up once per set of dictionaries. */
#include "compute/group_table.h"

#include "base/hash.h"
#include "compute/key_rows.h"
#include "compute/key_texts.h"
#include "compute/nested_keys.h"

enum {
	BLOCK = 1024,           /* rows encoded and hashed at a time */
	AHEAD = 64,             /* rows whose slots are prefetched together */
	CACHED_BYTES = 1 << 19, /* larger tables are prefetched */
	WINDOW_FREE = 1 << 14,  /* a window of so many values is always allowed */
	WINDOW_MAX = 1 << 20,
	WINDOW_SPARSE = 16, /* values per group that a window may have */
	COMBINATIONS_MAX = 1 << 16,
	NO_GROUP = 0, /* in slots, windows and caches ids are counted from 1 */
};

struct nk_group_table {
	nk_memory *memory;
	nk_key_layout layout;
	const nk_dtype **dtypes; /* of the keys as they are given: nested ones are kept as Binary */
	bool has_nested;
	int n_keys, n_texts;
	int64_t n_groups;

	uint64_t *rows; /* n_words a group */
	int64_t rows_capacity;
	nk_text_place *places; /* n_texts a group: where long text lies */
	int64_t places_capacity;
	uint64_t *negative_zeros; /* a bit a column: shown as -0.0; kept for float keys only */
	int64_t negative_zeros_capacity;
	int64_t null_group; /* of a lone key; -1: none yet */

	uint64_t *slots;
	int64_t n_slots;

	bool may_window, windowed;
	uint32_t *window;
	int64_t window_base, n_window;
	int64_t
		n_coming; /* rows of the insert in progress: a window smaller than these costs less than they do */

	uint32_t *codes_cache;
	int64_t n_combinations, combinations_capacity;
	nk_array **dictionaries; /* n_keys references: what codes_cache is for */

	nk_key_texts texts;

	uint64_t *words; /* one block */
	uint64_t hashes[BLOCK];
	uint8_t is_null[BLOCK];
};

nk_status nk_group_table_new(nk_memory *memory, const nk_dtype *const *dtypes, int n_keys,
                             int64_t n_groups_hint, nk_group_table **out, nk_error *err)
{
	void *block;
	NK_TRY(nk_alloc(memory, sizeof(nk_group_table), &block, err));
	NK_AUTO(nk_group_table) table = block;
	memset(table, 0, sizeof *table);
	table->memory = nk_memory_ref(memory);
	table->n_keys = n_keys;
	table->null_group = -1;
	NK_AUTO(nk_buffer) plain = NULL;
	NK_TRY(nk_buffer_new(memory, n_keys * (int64_t)sizeof(nk_dtype *), &plain, err));
	NK_TRY(nk_alloc(memory, n_keys * (int64_t)sizeof *table->dtypes, (void **)&table->dtypes, err));
	for (int k = 0; k < n_keys; k++) {
		table->dtypes[k] = dtypes[k];
		table->has_nested |= nk_type_is_nested(dtypes[k]->id);
		((const nk_dtype **)(void *)plain->bytes)[k] = nk_plain_key_dtype(dtypes[k]);
	}
	dtypes = (const nk_dtype **)(void *)plain->bytes;
	NK_TRY(nk_key_layout_init(&table->layout, memory, dtypes, NULL, n_keys, true, err));
	for (int k = 0; k < n_keys; k++)
		table->n_texts += table->layout.columns[k].is_text;
	const nk_key_column *only = &table->layout.columns[0];
	table->may_window = n_keys == 1 && only->width <= 8 && !only->is_float && dtypes[0]->id != NK_TYPE_NULL;
	table->windowed = table->may_window;
	NK_TRY(nk_alloc(memory, (int64_t)sizeof(uint64_t) * BLOCK * table->layout.n_words, (void **)&table->words,
	                err));
	NK_TRY(nk_alloc(memory, (int64_t)sizeof(nk_array *) * n_keys, (void **)&table->dictionaries, err));
	memset(table->dictionaries, 0, sizeof(nk_array *) * (size_t)n_keys);
	NK_TRY(nk_key_texts_init(&table->texts, memory, n_keys, err));
	if (n_groups_hint > 0)
		NK_TRY(nk_group_table_reserve(table, n_groups_hint, err));
	*out = NK_STEAL(table);
	return NK_OK;
}

static void dictionaries_drop(nk_group_table *table)
{
	for (int k = 0; k < table->n_keys && table->dictionaries; k++) {
		nk_array_unref(table->dictionaries[k]);
		table->dictionaries[k] = NULL;
	}
	table->n_combinations = 0;
}

void nk_group_table_free(nk_group_table *table)
{
	if (!table)
		return;
	nk_memory *memory = table->memory;
	dictionaries_drop(table);
	nk_key_texts_release(&table->texts);
	nk_free(memory, table->rows, table->rows_capacity * 8);
	nk_free(memory, table->places, table->places_capacity * (int64_t)sizeof *table->places);
	nk_free(memory, table->negative_zeros, table->negative_zeros_capacity * 8);
	nk_free(memory, table->slots, table->n_slots * 8);
	nk_free(memory, table->window, table->n_window * 4);
	nk_free(memory, table->codes_cache, table->combinations_capacity * 4);
	nk_free(memory, table->dictionaries, (int64_t)sizeof(nk_array *) * table->n_keys);
	nk_free(memory, table->words, (int64_t)sizeof(uint64_t) * BLOCK * table->layout.n_words);
	nk_key_layout_release(&table->layout);
	nk_free(memory, table->dtypes, table->n_keys * (int64_t)sizeof *table->dtypes);
	nk_free(memory, table, sizeof *table);
	nk_memory_unref(memory);
}

static void window_drop(nk_group_table *table)
{
	nk_free(table->memory, table->window, table->n_window * 4);
	table->window = NULL;
	table->n_window = 0;
}

void nk_group_table_clear(nk_group_table *table)
{
	dictionaries_drop(table);
	nk_key_texts_clear(&table->texts);
	window_drop(table);
	table->windowed = table->may_window;
	table->n_groups = 0;
	table->null_group = -1;
	if (table->slots)
		memset(table->slots, 0, (size_t)table->n_slots * 8);
}

int64_t nk_group_table_n_groups(const nk_group_table *table) { return table->n_groups; }

int64_t nk_group_table_bytes_per_group(const nk_group_table *table)
{
	return table->layout.n_words * 8 + table->n_texts * (int64_t)sizeof(nk_text_place) +
	       table->layout.has_float * 8 + 16;
}

int64_t nk_group_table_n_bytes(const nk_group_table *table)
{
	int64_t n_bytes = table->rows_capacity * 8 + table->places_capacity * (int64_t)sizeof(nk_text_place) +
	                  table->negative_zeros_capacity * 8 + table->n_slots * 8 + table->n_window * 4 +
	                  table->combinations_capacity * 4;
	return n_bytes + table->texts.n_bytes;
}

/* ---- Room ---- */

static uint64_t slot_of(uint64_t hash, int64_t group)
{
	return (hash & ~0xffffffffull) | (uint64_t)(group + 1);
}

/* Hash all groups into fresh slots: after growing, or when window mode ends. */
static void slots_fill(nk_group_table *table, uint64_t *slots, int64_t n_slots)
{
	uint64_t mask = (uint64_t)n_slots - 1, hashes[AHEAD];
	memset(slots, 0, (size_t)n_slots * 8);
	for (int64_t first = 0; first < table->n_groups; first += AHEAD) {
		int64_t n = NK_MIN((int64_t)AHEAD, table->n_groups - first);
		nk_key_hash(&table->layout, table->rows + first * table->layout.n_words, n, hashes);
		for (int64_t i = 0; i < n; i++)
			__builtin_prefetch(&slots[hashes[i] & mask], 1);
		for (int64_t i = 0; i < n; i++) {
			if (first + i == table->null_group)
				continue;
			uint64_t at = hashes[i] & mask;
			while (slots[at])
				at = (at + 1) & mask;
			slots[at] = slot_of(hashes[i], first + i);
		}
	}
}

static nk_status slots_reserve(nk_group_table *table, int64_t n_groups, nk_error *err)
{
	int64_t n_slots = table->n_slots ? table->n_slots : 256;
	while (n_slots < n_groups + n_groups / 2)
		n_slots *= 2;
	if (n_slots == table->n_slots)
		return NK_OK;
	void *slots;
	NK_TRY(nk_alloc(table->memory, n_slots * 8, &slots, err));
	slots_fill(table, slots, n_slots);
	nk_free(table->memory, table->slots, table->n_slots * 8);
	table->slots = slots;
	table->n_slots = n_slots;
	return NK_OK;
}

nk_status nk_group_table_reserve(nk_group_table *table, int64_t n_rows, nk_error *err)
{
	int64_t n = table->n_groups + n_rows;
	if (NK_UNLIKELY(n > UINT32_MAX - 2))
		return nk_fail(err, NK_COMPUTE, "more than %u distinct keys in one table", UINT32_MAX - 2);
	NK_TRY(NK_GROW(table->memory, &table->rows, &table->rows_capacity, n * table->layout.n_words, err));
	if (table->n_texts)
		NK_TRY(NK_GROW(table->memory, &table->places, &table->places_capacity, n * table->n_texts, err));
	if (table->layout.has_float)
		NK_TRY(NK_GROW(table->memory, &table->negative_zeros, &table->negative_zeros_capacity, n, err));
	return table->windowed ? NK_OK : slots_reserve(table, n, err);
}

/* ---- Keys of groups ---- */

/* Make the next group of an encoded row; room is reserved. */
static nk_status group_add(nk_group_table *table, nk_array *const *keys, int64_t row, const uint64_t *words,
                           nk_error *err)
{
	const nk_key_layout *layout = &table->layout;
	int64_t group = table->n_groups;
	memcpy(table->rows + group * layout->n_words, words, (size_t)layout->n_words * 8);
	if (layout->has_float)
		table->negative_zeros[group] = 0;
	for (int k = 0, text = 0; k < table->n_keys && (layout->has_text || layout->has_float); k++) {
		const nk_key_column *column = &layout->columns[k];
		if (column->is_text) {
			nk_text_place *place = &table->places[group * table->n_texts + text++];
			*place = (nk_text_place){0, 0};
			if (nk_array_is_valid(keys[k], row))
				NK_TRY(nk_key_texts_add(&table->texts, k, keys[k], row, place, err));
		} else if (column->is_float && nk_array_is_valid(keys[k], row) && k < 64) {
			const nk_array *values = keys[k]->encoding == NK_DICTIONARY ? keys[k]->dictionary : keys[k];
			int64_t at = keys[k]->encoding == NK_DICTIONARY ? ((const uint32_t *)keys[k]->values)[row]
			                                                : nk_array_index(keys[k], row);
			double value = column->width == 8 ? ((const double *)values->values)[at]
			                                  : ((const float *)values->values)[at];
			if (value == 0 && __builtin_signbit(value))
				table->negative_zeros[group] |= 1ull << k;
		}
	}
	table->n_groups++;
	return NK_OK;
}

/* Whether long text of an encoded row is byte for byte that of a group with equal words. */
static bool texts_equal(const nk_group_table *table, nk_array *const *keys, int64_t row, int64_t group)
{
	for (int k = 0, text = 0; k < table->n_keys; k++) {
		if (!table->layout.columns[k].is_text)
			continue;
		nk_text_place place = table->places[group * table->n_texts + text++];
		if (nk_array_is_valid(keys[k], row) && !nk_key_texts_equal(&table->texts, k, keys[k], row, place))
			return false;
	}
	return true;
}

/* ---- Hashing ---- */

static inline __attribute__((always_inline)) bool words_equal(const uint64_t *a, const uint64_t *b,
                                                              int n_words)
{
	uint64_t different = 0;
	for (int w = 0; w < n_words; w++)
		different |= a[w] ^ b[w];
	return different == 0;
}

/* Groups of a block of encoded rows. n_words is a constant at every call. is_null: lone keys only, or NULL. */
static inline __attribute__((always_inline)) nk_status hash_block(nk_group_table *table,
                                                                  nk_array *const *keys, int64_t first,
                                                                  int64_t n, const uint8_t *is_null,
                                                                  int n_words, bool insert, uint32_t *groups,
                                                                  nk_error *err)
{
	const uint64_t *words = table->words, *hashes = table->hashes;
	uint64_t *slots = table->slots, mask = (uint64_t)table->n_slots - 1;
	bool is_large = table->n_slots * 8 + table->n_groups * n_words * 8 > CACHED_BYTES;
	bool has_text = table->layout.has_text;
	for (int64_t begin = 0; begin < n; begin += AHEAD) {
		int64_t end = NK_MIN(begin + AHEAD, n);
		if (is_large) {
			for (int64_t i = begin; i < end; i++)
				__builtin_prefetch(&slots[hashes[i] & mask]);
			for (int64_t i = begin; i < end; i++) {
				uint32_t id = (uint32_t)slots[hashes[i] & mask];
				if (id)
					__builtin_prefetch(table->rows + (int64_t)(id - 1) * n_words);
			}
		}
		for (int64_t i = begin; i < end; i++) {
			if (is_null && is_null[i]) {
				if (table->null_group < 0 && insert) {
					int64_t group = table->n_groups;
					NK_TRY(group_add(table, keys, first + i, words + i * n_words, err));
					table->null_group = group;
				}
				groups[i] = (uint32_t)table->null_group;
				continue;
			}
			uint64_t at = hashes[i] & mask;
			for (;;) {
				uint64_t slot = slots[at];
				if (slot == 0) {
					groups[i] = UINT32_MAX;
					if (insert) {
						groups[i] = (uint32_t)table->n_groups;
						NK_TRY(group_add(table, keys, first + i, words + i * n_words, err));
						slots[at] = slot_of(hashes[i], groups[i]);
					}
					break;
				}
				if (((slot ^ hashes[i]) >> 32) == 0) {
					int64_t group = (int64_t)(uint32_t)slot - 1;
					if (words_equal(table->rows + group * n_words, words + i * n_words, n_words) &&
					    (!has_text || texts_equal(table, keys, first + i, group))) {
						groups[i] = (uint32_t)group;
						break;
					}
				}
				at = (at + 1) & mask;
			}
		}
	}
	return NK_OK;
}

static nk_status hash_rows(nk_group_table *table, nk_array *const *keys, int64_t first, int64_t n,
                           const uint8_t *is_null, bool insert, uint32_t *groups, nk_error *err)
{
	nk_key_hash(&table->layout, table->words, n, table->hashes);
	switch (table->layout.n_words) {
	case 1:
		return insert ? hash_block(table, keys, first, n, is_null, 1, true, groups, err)
		              : hash_block(table, keys, first, n, is_null, 1, false, groups, err);
	case 2:
		return insert ? hash_block(table, keys, first, n, is_null, 2, true, groups, err)
		              : hash_block(table, keys, first, n, is_null, 2, false, groups, err);
	case 3: return hash_block(table, keys, first, n, is_null, 3, insert, groups, err);
	case 4: return hash_block(table, keys, first, n, is_null, 4, insert, groups, err);
	default: return hash_block(table, keys, first, n, is_null, table->layout.n_words, insert, groups, err);
	}
}

/* ---- Windows ---- */

/* Widen the window to hold [low, high]; false: its range would be too large for what it holds. */
static nk_status window_reserve(nk_group_table *table, int64_t low, int64_t high, int64_t n, bool *fits,
                                nk_error *err)
{
	int64_t base = low, last = high;
	if (table->n_window) {
		base = NK_MIN(base, table->window_base);
		last = NK_MAX(last, table->window_base + table->n_window - 1);
	}
	uint64_t range = (uint64_t)last - (uint64_t)base;
	int64_t n_groups = table->n_groups + n;
	*fits = range < WINDOW_FREE || range < (uint64_t)table->n_coming / 4 ||
	        (range < WINDOW_MAX && (int64_t)range / WINDOW_SPARSE < n_groups);
	if (!*fits)
		return NK_OK;
	/* Room to spare on the side that grows, so that ascending keys do not move the window each time. */
	int64_t spare = NK_MIN((int64_t)range / 2 + 64, (int64_t)WINDOW_MAX);
	if (high == last && last <= INT64_MAX - spare)
		last += spare;
	else if (low == base && base >= INT64_MIN + spare)
		base -= spare;
	int64_t n_window = last - base + 1;
	void *window;
	NK_TRY(nk_alloc(table->memory, n_window * 4, &window, err));
	memset(window, 0, (size_t)n_window * 4);
	if (table->n_window)
		memcpy((uint32_t *)window + (table->window_base - base), table->window, (size_t)table->n_window * 4);
	window_drop(table);
	table->window = window;
	table->window_base = base;
	table->n_window = n_window;
	return NK_OK;
}

static nk_status window_end(nk_group_table *table, int64_t n, nk_error *err)
{
	table->windowed = false;
	nk_status status = slots_reserve(table, table->n_groups + n, err);
	if (status != NK_OK) {
		table->windowed = true;
		return status;
	}
	/* Slots kept from before a clear are empty: fill them. */
	slots_fill(table, table->slots, table->n_slots);
	window_drop(table);
	return NK_OK;
}

/* The value of a lone integer key from its word. */
static inline int64_t word_value(uint64_t word, int shift, bool is_signed)
{
	return is_signed ? (int64_t)(word << shift) >> shift : (int64_t)word;
}

/* *done false: window mode has ended and nothing was written. */
static nk_status window_rows(nk_group_table *table, nk_array *const *keys, int64_t first, int64_t n,
                             const uint8_t *is_null, bool insert, uint32_t *groups, bool *done, nk_error *err)
{
	const nk_key_column *column = &table->layout.columns[0];
	const uint64_t *words = table->words;
	int shift = 64 - column->width * 8;
	bool is_signed = !nk_type_is_unsigned(column->dtype->id);
	int64_t low = INT64_MAX, high = INT64_MIN;
	if (is_null) {
		for (int64_t i = 0; i < n; i++) {
			int64_t value = word_value(words[i], shift, is_signed);
			low = is_null[i] || value > low ? low : value;
			high = is_null[i] || value < high ? high : value;
		}
	} else {
		for (int64_t i = 0; i < n; i++) {
			int64_t value = word_value(words[i], shift, is_signed);
			low = value < low ? value : low;
			high = value > high ? value : high;
		}
	}
	*done = true;
	bool inside = low > high || (table->n_window && low >= table->window_base &&
	                             high < table->window_base + table->n_window);
	if (insert && !inside) {
		NK_TRY(window_reserve(table, low, high, n, done, err));
		if (!*done)
			return window_end(table, n, err);
		inside = true;
	}
	uint32_t *window = table->window;
	uint64_t base = (uint64_t)table->window_base, n_window = (uint64_t)table->n_window;
	if (insert && !is_null) {
		for (int64_t i = 0; i < n; i++) {
			uint32_t *id = &window[(uint64_t)word_value(words[i], shift, is_signed) - base];
			if (NK_UNLIKELY(*id == NO_GROUP)) {
				table->rows[table->n_groups] = words[i];
				*id = (uint32_t)++table->n_groups;
			}
			groups[i] = *id - 1;
		}
		return NK_OK;
	}
	for (int64_t i = 0; i < n; i++) {
		if (is_null && is_null[i]) {
			if (table->null_group < 0 && insert) {
				int64_t group = table->n_groups;
				NK_TRY(group_add(table, keys, first + i, words + i, err));
				table->null_group = group;
			}
			groups[i] = (uint32_t)table->null_group;
			continue;
		}
		uint64_t at = (uint64_t)word_value(words[i], shift, is_signed) - base;
		if (at >= n_window) {
			groups[i] = UINT32_MAX;
			continue;
		}
		if (window[at] == NO_GROUP && insert) {
			table->rows[table->n_groups] = words[i];
			window[at] = (uint32_t)++table->n_groups;
		}
		groups[i] = window[at] - 1; /* NO_GROUP becomes UINT32_MAX */
	}
	return NK_OK;
}

/* Rows [first, first + n), at most a block, of any encoding. */
static nk_status block_rows(nk_group_table *table, nk_array *const *keys, int64_t first, int64_t n,
                            bool insert, uint32_t *groups, nk_error *err)
{
	if (insert)
		NK_TRY(nk_group_table_reserve(table, n, err));
	nk_key_encode(&table->layout, keys, first, n, table->words);
	const uint8_t *is_null = NULL;
	if (table->n_keys == 1 && nk_key_nulls(keys, 1, first, n, table->is_null))
		is_null = table->is_null;
	if (table->windowed) {
		bool done;
		NK_TRY(window_rows(table, keys, first, n, is_null, insert, groups, &done, err));
		if (done)
			return NK_OK;
	}
	if (!table->n_slots)
		NK_TRY(slots_reserve(table, n, err));
	return hash_rows(table, keys, first, n, is_null, insert, groups, err);
}

/* ---- Dictionaries ---- */

/* How many combinations of codes there are; 0: not all keys are encoded, or too many combinations. */
static int64_t count_combinations(nk_array *const *keys, int n_keys)
{
	int64_t n = 1;
	for (int k = 0; k < n_keys; k++) {
		if (keys[k]->encoding != NK_DICTIONARY)
			return 0;
		n *= keys[k]->dictionary->n_rows + 1;
		if (n > COMBINATIONS_MAX)
			return 0;
	}
	return n;
}

static nk_status dictionaries_set(nk_group_table *table, nk_array *const *keys, int64_t n_combinations,
                                  nk_error *err)
{
	bool same = table->n_combinations == n_combinations;
	for (int k = 0; k < table->n_keys && same; k++)
		same = table->dictionaries[k] == keys[k]->dictionary;
	if (same)
		return NK_OK;
	NK_TRY(NK_GROW(table->memory, &table->codes_cache, &table->combinations_capacity, n_combinations, err));
	dictionaries_drop(table);
	for (int k = 0; k < table->n_keys; k++)
		table->dictionaries[k] = nk_array_ref(keys[k]->dictionary);
	table->n_combinations = n_combinations;
	memset(table->codes_cache, 0, (size_t)n_combinations * 4);
	return NK_OK;
}

static nk_status dictionary_rows(nk_group_table *table, nk_array *const *keys, int64_t n_rows,
                                 uint32_t *groups, nk_error *err)
{
	for (int64_t first = 0; first < n_rows; first += BLOCK) {
		int64_t n = NK_MIN((int64_t)BLOCK, n_rows - first);
		uint32_t *out = groups + first; /* combinations, then groups */
		for (int k = 0; k < table->n_keys; k++) {
			const uint32_t *codes = (const uint32_t *)keys[k]->values + first;
			uint32_t n_codes = (uint32_t)keys[k]->dictionary->n_rows;
			if (k == 0)
				memcpy(out, codes, (size_t)n * 4);
			else
				for (int64_t i = 0; i < n; i++)
					out[i] = out[i] * (n_codes + 1) + codes[i];
			if (keys[k]->validity)
				for (int64_t i = 0; i < n; i++)
					if (!nk_bitmap_get(keys[k]->validity, first + i))
						out[i] = out[i] - codes[i] + n_codes;
		}
		for (int64_t i = 0; i < n; i++) {
			uint32_t *id = &table->codes_cache[out[i]];
			if (NK_UNLIKELY(*id == NO_GROUP)) {
				uint32_t group;
				NK_TRY(block_rows(table, keys, first + i, 1, true, &group, err));
				*id = group + 1;
			}
			out[i] = *id - 1;
		}
	}
	return NK_OK;
}

static nk_status insert_rows(nk_group_table *table, nk_array *const *keys, int64_t n_rows, uint32_t *groups,
                             nk_error *err)
{
	int64_t n_combinations = count_combinations(keys, table->n_keys);
	if (n_combinations && (n_combinations <= 2 * n_rows || n_combinations <= table->combinations_capacity)) {
		NK_TRY(dictionaries_set(table, keys, n_combinations, err));
		return dictionary_rows(table, keys, n_rows, groups, err);
	}
	table->n_coming = n_rows;
	nk_status status = NK_OK;
	for (int64_t first = 0; first < n_rows && status == NK_OK; first += BLOCK)
		status =
			block_rows(table, keys, first, NK_MIN((int64_t)BLOCK, n_rows - first), true, groups + first, err);
	table->n_coming = 0;
	return status;
}

nk_status nk_group_table_insert(nk_group_table *table, nk_array *const *keys, int64_t n_rows,
                                uint32_t *groups, nk_error *err)
{
	if (!table->has_nested)
		return insert_rows(table, keys, n_rows, groups, err);
	NK_PLAIN_KEYS(plain);
	NK_TRY(nk_plain_keys_of(table->memory, keys, table->n_keys, &plain, err));
	return insert_rows(table, plain.arrays, n_rows, groups, err);
}

nk_status nk_group_table_find(nk_group_table *table, nk_array *const *keys, int64_t n_rows, uint32_t *groups,
                              nk_error *err)
{
	NK_PLAIN_KEYS(plain);
	if (table->has_nested) {
		NK_TRY(nk_plain_keys_of(table->memory, keys, table->n_keys, &plain, err));
		keys = plain.arrays;
	}
	for (int64_t first = 0; first < n_rows; first += BLOCK)
		NK_TRY(block_rows(table, keys, first, NK_MIN((int64_t)BLOCK, n_rows - first), false, groups + first,
		                  err));
	return NK_OK;
}

/* A null lone key hashes like its zeroed word: harmless, and the same everywhere. */
nk_status nk_group_table_hash(nk_group_table *table, nk_array *const *keys, int64_t n_rows, uint64_t *hashes,
                              nk_error *err)
{
	NK_PLAIN_KEYS(plain);
	if (table->has_nested) {
		NK_TRY(nk_plain_keys_of(table->memory, keys, table->n_keys, &plain, err));
		keys = plain.arrays;
	}
	for (int64_t first = 0; first < n_rows; first += BLOCK) {
		int64_t n = NK_MIN((int64_t)BLOCK, n_rows - first);
		nk_key_encode(&table->layout, keys, first, n, table->words);
		nk_key_hash(&table->layout, table->words, n, hashes + first);
	}
	return NK_OK;
}

void nk_group_table_group_hashes(const nk_group_table *table, int64_t first, int64_t n, uint64_t *hashes)
{
	nk_key_hash(&table->layout, table->rows + first * table->layout.n_words, n, hashes);
}

/* ---- Keys out ---- */

static bool row_is_null(const nk_group_table *table, int k, int64_t group)
{
	if (table->n_keys == 1)
		return group == table->null_group;
	const uint8_t *row = (const uint8_t *)(table->rows + group * table->layout.n_words);
	return (row[table->layout.mask_offset + k / 8] >> (k & 7)) & 1;
}

static nk_status key_validity(const nk_group_table *table, int k, int64_t first, int64_t n, nk_buffer **out,
                              int64_t *n_nulls, nk_error *err)
{
	*out = NULL;
	*n_nulls = 0;
	if (table->n_keys == 1 && (table->null_group < first || table->null_group >= first + n))
		return NK_OK;
	for (int64_t i = 0; i < n; i++)
		*n_nulls += row_is_null(table, k, first + i);
	if (!*n_nulls)
		return NK_OK;
	NK_TRY(nk_buffer_new_zeroed(table->memory, nk_bitmap_bytes(n), out, err));
	for (int64_t i = 0; i < n; i++)
		if (!row_is_null(table, k, first + i))
			nk_bitmap_set((*out)->bytes, i);
	return NK_OK;
}

/* Decimals come out in 64 bits when all of them fit. */
static nk_physical key_physical(const nk_group_table *table, int k, int64_t first, int64_t n)
{
	const nk_key_column *column = &table->layout.columns[k];
	if (column->dtype->id != NK_TYPE_DECIMAL)
		return column->dtype->physical;
	for (int64_t i = 0; i < n; i++) {
		const uint64_t *words = table->rows + (first + i) * table->layout.n_words + column->offset / 8;
		if ((int64_t)words[1] != (int64_t)words[0] >> 63)
			return NK_PHYSICAL_I128;
	}
	return NK_PHYSICAL_I64;
}

static void copy_values(uint8_t *out, const uint8_t *in, int64_t n, int width, int64_t stride)
{
	switch (width) {
	case 1:
		for (int64_t i = 0; i < n; i++)
			out[i] = in[i * stride];
		break;
	case 2:
		for (int64_t i = 0; i < n; i++)
			memcpy(out + 2 * i, in + i * stride, 2);
		break;
	case 4:
		for (int64_t i = 0; i < n; i++)
			memcpy(out + 4 * i, in + i * stride, 4);
		break;
	case 8:
		for (int64_t i = 0; i < n; i++)
			memcpy(out + 8 * i, in + i * stride, 8);
		break;
	default:
		for (int64_t i = 0; i < n; i++)
			memcpy(out + 16 * i, in + i * stride, 16);
		break;
	}
}

static void fix_texts(const nk_group_table *table, int k, int64_t first, int64_t n, nk_view *views)
{
	int text = 0;
	for (int c = 0; c < k; c++)
		text += table->layout.columns[c].is_text;
	for (int64_t i = 0; i < n; i++) {
		if (views[i].n_bytes <= NK_VIEW_INLINE)
			continue;
		const nk_text_place *place = &table->places[(first + i) * table->n_texts + text];
		views[i].buffer = place->buffer;
		views[i].offset = place->offset;
	}
}

static void fix_zeros(const nk_group_table *table, int k, int64_t first, int64_t n, void *values, int width)
{
	for (int64_t i = 0; i < n; i++)
		if (k < 64 && (table->negative_zeros[first + i] >> k) & 1) {
			if (width == 8)
				((double *)values)[i] = -0.0;
			else
				((float *)values)[i] = -0.0f;
		}
}

static nk_status key_array(nk_group_table *table, int k, int64_t first, int64_t n, nk_array **out,
                           nk_error *err)
{
	const nk_key_column *column = &table->layout.columns[k];
	if (column->dtype->id == NK_TYPE_NULL)
		return nk_array_new_null(table->memory, column->dtype, n, out, err);
	int64_t stride = table->layout.n_words * 8, n_nulls;
	const uint8_t *in = (const uint8_t *)(table->rows + first * table->layout.n_words) + column->offset;
	nk_physical physical = key_physical(table, k, first, n);
	int width = physical == NK_PHYSICAL_BOOL ? 0 : nk_physical_size(physical);
	NK_AUTO(nk_buffer) values = NULL;
	if (physical == NK_PHYSICAL_BOOL) {
		NK_TRY(nk_buffer_new_zeroed(table->memory, nk_bitmap_bytes(n), &values, err));
		for (int64_t i = 0; i < n; i++)
			if (in[i * stride])
				nk_bitmap_set(values->bytes, i);
	} else {
		NK_TRY(nk_buffer_new(table->memory, n * width, &values, err));
		copy_values(values->bytes, in, n, width, stride);
	}
	NK_AUTO(nk_heap) heap = NULL;
	if (column->is_text) {
		fix_texts(table, k, first, n, (nk_view *)values->bytes);
		NK_TRY(nk_key_texts_heap(&table->texts, &heap, err));
	}
	if (column->is_float)
		fix_zeros(table, k, first, n, values->bytes, width);
	nk_buffer *validity;
	NK_TRY(key_validity(table, k, first, n, &validity, &n_nulls, err));
	return nk_array_new_flat(column->dtype, physical, n, NK_STEAL(values), validity, n_nulls, NK_STEAL(heap),
	                         out, err);
}

static nk_status decoded_key(nk_group_table *table, int k, int64_t first, int64_t n, nk_array **out,
                             nk_error *err)
{
	if (!nk_type_is_nested(table->dtypes[k]->id))
		return key_array(table, k, first, n, out, err);
	NK_AUTO(nk_array) encoded = NULL;
	NK_TRY(key_array(table, k, first, n, &encoded, err));
	return nk_nested_decode(table->memory, encoded, table->dtypes[k], out, err);
}

nk_status nk_group_table_keys(nk_group_table *table, int64_t first, int64_t n, nk_array **out, nk_error *err)
{
	for (int k = 0; k < table->n_keys; k++) {
		nk_status status = decoded_key(table, k, first, n, &out[k], err);
		if (status != NK_OK) {
			while (k-- > 0)
				nk_array_unref(NK_STEAL(out[k]));
			return status;
		}
	}
	return NK_OK;
}
