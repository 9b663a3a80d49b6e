/* The vector scan lists the positions behind all separators and line ends. When every row has as many fields as the file
 * has columns, which one strided look at the line ends shows, that list is all there is to know. Otherwise rows are
 * brought to that width; and where quotes stand in odd places, or comments between rows, fields are split one by one. */
#include "io/csv/rows.h"

void nk__csv_rows_release(nk_csv_rows *rows)
{
	if (rows->memory) {
		nk_free(rows->memory, rows->copy, rows->copy_capacity);
		nk_free(rows->memory, rows->marks, rows->marks_capacity * (int64_t)sizeof *rows->marks);
		nk_free(rows->memory, rows->fields, rows->fields_capacity * (int64_t)sizeof *rows->fields);
	}
	*rows = (nk_csv_rows){0};
}

static bool is_regular(const nk_csv_rows *rows, const uint32_t *ends, int64_t n_marks, uint8_t eol, int64_t n)
{
	if (n_marks != rows->n_rows * rows->n_columns)
		return false;
	bool good = true;
	for (int64_t r = 1; r <= rows->n_rows; r++) {
		uint32_t end = ends[r * rows->n_columns - 1] - 1;
		good &= end == n || rows->text[end] == eol;
	}
	return good;
}

static nk_status too_many(nk_error *err)
{
	return nk_fail(
		err, NK_COMPUTE,
		"found more fields than defined in 'Schema'\n\nConsider setting 'truncate_ragged_lines=True'.");
}

static nk_status make_fields(nk_csv_rows *rows, uint32_t **starts, uint32_t **ends, nk_error *err)
{
	int64_t n = rows->n_rows * rows->n_columns;
	NK_TRY(NK_GROW(rows->memory, &rows->fields, &rows->fields_capacity, 2 * n + 1, err));
	rows->starts = *starts = rows->fields;
	rows->ends = *ends = rows->fields + n;
	return NK_OK;
}

/* Rows that are short get empty fields at their end, rows that are long lose some. */
static nk_status even_out(nk_csv_rows *rows, const uint32_t *marks, int64_t n_marks, uint8_t eol, int64_t n,
                          bool is_truncated, int64_t *fault, nk_error *err)
{
	uint32_t *starts, *ends;
	NK_TRY(make_fields(rows, &starts, &ends, err));
	int64_t row = 0;
	int column = 0;
	for (int64_t i = 1; i <= n_marks; i++) {
		uint32_t end = marks[i] - 1;
		if (column < rows->n_columns) {
			starts[row * rows->n_columns + column] = marks[i - 1];
			ends[row * rows->n_columns + column] = marks[i];
			column++;
		} else if (!is_truncated) {
			*fault = row;
			return too_many(err);
		}
		if (end != n && rows->text[end] != eol)
			continue;
		for (; column < rows->n_columns; column++) {
			starts[row * rows->n_columns + column] = end;
			ends[row * rows->n_columns + column] = end + 1;
		}
		column = 0;
		row++;
	}
	return NK_OK;
}

/* One row at a time. Quotes inside of a field that does not begin with one are text; but they were counted when rows were
 * told apart, so a line end between them means that nobody knows where the row ends. */
static nk_status split_rows(nk_csv_rows *rows, const nk_csv_options *options, int64_t n, bool is_truncated,
                            int64_t *fault, nk_error *err)
{
	const nk_csv_dialect *dialect = &options->dialect;
	const uint8_t *text = rows->text;
	uint32_t *starts, *ends;
	int64_t row = 0;
	NK_TRY(make_fields(rows, &starts, &ends, err));
	for (int64_t at = 0; at < n;) {
		int64_t n_row = nk__csv_row_length(dialect, text + at, n - at), in_row = 0;
		if (nk__csv_is_comment(dialect, text + at, n_row)) {
			at += n_row + 1;
			continue;
		}
		if (row == rows->n_rows)
			break; /* cannot be: both count rows alike */
		*fault = row;
		nk_csv_field field;
		for (int column = 0; nk__csv_next_field(dialect, text + at, n_row, &in_row, &field); column++) {
			if (column >= rows->n_columns) {
				if (!is_truncated)
					return too_many(err);
				continue;
			}
			int64_t begin = field.text - text;
			bool is_good = true;
			if (field.is_quoted) {
				nk_csv_field bare = field;
				nk__csv_strip_return(&bare);
				is_good = nk__csv_is_well_quoted(bare.text, bare.n_bytes, dialect->marks.quote);
			} else {
				is_good = !memchr(field.text, dialect->marks.eol, (size_t)field.n_bytes);
			}
			if (!is_good && !options->ignore_errors)
				return nk_fail(err, NK_COMPUTE, "invalid CSV: field `%.*s` is not properly quoted",
				               (int)NK_MIN(field.n_bytes, (int64_t)100), field.text);
			starts[row * rows->n_columns + column] = (uint32_t)begin;
			ends[row * rows->n_columns + column] = (uint32_t)(is_good ? begin + field.n_bytes : begin) + 1;
			if (column == rows->n_columns - 1 || in_row > n_row)
				for (int rest = column + 1; rest < rows->n_columns; rest++) {
					starts[row * rows->n_columns + rest] = (uint32_t)(at + n_row);
					ends[row * rows->n_columns + rest] = (uint32_t)(at + n_row) + 1;
				}
		}
		at += n_row + 1;
		row++;
	}
	rows->n_rows = row;
	return NK_OK;
}

nk_status nk__csv_rows_find(nk_csv_rows *rows, const nk_csv_options *options, const nk_chunk *chunk,
                            bool is_truncated, int64_t *fault, nk_error *err)
{
	const nk_csv_loops *loops = NK_ISA_TABLE(nk__csv_loops);
	const nk_csv_marks *marks = &options->dialect.marks;
	int64_t n = chunk->end - chunk->begin;
	rows->n_columns = ((const nk_csv_file *)chunk->file)->head.n_columns;
	rows->n_rows = chunk->n_rows;
	*fault = -1;
	NK_TRY(nk__chunk_text(chunk, rows->memory, &rows->copy, &rows->copy_capacity, &rows->text, err));
	NK_TRY(NK_GROW(rows->memory, &rows->marks, &rows->marks_capacity, chunk->n_marks + 32, err));
	nk_csv_index found;
	rows->marks[0] = 0;
	loops->index(rows->text, n, marks, rows->marks + 1, &found);
	rows->has_high = found.has_high;
	if (found.is_irregular || found.is_open || chunk->has_comments)
		return split_rows(rows, options, n, is_truncated, fault, err);
	if (found.n_eols < rows->n_rows)
		rows->marks[++found.n_marks] = (uint32_t)n + 1; /* the last row of a file without a line end */
	if (is_regular(rows, rows->marks + 1, found.n_marks, marks->eol, n)) {
		rows->starts = rows->marks;
		rows->ends = rows->marks + 1;
		return NK_OK;
	}
	return even_out(rows, rows->marks, found.n_marks, marks->eol, n, is_truncated, fault, err);
}
