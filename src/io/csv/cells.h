/* Values as CSV text, one at a time. */
#ifndef NK_IO_CSV_CELLS_H
#define NK_IO_CSV_CELLS_H

#include "columnar/array.h"
#include "columnar/time_zone.h"

typedef enum nk_csv_quoting {
	NK_QUOTE_NECESSARY,
	NK_QUOTE_ALWAYS,
	NK_QUOTE_NON_NUMERIC,
	NK_QUOTE_NEVER
} nk_csv_quoting;

/* How values are written. Immutable. */
typedef struct nk_csv_style {
	char separator, quote;
	nk_csv_quoting quoting;
	bool decimal_comma;
	int float_scientific; /* -1, 0, 1 */
	int float_precision;  /* -1: as needed */
	const char *null_value, *line_terminator;
	int64_t n_null_value, n_line_terminator;
	const char *date_format, *time_format, *datetime_format; /* NULL: ISO 8601 */
} nk_csv_style;

/* A column of the batch being written. */
typedef struct nk_csv_cells nk_csv_cells;
struct nk_csv_cells {
	const nk_csv_style *style;
	const nk_dtype *dtype;
	const nk_array *array; /* flat or constant */
	/* Writes a value that is not null, at most n_bytes_max bytes (of text: twice its own and two more). */
	char *(*put)(nk_csv_cells *cells, int64_t row, char *to);
	int64_t n_bytes_max;
	bool quotes_values, quotes_nulls;
	const nk_zone *zone; /* Datetime with a zone */
	nk_zone_span span;
};

/* Choose how a dtype is written. Fails with NK_COMPUTE for dtypes that CSV cannot hold and for formats that do not fit. */
NK_MUST_CHECK nk_status nk__csv_cells_init(nk_csv_cells *cells, const nk_csv_style *style,
                                           const nk_dtype *dtype, nk_error *err);

/* Text in quotes where the style wants them; to has room for 2 n + 2 bytes. */
char *nk__csv_put_text(const nk_csv_style *style, const char *text, int64_t n, char *to);

#endif
