/* Where the fields of a chunk lie. Single-owner. */
#ifndef NK_IO_CSV_ROWS_H
#define NK_IO_CSV_ROWS_H

#include "io/csv/source_internal.h"

typedef struct nk_csv_rows {
	nk_memory *memory;
	int n_columns; /* of the file */
	int64_t n_rows;
	const uint8_t *text;    /* padded, as kernels.h demands */
	const uint32_t *starts; /* field c of row r is [starts[i], ends[i] - 1), i = r * n_columns + c */
	const uint32_t *ends;
	bool has_high; /* some byte is no ASCII */
	uint8_t *copy; /* of text that has no padding where it lies */
	uint32_t *marks, *fields;
	int64_t copy_capacity, marks_capacity, fields_capacity;
} nk_csv_rows;

void nk__csv_rows_release(nk_csv_rows *rows);
/* Find the fields. Rows with too many are an error unless is_truncated. Fails with NK_COMPUTE and the row (in the source)
 * in *fault. */
NK_MUST_CHECK nk_status nk__csv_rows_find(nk_csv_rows *rows, const nk_csv_options *options,
                                          const nk_chunk *chunk, bool is_truncated, int64_t *fault,
                                          nk_error *err);

#endif
