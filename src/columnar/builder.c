/* Values are appended to blocks that grow by half; finishing hands the blocks to buffers without a copy. Long
 * strings go to heap buffers that double from 4 KiB to 16 MiB, so that none is ever moved. Decimals are collected
 * as 128 bits and narrowed at the end when all fit into 64. */
#include "columnar/builder.h"

#include <stdlib.h>

#include "columnar/categories.h"

enum { HEAP_FIRST = 4 << 10, HEAP_LARGEST = 16 << 20 };

struct nk_builder {
	nk_memory *memory;
	const nk_dtype *dtype;
	nk_physical physical;
	int n_bytes_each;
	int64_t n_rows, n_nulls;
	void *values;            /* List: n_rows + 1 offsets */
	int64_t values_capacity; /* in values; bits: in bytes */
	uint8_t *validity;
	int64_t validity_capacity;
	nk_buffer **heap;
	int64_t heap_capacity;
	int n_heap;
	int64_t n_heap_used; /* of the last heap buffer */
	bool wide;           /* a Decimal does not fit into 64 bits */
	int n_children;
	nk_builder *children[];
};

nk_status nk_builder_new(nk_memory *memory, const nk_dtype *dtype, nk_builder **out, nk_error *err)
{
	NK_AUTO(nk_builder) builder = calloc(1, sizeof *builder + (size_t)dtype->n_fields * sizeof(nk_builder *));
	if (!builder)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a builder");
	builder->memory = nk_memory_ref(memory);
	builder->dtype = dtype;
	builder->physical = dtype->physical;
	builder->n_bytes_each =
		dtype->physical == NK_PHYSICAL_LIST ? (int)sizeof(int64_t) : nk_physical_size(dtype->physical);
	builder->n_children = dtype->n_fields;
	for (int i = 0; i < dtype->n_fields; i++)
		NK_TRY(nk_builder_new(memory, dtype->fields[i].dtype, &builder->children[i], err));
	*out = NK_STEAL(builder);
	return NK_OK;
}

static void clear(nk_builder *builder)
{
	nk_free(builder->memory, builder->values,
	        builder->values_capacity * (builder->n_bytes_each ? builder->n_bytes_each : 1));
	nk_free(builder->memory, builder->validity, builder->validity_capacity);
	for (int i = 0; i < builder->n_heap; i++)
		nk_buffer_unref(builder->heap[i]);
	nk_free(builder->memory, builder->heap, builder->heap_capacity * (int64_t)sizeof *builder->heap);
	builder->values = NULL;
	builder->validity = NULL;
	builder->heap = NULL;
	builder->values_capacity = builder->validity_capacity = builder->heap_capacity = 0;
	builder->n_rows = builder->n_nulls = builder->n_heap_used = 0;
	builder->n_heap = 0;
	builder->wide = false;
}

void nk_builder_free(nk_builder *builder)
{
	if (!builder)
		return;
	clear(builder);
	for (int i = 0; i < builder->n_children; i++)
		nk_builder_free(builder->children[i]);
	nk_memory_unref(builder->memory);
	free(builder);
}

int64_t nk_builder_n_rows(const nk_builder *builder) { return builder->n_rows; }

nk_builder *nk_builder_child(nk_builder *builder, int i) { return builder->children[i]; }

/* Room for one more value, bit or offset, and for its validity bit. */
static nk_status make_room(nk_builder *builder, nk_error *err)
{
	int64_t n_bitmap = nk_bitmap_bytes(builder->n_rows + 1), n_before = builder->values_capacity;
	NK_TRY(NK_GROW(builder->memory, &builder->validity, &builder->validity_capacity, n_bitmap, err));
	if (builder->physical == NK_PHYSICAL_BOOL && n_bitmap > n_before) {
		NK_TRY(nk__grow(builder->memory, &builder->values, &builder->values_capacity, n_bitmap, 1, err));
		memset((uint8_t *)builder->values + n_before, 0, (size_t)(builder->values_capacity - n_before));
	} else if (builder->n_bytes_each && builder->n_rows + 2 > builder->values_capacity) {
		NK_TRY(nk__grow(builder->memory, &builder->values, &builder->values_capacity, builder->n_rows + 2,
		                builder->n_bytes_each, err));
		if (builder->physical == NK_PHYSICAL_LIST && builder->n_rows == 0)
			((int64_t *)builder->values)[0] = 0;
	}
	return NK_OK;
}

static void close_row(nk_builder *builder, bool valid)
{
	nk_bitmap_put(builder->validity, builder->n_rows, valid);
	builder->n_nulls += !valid;
	builder->n_rows++;
}

static nk_status wrong_kind(const nk_builder *builder, const char *kind, nk_error *err)
{
	return nk_fail(err, NK_SCHEMA_MISMATCH, "%s does not fit into a column of %s", kind,
	               builder->dtype->text);
}

nk_status nk_builder_append_null(nk_builder *builder, nk_error *err)
{
	if (builder->physical == NK_PHYSICAL_STRUCT) {
		for (int i = 0; i < builder->n_children; i++)
			if (builder->children[i]->n_rows == builder->n_rows)
				NK_TRY(nk_builder_append_null(builder->children[i], err));
	}
	NK_TRY(make_room(builder, err));
	if (builder->physical == NK_PHYSICAL_LIST)
		((int64_t *)builder->values)[builder->n_rows + 1] = ((int64_t *)builder->values)[builder->n_rows];
	else if (builder->n_bytes_each)
		memset((uint8_t *)builder->values + builder->n_rows * builder->n_bytes_each, 0,
		       (size_t)builder->n_bytes_each);
	close_row(builder, false);
	return NK_OK;
}

nk_status nk_builder_append_integer(nk_builder *builder, __int128 value, nk_error *err)
{
	if (builder->physical < NK_PHYSICAL_I8 || builder->physical > NK_PHYSICAL_U64)
		return wrong_kind(builder, "an integer", err);
	NK_TRY(make_room(builder, err));
	int64_t row = builder->n_rows;
	void *values = builder->values;
	switch (builder->n_bytes_each) {
	case 1: ((uint8_t *)values)[row] = (uint8_t)value; break;
	case 2: ((uint16_t *)values)[row] = (uint16_t)value; break;
	case 4: ((uint32_t *)values)[row] = (uint32_t)value; break;
	case 8: ((uint64_t *)values)[row] = (uint64_t)value; break;
	default: ((__int128 *)values)[row] = value; break;
	}
	builder->wide |= value != (int64_t)value;
	close_row(builder, true);
	return NK_OK;
}

nk_status nk_builder_append_float(nk_builder *builder, double value, nk_error *err)
{
	if (builder->physical != NK_PHYSICAL_F32 && builder->physical != NK_PHYSICAL_F64)
		return wrong_kind(builder, "a float", err);
	NK_TRY(make_room(builder, err));
	if (builder->physical == NK_PHYSICAL_F32)
		((float *)builder->values)[builder->n_rows] = (float)value;
	else
		((double *)builder->values)[builder->n_rows] = value;
	close_row(builder, true);
	return NK_OK;
}

nk_status nk_builder_append_boolean(nk_builder *builder, bool value, nk_error *err)
{
	if (builder->physical != NK_PHYSICAL_BOOL)
		return wrong_kind(builder, "a boolean", err);
	NK_TRY(make_room(builder, err));
	nk_bitmap_put(builder->values, builder->n_rows, value);
	close_row(builder, true);
	return NK_OK;
}

/* n_bytes of room in the last heap buffer, or in a new one. */
static nk_status heap_room(nk_builder *builder, int64_t n_bytes, nk_error *err)
{
	int64_t n_last = builder->n_heap ? builder->heap[builder->n_heap - 1]->n_bytes : 0;
	if (n_last - builder->n_heap_used >= n_bytes)
		return NK_OK;
	NK_TRY(NK_GROW(builder->memory, &builder->heap, &builder->heap_capacity, builder->n_heap + 1, err));
	int64_t n_next = NK_MAX(n_last * 2, (int64_t)HEAP_FIRST);
	n_next = NK_MIN(n_next, (int64_t)HEAP_LARGEST);
	n_next = NK_MAX(n_next, n_bytes);
	NK_TRY(nk_buffer_new(builder->memory, n_next, &builder->heap[builder->n_heap], err));
	builder->n_heap++;
	builder->n_heap_used = 0;
	return NK_OK;
}

static nk_status append_category(nk_builder *builder, const char *bytes, int64_t n_bytes, nk_error *err)
{
	nk_categories *categories = builder->dtype->categories;
	uint32_t code = nk_categories_find(categories, bytes, n_bytes);
	if (code == NK_CATEGORY_NONE && builder->dtype->id == NK_TYPE_ENUM)
		return nk_fail(err, NK_INVALID_OPERATION, "conversion from `str` to `enum` failed for value \"%.*s\"",
		               (int)NK_MIN(n_bytes, (int64_t)200), bytes);
	if (code == NK_CATEGORY_NONE)
		NK_TRY(nk_categories_add(categories, bytes, n_bytes, &code, err));
	return nk_builder_append_integer(builder, code, err);
}

nk_status nk_builder_append_bytes(nk_builder *builder, const char *bytes, int64_t n_bytes, nk_error *err)
{
	if (nk_type_is_category(builder->dtype->id))
		return append_category(builder, bytes, n_bytes, err);
	if (builder->physical != NK_PHYSICAL_VIEW)
		return wrong_kind(builder, "a string", err);
	if (n_bytes > INT32_MAX)
		return nk_fail(err, NK_COMPUTE, "a string of %lld bytes; the limit is 2 GiB", (long long)n_bytes);
	NK_TRY(make_room(builder, err));
	uint32_t offset = 0;
	if (n_bytes > NK_VIEW_INLINE) {
		NK_TRY(heap_room(builder, n_bytes, err));
		offset = (uint32_t)builder->n_heap_used;
		memcpy(builder->heap[builder->n_heap - 1]->bytes + offset, bytes, (size_t)n_bytes);
		builder->n_heap_used += n_bytes;
	}
	((nk_view *)builder->values)[builder->n_rows] =
		nk_view_make(bytes, (uint32_t)n_bytes, (uint32_t)(builder->n_heap - 1), offset);
	close_row(builder, true);
	return NK_OK;
}

nk_status nk_builder_append_scalar(nk_builder *builder, const nk_scalar *scalar, nk_error *err)
{
	if (scalar->is_null)
		return nk_builder_append_null(builder, err);
	switch (scalar->dtype->id) {
	case NK_TYPE_BOOLEAN: return nk_builder_append_boolean(builder, scalar->boolean, err);
	case NK_TYPE_FLOAT32:
	case NK_TYPE_FLOAT64: return nk_builder_append_float(builder, scalar->floating, err);
	case NK_TYPE_STRING:
	case NK_TYPE_BINARY: return nk_builder_append_bytes(builder, scalar->bytes, scalar->n_bytes, err);
	case NK_TYPE_LIST:
	case NK_TYPE_ARRAY:
	case NK_TYPE_STRUCT: return wrong_kind(builder, "a nested scalar", err);
	default: return nk_builder_append_integer(builder, scalar->integer, err);
	}
}

nk_status nk_builder_append_nested(nk_builder *builder, nk_error *err)
{
	if (builder->physical != NK_PHYSICAL_LIST && builder->physical != NK_PHYSICAL_STRUCT)
		return wrong_kind(builder, "a nested value", err);
	NK_TRY(make_room(builder, err));
	int64_t *offsets = builder->values;
	if (builder->physical == NK_PHYSICAL_LIST)
		offsets[builder->n_rows + 1] = builder->children[0]->n_rows;
	if (builder->dtype->id == NK_TYPE_ARRAY &&
	    offsets[builder->n_rows + 1] - offsets[builder->n_rows] != builder->dtype->width)
		return nk_fail(err, NK_COMPUTE, "not all elements have the specified width %lld",
		               (long long)builder->dtype->width);
	for (int i = 0; builder->physical == NK_PHYSICAL_STRUCT && i < builder->n_children; i++)
		if (builder->children[i]->n_rows != builder->n_rows + 1)
			return nk_fail(err, NK_SHAPE, "field '%s' of a struct was not given exactly one value",
			               builder->dtype->fields[i].name);
	close_row(builder, true);
	return NK_OK;
}

/* ---- Finishing ---- */

static nk_status take_validity(nk_builder *builder, nk_buffer **out, nk_error *err)
{
	*out = NULL;
	if (builder->n_nulls == 0)
		return NK_OK;
	int64_t capacity = builder->validity_capacity;
	builder->validity_capacity = 0;
	return nk_buffer_adopt(builder->memory, NK_STEAL(builder->validity), capacity,
	                       nk_bitmap_bytes(builder->n_rows), out, err);
}

static nk_status take_values(nk_builder *builder, nk_buffer **out, nk_error *err)
{
	int64_t n_rows = builder->n_rows + (builder->physical == NK_PHYSICAL_LIST);
	int64_t n_bytes =
		builder->physical == NK_PHYSICAL_BOOL ? nk_bitmap_bytes(n_rows) : n_rows * builder->n_bytes_each;
	if (!builder->values)
		return nk_buffer_new_zeroed(builder->memory, n_bytes, out, err);
	int64_t n_block = builder->values_capacity * (builder->n_bytes_each ? builder->n_bytes_each : 1);
	builder->values_capacity = 0;
	return nk_buffer_adopt(builder->memory, NK_STEAL(builder->values), n_block, n_bytes, out, err);
}

static nk_status take_heap(nk_builder *builder, nk_heap **out, nk_error *err)
{
	*out = NULL;
	if (builder->n_heap == 0)
		return NK_OK;
	builder->heap[builder->n_heap - 1]->n_bytes = builder->n_heap_used;
	int n_heap = builder->n_heap;
	builder->n_heap = 0;
	return nk_heap_new(builder->heap, n_heap, out, err);
}

static void narrow(nk_buffer *values, int64_t n_rows)
{
	const __int128 *from = (const __int128 *)(const void *)values->bytes;
	int64_t *to = (int64_t *)(void *)values->bytes;
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t value = (int64_t)from[i];
		memcpy(&to[i], &value, sizeof value);
	}
	nk_buffer_shrink(values, n_rows * (int64_t)sizeof(int64_t));
}

static nk_status finish(nk_builder *builder, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) values = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_AUTO(nk_heap) heap = NULL;
	int64_t n_rows = builder->n_rows, n_nulls = builder->n_nulls;
	nk_physical physical = builder->physical;
	NK_TRY(take_validity(builder, &validity, err));
	if (physical == NK_PHYSICAL_STRUCT) {
		nk_array **fields = calloc((size_t)NK_MAX(builder->n_children, 1), sizeof *fields);
		if (!fields)
			return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a struct");
		nk_status status = NK_OK;
		for (int i = 0; i < builder->n_children && status == NK_OK; i++)
			status = nk_builder_finish(builder->children[i], &fields[i], err);
		if (status == NK_OK)
			status =
				nk_array_new_struct(builder->dtype, n_rows, fields, NK_STEAL(validity), n_nulls, out, err);
		else
			for (int i = 0; i < builder->n_children; i++)
				nk_array_unref(fields[i]);
		free(fields);
		return status;
	}
	if (physical != NK_PHYSICAL_NONE)
		NK_TRY(take_values(builder, &values, err));
	if (physical == NK_PHYSICAL_LIST) {
		NK_AUTO(nk_array) items = NULL;
		NK_TRY(nk_builder_finish(builder->children[0], &items, err));
		return nk_array_new_list(builder->dtype, n_rows, NK_STEAL(values), NK_STEAL(items),
		                         NK_STEAL(validity), n_nulls, out, err);
	}
	NK_TRY(take_heap(builder, &heap, err));
	if (builder->dtype->id == NK_TYPE_DECIMAL && !builder->wide) {
		narrow(values, n_rows);
		physical = NK_PHYSICAL_I64;
	}
	return nk_array_new_flat(builder->dtype, physical, n_rows, NK_STEAL(values), NK_STEAL(validity), n_nulls,
	                         NK_STEAL(heap), out, err);
}

nk_status nk_builder_finish(nk_builder *builder, nk_array **out, nk_error *err)
{
	nk_status status = finish(builder, out, err);
	clear(builder);
	return status;
}
