/* Arrays to the Arrow C data interface: a reference to the array lives in private_data, the buffers are pointed to
 * where they lie. Encoded arrays are flattened and Decimals widened first; list offsets need not start at zero. */
#include <stdlib.h>
#include <string.h>

#include "columnar/arrow.h"
#include "columnar/categories.h"

typedef struct exported {
	nk_array *array;
	int64_t *n_heap_bytes; /* views: the sizes that Arrow wants as last buffer */
	struct ArrowArray *children;
	struct ArrowArray **child_pointers;
	struct ArrowArray dictionary; /* of categories */
	const void *buffers[];        /* the bytes of n_heap_bytes lie behind them */
} exported;

static void release_array(struct ArrowArray *out)
{
	exported *owned = out->private_data;
	for (int64_t i = 0; i < out->n_children; i++)
		if (owned->children[i].release)
			owned->children[i].release(&owned->children[i]);
	if (owned->dictionary.release)
		owned->dictionary.release(&owned->dictionary);
	free(owned->children);
	free(owned->child_pointers);
	nk_array_unref(owned->array);
	free(owned);
	out->release = NULL;
}

static nk_status export_children(nk_memory *memory, const nk_array *array, struct ArrowArray *out,
                                 nk_error *err)
{
	exported *owned = out->private_data;
	size_t n = (size_t)array->n_children;
	owned->children = calloc(n, sizeof *owned->children);
	owned->child_pointers = calloc(n, sizeof *owned->child_pointers);
	if (!owned->children || !owned->child_pointers)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an Arrow array of %zu children", n);
	out->children = owned->child_pointers;
	out->n_children = array->n_children;
	for (int i = 0; i < array->n_children; i++) {
		owned->child_pointers[i] = &owned->children[i];
		NK_TRY(nk_array_to_arrow(memory, array->children[i], &owned->children[i], err));
	}
	return NK_OK;
}

/* An Array whose rows all have `width` items one after another from 0, as Arrow has it: null rows get null items. */
static nk_status with_fixed_items(nk_memory *memory, nk_array **array, nk_error *err)
{
	const nk_array *flat = *array;
	const int64_t *offsets = flat->values;
	int64_t width = flat->dtype->width, n_rows = flat->n_rows;
	NK_AUTO(nk_array) items = NULL;
	NK_AUTO(nk_buffer) parts = NULL, *fixed = NULL;
	NK_TRY(nk_buffer_new_zeroed(memory, (2 * n_rows + 1) * (int64_t)sizeof(nk_array *), &parts, err));
	nk_array **part = (nk_array **)(void *)parts->bytes;
	int n_parts = 0;
	nk_status status = NK_OK;
	for (int64_t i = 0; i < n_rows && status == NK_OK;) {
		int64_t end = i + 1;
		bool valid = nk_array_is_valid(flat, i);
		while (end < n_rows && nk_array_is_valid(flat, end) == valid &&
		       (!valid || offsets[end] == offsets[i] + (end - i) * width))
			end++;
		status = valid ? nk_array_slice(memory, flat->children[0], offsets[i], (end - i) * width,
		                                &part[n_parts], err)
		               : nk_array_new_null(memory, flat->dtype->fields[0].dtype, (end - i) * width,
		                                   &part[n_parts], err);
		n_parts += status == NK_OK;
		i = end;
	}
	if (status == NK_OK)
		status = n_parts ? nk_array_concat(memory, part, n_parts, &items, err)
		                 : nk_array_new_null(memory, flat->dtype->fields[0].dtype, 0, &items, err);
	for (int i = 0; i < n_parts; i++)
		nk_array_unref(part[i]);
	NK_TRY(status);
	NK_TRY(nk_buffer_new(memory, (n_rows + 1) * (int64_t)sizeof(int64_t), &fixed, err));
	for (int64_t i = 0; i <= n_rows; i++)
		((int64_t *)(void *)fixed->bytes)[i] = i * width;
	NK_AUTO(nk_buffer) validity = NULL;
	if (flat->validity) {
		NK_TRY(nk_buffer_new(memory, nk_bitmap_bytes(n_rows), &validity, err));
		memcpy(validity->bytes, flat->validity, (size_t)nk_bitmap_bytes(n_rows));
	}
	nk_array *made;
	NK_TRY(nk_array_new_list(flat->dtype, n_rows, NK_STEAL(fixed), NK_STEAL(items), NK_STEAL(validity),
	                         flat->n_nulls, &made, err));
	nk_array_unref(*array);
	*array = made;
	return NK_OK;
}

nk_status nk_array_to_arrow(nk_memory *memory, nk_array *array, struct ArrowArray *out, nk_error *err)
{
	NK_AUTO(nk_array) flat = NULL;
	NK_TRY(nk_array_flatten(memory, array, &flat, err));
	if (flat->dtype->id == NK_TYPE_ARRAY)
		NK_TRY(with_fixed_items(memory, &flat, err));
	if (flat->dtype->id == NK_TYPE_DECIMAL) {
		nk_array *wide;
		NK_TRY(nk_array_widen_decimal(memory, flat, &wide, err));
		nk_array_unref(flat);
		flat = wide;
	}
	static const int64_t nothing;
	bool is_view = flat->physical == NK_PHYSICAL_VIEW;
	int n_heap = flat->heap ? flat->heap->n_buffers : 0;
	int n_buffers = flat->physical == NK_PHYSICAL_NONE                                         ? 0
	                : flat->physical == NK_PHYSICAL_STRUCT || flat->dtype->id == NK_TYPE_ARRAY ? 1
	                                                                                           : 2;
	n_buffers += is_view ? n_heap + 1 : 0;
	exported *owned =
		calloc(1, sizeof *owned + (size_t)n_buffers * sizeof(void *) + (size_t)n_heap * sizeof(int64_t));
	if (!owned)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an Arrow array");
	struct ArrowArray result = {.length = flat->n_rows,
	                            .null_count = nk_array_count_nulls(flat),
	                            .n_buffers = n_buffers,
	                            .buffers = owned->buffers,
	                            .release = release_array,
	                            .private_data = owned};
	if (n_buffers > 0)
		owned->buffers[0] = flat->validity;
	if (n_buffers > 1)
		owned->buffers[1] = flat->values;
	if (is_view) {
		owned->n_heap_bytes = (int64_t *)(void *)&owned->buffers[n_buffers];
		for (int i = 0; i < n_heap; i++) {
			owned->buffers[2 + i] = flat->heap->buffers[i]->bytes;
			owned->n_heap_bytes[i] = flat->heap->buffers[i]->n_bytes;
		}
		owned->buffers[2 + n_heap] = n_heap ? owned->n_heap_bytes : &nothing;
	}
	if (flat->n_children) {
		nk_status status = export_children(memory, flat, &result, err);
		if (status != NK_OK) {
			release_array(&result);
			return status;
		}
	}
	if (nk_type_is_category(flat->dtype->id)) {
		NK_AUTO(nk_array) texts = NULL;
		nk_status status = nk_categories_texts(flat->dtype->categories, &texts, err);
		if (status == NK_OK)
			status = nk_array_to_arrow(memory, texts, &owned->dictionary, err);
		if (status != NK_OK) {
			release_array(&result);
			return status;
		}
		result.dictionary = &owned->dictionary;
	}
	owned->array = NK_STEAL(flat);
	*out = result;
	return NK_OK;
}
