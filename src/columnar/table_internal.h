/* The grid behind a printed frame: cells of text in, lines drawn within a width out. Knows nothing of columns. */
#ifndef NK_COLUMNAR_TABLE_INTERNAL_H
#define NK_COLUMNAR_TABLE_INTERNAL_H

#include "columnar/table.h"

typedef struct grid_cell {
	char *text; /* owned; lines end in '\n' */
	int64_t n_bytes;
} grid_cell;

/* Widths with padding that a column must keep to; equal ones fix it, 0 is none. */
typedef struct grid_bounds {
	int64_t least, most;
} grid_bounds;

typedef struct nk_grid {
	int n_columns, n_rows;
	bool has_header; /* row 0 */
	grid_cell *cells;
	grid_bounds *bounds; /* a column each; NULL: none */
	nk_table_align *aligns;
	int64_t width; /* of the whole table; INT64_MAX: no limit */
	const char *format;
	bool rounded_corners;
} nk_grid;

enum { NK_GRID_PADDING = 2 };

/* Whether dots are written "..." in this format, and not as one character. */
bool nk__grid_is_ascii(const char *format);
NK_MUST_CHECK nk_status nk__grid_draw(const nk_grid *grid, nk_text *out, nk_error *err);

#endif
