/* What the files of this folder share. */
#ifndef NK_IO_JSON_SOURCE_INTERNAL_H
#define NK_IO_JSON_SOURCE_INTERNAL_H

#include <pthread.h>

#include "base/arena.h"
#include "compute/json_column.h"
#include "io/chunks.h"
#include "io/json/json.h"

/* The options of a scan, owned by an arena. */
typedef struct nk_json_options {
	bool has_schema, ignore_errors, expand_globs;
	int n_schema, n_overrides;
	const nk_field *schema, *overrides;
	int64_t infer_rows;          /* -1: all */
	const char *file_paths_name; /* NULL: no such column */
} nk_json_options;

typedef struct nk_json_source {
	nk_source base;
	nk_memory *memory;
	nk_arena *arena;
	nk_json_options options;
	int n_patterns;
	const char **patterns;
	pthread_mutex_t lock; /* over everything below */
	bool is_expanded;
	int64_t n_files;
	const char **files;
	nk_schema *schema;
	double row_bytes; /* of the first rows, on average */
} nk_json_source;

NK_MUST_CHECK nk_status nk__json_options_copy(nk_arena *arena, const nk_scan_json_options *given,
                                              nk_json_options *out, nk_error *err);
/* Fields as inferred, or given, with the dtypes that override them. Fails with NK_COLUMN_NOT_FOUND for an override of no
 * column. */
NK_MUST_CHECK nk_status nk__json_schema(nk_arena *arena, const nk_json_options *options,
                                        const nk_dtype *inferred, nk_schema **out, nk_error *err);

/* Expand patterns and infer the schema, once; takes the lock. */
NK_MUST_CHECK nk_status nk__json_prepare(nk_json_source *source, nk_error *err);
extern const nk_chunk_ops nk__json_chunk_ops;

/* All text of a file, decompressed, with room before and behind it. */
NK_MUST_CHECK nk_status nk__json_load(nk_memory *memory, const char *path, bool must_be_padded,
                                      nk_text_file *out, nk_error *err);

/* scan.c */
nk_status nk__json_open(nk_source *source, const nk_scan_request *request, nk_scan **out, nk_error *err);

#endif
