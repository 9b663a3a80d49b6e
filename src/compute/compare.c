/* Dispatch by physical type. Text against one short constant is two word compares a row; other text compares the
 * four prefix bytes first and follows pointers only where they tie. */
#include "compute/compare.h"

#include "columnar/categories.h"

#include "compute/decimal.h"

static bool holds(nk_compare_op op, int order)
{
	switch (op) {
	case NK_EQ: return order == 0;
	case NK_NE: return order != 0;
	case NK_LT: return order < 0;
	case NK_LE: return order <= 0;
	case NK_GT: return order > 0;
	default: return order >= 0;
	}
}

static uint32_t prefix_of(const nk_view *view)
{
	uint32_t prefix;
	memcpy(&prefix, view->prefix, 4);
	return __builtin_bswap32(prefix);
}

/* Unused prefix bytes are zero, so that a differing prefix decides even for shorter texts. */
static int compare_views(const nk_view *a, const nk_heap *heap_a, const nk_view *b, const nk_heap *heap_b)
{
	uint32_t prefix_a = prefix_of(a), prefix_b = prefix_of(b);
	if (prefix_a != prefix_b)
		return prefix_a < prefix_b ? -1 : 1;
	return nk_view_compare(a, heap_a, b, heap_b);
}

static void compare_text(nk_compare_op op, const nk_array *left, const nk_array *right, int64_t n_rows,
                         uint8_t *bits)
{
	const nk_view *a = left->values, *b = right->values;
	bool is_equality = op == NK_EQ || op == NK_NE;
	const nk_array *one = right->encoding == NK_CONSTANT  ? right
	                      : left->encoding == NK_CONSTANT ? left
	                                                      : NULL;
	if (one && is_equality && ((const nk_view *)one->values)->n_bytes <= NK_VIEW_INLINE) {
		const nk_array *many = one == right ? left : right;
		NK_ISA_TABLE(nk__compare)->short_views(bits, many->values, one->values, n_rows, op == NK_EQ);
		return;
	}
	memset(bits, 0, (size_t)nk_bitmap_bytes(n_rows));
	int step_a = left->encoding != NK_CONSTANT, step_b = right->encoding != NK_CONSTANT;
	for (int64_t i = 0; i < n_rows; i++) {
		bool yes =
			is_equality
				? nk_view_equal(&a[i * step_a], left->heap, &b[i * step_b], right->heap) == (op == NK_EQ)
				: holds(op, compare_views(&a[i * step_a], left->heap, &b[i * step_b], right->heap));
		bits[i >> 3] |= (uint8_t)(yes << (i & 7));
	}
}

static void compare_bits(nk_compare_op op, const nk_array *left, const nk_array *right, int64_t n_rows,
                         uint8_t *bits)
{
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t a = left->encoding != NK_CONSTANT    ? nk_bitmap_word(left->values, i, n_rows)
		             : nk_bitmap_get(left->values, 0) ? UINT64_MAX
		                                              : 0;
		uint64_t b = right->encoding != NK_CONSTANT    ? nk_bitmap_word(right->values, i, n_rows)
		             : nk_bitmap_get(right->values, 0) ? UINT64_MAX
		                                               : 0;
		uint64_t word = op == NK_EQ   ? ~(a ^ b)
		                : op == NK_NE ? a ^ b
		                : op == NK_LT ? ~a & b
		                : op == NK_LE ? ~a | b
		                : op == NK_GT ? a & ~b
		                              : a | ~b;
		int64_t left_over = n_rows - i;
		if (left_over < 64)
			word &= ((uint64_t)1 << left_over) - 1;
		memcpy(bits + (i >> 3), &word, (size_t)nk_bitmap_bytes(left_over < 64 ? left_over : 64));
	}
}

static void compare_nested(nk_compare_op op, const nk_array *left, const nk_array *right, int64_t n_rows,
                           uint8_t *bits)
{
	memset(bits, 0, (size_t)nk_bitmap_bytes(n_rows));
	for (int64_t i = 0; i < n_rows; i++)
		if (nk_rows_equal(left, i, right, i) == (op == NK_EQ))
			nk_bitmap_set(bits, i);
}

void nk_compare(nk_compare_op op, const nk_array *left, const nk_array *right, int64_t n_rows, uint8_t *bits)
{
	if (n_rows == 0)
		return;
	switch (left->physical) {
	case NK_PHYSICAL_NONE: memset(bits, 0, (size_t)nk_bitmap_bytes(n_rows)); return;
	case NK_PHYSICAL_BOOL: compare_bits(op, left, right, n_rows, bits); return;
	case NK_PHYSICAL_VIEW: compare_text(op, left, right, n_rows, bits); return;
	case NK_PHYSICAL_LIST:
	case NK_PHYSICAL_STRUCT: compare_nested(op, left, right, n_rows, bits); return;
	default: break;
	}
	nk_shape shape = left->encoding == NK_CONSTANT    ? NK_SCALAR_VECTOR
	                 : right->encoding == NK_CONSTANT ? NK_VECTOR_SCALAR
	                                                  : NK_VECTOR_VECTOR;
	if (shape == NK_SCALAR_VECTOR && right->encoding == NK_CONSTANT) {
		/* Two constants: one comparison stands for all rows. */
		uint8_t one;
		NK_ISA_TABLE(nk__compare)
			->fixed[left->physical](&one, left->values, right->values, 1, op, NK_VECTOR_VECTOR);
		memset(bits, 0, (size_t)nk_bitmap_bytes(n_rows));
		nk_bitmap_fill(bits, 0, n_rows, one & 1);
		return;
	}
	NK_ISA_TABLE(nk__compare)->fixed[left->physical](bits, left->values, right->values, n_rows, op, shape);
}

/* ---- Row by row ---- */

/* The flat array and position behind a row of any encoding. */
static const nk_array *locate(const nk_array *array, int64_t *row)
{
	*row = nk_array_index(array, *row);
	if (array->encoding != NK_DICTIONARY)
		return array;
	*row = ((const uint32_t *)array->values)[*row];
	return array->dictionary;
}

static __int128 integer_at(const nk_array *array, int64_t i)
{
	const void *values = array->values;
	switch (array->physical) {
	case NK_PHYSICAL_BOOL: return nk_bitmap_get(values, i);
	case NK_PHYSICAL_I8: return ((const int8_t *)values)[i];
	case NK_PHYSICAL_I16: return ((const int16_t *)values)[i];
	case NK_PHYSICAL_I32: return ((const int32_t *)values)[i];
	case NK_PHYSICAL_I64: return ((const int64_t *)values)[i];
	case NK_PHYSICAL_I128: return ((const __int128 *)values)[i];
	case NK_PHYSICAL_U8: return ((const uint8_t *)values)[i];
	case NK_PHYSICAL_U16: return ((const uint16_t *)values)[i];
	case NK_PHYSICAL_U32: return ((const uint32_t *)values)[i];
	case NK_PHYSICAL_U64: return ((const uint64_t *)values)[i];
	default: return 0;
	}
}

static double float_at(const nk_array *array, int64_t i)
{
	return array->physical == NK_PHYSICAL_F32 ? (double)((const float *)array->values)[i]
	                                          : ((const double *)array->values)[i];
}

int nk_rows_compare(const nk_array *left, int64_t row_left, const nk_array *right, int64_t row_right)
{
	const nk_array *a = locate(left, &row_left), *b = locate(right, &row_right);
	if (a->physical == NK_PHYSICAL_VIEW)
		return compare_views((const nk_view *)a->values + row_left, a->heap,
		                     (const nk_view *)b->values + row_right, b->heap);
	if (a->physical == NK_PHYSICAL_F32 || a->physical == NK_PHYSICAL_F64) {
		double x = float_at(a, row_left), y = float_at(b, row_right);
		if (x != x || y != y)
			return (x != x) - (y != y);
		return (x > y) - (x < y);
	}
	if (a->dtype->id == NK_TYPE_CATEGORICAL)
		return nk_categories_compare(a->dtype->categories, nk_category_code(a, row_left),
		                             nk_category_code(b, row_right));
	__int128 x = integer_at(a, row_left), y = integer_at(b, row_right);
	return (x > y) - (x < y);
}

static bool lists_equal(const nk_array *a, int64_t row_a, const nk_array *b, int64_t row_b)
{
	const int64_t *from_a = (const int64_t *)a->values + row_a, *from_b = (const int64_t *)b->values + row_b;
	int64_t n = from_a[1] - from_a[0];
	if (n != from_b[1] - from_b[0])
		return false;
	for (int64_t i = 0; i < n; i++)
		if (!nk_rows_equal(a->children[0], from_a[0] + i, b->children[0], from_b[0] + i))
			return false;
	return true;
}

bool nk_rows_equal(const nk_array *left, int64_t row_left, const nk_array *right, int64_t row_right)
{
	bool valid_left = nk_array_is_valid(left, row_left), valid_right = nk_array_is_valid(right, row_right);
	if (!valid_left || !valid_right)
		return valid_left == valid_right;
	const nk_array *a = locate(left, &row_left), *b = locate(right, &row_right);
	switch (a->physical) {
	case NK_PHYSICAL_VIEW:
		return nk_view_equal((const nk_view *)a->values + row_left, a->heap,
		                     (const nk_view *)b->values + row_right, b->heap);
	case NK_PHYSICAL_LIST: return lists_equal(a, row_left, b, row_right);
	case NK_PHYSICAL_STRUCT:
		for (int i = 0; i < a->n_children; i++)
			if (!nk_rows_equal(a->children[i], row_left, b->children[i], row_right))
				return false;
		return true;
	default: return nk_rows_compare(a, row_left, b, row_right) == 0;
	}
}

/* ---- Decimals of different scales ---- */

static const __int128 WIDEST = (__int128)(((unsigned __int128)1 << 127) - 1);

/* Values at a larger scale, in 64 bits where bounds allow; beyond 128 bits they saturate, which keeps the order. */
static nk_status scale_up(nk_memory *memory, nk_array *array, int scale, nk_array **out, nk_error *err)
{
	bool is_constant = array->encoding == NK_CONSTANT;
	int64_t n = is_constant ? 1 : array->n_rows;
	int exponent = scale - array->dtype->scale;
	const nk_dtype *dtype = nk_dtype_decimal(38, scale);
	__int128 factor = nk_power_of_ten(exponent);
	NK_AUTO(nk_array) result = NULL;
	bool narrow = array->physical == NK_PHYSICAL_I64 && exponent <= 18 &&
	              nk_decimal_bits(array->values, n) + 64 - __builtin_clzll((uint64_t)factor) <= 63;
	NK_TRY(
		nk_array_alloc(memory, dtype, narrow ? NK_PHYSICAL_I64 : NK_PHYSICAL_I128, n, false, &result, err));
	if (narrow) {
		int64_t *to = nk_array_values(result), by = (int64_t)factor;
		const int64_t *from = array->values;
		for (int64_t i = 0; i < n; i++)
			to[i] = from[i] * by;
	} else {
		__int128 *to = nk_array_values(result);
		for (int64_t i = 0; i < n; i++) {
			__int128 value = integer_at(array, i);
			if (__builtin_mul_overflow(value, factor, &to[i]))
				to[i] = value < 0 ? -WIDEST : WIDEST;
		}
	}
	if (is_constant)
		return nk_array_new_constant(memory, result, array->n_rows, out, err);
	*out = NK_STEAL(result);
	return NK_OK;
}

nk_status nk_decimal_align(nk_memory *memory, nk_array *left, nk_array *right, nk_array **out_left,
                           nk_array **out_right, nk_error *err)
{
	int scale_left = left->dtype->scale, scale_right = right->dtype->scale;
	NK_AUTO(nk_array) a = nk_array_ref(left);
	NK_AUTO(nk_array) b = nk_array_ref(right);
	if (scale_left < scale_right) {
		nk_array_unref(NK_STEAL(a));
		NK_TRY(scale_up(memory, left, scale_right, &a, err));
	} else if (scale_right < scale_left) {
		nk_array_unref(NK_STEAL(b));
		NK_TRY(scale_up(memory, right, scale_left, &b, err));
	}
	if (a->physical == b->physical) {
		*out_left = NK_STEAL(a);
		*out_right = NK_STEAL(b);
		return NK_OK;
	}
	NK_AUTO(nk_array) wide_a = NULL;
	NK_TRY(nk_array_widen_decimal(memory, a, &wide_a, err));
	NK_TRY(nk_array_widen_decimal(memory, b, out_right, err));
	*out_left = NK_STEAL(wide_a);
	return NK_OK;
}
