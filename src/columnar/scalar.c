/* Single values in and out of arrays. */
#include "columnar/scalar.h"

#include "columnar/categories.h"

nk_scalar nk_scalar_read(const nk_array *array, int64_t row)
{
	nk_scalar scalar = {.dtype = array->dtype, .is_null = !nk_array_is_valid(array, row)};
	if (scalar.is_null)
		return scalar;
	int64_t i = nk_array_index(array, row);
	const nk_array *from = array;
	if (array->encoding == NK_DICTIONARY) {
		from = array->dictionary;
		i = ((const uint32_t *)array->values)[i];
	}
	const void *values = from->values;
	switch (from->physical) {
	case NK_PHYSICAL_BOOL: scalar.boolean = nk_bitmap_get(values, i); break;
	case NK_PHYSICAL_I8: scalar.integer = ((const int8_t *)values)[i]; break;
	case NK_PHYSICAL_I16: scalar.integer = ((const int16_t *)values)[i]; break;
	case NK_PHYSICAL_I32: scalar.integer = ((const int32_t *)values)[i]; break;
	case NK_PHYSICAL_I64: scalar.integer = ((const int64_t *)values)[i]; break;
	case NK_PHYSICAL_I128: scalar.integer = ((const __int128 *)values)[i]; break;
	case NK_PHYSICAL_U8: scalar.integer = ((const uint8_t *)values)[i]; break;
	case NK_PHYSICAL_U16: scalar.integer = ((const uint16_t *)values)[i]; break;
	case NK_PHYSICAL_U32: scalar.integer = ((const uint32_t *)values)[i]; break;
	case NK_PHYSICAL_U64: scalar.integer = ((const uint64_t *)values)[i]; break;
	case NK_PHYSICAL_F32: scalar.floating = (double)((const float *)values)[i]; break;
	case NK_PHYSICAL_F64: scalar.floating = ((const double *)values)[i]; break;
	case NK_PHYSICAL_VIEW:
		scalar.bytes = nk_view_bytes((const nk_view *)values + i, from->heap);
		scalar.n_bytes = ((const nk_view *)values)[i].n_bytes;
		break;
	default: scalar.nested = array->encoding == NK_CONSTANT ? (nk_array *)array : NULL; break;
	}
	return scalar;
}

static void store_integer(void *out, nk_physical physical, __int128 value)
{
	switch (physical) {
	case NK_PHYSICAL_I8:
	case NK_PHYSICAL_U8: *(uint8_t *)out = (uint8_t)value; break;
	case NK_PHYSICAL_I16:
	case NK_PHYSICAL_U16: *(uint16_t *)out = (uint16_t)value; break;
	case NK_PHYSICAL_I32:
	case NK_PHYSICAL_U32: *(uint32_t *)out = (uint32_t)value; break;
	case NK_PHYSICAL_I64:
	case NK_PHYSICAL_U64: *(uint64_t *)out = (uint64_t)value; break;
	default: *(__int128 *)out = value; break;
	}
}

nk_status nk_array_from_scalar(nk_memory *memory, const nk_scalar *scalar, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	const nk_dtype *dtype = scalar->dtype;
	if (scalar->is_null)
		return nk_array_new_null(memory, dtype, n_rows, out, err);
	nk_physical physical = dtype->physical;
	if (dtype->id == NK_TYPE_DECIMAL && scalar->integer == (int64_t)scalar->integer)
		physical = NK_PHYSICAL_I64;
	NK_AUTO(nk_buffer) values = NULL;
	NK_AUTO(nk_heap) heap = NULL;
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(nk_buffer_new_zeroed(memory, 16, &values, err));
	switch (physical) {
	case NK_PHYSICAL_BOOL: values->bytes[0] = scalar->boolean; break;
	case NK_PHYSICAL_F32: *(float *)(void *)values->bytes = (float)scalar->floating; break;
	case NK_PHYSICAL_F64: *(double *)(void *)values->bytes = scalar->floating; break;
	case NK_PHYSICAL_VIEW:
		if (scalar->n_bytes > INT32_MAX)
			return nk_fail(err, NK_COMPUTE, "a string of %lld bytes; the limit is 2 GiB",
			               (long long)scalar->n_bytes);
		*(nk_view *)(void *)values->bytes = nk_view_make(scalar->bytes, (uint32_t)scalar->n_bytes, 0, 0);
		if (scalar->n_bytes > NK_VIEW_INLINE) {
			nk_buffer *bytes;
			NK_TRY(nk_buffer_new(memory, scalar->n_bytes, &bytes, err));
			memcpy(bytes->bytes, scalar->bytes, (size_t)scalar->n_bytes);
			NK_TRY(nk_heap_new(&bytes, 1, &heap, err));
		}
		break;
	case NK_PHYSICAL_NONE:
	case NK_PHYSICAL_LIST:
	case NK_PHYSICAL_STRUCT:
		return nk_fail(err, NK_INVALID_OPERATION, "a value of %s cannot be made from a scalar", dtype->text);
	default: store_integer(values->bytes, physical, scalar->integer); break;
	}
	NK_TRY(
		nk_array_new_flat(dtype, physical, n_rows, NK_STEAL(values), NULL, 0, NK_STEAL(heap), &array, err));
	array->encoding = NK_CONSTANT;
	*out = NK_STEAL(array);
	return NK_OK;
}

int nk_scalar_compare(const nk_scalar *a, const nk_scalar *b)
{
	switch (a->dtype->id) {
	case NK_TYPE_CATEGORICAL:
		return nk_categories_compare(a->dtype->categories, (uint64_t)a->integer, (uint64_t)b->integer);
	case NK_TYPE_BOOLEAN: return (int)a->boolean - (int)b->boolean;
	case NK_TYPE_FLOAT32:
	case NK_TYPE_FLOAT64: {
		bool nan_a = a->floating != a->floating, nan_b = b->floating != b->floating;
		if (nan_a || nan_b)
			return (int)nan_a - (int)nan_b;
		return (a->floating > b->floating) - (a->floating < b->floating);
	}
	case NK_TYPE_STRING:
	case NK_TYPE_BINARY: {
		int order = memcmp(a->bytes, b->bytes, (size_t)NK_MIN(a->n_bytes, b->n_bytes));
		return order ? order : (a->n_bytes > b->n_bytes) - (a->n_bytes < b->n_bytes);
	}
	default: return (a->integer > b->integer) - (a->integer < b->integer);
	}
}
