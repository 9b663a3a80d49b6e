/* A value is a byte that tells null and then, unless null: fixed-width values as they are (Decimals always 16 bytes,
 * floats with one zero and one NaN), text a 4-byte length and its bytes, a list its 8-byte length and its items, a
 * struct its fields. Lengths come first, so that no two different values have the same bytes. */
#include "compute/nested_keys.h"

#include <stdlib.h>

#include "columnar/builder.h"
#include "compute/group_table.h"
#include "compute/text_writer.h"

#define T uint8_t
#define SUFFIX 1
#include "compute/first_tmpl.h"
#define T uint16_t
#define SUFFIX 2
#include "compute/first_tmpl.h"
#define T uint32_t
#define SUFFIX 4
#include "compute/first_tmpl.h"
#define T uint64_t
#define SUFFIX 8
#include "compute/first_tmpl.h"
#define T unsigned __int128
#define SUFFIX 16
#include "compute/first_tmpl.h"

/* ---- Encoding ---- */

static const nk_array *locate(const nk_array *array, int64_t *row)
{
	*row = nk_array_index(array, *row);
	if (array->encoding != NK_DICTIONARY)
		return array;
	*row = ((const uint32_t *)array->values)[*row];
	return array->dictionary;
}

static int fixed_width(const nk_array *array)
{
	return array->dtype->id == NK_TYPE_DECIMAL   ? 16
	       : array->physical == NK_PHYSICAL_BOOL ? 1
	                                             : nk_physical_size(array->physical);
}

static int64_t size_of(const nk_array *array, int64_t row)
{
	if (!nk_array_is_valid(array, row))
		return 1;
	array = locate(array, &row);
	int64_t n = 1;
	const int64_t *offsets;
	switch (array->physical) {
	case NK_PHYSICAL_VIEW: return n + 4 + ((const nk_view *)array->values)[row].n_bytes;
	case NK_PHYSICAL_LIST:
		offsets = (const int64_t *)array->values + row;
		n += 8;
		for (int64_t i = offsets[0]; i < offsets[1]; i++)
			n += size_of(array->children[0], i);
		return n;
	case NK_PHYSICAL_STRUCT:
		for (int i = 0; i < array->n_children; i++)
			n += size_of(array->children[i], row);
		return n;
	default: return n + fixed_width(array);
	}
}

static uint8_t *put(const nk_array *array, int64_t row, uint8_t *to)
{
	bool valid = nk_array_is_valid(array, row);
	*to++ = valid;
	if (!valid)
		return to;
	array = locate(array, &row);
	switch (array->physical) {
	case NK_PHYSICAL_NONE: return to;
	case NK_PHYSICAL_BOOL: *to++ = nk_bitmap_get(array->values, row); return to;
	case NK_PHYSICAL_VIEW: {
		const nk_view *view = (const nk_view *)array->values + row;
		memcpy(to, &view->n_bytes, 4);
		memcpy(to + 4, nk_view_bytes(view, array->heap), view->n_bytes);
		return to + 4 + view->n_bytes;
	}
	case NK_PHYSICAL_LIST: {
		const int64_t *offsets = (const int64_t *)array->values + row;
		int64_t n = offsets[1] - offsets[0];
		memcpy(to, &n, 8);
		to += 8;
		for (int64_t i = offsets[0]; i < offsets[1]; i++)
			to = put(array->children[0], i, to);
		return to;
	}
	case NK_PHYSICAL_STRUCT:
		for (int i = 0; i < array->n_children; i++)
			to = put(array->children[i], row, to);
		return to;
	case NK_PHYSICAL_F32: {
		float value = ((const float *)array->values)[row];
		value = value == 0 ? 0.0f : value != value ? __builtin_nanf("") : value;
		memcpy(to, &value, 4);
		return to + 4;
	}
	case NK_PHYSICAL_F64: {
		double value = ((const double *)array->values)[row];
		value = value == 0 ? 0.0 : value != value ? __builtin_nan("") : value;
		memcpy(to, &value, 8);
		return to + 8;
	}
	default:
		if (array->dtype->id == NK_TYPE_DECIMAL && array->physical == NK_PHYSICAL_I64) {
			__int128 wide = ((const int64_t *)array->values)[row];
			memcpy(to, &wide, 16);
			return to + 16;
		}
		int width = nk_physical_size(array->physical);
		memcpy(to, (const char *)array->values + row * width, (size_t)width);
		return to + width;
	}
}

nk_status nk_nested_encode(nk_memory *memory, nk_array *array, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) flat = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TEXT_WRITER(writer);
	NK_TRY(nk_array_flatten(memory, array, &flat, err));
	int64_t n_rows = flat->n_rows;
	NK_TRY(nk_text_writer_init(&writer, memory, nk_dtype_of(NK_TYPE_BINARY), n_rows, err));
	for (int64_t i = 0; i < n_rows; i++) {
		if (!nk_array_is_valid(flat, i)) {
			nk_text_writer_skip(&writer);
			continue;
		}
		int64_t size = size_of(flat, i);
		char *room;
		if (size > INT32_MAX)
			return nk_fail(err, NK_COMPUTE, "a key of %lld bytes is too large", (long long)size);
		NK_TRY(nk_text_writer_room(&writer, size, &room, err));
		put(flat, i, (uint8_t *)room);
		nk_text_writer_commit(&writer, size);
	}
	if (flat->validity) {
		NK_TRY(nk_buffer_new(memory, nk_bitmap_bytes(n_rows), &validity, err));
		memcpy(validity->bytes, flat->validity, (size_t)nk_bitmap_bytes(n_rows));
	}
	return nk_text_writer_finish(&writer, NK_STEAL(validity), out, err);
}

/* ---- Decoding ---- */

static nk_status get(nk_builder *builder, const nk_dtype *dtype, const uint8_t **at, nk_error *err)
{
	if (!*(*at)++)
		return nk_builder_append_null(builder, err);
	int width = dtype->physical == NK_PHYSICAL_BOOL ? 1 : nk_physical_size(dtype->physical);
	const uint8_t *from = *at;
	switch (dtype->physical) {
	case NK_PHYSICAL_NONE: return nk_builder_append_null(builder, err);
	case NK_PHYSICAL_VIEW: {
		uint32_t n;
		memcpy(&n, from, 4);
		*at += 4 + n;
		return nk_builder_append_bytes(builder, (const char *)from + 4, n, err);
	}
	case NK_PHYSICAL_LIST: {
		int64_t n;
		memcpy(&n, from, 8);
		*at += 8;
		for (int64_t i = 0; i < n; i++)
			NK_TRY(get(nk_builder_child(builder, 0), dtype->fields[0].dtype, at, err));
		return nk_builder_append_nested(builder, err);
	}
	case NK_PHYSICAL_STRUCT:
		for (int i = 0; i < dtype->n_fields; i++)
			NK_TRY(get(nk_builder_child(builder, i), dtype->fields[i].dtype, at, err));
		return nk_builder_append_nested(builder, err);
	default: break;
	}
	*at += width;
	if (dtype->physical == NK_PHYSICAL_BOOL)
		return nk_builder_append_boolean(builder, *from, err);
	if (nk_type_is_float(dtype->id)) {
		float narrow;
		double wide;
		memcpy(&narrow, from, 4);
		if (width == 8)
			memcpy(&wide, from, 8);
		else
			wide = (double)narrow;
		return nk_builder_append_float(builder, wide, err);
	}
	bool is_signed = dtype->physical <= NK_PHYSICAL_I128;
	__int128 value = is_signed && (from[width - 1] & 0x80) ? -1 : 0;
	memcpy(&value, from, (size_t)width);
	return nk_builder_append_integer(builder, value, err);
}

nk_status nk_nested_decode(nk_memory *memory, const nk_array *bytes, const nk_dtype *dtype, nk_array **out,
                           nk_error *err)
{
	NK_AUTO(nk_builder) builder = NULL;
	NK_TRY(nk_builder_new(memory, dtype, &builder, err));
	const nk_view *views = bytes->values;
	for (int64_t i = 0; i < bytes->n_rows; i++) {
		if (!nk_array_is_valid(bytes, i)) {
			NK_TRY(nk_builder_append_null(builder, err));
			continue;
		}
		const uint8_t *at = (const uint8_t *)nk_view_bytes(&views[i], bytes->heap);
		NK_TRY(get(builder, dtype, &at, err));
	}
	return nk_builder_finish(builder, out, err);
}

/* ---- Keys ---- */

void nk_plain_keys_release(nk_plain_keys *keys)
{
	for (int i = 0; keys->owned && i < keys->n; i++)
		nk_array_unref(keys->owned[i]);
	free(keys->owned);
	*keys = (nk_plain_keys){0};
}

nk_status nk_plain_keys_of(nk_memory *memory, nk_array *const *keys, int n_keys, nk_plain_keys *out,
                           nk_error *err)
{
	NK_PLAIN_KEYS(plain);
	plain.arrays = keys;
	plain.n = n_keys;
	for (int k = 0; k < n_keys; k++) {
		if (!nk_type_is_nested(keys[k]->dtype->id))
			continue;
		if (!plain.owned) {
			if (!(plain.owned = calloc((size_t)n_keys, sizeof *plain.owned)))
				return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for keys");
			for (int j = 0; j < n_keys; j++)
				plain.owned[j] = nk_array_ref(keys[j]);
			plain.arrays = plain.owned;
		}
		nk_array *encoded;
		NK_TRY(nk_nested_encode(memory, keys[k], &encoded, err));
		nk_array_unref(plain.owned[k]);
		plain.owned[k] = encoded;
	}
	*out = plain;
	plain = (nk_plain_keys){0};
	return NK_OK;
}

/* Short lists of values that are equal when their bytes are: each value is compared with those before it, which is
 * quicker than any table. False: these lists are not so. */
static bool first_by_comparing(const nk_lists *lists, uint8_t *first)
{
	enum { MOST_ITEMS = 24 };
	const nk_array *items = lists->items;
	int width = nk_physical_size(items->physical);
	if (width == 0 || items->validity || items->physical == NK_PHYSICAL_VIEW ||
	    nk_type_is_float(items->dtype->id))
		return false;
	for (int64_t i = 0; i < lists->n_rows; i++)
		if (lists->offsets[i + 1] - lists->offsets[i] > MOST_ITEMS)
			return false;
	for (int64_t i = 0; i < lists->n_rows; i++) {
		int64_t from = lists->offsets[i], to = lists->offsets[i + 1];
		switch (width) {
		case 1: first_1(items->values, from, to, first); break;
		case 2: first_2(items->values, from, to, first); break;
		case 4: first_4(items->values, from, to, first); break;
		case 8: first_8(items->values, from, to, first); break;
		default: first_16(items->values, from, to, first); break;
		}
	}
	return true;
}

nk_status nk_items_first(nk_memory *memory, const nk_lists *lists, uint8_t *first, nk_error *err)
{
	enum { BLOCK = 4096 };
	if (first_by_comparing(lists, first))
		return NK_OK;
	NK_AUTO(nk_group_table) table = NULL;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_AUTO(nk_array) row_keys = NULL;
	int64_t n_items = lists->offsets[lists->n_rows], n_known = 0;
	const nk_dtype *dtypes[] = {nk_dtype_of(NK_TYPE_UINT32), lists->items->dtype};
	NK_TRY(nk_lists_rows(memory, lists->offsets, lists->n_rows, &rows, err));
	NK_TRY(nk_array_new_flat(dtypes[0], NK_PHYSICAL_U32, n_items, NK_STEAL(rows), NULL, 0, NULL, &row_keys,
	                         err));
	NK_TRY(nk_group_table_new(memory, dtypes, 2, 0, &table, err));
	for (int64_t i = 0; i < n_items; i += BLOCK) {
		int64_t n = NK_MIN(n_items - i, (int64_t)BLOCK);
		uint32_t groups[BLOCK];
		NK_AUTO(nk_array) row_block = NULL;
		NK_AUTO(nk_array) item_block = NULL;
		NK_TRY(nk_array_slice(memory, row_keys, i, n, &row_block, err));
		NK_TRY(nk_array_slice(memory, lists->items, i, n, &item_block, err));
		NK_TRY(nk_group_table_insert(table, (nk_array *[]){row_block, item_block}, n, groups, err));
		for (int64_t j = 0; j < n; j++) {
			first[i + j] = groups[j] == n_known;
			n_known += first[i + j];
		}
	}
	return NK_OK;
}
