/* How a CSV file is written, and the careful reader of it: one row or field at a time, for heads of files and for what
 * the vector scan finds irregular. Pure; any thread. */
#ifndef NK_IO_CSV_DIALECT_H
#define NK_IO_CSV_DIALECT_H

#include <string.h>

#include "io/csv/kernels.h"

typedef struct nk_csv_dialect {
	nk_csv_marks marks;
	const char *comment; /* lines that begin with it do not count; NULL: none */
	int64_t n_comment;
} nk_csv_dialect;

static inline bool nk__csv_is_comment(const nk_csv_dialect *dialect, const uint8_t *text, int64_t n)
{
	return dialect->comment && n >= dialect->n_comment &&
	       memcmp(text, dialect->comment, (size_t)dialect->n_comment) == 0;
}

/* The bytes of the first row of text, without its line end; comments end at the first line end, quoted or not. */
int64_t nk__csv_row_length(const nk_csv_dialect *dialect, const uint8_t *text, int64_t n);

typedef struct nk_csv_field {
	const uint8_t *text;
	int64_t n_bytes;
	bool is_quoted; /* begins with a quote: its first and last byte are quotes unless it is malformed */
} nk_csv_field;

/* The field at *at of a row that ends with the text; moves *at behind its separator. False when the last field was
 * taken before: *at is n + 1 then. Quotes mean nothing in a field that does not begin with one. */
bool nk__csv_next_field(const nk_csv_dialect *dialect, const uint8_t *text, int64_t n, int64_t *at,
                        nk_csv_field *out);

/* What a quoted field holds between its quotes, when it has two. */
static inline void nk__csv_strip_quotes(nk_csv_field *field)
{
	if (field->is_quoted && field->n_bytes >= 2) {
		field->text++;
		field->n_bytes -= 2;
	}
}

static inline void nk__csv_strip_return(nk_csv_field *field)
{
	field->n_bytes -= field->n_bytes > 0 && field->text[field->n_bytes - 1] == '\r';
}

/* Quotes at both ends. */
static inline bool nk__csv_is_well_quoted(const uint8_t *text, int64_t n, uint8_t quote)
{
	return n >= 2 && text[0] == quote && text[n - 1] == quote;
}

/* Doubled quotes become one, single ones vanish. Returns the bytes written, at most n. */
int64_t nk__csv_unescape(uint8_t *to, const uint8_t *text, int64_t n, uint8_t quote);

#endif
