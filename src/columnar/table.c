/* What is shown of a frame or column: which rows and columns, how cells are cut, and the bounds that columns of a
 * narrow table keep to. The grid does the rest. */
#include "columnar/table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "columnar/display_width.h"
#include "columnar/table_internal.h"

enum { N_ROWS = 10, N_COLUMNS = 8, WIDTH = 100 };

static const char dots_utf8[] = "\xe2\x80\xa6";

/* An option given plus one: 0 is the default, negative no limit. */
static int64_t count_option(int option, int by_default)
{
	return option == 0 ? by_default : option < 0 ? INT64_MAX : option - 1;
}

/* 1234567 as 1_234_567. */
static void append_count(nk_text *out, int64_t n)
{
	char digits[NK_FORMAT_BYTES];
	int n_digits = nk_format_i64(n, digits);
	for (int i = 0; i < n_digits; i++) {
		if (i && (n_digits - i) % 3 == 0)
			nk_text_append_char(out, '_');
		nk_text_append_char(out, digits[i]);
	}
}

/* Bytes of the first n code points. */
static int64_t first_code_points(const char *text, int64_t n_bytes, int64_t n)
{
	int64_t at = 0;
	for (; at < n_bytes && n > 0; n--) {
		uint32_t point;
		at += nk_code_point_read(text + at, n_bytes - at, &point);
	}
	return at;
}

static int64_t count_code_points(const char *text, int64_t n_bytes)
{
	int64_t n = 0;
	for (int64_t i = 0; i < n_bytes; i++)
		n += ((uint8_t)text[i] & 0xc0) != 0x80;
	return n;
}

/* ---- Frames ---- */

typedef struct shown {
	const nk_frame *frame;
	const nk_table_options *options;
	int n_first, n_last, n_columns; /* columns of the grid: with one of dots when some are left out */
	bool has_dots;
	int64_t n_rows_first, n_rows_last; /* a row of dots between when they are fewer than all */
	bool has_row_dots;
	const char *dots;
	int64_t *lengths; /* of the longest cell of each grid column, as Polars estimates, padding included */
} shown;

/* Frame column of a grid column; -1 for the dots. */
static int source_column(const shown *s, int i)
{
	if (i < s->n_first)
		return i;
	return s->has_dots && i == s->n_first ? -1 : s->frame->schema->n_fields - s->n_columns + i;
}

/* Polars' guess at a string's width, which decides the bounds of columns: code points, or up to twice as many when
 * they take several bytes. */
static int64_t estimated_width(const char *text, int64_t n_bytes)
{
	int64_t n = count_code_points(text, n_bytes);
	return n == n_bytes ? n : NK_MIN(2 * n, n_bytes);
}

static void note_length(shown *s, int column, int64_t length)
{
	s->lengths[column] = NK_MAX(s->lengths[column], length + NK_GRID_PADDING);
}

static nk_status take_text(grid_cell *cell, nk_text *text, nk_error *err)
{
	NK_TRY(nk_text_finish(text, err));
	cell->text = text->bytes;
	cell->n_bytes = text->n_bytes;
	*text = (nk_text){0};
	return NK_OK;
}

static int64_t n_dots(const shown *s) { return s->options->values.ascii_dots ? 3 : 1; }

/* Cut to the string length with dots behind. */
static void cut(const shown *s, nk_text *text, int64_t from)
{
	int64_t limit = nk_print_string_length(&s->options->values);
	int64_t n = first_code_points(text->bytes + from, text->n_bytes - from, limit);
	if (from + n < text->n_bytes) {
		text->n_bytes = from + n;
		nk_text_append_string(text, s->dots);
	}
}

static nk_status header_cell(shown *s, int i, grid_cell *cell, nk_error *err)
{
	const nk_table_options *options = s->options;
	int column = source_column(s, i);
	NK_TEXT(text);
	if (column < 0) {
		nk_text_append_string(&text, s->dots);
		s->lengths[i] = n_dots(s);
		return take_text(cell, &text, err);
	}
	const nk_field *field = &s->frame->schema->fields[column];
	NK_TEXT(name);
	nk_text_append_string(&name, field->name);
	cut(s, &name, 0);
	NK_TRY(nk_text_finish(&name, err));
	const char *dtype = options->hide_dtypes ? "" : nk_dtype_short_name(field->dtype);
	bool separated = !options->hide_separator && !options->hide_names && !options->hide_dtypes;
	bool one_line = options->dtypes_inline && !options->hide_dtypes;
	nk_text_append_string(&text, options->hide_names ? "" : name.bytes);
	if (one_line)
		nk_text_format(&text, " (%s)", dtype);
	else if (!options->hide_dtypes)
		nk_text_format(&text, "%s%s%s", separated ? "\n---" : "", options->hide_names ? "" : "\n", dtype);
	int64_t n_dtype = (int64_t)strlen(dtype), n_name = estimated_width(name.bytes, name.n_bytes);
	note_length(s, i, one_line ? n_name + n_dtype + (int64_t)strlen(" ()") : NK_MAX(n_dtype, n_name));
	note_length(s, i, separated ? 3 : 0);
	return take_text(cell, &text, err);
}

static nk_status value_cell(shown *s, int i, int64_t row, grid_cell *cell, nk_error *err)
{
	int column = source_column(s, i);
	NK_TEXT(text);
	if (row < 0 || column < 0) {
		nk_text_append_string(&text, s->dots);
		if (row >= 0)
			note_length(s, i, n_dots(s));
		return take_text(cell, &text, err);
	}
	int64_t row_in_chunk;
	const nk_array *chunk = nk_column_locate(s->frame->columns[column], row, &row_in_chunk);
	nk_print_value(&text, chunk, row_in_chunk, false, &s->options->values);
	NK_TRY(nk_text_finish(&text, err));
	cut(s, &text, 0);
	NK_TRY(nk_text_finish(&text, err));
	note_length(s, i, estimated_width(text.bytes, text.n_bytes));
	return take_text(cell, &text, err);
}

static void choose(shown *s)
{
	int n_fields = s->frame->schema->n_fields;
	int64_t height = s->frame->height, n_columns = count_option(s->options->n_columns, N_COLUMNS);
	int64_t n_rows = count_option(s->options->n_rows, N_ROWS);
	s->n_first = n_fields;
	if (n_fields > n_columns) {
		s->n_first = (int)((n_columns + 1) / 2);
		s->n_last = (int)(n_columns / 2);
	}
	s->has_dots = s->n_first + s->n_last < n_fields;
	s->n_columns = s->n_first + s->n_last + s->has_dots;
	s->n_rows_first = height;
	if (height > n_rows) {
		s->n_rows_first = (n_rows + 1) / 2;
		s->n_rows_last = n_rows / 2;
		s->has_row_dots = true;
	}
	s->dots = nk__grid_is_ascii(s->options->format) ? "..." : dots_utf8;
}

static void grid_release(nk_grid *grid)
{
	for (int64_t i = 0; grid->cells && i < (int64_t)grid->n_rows * grid->n_columns; i++)
		free(grid->cells[i].text);
	free(grid->cells);
	free(grid->bounds);
	free(grid->aligns);
}

static nk_status fill_cells(shown *s, nk_grid *grid, nk_error *err)
{
	int row = 0;
	grid_cell *cell = grid->cells;
	for (int i = 0; i < grid->n_columns; i++) {
		grid_cell hidden = {0}, *into = grid->has_header ? cell++ : &hidden;
		nk_status status = header_cell(s, i, into, err);
		free(hidden.text);
		NK_TRY(status);
	}
	for (row = 0; row < grid->n_rows - grid->has_header; row++) {
		int64_t source =
			row < s->n_rows_first ? row : s->frame->height - (grid->n_rows - grid->has_header - row);
		if (s->has_row_dots && row == s->n_rows_first)
			source = -1;
		for (int i = 0; i < grid->n_columns; i++)
			NK_TRY(value_cell(s, i, source, cell++, err));
	}
	return NK_OK;
}

/* Short columns are fixed, the others may shrink to five columns and grow to the string length. */
static void set_bounds(const shown *s, nk_grid *grid)
{
	enum { LEAST = 3 + NK_GRID_PADDING };
	int64_t limit = nk_print_string_length(&s->options->values);
	limit += nk__grid_is_ascii(s->options->format) ? 3 : 1;
	for (int i = 0; i < grid->n_columns; i++) {
		int64_t most = NK_MIN(limit + NK_GRID_PADDING, s->lengths[i]);
		bool truncated = s->has_row_dots && s->n_rows_first > 0;
		grid->bounds[i] = most > LEAST ? (grid_bounds){LEAST, most}
		                  : truncated  ? (grid_bounds){most, LEAST}
		                               : (grid_bounds){most, most};
	}
}

static void set_aligns(const shown *s, nk_grid *grid)
{
	for (int i = 0; i < grid->n_columns; i++) {
		int column = source_column(s, i);
		bool is_number = column >= 0 && nk_type_is_numeric(s->frame->schema->fields[column].dtype->id);
		bool own = is_number && s->options->align_numbers != NK_ALIGN_DEFAULT;
		grid->aligns[i] = own ? s->options->align_numbers : s->options->align;
	}
}

static nk_status draw_frame(shown *s, nk_text *out, nk_error *err)
{
	const nk_table_options *options = s->options;
	__attribute__((cleanup(grid_release)))
	nk_grid grid = {.n_columns = s->n_columns,
	                .has_header = !(options->hide_names && options->hide_dtypes),
	                .width = count_option(options->width, WIDTH),
	                .format = options->format,
	                .rounded_corners = options->rounded_corners};
	int64_t n_rows = s->n_columns ? s->n_rows_first + s->n_rows_last + s->has_row_dots : 0;
	n_rows += grid.has_header;
	if (n_rows == 0)
		grid.n_columns = 0;
	if (n_rows > INT_MAX / NK_MAX(s->n_columns, 1))
		return nk_fail(err, NK_COMPUTE, "a table of %lld rows is too long to print", (long long)n_rows);
	grid.n_rows = (int)n_rows;
	grid.cells = calloc((size_t)n_rows * (size_t)s->n_columns + 1, sizeof *grid.cells);
	grid.bounds = calloc((size_t)s->n_columns + 1, sizeof *grid.bounds);
	grid.aligns = calloc((size_t)s->n_columns + 1, sizeof *grid.aligns);
	if (!grid.cells || !grid.bounds || !grid.aligns)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory to print a table");
	NK_TRY(fill_cells(s, &grid, err));
	set_bounds(s, &grid);
	if (!grid.has_header) {
		free(grid.bounds);
		grid.bounds = NULL;
	}
	set_aligns(s, &grid);
	return nk__grid_draw(&grid, out, err);
}

static void append_shape(const nk_frame *frame, nk_text *out)
{
	nk_text_append_string(out, "shape: (");
	append_count(out, frame->height);
	nk_text_append_string(out, ", ");
	append_count(out, frame->schema->n_fields);
	nk_text_append_char(out, ')');
}

nk_status nk_frame_format(const nk_frame *frame, const nk_table_options *options, nk_text *out, nk_error *err)
{
	nk_table_options settled = options ? *options : (nk_table_options){0};
	settled.values.ascii_dots = nk__grid_is_ascii(settled.format);
	shown s = {.frame = frame, .options = &settled};
	choose(&s);
	s.lengths = calloc((size_t)s.n_columns + 1, sizeof *s.lengths);
	if (!s.lengths)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory to print a table");
	if (!s.options->hide_shape && !s.options->shape_below) {
		append_shape(frame, out);
		nk_text_append_char(out, '\n');
	}
	nk_status status = draw_frame(&s, out, err);
	free(s.lengths);
	NK_TRY(status);
	if (!s.options->hide_shape && s.options->shape_below) {
		nk_text_append_char(out, '\n');
		append_shape(frame, out);
	}
	return nk_text_finish(out, err);
}

/* ---- Columns ---- */

/* One value on a line of its own. Strings are cut inside of their quotes, of which the closing one falls. */
static void append_value(nk_text *out, const nk_column *column, int64_t row, const nk_table_options *options,
                         const char *dots)
{
	int64_t row_in_chunk, from = out->n_bytes + 1;
	const nk_array *chunk = nk_column_locate(column, row, &row_in_chunk);
	nk_text_append_char(out, '\t');
	nk_print_value(out, chunk, row_in_chunk, true, &options->values);
	if (column->dtype->id == NK_TYPE_STRING && !out->failed && nk_array_is_valid(chunk, row_in_chunk)) {
		int64_t n_inside = out->n_bytes - from - 2;
		int64_t n =
			first_code_points(out->bytes + from + 1, n_inside, nk_print_string_length(&options->values));
		if (n < n_inside) {
			out->n_bytes = from + 1 + n;
			nk_text_append_string(out, dots);
		}
	}
	nk_text_append_char(out, '\n');
}

nk_status nk_column_format(const nk_column *column, const char *name, const nk_table_options *options,
                           nk_text *out, nk_error *err)
{
	nk_table_options settled = options ? *options : (nk_table_options){0};
	settled.values.ascii_dots = nk__grid_is_ascii(settled.format);
	const char *dots = settled.values.ascii_dots ? "..." : dots_utf8;
	int64_t n_rows = count_option(settled.n_rows, N_ROWS), first = column->n_rows, last = 0;
	if (column->n_rows > n_rows) {
		first = (n_rows + 1) / 2;
		last = n_rows / 2;
	}
	if (!settled.hide_shape) {
		nk_text_append_string(out, "shape: (");
		append_count(out, column->n_rows);
		nk_text_append_string(out, ",)\n");
	}
	nk_text_format(out, "Series: '%s' [%s]\n[\n", name, nk_dtype_short_name(column->dtype));
	for (int64_t i = 0; i < first; i++)
		append_value(out, column, i, &settled, dots);
	if (first < column->n_rows)
		nk_text_format(out, "\t%s\n", dots);
	for (int64_t i = column->n_rows - last; i < column->n_rows; i++)
		append_value(out, column, i, &settled, dots);
	nk_text_append_char(out, ']');
	return nk_text_finish(out, err);
}
