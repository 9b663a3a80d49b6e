/* Parsing of dates and times. Fields are collected first and put together afterwards, so that they may come in any
 * order and must agree where they overlap (a weekday that the date does not have is a failure). */
#include <string.h>

#include "compute/calendar.h"
#include "compute/calendar_names.h"
#include "compute/calendar_text.h"

typedef struct fields {
	int64_t year, century, year_of_century, iso_year, timestamp;
	int month, day, ordinal, iso_week, weekday, hour, hour_of_twelve, is_afternoon, minute, second;
	int64_t nanosecond;
	int32_t offset;
	unsigned seen; /* bits of enum field */
} fields;

enum {
	YEAR = 1 << 0,
	CENTURY = 1 << 1,
	YEAR_OF_CENTURY = 1 << 2,
	ISO_YEAR = 1 << 3,
	TIMESTAMP = 1 << 4,
	MONTH = 1 << 5,
	DAY = 1 << 6,
	ORDINAL = 1 << 7,
	ISO_WEEK = 1 << 8,
	WEEKDAY = 1 << 9,
	HOUR = 1 << 10,
	HOUR_OF_TWELVE = 1 << 11,
	AFTERNOON = 1 << 12,
	MINUTE = 1 << 13,
	SECOND = 1 << 14,
	NANOSECOND = 1 << 15,
	OFFSET = 1 << 16,
};

typedef struct cursor {
	const char *at, *end;
} cursor;

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void skip_spaces(cursor *c)
{
	while (c->at < c->end && is_space(*c->at))
		c->at++;
}

/* 1 to n_max digits. */
static bool read_digits(cursor *c, int n_max, int64_t *out)
{
	const char *from = c->at;
	int64_t value = 0;
	while (c->at < c->end && c->at - from < n_max && *c->at >= '0' && *c->at <= '9')
		value = value * 10 + (*c->at++ - '0');
	*out = value;
	return c->at > from;
}

/* A number with spaces before it; a signed one may have more digits than n_max. */
static bool read_number(cursor *c, int n_max, bool may_have_sign, int64_t *out)
{
	skip_spaces(c);
	if (may_have_sign && c->at < c->end && (*c->at == '-' || *c->at == '+')) {
		bool is_negative = *c->at++ == '-';
		if (!read_digits(c, 18, out))
			return false;
		*out = is_negative ? -*out : *out;
		return true;
	}
	return read_digits(c, n_max, out);
}

static bool read_small(cursor *c, int n_max, int low, int high, int *out)
{
	int64_t value;
	if (!read_number(c, n_max, false, &value) || value < low || value > high)
		return false;
	*out = (int)value;
	return true;
}

static bool same_letters(const char *at, const char *end, const char *name, size_t n)
{
	if ((size_t)(end - at) < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((at[i] | 0x20) != (name[i] | 0x20))
			return false;
	return true;
}

/* One of the names, whole when may_be_long, or its first three letters; the index of it from 1. */
static bool read_name(cursor *c, const char *const *names, int n_names, bool may_be_long, int *out)
{
	for (int i = 0; i < n_names; i++) {
		size_t n = strlen(names[i]);
		if (!same_letters(c->at, c->end, names[i], 3))
			continue;
		c->at += may_be_long && same_letters(c->at, c->end, names[i], n) ? n : 3;
		*out = i + 1;
		return true;
	}
	return false;
}

/* Digits after a decimal point; those beyond the ninth are dropped. */
static bool read_fraction(cursor *c, int64_t *nanoseconds)
{
	const char *from = c->at;
	if (!read_digits(c, 9, nanoseconds))
		return false;
	for (int64_t n = c->at - from; n < 9; n++)
		*nanoseconds *= 10;
	while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
		c->at++;
	return true;
}

/* Z, +hh, +hhmm, +hh:mm */
static bool read_offset(cursor *c, int32_t *offset)
{
	int64_t hours, minutes = 0;
	skip_spaces(c);
	if (c->at < c->end && (*c->at == 'Z' || *c->at == 'z')) {
		c->at++;
		*offset = 0;
		return true;
	}
	if (c->at == c->end || (*c->at != '+' && *c->at != '-'))
		return false;
	bool is_negative = *c->at++ == '-';
	const char *from = c->at;
	if (!read_digits(c, 2, &hours) || c->at - from != 2)
		return false;
	cursor rest = *c;
	if (rest.at < rest.end && *rest.at == ':')
		rest.at++;
	from = rest.at;
	if (read_digits(&rest, 2, &minutes) && rest.at - from == 2)
		*c = rest;
	else
		minutes = 0;
	if (hours > 23 || minutes > 59)
		return false;
	*offset = (int32_t)(hours * 3600 + minutes * 60) * (is_negative ? -1 : 1);
	return true;
}

static bool parse_with(cursor *c, const char *format, int64_t n_format, fields *f);

static bool parse_specifier(cursor *c, char specifier, fields *f)
{
	int half;
	switch (specifier) {
	case 'Y': f->seen |= YEAR; return read_number(c, 4, true, &f->year);
	case 'C': f->seen |= CENTURY; return read_number(c, 2, false, &f->century);
	case 'y': f->seen |= YEAR_OF_CENTURY; return read_number(c, 2, false, &f->year_of_century);
	case 'G': f->seen |= ISO_YEAR; return read_number(c, 4, true, &f->iso_year);
	case 'm': f->seen |= MONTH; return read_small(c, 2, 1, 12, &f->month);
	case 'b':
	case 'h': f->seen |= MONTH; return read_name(c, nk__month_names, 12, false, &f->month);
	case 'B': f->seen |= MONTH; return read_name(c, nk__month_names, 12, true, &f->month);
	case 'd':
	case 'e': f->seen |= DAY; return read_small(c, 2, 1, 31, &f->day);
	case 'j': f->seen |= ORDINAL; return read_small(c, 3, 1, 366, &f->ordinal);
	case 'V': f->seen |= ISO_WEEK; return read_small(c, 2, 1, 53, &f->iso_week);
	case 'a': f->seen |= WEEKDAY; return read_name(c, nk__weekday_names, 7, false, &f->weekday);
	case 'A': f->seen |= WEEKDAY; return read_name(c, nk__weekday_names, 7, true, &f->weekday);
	case 'u': f->seen |= WEEKDAY; return read_small(c, 1, 1, 7, &f->weekday);
	case 'w':
		f->seen |= WEEKDAY;
		if (!read_small(c, 1, 0, 6, &f->weekday))
			return false;
		f->weekday = f->weekday ? f->weekday : 7;
		return true;
	case 'H':
	case 'k': f->seen |= HOUR; return read_small(c, 2, 0, 23, &f->hour);
	case 'I':
	case 'l': f->seen |= HOUR_OF_TWELVE; return read_small(c, 2, 1, 12, &f->hour_of_twelve);
	case 'p':
	case 'P':
		f->seen |= AFTERNOON;
		half = same_letters(c->at, c->end, "am", 2) ? 0 : same_letters(c->at, c->end, "pm", 2) ? 1 : -1;
		f->is_afternoon = half;
		c->at += half < 0 ? 0 : 2;
		return half >= 0;
	case 'M': f->seen |= MINUTE; return read_small(c, 2, 0, 59, &f->minute);
	case 'S': f->seen |= SECOND; return read_small(c, 2, 0, 60, &f->second);
	case 'f': f->seen |= NANOSECOND; return read_number(c, 9, false, &f->nanosecond);
	case 's': f->seen |= TIMESTAMP; return read_number(c, 18, true, &f->timestamp);
	case 'z': f->seen |= OFFSET; return read_offset(c, &f->offset);
	case 'Z':
		while (c->at < c->end && !is_space(*c->at))
			c->at++;
		return true;
	case 'n':
	case 't': skip_spaces(c); return true;
	case '%': return c->at < c->end && *c->at++ == '%';
	default: break;
	}
	const char *expansion = nk__format_expansion(specifier);
	return expansion && parse_with(c, expansion, (int64_t)strlen(expansion), f);
}

static bool parse_with(cursor *c, const char *format, int64_t n_format, fields *f)
{
	const char *at = format, *end = format + n_format;
	while (at < end) {
		char k = *at++;
		if (is_space(k)) {
			skip_spaces(c);
			continue;
		}
		if (k != '%') {
			if (c->at == c->end || *c->at++ != k)
				return false;
			continue;
		}
		while (at < end && (*at == '-' || *at == '_' || *at == '0' || *at == ':' || *at == '#'))
			at++;
		if (at == end)
			return false;
		k = *at++;
		if (k == '.') {
			int n_digits = at < end && *at >= '0' && *at <= '9' ? *at++ - '0' : 0;
			if (at == end || *at++ != 'f')
				return false;
			if (c->at < c->end && *c->at == '.') {
				const char *from = ++c->at;
				f->seen |= NANOSECOND;
				if (!read_fraction(c, &f->nanosecond) || (n_digits && c->at - from != n_digits))
					return false;
			}
			continue;
		}
		if (k >= '1' && k <= '9') {
			const char *from = c->at;
			if (at == end || *at++ != 'f' || !read_digits(c, k - '0', &f->nanosecond) ||
			    c->at - from != k - '0')
				return false;
			for (int i = k - '0'; i < 9; i++)
				f->nanosecond *= 10;
			f->seen |= NANOSECOND;
			continue;
		}
		if (!parse_specifier(c, k, f))
			return false;
	}
	return true;
}

/* ---- From fields to a moment ---- */

static bool resolve_year(fields *f)
{
	if (f->seen & YEAR)
		return f->year >= -262143 && f->year <= 262142;
	if (!(f->seen & YEAR_OF_CENTURY))
		return false;
	if (f->seen & CENTURY)
		f->year = f->century * 100 + f->year_of_century;
	else
		f->year = f->year_of_century + (f->year_of_century < 70 ? 2000 : 1900);
	return true;
}

static bool resolve_date(fields *f, int64_t *days)
{
	if ((f->seen & ISO_YEAR) && (f->seen & ISO_WEEK)) {
		int weekday = f->seen & WEEKDAY ? f->weekday : 1, week;
		int64_t year;
		if (f->iso_year < -262142 || f->iso_year > 262141)
			return false;
		int64_t january_4 = nk_days_of_civil(f->iso_year, 1, 4);
		*days = january_4 + 1 - nk_weekday(january_4) + 7 * (f->iso_week - 1) + weekday - 1;
		nk_iso_week(*days, &year, &week);
		return year == f->iso_year && week == f->iso_week;
	}
	if (!resolve_year(f))
		return false;
	if (f->seen & ORDINAL) {
		*days = nk_days_of_civil(f->year, 1, 1) + f->ordinal - 1;
		if (f->ordinal == 366 && !nk_is_leap_year(f->year))
			return false;
	} else {
		if (!(f->seen & MONTH) && (f->seen & DAY))
			return false;
		int month = f->seen & MONTH ? f->month : 1, day = f->seen & DAY ? f->day : 1;
		if (day > nk_days_in_month(f->year, month))
			return false;
		*days = nk_days_of_civil(f->year, month, day);
	}
	return !(f->seen & WEEKDAY) || nk_weekday(*days) == f->weekday;
}

static bool resolve_time(fields *f, int64_t *nanoseconds)
{
	int hour = f->hour;
	if (!(f->seen & HOUR)) {
		if (!(f->seen & HOUR_OF_TWELVE) || !(f->seen & AFTERNOON))
			return false;
		hour = f->hour_of_twelve % 12 + 12 * f->is_afternoon;
	}
	if (!(f->seen & MINUTE))
		return false;
	int64_t seconds = hour * 3600 + f->minute * 60 + (f->seen & SECOND ? f->second : 0);
	*nanoseconds = seconds * NK_NANOSECONDS_PER_SECOND + (f->seen & NANOSECOND ? f->nanosecond : 0);
	return true;
}

static bool resolve(fields *f, nk_parsed *out)
{
	*out = (nk_parsed){.offset = f->offset, .has_offset = f->seen & OFFSET};
	if (f->seen & TIMESTAMP) {
		out->days = nk_floor_div(f->timestamp, NK_SECONDS_PER_DAY);
		out->nanoseconds = nk_floor_mod(f->timestamp, NK_SECONDS_PER_DAY) * NK_NANOSECONDS_PER_SECOND +
		                   (f->seen & NANOSECOND ? f->nanosecond : 0);
		out->has_date = out->has_time = true;
		return true;
	}
	unsigned date = YEAR | CENTURY | YEAR_OF_CENTURY | ISO_YEAR | MONTH | DAY | ORDINAL | ISO_WEEK | WEEKDAY;
	unsigned time = HOUR | HOUR_OF_TWELVE | AFTERNOON | MINUTE | SECOND | NANOSECOND;
	if (f->seen & date) {
		if (!resolve_date(f, &out->days))
			return false;
		out->has_date = true;
	}
	if (f->seen & time) {
		if (!resolve_time(f, &out->nanoseconds))
			return false;
		out->has_time = true;
	}
	return true;
}

/* "%Y-%m-%d" and four, two and two digits: what most columns of dates are. */
static bool parse_iso_date(const char *text, int64_t n, int64_t *days)
{
	if (n < 10 || text[4] != '-' || text[7] != '-')
		return false;
	static const int places[] = {0, 1, 2, 3, 5, 6, 8, 9};
	int digit[8];
	for (int i = 0; i < 8; i++) {
		digit[i] = text[places[i]] - '0';
		if ((unsigned)digit[i] > 9)
			return false;
	}
	int year = digit[0] * 1000 + digit[1] * 100 + digit[2] * 10 + digit[3], month = digit[4] * 10 + digit[5],
		day = digit[6] * 10 + digit[7];
	if (month < 1 || month > 12 || day < 1 || day > nk_days_in_month(year, month))
		return false;
	*days = nk_days_of_civil(year, month, day);
	return true;
}

/* "%H:%M:%S" and two digits each. */
static bool parse_iso_time(const char *text, int64_t *nanoseconds)
{
	int part[3];
	for (int i = 0; i < 3; i++) {
		int tens = text[3 * i] - '0', ones = text[3 * i + 1] - '0';
		if ((unsigned)tens > 9 || (unsigned)ones > 9 || (i < 2 && text[3 * i + 2] != ':'))
			return false;
		part[i] = tens * 10 + ones;
	}
	if (part[0] > 23 || part[1] > 59 || part[2] > 59)
		return false;
	*nanoseconds = (part[0] * 3600 + part[1] * 60 + part[2]) * (int64_t)NK_NANOSECONDS_PER_SECOND;
	return true;
}

bool nk_moment_parse(const char *text, int64_t n, const char *format, int64_t n_format, nk_parsed *out,
                     int64_t *n_used)
{
	if (n_format == 17 && n == 19 && memcmp(format, "%Y-%m-%d", 8) == 0 &&
	    memcmp(format + 9, "%H:%M:%S", 8) == 0 && format[8] != '%' && format[8] == text[10]) {
		int64_t days, nanoseconds;
		if (parse_iso_date(text, n, &days) && parse_iso_time(text + 11, &nanoseconds)) {
			*out = (nk_parsed){.days = days, .nanoseconds = nanoseconds, .has_date = true, .has_time = true};
			*n_used = 19;
			return true;
		}
	}
	if (n_format >= 8 && memcmp(format, "%Y-%m-%d", 8) == 0 && n_format == 8) {
		int64_t days;
		if (parse_iso_date(text, n, &days)) {
			*out = (nk_parsed){.days = days, .has_date = true};
			*n_used = 10;
			return true;
		}
	}
	fields f = {0};
	cursor c = {text, text + n};
	if (!parse_with(&c, format, n_format, &f) || !resolve(&f, out))
		return false;
	*n_used = c.at - text;
	return true;
}

/* ---- Without a format ---- */

static bool read_exactly(cursor *c, int n_min, int n_max, int64_t *out)
{
	const char *from = c->at;
	return read_digits(c, n_max, out) && c->at - from >= n_min;
}

static bool is_separator(char c) { return c == '-' || c == '/' || c == '.'; }

/* Twice the same. */
static bool skip_separator(cursor *c, char *separator)
{
	if (c->at == c->end || !is_separator(*c->at) || (*separator && *c->at != *separator))
		return false;
	*separator = *c->at++;
	return true;
}

static bool infer_date(cursor *c, int64_t *days, bool *is_day_first)
{
	cursor rest = *c;
	int64_t year, month, day;
	char separator = 0;
	*is_day_first = !(read_exactly(&rest, 3, 4, &year) && rest.at < rest.end && is_separator(*rest.at));
	if (!*is_day_first) {
		if (!skip_separator(&rest, &separator) || !read_exactly(&rest, 1, 2, &month) ||
		    !skip_separator(&rest, &separator) || !read_exactly(&rest, 1, 2, &day))
			return false;
	} else {
		rest = *c;
		if (!read_exactly(&rest, 1, 2, &day) || !skip_separator(&rest, &separator) ||
		    !read_exactly(&rest, 1, 2, &month) || !skip_separator(&rest, &separator) ||
		    !read_exactly(&rest, 1, 4, &year))
			return false;
	}
	if (month < 1 || month > 12 || day < 1 || day > nk_days_in_month(year, (int)month))
		return false;
	*days = nk_days_of_civil(year, (int)month, (int)day);
	*c = rest;
	return true;
}

/* Hours and minutes, perhaps seconds, perhaps with a fraction; all with colons, or none. */
static bool infer_clock(cursor *c, int64_t *nanoseconds, bool may_lack_colons)
{
	int64_t hour, minute, second = 0, fraction = 0;
	if (!read_exactly(c, 1, 2, &hour) || c->at == c->end)
		return false;
	bool has_colons = *c->at == ':';
	if (!has_colons && !may_lack_colons)
		return false;
	c->at += has_colons;
	if (!read_exactly(c, 1, 2, &minute))
		return false;
	bool has_seconds = c->at < c->end && (has_colons ? *c->at == ':' : *c->at >= '0' && *c->at <= '9');
	if (has_seconds) {
		c->at += has_colons;
		if (!read_exactly(c, 1, 2, &second))
			return false;
		if (c->at < c->end && *c->at == '.') {
			c->at++;
			if (!read_fraction(c, &fraction))
				return false;
		}
	}
	if (hour > 23 || minute > 59 || second > 59)
		return false;
	*nanoseconds = (hour * 3600 + minute * 60 + second) * NK_NANOSECONDS_PER_SECOND + fraction;
	return true;
}

bool nk_moment_infer(const char *text, int64_t n, nk_parsed *out)
{
	cursor c = {text, text + n};
	*out = (nk_parsed){.has_date = true};
	if (parse_iso_date(text, n, &out->days))
		c.at += 10;
	else if (!infer_date(&c, &out->days, &out->is_day_first))
		return false;
	if (c.at == c.end)
		return true;
	if (*c.at != 'T' && *c.at != ' ')
		return false;
	c.at++;
	if (!infer_clock(&c, &out->nanoseconds, true))
		return false;
	out->has_time = true;
	if (c.at == c.end)
		return true;
	if (is_space(*c.at) || out->is_day_first || !read_offset(&c, &out->offset))
		return false;
	out->has_offset = true;
	return c.at == c.end;
}

bool nk_time_infer(const char *text, int64_t n, nk_parsed *out)
{
	cursor c = {text, text + n};
	*out = (nk_parsed){.has_time = true};
	return infer_clock(&c, &out->nanoseconds, false) && c.at == c.end;
}
