/* The sink: rows as text into a buffer, full buffers into the file. */
#include <stdlib.h>
#include <string.h>

#include "func/cast.h"
#include "io/csv/cells.h"
#include "io/csv/csv.h"
#include "io/output.h"

enum { FLUSH_BYTES = 1 << 20 };

typedef struct csv_sink {
	nk_sink base;
	nk_csv_style style;
	bool include_bom, include_header;
	nk_output_packing packing;
	int level; /* -1: the usual one */
	nk_memory *memory;
	int n_columns;
	nk_csv_cells *cells;
	nk_array **arrays;
	char *buffer;
	int64_t n_bytes, capacity;
	nk_output *output; /* NULL: not open */
	char *path, *strings[5];
	int n_strings;
} csv_sink;

static nk_status out_of_memory(nk_error *err)
{
	return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a CSV writer");
}

/* ---- Bytes ---- */

static nk_status flush(csv_sink *sink, nk_error *err)
{
	nk_status status = nk__output_put(sink->output, sink->buffer, sink->n_bytes, err);
	sink->n_bytes = 0;
	return status;
}

/* Room for n bytes more at the end of the buffer. */
static nk_status make_room(csv_sink *sink, int64_t n, nk_error *err)
{
	return NK_GROW(sink->memory, &sink->buffer, &sink->capacity, sink->n_bytes + n, err);
}

static nk_status put_bytes(csv_sink *sink, const char *bytes, int64_t n, nk_error *err)
{
	NK_TRY(make_room(sink, n, err));
	if (n > 0)
		memcpy(sink->buffer + sink->n_bytes, bytes, (size_t)n);
	sink->n_bytes += n;
	return NK_OK;
}

/* ---- Rows ---- */

static nk_status put_header(csv_sink *sink, const nk_schema *schema, nk_error *err)
{
	for (int i = 0; i < schema->n_fields; i++) {
		const char *name = schema->fields[i].name;
		int64_t n = (int64_t)strlen(name);
		NK_TRY(make_room(sink, 2 * n + 3, err));
		char *to = sink->buffer + sink->n_bytes;
		if (i > 0)
			*to++ = sink->style.separator;
		sink->n_bytes = nk__csv_put_text(&sink->style, name, n, to) - sink->buffer;
	}
	return put_bytes(sink, sink->style.line_terminator, sink->style.n_line_terminator, err);
}

/* Most bytes of a row apart from its text. */
static int64_t row_bytes(const csv_sink *sink)
{
	int64_t n = sink->style.n_line_terminator;
	for (int i = 0; i < sink->n_columns; i++)
		n += NK_MAX(sink->cells[i].n_bytes_max, sink->style.n_null_value) + 3;
	return n;
}

static char *put_null(const csv_sink *sink, const nk_csv_cells *cells, char *to)
{
	if (cells->quotes_nulls)
		*to++ = sink->style.quote;
	memcpy(to, sink->style.null_value, (size_t)sink->style.n_null_value);
	to += sink->style.n_null_value;
	if (cells->quotes_nulls)
		*to++ = sink->style.quote;
	return to;
}

static nk_status put_row(csv_sink *sink, int64_t row, int64_t n_fixed, nk_error *err)
{
	NK_TRY(make_room(sink, n_fixed, err));
	char *to = sink->buffer + sink->n_bytes;
	for (int i = 0; i < sink->n_columns; i++) {
		nk_csv_cells *cells = &sink->cells[i];
		const nk_array *array = cells->array;
		int64_t place = nk_array_index(array, row);
		if (i > 0)
			*to++ = sink->style.separator;
		if (!nk_array_is_valid(array, row)) {
			to = put_null(sink, cells, to);
			continue;
		}
		if (cells->dtype->id == NK_TYPE_STRING) {
			int64_t n_text = 2 * (int64_t)((const nk_view *)array->values)[place].n_bytes;
			if (sink->buffer + sink->capacity - to < n_fixed + n_text) {
				sink->n_bytes = to - sink->buffer;
				NK_TRY(make_room(sink, n_fixed + n_text, err));
				to = sink->buffer + sink->n_bytes;
			}
		}
		if (cells->quotes_values)
			*to++ = sink->style.quote;
		to = cells->put(cells, place, to);
		if (cells->quotes_values)
			*to++ = sink->style.quote;
	}
	memcpy(to, sink->style.line_terminator, (size_t)sink->style.n_line_terminator);
	sink->n_bytes = to + sink->style.n_line_terminator - sink->buffer;
	return sink->n_bytes >= FLUSH_BYTES ? flush(sink, err) : NK_OK;
}

static void drop_arrays(csv_sink *sink)
{
	for (int i = 0; sink->arrays && i < sink->n_columns; i++) {
		nk_array_unref(sink->arrays[i]);
		sink->arrays[i] = NULL;
	}
}

static nk_status sink_write(nk_sink *base, const nk_batch *batch, nk_error *err)
{
	csv_sink *sink = (csv_sink *)base;
	nk_status status = NK_OK;
	for (int i = 0; status == NK_OK && i < sink->n_columns; i++) {
		nk_array *column = batch->columns[i];
		if (nk_type_is_category(column->dtype->id))
			status = nk_cast(sink->memory, column, nk_dtype_of(NK_TYPE_STRING), (nk_cast_mode){0},
			                 &sink->arrays[i], err);
		else if (column->encoding == NK_DICTIONARY)
			status = nk_array_flatten(sink->memory, column, &sink->arrays[i], err);
		else
			sink->arrays[i] = nk_array_ref(column);
		sink->cells[i].array = sink->arrays[i];
	}
	int64_t n_fixed = row_bytes(sink);
	for (int64_t row = 0; status == NK_OK && sink->n_columns > 0 && row < batch->n_rows; row++)
		status = put_row(sink, row, n_fixed, err);
	drop_arrays(sink);
	return status;
}

/* ---- The sink's functions ---- */

static nk_status sink_open(nk_sink *base, const nk_schema *schema, nk_memory *memory, nk_error *err)
{
	csv_sink *sink = (csv_sink *)base;
	sink->memory = nk_memory_ref(memory);
	sink->cells = calloc((size_t)schema->n_fields + 1, sizeof *sink->cells);
	sink->arrays = calloc((size_t)schema->n_fields + 1, sizeof(nk_array *));
	if (!sink->cells || !sink->arrays)
		return out_of_memory(err);
	for (int i = 0; i < schema->n_fields; i++) {
		const nk_dtype *dtype = schema->fields[i].dtype;
		if (nk_type_is_category(dtype->id))
			dtype = nk_dtype_of(NK_TYPE_STRING);
		nk_status status = nk__csv_cells_init(&sink->cells[i], &sink->style, dtype, err);
		if (status != NK_OK)
			return nk_error_context(err, status, "column '%s'", schema->fields[i].name);
	}
	sink->n_columns = schema->n_fields;
	NK_TRY(nk__output_open(sink->path, sink->packing, sink->level, &sink->output, err));
	NK_TRY(make_room(sink, FLUSH_BYTES + FLUSH_BYTES / 4, err));
	if (sink->include_bom)
		NK_TRY(put_bytes(sink, "\xef\xbb\xbf", 3, err));
	return sink->include_header ? put_header(sink, schema, err) : NK_OK;
}

static nk_status sink_finish(nk_sink *base, nk_error *err)
{
	csv_sink *sink = (csv_sink *)base;
	NK_TRY(flush(sink, err));
	return nk__output_finish(sink->output, err);
}

static void sink_free(nk_sink *base)
{
	csv_sink *sink = (csv_sink *)base;
	nk__output_free(sink->output);
	drop_arrays(sink);
	if (sink->memory) {
		nk_free(sink->memory, sink->buffer, sink->capacity);
		nk_memory_unref(sink->memory);
	}
	for (int i = 0; i < sink->n_strings; i++)
		free(sink->strings[i]);
	free(sink->cells);
	free(sink->arrays);
	free(sink->path);
	free(sink);
}

static const nk_sink_ops sink_ops = {
	.open = sink_open, .write = sink_write, .finish = sink_finish, .free = sink_free};

/* ---- Options ---- */

static nk_status keep(csv_sink *sink, const char *text, const char *otherwise, const char **out,
                      nk_error *err)
{
	if (!text) {
		*out = otherwise;
		return NK_OK;
	}
	char *copy = strdup(text);
	if (!copy)
		return out_of_memory(err);
	*out = sink->strings[sink->n_strings++] = copy;
	return NK_OK;
}

static nk_status one_byte(const char *name, const char *given, char otherwise, char *out, nk_error *err)
{
	if (given && strlen(given) != 1)
		return nk_fail(err, NK_VALUE, "`%s` is to be one byte, not \"%s\"", name, given);
	*out = given ? given[0] : otherwise;
	return NK_OK;
}

static nk_status choose(const char *what, const char *given, const char *const *names, int n, int *out,
                        nk_error *err)
{
	*out = 0;
	if (!given)
		return NK_OK;
	for (int i = 0; i < n; i++)
		if (strcmp(given, names[i]) == 0) {
			*out = i;
			return NK_OK;
		}
	return nk_fail(err, NK_VALUE, "`%s` cannot be \"%s\"", what, given);
}

static nk_status set_options(csv_sink *sink, const nk_sink_csv_options *options, nk_error *err)
{
	static const char *const quotings[] = {"necessary", "always", "non_numeric", "never"};
	enum { PRECISION_MAX = 4096 };
	nk_csv_style *style = &sink->style;
	int quoting;
	sink->include_bom = options->include_bom;
	sink->include_header = !options->no_header;
	style->decimal_comma = options->decimal_comma;
	style->float_scientific = options->float_scientific;
	style->float_precision = options->float_precision - 1;
	sink->level = options->compression_level - 1;
	if (options->float_precision < 0 || options->float_precision > PRECISION_MAX)
		return nk_fail(err, NK_VALUE, "`float_precision` is to lie between 0 and %d", PRECISION_MAX - 1);
	NK_TRY(one_byte("separator", options->separator, ',', &style->separator, err));
	NK_TRY(one_byte("quote_char", options->quote_char, '"', &style->quote, err));
	if ((signed char)style->quote < 0)
		return nk_fail(err, NK_COMPUTE, "quote char results in invalid utf-8");
	NK_TRY(choose("quote_style", options->quote_style, quotings, 4, &quoting, err));
	NK_TRY(nk__output_packing(options->compression, &sink->packing, err));
	style->quoting = (nk_csv_quoting)quoting;
	NK_TRY(keep(sink, options->null_value, "", &style->null_value, err));
	NK_TRY(keep(sink, options->line_terminator, "\n", &style->line_terminator, err));
	NK_TRY(keep(sink, options->date_format, NULL, &style->date_format, err));
	NK_TRY(keep(sink, options->time_format, NULL, &style->time_format, err));
	NK_TRY(keep(sink, options->datetime_format, NULL, &style->datetime_format, err));
	style->n_null_value = (int64_t)strlen(style->null_value);
	style->n_line_terminator = (int64_t)strlen(style->line_terminator);
	return NK_OK;
}

nk_status nk_csv_sink_new(const char *path, const nk_sink_csv_options *options, nk_sink **out, nk_error *err)
{
	nk_sink_csv_options none = NK_OPTIONS(nk_sink_csv_options);
	csv_sink *sink = calloc(1, sizeof *sink);
	if (!sink)
		return out_of_memory(err);
	sink->base.ops = &sink_ops;
	NK_AUTO(nk_sink) made = &sink->base;
	sink->path = strdup(path);
	if (!sink->path)
		return out_of_memory(err);
	NK_TRY(set_options(sink, options ? options : &none, err));
	*out = NK_STEAL(made);
	return NK_OK;
}
