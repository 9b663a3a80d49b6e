/* The sinks: rows as objects, one to a line, or all of them in one array. */
#include <stdlib.h>
#include <string.h>

#include "compute/json_write.h"
#include "io/json/json.h"
#include "io/output.h"

enum { FLUSH_BYTES = 1 << 20 };

typedef struct json_sink {
	nk_sink base;
	bool is_document;
	nk_output_packing packing;
	int level; /* -1: the usual one */
	char *path;
	nk_memory *memory;
	nk_output *output; /* NULL: not open */
	int n_columns;
	nk_json_text **columns;
	nk_text *labels;
	nk_array **arrays; /* of the batch under way */
	nk_text text;
	bool has_rows;
} json_sink;

static nk_status out_of_memory(nk_error *err)
{
	return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a JSON writer");
}

static nk_status flush(json_sink *sink, nk_error *err)
{
	NK_TRY(nk_text_finish(&sink->text, err));
	nk_status status = nk__output_put(sink->output, sink->text.bytes, sink->text.n_bytes, err);
	sink->text.n_bytes = 0;
	return status;
}

static nk_status sink_open(nk_sink *base, const nk_schema *schema, nk_memory *memory, nk_error *err)
{
	json_sink *sink = (json_sink *)base;
	size_t n = (size_t)schema->n_fields + 1;
	sink->memory = nk_memory_ref(memory);
	sink->columns = calloc(n, sizeof(nk_json_text *));
	sink->labels = calloc(n, sizeof *sink->labels);
	sink->arrays = calloc(n, sizeof(nk_array *));
	if (!sink->columns || !sink->labels || !sink->arrays)
		return out_of_memory(err);
	sink->n_columns = schema->n_fields;
	for (int i = 0; i < schema->n_fields; i++) {
		const nk_field *field = &schema->fields[i];
		nk_status status = nk_json_text_new(field->dtype, &sink->columns[i], err);
		if (status != NK_OK)
			return nk_error_context(err, status, "column '%s'", field->name);
		nk_text_append_char(&sink->labels[i], i == 0 ? '{' : ',');
		nk_json_put_string(&sink->labels[i], field->name, (int64_t)strlen(field->name));
		nk_text_append_char(&sink->labels[i], ':');
		NK_TRY(nk_text_finish(&sink->labels[i], err));
	}
	return nk__output_open(sink->path, sink->packing, sink->level, &sink->output, err);
}

static void put_row(json_sink *sink, int64_t row)
{
	nk_text *text = &sink->text;
	if (sink->is_document)
		nk_text_append_char(text, sink->has_rows ? ',' : '[');
	if (sink->n_columns == 0)
		nk_text_append_char(text, '{');
	for (int i = 0; i < sink->n_columns; i++) {
		nk_text_append(text, sink->labels[i].bytes, sink->labels[i].n_bytes);
		nk_json_put(sink->columns[i], sink->arrays[i], row, text);
	}
	nk_text_append(text, "}\n", sink->is_document ? 1 : 2);
	sink->has_rows = true;
}

static void drop_arrays(json_sink *sink)
{
	for (int i = 0; sink->arrays && i < sink->n_columns; i++) {
		nk_array_unref(sink->arrays[i]);
		sink->arrays[i] = NULL;
	}
}

static nk_status sink_write(nk_sink *base, const nk_batch *batch, nk_error *err)
{
	json_sink *sink = (json_sink *)base;
	nk_status status = NK_OK;
	for (int i = 0; status == NK_OK && i < sink->n_columns; i++) {
		nk_array *column = batch->columns[i];
		if (column->encoding == NK_DICTIONARY)
			status = nk_array_flatten(sink->memory, column, &sink->arrays[i], err);
		else
			sink->arrays[i] = nk_array_ref(column);
	}
	for (int64_t row = 0; status == NK_OK && row < batch->n_rows; row++) {
		put_row(sink, row);
		if (sink->text.n_bytes >= FLUSH_BYTES || sink->text.failed)
			status = flush(sink, err);
	}
	drop_arrays(sink);
	return status;
}

static nk_status sink_finish(nk_sink *base, nk_error *err)
{
	json_sink *sink = (json_sink *)base;
	if (sink->is_document)
		nk_text_append_string(&sink->text, sink->has_rows ? "]" : "[]");
	NK_TRY(flush(sink, err));
	return nk__output_finish(sink->output, err);
}

static void sink_free(nk_sink *base)
{
	json_sink *sink = (json_sink *)base;
	nk__output_free(sink->output);
	drop_arrays(sink);
	for (int i = 0; i < sink->n_columns; i++) {
		nk_json_text_free(sink->columns[i]);
		nk_text_release(&sink->labels[i]);
	}
	nk_text_release(&sink->text);
	nk_memory_unref(sink->memory);
	free(sink->columns);
	free(sink->labels);
	free(sink->arrays);
	free(sink->path);
	free(sink);
}

static const nk_sink_ops sink_ops = {
	.open = sink_open, .write = sink_write, .finish = sink_finish, .free = sink_free};

nk_status nk_json_sink_new(const char *path, const nk_sink_json_options *options, nk_sink **out,
                           nk_error *err)
{
	nk_sink_json_options none = NK_OPTIONS(nk_sink_json_options);
	options = options ? options : &none;
	json_sink *sink = calloc(1, sizeof *sink);
	if (!sink)
		return out_of_memory(err);
	sink->base.ops = &sink_ops;
	NK_AUTO(nk_sink) made = &sink->base;
	sink->is_document = options->is_document;
	sink->level = options->compression_level - 1;
	NK_TRY(nk__output_packing(options->compression, &sink->packing, err));
	if (!(sink->path = strdup(path)))
		return out_of_memory(err);
	*out = NK_STEAL(made);
	return NK_OK;
}
