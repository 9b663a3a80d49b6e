/* Frames and columns as people read them, laid out as Polars does. All-zero options are the default; counts that
 * may be zero are given plus one, negative meaning "all". */
#ifndef NK_COLUMNAR_TABLE_H
#define NK_COLUMNAR_TABLE_H

#include "columnar/format.h"
#include "columnar/frame.h"

typedef enum nk_table_align {
	NK_ALIGN_DEFAULT,
	NK_ALIGN_LEFT,
	NK_ALIGN_CENTER,
	NK_ALIGN_RIGHT
} nk_table_align;

typedef struct nk_table_options {
	nk_print_options values;
	int n_rows;         /* rows shown plus one; 0: 10 */
	int n_columns;      /* columns shown plus one; 0: 8 */
	int width;          /* columns of the terminal plus one; 0: 100; negative: no limit */
	const char *format; /* "UTF8_FULL_CONDENSED", "ASCII_FULL", "NOTHING", ...; NULL or unknown: the first */
	bool rounded_corners;
	bool hide_names, hide_dtypes, hide_separator, hide_shape;
	bool dtypes_inline, shape_below;
	nk_table_align align, align_numbers;
} nk_table_options;

/* Append the text, without a newline at the end. options may be NULL. */
NK_MUST_CHECK nk_status nk_frame_format(const nk_frame *frame, const nk_table_options *options, nk_text *out,
                                        nk_error *err);
NK_MUST_CHECK nk_status nk_column_format(const nk_column *column, const char *name,
                                         const nk_table_options *options, nk_text *out, nk_error *err);

#endif
