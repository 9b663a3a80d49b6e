/* Each thrift struct has one function with one switch over the field ids of the format's definition. Lists are
 * counted before they are allocated, and a count never exceeds the bytes left, so memory stays within a small
 * multiple of the footer. */
#include "io/parquet/metadata.h"

#include <limits.h>
#include <string.h>

enum { LEVEL_MAX = 255 };

static nk_status corrupt(nk_error *err, const char *what)
{
	return nk_fail(err, NK_COMPUTE, "corrupt Parquet metadata: %s", what);
}

/* For each element of the current list field. */
#define EACH_ELEMENT(thrift, field, n, element) \
	uint8_t element;                            \
	int64_t n = nk__thrift_list(thrift, field, &element)

static void parse_time_unit(nk_thrift *thrift, nk_thrift_field outer, nk_schema_element *element)
{
	if (!nk__thrift_struct(thrift, outer))
		return;
	for (nk_thrift_field field = {0}; nk__thrift_next(thrift, &field);) {
		if (field.id >= 1 && field.id <= 3)
			element->unit = field.id;
		nk__thrift_skip(thrift, field.type);
	}
}

static void parse_logical_parameters(nk_thrift *thrift, int logical, nk_schema_element *element)
{
	for (nk_thrift_field field = {0}; nk__thrift_next(thrift, &field);) {
		if (logical == NK_PARQUET_DECIMAL && field.id == 1)
			element->scale = (int)nk__thrift_integer(thrift, field);
		else if (logical == NK_PARQUET_DECIMAL && field.id == 2)
			element->precision = (int)nk__thrift_integer(thrift, field);
		else if ((logical == NK_PARQUET_TIME || logical == NK_PARQUET_TIMESTAMP) && field.id == 1)
			element->is_utc = nk__thrift_boolean(thrift, field);
		else if ((logical == NK_PARQUET_TIME || logical == NK_PARQUET_TIMESTAMP) && field.id == 2)
			parse_time_unit(thrift, field, element);
		else if (logical == NK_PARQUET_INTEGER && field.id == 1)
			element->bit_width = (int)nk__thrift_integer(thrift, field);
		else if (logical == NK_PARQUET_INTEGER && field.id == 2)
			element->is_signed = nk__thrift_boolean(thrift, field);
		else
			nk__thrift_skip(thrift, field.type);
	}
}

static void parse_logical(nk_thrift *thrift, nk_thrift_field outer, nk_schema_element *element)
{
	if (!nk__thrift_struct(thrift, outer))
		return;
	for (nk_thrift_field field = {0}; nk__thrift_next(thrift, &field);) {
		element->logical = field.id;
		if (nk__thrift_struct(thrift, field))
			parse_logical_parameters(thrift, field.id, element);
	}
}

/* Converted types, which older writers use instead of logical ones. */
static void apply_converted(nk_schema_element *element, int converted)
{
	static const uint8_t logical[22] = {
		NK_PARQUET_STRING,  NK_PARQUET_MAP,       NK_PARQUET_MAP,       NK_PARQUET_LIST,
		NK_PARQUET_ENUM,    NK_PARQUET_DECIMAL,   NK_PARQUET_DATE,      NK_PARQUET_TIME,
		NK_PARQUET_TIME,    NK_PARQUET_TIMESTAMP, NK_PARQUET_TIMESTAMP, NK_PARQUET_INTEGER,
		NK_PARQUET_INTEGER, NK_PARQUET_INTEGER,   NK_PARQUET_INTEGER,   NK_PARQUET_INTEGER,
		NK_PARQUET_INTEGER, NK_PARQUET_INTEGER,   NK_PARQUET_INTEGER,   NK_PARQUET_JSON,
		NK_PARQUET_BSON,    NK_PARQUET_INTERVAL,
	};
	if (converted == 24 || converted == 25) /* as early Arrow writers marked columns of nulls */
		element->logical = NK_PARQUET_UNKNOWN;
	if (converted < 0 || converted > 21)
		return;
	element->logical = logical[converted];
	if (converted >= 7 && converted <= 10) {
		element->unit =
			converted == 7 || converted == 9 ? 1 : 2; /* and no zone: older writers meant either */
	}
	if (converted >= 11 && converted <= 18) {
		element->bit_width = 8 << ((converted - 11) & 3);
		element->is_signed = converted >= 15;
	}
}

static nk_status parse_element(nk_arena *arena, nk_thrift *thrift, nk_schema_element *element, nk_error *err)
{
	int converted = -1;
	element->type = -1;
	element->name = "";
	for (nk_thrift_field field = {0}; nk__thrift_next(thrift, &field);) {
		switch (field.id) {
		case 1: element->type = (int)nk__thrift_integer(thrift, field); break;
		case 2: element->type_length = (int)nk__thrift_integer(thrift, field); break;
		case 3: element->repetition = (nk_repetition)nk__thrift_integer(thrift, field); break;
		case 4: {
			nk_bytes name = nk__thrift_bytes(thrift, field);
			NK_TRY(nk_arena_string(arena, (const char *)name.bytes, name.n_bytes, &element->name, err));
			break;
		}
		case 5: element->n_children = (int)nk__thrift_integer(thrift, field); break;
		case 6: converted = (int)nk__thrift_integer(thrift, field); break;
		case 7: element->scale = (int)nk__thrift_integer(thrift, field); break;
		case 8: element->precision = (int)nk__thrift_integer(thrift, field); break;
		case 10: parse_logical(thrift, field, element); break;
		default: nk__thrift_skip(thrift, field.type);
		}
	}
	if (element->logical == NK_PARQUET_NO_LOGICAL)
		apply_converted(element, converted);
	return NK_OK;
}

static void parse_statistics(nk_thrift *thrift, nk_thrift_field outer, nk_parquet_statistics *statistics)
{
	nk_bytes old_min = {0}, old_max = {0};
	*statistics = (nk_parquet_statistics){.n_nulls = -1, .n_distinct = -1};
	if (!nk__thrift_struct(thrift, outer))
		return;
	for (nk_thrift_field field = {0}; nk__thrift_next(thrift, &field);) {
		switch (field.id) {
		case 1: old_max = nk__thrift_bytes(thrift, field); break;
		case 2: old_min = nk__thrift_bytes(thrift, field); break;
		case 3: statistics->n_nulls = nk__thrift_integer(thrift, field); break;
		case 4: statistics->n_distinct = nk__thrift_integer(thrift, field); break;
		case 5: statistics->max = nk__thrift_bytes(thrift, field); break;
		case 6: statistics->min = nk__thrift_bytes(thrift, field); break;
		default: nk__thrift_skip(thrift, field.type);
		}
	}
	if (!statistics->min.bytes && !statistics->max.bytes && (old_min.bytes || old_max.bytes)) {
		statistics->min = old_min;
		statistics->max = old_max;
		statistics->is_deprecated = true;
	}
}

static void parse_column_metadata(nk_thrift *thrift, nk_column_chunk *chunk)
{
	int64_t dictionary_page_offset = -1;
	chunk->type = -1;
	chunk->codec = -1;
	for (nk_thrift_field field = {0}; nk__thrift_next(thrift, &field);) {
		switch (field.id) {
		case 1: chunk->type = (int)nk__thrift_integer(thrift, field); break;
		case 4: chunk->codec = (int)nk__thrift_integer(thrift, field); break;
		case 5: chunk->n_values = nk__thrift_integer(thrift, field); break;
		case 6: chunk->n_bytes_uncompressed = nk__thrift_integer(thrift, field); break;
		case 7: chunk->n_bytes = nk__thrift_integer(thrift, field); break;
		case 9: chunk->data_page_offset = nk__thrift_integer(thrift, field); break;
		case 11: dictionary_page_offset = nk__thrift_integer(thrift, field); break;
		case 12: parse_statistics(thrift, field, &chunk->statistics); break;
		default: nk__thrift_skip(thrift, field.type);
		}
	}
	/* some writers leave 0, some an offset behind the data pages: neither is a dictionary page */
	chunk->has_dictionary_page =
		dictionary_page_offset > 0 && dictionary_page_offset < chunk->data_page_offset;
	chunk->offset = chunk->has_dictionary_page ? dictionary_page_offset : chunk->data_page_offset;
}

static void parse_chunk(nk_thrift *thrift, nk_column_chunk *chunk)
{
	chunk->statistics = (nk_parquet_statistics){.n_nulls = -1, .n_distinct = -1};
	chunk->type = -1;
	for (nk_thrift_field field = {0}; nk__thrift_next(thrift, &field);) {
		switch (field.id) {
		case 1: chunk->is_elsewhere = nk__thrift_bytes(thrift, field).n_bytes > 0; break;
		case 3:
			if (nk__thrift_struct(thrift, field))
				parse_column_metadata(thrift, chunk);
			break;
		case 4: chunk->offset_index_offset = nk__thrift_integer(thrift, field); break;
		case 5: chunk->n_offset_index_bytes = (int32_t)nk__thrift_integer(thrift, field); break;
		case 6: chunk->column_index_offset = nk__thrift_integer(thrift, field); break;
		case 7: chunk->n_column_index_bytes = (int32_t)nk__thrift_integer(thrift, field); break;
		case 8:
		case 9:
			chunk->is_encrypted = true;
			nk__thrift_skip(thrift, field.type);
			break;
		default: nk__thrift_skip(thrift, field.type);
		}
	}
}

static nk_status parse_group(nk_parquet_metadata *metadata, nk_thrift *thrift, nk_row_group *group,
                             nk_error *err)
{
	int64_t n_chunks = -1;
	for (nk_thrift_field field = {0}; nk__thrift_next(thrift, &field);) {
		switch (field.id) {
		case 1: {
			EACH_ELEMENT(thrift, field, n, element);
			if (n_chunks >= 0 || element != NK_THRIFT_STRUCT || n != metadata->n_leaves) {
				if (n == 0 && metadata->n_leaves == 0) {
					n_chunks = 0;
					break;
				}
				return corrupt(err, "a row group's columns are not those of the schema");
			}
			NK_TRY(NK_ARENA_NEW(metadata->arena, &group->chunks, n, err));
			for (int64_t i = 0; i < n; i++)
				parse_chunk(thrift, &group->chunks[i]);
			n_chunks = n;
			break;
		}
		case 2: group->n_bytes = nk__thrift_integer(thrift, field); break;
		case 3: group->n_rows = nk__thrift_integer(thrift, field); break;
		default: nk__thrift_skip(thrift, field.type);
		}
	}
	if (!thrift->failed && n_chunks != metadata->n_leaves)
		return corrupt(err, "a row group without columns");
	if (group->n_rows < 0)
		return corrupt(err, "a row group with a negative number of rows");
	return NK_OK;
}

static void parse_key_value(nk_thrift *thrift, nk_parquet_metadata *metadata)
{
	nk_bytes key = {0}, value = {0};
	for (nk_thrift_field field = {0}; nk__thrift_next(thrift, &field);) {
		/* some writers put numbers here, which are of no use to anybody */
		if (field.type != NK_THRIFT_BINARY || (field.id != 1 && field.id != 2))
			nk__thrift_skip(thrift, field.type);
		else if (field.id == 1)
			key = nk__thrift_bytes(thrift, field);
		else
			value = nk__thrift_bytes(thrift, field);
	}
	if (key.n_bytes == 12 && memcmp(key.bytes, "ARROW:schema", 12) == 0)
		metadata->arrow_schema = value;
}

/* Give every element its subtree, leaves and levels. Children follow their parent depth first, so one pass with
 * a stack of what is open will do; an element closes when its last child has. */
static nk_status link_schema(nk_parquet_metadata *metadata, nk_error *err)
{
	int n = metadata->n_elements;
	nk_schema_element *elements = metadata->elements;
	int *open, *n_left;
	int n_open = 0;
	if (n == 0)
		return corrupt(err, "no schema");
	NK_TRY(NK_ARENA_NEW(metadata->arena, &open, n, err));
	NK_TRY(NK_ARENA_NEW(metadata->arena, &n_left, n, err));
	NK_TRY(NK_ARENA_NEW(metadata->arena, &metadata->leaves, n, err));
	for (int i = 0; i < n; i++) {
		nk_schema_element *element = &elements[i];
		if (i > 0 && n_open == 0)
			return corrupt(err, "schema elements that belong to no group");
		if (element->repetition > NK_REPEATED)
			return corrupt(err, "unknown repetition type");
		if (i > 0) {
			const nk_schema_element *parent = &elements[open[n_open - 1]];
			element->definition_max = parent->definition_max + (element->repetition != NK_REQUIRED);
			element->repetition_max = parent->repetition_max + (element->repetition == NK_REPEATED);
			if (element->definition_max > LEVEL_MAX)
				return nk_fail(err, NK_COMPUTE, "a schema nested deeper than %d levels", LEVEL_MAX);
			n_left[n_open - 1]--;
		}
		element->first_leaf = metadata->n_leaves;
		bool is_group = i == 0 || element->type < 0;
		if (!is_group) {
			if (element->type >= NK_PARQUET_TYPE_N)
				return nk_fail(err, NK_COMPUTE, "unknown physical type %d of column '%s'", element->type,
				               element->name);
			if (element->type == NK_PARQUET_FIXED && element->type_length < 0)
				return nk_fail(err, NK_COMPUTE, "negative value length of column '%s'", element->name);
			metadata->leaves[metadata->n_leaves++] = i;
		} else if (element->n_children < 0 || element->n_children > n) {
			return corrupt(err, "a group with an impossible number of children");
		}
		open[n_open] = i;
		n_left[n_open++] = is_group ? element->n_children : 0;
		while (n_open > 0 && n_left[n_open - 1] == 0) {
			nk_schema_element *closed = &elements[open[--n_open]];
			closed->n_leaves = metadata->n_leaves - closed->first_leaf;
			closed->n_elements = (int)(&elements[i] - closed) + 1;
		}
	}
	return n_open > 0 ? corrupt(err, "the schema ends too early") : NK_OK;
}

static nk_status check_chunks(const nk_parquet_metadata *metadata, int64_t n_file_bytes, nk_error *err)
{
	int64_t n_rows = 0;
	for (int g = 0; g < metadata->n_groups; g++) {
		if (__builtin_add_overflow(n_rows, metadata->groups[g].n_rows, &n_rows))
			return corrupt(err, "impossible row counts");
		for (int c = 0; c < metadata->n_leaves; c++) {
			nk_column_chunk *chunk = &metadata->groups[g].chunks[c];
			const nk_schema_element *element = &metadata->elements[metadata->leaves[c]];
			if (chunk->is_encrypted || chunk->is_elsewhere)
				continue; /* refused when read */
			bool fits = chunk->n_values >= 0 && chunk->offset >= 0 && chunk->n_bytes >= 0 &&
			            chunk->offset <= n_file_bytes && chunk->n_bytes <= n_file_bytes - chunk->offset;
			if (!fits || chunk->type != element->type)
				return nk_fail(err, NK_COMPUTE, "corrupt Parquet metadata: column '%s' of row group %d %s",
				               element->name, g,
				               fits ? "has another type than the schema" : "lies outside of the file");
		}
	}
	return NK_OK;
}

static nk_status parse_file(nk_parquet_metadata *metadata, nk_thrift *thrift, nk_error *err)
{
	for (nk_thrift_field field = {0}; nk__thrift_next(thrift, &field);) {
		switch (field.id) {
		case 2: {
			EACH_ELEMENT(thrift, field, n, element);
			if (element != NK_THRIFT_STRUCT || metadata->elements || n > INT_MAX)
				return corrupt(err, "the schema is no list of elements");
			NK_TRY(NK_ARENA_NEW(metadata->arena, &metadata->elements, n, err));
			metadata->n_elements = (int)n;
			for (int64_t i = 0; i < n; i++)
				NK_TRY(parse_element(metadata->arena, thrift, &metadata->elements[i], err));
			if (thrift->failed)
				return corrupt(err, "the schema is cut or malformed");
			NK_TRY(link_schema(metadata, err));
			break;
		}
		case 3: metadata->n_rows = nk__thrift_integer(thrift, field); break;
		case 4: {
			EACH_ELEMENT(thrift, field, n, element);
			if ((n > 0 && element != NK_THRIFT_STRUCT) || !metadata->elements || metadata->groups ||
			    n > INT_MAX)
				return corrupt(err, "row groups are misplaced");
			NK_TRY(NK_ARENA_NEW(metadata->arena, &metadata->groups, n, err));
			metadata->n_groups = (int)n;
			for (int64_t i = 0; i < n && !thrift->failed; i++)
				NK_TRY(parse_group(metadata, thrift, &metadata->groups[i], err));
			break;
		}
		case 5: {
			EACH_ELEMENT(thrift, field, n, element);
			for (int64_t i = 0; i < n; i++)
				if (element == NK_THRIFT_STRUCT)
					parse_key_value(thrift, metadata);
				else
					nk__thrift_skip(thrift, element);
			break;
		}
		case 6: metadata->created_by = nk__thrift_bytes(thrift, field); break;
		case 7:
			metadata->has_column_orders = true;
			nk__thrift_skip(thrift, field.type);
			break;
		case 8: return nk_fail(err, NK_COMPUTE, "the Parquet file is encrypted");
		default: nk__thrift_skip(thrift, field.type);
		}
	}
	if (thrift->failed)
		return corrupt(err, "the footer is cut or malformed");
	if (!metadata->elements)
		return corrupt(err, "no schema");
	return NK_OK;
}

nk_status nk__parquet_metadata_parse(nk_memory *memory, const uint8_t *bytes, int64_t n_bytes,
                                     int64_t n_file_bytes, nk_parquet_metadata **out, nk_error *err)
{
	NK_AUTO(nk_arena) arena = nk_arena_new(memory);
	if (!arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a Parquet footer");
	nk_parquet_metadata *metadata;
	const char *copy;
	NK_TRY(NK_ARENA_NEW(arena, &metadata, 1, err));
	NK_TRY(nk_arena_string(arena, (const char *)bytes, n_bytes, &copy, err));
	metadata->arena = arena;
	nk_thrift thrift = {(const uint8_t *)copy, (const uint8_t *)copy + n_bytes, false};
	NK_TRY(parse_file(metadata, &thrift, err));
	NK_TRY(check_chunks(metadata, n_file_bytes, err));
	*out = metadata;
	arena = NULL;
	return NK_OK;
}

void nk__parquet_metadata_free(nk_parquet_metadata *metadata)
{
	if (metadata)
		nk_arena_free(metadata->arena);
}

nk_status nk__parquet_codec(int number, nk_codec *out, nk_error *err)
{
	static const char *const names[] = {"uncompressed", "snappy", "gzip", "lzo",
	                                    "brotli",       "lz4",    "zstd", "lz4_raw"};
	switch (number) {
	case 0: *out = NK_CODEC_NONE; return NK_OK;
	case 1: *out = NK_CODEC_SNAPPY; return NK_OK;
	case 2: *out = NK_CODEC_GZIP; return NK_OK;
	case 4: *out = NK_CODEC_BROTLI; return NK_OK;
	case 5: *out = NK_CODEC_LZ4_ANY; return NK_OK;
	case 6: *out = NK_CODEC_ZSTD; return NK_OK;
	case 7: *out = NK_CODEC_LZ4_RAW; return NK_OK;
	}
	if (number >= 0 && number < NK_COUNT(names))
		return nk_fail(err, NK_COMPUTE, "compression '%s' is not supported", names[number]);
	return nk_fail(err, NK_COMPUTE, "unknown compression %d", number);
}

/* Data pages, and dictionary pages, which share the first two fields. */
static void parse_data_page(nk_thrift *thrift, bool is_data, nk_page_header *page)
{
	for (nk_thrift_field field = {0}; nk__thrift_next(thrift, &field);) {
		switch (is_data || field.id <= 2 ? field.id : 0) {
		case 1: page->n_values = (int32_t)nk__thrift_integer(thrift, field); break;
		case 2: page->encoding = (int)nk__thrift_integer(thrift, field); break;
		case 3: page->definition_encoding = (int)nk__thrift_integer(thrift, field); break;
		case 4: page->repetition_encoding = (int)nk__thrift_integer(thrift, field); break;
		default: nk__thrift_skip(thrift, field.type);
		}
	}
}

static void parse_data_page_v2(nk_thrift *thrift, nk_page_header *page)
{
	page->definition_encoding = page->repetition_encoding = NK_ENCODING_RLE;
	for (nk_thrift_field field = {0}; nk__thrift_next(thrift, &field);) {
		switch (field.id) {
		case 1: page->n_values = (int32_t)nk__thrift_integer(thrift, field); break;
		case 2: page->n_nulls = (int32_t)nk__thrift_integer(thrift, field); break;
		case 3: page->n_rows = (int32_t)nk__thrift_integer(thrift, field); break;
		case 4: page->encoding = (int)nk__thrift_integer(thrift, field); break;
		case 5: page->n_definition_bytes = (int32_t)nk__thrift_integer(thrift, field); break;
		case 6: page->n_repetition_bytes = (int32_t)nk__thrift_integer(thrift, field); break;
		case 7: page->is_compressed = nk__thrift_boolean(thrift, field); break;
		default: nk__thrift_skip(thrift, field.type);
		}
	}
}

nk_status nk__page_header_parse(const uint8_t *bytes, int64_t n_bytes, nk_page_header *out, nk_error *err)
{
	nk_thrift thrift = {bytes, bytes + n_bytes, false};
	nk_page_header page = {
		.type = -1, .n_bytes = -1, .n_bytes_uncompressed = -1, .is_compressed = true, .encoding = -1};
	for (nk_thrift_field field = {0}; nk__thrift_next(&thrift, &field);) {
		switch (field.id) {
		case 1: page.type = (int)nk__thrift_integer(&thrift, field); break;
		case 2: page.n_bytes_uncompressed = (int32_t)nk__thrift_integer(&thrift, field); break;
		case 3: page.n_bytes = (int32_t)nk__thrift_integer(&thrift, field); break;
		case 5:
		case 7:
			if (nk__thrift_struct(&thrift, field))
				parse_data_page(&thrift, field.id == 5, &page);
			break;
		case 8:
			if (nk__thrift_struct(&thrift, field))
				parse_data_page_v2(&thrift, &page);
			break;
		default: nk__thrift_skip(&thrift, field.type);
		}
	}
	if (thrift.failed)
		return nk_fail(err, NK_COMPUTE, "cut or malformed page header");
	bool is_v2 = page.type == NK_PAGE_DATA_V2;
	if (page.n_bytes < 0 || page.n_bytes_uncompressed < 0 || page.n_values < 0 ||
	    (is_v2 && (page.n_definition_bytes < 0 || page.n_repetition_bytes < 0 ||
	               (int64_t)page.n_definition_bytes + page.n_repetition_bytes > page.n_bytes ||
	               (int64_t)page.n_definition_bytes + page.n_repetition_bytes > page.n_bytes_uncompressed)))
		return nk_fail(err, NK_COMPUTE, "corrupt page header: impossible sizes");
	page.n_header_bytes = (int)(thrift.at - bytes);
	*out = page;
	return NK_OK;
}

nk_status nk__offset_index_parse(nk_arena *arena, const uint8_t *bytes, int64_t n_bytes, int64_t n_rows,
                                 nk_offset_index *out, nk_error *err)
{
	nk_thrift thrift = {bytes, bytes + n_bytes, false};
	nk_offset_index index = {0};
	for (nk_thrift_field field = {0}; nk__thrift_next(&thrift, &field);) {
		if (field.id != 1) {
			nk__thrift_skip(&thrift, field.type);
			continue;
		}
		EACH_ELEMENT(&thrift, field, n, element);
		if (element != NK_THRIFT_STRUCT || n > INT_MAX)
			return corrupt(err, "an offset index without pages");
		NK_TRY(NK_ARENA_NEW(arena, &index.pages, n, err));
		index.n_pages = (int)n;
		for (int64_t i = 0; i < n; i++)
			for (nk_thrift_field inner = {0}; nk__thrift_next(&thrift, &inner);) {
				if (inner.id == 1)
					index.pages[i].offset = nk__thrift_integer(&thrift, inner);
				else if (inner.id == 2)
					index.pages[i].n_bytes = (int32_t)nk__thrift_integer(&thrift, inner);
				else if (inner.id == 3)
					index.pages[i].first_row = nk__thrift_integer(&thrift, inner);
				else
					nk__thrift_skip(&thrift, inner.type);
			}
	}
	if (thrift.failed || index.n_pages == 0 || index.pages[0].first_row != 0)
		return corrupt(err, "a malformed offset index");
	for (int i = 0; i < index.n_pages; i++) {
		int64_t next = i + 1 < index.n_pages ? index.pages[i + 1].first_row : n_rows;
		if (index.pages[i].first_row > next || index.pages[i].offset < 0 || index.pages[i].n_bytes < 0)
			return corrupt(err, "a malformed offset index");
	}
	*out = index;
	return NK_OK;
}

static nk_status parse_bounds(nk_arena *arena, nk_thrift *thrift, nk_thrift_field outer, nk_bytes **out,
                              int64_t *n_out, nk_error *err)
{
	EACH_ELEMENT(thrift, outer, n, element);
	nk_thrift_field each = {0, element};
	NK_TRY(NK_ARENA_NEW(arena, out, n, err));
	for (int64_t i = 0; i < n; i++)
		(*out)[i] = nk__thrift_bytes(thrift, each);
	*n_out = n;
	return NK_OK;
}

nk_status nk__column_index_parse(nk_arena *arena, const uint8_t *bytes, int64_t n_bytes, nk_column_index *out,
                                 nk_error *err)
{
	nk_thrift thrift = {bytes, bytes + n_bytes, false};
	nk_column_index index = {0};
	int64_t n_flags = 0, n_min = 0, n_max = 0, n_counts = 0;
	for (nk_thrift_field field = {0}; nk__thrift_next(&thrift, &field);) {
		switch (field.id) {
		case 1: {
			EACH_ELEMENT(&thrift, field, n, element);
			NK_TRY(NK_ARENA_NEW(arena, &index.is_null_page, n, err));
			for (int64_t i = 0; i < n; i++) /* a byte each: 1 is true */
				index.is_null_page[i] = nk__thrift_integer(&thrift, (nk_thrift_field){0, NK_THRIFT_I8}) == 1;
			n_flags = element == NK_THRIFT_TRUE || element == NK_THRIFT_FALSE ? n : -1;
			break;
		}
		case 2: NK_TRY(parse_bounds(arena, &thrift, field, &index.min, &n_min, err)); break;
		case 3: NK_TRY(parse_bounds(arena, &thrift, field, &index.max, &n_max, err)); break;
		case 5: {
			EACH_ELEMENT(&thrift, field, n, element);
			NK_TRY(NK_ARENA_NEW(arena, &index.n_nulls, n, err));
			for (int64_t i = 0; i < n; i++)
				index.n_nulls[i] = nk__thrift_integer(&thrift, (nk_thrift_field){0, element});
			n_counts = n;
			break;
		}
		default: nk__thrift_skip(&thrift, field.type);
		}
	}
	if (thrift.failed || n_flags < 1 || n_flags > INT_MAX || n_min != n_flags || n_max != n_flags ||
	    (index.n_nulls && n_counts != n_flags))
		return corrupt(err, "a malformed column index");
	index.n_pages = (int)n_flags;
	*out = index;
	return NK_OK;
}
