/* One array: dtype, physical type, rows, validity, values; strings as lengths and bytes; nested types as offsets
 * and children. The depth of nesting is that of the dtype, which its parser bounds. */
#include "columnar/array_wire.h"

#include <stdlib.h>
#include <string.h>

#include "columnar/categories.h"

nk_status nk_array_to_wire(nk_memory *memory, nk_array *array, nk_text *out, nk_error *err)
{
	NK_AUTO(nk_array) flat = NULL;
	NK_TRY(nk_array_flatten(memory, array, &flat, err));
	int64_t n = flat->n_rows;
	nk_wire_put_string(out, flat->dtype->text);
	nk_wire_put_number(out, (uint64_t)flat->physical);
	nk_wire_put_number(out, (uint64_t)n);
	nk_wire_put_bytes(out, flat->validity, flat->validity ? nk_bitmap_bytes(n) : 0);
	if (nk_type_is_category(flat->dtype->id)) {
		/* Codes mean something in this process only. */
		for (int64_t i = 0; i < n; i++) {
			int64_t n_bytes = 0;
			const char *bytes = "";
			if (nk_array_is_valid(flat, i))
				bytes = nk_categories_text(flat->dtype->categories, nk_category_code(flat, i), &n_bytes);
			nk_wire_put_bytes(out, bytes, n_bytes);
		}
		return NK_OK;
	}
	switch (flat->physical) {
	case NK_PHYSICAL_NONE: break;
	case NK_PHYSICAL_BOOL: nk_wire_put_bytes(out, flat->values, nk_bitmap_bytes(n)); break;
	case NK_PHYSICAL_VIEW:
		for (int64_t i = 0; i < n; i++) {
			const nk_view *view = (const nk_view *)flat->values + i;
			bool valid = nk_array_is_valid(flat, i);
			nk_wire_put_bytes(out, valid ? nk_view_bytes(view, flat->heap) : "", valid ? view->n_bytes : 0);
		}
		break;
	case NK_PHYSICAL_LIST: {
		const int64_t *offsets = flat->values;
		for (int64_t i = 0; i < n; i++)
			nk_wire_put_number(out, (uint64_t)(offsets[i + 1] - offsets[i]));
		NK_AUTO(nk_array) items = NULL;
		NK_TRY(nk_array_slice(memory, flat->children[0], offsets[0], offsets[n] - offsets[0], &items, err));
		return nk_array_to_wire(memory, items, out, err);
	}
	case NK_PHYSICAL_STRUCT:
		for (int i = 0; i < flat->n_children; i++)
			NK_TRY(nk_array_to_wire(memory, flat->children[i], out, err));
		break;
	default: nk_wire_put_bytes(out, flat->values, n * nk_physical_size(flat->physical));
	}
	return NK_OK;
}

static nk_status damaged(nk_error *err) { return nk_fail(err, NK_COMPUTE, "a serialised array is damaged"); }

/* The bytes that n texts need behind their views. The input is read twice, so that no more is taken than it holds. */
static nk_status heap_bytes(nk_wire in, int64_t n, int64_t *out, nk_error *err)
{
	*out = 0;
	for (int64_t i = 0; i < n; i++) {
		const uint8_t *text;
		int64_t n_bytes;
		NK_TRY(nk_wire_bytes(&in, &text, &n_bytes, err));
		*out += n_bytes > NK_VIEW_INLINE ? n_bytes : 0;
	}
	return *out <= UINT32_MAX ? NK_OK : nk_fail(err, NK_COMPUTE, "a serialised array of text exceeds 4 GiB");
}

static nk_status read_views(nk_memory *memory, nk_wire *in, const nk_dtype *dtype, int64_t n,
                            nk_buffer **views_out, nk_heap **heap_out, nk_error *err)
{
	NK_AUTO(nk_buffer) views = NULL;
	NK_AUTO(nk_buffer) bytes = NULL;
	int64_t n_heap, used = 0;
	NK_TRY(heap_bytes(*in, n, &n_heap, err));
	NK_TRY(nk_buffer_new(memory, n * (int64_t)sizeof(nk_view), &views, err));
	NK_TRY(nk_buffer_new(memory, n_heap, &bytes, err));
	for (int64_t i = 0; i < n; i++) {
		const uint8_t *text;
		int64_t n_bytes;
		NK_TRY(nk_wire_bytes(in, &text, &n_bytes, err));
		if (dtype->id == NK_TYPE_STRING && !nk_is_utf8((const char *)text, n_bytes))
			return damaged(err);
		((nk_view *)(void *)views->bytes)[i] =
			nk_view_make((const char *)text, (uint32_t)n_bytes, 0, (uint32_t)used);
		if (n_bytes > NK_VIEW_INLINE) {
			memcpy(bytes->bytes + used, text, (size_t)n_bytes);
			used += n_bytes;
		}
	}
	nk_buffer *one = NK_STEAL(bytes);
	NK_TRY(nk_heap_new(&one, 1, heap_out, err));
	*views_out = NK_STEAL(views);
	return NK_OK;
}

static nk_status read_codes(nk_memory *memory, nk_wire *in, const nk_dtype *dtype, int64_t n,
                            const nk_buffer *validity, nk_buffer **out, nk_error *err)
{
	int width = nk_physical_size(dtype->physical);
	NK_AUTO(nk_buffer) codes = NULL;
	NK_TRY(nk_buffer_new_zeroed(memory, n * width, &codes, err));
	for (int64_t i = 0; i < n; i++) {
		const uint8_t *text;
		int64_t n_bytes;
		uint32_t code;
		NK_TRY(nk_wire_bytes(in, &text, &n_bytes, err));
		if (validity && !nk_bitmap_get(validity->bytes, i))
			continue;
		NK_TRY(nk_categories_add(dtype->categories, (const char *)text, n_bytes, &code, err));
		if (code == NK_CATEGORY_NONE)
			return damaged(err);
		memcpy(codes->bytes + i * width, &code, (size_t)width); /* the low bytes come first */
	}
	*out = NK_STEAL(codes);
	return NK_OK;
}

static nk_status read_array(nk_memory *memory, nk_wire *in, const nk_dtype *expected, nk_array **out,
                            nk_error *err);

static nk_status read_nested(nk_memory *memory, nk_wire *in, const nk_dtype *dtype, int64_t n,
                             nk_buffer *validity_in, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) validity = validity_in;
	if (dtype->physical == NK_PHYSICAL_LIST) {
		NK_AUTO(nk_buffer) offsets = NULL;
		NK_TRY(nk_buffer_new(memory, (n + 1) * 8, &offsets, err));
		int64_t *at = (int64_t *)(void *)offsets->bytes;
		at[0] = 0;
		for (int64_t i = 0; i < n; i++) {
			int64_t length;
			NK_TRY(nk_wire_count(in, INT64_MAX - at[i], &length, err));
			at[i + 1] = at[i] + length;
			bool valid = !validity || nk_bitmap_get(validity->bytes, i);
			if (dtype->id == NK_TYPE_ARRAY && valid && length != dtype->width)
				return damaged(err);
		}
		NK_AUTO(nk_array) items = NULL;
		NK_TRY(read_array(memory, in, dtype->fields[0].dtype, &items, err));
		if (items->n_rows != at[n])
			return damaged(err);
		return nk_array_new_list(dtype, n, NK_STEAL(offsets), NK_STEAL(items), NK_STEAL(validity), -1, out,
		                         err);
	}
	nk_array **fields = calloc((size_t)dtype->n_fields + 1, sizeof *fields);
	nk_status status = fields ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for fields");
	int n_read = 0;
	for (; status == NK_OK && n_read < dtype->n_fields; n_read++) {
		status = read_array(memory, in, dtype->fields[n_read].dtype, &fields[n_read], err);
		if (status != NK_OK)
			break;
		if (fields[n_read]->n_rows != n)
			status = damaged(err);
	}
	if (status == NK_OK) {
		status = nk_array_new_struct(dtype, n, fields, NK_STEAL(validity), -1, out, err);
		n_read = 0; /* taken over */
	}
	for (int i = 0; i < n_read; i++)
		nk_array_unref(fields[i]);
	free(fields);
	return status;
}

/* How many rows n_bytes can hold. Nulls, and structs of them, take none. */
static int64_t most_rows(nk_physical physical, int64_t n_bytes)
{
	switch (physical) {
	case NK_PHYSICAL_NONE:
	case NK_PHYSICAL_STRUCT: return INT64_MAX / 64;
	case NK_PHYSICAL_BOOL: return n_bytes * 8;
	default: return n_bytes;
	}
}

/* expected: the dtype that the array around this one has for it, NULL for the outermost. What nests deeper than that is
 * refused before it is read. */
static nk_status read_array(nk_memory *memory, nk_wire *in, const nk_dtype *expected, nk_array **out,
                            nk_error *err)
{
	const char *text;
	int64_t physical, n, n_bytes;
	const uint8_t *bytes;
	NK_TRY(nk_wire_string(in, &text, err));
	const nk_dtype *dtype;
	if (!text)
		return damaged(err);
	NK_TRY(nk_dtype_parse(text, &dtype, err));
	if (expected && dtype != expected)
		return damaged(err);
	NK_TRY(nk_wire_count(in, NK_PHYSICAL_N - 1, &physical, err));
	bool fits = (nk_physical)physical == dtype->physical ||
	            (dtype->id == NK_TYPE_DECIMAL && physical == NK_PHYSICAL_I64);
	NK_TRY(nk_wire_count(in, most_rows((nk_physical)physical, in->end - in->at), &n, err));
	NK_TRY(nk_wire_bytes(in, &bytes, &n_bytes, err));
	if (!fits || (n_bytes && n_bytes != nk_bitmap_bytes(n)))
		return damaged(err);
	if (physical == NK_PHYSICAL_NONE)
		return nk_array_new_null(memory, dtype, n, out, err);
	NK_AUTO(nk_buffer) validity = NULL;
	if (n_bytes) {
		NK_TRY(nk_buffer_new(memory, n_bytes, &validity, err));
		memcpy(validity->bytes, bytes, (size_t)n_bytes);
	}
	if (physical == NK_PHYSICAL_LIST || physical == NK_PHYSICAL_STRUCT)
		return read_nested(memory, in, dtype, n, NK_STEAL(validity), out, err);
	NK_AUTO(nk_buffer) values = NULL;
	NK_AUTO(nk_heap) heap = NULL;
	if (nk_type_is_category(dtype->id)) {
		NK_TRY(read_codes(memory, in, dtype, n, validity, &values, err));
	} else if (physical == NK_PHYSICAL_VIEW) {
		NK_TRY(read_views(memory, in, dtype, n, &values, &heap, err));
	} else {
		NK_TRY(nk_wire_bytes(in, &bytes, &n_bytes, err));
		int64_t n_expected =
			physical == NK_PHYSICAL_BOOL ? nk_bitmap_bytes(n) : n * nk_physical_size((nk_physical)physical);
		if (n_bytes != n_expected)
			return damaged(err);
		NK_TRY(nk_buffer_new(memory, n_bytes, &values, err));
		memcpy(values->bytes, bytes, (size_t)n_bytes);
	}
	return nk_array_new_flat(dtype, (nk_physical)physical, n, NK_STEAL(values), NK_STEAL(validity), -1,
	                         NK_STEAL(heap), out, err);
}

nk_status nk_array_from_wire(nk_memory *memory, nk_wire *in, nk_array **out, nk_error *err)
{
	return read_array(memory, in, NULL, out, err);
}

nk_status nk_frame_to_wire(nk_memory *memory, nk_frame *frame, nk_text *out, nk_error *err)
{
	nk_wire_put_number(out, (uint64_t)frame->height);
	nk_wire_put_number(out, (uint64_t)frame->schema->n_fields);
	for (int i = 0; i < frame->schema->n_fields; i++) {
		nk_wire_put_string(out, frame->schema->fields[i].name);
		nk_wire_put_number(out, frame->columns[i]->sorted);
		NK_AUTO(nk_array) array = NULL;
		NK_TRY(nk_column_array(memory, frame->columns[i], &array, err));
		NK_TRY(nk_array_to_wire(memory, array, out, err));
	}
	return NK_OK;
}

nk_status nk_frame_from_wire(nk_memory *memory, nk_wire *in, nk_frame **out, nk_error *err)
{
	int64_t height, n;
	NK_TRY(nk_wire_count(in, INT64_MAX / 64, &height, err));
	NK_TRY(nk_wire_items(in, &n, err));
	nk_field *fields = calloc((size_t)n + 1, sizeof *fields);
	nk_column **columns = calloc((size_t)n + 1, sizeof *columns);
	nk_schema *schema = NULL;
	nk_status status = fields && columns ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a frame");
	for (int64_t i = 0; status == NK_OK && i < n; i++) {
		int64_t sorted = 0;
		NK_AUTO(nk_array) array = NULL;
		status = nk_wire_string(in, &fields[i].name, err);
		if (status == NK_OK)
			status = nk_wire_count(in, NK_SORTED_DESCENDING, &sorted, err);
		if (status == NK_OK)
			status = nk_array_from_wire(memory, in, &array, err);
		if (status == NK_OK)
			status = nk_column_from_array(memory, array, &columns[i], err);
		if (status == NK_OK && (!fields[i].name || columns[i]->n_rows != height))
			status = damaged(err);
		if (status == NK_OK) {
			fields[i].dtype = columns[i]->dtype;
			columns[i]->sorted = (nk_sorted)sorted;
		}
	}
	if (status == NK_OK)
		status = nk_schema_new(fields, (int)n, &schema, err);
	if (status == NK_OK)
		status = nk_frame_new(schema, columns, height, out, err);
	nk_schema_unref(schema);
	for (int64_t i = 0; columns && i < n; i++)
		nk_column_unref(columns[i]);
	free(columns);
	free(fields);
	return status;
}
