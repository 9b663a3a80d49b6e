/* The Parquet sink: row groups of pages of version 1, dictionaries where they are small, statistics for chunks and
 * pages, page index, all columns optional.
 *
 * Batches are kept until they fill a row group, which is then written column by column. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "func/cast.h"
#include "io/ipc/schema_write.h"
#include "io/output.h"
#include "io/parquet/encode.h"
#include "io/parquet/nested_write.h"
#include "io/parquet/parquet.h"

enum { GROUP_ROWS = 122880, PAGE_ROWS = 20000, LEVEL_BITS = 1 };

typedef struct page_info {
	int64_t offset, first_row;
	int32_t n_bytes;
	int64_t n_values, n_nulls;
	nk_text min, max; /* empty and has_bounds false: none */
	bool has_bounds;
} page_info;

/* What the footer will say of a chunk. */
typedef struct chunk_info {
	int64_t n_values, offset, data_offset, n_bytes, n_bytes_uncompressed, n_nulls;
	bool has_dictionary, has_bounds;
	nk_text min, max;
	page_info *pages;
	int64_t n_pages, pages_capacity;
	int64_t offset_index, column_index;
	int32_t n_offset_index, n_column_index;
} chunk_info;

typedef struct group_info {
	int64_t n_rows;
	chunk_info *chunks;
} group_info;

typedef struct parquet_sink {
	nk_sink base;
	nk_parquet_sink_options options;
	char *path;
	nk_memory *memory;
	nk_schema *schema; /* owned */
	int n_leaves;
	nk_leaf *leaves;    /* of all columns; a flat column is one */
	nk_output *output;  /* NULL: not open */
	nk_batch **batches; /* of the group under way; owned */
	int64_t n_batches, batches_capacity, n_rows, n_rows_total;
	group_info *groups;
	int64_t n_groups, groups_capacity;
	uint8_t *packed; /* room for a compressed page */
	int64_t packed_capacity;
} parquet_sink;

static nk_status out_of_memory(nk_error *err)
{
	return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for the Parquet file");
}

static nk_status put(parquet_sink *sink, const void *bytes, int64_t n_bytes, nk_error *err)
{
	return nk__output_put(sink->output, bytes, n_bytes, err);
}

/* Write one page; *n_bytes and *n_raw grow by its sizes with the header. */
static nk_status put_page(parquet_sink *sink, const nk_text *body, nk_page_type type,
                          nk_parquet_encoding encoding, int64_t n_values, chunk_info *chunk, nk_error *err)
{
	nk_codec codec = sink->options.codec;
	int64_t n_room = nk__codec_bound(codec, body->n_bytes), n_packed = 0;
	NK_TRY(NK_GROW(sink->memory, &sink->packed, &sink->packed_capacity, n_room, err));
	NK_TRY(nk__codec_compress(codec, sink->options.level, (const uint8_t *)body->bytes, body->n_bytes,
	                          sink->packed, &n_packed, err));
	NK_TEXT(header);
	int last = 0, inner = 0;
	nk__thrift_put_integer(&header, &last, 1, NK_THRIFT_I32, type);
	nk__thrift_put_integer(&header, &last, 2, NK_THRIFT_I32, body->n_bytes);
	nk__thrift_put_integer(&header, &last, 3, NK_THRIFT_I32, n_packed);
	nk__thrift_put_struct(&header, &last, type == NK_PAGE_DATA ? 5 : 7);
	nk__thrift_put_integer(&header, &inner, 1, NK_THRIFT_I32, n_values);
	nk__thrift_put_integer(&header, &inner, 2, NK_THRIFT_I32, encoding);
	if (type == NK_PAGE_DATA) {
		nk__thrift_put_integer(&header, &inner, 3, NK_THRIFT_I32, NK_ENCODING_RLE);
		nk__thrift_put_integer(&header, &inner, 4, NK_THRIFT_I32, NK_ENCODING_RLE);
	}
	nk__thrift_put_stop(&header);
	nk__thrift_put_stop(&header);
	NK_TRY(nk_text_finish(&header, err));
	NK_TRY(put(sink, header.bytes, header.n_bytes, err));
	NK_TRY(put(sink, sink->packed, n_packed, err));
	chunk->n_bytes += header.n_bytes + n_packed;
	chunk->n_bytes_uncompressed += header.n_bytes + body->n_bytes;
	return NK_OK;
}

/* Smallest and largest value of some rows; NaN is left out. */
static bool find_bounds(const nk_array *array, int64_t first, int64_t n, nk_scalar *min, nk_scalar *max)
{
	bool has_any = false;
	for (int64_t i = first; i < first + n; i++) {
		nk_scalar value = nk_scalar_read(array, i);
		if (value.is_null || (nk_type_is_float(array->dtype->id) && isnan(value.floating)))
			continue;
		if (!has_any || nk_scalar_compare(&value, min) < 0)
			*min = value;
		if (!has_any || nk_scalar_compare(&value, max) > 0)
			*max = value;
		has_any = true;
	}
	return has_any;
}

/* Bounds of some values as texts; has_bounds false: there are none. */
static nk_status put_bounds(const nk_stored *stored, const nk_array *array, int64_t first, int64_t n,
                            nk_text *min, nk_text *max, bool *has_bounds, nk_error *err)
{
	nk_scalar least, greatest;
	*has_bounds = find_bounds(array, first, n, &least, &greatest);
	if (!*has_bounds)
		return NK_OK;
	nk__bound_encode(min, stored, &least);
	nk__bound_encode(max, stored, &greatest);
	NK_TRY(nk_text_finish(min, err));
	return nk_text_finish(max, err);
}

static nk_status put_data_page(parquet_sink *sink, const nk_stored *stored, const nk_array *array,
                               const uint32_t *codes, int width, int64_t first, int64_t n, uint32_t *scratch,
                               chunk_info *chunk, nk_error *err)
{
	NK_TRY(NK_GROW(sink->memory, &chunk->pages, &chunk->pages_capacity, chunk->n_pages + 1, err));
	page_info *page = &chunk->pages[chunk->n_pages++];
	*page = (page_info){.offset = nk__output_position(sink->output), .first_row = first, .n_values = n};
	NK_TRY(put_bounds(stored, array, first, n, &page->min, &page->max, &page->has_bounds, err));
	NK_TEXT(levels);
	for (int64_t i = 0; i < n; i++) {
		scratch[i] = nk_array_is_valid(array, first + i);
		page->n_nulls += !scratch[i];
	}
	nk__rle_encode(&levels, scratch, n, LEVEL_BITS);
	NK_TRY(nk_text_finish(&levels, err));
	NK_TEXT(body);
	uint32_t n_levels = (uint32_t)levels.n_bytes;
	nk_text_append(&body, (const char *)&n_levels, 4);
	nk_text_append(&body, levels.bytes, levels.n_bytes);
	if (codes) {
		int64_t n_codes = 0;
		for (int64_t i = first; i < first + n; i++)
			if (nk_array_is_valid(array, i))
				scratch[n_codes++] = codes[i];
		nk_text_append_char(&body, (char)width);
		nk__rle_encode(&body, scratch, n_codes, width);
	} else if (array->dtype->id != NK_TYPE_NULL) {
		nk__plain_encode(&body, stored, array, first, n);
	}
	NK_TRY(nk_text_finish(&body, err));
	NK_TRY(put_page(sink, &body, NK_PAGE_DATA, codes ? NK_ENCODING_RLE_DICTIONARY : NK_ENCODING_PLAIN, n,
	                chunk, err));
	page->n_bytes = (int32_t)(nk__output_position(sink->output) - page->offset);
	chunk->n_nulls += page->n_nulls;
	return NK_OK;
}

/* A page of distinct values, where they are few: then *codes are those of all rows, and *width their bits. */
static nk_status put_dictionary(parquet_sink *sink, const nk_stored *stored, const nk_array *array,
                                uint32_t *codes, int *width, chunk_info *chunk, nk_error *err)
{
	int64_t n_distinct = -1;
	NK_TEXT(dictionary);
	chunk->offset = nk__output_position(sink->output);
	if (!sink->options.plain && stored->type != NK_PARQUET_BOOLEAN && array->dtype->id != NK_TYPE_NULL)
		NK_TRY(nk__dictionary_encode(stored, array, codes, &dictionary, &n_distinct, err));
	*width = 0;
	if (n_distinct >= 0) {
		NK_TRY(nk_text_finish(&dictionary, err));
		chunk->has_dictionary = true;
		while (n_distinct > 1ll << *width)
			(*width)++;
		NK_TRY(put_page(sink, &dictionary, NK_PAGE_DICTIONARY, NK_ENCODING_PLAIN, n_distinct, chunk, err));
	}
	chunk->data_offset = nk__output_position(sink->output);
	return put_bounds(stored, array, 0, array->n_rows, &chunk->min, &chunk->max, &chunk->has_bounds, err);
}

static nk_status put_chunk(parquet_sink *sink, const nk_stored *stored, const nk_array *array,
                           chunk_info *chunk, nk_error *err)
{
	int64_t n_rows = array->n_rows;
	NK_AUTO(nk_buffer) codes = NULL;
	NK_AUTO(nk_buffer) scratch = NULL;
	NK_TRY(nk_buffer_new(sink->memory, 4 * n_rows, &codes, err));
	NK_TRY(nk_buffer_new(sink->memory, 4 * n_rows, &scratch, err));
	chunk->n_values = n_rows;
	int width;
	NK_TRY(put_dictionary(sink, stored, array, (uint32_t *)codes->bytes, &width, chunk, err));
	for (int64_t first = 0; first < n_rows; first += sink->options.page_rows)
		NK_TRY(put_data_page(
			sink, stored, array, chunk->has_dictionary ? (const uint32_t *)codes->bytes : NULL, width, first,
			NK_MIN(sink->options.page_rows, n_rows - first), (uint32_t *)scratch->bytes, chunk, err));
	return NK_OK;
}

/* n levels of at most `most` behind their length, as pages of version 1 have them. */
static nk_status put_levels(nk_text *out, const uint8_t *levels, int64_t n, int most, uint32_t *scratch,
                            nk_error *err)
{
	if (most == 0)
		return NK_OK;
	NK_TEXT(runs);
	for (int64_t i = 0; i < n; i++)
		scratch[i] = levels[i];
	nk__rle_encode(&runs, scratch, n, 32 - __builtin_clz((unsigned)most));
	NK_TRY(nk_text_finish(&runs, err));
	uint32_t n_bytes = (uint32_t)runs.n_bytes;
	nk_text_append(out, (const char *)&n_bytes, 4);
	nk_text_append(out, runs.bytes, runs.n_bytes);
	return NK_OK;
}

/* Entries [first, first + n), whose values are [value, value + n_values). */
static nk_status put_nested_page(parquet_sink *sink, const nk_leaf *leaf, const nk_leaf_entries *entries,
                                 const uint32_t *codes, int width, int64_t row, int64_t first, int64_t n,
                                 int64_t value, int64_t n_values, uint32_t *scratch, chunk_info *chunk,
                                 nk_error *err)
{
	NK_TRY(NK_GROW(sink->memory, &chunk->pages, &chunk->pages_capacity, chunk->n_pages + 1, err));
	page_info *page = &chunk->pages[chunk->n_pages++];
	*page = (page_info){.offset = nk__output_position(sink->output),
	                    .first_row = row,
	                    .n_values = n,
	                    .n_nulls = n - n_values};
	NK_TRY(put_bounds(&leaf->stored, entries->values, value, n_values, &page->min, &page->max,
	                  &page->has_bounds, err));
	NK_TEXT(body);
	NK_TRY(put_levels(&body, entries->repetitions->bytes + first, n, leaf->repetition_max, scratch, err));
	NK_TRY(put_levels(&body, entries->definitions->bytes + first, n, leaf->definition_max, scratch, err));
	if (codes) {
		nk_text_append_char(&body, (char)width);
		nk__rle_encode(&body, codes + value, n_values, width);
	} else if (leaf->dtype->id != NK_TYPE_NULL) {
		nk__plain_encode(&body, &leaf->stored, entries->values, value, n_values);
	}
	NK_TRY(nk_text_finish(&body, err));
	NK_TRY(put_page(sink, &body, NK_PAGE_DATA, codes ? NK_ENCODING_RLE_DICTIONARY : NK_ENCODING_PLAIN, n,
	                chunk, err));
	page->n_bytes = (int32_t)(nk__output_position(sink->output) - page->offset);
	chunk->n_nulls += page->n_nulls;
	return NK_OK;
}

/* Pages begin with rows. */
static nk_status put_nested_pages(parquet_sink *sink, const nk_leaf *leaf, const nk_leaf_entries *entries,
                                  chunk_info *chunk, nk_error *err)
{
	NK_AUTO(nk_buffer) codes = NULL;
	NK_AUTO(nk_buffer) scratch = NULL;
	NK_TRY(nk_buffer_new(sink->memory, 4 * entries->values->n_rows, &codes, err));
	NK_TRY(nk_buffer_new(sink->memory, 4 * entries->n, &scratch, err));
	chunk->n_values = entries->n;
	int width;
	NK_TRY(
		put_dictionary(sink, &leaf->stored, entries->values, (uint32_t *)codes->bytes, &width, chunk, err));
	const uint8_t *repetitions = entries->repetitions->bytes, *definitions = entries->definitions->bytes;
	int64_t row = 0, value = 0;
	for (int64_t first = 0; first < entries->n;) {
		int64_t end = first, n_rows = 0, n_values = 0;
		while (end < entries->n && (repetitions[end] > 0 || end - first < sink->options.page_rows)) {
			n_rows += repetitions[end] == 0;
			n_values += definitions[end] == leaf->definition_max;
			end++;
		}
		NK_TRY(put_nested_page(sink, leaf, entries,
		                       chunk->has_dictionary ? (const uint32_t *)codes->bytes : NULL, width, row,
		                       first, end - first, value, n_values, (uint32_t *)scratch->bytes, chunk, err));
		first = end;
		row += n_rows;
		value += n_values;
	}
	return NK_OK;
}

static nk_status put_leaf(parquet_sink *sink, const nk_leaf *leaf, nk_array *column, chunk_info *chunk,
                          nk_error *err)
{
	if (leaf->n_steps == 0)
		return put_chunk(sink, &leaf->stored, column, chunk, err);
	nk_leaf_entries entries = {0};
	nk_status status = nk__leaf_entries_of(sink->memory, leaf, column, &entries, err);
	if (status == NK_OK)
		status = put_nested_pages(sink, leaf, &entries, chunk, err);
	nk__leaf_entries_release(&entries);
	return status;
}

/* Column `column` of the rows that wait, as one flat array. */
static nk_status gather_column(parquet_sink *sink, int column, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) room = NULL;
	NK_TRY(nk_buffer_new(sink->memory, sink->n_batches * (int64_t)sizeof(nk_array *), &room, err));
	nk_array **arrays = (nk_array **)room->bytes;
	for (int64_t i = 0; i < sink->n_batches; i++)
		arrays[i] = sink->batches[i]->columns[column];
	return nk_array_concat(sink->memory, arrays, (int)sink->n_batches, out, err);
}

static void clear_batches(parquet_sink *sink)
{
	for (int64_t i = 0; i < sink->n_batches; i++)
		nk_batch_free(sink->batches[i]);
	sink->n_batches = sink->n_rows = 0;
}

static nk_status put_group(parquet_sink *sink, nk_error *err)
{
	if (sink->n_rows == 0)
		return NK_OK;
	NK_TRY(NK_GROW(sink->memory, &sink->groups, &sink->groups_capacity, sink->n_groups + 1, err));
	group_info *group = &sink->groups[sink->n_groups];
	*group = (group_info){.n_rows = sink->n_rows,
	                      .chunks = calloc((size_t)sink->n_leaves + 1, sizeof(chunk_info))};
	if (!group->chunks)
		return out_of_memory(err);
	sink->n_groups++;
	for (int leaf = 0; leaf < sink->n_leaves;) {
		int column = sink->leaves[leaf].column;
		NK_AUTO(nk_array) array = NULL;
		NK_TRY(gather_column(sink, column, &array, err));
		for (; leaf < sink->n_leaves && sink->leaves[leaf].column == column; leaf++) {
			nk_status status = put_leaf(sink, &sink->leaves[leaf], array, &group->chunks[leaf], err);
			if (status != NK_OK)
				return nk_error_context(err, status, "column '%s'", sink->schema->fields[column].name);
		}
	}
	sink->n_rows_total += sink->n_rows;
	clear_batches(sink);
	return NK_OK;
}

static nk_status put_page_index(parquet_sink *sink, chunk_info *chunk, nk_error *err)
{
	NK_TEXT(bounds);
	NK_TEXT(offsets);
	int last = 0;
	nk__thrift_put_list(&bounds, &last, 1, NK_THRIFT_TRUE, chunk->n_pages);
	for (int64_t i = 0; i < chunk->n_pages; i++)
		nk_text_append_char(&bounds, chunk->pages[i].has_bounds ? 2 : 1);
	nk__thrift_put_list(&bounds, &last, 2, NK_THRIFT_BINARY, chunk->n_pages);
	for (int64_t i = 0; i < chunk->n_pages; i++)
		nk__thrift_put_string(&bounds, chunk->pages[i].min.bytes, chunk->pages[i].min.n_bytes);
	nk__thrift_put_list(&bounds, &last, 3, NK_THRIFT_BINARY, chunk->n_pages);
	for (int64_t i = 0; i < chunk->n_pages; i++)
		nk__thrift_put_string(&bounds, chunk->pages[i].max.bytes, chunk->pages[i].max.n_bytes);
	nk__thrift_put_integer(&bounds, &last, 4, NK_THRIFT_I32, 0);
	nk__thrift_put_list(&bounds, &last, 5, NK_THRIFT_I64, chunk->n_pages);
	for (int64_t i = 0; i < chunk->n_pages; i++)
		nk__thrift_put_zigzag(&bounds, chunk->pages[i].n_nulls);
	nk__thrift_put_stop(&bounds);
	last = 0;
	nk__thrift_put_list(&offsets, &last, 1, NK_THRIFT_STRUCT, chunk->n_pages);
	for (int64_t i = 0; i < chunk->n_pages; i++) {
		int inner = 0;
		nk__thrift_put_integer(&offsets, &inner, 1, NK_THRIFT_I64, chunk->pages[i].offset);
		nk__thrift_put_integer(&offsets, &inner, 2, NK_THRIFT_I32, chunk->pages[i].n_bytes);
		nk__thrift_put_integer(&offsets, &inner, 3, NK_THRIFT_I64, chunk->pages[i].first_row);
		nk__thrift_put_stop(&offsets);
	}
	nk__thrift_put_stop(&offsets);
	NK_TRY(nk_text_finish(&bounds, err));
	NK_TRY(nk_text_finish(&offsets, err));
	/* a page of NaN alone has no bounds and is no page of nulls: such a chunk goes without a column index */
	bool is_honest = !sink->options.no_statistics;
	for (int64_t i = 0; i < chunk->n_pages; i++) {
		is_honest &= chunk->pages[i].has_bounds || chunk->pages[i].n_nulls == chunk->pages[i].n_values;
	}
	if (is_honest) {
		chunk->column_index = nk__output_position(sink->output);
		chunk->n_column_index = (int32_t)bounds.n_bytes;
		NK_TRY(put(sink, bounds.bytes, bounds.n_bytes, err));
	}
	chunk->offset_index = nk__output_position(sink->output);
	chunk->n_offset_index = (int32_t)offsets.n_bytes;
	return put(sink, offsets.bytes, offsets.n_bytes, err);
}

static void describe_logical(nk_text *out, int *last, const nk_dtype *dtype, int logical)
{
	int union_last = 0, last_inner = 0, unit_last = 0;
	nk__thrift_put_struct(out, last, 10);
	nk__thrift_put_struct(out, &union_last, logical);
	switch (logical) {
	case NK_PARQUET_DECIMAL:
		nk__thrift_put_integer(out, &last_inner, 1, NK_THRIFT_I32, dtype->scale);
		nk__thrift_put_integer(out, &last_inner, 2, NK_THRIFT_I32, dtype->precision);
		break;
	case NK_PARQUET_INTEGER:
		nk__thrift_put_integer(out, &last_inner, 1, NK_THRIFT_I8, 8 * nk_physical_size(dtype->physical));
		nk__thrift_put_boolean(out, &last_inner, 2, nk_type_is_signed(dtype->id));
		break;
	case NK_PARQUET_TIME:
	case NK_PARQUET_TIMESTAMP: {
		nk_time_unit unit = logical == NK_PARQUET_TIME ? NK_UNIT_NS : dtype->unit;
		nk__thrift_put_boolean(out, &last_inner, 1, logical == NK_PARQUET_TIMESTAMP && dtype->time_zone);
		nk__thrift_put_struct(out, &last_inner, 2);
		nk__thrift_put_struct(out, &unit_last, unit == NK_UNIT_MS ? 1 : unit == NK_UNIT_US ? 2 : 3);
		nk__thrift_put_stop(out);
		nk__thrift_put_stop(out);
		break;
	}
	default: break;
	}
	nk__thrift_put_stop(out);
	nk__thrift_put_stop(out);
}

static int n_elements(const nk_dtype *dtype)
{
	int n = dtype->physical == NK_PHYSICAL_LIST ? 2 : 1;
	for (int i = 0; nk_type_is_nested(dtype->id) && i < dtype->n_fields; i++)
		n += n_elements(dtype->fields[i].dtype);
	return n;
}

static void describe_group(nk_text *out, const char *name, nk_repetition repetition, int n_children,
                           int logical)
{
	enum { CONVERTED_LIST = 3 };
	int last = 0;
	nk__thrift_put_integer(out, &last, 3, NK_THRIFT_I32, repetition);
	nk__thrift_put_bytes(out, &last, 4, name, (int64_t)strlen(name));
	nk__thrift_put_integer(out, &last, 5, NK_THRIFT_I32, n_children);
	if (logical) {
		nk__thrift_put_integer(out, &last, 6, NK_THRIFT_I32, CONVERTED_LIST);
		describe_logical(out, &last, NULL, logical);
	}
	nk__thrift_put_stop(out);
}

/* An element and those below it; *leaf is the next leaf of the file. */
static void describe_element(parquet_sink *sink, nk_text *out, const char *name, const nk_dtype *dtype,
                             int *leaf)
{
	if (dtype->physical == NK_PHYSICAL_LIST) {
		describe_group(out, name, NK_OPTIONAL, 1, NK_PARQUET_LIST);
		describe_group(out, "list", NK_REPEATED, 1, 0);
		describe_element(sink, out, "element", dtype->fields[0].dtype, leaf);
		return;
	}
	if (dtype->id == NK_TYPE_STRUCT) {
		describe_group(out, name, NK_OPTIONAL, dtype->n_fields, 0);
		for (int i = 0; i < dtype->n_fields; i++)
			describe_element(sink, out, dtype->fields[i].name, dtype->fields[i].dtype, leaf);
		return;
	}
	const nk_stored *stored = &sink->leaves[(*leaf)++].stored;
	int last = 0;
	nk__thrift_put_integer(out, &last, 1, NK_THRIFT_I32, stored->type);
	if (stored->type == NK_PARQUET_FIXED)
		nk__thrift_put_integer(out, &last, 2, NK_THRIFT_I32, stored->n_bytes);
	nk__thrift_put_integer(out, &last, 3, NK_THRIFT_I32, NK_OPTIONAL);
	nk__thrift_put_bytes(out, &last, 4, name, (int64_t)strlen(name));
	if (stored->logical)
		describe_logical(out, &last, dtype, stored->logical);
	nk__thrift_put_stop(out);
}

static void describe_schema(parquet_sink *sink, nk_text *out, int *last)
{
	int root = 0, n = 1, leaf = 0;
	for (int i = 0; i < sink->schema->n_fields; i++)
		n += n_elements(sink->schema->fields[i].dtype);
	nk__thrift_put_list(out, last, 2, NK_THRIFT_STRUCT, n);
	nk__thrift_put_bytes(out, &root, 4, "root", 4);
	nk__thrift_put_integer(out, &root, 5, NK_THRIFT_I32, sink->schema->n_fields);
	nk__thrift_put_stop(out);
	for (int i = 0; i < sink->schema->n_fields; i++)
		describe_element(sink, out, sink->schema->fields[i].name, sink->schema->fields[i].dtype, &leaf);
}

static void describe_chunk(parquet_sink *sink, nk_text *out, const nk_leaf *leaf, const chunk_info *chunk)
{
	static const int codecs[NK_CODEC_N] = {
		[NK_CODEC_NONE] = 0,    [NK_CODEC_SNAPPY] = 1, [NK_CODEC_GZIP] = 2,   [NK_CODEC_BROTLI] = 4,
		[NK_CODEC_LZ4_ANY] = 5, [NK_CODEC_ZSTD] = 6,   [NK_CODEC_LZ4_RAW] = 7};
	int last = 0, inner = 0, statistics = 0;
	nk__thrift_put_integer(out, &last, 2, NK_THRIFT_I64, 0);
	nk__thrift_put_struct(out, &last, 3);
	nk__thrift_put_integer(out, &inner, 1, NK_THRIFT_I32, leaf->stored.type);
	nk__thrift_put_list(out, &inner, 2, NK_THRIFT_I32, chunk->has_dictionary ? 3 : 2);
	nk__thrift_put_zigzag(out, NK_ENCODING_PLAIN);
	nk__thrift_put_zigzag(out, NK_ENCODING_RLE);
	if (chunk->has_dictionary)
		nk__thrift_put_zigzag(out, NK_ENCODING_RLE_DICTIONARY);
	nk__thrift_put_list(out, &inner, 3, NK_THRIFT_BINARY, leaf->n_path);
	for (int i = 0; i < leaf->n_path; i++)
		nk__thrift_put_string(out, leaf->path[i], (int64_t)strlen(leaf->path[i]));
	nk__thrift_put_integer(out, &inner, 4, NK_THRIFT_I32, codecs[sink->options.codec]);
	nk__thrift_put_integer(out, &inner, 5, NK_THRIFT_I64, chunk->n_values);
	nk__thrift_put_integer(out, &inner, 6, NK_THRIFT_I64, chunk->n_bytes_uncompressed);
	nk__thrift_put_integer(out, &inner, 7, NK_THRIFT_I64, chunk->n_bytes);
	nk__thrift_put_integer(out, &inner, 9, NK_THRIFT_I64, chunk->data_offset);
	if (chunk->has_dictionary)
		nk__thrift_put_integer(out, &inner, 11, NK_THRIFT_I64, chunk->offset);
	if (!sink->options.no_statistics) {
		nk__thrift_put_struct(out, &inner, 12);
		nk__thrift_put_integer(out, &statistics, 3, NK_THRIFT_I64, chunk->n_nulls);
		if (chunk->has_bounds) {
			nk__thrift_put_bytes(out, &statistics, 5, chunk->max.bytes, chunk->max.n_bytes);
			nk__thrift_put_bytes(out, &statistics, 6, chunk->min.bytes, chunk->min.n_bytes);
		}
		nk__thrift_put_stop(out);
	}
	nk__thrift_put_stop(out);
	nk__thrift_put_integer(out, &last, 4, NK_THRIFT_I64, chunk->offset_index);
	nk__thrift_put_integer(out, &last, 5, NK_THRIFT_I32, chunk->n_offset_index);
	if (chunk->n_column_index > 0) {
		nk__thrift_put_integer(out, &last, 6, NK_THRIFT_I64, chunk->column_index);
		nk__thrift_put_integer(out, &last, 7, NK_THRIFT_I32, chunk->n_column_index);
	}
	nk__thrift_put_stop(out);
}

static void put_base64(nk_text *out, const uint8_t *bytes, int64_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (int64_t i = 0; i < n; i += 3) {
		uint32_t word = 0;
		for (int64_t k = i; k < i + 3; k++)
			word = word << 8 | (k < n ? bytes[k] : 0);
		for (int k = 0; k < 4; k++)
			nk_text_append_char(out, i + k <= n ? digits[word >> (18 - 6 * k) & 63] : '=');
	}
}

/* What Parquet's own schema does not tell (widths of Arrays, zones, Durations) is noted as Arrow writers do. */
static nk_status put_arrow_schema(const parquet_sink *sink, nk_text *footer, int *last, nk_error *err)
{
	static const char key[] = "ARROW:schema";
	NK_TEXT(message);
	NK_TEXT(framed);
	NK_TEXT(encoded);
	nk__ipc_put_schema_message(&message, sink->schema, false);
	NK_TRY(nk_text_finish(&message, err));
	int64_t n_padding = -message.n_bytes & 7;
	uint32_t prefix[2] = {UINT32_MAX, (uint32_t)(message.n_bytes + n_padding)};
	nk_text_append(&framed, (const char *)prefix, sizeof prefix);
	nk_text_append(&framed, message.bytes, message.n_bytes);
	for (int64_t i = 0; i < n_padding; i++)
		nk_text_append_char(&framed, 0);
	NK_TRY(nk_text_finish(&framed, err));
	put_base64(&encoded, (const uint8_t *)framed.bytes, framed.n_bytes);
	NK_TRY(nk_text_finish(&encoded, err));
	int inner = 0;
	nk__thrift_put_list(footer, last, 5, NK_THRIFT_STRUCT, 1);
	nk__thrift_put_bytes(footer, &inner, 1, key, sizeof key - 1);
	nk__thrift_put_bytes(footer, &inner, 2, encoded.bytes, encoded.n_bytes);
	nk__thrift_put_stop(footer);
	return NK_OK;
}

static nk_status put_footer(parquet_sink *sink, nk_error *err)
{
	int n_columns = sink->n_leaves, last = 0;
	for (int64_t g = 0; g < sink->n_groups; g++)
		for (int i = 0; i < n_columns; i++)
			NK_TRY(put_page_index(sink, &sink->groups[g].chunks[i], err));
	NK_TEXT(footer);
	nk__thrift_put_integer(&footer, &last, 1, NK_THRIFT_I32, 2);
	describe_schema(sink, &footer, &last);
	nk__thrift_put_integer(&footer, &last, 3, NK_THRIFT_I64, sink->n_rows_total);
	nk__thrift_put_list(&footer, &last, 4, NK_THRIFT_STRUCT, sink->n_groups);
	for (int64_t g = 0; g < sink->n_groups; g++) {
		const group_info *group = &sink->groups[g];
		int inner = 0;
		int64_t n_bytes = 0;
		nk__thrift_put_list(&footer, &inner, 1, NK_THRIFT_STRUCT, n_columns);
		for (int i = 0; i < n_columns; i++) {
			describe_chunk(sink, &footer, &sink->leaves[i], &group->chunks[i]);
			n_bytes += group->chunks[i].n_bytes_uncompressed;
		}
		nk__thrift_put_integer(&footer, &inner, 2, NK_THRIFT_I64, n_bytes);
		nk__thrift_put_integer(&footer, &inner, 3, NK_THRIFT_I64, group->n_rows);
		nk__thrift_put_stop(&footer);
	}
	NK_TRY(put_arrow_schema(sink, &footer, &last, err));
	nk__thrift_put_bytes(&footer, &last, 6, "nanuk", 5);
	/* every column in the order of its type */
	nk__thrift_put_list(&footer, &last, 7, NK_THRIFT_STRUCT, n_columns);
	for (int i = 0; i < n_columns; i++) {
		int inner = 0;
		nk__thrift_put_struct(&footer, &inner, 1);
		nk__thrift_put_stop(&footer);
		nk__thrift_put_stop(&footer);
	}
	nk__thrift_put_stop(&footer);
	uint32_t n_footer = (uint32_t)footer.n_bytes;
	nk_text_append(&footer, (const char *)&n_footer, 4);
	nk_text_append(&footer, "PAR1", 4);
	NK_TRY(nk_text_finish(&footer, err));
	return put(sink, footer.bytes, footer.n_bytes, err);
}

static nk_status sink_open(nk_sink *base, const nk_schema *schema, nk_memory *memory, nk_error *err)
{
	parquet_sink *sink = (parquet_sink *)base;
	sink->memory = nk_memory_ref(memory);
	sink->schema = nk_schema_ref((nk_schema *)schema);
	int n_leaves = 0;
	for (int i = 0; i < schema->n_fields; i++)
		n_leaves += nk__leaf_count(schema->fields[i].dtype);
	sink->leaves = calloc((size_t)n_leaves + 1, sizeof *sink->leaves);
	if (!sink->leaves)
		return out_of_memory(err);
	for (int i = 0; i < schema->n_fields; i++) {
		int n;
		nk_status status = nk__leaves_of(schema->fields[i].dtype, schema->fields[i].name, i,
		                                 &sink->leaves[sink->n_leaves], &n, err);
		if (status != NK_OK)
			return nk_error_context(err, status, "column '%s'", schema->fields[i].name);
		sink->n_leaves += n;
	}
	NK_TRY(nk__output_open(sink->path, NK_OUTPUT_PLAIN, -1, &sink->output, err));
	return put(sink, "PAR1", 4, err);
}

/* A dtype with String in place of Categoricals and Enums at any depth: what is written is texts. NULL when out of memory. */
static const nk_dtype *written_dtype(const nk_dtype *dtype)
{
	if (nk_type_is_category(dtype->id))
		return nk_dtype_of(NK_TYPE_STRING);
	if (!nk_type_is_nested(dtype->id) || dtype->n_fields == 0)
		return dtype;
	nk_field *fields = malloc((size_t)dtype->n_fields * sizeof *fields);
	const nk_dtype *made = NULL;
	bool is_complete = fields != NULL;
	for (int i = 0; is_complete && i < dtype->n_fields; i++) {
		fields[i] = (nk_field){dtype->fields[i].name, written_dtype(dtype->fields[i].dtype)};
		is_complete = fields[i].dtype != NULL;
	}
	if (is_complete)
		made = dtype->id == NK_TYPE_STRUCT  ? nk_dtype_struct(fields, dtype->n_fields)
		       : dtype->id == NK_TYPE_ARRAY ? nk_dtype_array(fields[0].dtype, dtype->width)
		                                    : nk_dtype_list(fields[0].dtype);
	free(fields);
	return made;
}

static nk_status write_rows(parquet_sink *sink, const nk_batch *batch, nk_error *err)
{
	for (int64_t at = 0; at < batch->n_rows;) {
		int64_t n = NK_MIN(batch->n_rows - at, sink->options.group_rows - sink->n_rows);
		NK_TRY(NK_GROW(sink->memory, &sink->batches, &sink->batches_capacity, sink->n_batches + 1, err));
		NK_TRY(nk_batch_slice(sink->memory, batch, at, n, &sink->batches[sink->n_batches], err));
		sink->n_batches++;
		sink->n_rows += n;
		at += n;
		if (sink->n_rows == sink->options.group_rows)
			NK_TRY(put_group(sink, err));
	}
	return NK_OK;
}

static nk_status sink_write(nk_sink *base, const nk_batch *batch, nk_error *err)
{
	parquet_sink *sink = (parquet_sink *)base;
	nk_array **columns = calloc((size_t)batch->n_columns + 1, sizeof *columns);
	nk_status status = columns ? NK_OK : out_of_memory(err);
	for (int i = 0; status == NK_OK && i < batch->n_columns; i++) {
		nk_array *column = batch->columns[i];
		const nk_dtype *dtype = written_dtype(column->dtype);
		if (!dtype)
			status = out_of_memory(err);
		else if (dtype == column->dtype)
			columns[i] = nk_array_ref(column);
		else
			status = nk_cast(sink->memory, column, dtype, (nk_cast_mode){.strict = true}, &columns[i], err);
	}
	if (status == NK_OK) {
		nk_batch texts = *batch;
		texts.columns = columns;
		status = write_rows(sink, &texts, err);
	}
	for (int i = 0; columns && i < batch->n_columns; i++)
		nk_array_unref(columns[i]);
	free(columns);
	return status;
}

static nk_status sink_finish(nk_sink *base, nk_error *err)
{
	parquet_sink *sink = (parquet_sink *)base;
	NK_TRY(put_group(sink, err));
	NK_TRY(put_footer(sink, err));
	return nk__output_finish(sink->output, err);
}

static void release_chunk(parquet_sink *sink, chunk_info *chunk)
{
	for (int64_t i = 0; i < chunk->n_pages; i++) {
		nk_text_release(&chunk->pages[i].min);
		nk_text_release(&chunk->pages[i].max);
	}
	nk_free(sink->memory, chunk->pages, chunk->pages_capacity * (int64_t)sizeof *chunk->pages);
	nk_text_release(&chunk->min);
	nk_text_release(&chunk->max);
}

static void sink_free(nk_sink *base)
{
	parquet_sink *sink = (parquet_sink *)base;
	nk__output_free(sink->output);
	if (sink->memory) {
		clear_batches(sink);
		for (int64_t g = 0; g < sink->n_groups; g++) {
			for (int i = 0; i < sink->n_leaves; i++)
				release_chunk(sink, &sink->groups[g].chunks[i]);
			free(sink->groups[g].chunks);
		}
		nk_free(sink->memory, sink->groups, sink->groups_capacity * (int64_t)sizeof *sink->groups);
		nk_free(sink->memory, sink->batches, sink->batches_capacity * (int64_t)sizeof *sink->batches);
		nk_free(sink->memory, sink->packed, sink->packed_capacity);
		nk_memory_unref(sink->memory);
	}
	nk_schema_unref(sink->schema);
	free(sink->leaves);
	free(sink->path);
	free(sink);
}

static const nk_sink_ops sink_ops = {
	.open = sink_open, .write = sink_write, .finish = sink_finish, .free = sink_free};

nk_status nk_parquet_sink_new(const char *path, const nk_parquet_sink_options *options, nk_sink **out,
                              nk_error *err)
{
	parquet_sink *sink = calloc(1, sizeof *sink);
	if (!sink)
		return out_of_memory(err);
	sink->base.ops = &sink_ops;
	sink->options =
		options ? *options : (nk_parquet_sink_options){.codec = NK_CODEC_ZSTD, .level = NK_LEVEL_USUAL};
	if (sink->options.group_rows <= 0)
		sink->options.group_rows = GROUP_ROWS;
	if (sink->options.page_rows <= 0)
		sink->options.page_rows = PAGE_ROWS;
	sink->path = strdup(path);
	if (!sink->path) {
		sink_free(&sink->base);
		return out_of_memory(err);
	}
	*out = &sink->base;
	return NK_OK;
}
