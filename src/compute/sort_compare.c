/* Comparison of two rows, whatever their dtype and encoding: what the radix passes cannot decide, and merges. */
#include "columnar/categories.h"
#include "columnar/scalar.h"
#include "compute/sort.h"

#define COMPARE(T)                                                      \
	do {                                                                \
		T x = ((const T *)a->values)[i], y = ((const T *)b->values)[j]; \
		return (x > y) - (x < y);                                       \
	} while (0)

/* NaN is the largest and equal to itself. */
static int compare_doubles(double x, double y)
{
	if (x < y)
		return -1;
	if (x > y)
		return 1;
	return (x != x) - (y != y);
}

static __int128 read_integer(const nk_array *array, int64_t i)
{
	return array->physical == NK_PHYSICAL_I128 ? ((const __int128 *)array->values)[i]
	                                           : ((const int64_t *)array->values)[i];
}

static int compare_any(const nk_array *a, int64_t i, const nk_array *b, int64_t j);

static int compare_lists(const nk_array *a, int64_t i, const nk_array *b, int64_t j)
{
	const int64_t *at_a = (const int64_t *)a->values + i, *at_b = (const int64_t *)b->values + j;
	int64_t n_a = at_a[1] - at_a[0], n_b = at_b[1] - at_b[0];
	for (int64_t k = 0; k < n_a && k < n_b; k++) {
		int order = compare_any(a->children[0], at_a[0] + k, b->children[0], at_b[0] + k);
		if (order)
			return order;
	}
	return (n_a > n_b) - (n_a < n_b);
}

static int compare_valid(const nk_array *a, int64_t i, const nk_array *b, int64_t j)
{
	if (a->encoding == NK_DICTIONARY) {
		i = ((const uint32_t *)a->values)[i];
		a = a->dictionary;
	} else {
		i = nk_array_index(a, i);
	}
	if (b->encoding == NK_DICTIONARY) {
		j = ((const uint32_t *)b->values)[j];
		b = b->dictionary;
	} else {
		j = nk_array_index(b, j);
	}
	if (a->dtype->id == NK_TYPE_DECIMAL) {
		__int128 x = read_integer(a, i), y = read_integer(b, j);
		return (x > y) - (x < y);
	}
	if (a->dtype->id == NK_TYPE_CATEGORICAL)
		return nk_categories_compare(a->dtype->categories, nk_category_code(a, i), nk_category_code(b, j));
	switch (a->physical) {
	case NK_PHYSICAL_BOOL: return (int)nk_bitmap_get(a->values, i) - (int)nk_bitmap_get(b->values, j);
	case NK_PHYSICAL_I8: COMPARE(int8_t);
	case NK_PHYSICAL_I16: COMPARE(int16_t);
	case NK_PHYSICAL_I32: COMPARE(int32_t);
	case NK_PHYSICAL_I64: COMPARE(int64_t);
	case NK_PHYSICAL_I128: COMPARE(__int128);
	case NK_PHYSICAL_U8: COMPARE(uint8_t);
	case NK_PHYSICAL_U16: COMPARE(uint16_t);
	case NK_PHYSICAL_U32: COMPARE(uint32_t);
	case NK_PHYSICAL_U64: COMPARE(uint64_t);
	case NK_PHYSICAL_F32:
		return compare_doubles(((const float *)a->values)[i], ((const float *)b->values)[j]);
	case NK_PHYSICAL_F64:
		return compare_doubles(((const double *)a->values)[i], ((const double *)b->values)[j]);
	case NK_PHYSICAL_VIEW:
		return nk_view_compare((const nk_view *)a->values + i, a->heap, (const nk_view *)b->values + j,
		                       b->heap);
	case NK_PHYSICAL_LIST: return compare_lists(a, i, b, j);
	case NK_PHYSICAL_STRUCT:
		for (int f = 0; f < a->n_children; f++) {
			int order = compare_any(a->children[f], i, b->children[f], j);
			if (order)
				return order;
		}
		return 0;
	default: return 0;
	}
}

/* Inside nested values nulls come first. */
static int compare_any(const nk_array *a, int64_t i, const nk_array *b, int64_t j)
{
	bool valid_a = nk_array_is_valid(a, i), valid_b = nk_array_is_valid(b, j);
	return valid_a && valid_b ? compare_valid(a, i, b, j) : (int)valid_a - (int)valid_b;
}

int nk_sort_compare(nk_array *const *keys_a, int64_t row_a, nk_array *const *keys_b, int64_t row_b,
                    const nk_sort_key *specs, int n_keys)
{
	for (int k = 0; k < n_keys; k++) {
		bool valid_a = nk_array_is_valid(keys_a[k], row_a), valid_b = nk_array_is_valid(keys_b[k], row_b);
		if (valid_a != valid_b)
			return valid_a == specs[k].nulls_last ? -1 : 1;
		if (!valid_a)
			continue;
		int order = compare_valid(keys_a[k], row_a, keys_b[k], row_b);
		if (order)
			return specs[k].descending ? -order : order;
	}
	return 0;
}

bool nk_sort_is_sorted(nk_array *const *keys, const nk_sort_key *specs, int n_keys, int64_t n_rows)
{
	for (int64_t i = 1; i < n_rows; i++)
		if (nk_sort_compare(keys, i - 1, keys, i, specs, n_keys) > 0)
			return false;
	return true;
}
