/* Dates and times as CSV fields hold them, and text that is no UTF-8. */
#ifndef NK_IO_CSV_MOMENT_H
#define NK_IO_CSV_MOMENT_H

#include "base/text.h"
#include "compute/calendar_text.h"

static inline void nk__csv_skip_blanks(const uint8_t **text, int64_t *n)
{
	while (*n > 0 && (**text == ' ' || **text == '\t')) {
		(*text)++;
		(*n)--;
	}
}

/* A date, perhaps with a time; also without colons, and with years of less than four digits first. */
bool nk__csv_moment(const uint8_t *text, int64_t n, nk_parsed *out);

static inline bool nk__csv_time(const uint8_t *text, int64_t n, nk_parsed *out)
{
	nk__csv_skip_blanks(&text, &n);
	return nk_time_infer((const char *)text, n, out);
}

/* Append text with U+FFFD in place of what is no UTF-8. */
void nk__csv_append_lossy(nk_text *out, const uint8_t *text, int64_t n);

#endif
