/* Formatting of moments. The format is walked anew for every value: a specifier costs less than finding its digits. */
#include <string.h>

#include "compute/calendar.h"
#include "compute/calendar_names.h"
#include "compute/calendar_text.h"

const char *const nk__month_names[12] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
const char *const nk__weekday_names[7] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                          "Friday", "Saturday", "Sunday"};

static char *put(char *to, const char *text, size_t n)
{
	memcpy(to, text, n);
	return to + n;
}

/* padding '-' none, '_' spaces, '0' zeros. */
static char *put_number(char *to, int64_t value, int width, char padding)
{
	if ((uint64_t)value < 100 && width == 2 && padding == '0') {
		*to++ = (char)('0' + value / 10);
		*to++ = (char)('0' + value % 10);
		return to;
	}
	if (width == 4 && padding == '0' && value >= 1000 && value <= 9999) {
		to = put_number(to, value / 100, 2, '0');
		return put_number(to, value % 100, 2, '0');
	}
	char digits[24];
	int n = 0;
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	do
		digits[n++] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		*to++ = '-';
	for (int i = n; i < width && padding != '-'; i++)
		*to++ = padding == '_' ? ' ' : '0';
	while (n > 0)
		*to++ = digits[--n];
	return to;
}

/* At least four digits, and a sign when that is not enough. */
static char *put_year(char *to, int64_t year, char padding)
{
	if (year > 9999)
		*to++ = '+';
	return put_number(to, year, 4, padding);
}

static char *put_fraction(char *to, int64_t nanoseconds, int n_digits)
{
	for (int i = 9; i > n_digits; i--)
		nanoseconds /= 10;
	return put_number(to, nanoseconds, n_digits, '0');
}

static char *put_offset(char *to, int32_t offset, int n_colons)
{
	int32_t seconds = offset < 0 ? -offset : offset;
	*to++ = offset < 0 ? '-' : '+';
	to = put_number(to, seconds / 3600, 2, '0');
	if (n_colons == 3)
		return to;
	if (n_colons > 0)
		*to++ = ':';
	to = put_number(to, seconds / 60 % 60, 2, '0');
	if (n_colons == 2) {
		*to++ = ':';
		to = put_number(to, seconds % 60, 2, '0');
	}
	return to;
}

static bool format_date(char **at, const nk_moment *moment, nk_civil civil, char specifier, char padding)
{
	char *to = *at;
	if (specifier == 'm' || specifier == 'd') {
		*at = put_number(to, specifier == 'm' ? civil.month : civil.day, 2, padding ? padding : '0');
		return true;
	}
	if (specifier == 'Y') {
		*at = put_year(to, civil.year, padding ? padding : '0');
		return true;
	}
	int weekday = nk_weekday(moment->days), ordinal = nk_ordinal_day(moment->days), week;
	int64_t iso_year;
	switch (specifier) {
	case 'C': to = put_number(to, nk_floor_div(civil.year, 100), 2, padding ? padding : '0'); break;
	case 'y': to = put_number(to, nk_floor_mod(civil.year, 100), 2, padding ? padding : '0'); break;
	case 'q': to = put_number(to, (civil.month + 2) / 3, 1, '0'); break;
	case 'b':
	case 'h': to = put(to, nk__month_names[civil.month - 1], 3); break;
	case 'B': to = put(to, nk__month_names[civil.month - 1], strlen(nk__month_names[civil.month - 1])); break;
	case 'e': to = put_number(to, civil.day, 2, padding ? padding : '_'); break;
	case 'a': to = put(to, nk__weekday_names[weekday - 1], 3); break;
	case 'A': to = put(to, nk__weekday_names[weekday - 1], strlen(nk__weekday_names[weekday - 1])); break;
	case 'w': to = put_number(to, weekday % 7, 1, '0'); break;
	case 'u': to = put_number(to, weekday, 1, '0'); break;
	case 'U': to = put_number(to, (ordinal + 6 - weekday % 7) / 7, 2, padding ? padding : '0'); break;
	case 'W': to = put_number(to, (ordinal + 6 - (weekday - 1)) / 7, 2, padding ? padding : '0'); break;
	case 'j': to = put_number(to, ordinal, 3, padding ? padding : '0'); break;
	case 'G':
	case 'g':
	case 'V':
		nk_iso_week(moment->days, &iso_year, &week);
		if (specifier == 'G')
			to = put_year(to, iso_year, padding ? padding : '0');
		else
			to = put_number(to, specifier == 'g' ? nk_floor_mod(iso_year, 100) : week, 2,
			                padding ? padding : '0');
		break;
	default: return false;
	}
	*at = to;
	return true;
}

static bool format_time(char **at, const nk_moment *moment, char specifier, char padding)
{
	char *to = *at;
	int64_t seconds = moment->nanoseconds / NK_NANOSECONDS_PER_SECOND, hour = seconds / 3600;
	int64_t hour_of_twelve = hour % 12 ? hour % 12 : 12;
	switch (specifier) {
	case 'H': to = put_number(to, hour, 2, padding ? padding : '0'); break;
	case 'k': to = put_number(to, hour, 2, padding ? padding : '_'); break;
	case 'I': to = put_number(to, hour_of_twelve, 2, padding ? padding : '0'); break;
	case 'l': to = put_number(to, hour_of_twelve, 2, padding ? padding : '_'); break;
	case 'P': to = put(to, hour < 12 ? "am" : "pm", 2); break;
	case 'p': to = put(to, hour < 12 ? "AM" : "PM", 2); break;
	case 'M': to = put_number(to, seconds / 60 % 60, 2, padding ? padding : '0'); break;
	case 'S': to = put_number(to, seconds % 60, 2, padding ? padding : '0'); break;
	case 'f': to = put_fraction(to, moment->nanoseconds % NK_NANOSECONDS_PER_SECOND, 9); break;
	default: return false;
	}
	*at = to;
	return true;
}

/* "%.f", "%.3f", "%3f" after the dot and the digit: n_digits 0 chooses as many groups of three as are needed. */
static bool format_fraction(char **at, const nk_moment *moment, bool has_dot, int n_digits)
{
	int64_t fraction = moment->nanoseconds % NK_NANOSECONDS_PER_SECOND;
	if (!moment->has_time)
		return false;
	if (n_digits == 0 && fraction == 0)
		return true;
	if (n_digits == 0)
		n_digits = fraction % 1000000 == 0 ? 3 : fraction % 1000 == 0 ? 6 : 9;
	if (has_dot)
		*(*at)++ = '.';
	*at = put_fraction(*at, fraction, n_digits);
	return true;
}

const char *nk__format_expansion(char specifier)
{
	switch (specifier) {
	case 'D':
	case 'x': return "%m/%d/%y";
	case 'F': return "%Y-%m-%d";
	case 'v': return "%e-%b-%Y";
	case 'R': return "%H:%M";
	case 'T':
	case 'X': return "%H:%M:%S";
	case 'r': return "%I:%M:%S %p";
	case 'c': return "%a %b %e %H:%M:%S %Y";
	case '+': return "%Y-%m-%dT%H:%M:%S%.f%:z";
	default: return NULL;
	}
}

static bool format_with(char **to, const nk_moment *moment, nk_civil civil, const char *format,
                        int64_t n_format)
{
	const char *at = format, *end = format + n_format;
	while (at < end) {
		char c = *at++, padding = 0;
		if (c != '%') {
			*(*to)++ = c;
			continue;
		}
		if (at < end && (*at == '-' || *at == '_' || *at == '0'))
			padding = *at++;
		if (at == end)
			return false;
		c = *at++;
		bool has_dot = c == '.';
		if (has_dot || c == '3' || c == '6' || c == '9') {
			int n_digits = has_dot ? 0 : c - '0';
			if (has_dot && at < end && (*at == '3' || *at == '6' || *at == '9'))
				n_digits = *at++ - '0';
			if (at == end || *at++ != 'f' || !format_fraction(to, moment, has_dot, n_digits))
				return false;
			continue;
		}
		int n_colons = 0;
		for (; c == ':' && at < end && n_colons < 3; n_colons++)
			c = *at++;
		if (n_colons > 0 && c != 'z')
			return false;
		const char *expansion = nk__format_expansion(c);
		if (expansion) {
			if (!format_with(to, moment, civil, expansion, (int64_t)strlen(expansion)))
				return false;
			continue;
		}
		switch (c) {
		case '%': *(*to)++ = '%'; continue;
		case 'n': *(*to)++ = '\n'; continue;
		case 't': *(*to)++ = '\t'; continue;
		case 'z':
		case 'Z':
			if (!moment->has_zone)
				return false;
			*to = c == 'z' ? put_offset(*to, moment->offset, n_colons)
			               : put(*to, moment->zone, strlen(moment->zone));
			continue;
		case 's':
			if (!moment->has_date || !moment->has_time)
				return false;
			*to = put_number(*to,
			                 moment->days * NK_SECONDS_PER_DAY +
			                     moment->nanoseconds / NK_NANOSECONDS_PER_SECOND - moment->offset,
			                 1, '0');
			continue;
		default: break;
		}
		if (!(moment->has_date && format_date(to, moment, civil, c, padding)) &&
		    !(moment->has_time && format_time(to, moment, c, padding)))
			return false;
	}
	return true;
}

bool nk_moment_format(char **to, const nk_moment *moment, const char *format, int64_t n_format)
{
	nk_civil civil = moment->has_date ? nk_civil_of_days(moment->days) : (nk_civil){0};
	return format_with(to, moment, civil, format, n_format);
}
