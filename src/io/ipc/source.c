/* The source: which files there are, and what they hold. Files are opened when something needs them and kept: the first for
 * the schema, all of them for row counts, each when a scan comes to it. All must have the columns of the first. */
#include <stdlib.h>
#include <string.h>

#include "io/glob.h"
#include "io/ipc/source_internal.h"

enum { FILES_FOR_STATISTICS = 64 /* more files than these are not opened for the planner's sake */ };

/* ---- Files ---- */

static nk_status make_schema(nk_ipc_source *source, const nk_schema *first, nk_error *err)
{
	if (!source->file_paths_name) {
		source->schema = nk_schema_ref((nk_schema *)first);
		return NK_OK;
	}
	nk_field *fields;
	NK_TRY(NK_ARENA_NEW(source->arena, &fields, first->n_fields + 1, err));
	memcpy(fields, first->fields, (size_t)first->n_fields * sizeof *fields);
	fields[first->n_fields] = (nk_field){source->file_paths_name, nk_dtype_of(NK_TYPE_STRING)};
	return nk_schema_new(fields, first->n_fields + 1, &source->schema, err);
}

/* Find the source's columns in a file; the column of paths is in none. */
static nk_status match_columns(nk_ipc_source *source, nk_ipc_file *file, nk_error *err)
{
	const nk_schema *schema = source->schema;
	int n = schema->n_fields - (source->file_paths_name != NULL);
	NK_TRY(NK_ARENA_NEW(file->arena, &file->places, schema->n_fields + 1, err));
	file->places[n] = -1;
	for (int i = 0; i < n; i++) {
		const nk_field *field = &schema->fields[i];
		bool is_same_place =
			i < file->schema->n_fields && strcmp(file->schema->fields[i].name, field->name) == 0;
		int place = is_same_place ? i : nk_schema_find(file->schema, field->name);
		if (place < 0)
			return nk_fail(err, NK_COLUMN_NOT_FOUND, "column '%s' of the first file is not here",
			               field->name);
		const nk_dtype *dtype = file->schema->fields[place].dtype;
		if (dtype != field->dtype)
			return nk_fail(err, NK_SCHEMA_MISMATCH,
			               "data type mismatch for column '%s': %s here, %s in the first file", field->name,
			               dtype->text, field->dtype->text);
		file->places[i] = place;
	}
	for (int i = 0; file->schema->n_fields > n && i < file->schema->n_fields; i++)
		if (nk_schema_find(schema, file->schema->fields[i].name) < 0)
			return nk_fail(err, NK_SCHEMA_MISMATCH, "extra column '%s', which is not in the first file",
			               file->schema->fields[i].name);
	return NK_OK;
}

static nk_status load_file(nk_ipc_source *source, nk_ipc_file *file, nk_error *err)
{
	nk_status status = nk__ipc_file_open(source->memory, file, source->is_stream, err);
	if (status == NK_FILE_NOT_FOUND)
		return status; /* whose message names the path */
	if (status == NK_OK && !source->schema)
		status = make_schema(source, file->schema, err);
	if (status == NK_OK)
		status = match_columns(source, file, err);
	if (status != NK_OK) {
		if (strncmp(file->path, "/proc/", 6) != 0)
			nk_error_context(err, status, "%s", file->path);
		nk__ipc_file_close(file);
	}
	return status;
}

/* The lock is held. */
static nk_status expand(nk_ipc_source *source, nk_error *err)
{
	if (source->is_expanded)
		return NK_OK;
	nk_paths paths = {.n_paths = source->n_patterns, .paths = source->patterns};
	if (source->expand_globs) {
		paths = (nk_paths){0};
		for (int i = 0; i < source->n_patterns; i++)
			NK_TRY(nk__paths_expand(source->arena, source->patterns[i], ".ipc", &paths, err));
	}
	if (paths.n_paths == 0)
		return nk_fail(err, NK_COMPUTE, "no Arrow files to read");
	NK_TRY(NK_ARENA_NEW(source->arena, &source->files, paths.n_paths, err));
	for (int64_t i = 0; i < paths.n_paths; i++)
		source->files[i].path = paths.paths[i];
	source->n_files = paths.n_paths;
	source->is_expanded = true;
	return NK_OK;
}

static nk_status get_file(nk_ipc_source *source, int64_t i, nk_error *err)
{
	NK_TRY(expand(source, err));
	if (i > 0 && !source->schema)
		NK_TRY(load_file(source, &source->files[0], err));
	return source->files[i].file ? NK_OK : load_file(source, &source->files[i], err);
}

nk_status nk__ipc_file(nk_ipc_source *source, int64_t i, nk_ipc_file **out, nk_error *err)
{
	pthread_mutex_lock(&source->lock);
	nk_status status = get_file(source, i, err);
	if (status == NK_OK)
		*out = &source->files[i];
	pthread_mutex_unlock(&source->lock);
	return status;
}

nk_status nk__ipc_n_files(nk_ipc_source *source, int64_t *out, nk_error *err)
{
	pthread_mutex_lock(&source->lock);
	nk_status status = expand(source, err);
	*out = source->n_files;
	pthread_mutex_unlock(&source->lock);
	return status;
}

/* ---- The source's functions ---- */

static void source_free(nk_source *base)
{
	nk_ipc_source *source = (nk_ipc_source *)base;
	for (int64_t i = 0; i < source->n_files; i++)
		nk__ipc_file_close(&source->files[i]);
	nk_schema_unref(source->schema);
	pthread_mutex_destroy(&source->lock);
	nk_memory *memory = nk_memory_ref(source->memory);
	nk_arena_free(source->arena); /* which holds the source itself */
	nk_memory_unref(memory);
}

static nk_status source_schema(nk_source *base, const nk_schema **out, nk_error *err)
{
	nk_ipc_source *source = (nk_ipc_source *)base;
	nk_ipc_file *file;
	NK_TRY(nk__ipc_file(source, 0, &file, err));
	*out = source->schema;
	return NK_OK;
}

static nk_status source_n_rows(nk_source *base, int64_t *out, nk_error *err)
{
	nk_ipc_source *source = (nk_ipc_source *)base;
	int64_t n_files, n_rows = 0;
	NK_TRY(nk__ipc_n_files(source, &n_files, err));
	*out = -1;
	if (n_files > FILES_FOR_STATISTICS)
		return NK_OK;
	for (int64_t i = 0; i < n_files; i++) {
		nk_ipc_file *file;
		NK_TRY(nk__ipc_file(source, i, &file, err));
		n_rows += file->n_rows;
	}
	*out = n_rows;
	return NK_OK;
}

/* Record batches count their nulls; that is all they know of columns. */
static nk_status source_statistics(nk_source *base, int column, nk_column_statistics *out, nk_error *err)
{
	nk_ipc_source *source = (nk_ipc_source *)base;
	int64_t n_files, n_nulls = 0;
	*out = (nk_column_statistics){.n_nulls = -1, .n_distinct = -1};
	NK_TRY(nk__ipc_n_files(source, &n_files, err));
	if (n_files > FILES_FOR_STATISTICS)
		return NK_OK;
	for (int64_t i = 0; i < n_files; i++) {
		nk_ipc_file *file;
		NK_TRY(nk__ipc_file(source, i, &file, err));
		int place = file->places[column];
		int64_t node = 0;
		if (place >= 0 &&
		    (file->fields.fields[place].layout == NK_IPC_NULL || file->fields.fields[place].values ||
		     file->fields.fields[place].layout == NK_IPC_RUNS))
			return NK_OK;
		for (int k = 0; k < place; k++)
			node += file->fields.fields[k].n_nodes;
		for (int64_t b = 0; place >= 0 && b < file->n_batches; b++) {
			const nk_ipc_batch *batch = &file->batches[b];
			int64_t n = node < batch->n_nodes ? nk_fb_load64(batch->nodes + 16 * node + 8) : -1;
			if (n < 0 || n > batch->n_rows)
				return NK_OK;
			n_nulls += n;
		}
	}
	out->n_nulls = n_nulls;
	return NK_OK;
}

static void source_describe(nk_source *base, nk_text *out)
{
	nk_ipc_source *source = (nk_ipc_source *)base;
	pthread_mutex_lock(&source->lock);
	const char *path = source->is_expanded ? source->files[0].path : source->patterns[0];
	int64_t n_more = (source->is_expanded ? source->n_files : source->n_patterns) - 1;
	nk_text_format(out, "IPC %s", path);
	if (n_more > 0)
		nk_text_format(out, " (+%lld files)", (long long)n_more);
	pthread_mutex_unlock(&source->lock);
}

enum { WIRE_STREAM = 1, WIRE_GLOB = 2, WIRE_ALL = 3 };

static nk_status source_serialise(nk_source *base, nk_text *out, nk_error *err)
{
	nk_ipc_source *source = (nk_ipc_source *)base;
	nk_wire_put_number(out, (uint64_t)source->n_patterns);
	for (int i = 0; i < source->n_patterns; i++)
		nk_wire_put_string(out, source->patterns[i]);
	nk_wire_put_number(out, (source->is_stream ? WIRE_STREAM : 0u) | (source->expand_globs ? WIRE_GLOB : 0u));
	nk_wire_put_string(out, source->file_paths_name);
	return nk_text_finish(out, err);
}

static const nk_source_ops source_ops = {
	.kind = "ipc",
	.free = source_free,
	.schema = source_schema,
	.n_rows = source_n_rows,
	.statistics = source_statistics,
	.open = nk__ipc_open,
	.describe = source_describe,
	.serialise = source_serialise,
};

nk_status nk_ipc_source_new(nk_memory *memory, const char *const *paths, int n_paths,
                            const nk_scan_ipc_options *options, nk_source **out, nk_error *err)
{
	nk_scan_ipc_options none = NK_OPTIONS(nk_scan_ipc_options);
	options = options ? options : &none;
	if (n_paths < 1)
		return nk_fail(err, NK_COMPUTE, "no paths to read");
	NK_AUTO(nk_arena) arena = nk_arena_new(memory);
	if (!arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a source");
	nk_ipc_source *source;
	NK_TRY(NK_ARENA_NEW(arena, &source, 1, err));
	*source = (nk_ipc_source){.base = {.ops = &source_ops, .n_references = 1},
	                          .memory = memory,
	                          .arena = arena,
	                          .is_stream = options->is_stream,
	                          .expand_globs = !options->no_glob,
	                          .n_patterns = n_paths};
	NK_TRY(NK_ARENA_NEW(arena, &source->patterns, n_paths, err));
	for (int i = 0; i < n_paths; i++)
		NK_TRY(nk_arena_string(arena, paths[i], (int64_t)strlen(paths[i]), &source->patterns[i], err));
	const char *name = options->include_file_paths;
	if (name)
		NK_TRY(nk_arena_string(arena, name, (int64_t)strlen(name), &source->file_paths_name, err));
	pthread_mutex_init(&source->lock, NULL);
	*out = &source->base;
	arena = NULL;
	return NK_OK;
}

nk_status nk_ipc_source_from_wire(nk_memory *memory, nk_wire *in, nk_source **out, nk_error *err)
{
	int64_t n, flags;
	NK_TRY(nk_wire_items(in, &n, err));
	const char **paths = malloc(((size_t)n + 1) * sizeof *paths);
	if (!paths)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for paths");
	nk_status status = NK_OK;
	nk_scan_ipc_options options = NK_OPTIONS(nk_scan_ipc_options);
	for (int64_t i = 0; status == NK_OK && i < n; i++) {
		status = nk_wire_string(in, &paths[i], err);
		if (status == NK_OK && !paths[i])
			status = nk_fail(err, NK_COMPUTE, "a serialised Arrow source is damaged");
	}
	if (status == NK_OK)
		status = nk_wire_count(in, WIRE_ALL, &flags, err);
	if (status == NK_OK)
		status = nk_wire_string(in, &options.include_file_paths, err);
	if (status == NK_OK) {
		options.is_stream = flags & WIRE_STREAM;
		options.no_glob = !(flags & WIRE_GLOB);
		status = nk_ipc_source_new(memory, paths, (int)n, &options, out, err);
	}
	free(paths);
	return status;
}
