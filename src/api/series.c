/* Series: names beside columns. Everything that computes goes through series_call.c. */
#include "api/series.h"

#include <stdlib.h>
#include <string.h>

#include "api/context.h"
#include "columnar/arrow.h"
#include "columnar/builder.h"
#include "columnar/categories.h"

nk_status nk__series_new(const char *name, nk_column *column, nk_series **out, nk_error *err)
{
	size_t n = strlen(name);
	nk_series *series = malloc(sizeof *series + n + 1);
	if (!series) {
		nk_column_unref(column);
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a series");
	}
	series->n_references = 1;
	series->column = column;
	memcpy(series->name, name, n + 1);
	*out = series;
	return NK_OK;
}

nk_series *nk_series_ref(nk_series *series)
{
	__atomic_fetch_add(&series->n_references, 1, __ATOMIC_RELAXED);
	return series;
}

void nk_series_unref(nk_series *series)
{
	if (!series || __atomic_fetch_sub(&series->n_references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	nk_column_unref(series->column);
	free(series);
}

nk_status nk_series_import(struct ArrowArrayStream *stream, nk_series **out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	const char *name = NULL;
	nk_column *column;
	NK_TRY(nk_column_from_arrow(context->memory, stream, &name, &column, err));
	nk_status status = nk__series_new(name ? name : "", column, out, err);
	free((char *)name);
	return status;
}

nk_status nk_series_export(nk_series *series, struct ArrowArrayStream *out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	return nk_column_to_arrow(context->memory, series->column, series->name, out, err);
}

nk_status nk_dtype_categories(const char *text, nk_series **out, nk_error *err)
{
	const nk_context *context;
	const nk_dtype *dtype;
	NK_TRY(nk__context_get(&context, err));
	NK_TRY(nk_dtype_parse(text, &dtype, err));
	if (!nk_type_is_category(dtype->id))
		return nk_fail(err, NK_SCHEMA_MISMATCH, "expected an Enum or Categorical type, received '%s'", text);
	NK_AUTO(nk_array) texts = NULL;
	NK_TRY(nk_categories_texts(dtype->categories, &texts, err));
	nk_column *column;
	NK_TRY(nk_column_from_array(context->memory, texts, &column, err));
	return nk__series_new("", column, out, err);
}

const char *nk_series_name(const nk_series *series) { return series->name; }
const char *nk_series_dtype(const nk_series *series) { return series->column->dtype->text; }
int64_t nk_series_length(const nk_series *series) { return series->column->n_rows; }
int64_t nk_series_null_count(const nk_series *series) { return nk_column_count_nulls(series->column); }
int nk_series_n_chunks(const nk_series *series) { return series->column->n_chunks; }

int nk_series_sorted(const nk_series *series)
{
	if (series->column->n_rows <= 1)
		return 1;
	return series->column->sorted == NK_SORTED_ASCENDING    ? 1
	       : series->column->sorted == NK_SORTED_DESCENDING ? -1
	                                                        : 0;
}

/* The same chunks as a column of its own, to carry other flags. */
static nk_status column_copy(const nk_context *context, nk_column *column, nk_column **out, nk_error *err)
{
	return nk_column_new(context->memory, column->chunks, column->n_chunks, out, err);
}

nk_status nk_series_set_sorted(nk_series *series, int sorted, nk_series **out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	nk_column *column;
	NK_TRY(column_copy(context, series->column, &column, err));
	column->sorted = sorted > 0 ? NK_SORTED_ASCENDING : sorted < 0 ? NK_SORTED_DESCENDING : NK_SORTED_UNKNOWN;
	return nk__series_new(series->name, column, out, err);
}

nk_status nk_series_rename(nk_series *series, const char *name, nk_series **out, nk_error *err)
{
	return nk__series_new(name, nk_column_ref(series->column), out, err);
}

nk_status nk_series_slice(nk_series *series, int64_t offset, int64_t length, nk_series **out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	int64_t n = series->column->n_rows;
	int64_t begin = offset < 0 ? offset + n : offset;
	int64_t end = length < 0 || begin > INT64_MAX - length ? n : begin + length;
	begin = NK_MIN(NK_MAX(begin, (int64_t)0), n);
	end = NK_MAX(NK_MIN(end, n), begin);
	nk_column *column;
	NK_TRY(nk_column_slice(context->memory, series->column, begin, end - begin, &column, err));
	return nk__series_new(series->name, column, out, err);
}

nk_status nk_series_append(nk_series *const *parts, int n_parts, nk_series **out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	if (n_parts < 1)
		return nk_fail(err, NK_VALUE, "at least one series is needed");
	nk_column **columns = malloc((size_t)n_parts * sizeof *columns);
	if (!columns)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for %d series", n_parts);
	nk_status status = NK_OK;
	for (int i = 0; status == NK_OK && i < n_parts; i++) {
		columns[i] = parts[i]->column;
		if (columns[i]->dtype != columns[0]->dtype)
			status = nk_fail(err, NK_SCHEMA_MISMATCH, "type %s is incompatible with expected type %s",
			                 columns[i]->dtype->text, columns[0]->dtype->text);
	}
	nk_column *column = NULL;
	if (status == NK_OK)
		status = nk_column_append(context->memory, columns, n_parts, &column, err);
	free(columns);
	NK_TRY(status);
	return nk__series_new(parts[0]->name, column, out, err);
}

nk_status nk_series_rechunk(nk_series *series, nk_series **out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(nk_column_array(context->memory, series->column, &array, err));
	nk_column *column;
	NK_TRY(nk_column_from_array(context->memory, array, &column, err));
	column->sorted = series->column->sorted;
	return nk__series_new(series->name, column, out, err);
}

/* A nested value as a series of its own: a List's items, or a Struct's row. */
static nk_status nested_value(const nk_context *context, const nk_array *chunk, int64_t row, nk_series **out,
                              nk_error *err)
{
	NK_AUTO(nk_array) part = NULL;
	if (chunk->dtype->physical == NK_PHYSICAL_LIST) {
		const int64_t *offsets = chunk->values;
		NK_TRY(nk_array_slice(context->memory, chunk->children[0], offsets[row],
		                      offsets[row + 1] - offsets[row], &part, err));
	} else {
		NK_TRY(nk_array_slice(context->memory, (nk_array *)chunk, row, 1, &part, err));
	}
	nk_column *column;
	NK_TRY(nk_column_from_array(context->memory, part, &column, err));
	return nk__series_new("", column, out, err);
}

nk_status nk__value_of_array(const nk_array *array, int64_t row, nk_value *out, nk_error *err)
{
	const nk_dtype *dtype = array->dtype;
	nk_value value = {.dtype = dtype->text};
	if (nk_array_is_valid(array, row) && nk_type_is_nested(dtype->id)) {
		const nk_context *context;
		NK_TRY(nk__context_get(&context, err));
		value.kind = NK_VALUE_SERIES;
		NK_TRY(nested_value(context, array, row, &value.series, err));
		*out = value;
		return NK_OK;
	}
	nk_scalar scalar = nk_scalar_read(array, row);
	if (scalar.is_null) {
		value.kind = NK_VALUE_NULL;
	} else if (dtype->id == NK_TYPE_BOOLEAN) {
		value.kind = NK_VALUE_BOOLEAN;
		value.boolean = scalar.boolean;
	} else if (nk_type_is_float(dtype->id)) {
		value.kind = NK_VALUE_FLOAT;
		value.floating = scalar.floating;
	} else if (nk_type_is_category(dtype->id)) {
		value.kind = NK_VALUE_STRING;
		value.bytes = nk_categories_text(dtype->categories, (uint64_t)scalar.integer, &value.n_bytes);
	} else if (nk_type_is_textual(dtype->id)) {
		value.kind = dtype->id == NK_TYPE_STRING ? NK_VALUE_STRING : NK_VALUE_BINARY;
		value.n_bytes = scalar.n_bytes;
		/* Inline bytes are part of the view, which lives in the array. */
		const nk_view *views = array->values;
		value.bytes = nk_view_bytes(&views[nk_array_index(array, row)], array->heap);
	} else {
		value.kind = NK_VALUE_INTEGER;
		value.low = (uint64_t)scalar.integer;
		value.high = (int64_t)(scalar.integer >> 64);
	}
	*out = value;
	return NK_OK;
}

nk_status nk_series_get(nk_series *series, int64_t row, nk_value *out, nk_error *err)
{
	const nk_column *column = series->column;
	if (row < 0 || row >= column->n_rows)
		return nk_fail(err, NK_OUT_OF_BOUNDS, "index %lld is out of bounds for a series of length %lld",
		               (long long)row, (long long)column->n_rows);
	int64_t at;
	const nk_array *chunk = nk_column_locate(column, row, &at);
	return nk__value_of_array(chunk, at, out, err);
}

nk_status nk_series_constant(const char *name, const nk_value *value, int64_t n, nk_series **out,
                             nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	nk_scalar scalar;
	bool is_untyped;
	NK_TRY(nk__scalar_from_value(value, &scalar, &is_untyped, err));
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(nk_array_from_scalar(context->memory, &scalar, n, &array, err));
	nk_column *column;
	NK_TRY(nk_column_from_array(context->memory, array, &column, err));
	return nk__series_new(name, column, out, err);
}

nk_status nk_series_to_text(nk_series *series, const nk_format_options *options, char **out, nk_error *err)
{
	nk_table_options table;
	nk__table_options(options, &table);
	NK_TEXT(text);
	NK_TRY(nk_column_format(series->column, series->name, &table, &text, err));
	NK_TRY(nk_text_finish(&text, err));
	*out = NK_STEAL(text.bytes);
	return NK_OK;
}

/* ---- building ---- */

/* The public builder is the internal one: a pointer to either is a pointer to both. */
static nk_builder *internal(nk_series_builder *builder) { return (nk_builder *)builder; }

nk_status nk_series_builder_new(const char *dtype_text, nk_series_builder **out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	const nk_dtype *dtype;
	NK_TRY(nk_dtype_parse(dtype_text, &dtype, err));
	nk_builder *builder;
	NK_TRY(nk_builder_new(context->memory, dtype, &builder, err));
	*out = (nk_series_builder *)builder;
	return NK_OK;
}

void nk_series_builder_free(nk_series_builder *builder) { nk_builder_free(internal(builder)); }

nk_status nk_series_builder_null(nk_series_builder *builder, nk_error *err)
{
	return nk_builder_append_null(internal(builder), err);
}

nk_status nk_series_builder_boolean(nk_series_builder *builder, bool value, nk_error *err)
{
	return nk_builder_append_boolean(internal(builder), value, err);
}

nk_status nk_series_builder_integer(nk_series_builder *builder, uint64_t low, int64_t high, nk_error *err)
{
	return nk_builder_append_integer(internal(builder),
	                                 (__int128)(((unsigned __int128)(uint64_t)high << 64) | low), err);
}

nk_status nk_series_builder_float(nk_series_builder *builder, double value, nk_error *err)
{
	return nk_builder_append_float(internal(builder), value, err);
}

nk_status nk_series_builder_bytes(nk_series_builder *builder, const char *bytes, int64_t n_bytes,
                                  nk_error *err)
{
	return nk_builder_append_bytes(internal(builder), bytes, n_bytes, err);
}

nk_status nk_series_builder_nested(nk_series_builder *builder, nk_error *err)
{
	return nk_builder_append_nested(internal(builder), err);
}

nk_series_builder *nk_series_builder_child(nk_series_builder *builder, int i)
{
	return (nk_series_builder *)nk_builder_child(internal(builder), i);
}

nk_status nk_series_builder_finish(nk_series_builder *builder, const char *name, nk_series **out,
                                   nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(nk_builder_finish(internal(builder), &array, err));
	nk_column *column;
	NK_TRY(nk_column_from_array(context->memory, array, &column, err));
	return nk__series_new(name, column, out, err);
}
