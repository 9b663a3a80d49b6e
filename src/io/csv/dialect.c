/* Row by row and field by field, with the C library's searches. */
#include "io/csv/dialect.h"

int64_t nk__csv_row_length(const nk_csv_dialect *dialect, const uint8_t *text, int64_t n)
{
	const nk_csv_marks *marks = &dialect->marks;
	const uint8_t *end = text + n, *at = text, *eol = memchr(text, marks->eol, (size_t)n);
	if (!marks->has_quote || nk__csv_is_comment(dialect, text, n))
		return (eol ? eol : end) - text;
	for (;;) {
		if (eol && eol < at)
			eol = memchr(at, marks->eol, (size_t)(end - at));
		const uint8_t *row_end = eol ? eol : end, *quote = memchr(at, marks->quote, (size_t)(row_end - at));
		if (!quote)
			return row_end - text;
		quote = memchr(quote + 1, marks->quote, (size_t)(end - quote - 1));
		if (!quote)
			return n;
		at = quote + 1;
	}
}

bool nk__csv_next_field(const nk_csv_dialect *dialect, const uint8_t *text, int64_t n, int64_t *at,
                        nk_csv_field *out)
{
	const nk_csv_marks *marks = &dialect->marks;
	int64_t begin = *at, end = begin;
	if (begin > n)
		return false;
	*out = (nk_csv_field){.text = text + begin,
	                      .is_quoted = marks->has_quote && begin < n && text[begin] == marks->quote};
	bool is_inside = false;
	for (; end < n; end++) {
		is_inside ^= out->is_quoted && text[end] == marks->quote;
		if (text[end] == marks->separator && !is_inside)
			break;
	}
	out->n_bytes = end - begin;
	*at = end + 1;
	return true;
}

int64_t nk__csv_unescape(uint8_t *to, const uint8_t *text, int64_t n, uint8_t quote)
{
	const uint8_t *at = text, *end = text + n;
	uint8_t *out = to;
	while (at < end) {
		const uint8_t *next = memchr(at, quote, (size_t)(end - at));
		int64_t n_run = (next ? next : end) - at;
		memcpy(out, at, (size_t)n_run);
		out += n_run;
		at += n_run + 1;
		if (next && at < end && *at == quote)
			*out++ = *at++;
	}
	return out - to;
}
