/* The source: which files there are, what their heads say.
 *
 * The schema is inferred once, from the heads of the first files, and kept; nothing else of a file is, so that a plan that
 * is only kept holds neither mappings nor text. A scan opens each file when it comes to it. */
#include <stdlib.h>
#include <string.h>

#include "func/supertype.h"
#include "io/csv/source_internal.h"
#include "io/inflate.h"

static void file_release(nk_csv_file *file)
{
	nk_buffer_unref(file->base.buffer);
	nk_arena_free(file->arena);
	*file = (nk_csv_file){0};
}

/* The head, from as much of compressed text as it takes. With `whole` all text is left in the file. */
static nk_status read_head(nk_csv_source *source, bool whole, nk_memory *memory, nk_csv_file *file,
                           nk_error *err)
{
	bool needs_more, is_whole = true;
	nk_packing packing = nk__packing_of(file->base.text, file->base.n_bytes);
	if (packing == NK_PACKING_NONE)
		return nk__csv_read_head(file->arena, &source->options, file->base.text, file->base.n_bytes, true,
		                         &needs_more, &file->head, err);
	NK_AUTO(nk_buffer) packed = NK_STEAL(file->base.buffer);
	for (int64_t n_wanted = whole ? INT64_MAX : 1 << 18;;
	     n_wanted = n_wanted > INT64_MAX / 8 ? INT64_MAX : 8 * n_wanted) {
		nk_buffer_unref(NK_STEAL(file->base.buffer));
		NK_TRY(nk__inflate(memory, packing, packed->bytes, packed->n_bytes, n_wanted, NK_TEXT_FRONT,
		                   NK_TEXT_BACK, &file->base.buffer, &is_whole, err));
		file->base.text = file->base.buffer->bytes + NK_TEXT_FRONT;
		file->base.n_bytes = file->base.buffer->n_bytes - NK_TEXT_FRONT - NK_TEXT_BACK;
		file->base.is_padded = true;
		NK_TRY(nk__csv_read_head(file->arena, &source->options, file->base.text, file->base.n_bytes, is_whole,
		                         &needs_more, &file->head, err));
		if (!needs_more)
			return NK_OK;
	}
}

static nk_status rename_columns(const nk_csv_options *options, nk_csv_file *file, nk_error *err)
{
	nk_csv_head *head = &file->head;
	if (!options->has_new_names || head->is_empty)
		return NK_OK;
	int n = options->n_new_names;
	if (n < head->n_columns && !options->ignore_extra_columns)
		return nk_fail(
			err, NK_SCHEMA_MISMATCH,
			"%d new names for %d columns of the file: as many are needed, or extra_columns='ignore'", n,
			head->n_columns);
	if (n > head->n_columns && !options->insert_missing_columns)
		return nk_fail(
			err, NK_SCHEMA_MISMATCH,
			"%d new names for %d columns of the file: as many are needed, or missing_columns='insert'", n,
			head->n_columns);
	for (int i = 0; i < n && i < head->n_columns; i++)
		head->names[i] = options->new_names[i];
	return NK_OK;
}

static nk_status file_load(nk_csv_source *source, const char *path, bool whole, nk_memory *memory,
                           nk_csv_file *out, nk_error *err)
{
	*out = (nk_csv_file){.base.path = path};
	out->arena = nk_arena_new(memory);
	if (!out->arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a file");
	NK_AUTO(nk_file) file = NULL;
	NK_TRY(nk__file_open(memory, path, &file, err)); /* whose message names the path */
	out->base.n_bytes_file = out->base.n_bytes = nk__file_size(file);
	NK_TRY(nk__file_read(file, 0, out->base.n_bytes, &out->base.buffer, err));
	out->base.text = out->base.buffer->bytes;
	nk_status status = read_head(source, whole, memory, out, err);
	if (status == NK_OK)
		status = rename_columns(&source->options, out, err);
	out->base.rows_begin = out->head.is_empty ? out->base.n_bytes : out->head.rows_begin;
	return status == NK_OK ? NK_OK : nk_error_context(err, status, "%s", path);
}

/* ---- Schema ---- */

static const nk_dtype *override_of(const nk_csv_options *options, const char *name, int place)
{
	for (int i = 0; i < options->n_overrides; i++)
		if (options->overrides_by_position ? i == place : strcmp(options->overrides[i].name, name) == 0)
			return options->overrides[i].dtype;
	return NULL;
}

static nk_status check_overrides(const nk_csv_options *options, int n_columns, nk_error *err)
{
	if (options->overrides_by_position && options->n_overrides != n_columns)
		return nk_fail(err, NK_SCHEMA_MISMATCH, "%d dtypes in `schema_overrides` for %d columns of the file",
		               options->n_overrides, n_columns);
	return NK_OK;
}

/* Columns of the schema: given, or those of the first file. */
static nk_status first_fields(nk_csv_source *source, const nk_csv_file *file, nk_field *fields, int *n_fields,
                              nk_error *err)
{
	const nk_csv_options *options = &source->options;
	const nk_csv_head *head = &file->head;
	int n = 0;
	if (options->has_schema) {
		memcpy(fields, options->schema, (size_t)options->n_schema * sizeof *fields);
		n = options->n_schema;
	} else {
		int n_used = options->has_new_names ? NK_MIN(options->n_new_names, head->n_columns) : head->n_columns;
		NK_TRY(check_overrides(options, head->n_columns, err));
		for (; n < n_used; n++) {
			const nk_dtype *dtype = override_of(options, head->names[n], n);
			NK_TRY(nk_arena_string(source->arena, head->names[n], (int64_t)strlen(head->names[n]),
			                       &fields[n].name, err));
			fields[n].dtype = dtype ? dtype : head->dtypes[n];
		}
		for (; options->has_new_names && !head->is_empty && n < options->n_new_names; n++) {
			const nk_dtype *dtype = override_of(options, options->new_names[n], n);
			fields[n] = (nk_field){options->new_names[n], dtype ? dtype : nk_dtype_of(NK_TYPE_STRING)};
		}
	}
	*n_fields = n;
	return NK_OK;
}

/* What a later file adds to the inferred dtypes. */
static nk_status widen(nk_csv_source *source, const nk_csv_file *file, nk_field *fields, int n_fields,
                       nk_error *err)
{
	const nk_csv_options *options = &source->options;
	const nk_csv_head *head = &file->head;
	int n = options->has_new_names ? NK_MIN(options->n_new_names, head->n_columns) : head->n_columns;
	if (n != n_fields && !(n < n_fields && options->insert_missing_columns))
		return nk_fail(err, NK_COMPUTE, "schema lengths differ: %d columns here, %d in the first file", n,
		               n_fields);
	for (int i = 0, place = 0; i < n; i++, place++) {
		while (place < n_fields && n < n_fields && strcmp(head->names[i], fields[place].name) != 0)
			place++;
		if (place >= n_fields || strcmp(head->names[i], fields[place].name) != 0)
			return nk_fail(err, NK_COMPUTE, "schema names differ: got %s, expected %s", head->names[i],
			               fields[NK_MIN(place, n_fields - 1)].name);
		if (override_of(options, fields[place].name, place))
			continue;
		const nk_dtype *both = nk_supertype(fields[place].dtype, head->dtypes[i]);
		fields[place].dtype = both ? both : nk_dtype_of(NK_TYPE_STRING);
	}
	return NK_OK;
}

static nk_status infer_schema(nk_csv_source *source, nk_error *err)
{
	const nk_csv_options *options = &source->options;
	int64_t n_files =
		options->has_schema || options->infer_files < 1 ? 1 : NK_MIN(source->n_files, options->infer_files);
	nk_field *fields = NULL;
	int n_fields = 0;
	for (int64_t i = 0; i < n_files; i++) {
		nk_csv_file file;
		nk_status status = file_load(source, source->files[i], false, source->memory, &file, err);
		if (status == NK_OK && i == 0) {
			int n_room = file.head.n_columns + options->n_schema + options->n_new_names + 1;
			status = NK_ARENA_NEW(source->arena, &fields, n_room, err);
			if (status == NK_OK)
				status = first_fields(source, &file, fields, &n_fields, err);
			source->row_bytes = file.head.row_bytes;
		} else if (status == NK_OK) {
			status = widen(source, &file, fields, n_fields, err);
		}
		file_release(&file);
		NK_TRY(status);
	}
	if (options->file_paths_name)
		fields[n_fields++] = (nk_field){options->file_paths_name, nk_dtype_of(NK_TYPE_STRING)};
	return nk_schema_new(fields, n_fields, &source->schema, err);
}

static nk_status expand(nk_csv_source *source, nk_error *err)
{
	if (source->is_expanded)
		return NK_OK;
	if (source->options.expand_globs) {
		nk_paths paths = {0};
		for (int i = 0; i < source->n_patterns; i++)
			NK_TRY(nk__paths_expand(source->arena, source->patterns[i], ".csv", &paths, err));
		source->files = paths.paths;
		source->n_files = paths.n_paths;
	} else {
		source->files = source->patterns;
		source->n_files = source->n_patterns;
	}
	if (source->n_files == 0)
		return nk_fail(err, NK_COMPUTE, "no CSV files to read");
	source->is_expanded = true;
	return NK_OK;
}

nk_status nk__csv_prepare(nk_csv_source *source, nk_error *err)
{
	pthread_mutex_lock(&source->lock);
	nk_status status = expand(source, err);
	if (status == NK_OK && !source->schema)
		status = infer_schema(source, err);
	pthread_mutex_unlock(&source->lock);
	return status;
}

/* ---- Columns of one file ---- */

static int find_name(const nk_csv_head *head, const char *name, int guess)
{
	if (guess < head->n_columns && strcmp(head->names[guess], name) == 0)
		return guess;
	for (int i = 0; i < head->n_columns; i++)
		if (strcmp(head->names[i], name) == 0)
			return i;
	return -1;
}

static nk_status match_columns(nk_csv_source *source, nk_csv_file *file, nk_error *err)
{
	const nk_csv_options *options = &source->options;
	const nk_csv_head *head = &file->head;
	int n = source->schema->n_fields, n_found = 0;
	bool by_position = options->has_schema && !options->has_header;
	NK_TRY(NK_ARENA_NEW(file->arena, &file->places, NK_MAX(n, 1), err));
	file->file_paths_column = options->file_paths_name ? --n : -1;
	for (int i = 0; i < n; i++) {
		const char *name = source->schema->fields[i].name;
		int place = by_position ? (i < head->n_columns ? i : -1) : find_name(head, name, i);
		if (place < 0 && !options->insert_missing_columns && !head->is_empty) {
			if (options->has_schema)
				return nk_fail(err, NK_SCHEMA_MISMATCH,
				               "column '%s' of the schema is not in the CSV file; missing_columns='insert' "
				               "makes it null",
				               name);
			return nk_fail(err, NK_COLUMN_NOT_FOUND,
			               "column '%s' is not here; missing_columns='insert' makes it null", name);
		}
		file->places[i] = place;
		n_found += place >= 0;
	}
	if (n_found < head->n_columns && !options->ignore_extra_columns)
		for (int i = 0; i < head->n_columns; i++)
			if (by_position ? i >= n : nk_schema_find(source->schema, head->names[i]) < 0)
				return nk_fail(
					err, NK_SCHEMA_MISMATCH,
					"column '%s' of the CSV file is not in the schema; extra_columns='ignore' leaves it out",
					head->names[i]);
	return NK_OK;
}

/* ---- Chunks ---- */

static void file_close(nk_text_file *file)
{
	file_release((nk_csv_file *)file);
	free(file);
}

static nk_status file_open(void *base, int64_t i, nk_memory *memory, nk_text_file **out, nk_error *err)
{
	nk_csv_source *source = base;
	nk_csv_file *file = calloc(1, sizeof *file);
	if (!file)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a file");
	nk_status status = file_load(source, source->files[i], true, memory, file, err);
	if (status == NK_OK) {
		status = match_columns(source, file, err);
		if (status != NK_OK)
			nk_error_context(err, status, "%s", file->base.path);
	}
	if (status != NK_OK) {
		file_close(&file->base);
		return status;
	}
	*out = &file->base;
	return NK_OK;
}

static void summarise(const void *base, const uint8_t *text, int64_t n, nk_text_range *out)
{
	const nk_csv_source *source = base;
	nk_csv_summary sum;
	NK_ISA_TABLE(nk__csv_loops)->summarise(text, n, &source->options.dialect.marks, &sum);
	*out = (nk_text_range){.n_rows = {sum.n_eols[0], sum.n_eols[1]},
	                       .last_eol = {sum.last_eol[0], sum.last_eol[1]},
	                       .state = {sum.is_odd, !sum.is_odd},
	                       .n_marks = sum.n_marks};
}

/* With comments, quotes count or not depending on the line that they are in. */
static void walk(const void *base, const nk_text_file *file, int64_t stop, nk_chunk *chunk)
{
	const nk_csv_dialect *dialect = &((const nk_csv_source *)base)->options.dialect;
	int64_t at = chunk->begin;
	while (at < stop) {
		bool is_comment = nk__csv_is_comment(dialect, file->text + at, file->n_bytes - at);
		chunk->n_rows += !is_comment;
		chunk->has_comments |= is_comment;
		at += nk__csv_row_length(dialect, file->text + at, file->n_bytes - at) + 1;
	}
	chunk->end = NK_MIN(at, file->n_bytes);
	chunk->n_marks = chunk->end - chunk->begin + 1;
}

const nk_chunk_ops *nk__csv_chunk_ops(const nk_csv_source *source)
{
	static const nk_chunk_ops plain = {.open = file_open, .close = file_close, .summarise = summarise},
							  commented = {.open = file_open, .close = file_close, .walk = walk};
	return source->options.dialect.comment ? &commented : &plain;
}

/* ---- The source's functions ---- */

static void source_free(nk_source *base)
{
	nk_csv_source *source = (nk_csv_source *)base;
	nk_schema_unref(source->schema);
	pthread_mutex_destroy(&source->lock);
	nk_memory *memory = nk_memory_ref(source->memory);
	nk_arena_free(source->arena); /* which holds the source itself */
	nk_memory_unref(memory);
}

static nk_status source_schema(nk_source *base, const nk_schema **out, nk_error *err)
{
	nk_csv_source *source = (nk_csv_source *)base;
	NK_TRY(nk__csv_prepare(source, err));
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
	nk_csv_source *source = (nk_csv_source *)base;
	pthread_mutex_lock(&source->lock);
	const char *path = source->is_expanded ? source->files[0] : source->patterns[0];
	int64_t n_more = (source->is_expanded ? source->n_files : source->n_patterns) - 1;
	nk_text_format(out, "CSV %s", path);
	if (n_more > 0)
		nk_text_format(out, " (+%lld files)", (long long)n_more);
	pthread_mutex_unlock(&source->lock);
}

static nk_status source_serialise(nk_source *base, nk_text *out, nk_error *err)
{
	nk_csv_source *source = (nk_csv_source *)base;
	nk_wire_put_number(out, (uint64_t)source->n_patterns);
	for (int i = 0; i < source->n_patterns; i++)
		nk_wire_put_string(out, source->patterns[i]);
	nk__csv_options_to_wire(&source->options, out);
	return nk_text_finish(out, err);
}

static const nk_source_ops source_ops = {
	.kind = "csv",
	.free = source_free,
	.schema = source_schema,
	.n_rows = source_n_rows,
	.statistics = source_statistics,
	.open = nk__csv_open,
	.describe = source_describe,
	.serialise = source_serialise,
};

/* A source whose options are still to be filled in. */
static nk_status make_source(nk_memory *memory, const char *const *paths, int n_paths, nk_csv_source **out,
                             nk_error *err)
{
	if (n_paths < 1)
		return nk_fail(err, NK_COMPUTE, "no paths to read");
	NK_AUTO(nk_arena) arena = nk_arena_new(memory);
	if (!arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a source");
	nk_csv_source *source;
	NK_TRY(NK_ARENA_NEW(arena, &source, 1, err));
	*source = (nk_csv_source){.base = {.ops = &source_ops, .n_references = 1},
	                          .memory = memory,
	                          .arena = arena,
	                          .n_patterns = n_paths};
	NK_TRY(NK_ARENA_NEW(arena, &source->patterns, n_paths, err));
	for (int i = 0; i < n_paths; i++)
		NK_TRY(nk_arena_string(arena, paths[i], (int64_t)strlen(paths[i]), &source->patterns[i], err));
	pthread_mutex_init(&source->lock, NULL);
	*out = source;
	arena = NULL;
	return NK_OK;
}

nk_status nk_csv_source_new(nk_memory *memory, const char *const *paths, int n_paths,
                            const nk_scan_csv_options *options, nk_source **out, nk_error *err)
{
	nk_csv_source *source;
	NK_TRY(make_source(memory, paths, n_paths, &source, err));
	NK_AUTO(nk_source) made = &source->base;
	NK_TRY(nk__csv_options_copy(source->arena, options, &source->options, err));
	*out = NK_STEAL(made);
	return NK_OK;
}

nk_status nk_csv_source_from_wire(nk_memory *memory, nk_wire *in, nk_source **out, nk_error *err)
{
	int64_t n;
	NK_TRY(nk_wire_items(in, &n, err));
	const char **paths = malloc(((size_t)n + 1) * sizeof *paths);
	if (!paths)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for paths");
	nk_status status = NK_OK;
	for (int64_t i = 0; status == NK_OK && i < n; i++) {
		status = nk_wire_string(in, &paths[i], err);
		if (status == NK_OK && !paths[i])
			status = nk_fail(err, NK_COMPUTE, "a serialised CSV source is damaged");
	}
	nk_csv_source *source = NULL;
	if (status == NK_OK)
		status = make_source(memory, paths, (int)n, &source, err);
	free(paths);
	NK_TRY(status);
	NK_AUTO(nk_source) made = &source->base;
	NK_TRY(nk__csv_options_from_wire(source->arena, in, &source->options, err));
	*out = NK_STEAL(made);
	return NK_OK;
}
