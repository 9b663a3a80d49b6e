/* One number as the key: pairs of an order-preserving integer and a row are sorted segment by segment, short
 * runs by insertion, then merged without branches on the data. Long segments and other keys go through the
 * general sort, all segments at once where they are short. */
#include "compute/sort_segments.h"

#include "base/watch.h"

#include <string.h>

typedef struct pair {
	uint64_t key;
	uint32_t row;
} pair;

enum {
	RUN = 16,             /* rows sorted by insertion */
	MERGED_MOST = 1 << 14 /* rows of a segment that are merged */
};

bool nk_sort_has_key(const nk_array *array)
{
	if (array->dtype->id == NK_TYPE_CATEGORICAL)
		return false;
	switch (array->physical) {
	case NK_PHYSICAL_I8:
	case NK_PHYSICAL_I16:
	case NK_PHYSICAL_I32:
	case NK_PHYSICAL_I64:
	case NK_PHYSICAL_U8:
	case NK_PHYSICAL_U16:
	case NK_PHYSICAL_U32:
	case NK_PHYSICAL_U64:
	case NK_PHYSICAL_F32:
	case NK_PHYSICAL_F64: return array->encoding == NK_FLAT;
	default: return false;
	}
}

static inline uint64_t key_of_signed(int64_t value) { return (uint64_t)value ^ ((uint64_t)1 << 63); }

static inline uint64_t key_of_double(double value)
{
	if (value != value)
		return UINT64_MAX;
	value += 0.0; /* one zero */
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static inline __attribute__((always_inline)) uint64_t key_at(const void *values, nk_physical physical,
                                                             int64_t row)
{
	switch (physical) {
	case NK_PHYSICAL_I8: return key_of_signed(((const int8_t *)values)[row]);
	case NK_PHYSICAL_I16: return key_of_signed(((const int16_t *)values)[row]);
	case NK_PHYSICAL_I32: return key_of_signed(((const int32_t *)values)[row]);
	case NK_PHYSICAL_I64: return key_of_signed(((const int64_t *)values)[row]);
	case NK_PHYSICAL_U8: return ((const uint8_t *)values)[row];
	case NK_PHYSICAL_U16: return ((const uint16_t *)values)[row];
	case NK_PHYSICAL_U32: return ((const uint32_t *)values)[row];
	case NK_PHYSICAL_U64: return ((const uint64_t *)values)[row];
	case NK_PHYSICAL_F32: return key_of_double(((const float *)values)[row]);
	default: return key_of_double(((const double *)values)[row]);
	}
}

uint64_t nk_sort_key_at(const nk_array *array, int64_t row)
{
	return key_at(array->values, array->physical, row);
}

static void sort_run(pair *pairs, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		pair moving = pairs[i];
		int64_t at = i;
		for (; at > 0 && pairs[at - 1].key > moving.key; at--)
			pairs[at] = pairs[at - 1];
		pairs[at] = moving;
	}
}

static void merge(pair *restrict out, const pair *left, const pair *middle, const pair *end)
{
	const pair *right = middle;
	while (left < middle && right < end) {
		bool take_right = right->key < left->key;
		*out++ = *(take_right ? right : left);
		right += take_right;
		left += !take_right;
	}
	memcpy(out, left, (size_t)(middle - left) * sizeof *out);
	out += middle - left;
	memcpy(out, right, (size_t)(end - right) * sizeof *out);
}

/* The result is in pairs or in scratch, as returned. */
static const pair *sort_pairs(pair *pairs, pair *scratch, int64_t n)
{
	for (int64_t from = 0; from < n; from += RUN)
		sort_run(pairs + from, NK_MIN((int64_t)RUN, n - from));
	for (int64_t width = RUN; width < n; width *= 2) {
		for (int64_t from = 0; from < n; from += 2 * width) {
			int64_t middle = NK_MIN(from + width, n), end = NK_MIN(from + 2 * width, n);
			merge(scratch + from, pairs + from, pairs + middle, pairs + end);
		}
		pair *swap = pairs;
		pairs = scratch;
		scratch = swap;
	}
	return pairs;
}

static void sort_short(const nk_array *array, const uint8_t *validity, const nk_sort_key *spec, int64_t from,
                       int64_t to, pair *pairs, pair *scratch, uint32_t *rows)
{
	uint64_t flip = spec->descending ? UINT64_MAX : 0;
	int64_t n = 0, n_nulls = 0;
	for (int64_t i = from; i < to; i++) {
		pairs[n] = (pair){key_at(array->values, array->physical, i) ^ flip, (uint32_t)i};
		n += !validity || nk_bitmap_get(validity, i);
	}
	for (int64_t i = from; n < to - from && i < to; i++)
		if (!nk_bitmap_get(validity, i))
			rows[spec->nulls_last ? from + n + n_nulls++ : from + n_nulls++] = (uint32_t)i;
	const pair *sorted = sort_pairs(pairs, scratch, n);
	int64_t first = spec->nulls_last ? from : from + n_nulls;
	for (int64_t i = 0; i < n; i++)
		rows[first + i] = sorted[i].row;
}

static nk_status sort_long(nk_memory *memory, nk_array *const *keys, const nk_sort_key *specs, int n_keys,
                           int64_t from, int64_t to, nk_array **pieces, uint32_t *rows, nk_error *err)
{
	nk_status status = NK_OK;
	int n = 0;
	for (; status == NK_OK && n < n_keys; n++)
		status = nk_array_slice(memory, keys[n], from, to - from, &pieces[n], err);
	if (status == NK_OK)
		status = nk_sort_rows(memory, NULL, pieces, specs, n_keys, to - from, rows + from, err);
	for (int64_t i = from; status == NK_OK && i < to; i++)
		rows[i] += (uint32_t)from;
	for (int k = 0; k < n; k++) {
		nk_array_unref(pieces[k]);
		pieces[k] = NULL;
	}
	return status;
}

/* All segments in one sort: the segment is the first key. */
static nk_status sort_together(nk_memory *memory, nk_array *const *keys, const nk_sort_key *specs, int n_keys,
                               int64_t n_segments, const int64_t *offsets, nk_array **all,
                               nk_sort_key *all_specs, uint32_t *rows, nk_error *err)
{
	NK_AUTO(nk_array) numbers = NULL;
	NK_TRY(nk_array_alloc(memory, nk_dtype_of(NK_TYPE_INT64), NK_PHYSICAL_I64, offsets[n_segments], false,
	                      &numbers, err));
	int64_t *number = nk_array_values(numbers);
	for (int64_t s = 0; s < n_segments; s++)
		for (int64_t i = offsets[s]; i < offsets[s + 1]; i++)
			number[i] = s;
	all[0] = numbers;
	all_specs[0] = (nk_sort_key){0};
	for (int k = 0; k < n_keys; k++) {
		all[k + 1] = keys[k];
		all_specs[k + 1] = specs[k];
	}
	return nk_sort_rows(memory, NULL, all, all_specs, n_keys + 1, offsets[n_segments], rows, err);
}

nk_status nk_sort_segments(nk_memory *memory, nk_array *const *keys, const nk_sort_key *specs, int n_keys,
                           int64_t n_segments, const int64_t *offsets, uint32_t *rows, nk_error *err)
{
	int64_t longest = 0;
	for (int64_t s = 0; s < n_segments; s++)
		longest = NK_MAX(longest, offsets[s + 1] - offsets[s]);
	bool is_number = n_keys == 1 && nk_sort_has_key(keys[0]);
	NK_AUTO(nk_buffer) arrays = NULL, *all_specs = NULL, *pairs = NULL;
	NK_TRY(nk_buffer_new_zeroed(memory, (n_keys + 1) * (int64_t)sizeof(nk_array *), &arrays, err));
	nk_array **pieces = (nk_array **)(void *)arrays->bytes;
	if (!is_number && n_segments > 1) {
		NK_TRY(nk_buffer_new(memory, (n_keys + 1) * (int64_t)sizeof(nk_sort_key), &all_specs, err));
		return sort_together(memory, keys, specs, n_keys, n_segments, offsets, pieces,
		                     (nk_sort_key *)(void *)all_specs->bytes, rows, err);
	}
	int64_t room =
		NK_MIN(longest, (int64_t)MERGED_MOST) + 1; /* one is written past the rows that are valid */
	NK_TRY(nk_buffer_new(memory, room * 2 * (int64_t)sizeof(pair), &pairs, err));
	pair *first = (pair *)(void *)pairs->bytes;
	const nk_array *key = keys[0];
	for (int64_t s = 0; s < n_segments; s++) {
		int64_t from = offsets[s], to = offsets[s + 1];
		if ((s & 0xff) == 0)
			NK_TRY(nk_watch_check(err));
		if (is_number && to - from <= MERGED_MOST)
			sort_short(key, key->n_nulls ? key->validity : NULL, &specs[0], from, to, first, first + room,
			           rows);
		else
			NK_TRY(sort_long(memory, keys, specs, n_keys, from, to, pieces, rows, err));
	}
	return NK_OK;
}
