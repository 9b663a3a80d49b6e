/* Makers, slices and header changes of arrays. A header is one malloc block with its child pointers behind it;
 * whatever holds bytes is a buffer, shared by reference, so everything here costs the same for any n_rows except
 * slices of bitmaps that do not start on a byte: bit positions are fixed by copying, so kernels never shift. */
#include "columnar/array.h"

#include <stdlib.h>

/* ---- Heaps ---- */

nk_status nk_heap_new(nk_buffer *const *buffers, int n_buffers, nk_heap **out, nk_error *err)
{
	nk_heap *heap = malloc(sizeof *heap + (size_t)n_buffers * sizeof *buffers);
	if (!heap) {
		for (int i = 0; i < n_buffers; i++)
			nk_buffer_unref(buffers[i]);
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a heap of %d buffers", n_buffers);
	}
	heap->n_references = 1;
	heap->n_buffers = n_buffers;
	for (int i = 0; i < n_buffers; i++)
		heap->buffers[i] = buffers[i];
	*out = heap;
	return NK_OK;
}

nk_heap *nk_heap_ref(nk_heap *heap)
{
	if (heap)
		__atomic_fetch_add(&heap->n_references, 1, __ATOMIC_RELAXED);
	return heap;
}

void nk_heap_unref(nk_heap *heap)
{
	if (!heap || __atomic_fetch_sub(&heap->n_references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	for (int i = 0; i < heap->n_buffers; i++)
		nk_buffer_unref(heap->buffers[i]);
	free(heap);
}

/* ---- Headers ---- */

void nk_array_unref(nk_array *array)
{
	if (!array || __atomic_fetch_sub(&array->n_references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	nk_buffer_unref(array->validity_buffer);
	nk_buffer_unref(array->values_buffer);
	nk_heap_unref(array->heap);
	nk_array_unref(array->dictionary);
	nk_buffer_unref(array->text_keys);
	for (int i = 0; i < array->n_children; i++)
		nk_array_unref(array->children[i]);
	free(array);
}

/* An empty header with room for children, which are NULL. */
static nk_status header_new(const nk_dtype *dtype, nk_physical physical, int64_t n_rows, int n_children,
                            nk_array **out, nk_error *err)
{
	nk_array *array = malloc(sizeof *array + (size_t)n_children * sizeof(nk_array *));
	if (!array)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an array's header");
	*array = (nk_array){.dtype = dtype,
	                    .physical = physical,
	                    .n_rows = n_rows,
	                    .n_nulls = physical == NK_PHYSICAL_NONE ? n_rows : 0,
	                    .n_children = n_children,
	                    .children = (nk_array **)(array + 1),
	                    .n_references = 1};
	memset(array->children, 0, (size_t)n_children * sizeof(nk_array *));
	*out = array;
	return NK_OK;
}

/* A second header over the same storage. */
static nk_status header_copy(const nk_array *array, nk_array **out, nk_error *err)
{
	nk_array *copy = NULL;
	NK_TRY(header_new(array->dtype, array->physical, array->n_rows, array->n_children, &copy, err));
	copy->encoding = array->encoding;
	copy->n_nulls = array->n_nulls;
	copy->validity = array->validity;
	copy->values = array->values;
	copy->validity_buffer = nk_buffer_ref(array->validity_buffer);
	copy->values_buffer = nk_buffer_ref(array->values_buffer);
	copy->heap = nk_heap_ref(array->heap);
	copy->dictionary = nk_array_ref(array->dictionary);
	for (int i = 0; i < array->n_children; i++)
		copy->children[i] = nk_array_ref(array->children[i]);
	*out = copy;
	return NK_OK;
}

/* Hand validity to an array; a bitmap without a zero is dropped when the count says so. */
static void set_validity(nk_array *array, nk_buffer *validity, int64_t n_nulls)
{
	if (validity && n_nulls == 0) {
		nk_buffer_unref(validity);
		validity = NULL;
	}
	array->validity_buffer = validity;
	array->validity = validity ? validity->bytes : NULL;
	array->n_nulls = validity ? n_nulls : 0;
}

static void set_values(nk_array *array, nk_buffer *values)
{
	array->values_buffer = values;
	array->values = values ? values->bytes : NULL;
}

/* ---- Makers ---- */

nk_status nk_array_new_flat(const nk_dtype *dtype, nk_physical physical, int64_t n_rows, nk_buffer *values,
                            nk_buffer *validity, int64_t n_nulls, nk_heap *heap, nk_array **out,
                            nk_error *err)
{
	nk_array *array = NULL;
	nk_status status = header_new(dtype, physical, n_rows, 0, &array, err);
	if (status != NK_OK) {
		nk_buffer_unref(values);
		nk_buffer_unref(validity);
		nk_heap_unref(heap);
		return status;
	}
	set_values(array, values);
	array->heap = heap;
	if (physical != NK_PHYSICAL_NONE)
		set_validity(array, validity, n_nulls);
	else
		nk_buffer_unref(validity);
	*out = array;
	return NK_OK;
}

nk_status nk_array_alloc(nk_memory *memory, const nk_dtype *dtype, nk_physical physical, int64_t n_rows,
                         bool with_validity, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) values = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_ASSERT(physical != NK_PHYSICAL_LIST && physical != NK_PHYSICAL_STRUCT);
	if (physical == NK_PHYSICAL_BOOL)
		NK_TRY(nk_buffer_new_zeroed(memory, nk_bitmap_bytes(n_rows), &values, err));
	else if (physical != NK_PHYSICAL_NONE)
		NK_TRY(nk_buffer_new(memory, n_rows * nk_physical_size(physical), &values, err));
	if (with_validity && physical != NK_PHYSICAL_NONE) {
		NK_TRY(nk_buffer_new(memory, nk_bitmap_bytes(n_rows), &validity, err));
		memset(validity->bytes, 0xff, (size_t)validity->n_bytes);
	}
	return nk_array_new_flat(dtype, physical, n_rows, NK_STEAL(values), NK_STEAL(validity), -1, NULL, out,
	                         err);
}

nk_status nk_array_new_dictionary(nk_array *dictionary, int64_t n_rows, nk_buffer *codes, nk_buffer *validity,
                                  int64_t n_nulls, nk_array **out, nk_error *err)
{
	nk_array *array = NULL;
	nk_status status = header_new(dictionary->dtype, dictionary->physical, n_rows, 0, &array, err);
	if (status != NK_OK) {
		nk_array_unref(dictionary);
		nk_buffer_unref(codes);
		nk_buffer_unref(validity);
		return status;
	}
	array->encoding = NK_DICTIONARY;
	array->dictionary = dictionary;
	set_values(array, codes);
	set_validity(array, validity, n_nulls);
	*out = array;
	return NK_OK;
}

/* The tracker that an encoded array's storage came from: its flat form is taken from the same. */
static nk_memory *memory_of(const nk_array *array)
{
	if (array->values_buffer && array->values_buffer->memory)
		return array->values_buffer->memory;
	return array->validity_buffer ? array->validity_buffer->memory : NULL;
}

/* Children are flat: what was passed encoded is replaced by its flat form. */
static nk_status flatten_child(nk_array **child, nk_error *err)
{
	nk_array *flat;
	NK_TRY(nk_array_flatten(memory_of(*child), *child, &flat, err));
	nk_array_unref(*child);
	*child = flat;
	return NK_OK;
}

nk_status nk_array_new_list(const nk_dtype *dtype, int64_t n_rows, nk_buffer *offsets, nk_array *items,
                            nk_buffer *validity, int64_t n_nulls, nk_array **out, nk_error *err)
{
	nk_array *array = NULL;
	nk_status status = header_new(dtype, NK_PHYSICAL_LIST, n_rows, 1, &array, err);
	if (status != NK_OK) {
		nk_array_unref(items);
		nk_buffer_unref(offsets);
		nk_buffer_unref(validity);
		return status;
	}
	array->children[0] = items;
	set_values(array, offsets);
	set_validity(array, validity, n_nulls);
	status = flatten_child(&array->children[0], err);
	if (status != NK_OK) {
		nk_array_unref(array);
		return status;
	}
	*out = array;
	return NK_OK;
}

nk_status nk_array_new_struct(const nk_dtype *dtype, int64_t n_rows, nk_array **fields, nk_buffer *validity,
                              int64_t n_nulls, nk_array **out, nk_error *err)
{
	nk_array *array = NULL;
	nk_status status = header_new(dtype, NK_PHYSICAL_STRUCT, n_rows, dtype->n_fields, &array, err);
	if (status != NK_OK) {
		for (int i = 0; i < dtype->n_fields; i++)
			nk_array_unref(fields[i]);
		nk_buffer_unref(validity);
		return status;
	}
	for (int i = 0; i < dtype->n_fields; i++)
		array->children[i] = fields[i];
	set_validity(array, validity, n_nulls);
	for (int i = 0; i < dtype->n_fields && status == NK_OK; i++)
		status = flatten_child(&array->children[i], err);
	if (status != NK_OK) {
		nk_array_unref(array);
		return status;
	}
	*out = array;
	return NK_OK;
}

nk_status nk_array_new_null(nk_memory *memory, const nk_dtype *dtype, int64_t n_rows, nk_array **out,
                            nk_error *err)
{
	NK_AUTO(nk_array) array = NULL;
	nk_physical physical = dtype->id == NK_TYPE_DECIMAL ? NK_PHYSICAL_I64 : dtype->physical;
	NK_TRY(header_new(dtype, physical, n_rows, dtype->n_fields, &array, err));
	array->n_nulls = n_rows;
	if (physical != NK_PHYSICAL_NONE) {
		nk_buffer *storage;
		array->encoding = NK_CONSTANT;
		NK_TRY(nk_buffer_new_zeroed(memory, 1, &storage, err));
		array->validity_buffer = storage;
		array->validity = storage->bytes;
	}
	if (physical != NK_PHYSICAL_NONE && physical != NK_PHYSICAL_STRUCT) {
		nk_buffer *storage;
		NK_TRY(nk_buffer_new_zeroed(memory, 16, &storage, err));
		set_values(array, storage);
	}
	for (int i = 0; i < dtype->n_fields; i++) {
		NK_AUTO(nk_array) child = NULL;
		NK_TRY(nk_array_new_null(memory, dtype->fields[i].dtype, physical == NK_PHYSICAL_LIST ? 0 : 1, &child,
		                         err));
		NK_TRY(nk_array_flatten(memory, child, &array->children[i], err));
	}
	*out = NK_STEAL(array);
	return NK_OK;
}

/* Row 0's string in a buffer of its own, so that a constant does not keep a whole heap alive. */
static nk_status own_view(nk_memory *memory, const nk_array *one, nk_buffer *values, nk_heap **out,
                          nk_error *err)
{
	nk_view *view = (nk_view *)values->bytes;
	if (view->n_bytes <= NK_VIEW_INLINE)
		return NK_OK;
	nk_buffer *bytes;
	NK_TRY(nk_buffer_new(memory, view->n_bytes, &bytes, err));
	memcpy(bytes->bytes, nk_view_bytes(view, one->heap), view->n_bytes);
	view->buffer = view->offset = 0;
	return nk_heap_new(&bytes, 1, out, err);
}

nk_status nk_array_new_constant(nk_memory *memory, const nk_array *one, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	NK_ASSERT(one->n_rows > 0 && one->encoding != NK_DICTIONARY);
	if (one->physical == NK_PHYSICAL_NONE || !nk_array_is_valid(one, 0))
		return nk_array_new_null(memory, one->dtype, n_rows, out, err);
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(header_new(one->dtype, one->physical, n_rows, one->n_children, &array, err));
	array->encoding = NK_CONSTANT;
	if (one->physical == NK_PHYSICAL_STRUCT || one->physical == NK_PHYSICAL_LIST) {
		array->values = one->values;
		array->values_buffer = nk_buffer_ref(one->values_buffer);
		for (int i = 0; i < one->n_children; i++)
			if (one->physical == NK_PHYSICAL_LIST)
				array->children[i] = nk_array_ref(one->children[i]);
			else
				NK_TRY(nk_array_slice(memory, one->children[i], 0, 1, &array->children[i], err));
	} else {
		nk_buffer *values;
		NK_TRY(nk_buffer_new_zeroed(memory, 16, &values, err));
		set_values(array, values);
		if (one->physical == NK_PHYSICAL_BOOL)
			values->bytes[0] = *(const uint8_t *)one->values & 1;
		else
			memcpy(values->bytes, one->values, (size_t)nk_physical_size(one->physical));
		if (one->physical == NK_PHYSICAL_VIEW)
			NK_TRY(own_view(memory, one, values, &array->heap, err));
	}
	*out = NK_STEAL(array);
	return NK_OK;
}

nk_status nk_array_retype(const nk_array *array, const nk_dtype *dtype, nk_array **out, nk_error *err)
{
	NK_ASSERT(array->physical == dtype->physical || dtype->id == NK_TYPE_DECIMAL ||
	          array->dtype->id == NK_TYPE_DECIMAL);
	NK_AUTO(nk_array) copy = NULL;
	NK_TRY(header_copy(array, &copy, err));
	copy->dtype = dtype;
	if (copy->dictionary) {
		nk_array *dictionary;
		NK_TRY(nk_array_retype(copy->dictionary, dtype, &dictionary, err));
		nk_array_unref(copy->dictionary);
		copy->dictionary = dictionary;
	}
	*out = NK_STEAL(copy);
	return NK_OK;
}

nk_status nk_array_recode(const nk_array *codes, nk_array *dictionary, nk_array **out, nk_error *err)
{
	NK_ASSERT(codes->encoding == NK_DICTIONARY && codes->dictionary->n_rows == dictionary->n_rows);
	nk_array *copy = NULL;
	NK_TRY(header_copy(codes, &copy, err));
	nk_array_unref(copy->dictionary);
	copy->dictionary = nk_array_ref(dictionary);
	copy->dtype = dictionary->dtype;
	copy->physical = dictionary->physical;
	*out = copy;
	return NK_OK;
}

nk_status nk_array_with_validity(const nk_array *array, nk_buffer *validity, int64_t n_nulls, nk_array **out,
                                 nk_error *err)
{
	nk_array *copy = NULL;
	NK_ASSERT(array->encoding != NK_CONSTANT);
	nk_status status = header_copy(array, &copy, err);
	if (status != NK_OK || array->physical == NK_PHYSICAL_NONE) {
		nk_buffer_unref(validity);
		if (status == NK_OK)
			*out = copy;
		return status;
	}
	nk_buffer_unref(copy->validity_buffer);
	set_validity(copy, validity, n_nulls);
	*out = copy;
	return NK_OK;
}

/* ---- Slices ---- */

/* Point *bits at row `offset`; bits that do not start on a byte are copied into a new buffer. */
static nk_status slice_bits(nk_memory *memory, const uint8_t **bits, nk_buffer **buffer, int64_t offset,
                            int64_t n_rows, nk_error *err)
{
	if ((offset & 7) == 0) {
		*bits += offset >> 3;
		return NK_OK;
	}
	nk_buffer *copied;
	NK_TRY(nk_buffer_new(memory, nk_bitmap_bytes(n_rows), &copied, err));
	nk_bitmap_copy(copied->bytes, *bits, offset, n_rows);
	nk_buffer_unref(*buffer);
	*buffer = copied;
	*bits = copied->bytes;
	return NK_OK;
}

nk_status nk_array_slice(nk_memory *memory, nk_array *array, int64_t offset, int64_t n_rows, nk_array **out,
                         nk_error *err)
{
	NK_ASSERT(offset >= 0 && n_rows >= 0 && offset + n_rows <= array->n_rows);
	if (n_rows == array->n_rows) {
		*out = nk_array_ref(array);
		return NK_OK;
	}
	NK_AUTO(nk_array) slice = NULL;
	NK_TRY(header_copy(array, &slice, err));
	slice->n_rows = n_rows;
	if (array->physical == NK_PHYSICAL_NONE) {
		slice->n_nulls = n_rows;
	} else if (array->encoding == NK_CONSTANT) {
		slice->n_nulls = array->n_nulls ? n_rows : 0;
	} else {
		if (array->validity) {
			NK_TRY(slice_bits(memory, &slice->validity, &slice->validity_buffer, offset, n_rows, err));
			slice->n_nulls = n_rows - nk_bitmap_count(slice->validity, 0, n_rows);
			if (slice->n_nulls == 0) {
				nk_buffer_unref(NK_STEAL(slice->validity_buffer));
				slice->validity = NULL;
			}
		}
		if (array->encoding == NK_DICTIONARY)
			slice->values = (const uint32_t *)array->values + offset;
		else if (array->physical == NK_PHYSICAL_BOOL)
			NK_TRY(slice_bits(memory, &(*(const uint8_t **)&slice->values), &slice->values_buffer, offset,
			                  n_rows, err));
		else if (array->physical == NK_PHYSICAL_LIST)
			slice->values = (const int64_t *)array->values + offset;
		else if (array->physical != NK_PHYSICAL_STRUCT)
			slice->values = (const uint8_t *)array->values + offset * nk_physical_size(array->physical);
		for (int i = 0; array->physical == NK_PHYSICAL_STRUCT && i < array->n_children; i++) {
			nk_array *child;
			NK_TRY(nk_array_slice(memory, array->children[i], offset, n_rows, &child, err));
			nk_array_unref(slice->children[i]);
			slice->children[i] = child;
		}
	}
	*out = NK_STEAL(slice);
	return NK_OK;
}

/* ---- Counting ---- */

int64_t nk_array_count_nulls(const nk_array *array)
{
	if (array->n_nulls >= 0)
		return array->n_nulls;
	if (array->encoding == NK_CONSTANT)
		return array->validity && !(array->validity[0] & 1) ? array->n_rows : 0;
	return array->validity ? array->n_rows - nk_bitmap_count(array->validity, 0, array->n_rows) : 0;
}

int64_t nk_array_bytes(const nk_array *array)
{
	int64_t n_bytes = 0;
	if (array->validity_buffer)
		n_bytes += array->validity_buffer->n_bytes;
	if (array->values_buffer)
		n_bytes += array->values_buffer->n_bytes;
	for (int i = 0; array->heap && i < array->heap->n_buffers; i++)
		n_bytes += array->heap->buffers[i]->n_bytes;
	if (array->dictionary && array->dictionary->n_rows > array->n_rows)
		n_bytes += nk_array_bytes(array->dictionary) / array->dictionary->n_rows * array->n_rows;
	else if (array->dictionary)
		n_bytes += nk_array_bytes(array->dictionary);
	for (int i = 0; i < array->n_children; i++)
		n_bytes += nk_array_bytes(array->children[i]);
	return n_bytes;
}
