/* What source.c, prune.c and scan.c share. */
#ifndef NK_IO_PARQUET_SOURCE_INTERNAL_H
#define NK_IO_PARQUET_SOURCE_INTERNAL_H

#include <pthread.h>

#include "io/file.h"
#include "io/glob.h"
#include "io/hive.h"
#include "io/parquet/parquet.h"
#include "io/parquet/schema.h"
#include "io/parquet/statistics.h"

/* One file of a source. Immutable once loaded. */
typedef struct nk_parquet_file {
	const char *path;
	nk_file *file; /* NULL until loaded */
	nk_parquet_metadata *metadata;
	nk_parquet_columns columns;
	int *places;                 /* column of the source to column of the file; -1: constant */
	const nk_scalar **constants; /* of columns that are none of the file's: its path, its folders, null */
} nk_parquet_file;

/* The options of a scan, owned by the source's arena. */
typedef struct nk_parquet_options {
	bool expand_globs, has_schema, insert_missing_columns, ignore_extra_columns;
	int n_schema;
	const nk_field *schema;
	nk_hive_options hive;
	const char *file_paths_name; /* NULL: no such column */
} nk_parquet_options;

typedef struct nk_parquet_source {
	nk_source base;
	nk_memory *memory;
	nk_arena *arena;
	nk_parquet_options options;
	int n_patterns;
	const char **patterns;
	pthread_mutex_t lock; /* over everything below */
	bool is_expanded;
	nk_hive hive;
	int64_t n_files;
	nk_parquet_file *files;
	nk_schema *schema; /* of the first file or given, then folders, then the path */
} nk_parquet_source;

/* File i with its footer read and its columns matched with the source's. Takes the lock. */
NK_MUST_CHECK nk_status nk__parquet_file(nk_parquet_source *source, int64_t i, nk_parquet_file **out,
                                         nk_error *err);
/* The number of files; expands patterns. Takes the lock. */
NK_MUST_CHECK nk_status nk__parquet_n_files(nk_parquet_source *source, int64_t *out, nk_error *err);

/* The plan of a source's column that is the file's. */
static inline nk_leaf_plan *nk__parquet_plan(const nk_parquet_file *file, int column)
{
	return &file->columns.plans[file->places[column]];
}

/* Whether a column's values are one leaf's, which its statistics and indexes then speak of. */
static inline bool nk__parquet_is_flat(const nk_parquet_file *file, int column)
{
	int place = file->places[column];
	return place >= 0 && !file->columns.refusals[place] && !file->columns.nested[place];
}

/* Rows [start, end) of a row group. */
typedef struct nk_row_range {
	int64_t start, end;
} nk_row_range;

/* prune.c: false when statistics show that no row of the group can pass. */
bool nk__group_may_pass(const nk_parquet_file *file, int group, const nk_scan_request *request);
/* prune.c: cut *ranges (one range on entry, room for growth in arena) down to the rows of pages that may pass. Page
 * indexes are advice: a malformed one prunes nothing. */
NK_MUST_CHECK nk_status nk__pages_may_pass(nk_arena *arena, const nk_parquet_file *file, int group,
                                           const nk_scan_request *request, nk_row_range **ranges,
                                           int *n_ranges, nk_error *err);

/* scan.c */
nk_status nk__parquet_open(nk_source *source, const nk_scan_request *request, nk_scan **out, nk_error *err);

#endif
