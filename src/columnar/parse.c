/* Numbers: up to 19 digits are gathered into 64 bits; small ones convert with one exact operation, the rest after
 * Lemire, "Number parsing at a gigabyte per second" (2021): one 64x128-bit product with a power of ten decides the
 * rounding unless it falls within the product's error, and then the C library decides (about never). Digits behind
 * the 19th matter only when both neighbours round differently. */
#include "columnar/parse.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/status.h"
#include "columnar/calendar.h"
#include "columnar/dtype.h"
#include "columnar/powers_of_ten.h"

/* ---- Integers ---- */

static inline bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/* The sign, and the place behind it. */
static bool take_sign(const char **at, const char *end)
{
	if (*at == end || (**at != '-' && **at != '+'))
		return false;
	return *(*at)++ == '-';
}

/* Digits only, at most `limit`. */
static bool parse_magnitude(const char *at, const char *end, uint64_t limit, uint64_t *out)
{
	uint64_t value = 0;
	if (at == end)
		return false;
	if (end - at < 19) {
		for (; at < end; at++) {
			if (!is_digit(*at))
				return false;
			value = value * 10 + (uint64_t)(*at - '0');
		}
	} else {
		for (; at < end; at++)
			if (!is_digit(*at) || __builtin_mul_overflow(value, 10, &value) ||
			    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
				return false;
	}
	*out = value;
	return value <= limit;
}

bool nk_parse_i64(const char *text, int64_t n_bytes, int64_t *out)
{
	const char *end = text + n_bytes;
	bool negative = take_sign(&text, end);
	uint64_t magnitude;
	if (!parse_magnitude(text, end, (uint64_t)INT64_MAX + negative, &magnitude))
		return false;
	*out = (int64_t)(negative ? -magnitude : magnitude);
	return true;
}

bool nk_parse_u64(const char *text, int64_t n_bytes, uint64_t *out)
{
	const char *end = text + n_bytes;
	return !take_sign(&text, end) && parse_magnitude(text, end, UINT64_MAX, out);
}

bool nk_parse_i128(const char *text, int64_t n_bytes, __int128 *out)
{
	const char *end = text + n_bytes;
	bool negative = take_sign(&text, end);
	__int128 value = 0;
	if (text == end)
		return false;
	for (; text < end; text++) {
		int digit = *text - '0';
		if (!is_digit(*text) || __builtin_mul_overflow(value, 10, &value) ||
		    (negative ? __builtin_sub_overflow(value, digit, &value)
		              : __builtin_add_overflow(value, digit, &value)))
			return false;
	}
	*out = value;
	return true;
}

/* ---- Floats ---- */

/* A decimal number as text gives it: digits * 10^exponent. */
typedef struct decimal {
	bool negative;
	bool cut; /* non-zero digits follow behind the 19 in `digits` */
	uint64_t digits;
	int64_t exponent;
	const char *first, *behind; /* the text of the digits, point included */
	int64_t text_exponent;      /* the number behind 'e' */
} decimal;

static bool read_decimal(const char *at, const char *end, decimal *out)
{
	int n_kept = 0;
	bool any = false, point = false;
	*out = (decimal){.negative = take_sign(&at, end), .first = at};
	for (; at < end; at++) {
		if (*at == '.' && !point) {
			point = true;
			continue;
		}
		if (!is_digit(*at))
			break;
		any = true;
		if (n_kept < 19) {
			out->digits = out->digits * 10 + (uint64_t)(*at - '0');
			n_kept += out->digits != 0;
			out->exponent -= point;
		} else {
			out->cut |= *at != '0';
			out->exponent += !point;
		}
	}
	out->behind = at;
	if (!any)
		return false;
	if (at < end && (*at == 'e' || *at == 'E')) {
		at++;
		bool negative = take_sign(&at, end);
		int64_t exponent = 0;
		if (at == end)
			return false;
		for (; at < end && is_digit(*at); at++)
			if (exponent < 100000)
				exponent = exponent * 10 + (*at - '0');
		out->text_exponent = negative ? -exponent : exponent;
		out->exponent += out->text_exponent;
	}
	return at == end;
}

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static void c_locale_new(void) { c_locale = newlocale(LC_ALL_MASK, "C", NULL); }

/* The C library's answer. Its digits are cut where none more can matter: 800 decide any double. */
static double ask_library(const decimal *from, bool single)
{
	enum { MAX_DIGITS = 800 };
	char copy[MAX_DIGITS + 32];
	int n = 0;
	int64_t exponent = from->text_exponent;
	bool point = false, cut = false;
	for (const char *at = from->first; at < from->behind; at++) {
		if (*at == '.') {
			point = true;
		} else if (n == 0 && *at == '0') {
			exponent -= point;
		} else if (n < MAX_DIGITS) {
			copy[n++] = *at;
			exponent -= point;
		} else {
			cut |= *at != '0';
			exponent += !point;
		}
	}
	if (cut) {
		copy[n++] = '1';
		exponent--;
	}
	snprintf(copy + n, sizeof copy - (size_t)n, "e%lld", (long long)exponent);
	pthread_once(&c_locale_once, c_locale_new);
	if (!c_locale)
		return single ? (double)strtof(copy, NULL) : strtod(copy, NULL);
	return single ? (double)strtof_l(copy, NULL, c_locale) : strtod_l(copy, NULL, c_locale);
}

/* digits * 10^exponent rounded to n_mantissa bits (hidden one included), for results in the normal range up to
 * 2^max_exponent; false when the product cannot decide. */
static bool round_product(uint64_t digits, int exponent, int n_mantissa, int min_exponent, int max_exponent,
                          double *out)
{
	if (exponent < NK_POWER_MIN || exponent > NK_POWER_MAX)
		return false;
	int n_zeros = __builtin_clzll(digits);
	uint64_t w = digits << n_zeros;
	const nk_power *power = &nk__powers_of_ten[exponent - NK_POWER_MIN];
	unsigned __int128 high = (unsigned __int128)w * power->high, low = (unsigned __int128)w * power->low;
	unsigned __int128 top = high + (uint64_t)(low >> 64); /* w * power / 2^64, never wraps */
	bool exact = exponent >= 0 && exponent <= 27 && (uint64_t)low == 0;
	int n_top = top >> 127 ? 128 : 127;
	/* value = top * 2^scale = 1.xxx * 2^e */
	int scale = nk_log2_of_power(exponent) + 64 - n_zeros - 127, e = scale + n_top - 1;
	if (e < min_exponent || e > max_exponent)
		return false;
	int n_cut = n_top - n_mantissa;
	uint64_t mantissa = (uint64_t)(top >> n_cut);
	unsigned __int128 rest = top & (((unsigned __int128)1 << n_cut) - 1),
					  half = (unsigned __int128)1 << (n_cut - 1);
	/* The power is rounded up and the product cut, so the true value may lie up to one away: too close to a border
	 * of rounding, someone else must decide. */
	if (!exact && (rest == 0 || (rest + 2 >= half && rest <= half + 2)))
		return false;
	if (rest > half || (rest == half && (mantissa & 1)))
		mantissa++;
	int shift = e - (n_mantissa - 1);
	*out = __builtin_ldexp((double)mantissa, shift);
	if (max_exponent == 127 && *out > 0x1.fffffep127)
		*out = __builtin_inf();
	return true;
}

static bool parse_special(const char *at, const char *end, double *out)
{
	bool negative = take_sign(&at, end);
	size_t n = (size_t)(end - at);
	if (n == 3 && strncasecmp(at, "nan", 3) == 0)
		*out = __builtin_nan("");
	else if ((n == 3 && strncasecmp(at, "inf", 3) == 0) || (n == 8 && strncasecmp(at, "infinity", 8) == 0))
		*out = __builtin_inf();
	else
		return false;
	if (negative)
		*out = -*out;
	return true;
}

bool nk_parse_f64(const char *text, int64_t n_bytes, double *out)
{
	static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
	                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
	                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	decimal d;
	double value, above;
	if (!read_decimal(text, text + n_bytes, &d))
		return parse_special(text, text + n_bytes, out);
	if (d.digits == 0) {
		value = 0;
	} else if (!d.cut && d.digits <= (uint64_t)1 << 53 && d.exponent >= -22 && d.exponent <= 22) {
		value = (double)d.digits;
		value = d.exponent < 0 ? value / exact_powers[-d.exponent] : value * exact_powers[d.exponent];
	} else if (d.exponent < NK_POWER_MIN || d.exponent > NK_POWER_MAX ||
	           !round_product(d.digits, (int)d.exponent, 53, -1022, 1023, &value) ||
	           (d.cut &&
	            (!round_product(d.digits + 1, (int)d.exponent, 53, -1022, 1023, &above) || above != value))) {
		value = ask_library(&d, false);
	}
	*out = d.negative ? -value : value;
	return true;
}

bool nk_parse_f32(const char *text, int64_t n_bytes, float *out)
{
	decimal d;
	double value, above;
	if (!read_decimal(text, text + n_bytes, &d)) {
		if (!parse_special(text, text + n_bytes, &value))
			return false;
		*out = (float)value;
		return true;
	}
	if (d.digits == 0)
		value = 0;
	else if (d.exponent < NK_POWER_MIN || d.exponent > NK_POWER_MAX ||
	         !round_product(d.digits, (int)d.exponent, 24, -126, 127, &value) ||
	         (d.cut &&
	          (!round_product(d.digits + 1, (int)d.exponent, 24, -126, 127, &above) || above != value)))
		value = ask_library(&d, true);
	*out = (float)(d.negative ? -value : value);
	return true;
}

/* ---- Decimals ---- */

bool nk_parse_decimal(const char *text, int64_t n_bytes, int precision, int scale, __int128 *out)
{
	decimal d;
	if (!read_decimal(text, text + n_bytes, &d))
		return false;
	/* Digits left of the result's last place are gathered, the next one and whatever follows decide rounding. */
	int64_t n_whole = 0;
	for (const char *at = d.first; at < d.behind && *at != '.'; at++)
		n_whole++;
	int64_t n_left = n_whole + d.text_exponent + scale, n_seen = 0;
	__int128 value = 0, limit = nk_power_of_ten(precision);
	int next = 0;
	bool more = false;
	for (const char *at = d.first; at < d.behind; at++) {
		if (*at == '.')
			continue;
		int digit = *at - '0';
		if (n_seen < n_left) {
			if (value >= limit)
				return false;
			value = value * 10 + digit;
		} else if (n_seen == n_left) {
			next = digit;
		} else {
			more |= digit != 0;
		}
		n_seen++;
	}
	for (; n_seen < n_left && value; n_seen++) {
		if (value >= limit)
			return false;
		value *= 10;
	}
	if (next > 5 || (next == 5 && (more || (value & 1))))
		value++;
	if (value >= limit)
		return false;
	*out = d.negative ? -value : value;
	return true;
}

/* ---- Dates and times ---- */

/* Exactly n digits. */
static bool take_digits(const char **at, const char *end, int n, int *out)
{
	*out = 0;
	if (end - *at < n)
		return false;
	for (int i = 0; i < n; i++, (*at)++) {
		if (!is_digit(**at))
			return false;
		*out = *out * 10 + (**at - '0');
	}
	return true;
}

static bool take_char(const char **at, const char *end, char c)
{
	if (*at == end || **at != c)
		return false;
	(*at)++;
	return true;
}

static bool take_date(const char **at, const char *end, int32_t *days)
{
	bool has_sign = *at < end && (**at == '-' || **at == '+'), negative = take_sign(at, end);
	int64_t year = 0;
	int n_digits = 0, month, day;
	for (; *at < end && is_digit(**at) && n_digits < 7; (*at)++, n_digits++)
		year = year * 10 + (**at - '0');
	if (n_digits < 4 || (n_digits > 4 && !has_sign))
		return false;
	if (!take_char(at, end, '-') || !take_digits(at, end, 2, &month) || !take_char(at, end, '-') ||
	    !take_digits(at, end, 2, &day))
		return false;
	if (negative)
		year = -year;
	if (month < 1 || month > 12 || day < 1 || day > nk_days_in_month(year, month))
		return false;
	int64_t count = nk_days_of_civil(year, month, day);
	*days = (int32_t)count;
	return *days == count;
}

static bool take_time(const char **at, const char *end, int64_t *nanoseconds)
{
	int hour, minute, second = 0, fraction = 0, n_digits = 0;
	if (!take_digits(at, end, 2, &hour) || !take_char(at, end, ':') || !take_digits(at, end, 2, &minute))
		return false;
	if (take_char(at, end, ':')) {
		if (!take_digits(at, end, 2, &second))
			return false;
		if (take_char(at, end, '.')) {
			for (; *at < end && is_digit(**at) && n_digits < 9; (*at)++, n_digits++)
				fraction = fraction * 10 + (**at - '0');
			if (n_digits == 0)
				return false;
			for (; n_digits < 9; n_digits++)
				fraction *= 10;
		}
	}
	*nanoseconds = ((int64_t)hour * 3600 + minute * 60 + second) * 1000000000 + fraction;
	return hour < 24 && minute < 60 && second < 60;
}

bool nk_parse_date(const char *text, int64_t n_bytes, int32_t *out)
{
	const char *end = text + n_bytes;
	return take_date(&text, end, out) && text == end;
}

bool nk_parse_time(const char *text, int64_t n_bytes, int64_t *out)
{
	const char *end = text + n_bytes;
	return take_time(&text, end, out) && text == end;
}

bool nk_parse_datetime(const char *text, int64_t n_bytes, int32_t *days, int64_t *nanoseconds,
                       bool *has_offset)
{
	const char *end = text + n_bytes;
	*has_offset = false;
	*nanoseconds = 0;
	if (!take_date(&text, end, days))
		return false;
	if (text == end)
		return true;
	if ((!take_char(&text, end, 'T') && !take_char(&text, end, ' ')) || !take_time(&text, end, nanoseconds))
		return false;
	if (take_char(&text, end, 'Z')) {
		*has_offset = true;
	} else if (text < end && (*text == '+' || *text == '-')) {
		int hours, minutes;
		bool west = take_sign(&text, end);
		if (!take_digits(&text, end, 2, &hours))
			return false;
		take_char(&text, end, ':');
		if (!take_digits(&text, end, 2, &minutes) || hours > 23 || minutes > 59)
			return false;
		*has_offset = true;
		int64_t offset = (int64_t)(hours * 3600 + minutes * 60) * 1000000000;
		*nanoseconds += west ? offset : -offset;
		int64_t carry = nk_floor_div(*nanoseconds, NK_NANOSECONDS_PER_DAY);
		*nanoseconds -= carry * NK_NANOSECONDS_PER_DAY;
		*days += (int32_t)carry;
	}
	return text == end;
}
