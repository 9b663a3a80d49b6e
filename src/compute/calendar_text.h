/* Dates and times as text, with the specifiers of Rust's chrono crate ("%Y-%m-%d %H:%M:%S%.f"), which Polars uses.
 * Pure; any thread. */
#ifndef NK_COMPUTE_CALENDAR_TEXT_H
#define NK_COMPUTE_CALENDAR_TEXT_H

#include "base/status.h"

enum { NK_NANOSECONDS_PER_SECOND = 1000000000 };

/* What is formatted: a local date and time, and the zone they are local to. */
typedef struct nk_moment {
	int64_t days;        /* since 1970-01-01 */
	int64_t nanoseconds; /* since midnight */
	int32_t offset;      /* local minus UTC, seconds */
	const char *zone;    /* abbreviation */
	bool has_date, has_time, has_zone;
} nk_moment;

/* No more bytes than this come from a format of n bytes. */
static inline int64_t nk_moment_bytes_max(int64_t n_format) { return n_format * 24 + 64; }

/* Writes to `to` and moves it on; false when the format asks for what the moment does not have, or is malformed. */
bool nk_moment_format(char **to, const nk_moment *moment, const char *format, int64_t n_format);

typedef struct nk_parsed {
	int64_t days, nanoseconds;
	int32_t offset;
	bool has_date, has_time, has_offset;
	bool is_day_first; /* of nk_moment_infer: day, month, year */
} nk_parsed;

/* Parses text from its start; *n_used is how much of it the format took (all of it is the caller's to demand).
 * Missing smaller parts of a date are the first; a time needs its minutes. */
bool nk_moment_parse(const char *text, int64_t n, const char *format, int64_t n_format, nk_parsed *out,
                     int64_t *n_used);

/* Without a format: ISO-like forms with -, / or . in the date (day first when the year stands last), then T or a
 * space and hours, minutes, perhaps seconds with a fraction, with colons or without, perhaps Z or an offset (unless the
 * day comes first). All of the text must fit. */
bool nk_moment_infer(const char *text, int64_t n, nk_parsed *out);
bool nk_time_infer(const char *text, int64_t n, nk_parsed *out);

#endif
