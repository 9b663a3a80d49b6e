/* Two rounds, so that any number of tasks can build without locks: first each task encodes and hashes a range of
 * rows and sorts their numbers by partition (high hash bits), then each task fills the slots of one partition,
 * which is a region of its own. Direct addressing gives each task a range of values instead. Rows are put in
 * last first, so that chains ascend. */
#include "compute/join_table.h"

#include "base/hash.h"
#include "compute/nested_keys.h"

enum {
	BLOCK = 1024,
	AHEAD = 64,
	CACHED_BYTES = 1 << 19, /* larger tables are prefetched */
	STEP_BITS = 3,
	PARTITION_BITS = 10,     /* at most */
	ONE_STEP_ROWS = 1 << 16, /* fewer rows are built by one task */
	DIRECT_SPARSE = 8,       /* values per row that direct addressing may have */
	DIRECT_FREE = 1 << 12,
};

struct nk_join_table {
	nk_memory *memory;
	nk_key_layout layout;
	nk_array **keys; /* references */
	int n_keys, n_steps, step_bits;
	int64_t n_rows;
	bool nulls_equal;
	bool is_direct, has_duplicates; /* has_duplicates: atomic while building */
	int64_t base;                   /* direct: value of heads[0] */
	int64_t n_heads;
	uint32_t *heads;
	uint64_t *slots;
	int64_t n_slots, region; /* slots of one step */
	uint64_t *words;         /* n_words a row */
	uint32_t *chain;         /* n_rows + 1 */
	uint32_t null_head;      /* a lone key with nulls_equal */
	/* while building */
	uint64_t *hashes;
	uint32_t *order;   /* rows of each range by step */
	uint32_t *borders; /* n_steps + 1 a range, relative to the range's beginning */
};

static int64_t range_begin(const nk_join_table *table, int step)
{
	return table->n_rows * step / table->n_steps;
}

static inline int64_t word_value(const nk_join_table *table, uint64_t word)
{
	const nk_key_column *column = &table->layout.columns[0];
	int shift = 64 - column->width * 8;
	return nk_type_is_unsigned(column->dtype->id) ? (int64_t)word : (int64_t)(word << shift) >> shift;
}

/* Decide for direct addressing when the values of a lone integer key are dense. */
static void choose_direct(nk_join_table *table)
{
	const nk_key_column *column = &table->layout.columns[0];
	if (table->n_keys != 1 || column->width > 8 || column->is_float || column->is_text ||
	    column->dtype->id == NK_TYPE_NULL)
		return;
	int64_t low = INT64_MAX, high = INT64_MIN;
	uint64_t words[BLOCK];
	uint8_t is_null[BLOCK];
	for (int64_t first = 0; first < table->n_rows; first += BLOCK) {
		int64_t n = NK_MIN((int64_t)BLOCK, table->n_rows - first);
		nk_key_encode(&table->layout, table->keys, first, n, words);
		bool nulls = nk_key_nulls(table->keys, 1, first, n, is_null);
		for (int64_t i = 0; i < n; i++) {
			int64_t value = word_value(table, words[i]);
			if (nulls && is_null[i])
				continue;
			low = value < low ? value : low;
			high = value > high ? value : high;
		}
	}
	uint64_t span = low > high ? 0 : (uint64_t)high - (uint64_t)low;
	if (span >= (uint64_t)table->n_rows * DIRECT_SPARSE + DIRECT_FREE)
		return;
	table->is_direct = true;
	table->base = low > high ? 0 : low;
	table->n_heads = (int64_t)span + 1;
}

nk_status nk_join_table_new(nk_memory *memory, nk_array *const *keys, const nk_dtype *const *probe_dtypes,
                            int n_keys, int64_t n_rows, bool nulls_equal, nk_join_table **out, nk_error *err)
{
	if (n_rows >= UINT32_MAX - 1)
		return nk_fail(err, NK_COMPUTE, "%lld rows are too many for one side of a join held in memory",
		               (long long)n_rows);
	void *block;
	NK_TRY(nk_alloc(memory, sizeof(nk_join_table), &block, err));
	NK_AUTO(nk_join_table) table = block;
	*table = (nk_join_table){
		.memory = nk_memory_ref(memory), .n_keys = n_keys, .n_rows = n_rows, .nulls_equal = nulls_equal};
	NK_PLAIN_KEYS(plain);
	NK_AUTO(nk_buffer) dtypes = NULL;
	NK_TRY(nk_plain_keys_of(memory, keys, n_keys, &plain, err));
	NK_TRY(nk_buffer_new(memory, 2 * n_keys * (int64_t)sizeof(nk_dtype *), &dtypes, err));
	NK_TRY(nk_alloc(memory, n_keys * (int64_t)sizeof *table->keys, (void **)&table->keys, err));
	const nk_dtype **build = (const nk_dtype **)(void *)dtypes->bytes, **probe = build + n_keys;
	for (int k = 0; k < n_keys; k++) {
		table->keys[k] = nk_array_ref(plain.arrays[k]);
		build[k] = plain.arrays[k]->dtype;
		probe[k] = nk_plain_key_dtype(probe_dtypes[k]);
	}
	NK_TRY(nk_key_layout_init(&table->layout, memory, build, probe, n_keys, nulls_equal, err));
	choose_direct(table);
	/* Each step of a direct table reads all keys, so there are few. */
	table->step_bits = n_rows < ONE_STEP_ROWS       ? 0
	                   : !table->is_direct          ? STEP_BITS
	                   : n_rows < 8 * ONE_STEP_ROWS ? 0
	                                                : 2;
	table->n_steps = 1 << table->step_bits;
	NK_TRY(nk_alloc(memory, (n_rows + 1) * 4, (void **)&table->chain, err));
	memset(table->chain, 0, (size_t)(n_rows + 1) * 4);
	if (table->is_direct) {
		NK_TRY(nk_alloc(memory, table->n_heads * 4, (void **)&table->heads, err));
		memset(table->heads, 0, (size_t)table->n_heads * 4);
		*out = NK_STEAL(table);
		return NK_OK;
	}
	int64_t n_slots = 64 * table->n_steps;
	while (n_slots < n_rows * 2)
		n_slots *= 2;
	NK_TRY(nk_alloc(memory, n_slots * 8, (void **)&table->slots, err));
	table->n_slots = n_slots;
	table->region = n_slots / table->n_steps;
	NK_TRY(nk_alloc(memory, n_rows * table->layout.n_words * 8, (void **)&table->words, err));
	NK_TRY(nk_alloc(memory, n_rows * 8, (void **)&table->hashes, err));
	NK_TRY(nk_alloc(memory, n_rows * 4, (void **)&table->order, err));
	NK_TRY(nk_alloc(memory, (table->n_steps + 1) * table->n_steps * 4, (void **)&table->borders, err));
	*out = NK_STEAL(table);
	return NK_OK;
}

static void building_release(nk_join_table *table)
{
	nk_free(table->memory, NK_STEAL(table->hashes), table->n_rows * 8);
	nk_free(table->memory, NK_STEAL(table->order), table->n_rows * 4);
	nk_free(table->memory, NK_STEAL(table->borders), (table->n_steps + 1) * table->n_steps * 4);
}

void nk_join_table_free(nk_join_table *table)
{
	if (!table)
		return;
	nk_memory *memory = table->memory;
	building_release(table);
	for (int k = 0; k < table->n_keys && table->keys; k++)
		nk_array_unref(table->keys[k]);
	nk_free(memory, table->keys, table->n_keys * (int64_t)sizeof *table->keys);
	nk_free(memory, table->heads, table->n_heads * 4);
	nk_free(memory, table->slots, table->n_slots * 8);
	nk_free(memory, table->words, table->n_rows * table->layout.n_words * 8);
	nk_free(memory, table->chain, (table->n_rows + 1) * 4);
	nk_key_layout_release(&table->layout);
	nk_free(memory, table, sizeof *table);
	nk_memory_unref(memory);
}

int nk_join_table_n_steps(const nk_join_table *table) { return table->n_steps; }
bool nk_join_table_is_unique(const nk_join_table *table) { return !table->has_duplicates; }
const uint32_t *nk_join_table_chain(const nk_join_table *table)
{
	return table->has_duplicates ? table->chain : NULL;
}

int64_t nk_join_table_n_bytes(const nk_join_table *table)
{
	return table->n_heads * 4 + table->n_slots * 8 +
	       table->n_rows * (table->words ? table->layout.n_words * 8 : 0) + (table->n_rows + 1) * 4;
}

/* ---- Building ---- */

/* Put a row (counted from 1) before the others with its key. */
static inline void chain_put(nk_join_table *table, uint32_t *head, uint32_t row, bool *duplicates)
{
	*duplicates |= *head != NK_JOIN_NO_ROW;
	table->chain[row] = *head;
	*head = row;
}

static void note_duplicates(nk_join_table *table, bool duplicates)
{
	if (duplicates)
		__atomic_store_n(&table->has_duplicates, true, __ATOMIC_RELAXED);
}

/* Long text of two rows, byte for byte; their words are equal. */
static bool texts_equal(const nk_join_table *table, nk_array *const *keys, int64_t row, int64_t build_row)
{
	for (int k = 0; k < table->n_keys; k++) {
		if (!table->layout.columns[k].is_text || !nk_array_is_valid(keys[k], row))
			continue;
		const nk_heap *heap, *build_heap;
		const nk_view *view = nk_key_view(keys[k], row, &heap);
		const nk_view *build_view = nk_key_view(table->keys[k], build_row, &build_heap);
		if (view->n_bytes > NK_VIEW_INLINE && !nk_view_equal(view, heap, build_view, build_heap))
			return false;
	}
	return true;
}

/* Rows with values in this step's share of the direct range; step 0 takes the nulls. */
static void build_direct(nk_join_table *table, int step)
{
	uint64_t words[BLOCK], low = (uint64_t)(table->n_heads * step / table->n_steps);
	uint64_t span = (uint64_t)(table->n_heads * (step + 1) / table->n_steps) - low;
	uint8_t is_null[BLOCK];
	bool duplicates = false;
	for (int64_t end = table->n_rows; end > 0;) {
		int64_t first = (end - 1) / BLOCK * BLOCK, n = end - first;
		nk_key_encode(&table->layout, table->keys, first, n, words);
		bool nulls = nk_key_nulls(table->keys, 1, first, n, is_null);
		for (int64_t i = n - 1; i >= 0; i--) {
			if (nulls && is_null[i]) {
				if (table->nulls_equal && step == 0)
					chain_put(table, &table->null_head, (uint32_t)(first + i + 1), &duplicates);
				continue;
			}
			uint64_t at = (uint64_t)word_value(table, words[i]) - (uint64_t)table->base;
			if (at - low < span)
				chain_put(table, &table->heads[at], (uint32_t)(first + i + 1), &duplicates);
		}
		end = first;
	}
	note_duplicates(table, duplicates);
}

/* The topmost bits are the same for all rows when they are one partition of a larger side. */
static inline int step_of(const nk_join_table *table, uint64_t hash)
{
	return (int)(hash >> (64 - PARTITION_BITS - table->step_bits)) & ((1 << table->step_bits) - 1);
}

/* Null rows are given the hash of a zeroed key; they are told apart when put in. */
static void encode_range(nk_join_table *table, int step)
{
	int64_t begin = range_begin(table, step), end = range_begin(table, step + 1);
	uint32_t *borders = table->borders + step * (table->n_steps + 1), next[1 << STEP_BITS];
	memset(table->slots + table->region * step, 0, (size_t)table->region * 8);
	memset(borders, 0, (size_t)(table->n_steps + 1) * 4);
	for (int64_t first = begin; first < end; first += BLOCK) {
		int64_t n = NK_MIN((int64_t)BLOCK, end - first);
		uint64_t *words = table->words + first * table->layout.n_words;
		nk_key_encode(&table->layout, table->keys, first, n, words);
		nk_key_hash(&table->layout, words, n, table->hashes + first);
		for (int64_t i = 0; i < n; i++)
			borders[step_of(table, table->hashes[first + i]) + 1]++;
	}
	for (int s = 0; s < table->n_steps; s++) {
		next[s] = borders[s];
		borders[s + 1] += borders[s];
	}
	for (int64_t row = begin; row < end; row++)
		table->order[begin + next[step_of(table, table->hashes[row])]++] = (uint32_t)row;
}

static inline __attribute__((always_inline)) bool words_equal(const uint64_t *a, const uint64_t *b,
                                                              int n_words)
{
	uint64_t different = 0;
	for (int w = 0; w < n_words; w++)
		different |= a[w] ^ b[w];
	return different == 0;
}

/* Slot of a hash within the region of its step. */
static inline uint64_t slot_begin(const nk_join_table *table, uint64_t hash)
{
	return (uint64_t)step_of(table, hash) * (uint64_t)table->region;
}

static bool row_has_null(const nk_join_table *table, int64_t row)
{
	for (int k = 0; k < table->n_keys; k++)
		if (!nk_array_is_valid(table->keys[k], row))
			return true;
	return false;
}

static nk_status build_region(nk_join_table *table, int step, nk_error *err)
{
	int n_words = table->layout.n_words;
	uint64_t *slots = table->slots + table->region * step, mask = (uint64_t)table->region - 1;
	bool duplicates = false, may_null = false;
	int64_t n_used = 0;
	for (int k = 0; k < table->n_keys; k++)
		may_null |= table->keys[k]->validity || table->keys[k]->physical == NK_PHYSICAL_NONE;
	bool lone = table->n_keys == 1;
	for (int range = table->n_steps - 1; range >= 0; range--) {
		const uint32_t *borders = table->borders + range * (table->n_steps + 1);
		const uint32_t *order = table->order + range_begin(table, range);
		for (int64_t at = (int64_t)borders[step + 1] - 1; at >= borders[step]; at--) {
			int64_t row = order[at];
			if (at >= (int64_t)borders[step] + AHEAD)
				__builtin_prefetch(&slots[table->hashes[order[at - AHEAD]] & mask], 1);
			if (may_null && (lone || !table->nulls_equal) && row_has_null(table, row)) {
				if (table->nulls_equal)
					chain_put(table, &table->null_head, (uint32_t)(row + 1), &duplicates);
				continue;
			}
			uint64_t hash = table->hashes[row], slot = hash & mask;
			for (;; slot = (slot + 1) & mask) {
				uint64_t entry = slots[slot];
				if (entry == 0) {
					if (++n_used == table->region)
						return nk_fail(err, NK_COMPUTE,
						               "the keys of a join fall too unevenly into its table");
					slots[slot] = (hash & ~0xffffffffull) | (uint64_t)(row + 1);
					break;
				}
				if ((entry ^ hash) >> 32)
					continue;
				int64_t other = (int64_t)(uint32_t)entry - 1;
				if (words_equal(table->words + other * n_words, table->words + row * n_words, n_words) &&
				    (!table->layout.has_text || texts_equal(table, table->keys, row, other))) {
					duplicates = true;
					table->chain[row + 1] = (uint32_t)entry;
					slots[slot] = (hash & ~0xffffffffull) | (uint64_t)(row + 1);
					break;
				}
			}
		}
	}
	note_duplicates(table, duplicates);
	return NK_OK;
}

nk_status nk_join_table_build(nk_join_table *table, int round, int step, nk_error *err)
{
	if (table->is_direct) {
		if (round == 1)
			build_direct(table, step);
		return NK_OK;
	}
	if (round == 1)
		return build_region(table, step, err);
	encode_range(table, step);
	return NK_OK;
}

/* ---- Probing ---- */

static int64_t probe_direct(const nk_join_table *table, const uint64_t *words, int64_t n, uint32_t *heads)
{
	uint64_t base = (uint64_t)table->base, n_heads = (uint64_t)table->n_heads;
	const uint32_t *all = table->heads;
	const nk_key_column *column = &table->layout.columns[0];
	int shift = 64 - column->width * 8;
	int64_t n_found = 0;
	if (nk_type_is_unsigned(column->dtype->id))
		shift = 0;
	for (int64_t i = 0; i < n; i++) {
		uint64_t at = (uint64_t)((int64_t)(words[i] << shift) >> shift) - base;
		uint32_t head = at < n_heads ? all[at] : NK_JOIN_NO_ROW;
		heads[i] = head;
		n_found += head != NK_JOIN_NO_ROW;
	}
	return n_found;
}

static inline __attribute__((always_inline)) int64_t probe_hashed(const nk_join_table *table,
                                                                  nk_array *const *keys, int64_t first,
                                                                  const uint64_t *words,
                                                                  const uint64_t *hashes, int64_t n,
                                                                  uint32_t *heads, int n_words)
{
	const uint64_t *slots = table->slots;
	uint64_t mask = (uint64_t)table->region - 1;
	bool is_large = table->n_slots * 8 > CACHED_BYTES, has_text = table->layout.has_text;
	int64_t n_found = 0;
	for (int64_t begin = 0; begin < n; begin += AHEAD) {
		int64_t end = NK_MIN(begin + AHEAD, n);
		if (is_large) {
			for (int64_t i = begin; i < end; i++)
				__builtin_prefetch(&slots[slot_begin(table, hashes[i]) + (hashes[i] & mask)]);
			for (int64_t i = begin; i < end; i++) {
				uint64_t entry = slots[slot_begin(table, hashes[i]) + (hashes[i] & mask)];
				if ((entry ^ hashes[i]) >> 32 == 0 && entry)
					__builtin_prefetch(table->words + ((int64_t)(uint32_t)entry - 1) * n_words);
			}
		}
		for (int64_t i = begin; i < end; i++) {
			const uint64_t *region = slots + slot_begin(table, hashes[i]);
			uint64_t slot = hashes[i] & mask, entry;
			heads[i] = NK_JOIN_NO_ROW;
			for (; (entry = region[slot]) != 0; slot = (slot + 1) & mask) {
				if ((entry ^ hashes[i]) >> 32)
					continue;
				int64_t row = (int64_t)(uint32_t)entry - 1;
				if (words_equal(table->words + row * n_words, words + i * n_words, n_words) &&
				    (!has_text || texts_equal(table, keys, first + i, row))) {
					heads[i] = (uint32_t)entry;
					n_found++;
					break;
				}
			}
		}
	}
	return n_found;
}

static int64_t probe_block(const nk_join_table *table, nk_array *const *keys, int64_t first, int64_t n,
                           uint64_t *words, uint64_t *hashes, uint32_t *heads)
{
	nk_key_encode(&table->layout, keys, first, n, words);
	if (table->is_direct)
		return probe_direct(table, words, n, heads);
	nk_key_hash(&table->layout, words, n, hashes);
	switch (table->layout.n_words) {
	case 1: return probe_hashed(table, keys, first, words, hashes, n, heads, 1);
	case 2: return probe_hashed(table, keys, first, words, hashes, n, heads, 2);
	default: return probe_hashed(table, keys, first, words, hashes, n, heads, table->layout.n_words);
	}
}

nk_status nk_join_table_probe(const nk_join_table *table, nk_memory *memory, nk_array *const *keys,
                              int64_t n_rows, uint32_t *heads, int64_t *n_found, nk_error *err)
{
	*n_found = 0;
	if (table->n_rows == 0) {
		memset(heads, 0, (size_t)n_rows * 4);
		return NK_OK;
	}
	NK_AUTO(nk_buffer) words = NULL;
	NK_PLAIN_KEYS(plain);
	NK_TRY(nk_plain_keys_of(memory, keys, table->n_keys, &plain, err));
	keys = plain.arrays;
	NK_TRY(nk_buffer_new(memory, (int64_t)BLOCK * table->layout.n_words * 8, &words, err));
	uint64_t hashes[BLOCK];
	uint8_t is_null[BLOCK];
	for (int64_t first = 0; first < n_rows; first += BLOCK) {
		int64_t n = NK_MIN((int64_t)BLOCK, n_rows - first);
		uint32_t *out = heads + first;
		*n_found += probe_block(table, keys, first, n, (uint64_t *)words->bytes, hashes, out);
		if (table->nulls_equal && table->n_keys > 1)
			continue; /* the mask in the words has told nulls */
		if (!nk_key_nulls(keys, table->n_keys, first, n, is_null))
			continue;
		for (int64_t i = 0; i < n; i++) {
			if (!is_null[i])
				continue;
			*n_found -= out[i] != NK_JOIN_NO_ROW;
			out[i] = table->nulls_equal ? table->null_head : NK_JOIN_NO_ROW;
			*n_found += out[i] != NK_JOIN_NO_ROW;
		}
	}
	return NK_OK;
}
