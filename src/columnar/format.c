/* The form that casts to String, CSV and JSON use. Digits are written in pairs from a table, from the end. */
#include "columnar/format.h"

#include <string.h>

#include "columnar/calendar.h"
#include "columnar/float_text.h"
#include "columnar/time_zone.h"

/* ---- Integers ---- */

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
							"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
							"8081828384858687888990919293949596979899";

static int count_digits(uint64_t value)
{
	static const uint64_t powers[] = {0,
	                                  10,
	                                  100,
	                                  1000,
	                                  10000,
	                                  100000,
	                                  1000000,
	                                  10000000,
	                                  100000000,
	                                  1000000000,
	                                  10000000000,
	                                  100000000000,
	                                  1000000000000,
	                                  10000000000000,
	                                  100000000000000,
	                                  1000000000000000,
	                                  10000000000000000,
	                                  100000000000000000,
	                                  1000000000000000000,
	                                  10000000000000000000u};
	int guess = (64 - __builtin_clzll(value | 1)) * 1233 >> 12; /* log10(2) is 1233 / 4096 */
	return guess + (value >= powers[guess]);
}

/* The last n digits of value, zeros in front. */
static void put_digits(char *out, uint64_t value, int n)
{
	while (n >= 2) {
		n -= 2;
		memcpy(out + n, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (n)
		out[0] = (char)('0' + value % 10);
}

int nk_format_u64(uint64_t value, char *out)
{
	int n = count_digits(value);
	put_digits(out, value, n);
	return n;
}

int nk_format_i64(int64_t value, char *out)
{
	if (value >= 0)
		return nk_format_u64((uint64_t)value, out);
	*out = '-';
	return nk_format_u64(-(uint64_t)value, out + 1) + 1;
}

static int format_u128(unsigned __int128 value, char *out)
{
	static const uint64_t e19 = 10000000000000000000u;
	if (value <= UINT64_MAX)
		return nk_format_u64((uint64_t)value, out);
	int n = format_u128(value / e19, out);
	put_digits(out + n, (uint64_t)(value % e19), 19);
	return n + 19;
}

int nk_format_i128(__int128 value, char *out)
{
	if (value >= 0)
		return format_u128((unsigned __int128)value, out);
	*out = '-';
	return format_u128(-(unsigned __int128)value, out + 1) + 1;
}

int nk_format_decimal(__int128 value, int scale, char *out)
{
	int n = 0;
	unsigned __int128 magnitude = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
	if (value < 0)
		out[n++] = '-';
	if (scale == 0)
		return n + format_u128(magnitude, out + n);
	unsigned __int128 unit = (unsigned __int128)nk_power_of_ten(scale), fraction = magnitude % unit;
	n += format_u128(magnitude / unit, out + n);
	out[n++] = '.';
	char digits[NK_FORMAT_BYTES];
	int n_digits = format_u128(fraction, digits);
	memset(out + n, '0', (size_t)(scale - n_digits));
	memcpy(out + n + scale - n_digits, digits, (size_t)n_digits);
	return n + scale;
}

/* ---- Floats ---- */

static int format_special(bool nan, bool negative, char *out)
{
	const char *text = nan ? "NaN" : negative ? "-inf" : "inf";
	int n = (int)strlen(text);
	memcpy(out, text, (size_t)n);
	return n;
}

/* Plain when the point falls from `smallest` behind the first digit to `largest` before it, else scientific. */
static int format_float(bool negative, nk_decimal_float value, int smallest, int largest, char *out)
{
	char digits[24];
	int n = 0, n_digits = nk_format_u64(value.digits, digits);
	int point = n_digits + value.exponent; /* digits before the point */
	if (negative)
		out[n++] = '-';
	if (value.digits == 0) {
		memcpy(out + n, "0.0", 3);
		return n + 3;
	}
	if (point > largest || point <= smallest) {
		out[n++] = digits[0];
		if (n_digits > 1) {
			out[n++] = '.';
			memcpy(out + n, digits + 1, (size_t)n_digits - 1);
			n += n_digits - 1;
		}
		out[n++] = 'e';
		out[n++] = point > 0 ? '+' : '-';
		return n + nk_format_u64((uint64_t)(point > 0 ? point - 1 : 1 - point), out + n);
	}
	if (point <= 0) {
		memcpy(out + n, "0.000000", (size_t)(2 - point));
		n += 2 - point;
		memcpy(out + n, digits, (size_t)n_digits);
		return n + n_digits;
	}
	int n_before = point < n_digits ? point : n_digits;
	memcpy(out + n, digits, (size_t)n_before);
	n += n_before;
	for (int i = n_digits; i < point; i++)
		out[n++] = '0';
	out[n++] = '.';
	if (point >= n_digits) {
		out[n++] = '0';
		return n;
	}
	memcpy(out + n, digits + point, (size_t)(n_digits - point));
	return n + n_digits - point;
}

int nk_format_f64(double value, char *out)
{
	bool negative = __builtin_signbit(value);
	if (!__builtin_isfinite(value))
		return format_special(value != value, negative, out);
	return format_float(negative, nk_shortest_f64(value), -5, 16, out);
}

int nk_format_f32(float value, char *out)
{
	bool negative = __builtin_signbit(value);
	if (!__builtin_isfinite(value))
		return format_special(value != value, negative, out);
	return format_float(negative, nk_shortest_f32(value), -6, 13, out);
}

int nk_format_f64_positional(double value, char *out)
{
	nk_decimal_float shortest = nk_shortest_f64(value);
	char digits[24], *to = out;
	int n = nk_format_u64(shortest.digits, digits), n_whole = n + shortest.exponent;
	if (__builtin_signbit(value))
		*to++ = '-';
	if (shortest.exponent >= 0) {
		memcpy(to, digits, (size_t)n);
		memset(to + n, '0', (size_t)shortest.exponent);
		return (int)(to - out) + n + shortest.exponent;
	}
	if (n_whole > 0) {
		memcpy(to, digits, (size_t)n_whole);
		to[n_whole] = '.';
		memcpy(to + n_whole + 1, digits + n_whole, (size_t)(n - n_whole));
		return (int)(to - out) + n + 1;
	}
	*to++ = '0';
	*to++ = '.';
	memset(to, '0', (size_t)-n_whole);
	memcpy(to - n_whole, digits, (size_t)n);
	return (int)(to - out) - n_whole + n;
}

/* ---- Dates and times ---- */

int nk_format_date(int64_t days, char *out)
{
	nk_civil civil = nk_civil_of_days(days);
	int n = 0;
	uint64_t year = civil.year < 0 ? -(uint64_t)civil.year : (uint64_t)civil.year;
	if (civil.year < 0 || civil.year > 9999)
		out[n++] = civil.year < 0 ? '-' : '+';
	int n_year = count_digits(year) > 4 ? count_digits(year) : 4;
	put_digits(out + n, year, n_year);
	n += n_year;
	out[n++] = '-';
	put_digits(out + n, (uint64_t)civil.month, 2);
	out[n + 2] = '-';
	put_digits(out + n + 3, (uint64_t)civil.day, 2);
	return n + 5;
}

int nk_format_time(int64_t nanoseconds, int n_digits, char *out)
{
	uint64_t seconds = (uint64_t)(nanoseconds / 1000000000), fraction = (uint64_t)(nanoseconds % 1000000000);
	put_digits(out, seconds / 3600, 2);
	out[2] = ':';
	put_digits(out + 3, seconds / 60 % 60, 2);
	out[5] = ':';
	put_digits(out + 6, seconds % 60, 2);
	if (n_digits == 0)
		return 8;
	char digits[9];
	out[8] = '.';
	put_digits(digits, fraction, 9);
	memcpy(out + 9, digits, (size_t)n_digits);
	return 9 + n_digits;
}

static int digits_of(nk_time_unit unit) { return unit == NK_UNIT_MS ? 3 : unit == NK_UNIT_US ? 6 : 9; }

static int format_local(int64_t seconds, int64_t nanoseconds, int n_digits, char *out)
{
	int64_t days = nk_floor_div(seconds, NK_SECONDS_PER_DAY);
	int n = nk_format_date(days, out);
	out[n++] = ' ';
	return n + nk_format_time((seconds - days * NK_SECONDS_PER_DAY) * 1000000000 + nanoseconds, n_digits,
	                          out + n);
}

nk_status nk_format_datetime(int64_t value, nk_time_unit unit, const char *time_zone, char *out, int *n,
                             nk_error *err)
{
	int64_t per_second = nk_unit_per_second(unit), seconds = nk_floor_div(value, per_second);
	int64_t nanoseconds = nk_floor_mod(value, per_second) * (1000000000 / per_second);
	if (!time_zone) {
		*n = format_local(seconds, nanoseconds, digits_of(unit), out);
		return NK_OK;
	}
	const nk_zone *zone;
	NK_TRY(nk_zone_find(time_zone, &zone, err));
	int32_t offset = nk_zone_at(zone, seconds).offset;
	int at = format_local(seconds + offset, nanoseconds, digits_of(unit), out);
	uint32_t minutes = (uint32_t)(offset < 0 ? -offset : offset) / 60;
	out[at] = offset < 0 ? '-' : '+';
	put_digits(out + at + 1, minutes / 60, 2);
	out[at + 3] = ':';
	put_digits(out + at + 4, minutes % 60, 2);
	*n = at + 6;
	return NK_OK;
}

int nk_format_duration(int64_t value, nk_time_unit unit, char *out)
{
	static const char letters[] = {'D', 'H', 'M', 'S'};
	int n = 0, n_digits = digits_of(unit);
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value,
			 per_second = (uint64_t)nk_unit_per_second(unit);
	uint64_t seconds = magnitude / per_second, fraction = magnitude % per_second;
	uint64_t parts[] = {seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60};
	if (value < 0)
		out[n++] = '-';
	out[n++] = 'P';
	for (int i = 0; i < 4; i++) {
		bool shown = parts[i] || (i == 3 && (fraction || magnitude == 0));
		if (i == 1 && (parts[1] || parts[2] || parts[3] || fraction || magnitude == 0))
			out[n++] = 'T';
		if (!shown)
			continue;
		n += nk_format_u64(parts[i], out + n);
		if (i == 3 && fraction) {
			out[n++] = '.';
			put_digits(out + n, fraction, n_digits);
			n += n_digits;
			while (out[n - 1] == '0')
				n--;
		}
		out[n++] = letters[i];
	}
	return n;
}
