/* The source: which files there are, what their footers say.
 *
 * Footers are read once, when something needs them, and kept: the first for the schema, all of them for row counts
 * and statistics, each when a scan comes to it. Files must have the columns of the first, in any order, unless options say
 * otherwise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/option_fields.h"
#include "io/parquet/column.h"
#include "io/parquet/source_internal.h"

enum {
	FOOTER_GUESS = 64 << 10,
	FILES_FOR_STATISTICS = 64, /* more footers than these are not read for the planner's sake */
};

static const uint8_t magic[4] = "PAR1", magic_encrypted[4] = "PARE";

static nk_status read_footer(nk_parquet_source *source, nk_parquet_file *file, nk_error *err)
{
	int64_t n_file = nk__file_size(file->file);
	if (n_file == 0)
		return nk_fail(err, NK_COMPUTE, "the file is empty, so it is no Parquet file");
	if (n_file < 12)
		return nk_fail(err, NK_COMPUTE, "a file of %lld bytes is no Parquet file", (long long)n_file);
	NK_AUTO(nk_buffer) tail = NULL;
	int64_t n_tail = NK_MIN(n_file, FOOTER_GUESS);
	NK_TRY(nk__file_read(file->file, n_file - n_tail, n_tail, &tail, err));
	const uint8_t *end = tail->bytes + n_tail;
	if (memcmp(end - 4, magic_encrypted, 4) == 0)
		return nk_fail(err, NK_COMPUTE, "the Parquet file is encrypted");
	if (memcmp(end - 4, magic, 4) != 0)
		return nk_fail(err, NK_COMPUTE,
		               "no Parquet file, or one that is cut: the mark at its end is missing");
	uint32_t n_footer;
	memcpy(&n_footer, end - 8, 4);
	if (n_footer > n_file - 12)
		return nk_fail(err, NK_COMPUTE, "corrupt Parquet file: a footer of %u bytes in a file of %lld",
		               n_footer, (long long)n_file);
	if ((int64_t)n_footer + 8 > n_tail) {
		nk_buffer_unref(NK_STEAL(tail));
		n_tail = (int64_t)n_footer + 8;
		NK_TRY(nk__file_read(file->file, n_file - n_tail, n_tail, &tail, err));
		end = tail->bytes + n_tail;
	}
	return nk__parquet_metadata_parse(source->memory, end - 8 - n_footer, n_footer, n_file, &file->metadata,
	                                  err);
}

/* The schema: the first file's columns or those given, of which folders replace some, then folders, then the path. */
static nk_status make_schema(nk_parquet_source *source, const nk_schema *first, nk_error *err)
{
	const nk_parquet_options *options = &source->options;
	const nk_field *from = options->has_schema ? options->schema : first->fields;
	int n = options->has_schema ? options->n_schema : first->n_fields;
	nk_field *fields;
	NK_TRY(NK_ARENA_NEW(source->arena, &fields, n + source->hive.n_columns + 1, err));
	if (n > 0)
		memcpy(fields, from, (size_t)n * sizeof *fields);
	for (int c = 0; c < source->hive.n_columns; c++) {
		int at = 0;
		while (at < n && strcmp(fields[at].name, source->hive.fields[c].name) != 0)
			at++;
		n += at == n;
		fields[at] = source->hive.fields[c];
	}
	if (options->file_paths_name)
		fields[n++] = (nk_field){options->file_paths_name, nk_dtype_of(NK_TYPE_STRING)};
	return nk_schema_new(fields, n, &source->schema, err);
}

/* The value of a column that holds one value in a file whatever is in it; NULL: none. */
static nk_status file_constant(nk_parquet_source *source, const nk_parquet_file *file, int column,
                               const nk_scalar **out, nk_error *err)
{
	const nk_schema *schema = source->schema;
	const nk_hive *hive = &source->hive;
	*out = NULL;
	if (source->options.file_paths_name && column == schema->n_fields - 1) {
		nk_scalar *path;
		NK_TRY(NK_ARENA_NEW(source->arena, &path, 1, err));
		*path = (nk_scalar){.dtype = nk_dtype_of(NK_TYPE_STRING),
		                    .bytes = file->path,
		                    .n_bytes = (int64_t)strlen(file->path)};
		*out = path;
	}
	for (int c = 0; c < hive->n_columns; c++)
		if (strcmp(hive->fields[c].name, schema->fields[column].name) == 0)
			*out = &hive->values[(file - source->files) * hive->n_columns + c];
	return NK_OK;
}

static nk_status missing_column(nk_parquet_source *source, nk_parquet_file *file, int column, nk_error *err)
{
	const nk_field *field = &source->schema->fields[column];
	nk_scalar *null;
	if (!source->options.insert_missing_columns)
		return nk_fail(err, source->options.has_schema ? NK_SCHEMA_MISMATCH : NK_COLUMN_NOT_FOUND,
		               "column '%s' is missing; missing_columns='insert' makes it null", field->name);
	NK_TRY(NK_ARENA_NEW(source->arena, &null, 1, err));
	*null = (nk_scalar){.dtype = field->dtype, .is_null = true};
	file->constants[column] = null;
	file->places[column] = -1;
	return NK_OK;
}

static nk_status refuse_extra_columns(const nk_parquet_source *source, const nk_parquet_file *file,
                                      nk_error *err)
{
	for (int i = 0; i < file->columns.n_columns; i++)
		if (nk_schema_find(source->schema, file->columns.schema->fields[i].name) < 0)
			return nk_fail(err, NK_SCHEMA_MISMATCH, "extra column '%s'; extra_columns='ignore' leaves it out",
			               file->columns.schema->fields[i].name);
	return NK_OK;
}

/* Find the source's columns in a file. */
static nk_status match_columns(nk_parquet_source *source, nk_parquet_file *file, nk_error *err)
{
	const nk_schema *schema = source->schema;
	NK_TRY(NK_ARENA_NEW(source->arena, &file->places, NK_MAX(schema->n_fields, 1), err));
	NK_TRY(NK_ARENA_NEW(source->arena, &file->constants, NK_MAX(schema->n_fields, 1), err));
	if (!source->options.ignore_extra_columns)
		NK_TRY(refuse_extra_columns(source, file, err));
	for (int i = 0; i < schema->n_fields; i++) {
		const nk_field *field = &schema->fields[i];
		NK_TRY(file_constant(source, file, i, &file->constants[i], err));
		if (file->constants[i]) {
			file->places[i] = -1;
			continue;
		}
		bool is_same_place =
			i < file->columns.n_columns && strcmp(file->columns.schema->fields[i].name, field->name) == 0;
		int place = is_same_place ? i : nk_schema_find(file->columns.schema, field->name);
		if (place < 0) {
			NK_TRY(missing_column(source, file, i, err));
			continue;
		}
		const nk_dtype *dtype = file->columns.schema->fields[place].dtype;
		if (dtype != field->dtype)
			return nk_fail(err, NK_SCHEMA_MISMATCH, "data type mismatch for column '%s': %s here, %s %s",
			               field->name, dtype->text, field->dtype->text,
			               source->options.has_schema ? "in the schema" : "in the first file");
		file->places[i] = place;
	}
	return NK_OK;
}

static void unload_file(nk_parquet_file *file)
{
	nk_schema_unref(file->columns.schema);
	nk__parquet_metadata_free(file->metadata);
	nk__file_unref(file->file);
	*file = (nk_parquet_file){.path = file->path};
}

static nk_status load_file(nk_parquet_source *source, nk_parquet_file *file, nk_error *err)
{
	NK_TRY(nk__file_open(source->memory, file->path, &file->file, err)); /* whose message names the path */
	nk_status status = read_footer(source, file, err);
	if (status == NK_OK)
		status = nk__parquet_columns(file->metadata, &file->columns, err);
	if (status == NK_OK && !source->schema)
		status = make_schema(source, file->columns.schema, err);
	if (status == NK_OK)
		status = match_columns(source, file, err);
	if (status != NK_OK) {
		nk_error_context(err, status, "%s", file->path);
		unload_file(file);
	}
	return status;
}

/* The lock is held. */
static nk_status expand(nk_parquet_source *source, nk_error *err)
{
	if (source->is_expanded)
		return NK_OK;
	nk_paths paths = {.n_paths = source->n_patterns, .paths = source->patterns};
	if (source->options.expand_globs) {
		paths = (nk_paths){0};
		for (int i = 0; i < source->n_patterns; i++)
			NK_TRY(nk__paths_expand(source->arena, source->patterns[i], ".parquet", &paths, err));
	}
	if (paths.n_paths == 0)
		return nk_fail(err, NK_COMPUTE, "no Parquet files to read");
	NK_TRY(nk__hive_find(source->arena, &source->options.hive, source->patterns, source->n_patterns, &paths,
	                     &source->hive, err));
	NK_TRY(NK_ARENA_NEW(source->arena, &source->files, paths.n_paths, err));
	for (int64_t i = 0; i < paths.n_paths; i++)
		source->files[i].path = paths.paths[i];
	source->n_files = paths.n_paths;
	source->is_expanded = true;
	return NK_OK;
}

static nk_status get_file(nk_parquet_source *source, int64_t i, nk_error *err)
{
	NK_TRY(expand(source, err));
	if (i > 0 && !source->schema)
		NK_TRY(load_file(source, &source->files[0], err));
	return source->files[i].file ? NK_OK : load_file(source, &source->files[i], err);
}

nk_status nk__parquet_file(nk_parquet_source *source, int64_t i, nk_parquet_file **out, nk_error *err)
{
	pthread_mutex_lock(&source->lock);
	nk_status status = get_file(source, i, err);
	if (status == NK_OK)
		*out = &source->files[i];
	pthread_mutex_unlock(&source->lock);
	return status;
}

nk_status nk__parquet_n_files(nk_parquet_source *source, int64_t *out, nk_error *err)
{
	pthread_mutex_lock(&source->lock);
	nk_status status = expand(source, err);
	*out = source->n_files;
	pthread_mutex_unlock(&source->lock);
	return status;
}

static void source_free(nk_source *base)
{
	nk_parquet_source *source = (nk_parquet_source *)base;
	for (int64_t i = 0; i < source->n_files; i++)
		unload_file(&source->files[i]);
	nk_schema_unref(source->schema);
	pthread_mutex_destroy(&source->lock);
	nk_memory *memory = nk_memory_ref(source->memory);
	nk_arena_free(source->arena); /* which holds the source itself */
	nk_memory_unref(memory);
}

static nk_status source_schema(nk_source *base, const nk_schema **out, nk_error *err)
{
	nk_parquet_source *source = (nk_parquet_source *)base;
	nk_parquet_file *file;
	NK_TRY(nk__parquet_file(source, 0, &file, err));
	*out = source->schema;
	return NK_OK;
}

static nk_status source_n_rows(nk_source *base, int64_t *out, nk_error *err)
{
	nk_parquet_source *source = (nk_parquet_source *)base;
	int64_t n_files, n_rows = 0;
	NK_TRY(nk__parquet_n_files(source, &n_files, err));
	*out = -1;
	if (n_files > FILES_FOR_STATISTICS)
		return NK_OK;
	for (int64_t i = 0; i < n_files; i++) {
		nk_parquet_file *file;
		NK_TRY(nk__parquet_file(source, i, &file, err));
		for (int g = 0; g < file->metadata->n_groups; g++)
			n_rows += file->metadata->groups[g].n_rows;
	}
	*out = n_rows;
	return NK_OK;
}

/* Entries of a chunk's dictionary page, from its header; -1 when it has none. */
static int64_t dictionary_entries(const nk_parquet_file *file, const nk_column_chunk *chunk)
{
	enum { HEADER_MAX = 64 };
	if (!chunk->has_dictionary_page || chunk->is_elsewhere || chunk->is_encrypted)
		return -1;
	NK_AUTO(nk_buffer) bytes = NULL;
	nk_page_header header;
	int64_t n = NK_MIN(chunk->n_bytes, HEADER_MAX);
	if (nk__file_read(file->file, chunk->offset, n, &bytes, NULL) != NK_OK ||
	    nk__page_header_parse(bytes->bytes, n, &header, NULL) != NK_OK || header.type != NK_PAGE_DICTIONARY)
		return -1;
	return header.n_values;
}

/* The number of values of which so many occur among n_rows rows drawn at random. */
static double distinct_in_all(double n_seen, double n_rows)
{
	double low = n_seen, high = n_seen * 1e6;
	for (int i = 0; i < 60; i++) {
		double middle = sqrt(low * high);
		if (middle * -expm1(-n_rows / middle) < n_seen)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* A guess from the dictionary of the first row group. Where the group spans a small part of the range of all values,
 * the rows are clustered and other groups have other values; else it is a sample. */
static int64_t guess_distinct(const nk_parquet_file *file, const nk_leaf_plan *plan, int64_t n_rows_total,
                              const nk_scalar *min, const nk_scalar *max)
{
	if (file->metadata->n_groups == 0 || file->metadata->groups[0].n_rows == 0)
		return -1;
	const nk_row_group *group = &file->metadata->groups[0];
	const nk_column_chunk *chunk = &group->chunks[plan->leaf];
	int64_t n = dictionary_entries(file, chunk);
	if (n < 0)
		n = chunk->statistics.n_distinct > 0 ? chunk->statistics.n_distinct : -1;
	if (n <= 0)
		return -1;
	double n_seen = (double)n, n_rows = (double)group->n_rows, n_all = (double)n_rows_total;
	if (n_seen > 0.98 * n_rows)
		return (int64_t)(n_all * (n_seen / n_rows));
	const nk_parquet_statistics *statistics = &chunk->statistics;
	nk_parquet_bounds bounds =
		nk__parquet_bounds(plan, statistics->min, statistics->max, statistics->is_deprecated, group->n_rows,
	                       statistics->n_nulls);
	nk_type_id id = bounds.has_bounds && min ? bounds.min.dtype->id : NK_TYPE_NULL;
	if (nk_type_is_integer(id) || nk_type_is_temporal(id) || id == NK_TYPE_DECIMAL) {
		double span = (double)(bounds.max.integer - bounds.min.integer) + 1,
			   all = (double)(max->integer - min->integer) + 1;
		if (span < all / 2)
			return (int64_t)fmin(n_all, n_seen * fmin(all / span, n_all / n_rows));
		return (int64_t)fmin(fmin(n_all, all), distinct_in_all(n_seen, n_rows));
	}
	return (int64_t)fmin(n_all, distinct_in_all(n_seen, n_rows));
}

static nk_status source_statistics(nk_source *base, int column, nk_column_statistics *out, nk_error *err)
{
	nk_parquet_source *source = (nk_parquet_source *)base;
	*out = (nk_column_statistics){.n_nulls = -1, .n_distinct = -1};
	int64_t n_files, n_nulls = 0, n_rows = 0;
	bool has_bounds = true, has_any = false;
	nk_parquet_file *file = NULL;
	NK_TRY(nk__parquet_n_files(source, &n_files, err));
	if (n_files > FILES_FOR_STATISTICS)
		return NK_OK;
	for (int64_t i = 0; i < n_files; i++) {
		NK_TRY(nk__parquet_file(source, i, &file, err));
		if (!nk__parquet_is_flat(file, column))
			return NK_OK;
		const nk_leaf_plan *plan = nk__parquet_plan(file, column);
		for (int g = 0; g < file->metadata->n_groups; g++) {
			const nk_row_group *group = &file->metadata->groups[g];
			const nk_parquet_statistics *statistics = &group->chunks[plan->leaf].statistics;
			nk_parquet_bounds bounds =
				nk__parquet_bounds(plan, statistics->min, statistics->max, statistics->is_deprecated,
			                       group->n_rows, statistics->n_nulls);
			n_rows += group->n_rows;
			n_nulls = n_nulls < 0 || bounds.n_nulls < 0 ? -1 : n_nulls + bounds.n_nulls;
			if (group->n_rows == 0 || bounds.n_nulls == group->n_rows)
				continue;
			has_bounds &= bounds.has_bounds;
			if (!has_bounds)
				continue;
			if (!has_any || nk_scalar_compare(&bounds.min, &out->min) < 0)
				out->min = bounds.min;
			if (!has_any || nk_scalar_compare(&bounds.max, &out->max) > 0)
				out->max = bounds.max;
			has_any = true;
		}
	}
	out->has_bounds = has_bounds && has_any;
	out->n_nulls = n_nulls;
	nk_parquet_file *first = &source->files[0];
	out->n_distinct = guess_distinct(first, nk__parquet_plan(first, column), n_rows,
	                                 out->has_bounds ? &out->min : NULL, &out->max);
	return NK_OK;
}

static void source_describe(nk_source *base, nk_text *out)
{
	nk_parquet_source *source = (nk_parquet_source *)base;
	pthread_mutex_lock(&source->lock);
	const char *path = source->is_expanded ? source->files[0].path : source->patterns[0];
	int64_t n_more = (source->is_expanded ? source->n_files : source->n_patterns) - 1;
	nk_text_format(out, "Parquet %s", path);
	if (n_more > 0)
		nk_text_format(out, " (+%lld files)", (long long)n_more);
	pthread_mutex_unlock(&source->lock);
}

static nk_status source_serialise(nk_source *base, nk_text *out, nk_error *err)
{
	nk_parquet_source *source = (nk_parquet_source *)base;
	const nk_parquet_options *options = &source->options;
	nk_wire_put_number(out, (uint64_t)source->n_patterns);
	for (int i = 0; i < source->n_patterns; i++)
		nk_wire_put_string(out, source->patterns[i]);
	nk_wire_put_number(out, (uint64_t)options->expand_globs | (uint64_t)options->has_schema << 1 |
	                            (uint64_t)options->insert_missing_columns << 2 |
	                            (uint64_t)options->ignore_extra_columns << 3 |
	                            (uint64_t)options->hive.parses_no_dates << 4);
	nk_wire_put_signed(out, options->hive.mode);
	nk_wire_put_string(out, options->file_paths_name);
	nk__option_fields_put(out, options->schema, options->n_schema);
	nk__option_fields_put(out, options->hive.schema, options->hive.n_schema);
	return nk_text_finish(out, err);
}

static nk_status source_layout(nk_source *base, int column, nk_column_layout *out, nk_error *err)
{
	nk_parquet_source *source = (nk_parquet_source *)base;
	*out = (nk_column_layout){.has_page_index = true};
	int64_t n_files;
	bool has_any = false;
	nk_scalar largest;
	NK_TRY(nk__parquet_n_files(source, &n_files, err));
	for (int64_t i = 0; i < NK_MIN(n_files, (int64_t)FILES_FOR_STATISTICS); i++) {
		nk_parquet_file *file;
		NK_TRY(nk__parquet_file(source, i, &file, err));
		if (!nk__parquet_is_flat(file, column))
			continue;
		const nk_leaf_plan *plan = nk__parquet_plan(file, column);
		for (int g = 0; g < file->metadata->n_groups; g++) {
			const nk_row_group *group = &file->metadata->groups[g];
			const nk_column_chunk *chunk = &group->chunks[plan->leaf];
			nk_parquet_bounds bounds =
				nk__parquet_bounds(plan, chunk->statistics.min, chunk->statistics.max,
			                       chunk->statistics.is_deprecated, group->n_rows, chunk->statistics.n_nulls);
			out->n_groups++;
			out->has_page_index &= chunk->column_index_offset != 0;
			if (!bounds.has_bounds) {
				out->n_bare++;
				continue;
			}
			out->n_overlapping += has_any && nk_scalar_compare(&bounds.min, &largest) < 0;
			if (!has_any || nk_scalar_compare(&bounds.max, &largest) > 0)
				largest = bounds.max;
			has_any = true;
		}
	}
	return NK_OK;
}

static const nk_source_ops source_ops = {
	.kind = "parquet",
	.free = source_free,
	.schema = source_schema,
	.n_rows = source_n_rows,
	.statistics = source_statistics,
	.layout = source_layout,
	.open = nk__parquet_open,
	.describe = source_describe,
	.serialise = source_serialise,
};

/* A source whose patterns and options are still to be filled in. */
static nk_status make_source(nk_memory *memory, int n_paths, nk_parquet_source **out, nk_error *err)
{
	if (n_paths < 1)
		return nk_fail(err, NK_VALUE, "no paths to read");
	NK_AUTO(nk_arena) arena = nk_arena_new(memory);
	if (!arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a source");
	nk_parquet_source *source;
	NK_TRY(NK_ARENA_NEW(arena, &source, 1, err));
	*source = (nk_parquet_source){.base = {.ops = &source_ops, .n_references = 1},
	                              .memory = memory,
	                              .arena = arena,
	                              .n_patterns = n_paths};
	NK_TRY(NK_ARENA_NEW(arena, &source->patterns, n_paths, err));
	pthread_mutex_init(&source->lock, NULL);
	*out = source;
	arena = NULL;
	return NK_OK;
}

static nk_status copy_options(nk_arena *arena, const nk_scan_parquet_options *given, nk_parquet_options *out,
                              nk_error *err)
{
	nk_scan_parquet_options none = NK_OPTIONS(nk_scan_parquet_options);
	given = given ? given : &none;
	*out = (nk_parquet_options){.expand_globs = !given->no_glob,
	                            .has_schema = given->schema_dtypes != NULL,
	                            .insert_missing_columns = given->insert_missing_columns,
	                            .ignore_extra_columns = given->ignore_extra_columns,
	                            .n_schema = given->n_schema,
	                            .hive = {.mode = given->hive_partitioning,
	                                     .parses_no_dates = given->no_hive_dates,
	                                     .n_schema = given->n_hive_schema}};
	NK_TRY(nk__option_text(arena, given->include_file_paths, &out->file_paths_name, err));
	NK_TRY(nk__option_fields(arena, given->schema_names, given->schema_dtypes, given->n_schema, &out->schema,
	                         err));
	return nk__option_fields(arena, given->hive_names, given->hive_dtypes, given->n_hive_schema,
	                         &out->hive.schema, err);
}

nk_status nk_parquet_source_new(nk_memory *memory, const char *const *paths, int n_paths,
                                const nk_scan_parquet_options *options, nk_source **out, nk_error *err)
{
	nk_parquet_source *source;
	NK_TRY(make_source(memory, n_paths, &source, err));
	NK_AUTO(nk_source) made = &source->base;
	for (int i = 0; i < n_paths; i++)
		NK_TRY(nk__option_text(source->arena, paths[i], &source->patterns[i], err));
	NK_TRY(copy_options(source->arena, options, &source->options, err));
	*out = NK_STEAL(made);
	return NK_OK;
}

nk_status nk_parquet_source_from_wire(nk_memory *memory, nk_wire *in, nk_source **out, nk_error *err)
{
	int64_t n, mode;
	uint64_t bits;
	nk_parquet_source *source;
	NK_TRY(nk_wire_count(in, NK_MIN(in->end - in->at, (int64_t)INT32_MAX), &n, err));
	NK_TRY(make_source(memory, (int)n, &source, err));
	NK_AUTO(nk_source) made = &source->base;
	for (int64_t i = 0; i < n; i++)
		NK_TRY(nk__option_text_take(source->arena, in, "Parquet", false, &source->patterns[i], err));
	nk_parquet_options *options = &source->options;
	NK_TRY(nk_wire_number(in, &bits, err));
	NK_TRY(nk_wire_signed(in, &mode, err));
	options->expand_globs = bits & 1;
	options->has_schema = bits >> 1 & 1;
	options->insert_missing_columns = bits >> 2 & 1;
	options->ignore_extra_columns = bits >> 3 & 1;
	options->hive.parses_no_dates = bits >> 4 & 1;
	options->hive.mode = mode > 0 ? 1 : mode < 0 ? -1 : 0;
	NK_TRY(nk__option_text_take(source->arena, in, "Parquet", true, &options->file_paths_name, err));
	NK_TRY(nk__option_fields_take(source->arena, in, "Parquet", true, &options->n_schema, &options->schema,
	                              err));
	NK_TRY(nk__option_fields_take(source->arena, in, "Parquet", true, &options->hive.n_schema,
	                              &options->hive.schema, err));
	*out = NK_STEAL(made);
	return NK_OK;
}
