/* Checks every invariant of arrays and batches: run between operators in debug builds, and on data that came from
 * outside. Sizes are checked against the buffers where there are any; values whose invariant is readable (views,
 * codes, offsets) are read one by one. */
#include "columnar/batch.h"

static nk_status bad(nk_error *err, const nk_array *array, const char *what)
{
	return nk_fail(err, NK_COMPUTE, "an invalid array of %s: %s", array->dtype->text, what);
}

/* Whether n_bytes from `at` on lie inside a buffer. */
static bool inside(const nk_buffer *buffer, const void *at, int64_t n_bytes)
{
	if (n_bytes == 0)
		return true;
	if (!buffer || !at)
		return false;
	const uint8_t *begin = at;
	return begin >= buffer->bytes && n_bytes <= buffer->n_bytes - (begin - buffer->bytes);
}

static nk_status validate_views(const nk_array *array, int64_t n_stored, nk_error *err)
{
	const nk_view *views = array->values;
	for (int64_t i = 0; i < n_stored; i++) {
		const nk_view *view = &views[i];
		if (view->n_bytes <= NK_VIEW_INLINE) {
			for (uint32_t b = view->n_bytes; b < NK_VIEW_INLINE; b++)
				if (view->inlined[b])
					return bad(err, array, "bytes after a short string are not zero");
			continue;
		}
		if (!array->heap || view->buffer >= (uint32_t)array->heap->n_buffers)
			return bad(err, array, "a string lies in a buffer that is not there");
		const nk_buffer *buffer = array->heap->buffers[view->buffer];
		if ((int64_t)view->offset + view->n_bytes > buffer->n_bytes)
			return bad(err, array, "a string ends behind its buffer");
		if (memcmp(buffer->bytes + view->offset, view->prefix, sizeof view->prefix) != 0)
			return bad(err, array, "the prefix of a string differs from its bytes");
	}
	return NK_OK;
}

static nk_status validate_codes(const nk_array *array, nk_error *err)
{
	const nk_array *dictionary = array->dictionary;
	if (!dictionary)
		return bad(err, array, "dictionary-encoded without a dictionary");
	if (dictionary->encoding != NK_FLAT || nk_array_count_nulls(dictionary) > 0)
		return bad(err, array, "a dictionary must be flat and without nulls");
	if (dictionary->dtype != array->dtype || dictionary->physical != array->physical)
		return bad(err, array, "the dictionary has another type");
	NK_TRY(nk_array_validate(dictionary, err));
	if (!inside(array->values_buffer, array->values, array->n_rows * (int64_t)sizeof(uint32_t)))
		return bad(err, array, "too few codes");
	if (dictionary->n_rows == 0)
		return nk_array_count_nulls(array) == array->n_rows
		           ? NK_OK
		           : bad(err, array, "codes into an empty dictionary");
	const uint32_t *codes = array->values;
	for (int64_t i = 0; i < array->n_rows; i++)
		if (codes[i] >= dictionary->n_rows)
			return bad(err, array, "a code lies behind the dictionary");
	return NK_OK;
}

static nk_status validate_offsets(const nk_array *array, int64_t n_stored, nk_error *err)
{
	if (!inside(array->values_buffer, array->values, (n_stored + 1) * (int64_t)sizeof(int64_t)))
		return bad(err, array, "too few offsets");
	const int64_t *offsets = array->values;
	for (int64_t i = 0; i < n_stored; i++)
		if (offsets[i + 1] < offsets[i])
			return bad(err, array, "offsets decrease");
	if (offsets[0] < 0 || offsets[n_stored] > array->children[0]->n_rows)
		return bad(err, array, "offsets lie outside of the items");
	return NK_OK;
}

static nk_status validate_children(const nk_array *array, int64_t n_stored, nk_error *err)
{
	if (array->n_children != array->dtype->n_fields)
		return bad(err, array, "the number of children differs from the dtype's");
	for (int i = 0; i < array->n_children; i++) {
		const nk_array *child = array->children[i];
		if (!child || child->dtype != array->dtype->fields[i].dtype)
			return bad(err, array, "a child has another dtype");
		if (child->encoding != NK_FLAT)
			return bad(err, array, "a child is not flat");
		if (array->physical == NK_PHYSICAL_STRUCT && child->n_rows != n_stored)
			return bad(err, array, "a field has another number of rows");
		NK_TRY(nk_array_validate(child, err));
	}
	return NK_OK;
}

nk_status nk_array_validate(const nk_array *array, nk_error *err)
{
	int64_t n_stored = array->encoding == NK_CONSTANT ? 1 : array->n_rows;
	bool is_decimal = array->dtype->id == NK_TYPE_DECIMAL;
	if (array->n_rows < 0 || array->n_references < 1)
		return bad(err, array, "negative length or released");
	if (is_decimal ? array->physical != NK_PHYSICAL_I64 && array->physical != NK_PHYSICAL_I128
	               : array->physical != array->dtype->physical)
		return bad(err, array, "the physical type does not belong to the dtype");
	if (array->physical == NK_PHYSICAL_NONE)
		return NK_OK;
	if (array->validity) {
		if (!inside(array->validity_buffer, array->validity, nk_bitmap_bytes(n_stored)))
			return bad(err, array, "the validity bitmap is too short");
		int64_t n_nulls = array->encoding == NK_CONSTANT
		                      ? (array->validity[0] & 1 ? 0 : array->n_rows)
		                      : n_stored - nk_bitmap_count(array->validity, 0, n_stored);
		if (array->n_nulls >= 0 && array->n_nulls != n_nulls)
			return bad(err, array, "the number of nulls is wrong");
	} else if (array->n_nulls > 0) {
		return bad(err, array, "nulls without a validity bitmap");
	}
	if (array->encoding == NK_DICTIONARY)
		return validate_codes(array, err);
	NK_TRY(validate_children(array, n_stored, err));
	switch (array->physical) {
	case NK_PHYSICAL_LIST: return validate_offsets(array, n_stored, err);
	case NK_PHYSICAL_STRUCT: return NK_OK;
	case NK_PHYSICAL_BOOL:
		return inside(array->values_buffer, array->values, nk_bitmap_bytes(n_stored))
		           ? NK_OK
		           : bad(err, array, "too few bits");
	default: break;
	}
	int n_bytes_each = nk_physical_size(array->physical);
	if (!inside(array->values_buffer, array->values, n_stored * n_bytes_each))
		return bad(err, array, "too few values");
	if ((uintptr_t)array->values %
	    (uintptr_t)NK_MIN(n_bytes_each, array->physical == NK_PHYSICAL_VIEW ? 8 : 16))
		return bad(err, array, "values are not aligned");
	return array->physical == NK_PHYSICAL_VIEW ? validate_views(array, n_stored, err) : NK_OK;
}

nk_status nk_batch_validate(const nk_batch *batch, nk_error *err)
{
	for (int i = 0; i < batch->n_columns; i++) {
		const nk_array *column = batch->columns[i];
		nk_status status = !column ? nk_fail(err, NK_COMPUTE, "an array is missing")
		                   : column->n_rows != batch->n_rows
		                       ? nk_fail(err, NK_COMPUTE, "%lld rows in a batch of %lld",
		                                 (long long)column->n_rows, (long long)batch->n_rows)
		                       : nk_array_validate(column, err);
		if (status != NK_OK)
			return nk_error_context(err, status, "column %d of a batch", i);
	}
	return NK_OK;
}
