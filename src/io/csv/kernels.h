/* The loops of CSV whose speed depends on the instruction level: finding structure, converting fields.
 *
 * Text is a run of whole rows that may be read from 16 bytes before its start to 64 bytes behind its end; `summarise`
 * and `is_utf8` alone read exactly what they are given. Positions are relative to the text and fit 32 bits. Fields are
 * converted by rows: field r of a column is [starts[i], ends[i] - 1) with i = stride * (rows ? rows[r] : r), and
 * conversions that a loop does not do itself are listed in `retry`, which has room for all rows. */
#ifndef NK_IO_CSV_KERNELS_H
#define NK_IO_CSV_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "columnar/array.h"

typedef struct nk_csv_marks {
	uint8_t separator, eol, quote;
	bool has_quote;
} nk_csv_marks;

/* What lies in a run of text, for both assumptions about its start: [0] outside of quotes, [1] inside. */
typedef struct nk_csv_summary {
	int64_t n_eols[2];
	int64_t last_eol[2]; /* position; -1: none */
	int64_t n_marks;     /* separators and line ends, quoted or not */
	bool is_odd;         /* the number of quotes */
} nk_csv_summary;

typedef struct nk_csv_index {
	int64_t n_marks, n_eols;
	bool is_irregular; /* a quote opens within a field, or something follows a closing one */
	bool is_open;      /* the text ends inside of quotes */
	bool has_high;     /* some byte is no ASCII */
} nk_csv_index;

typedef struct nk_csv_fields {
	const uint8_t *text;
	const uint32_t *starts, *ends;
	int64_t stride;
	const uint32_t *rows; /* NULL: consecutive ones */
} nk_csv_fields;

static inline void nk_csv_field_at(const nk_csv_fields *fields, int64_t row, uint32_t *begin,
                                   uint32_t *n_bytes)
{
	int64_t i = fields->stride * (fields->rows ? fields->rows[row] : row);
	*begin = fields->starts[i];
	*n_bytes = fields->ends[i] - 1 - *begin;
}

/* A text that does not fit into its view: copied to the heap when the column is complete. */
typedef struct nk_csv_long {
	uint32_t row, begin, n_bytes;
	uint32_t is_escaped; /* doubled quotes become one */
} nk_csv_long;

typedef struct nk_csv_loops {
	void (*summarise)(const uint8_t *text, int64_t n, const nk_csv_marks *marks, nk_csv_summary *out);
	/* The positions behind all separators and line ends outside of quotes; the text begins outside. out has room for
	 * 16 more than there are. */
	void (*index)(const uint8_t *text, int64_t n, const nk_csv_marks *marks, uint32_t *out,
	              nk_csv_index *found);
	bool (*is_utf8)(const uint8_t *text, int64_t n);
	/* Plain numbers of up to 16 bytes; return how many are in retry. */
	int64_t (*integers)(const nk_csv_fields *fields, int64_t first, int64_t n, int64_t *out, uint32_t *retry);
	int64_t (*doubles)(const nk_csv_fields *fields, int64_t first, int64_t n, uint8_t point, double *out,
	                   uint32_t *retry);
	/* digits * 10^-places[i], exact; the sign is applied. places is 0 without a point. */
	int64_t (*decimals)(const nk_csv_fields *fields, int64_t first, int64_t n, uint8_t point, int64_t *out,
	                    uint8_t *places, uint32_t *retry);
	/* Not empty, not quoted, without a carriage return at the end. Longer ones get their view later; longs has room for
	 * all rows. */
	int64_t (*views)(const nk_csv_fields *fields, int64_t first, int64_t n, int first_quote, nk_view *out,
	                 uint32_t *retry, nk_csv_long *longs, int64_t *n_longs);
} nk_csv_loops;
NK_ISA_DECLARE(nk_csv_loops, nk__csv_loops);

#endif
