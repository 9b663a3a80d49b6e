/* Columns that the folders of files hold: ".../year=2024/kind=a%20b/x.parquet" is a row of two values for every row of the
 * file. Immutable once made. */
#ifndef NK_IO_HIVE_H
#define NK_IO_HIVE_H

#include "base/arena.h"
#include "columnar/scalar.h"
#include "io/glob.h"

typedef struct nk_hive_options {
	int mode;        /* 0: where the only path is a folder, 1: always, -1: never */
	bool has_schema; /* dtypes are given; else Int64, Float64, Date, Boolean or String, as all values allow */
	bool parses_no_dates; /* dates stay String */
	int n_schema;
	const nk_field *schema;
} nk_hive_options;

typedef struct nk_hive {
	int n_columns;
	nk_field *fields;
	nk_scalar *values; /* of file f in column c: values[f * n_columns + c] */
} nk_hive;

/* patterns are what was expanded to paths: only folders behind a folder's or pattern's own name count. Everything is
 * allocated from the arena. Fails with NK_SCHEMA_MISMATCH where files lie in folders of other names, NK_COMPUTE for values
 * that are not of their dtype. */
NK_MUST_CHECK nk_status nk__hive_find(nk_arena *arena, const nk_hive_options *options,
                                      const char *const *patterns, int n_patterns, const nk_paths *paths,
                                      nk_hive *out, nk_error *err);

#endif
