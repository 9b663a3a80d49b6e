/* Text to values, exactly and without a locale: for casts, CSV, JSON and literals. The whole text must be used;
 * blanks and underscores are refused. Every function returns whether the text is a value that fits. */
#ifndef NK_COLUMNAR_PARSE_H
#define NK_COLUMNAR_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/* A sign and digits. */
bool nk_parse_i64(const char *text, int64_t n_bytes, int64_t *out);
bool nk_parse_u64(const char *text, int64_t n_bytes, uint64_t *out);
bool nk_parse_i128(const char *text, int64_t n_bytes, __int128 *out);
/* Digits with a point or exponent, correctly rounded; nan, inf and infinity in any case. */
bool nk_parse_f64(const char *text, int64_t n_bytes, double *out);
bool nk_parse_f32(const char *text, int64_t n_bytes, float *out);
/* The unscaled value; digits behind the scale round half to even. */
bool nk_parse_decimal(const char *text, int64_t n_bytes, int precision, int scale, __int128 *out);
/* "2024-01-31" to days since 1970; any number of digits in the year, with a sign when not four. */
bool nk_parse_date(const char *text, int64_t n_bytes, int32_t *out);
/* "13:29:00" with a fraction of up to nine digits, to nanoseconds since midnight. */
bool nk_parse_time(const char *text, int64_t n_bytes, int64_t *out);
/* A date, 'T' or a blank, a time (seconds may be left out), to nanoseconds since 1970 as days and time of day.
 * A trailing 'Z' or offset ("+01:00") is subtracted and sets *has_offset. A date alone is midnight. */
bool nk_parse_datetime(const char *text, int64_t n_bytes, int32_t *days, int64_t *nanoseconds,
                       bool *has_offset);

#endif
