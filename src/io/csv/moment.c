/* What the usual forms leave over: rare, so tried one format after another. */
#include "io/csv/moment.h"

#include <string.h>

#include "io/csv/kernels.h"

bool nk__csv_moment(const uint8_t *text, int64_t n, nk_parsed *out)
{
	static const char *const formats[] = {
		"%Y-%m-%d",
		"%Y/%m/%d",
		"%Y.%m.%d",
		"%Y%m%dT%H%M%S%.f",
		"%Y%m%dT%H%M%S%.f%z",
		"%Y-%m-%dT%H%M%S%.f",
		"%Y-%m-%d %H%M%S%.f",
		"%Y-%m-%dT%H%M",
		"%Y-%m-%d %H%M",
		"%Y-%m-%dT%H:%M:%S%.f",
		"%Y-%m-%d %H:%M:%S%.f",
	};
	nk__csv_skip_blanks(&text, &n);
	if (nk_moment_infer((const char *)text, n, out))
		return true;
	for (size_t i = 0; n >= 5 && text[0] >= '0' && text[0] <= '9' && i < sizeof formats / sizeof *formats;
	     i++) {
		int64_t n_used;
		bool is_compact = formats[i][2] == '%', has_time = strlen(formats[i]) > 8;
		if ((has_time && n < 15) || (is_compact && (n < 15 || text[8] != 'T')))
			continue;
		if (nk_moment_parse((const char *)text, n, formats[i], (int64_t)strlen(formats[i]), out, &n_used) &&
		    n_used == n && out->has_date)
			return true;
	}
	return false;
}

void nk__csv_append_lossy(nk_text *out, const uint8_t *text, int64_t n)
{
	const nk_csv_loops *loops = NK_ISA_TABLE(nk__csv_loops);
	for (int64_t at = 0; at < n;) {
		int64_t length = 1;
		if (text[at] >= 0x80) {
			for (length = 2; length <= 4 && at + length <= n; length++)
				if (loops->is_utf8(text + at, length))
					break;
			if (length > 4 || at + length > n) {
				/* The longest start of a character is replaced as one. */
				length = 1;
				uint8_t c = text[at], second = at + 1 < n ? text[at + 1] : 0;
				bool may_follow = (c >= 0xe1 && c <= 0xef && c != 0xed && (second & 0xc0) == 0x80) ||
				                  (c == 0xe0 && second >= 0xa0 && second <= 0xbf) ||
				                  (c == 0xed && second >= 0x80 && second <= 0x9f) ||
				                  (c == 0xf0 && second >= 0x90 && second <= 0xbf) ||
				                  (c >= 0xf1 && c <= 0xf3 && (second & 0xc0) == 0x80) ||
				                  (c == 0xf4 && second >= 0x80 && second <= 0x8f);
				if (may_follow)
					length = c >= 0xf0 && at + 2 < n && (text[at + 2] & 0xc0) == 0x80 ? 3 : 2;
				nk_text_append(out, "\xef\xbf\xbd", 3);
				at += length;
				continue;
			}
		}
		nk_text_append(out, (const char *)text + at, length);
		at += length;
	}
}
