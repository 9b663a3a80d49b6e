/* Integers of a small enough range get an exact bitmap: one bit test and no false positives. Anything else gets a
 * Bloom filter of one 64-bit word per key (Putze, Sanders, Singler 2007, blocked to a register): four bits of one
 * word, so that a test is one load. Filters that would not stay in a core's share of cache keep their bounds
 * alone. A filter that passes nearly everything costs more than it saves: it stops testing. */
#include "plan/runtime_filter.h"

#include <string.h>

#include "base/hash.h"
#include "compute/hash.h"
#include "compute/select.h"
#include "plan/runtime_filter_loops.h"

enum {
	BLOCK = NK__FILTER_BLOCK,
	BITMAP_FREE = 1 << 16, /* a bitmap of so many bits is always made */
	BITMAP_SPARSE = 32,    /* bits per key that a larger one may have */
	BITMAP_BYTES_MAX = 8 << 20,
	BLOOM_BYTES_MAX = 8 << 20,
	BITS_PER_KEY = 16,
	TRIAL_ROWS = 1 << 15, /* tested before a filter may be judged useless */
};

struct nk_runtime_filter {
	nk_memory *memory;
	int64_t n_references;
	bool ready, useless; /* atomic */
	bool has_bounds;
	int64_t min, max;
	uint8_t *bitmap; /* bit v - min; whole words */
	int64_t n_bitmap_bytes;
	uint64_t *bloom;
	int64_t n_words;
	int64_t n_tested, n_passed; /* atomic */
};

nk_status nk_runtime_filter_new(nk_memory *memory, nk_runtime_filter **out, nk_error *err)
{
	void *block;
	NK_TRY(nk_alloc(memory, sizeof(nk_runtime_filter), &block, err));
	nk_runtime_filter *filter = block;
	*filter = (nk_runtime_filter){.memory = nk_memory_ref(memory), .n_references = 1};
	*out = filter;
	return NK_OK;
}

nk_runtime_filter *nk_runtime_filter_ref(nk_runtime_filter *filter)
{
	if (filter)
		__atomic_fetch_add(&filter->n_references, 1, __ATOMIC_RELAXED);
	return filter;
}

void nk_runtime_filter_unref(nk_runtime_filter *filter)
{
	if (!filter || __atomic_fetch_sub(&filter->n_references, 1, __ATOMIC_ACQ_REL) != 1)
		return;
	nk_memory *memory = filter->memory;
	nk_free(memory, filter->bitmap, filter->n_bitmap_bytes);
	nk_free(memory, filter->bloom, filter->n_words * 8);
	nk_free(memory, filter, sizeof *filter);
	nk_memory_unref(memory);
}

/* ---- Values ---- */

static bool is_integer(const nk_array *array)
{
	switch (array->physical) {
	case NK_PHYSICAL_I8:
	case NK_PHYSICAL_I16:
	case NK_PHYSICAL_I32:
	case NK_PHYSICAL_I64:
	case NK_PHYSICAL_I128:
	case NK_PHYSICAL_U8:
	case NK_PHYSICAL_U16:
	case NK_PHYSICAL_U32:
	case NK_PHYSICAL_U64: return true;
	default: return false;
	}
}

#define LOAD(T)                                                    \
	do {                                                           \
		const T *values = (const T *)array->values + step * first; \
		for (int64_t i = 0; i < n; i++)                            \
			out[i] = (int64_t)values[step * i];                    \
	} while (0)

/* Integers of rows [first, first + n) of a flat or constant array; wider ones are clamped, and *fits is cleared. */
static void load(const nk_array *array, int64_t first, int64_t n, int64_t *out, bool *fits)
{
	int64_t step = array->encoding == NK_FLAT;
	switch (array->physical) {
	case NK_PHYSICAL_I8: LOAD(int8_t); return;
	case NK_PHYSICAL_I16: LOAD(int16_t); return;
	case NK_PHYSICAL_I32: LOAD(int32_t); return;
	case NK_PHYSICAL_I64: LOAD(int64_t); return;
	case NK_PHYSICAL_U8: LOAD(uint8_t); return;
	case NK_PHYSICAL_U16: LOAD(uint16_t); return;
	case NK_PHYSICAL_U32: LOAD(uint32_t); return;
	case NK_PHYSICAL_U64: {
		const uint64_t *values = (const uint64_t *)array->values + step * first;
		for (int64_t i = 0; i < n; i++) {
			*fits &= values[step * i] <= INT64_MAX;
			out[i] = (int64_t)NK_MIN(values[step * i], (uint64_t)INT64_MAX);
		}
		return;
	}
	default: {
		const __int128 *values = (const __int128 *)array->values + step * first;
		for (int64_t i = 0; i < n; i++) {
			__int128 value = values[step * i];
			*fits &= value == (int64_t)value;
			out[i] = value == (int64_t)value ? (int64_t)value : value < 0 ? INT64_MIN : INT64_MAX;
		}
		return;
	}
	}
}

/* ---- Publishing ---- */

static void find_bounds(nk_runtime_filter *filter, nk_array *const *keys, int n_arrays)
{
	int64_t values[BLOCK], low = INT64_MAX, high = INT64_MIN;
	bool fits = true;
	for (int a = 0; a < n_arrays; a++) {
		if (!is_integer(keys[a]))
			return;
		for (int64_t first = 0; first < keys[a]->n_rows; first += BLOCK) {
			int64_t n = NK_MIN((int64_t)BLOCK, keys[a]->n_rows - first);
			load(keys[a], first, n, values, &fits);
			for (int64_t i = 0; i < n; i++) {
				if (keys[a]->validity && !nk_array_is_valid(keys[a], first + i))
					continue;
				low = values[i] < low ? values[i] : low;
				high = values[i] > high ? values[i] : high;
			}
		}
	}
	filter->has_bounds = fits;
	filter->min = low;
	filter->max = high;
}

static nk_status fill_bitmap(nk_runtime_filter *filter, nk_array *const *keys, int n_arrays, int64_t n_bytes,
                             nk_error *err)
{
	int64_t values[BLOCK];
	bool fits = true;
	NK_TRY(nk_alloc(filter->memory, n_bytes, (void **)&filter->bitmap, err));
	filter->n_bitmap_bytes = n_bytes;
	memset(filter->bitmap, 0, (size_t)n_bytes);
	for (int a = 0; a < n_arrays; a++)
		for (int64_t first = 0; first < keys[a]->n_rows; first += BLOCK) {
			int64_t n = NK_MIN((int64_t)BLOCK, keys[a]->n_rows - first);
			load(keys[a], first, n, values, &fits);
			for (int64_t i = 0; i < n; i++)
				if (!keys[a]->validity || nk_array_is_valid(keys[a], first + i))
					nk_bitmap_set(filter->bitmap, values[i] - filter->min);
		}
	return NK_OK;
}

static nk_status fill_bloom(nk_runtime_filter *filter, nk_array *const *keys, int n_arrays, int64_t n_keys,
                            nk_error *err)
{
	int64_t n_words = NK_MAX(n_keys * BITS_PER_KEY / 64, (int64_t)16);
	if (n_words * 8 > BLOOM_BYTES_MAX)
		return NK_OK;
	NK_TRY(nk_alloc(filter->memory, n_words * 8, (void **)&filter->bloom, err));
	filter->n_words = n_words;
	memset(filter->bloom, 0, (size_t)n_words * 8);
	for (int a = 0; a < n_arrays; a++) {
		NK_AUTO(nk_buffer) hashes = NULL;
		NK_TRY(nk_buffer_new(filter->memory, keys[a]->n_rows * 8, &hashes, err));
		const uint64_t *values = (const uint64_t *)hashes->bytes;
		NK_TRY(
			nk_hash_array(filter->memory, keys[a], keys[a]->n_rows, (uint64_t *)hashes->bytes, false, err));
		for (int64_t i = 0; i < keys[a]->n_rows; i++)
			if (nk_array_is_valid(keys[a], i))
				filter->bloom[nk__bloom_word(values[i], n_words)] |= nk__bloom_bits(values[i]);
	}
	return NK_OK;
}

nk_status nk_runtime_filter_publish(nk_runtime_filter *filter, nk_array *const *given, int n_arrays,
                                    nk_error *err)
{
	NK_AUTO(nk_buffer) block = NULL;
	NK_TRY(nk_buffer_new_zeroed(filter->memory, (n_arrays + 1) * (int64_t)sizeof(nk_array *), &block, err));
	nk_array **keys = (nk_array **)block->bytes;
	int64_t n_keys = 0;
	nk_status status = NK_OK;
	for (int a = 0; a < n_arrays && status == NK_OK; a++) {
		status = nk_array_flatten(filter->memory, given[a], &keys[a], err);
		n_keys += given[a]->n_rows;
	}
	if (status == NK_OK) {
		find_bounds(filter, keys, n_arrays);
		uint64_t span = filter->has_bounds && filter->max >= filter->min
		                    ? (uint64_t)filter->max - (uint64_t)filter->min
		                    : UINT64_MAX;
		if (span < BITMAP_FREE || (span / BITMAP_SPARSE < (uint64_t)n_keys && span / 8 < BITMAP_BYTES_MAX))
			status = fill_bitmap(filter, keys, n_arrays, ((int64_t)span / 64 + 1) * 8, err);
		else if (!(filter->has_bounds && filter->max < filter->min))
			status = fill_bloom(filter, keys, n_arrays, n_keys, err);
	}
	for (int a = 0; a < n_arrays; a++)
		nk_array_unref(keys[a]);
	NK_TRY(status);
	__atomic_store_n(&filter->ready, true, __ATOMIC_RELEASE);
	return NK_OK;
}

bool nk_runtime_filter_is_ready(const nk_runtime_filter *filter)
{
	return __atomic_load_n(&filter->ready, __ATOMIC_ACQUIRE);
}

bool nk_runtime_filter_bounds(const nk_runtime_filter *filter, int64_t *min, int64_t *max)
{
	if (!nk_runtime_filter_is_ready(filter) || !filter->has_bounds)
		return false;
	*min = filter->min;
	*max = filter->max;
	return true;
}

/* ---- Testing ---- */

/* A bit for each of rows [first, first + n) of a flat or constant array, from bit 0: may match. */
static nk_status test_block(const nk_runtime_filter *filter, nk_memory *memory, nk_array *values,
                            int64_t first, int64_t n, uint8_t *passes, nk_error *err)
{
	const nk__filter_loops *loops = NK_ISA_TABLE(nk__runtime_filter);
	int64_t n_bytes = (n + 7) / 8;
	memset(passes, 0xff, (size_t)n_bytes);
	passes[n_bytes - 1] = (uint8_t)(0xff >> (n_bytes * 8 - n));
	if (filter->has_bounds && is_integer(values)) {
		int64_t numbers[BLOCK];
		const int64_t *at = numbers;
		bool fits = true; /* clamped values lie outside of the bounds, or at one: they may match then */
		if (values->encoding == NK_FLAT && values->physical == NK_PHYSICAL_I64)
			at = (const int64_t *)values->values + first;
		else
			load(values, first, n, numbers, &fits);
		if (filter->max < filter->min)
			memset(passes, 0, (size_t)n_bytes);
		else if (filter->bitmap)
			loops->bitmap(passes, at, n, filter->min, filter->max,
			              (const uint64_t *)(const void *)filter->bitmap);
		else
			loops->bounds(passes, at, n, filter->min, filter->max);
	}
	if (filter->bloom && !(passes[0] == 0 && memcmp(passes, passes + 1, (size_t)n_bytes - 1) == 0)) {
		uint64_t hashes[BLOCK];
		NK_AUTO(nk_array) slice = NULL;
		NK_TRY(nk_array_slice(memory, values, first, n, &slice, err));
		NK_TRY(nk_hash_array(memory, slice, n, hashes, false, err));
		loops->bloom(passes, hashes, n, filter->bloom, filter->n_words);
	}
	return NK_OK;
}

/* Dictionaries are tested by entry when that is less work. */
static nk_status test_dictionary(const nk_runtime_filter *filter, nk_memory *memory, nk_array *values,
                                 int64_t n_rows, uint32_t *rows, int64_t *n_selected, nk_error *err)
{
	nk_array *entries = values->dictionary;
	NK_AUTO(nk_buffer) block = NULL;
	NK_TRY(nk_buffer_new(memory, entries->n_rows / 8 + 1, &block, err));
	for (int64_t first = 0; first < entries->n_rows; first += BLOCK)
		NK_TRY(test_block(filter, memory, entries, first, NK_MIN((int64_t)BLOCK, entries->n_rows - first),
		                  block->bytes + first / 8, err));
	const uint32_t *codes = values->values;
	int64_t n = 0;
	for (int64_t i = 0; i < n_rows; i++) {
		rows[n] = (uint32_t)i;
		n += nk_array_is_valid(values, i) && nk_bitmap_get(block->bytes, codes[i]);
	}
	*n_selected = n;
	return NK_OK;
}

static nk_status test_all(const nk_runtime_filter *filter, nk_memory *memory, nk_array *values,
                          int64_t n_rows, uint32_t *rows, int64_t *n_selected, nk_error *err)
{
	NK_AUTO(nk_array) flat = NULL;
	if (values->encoding == NK_DICTIONARY && values->dictionary->n_rows <= n_rows)
		return test_dictionary(filter, memory, values, n_rows, rows, n_selected, err);
	if (values->encoding == NK_DICTIONARY) {
		NK_TRY(nk_array_flatten(memory, values, &flat, err));
		values = flat;
	}
	*n_selected = 0;
	if (values->physical == NK_PHYSICAL_NONE ||
	    (values->encoding == NK_CONSTANT && !nk_array_is_valid(values, 0)))
		return NK_OK;
	NK_AUTO(nk_buffer) passes = NULL;
	NK_TRY(nk_buffer_new(memory, n_rows / 8 + 1, &passes, err));
	for (int64_t first = 0; first < n_rows; first += BLOCK)
		NK_TRY(test_block(filter, memory, values, first, NK_MIN((int64_t)BLOCK, n_rows - first),
		                  passes->bytes + first / 8, err));
	nk_select_bits(passes->bytes, values->encoding == NK_FLAT ? values->validity : NULL, n_rows, rows,
	               n_selected);
	return NK_OK;
}

nk_status nk_runtime_filter_test(nk_runtime_filter *filter, nk_memory *memory, nk_array *values,
                                 int64_t n_rows, uint32_t *rows, int64_t *n_selected, nk_error *err)
{
	if (!nk_runtime_filter_is_ready(filter) || __atomic_load_n(&filter->useless, __ATOMIC_RELAXED)) {
		for (int64_t i = 0; i < n_rows; i++)
			rows[i] = (uint32_t)i;
		*n_selected = n_rows;
		return NK_OK;
	}
	NK_TRY(test_all(filter, memory, values, n_rows, rows, n_selected, err));
	int64_t n_tested = __atomic_add_fetch(&filter->n_tested, n_rows, __ATOMIC_RELAXED);
	int64_t n_passed = __atomic_add_fetch(&filter->n_passed, *n_selected, __ATOMIC_RELAXED);
	if (n_tested >= TRIAL_ROWS && n_passed > n_tested - n_tested / 16)
		__atomic_store_n(&filter->useless, true, __ATOMIC_RELAXED);
	return NK_OK;
}
