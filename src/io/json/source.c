/* The source of lines: which files there are, what the first rows of the first say. A scan opens each file when it comes to
 * it; all are read with the schema of the first, and a key that it does not have is no column. */
#include <stdlib.h>
#include <string.h>

#include "io/csv/kernels.h"
#include "io/file.h"
#include "io/glob.h"
#include "io/inflate.h"
#include "io/json/source_internal.h"
#include "io/option_fields.h"

/* ---- Options ---- */

nk_status nk__json_options_copy(nk_arena *arena, const nk_scan_json_options *given, nk_json_options *out,
                                nk_error *err)
{
	nk_scan_json_options none = NK_OPTIONS(nk_scan_json_options);
	given = given ? given : &none;
	*out = (nk_json_options){.has_schema = given->schema_dtypes != NULL,
	                         .ignore_errors = given->ignore_errors,
	                         .expand_globs = !given->no_glob,
	                         .n_schema = given->n_schema,
	                         .n_overrides = given->n_overrides,
	                         .infer_rows = given->infer_rows == 0  ? 100
	                                       : given->infer_rows < 0 ? -1
	                                                               : given->infer_rows};
	NK_TRY(nk__option_text(arena, given->include_file_paths, &out->file_paths_name, err));
	NK_TRY(nk__option_fields(arena, given->schema_names, given->schema_dtypes, given->n_schema, &out->schema,
	                         err));
	return nk__option_fields(arena, given->override_names, given->override_dtypes, given->n_overrides,
	                         &out->overrides, err);
}

nk_status nk__json_schema(nk_arena *arena, const nk_json_options *options, const nk_dtype *inferred,
                          nk_schema **out, nk_error *err)
{
	int n = options->has_schema ? options->n_schema : inferred->n_fields;
	const nk_field *from = options->has_schema ? options->schema : inferred->fields;
	nk_field *fields;
	NK_TRY(NK_ARENA_NEW(arena, &fields, n + 1, err));
	if (n > 0)
		memcpy(fields, from, (size_t)n * sizeof *fields);
	for (int i = 0; i < options->n_overrides; i++) {
		int at = 0;
		while (at < n && strcmp(fields[at].name, options->overrides[i].name) != 0)
			at++;
		if (at == n)
			return nk_fail(err, NK_COLUMN_NOT_FOUND, "%s", options->overrides[i].name);
		fields[at].dtype = options->overrides[i].dtype;
	}
	if (options->file_paths_name)
		fields[n++] = (nk_field){options->file_paths_name, nk_dtype_of(NK_TYPE_STRING)};
	return nk_schema_new(fields, n, out, err);
}

/* ---- Files ---- */

static nk_status pad(nk_memory *memory, nk_text_file *file, nk_error *err)
{
	NK_AUTO(nk_buffer) copy = NULL;
	NK_TRY(nk_buffer_new(memory, file->n_bytes + NK_TEXT_FRONT + NK_TEXT_BACK, &copy, err));
	memset(copy->bytes, 0, NK_TEXT_FRONT);
	if (file->n_bytes > 0)
		memcpy(copy->bytes + NK_TEXT_FRONT, file->text, (size_t)file->n_bytes);
	memset(copy->bytes + NK_TEXT_FRONT + file->n_bytes, 0, NK_TEXT_BACK);
	nk_buffer_unref(file->buffer);
	file->buffer = NK_STEAL(copy);
	file->text = file->buffer->bytes + NK_TEXT_FRONT;
	file->is_padded = true;
	return NK_OK;
}

nk_status nk__json_load(nk_memory *memory, const char *path, bool must_be_padded, nk_text_file *out,
                        nk_error *err)
{
	*out = (nk_text_file){.path = path};
	NK_AUTO(nk_file) file = NULL;
	NK_AUTO(nk_buffer) whole = NULL;
	NK_TRY(nk__file_open(memory, path, &file, err)); /* whose message names the path */
	out->n_bytes_file = out->n_bytes = nk__file_size(file);
	NK_TRY(nk__file_read(file, 0, out->n_bytes, &whole, err));
	nk_packing packing = nk__packing_of(whole->bytes, whole->n_bytes);
	if (packing == NK_PACKING_NONE) {
		out->buffer = NK_STEAL(whole);
		out->text = out->buffer->bytes;
		return must_be_padded ? pad(memory, out, err) : NK_OK;
	}
	bool is_whole;
	NK_TRY(nk__inflate(memory, packing, whole->bytes, whole->n_bytes, INT64_MAX, NK_TEXT_FRONT, NK_TEXT_BACK,
	                   &out->buffer, &is_whole, err));
	out->text = out->buffer->bytes + NK_TEXT_FRONT;
	out->n_bytes = out->buffer->n_bytes - NK_TEXT_FRONT - NK_TEXT_BACK;
	out->is_padded = true;
	return NK_OK;
}

static void close_file(nk_text_file *file)
{
	nk_buffer_unref(file->buffer);
	free(file);
}

static nk_status open_file(void *base, int64_t i, nk_memory *memory, nk_text_file **out, nk_error *err)
{
	nk_json_source *source = base;
	nk_text_file *file = calloc(1, sizeof *file);
	if (!file)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a file");
	nk_status status = nk__json_load(memory, source->files[i], false, file, err);
	if (status != NK_OK) {
		close_file(file);
		return status;
	}
	*out = file;
	return NK_OK;
}

static void summarise(const void *base, const uint8_t *text, int64_t n, nk_text_range *out)
{
	(void)base;
	nk_json_lines lines;
	NK_ISA_TABLE(nk__json_loops)->lines(text, n, &lines);
	*out = (nk_text_range){.n_rows = {lines.n_lines[0], lines.n_lines[1]},
	                       .last_eol = {lines.last_eol[0], lines.last_eol[1]},
	                       .state = {lines.is_begun[0], lines.is_begun[1]}};
}

const nk_chunk_ops nk__json_chunk_ops = {
	.open = open_file, .close = close_file, .summarise = summarise, .blank_rests = true};

/* ---- Schema ---- */

/* The first row from `at` on; *end is behind it, with its line end. False: there is none. */
static bool next_line(const nk_text_file *file, int64_t *at, int64_t *end)
{
	for (; *at < file->n_bytes; *at = *end) {
		const uint8_t *line = file->text + *at, *eol = memchr(line, '\n', (size_t)(file->n_bytes - *at));
		*end = eol ? eol - file->text + 1 : file->n_bytes;
		for (int64_t i = *at; i < *end; i++)
			if (!strchr(" \t\r\n", file->text[i]) || file->text[i] == 0)
				return true;
	}
	return false;
}

static nk_status infer_line(nk_arena *arena, nk_json_index *index, const uint8_t *text, int64_t n,
                            const nk_dtype **out, nk_error *err)
{
	nk_json_cursor cursor;
	if (!NK_ISA_TABLE(nk__csv_loops)->is_utf8(text, n))
		return nk_fail(err, NK_COMPUTE, "invalid utf-8 sequence");
	NK_TRY(nk_json_open(index, text, n, false, &cursor, err));
	NK_TRY(nk_json_infer(arena, &cursor, out, err));
	return nk_json_peek(&cursor) || cursor.at < cursor.end ? nk_json_fail(&cursor, err) : NK_OK;
}

static nk_status infer_lines(nk_json_source *source, nk_arena *arena, nk_json_index *index,
                             const nk_text_file *file, const nk_dtype **out, nk_error *err)
{
	uint8_t *copy = NULL; /* a line with room behind it */
	int64_t capacity = 0, at = 0, end = 0, n_rows = 0, n_bytes = 0;
	nk_status status = NK_OK;
	const nk_dtype *all = NULL, *dtype = NULL;
	for (; status == NK_OK && n_rows != source->options.infer_rows && next_line(file, &at, &end);
	     at = end, n_rows++) {
		int64_t n = end - at;
		status = NK_GROW(source->memory, &copy, &capacity, n + NK_JSON_PADDING, err);
		if (status != NK_OK)
			break;
		memcpy(copy, file->text + at, (size_t)n);
		memset(copy + n, 0, NK_JSON_PADDING);
		status = infer_line(arena, index, copy, n, &dtype, err);
		if (status == NK_OK && all)
			status = nk_json_unite(arena, all, dtype, &all, err);
		all = all ? all : dtype;
		n_bytes += n;
		if (status != NK_OK)
			status = nk__text_file_context(file, at, status, err);
	}
	nk_free(source->memory, copy, capacity);
	NK_TRY(status);
	source->row_bytes = n_rows > 0 ? (double)n_bytes / (double)n_rows : 0;
	if (file->n_bytes == 0)
		return nk_fail(err, NK_COMPUTE,
		               "cannot infer NDJSON types of an empty file: empty text is no JSON value: %s",
		               file->path);
	if (!all)
		return nk_fail(err, NK_COMPUTE, "could not infer data-type: %s has blank lines only", file->path);
	if (all->id != NK_TYPE_STRUCT)
		return nk_fail(err, NK_COMPUTE, "NDJSON line expected to contain JSON object: %s: %s",
		               nk_dtype_short_name(all), file->path);
	*out = all;
	return NK_OK;
}

static nk_status infer_schema(nk_json_source *source, nk_error *err)
{
	const nk_dtype *dtype = NULL;
	nk_text_file file = {0};
	NK_AUTO(nk_arena) arena = nk_arena_new(source->memory);
	if (!arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a schema");
	nk_json_index index = {.memory = source->memory};
	nk_status status = NK_OK;
	if (!source->options.has_schema) {
		status = nk__json_load(source->memory, source->files[0], false, &file, err);
		if (status == NK_OK)
			status = infer_lines(source, arena, &index, &file, &dtype, err);
	}
	if (status == NK_OK)
		status = nk__json_schema(arena, &source->options, dtype, &source->schema, err);
	nk_json_index_release(&index);
	nk_buffer_unref(file.buffer);
	return status;
}

static nk_status expand(nk_json_source *source, nk_error *err)
{
	if (source->is_expanded)
		return NK_OK;
	source->files = source->patterns;
	source->n_files = source->n_patterns;
	if (source->options.expand_globs) {
		nk_paths paths = {0};
		for (int i = 0; i < source->n_patterns; i++)
			NK_TRY(nk__paths_expand(source->arena, source->patterns[i], ".ndjson", &paths, err));
		source->files = paths.paths;
		source->n_files = paths.n_paths;
	}
	if (source->n_files == 0)
		return nk_fail(err, NK_COMPUTE, "no NDJSON files to read");
	source->is_expanded = true;
	return NK_OK;
}

nk_status nk__json_prepare(nk_json_source *source, nk_error *err)
{
	pthread_mutex_lock(&source->lock);
	nk_status status = expand(source, err);
	if (status == NK_OK && !source->schema)
		status = infer_schema(source, err);
	pthread_mutex_unlock(&source->lock);
	return status;
}

/* ---- The source's functions ---- */

static void source_free(nk_source *base)
{
	nk_json_source *source = (nk_json_source *)base;
	nk_schema_unref(source->schema);
	pthread_mutex_destroy(&source->lock);
	nk_memory *memory = nk_memory_ref(source->memory);
	nk_arena_free(source->arena); /* which holds the source itself */
	nk_memory_unref(memory);
}

static nk_status source_schema(nk_source *base, const nk_schema **out, nk_error *err)
{
	nk_json_source *source = (nk_json_source *)base;
	NK_TRY(nk__json_prepare(source, err));
	*out = source->schema;
	return NK_OK;
}

static nk_status source_n_rows(nk_source *base, int64_t *out, nk_error *err)
{
	(void)base;
	(void)err;
	*out = -1;
	return NK_OK;
}

static nk_status source_statistics(nk_source *base, int column, nk_column_statistics *out, nk_error *err)
{
	(void)base;
	(void)column;
	(void)err;
	*out = (nk_column_statistics){.n_nulls = -1, .n_distinct = -1};
	return NK_OK;
}

static void source_describe(nk_source *base, nk_text *out)
{
	nk_json_source *source = (nk_json_source *)base;
	pthread_mutex_lock(&source->lock);
	const char *path = source->is_expanded ? source->files[0] : source->patterns[0];
	int64_t n_more = (source->is_expanded ? source->n_files : source->n_patterns) - 1;
	nk_text_format(out, "NDJSON %s", path);
	if (n_more > 0)
		nk_text_format(out, " (+%lld files)", (long long)n_more);
	pthread_mutex_unlock(&source->lock);
}

static nk_status source_serialise(nk_source *base, nk_text *out, nk_error *err)
{
	nk_json_source *source = (nk_json_source *)base;
	const nk_json_options *options = &source->options;
	nk_wire_put_number(out, (uint64_t)source->n_patterns);
	for (int i = 0; i < source->n_patterns; i++)
		nk_wire_put_string(out, source->patterns[i]);
	nk_wire_put_number(out, (uint64_t)options->has_schema | (uint64_t)options->ignore_errors << 1 |
	                            (uint64_t)options->expand_globs << 2);
	nk_wire_put_signed(out, options->infer_rows);
	nk_wire_put_string(out, options->file_paths_name);
	nk__option_fields_put(out, options->schema, options->n_schema);
	nk__option_fields_put(out, options->overrides, options->n_overrides);
	return nk_text_finish(out, err);
}

static const nk_source_ops source_ops = {
	.kind = "ndjson",
	.free = source_free,
	.schema = source_schema,
	.n_rows = source_n_rows,
	.statistics = source_statistics,
	.open = nk__json_open,
	.describe = source_describe,
	.serialise = source_serialise,
};

/* ---- Making ---- */

/* A source whose patterns and options are still to be filled in. */
static nk_status make_source(nk_memory *memory, int n_paths, nk_json_source **out, nk_error *err)
{
	if (n_paths < 1)
		return nk_fail(err, NK_COMPUTE, "no paths to read");
	NK_AUTO(nk_arena) arena = nk_arena_new(memory);
	if (!arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a source");
	nk_json_source *source;
	NK_TRY(NK_ARENA_NEW(arena, &source, 1, err));
	*source = (nk_json_source){.base = {.ops = &source_ops, .n_references = 1},
	                           .memory = memory,
	                           .arena = arena,
	                           .n_patterns = n_paths};
	NK_TRY(NK_ARENA_NEW(arena, &source->patterns, n_paths, err));
	pthread_mutex_init(&source->lock, NULL);
	*out = source;
	arena = NULL;
	return NK_OK;
}

nk_status nk_json_source_new(nk_memory *memory, const char *const *paths, int n_paths,
                             const nk_scan_json_options *options, nk_source **out, nk_error *err)
{
	nk_json_source *source;
	NK_TRY(make_source(memory, n_paths, &source, err));
	NK_AUTO(nk_source) made = &source->base;
	for (int i = 0; i < n_paths; i++)
		NK_TRY(nk__option_text(source->arena, paths[i], &source->patterns[i], err));
	NK_TRY(nk__json_options_copy(source->arena, options, &source->options, err));
	*out = NK_STEAL(made);
	return NK_OK;
}

nk_status nk_json_source_from_wire(nk_memory *memory, nk_wire *in, nk_source **out, nk_error *err)
{
	int64_t n;
	nk_json_source *source;
	NK_TRY(nk_wire_count(in, NK_MIN(in->end - in->at, (int64_t)INT32_MAX), &n, err));
	NK_TRY(make_source(memory, (int)n, &source, err));
	NK_AUTO(nk_source) made = &source->base;
	for (int64_t i = 0; i < n; i++)
		NK_TRY(nk__option_text_take(source->arena, in, "NDJSON", false, &source->patterns[i], err));
	nk_json_options *options = &source->options;
	uint64_t bits;
	NK_TRY(nk_wire_number(in, &bits, err));
	options->has_schema = bits & 1;
	options->ignore_errors = bits >> 1 & 1;
	options->expand_globs = bits >> 2 & 1;
	NK_TRY(nk_wire_signed(in, &options->infer_rows, err));
	NK_TRY(nk__option_text_take(source->arena, in, "NDJSON", true, &options->file_paths_name, err));
	NK_TRY(
		nk__option_fields_take(source->arena, in, "NDJSON", true, &options->n_schema, &options->schema, err));
	NK_TRY(nk__option_fields_take(source->arena, in, "NDJSON", true, &options->n_overrides,
	                              &options->overrides, err));
	*out = NK_STEAL(made);
	return NK_OK;
}
