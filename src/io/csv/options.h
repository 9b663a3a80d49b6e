/* The options of a CSV scan, checked and owned by a source's arena. */
#ifndef NK_IO_CSV_OPTIONS_H
#define NK_IO_CSV_OPTIONS_H

#include "base/arena.h"
#include "base/wire.h"
#include "columnar/dtype.h"
#include "io/csv/dialect.h"

typedef struct nk_csv_null {
	const char *column; /* NULL: of all columns */
	const char *text;
	int64_t n_bytes;
} nk_csv_null;

typedef struct nk_csv_options {
	nk_csv_dialect dialect;
	bool has_header, keep_empty_strings, ignore_errors, is_lossy, try_parse_dates, truncate_ragged_lines,
		decimal_comma, raise_if_empty, expand_globs, ignore_extra_columns, insert_missing_columns;
	bool has_schema, has_new_names, overrides_by_position;
	int n_schema, n_overrides, n_new_names, n_nulls;
	const nk_field *schema, *overrides;
	const char **new_names;
	const nk_csv_null *nulls;
	int64_t skip_rows, skip_lines, skip_rows_after_header;
	int64_t infer_rows; /* -1: all */
	int64_t infer_files;
	const char *file_paths_name; /* NULL: no such column */
} nk_csv_options;

/* Check and copy. Fails with NK_VALUE, NK_INVALID_OPERATION for what contradicts itself, NK_COMPUTE for dtypes that
 * text cannot be read as. */
NK_MUST_CHECK nk_status nk__csv_options_copy(nk_arena *arena, const nk_scan_csv_options *given,
                                             nk_csv_options *out, nk_error *err);
void nk__csv_options_to_wire(const nk_csv_options *options, nk_text *out);
NK_MUST_CHECK nk_status nk__csv_options_from_wire(nk_arena *arena, nk_wire *in, nk_csv_options *out,
                                                  nk_error *err);

#endif
