/* Fields of a column to an array, tile by tile: the vector loops first, then one by one what they left. */
#ifndef NK_IO_CSV_CONVERT_H
#define NK_IO_CSV_CONVERT_H

#include "io/csv/options.h"

/* How the fields of one column are read. Immutable; shared by workers. */
typedef struct nk_csv_conversion {
	const nk_dtype *dtype;
	const nk_csv_options *options;
	int n_nulls;              /* texts that stand for null in this column */
	const nk_csv_null *nulls; /* in the scan's arena */
	int *date_order; /* atomic; the order of year and day that the column's dates have: 0 until one is seen */
} nk_csv_conversion;

enum { NK_CSV_TILE = 1024 };

/* Scratch of one worker. */
typedef struct nk_csv_scratch {
	int64_t integers[NK_CSV_TILE];
	uint8_t places[NK_CSV_TILE];
	uint32_t retry[NK_CSV_TILE];
	nk_csv_long *longs; /* room for all rows of a batch */
	nk_text text;       /* for what must be rewritten before it is read */
} nk_csv_scratch;

/* What could not be read. */
typedef struct nk_csv_fault {
	int64_t row; /* of the fields given; -1: none */
	uint32_t begin, n_bytes;
	const char *what; /* static; why */
} nk_csv_fault;

/* n_rows fields to a flat array. On NK_COMPUTE with fault->row >= 0 the caller writes the message. is_unchecked: the
 * text may hold bytes that are no UTF-8, which every String is to be checked for. */
NK_MUST_CHECK nk_status nk__csv_convert(const nk_csv_conversion *conversion, nk_memory *memory,
                                        const nk_csv_fields *fields, int64_t n_rows, bool is_unchecked,
                                        nk_csv_scratch *scratch, nk_array **out, nk_csv_fault *fault,
                                        nk_error *err);

#endif
