/* The form that people read. Floats keep at most six decimals and turn scientific where plain digits would be long;
 * the borders follow Polars, whose printed frames users compare with. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "columnar/calendar.h"
#include "columnar/categories.h"
#include "columnar/float_text.h"
#include "columnar/format.h"
#include "columnar/scalar.h"
#include "columnar/time_zone.h"

enum { LIST_ITEMS = 3, STRING_LENGTH = 30 };
/* Plain digits of the largest double, a sign and a point. */
enum { PLAIN_BYTES = 1100 };

/* ---- Numbers ---- */

/* Digits of the part before the point in groups of three, and the chosen point. */
static void append_number(nk_text *out, const char *text, const nk_print_options *options)
{
	char thousands = options->thousands_separator;
	size_t n_whole = strcspn(text, ".eNi");
	size_t n_sign = text[0] == '-';
	for (size_t i = 0; text[i]; i++) {
		if (thousands && i > n_sign && i < n_whole && (n_whole - i) % 3 == 0)
			nk_text_append_char(out, thousands);
		nk_text_append_char(out, text[i] == '.' && options->decimal_separator ? options->decimal_separator
		                                                                      : text[i]);
	}
}

/* printf's digits with a point, whatever the locale. */
static void fixed_digits(char *out, size_t n_out, const char *format, int precision, double value)
{
	snprintf(out, n_out, format, precision, value);
	char *at = out + (out[0] == '-');
	at += strspn(at, "0123456789");
	if (precision > 0 && *at && *at != 'e') {
		size_t n_point = strcspn(at, "0123456789");
		*at = '.';
		memmove(at + 1, at + n_point, strlen(at + n_point) + 1);
	}
}

/* "1.2346e+07" to "1.2346e7". */
static void tidy_exponent(char *text)
{
	char *at = strchr(text, 'e');
	if (!at)
		return;
	char *from = at + 1, *to = at + 1;
	if (*from == '-')
		to++;
	from++;
	while (*from == '0' && from[1])
		from++;
	memmove(to, from, strlen(from) + 1);
}

/* All digits of a finite value without an exponent, shortest form, no ".0". */
static void plain_digits(char *out, double value)
{
	nk_decimal_float shortest = nk_shortest_f64_ties_up(value);
	char digits[NK_FORMAT_BYTES];
	int n_digits = nk_format_u64(shortest.digits, digits), point = n_digits + shortest.exponent;
	if (signbit(value))
		*out++ = '-';
	if (point <= 0) {
		*out++ = '0';
		if (shortest.digits) {
			*out++ = '.';
			memset(out, '0', (size_t)-point);
			out += -point;
			memcpy(out, digits, (size_t)n_digits);
			out += n_digits;
		}
	} else {
		for (int i = 0; i < point || i < n_digits; i++) {
			if (i == point)
				*out++ = '.';
			*out++ = i < n_digits ? digits[i] : '0';
		}
	}
	*out = 0;
}

/* The shortest digits with an exponent. */
static void scientific_digits(char out[static PLAIN_BYTES], double value)
{
	nk_decimal_float shortest = nk_shortest_f64_ties_up(value);
	char digits[NK_FORMAT_BYTES];
	int n_digits = nk_format_u64(shortest.digits, digits);
	digits[n_digits] = 0;
	snprintf(out, PLAIN_BYTES, "%s%c%s%se%d", signbit(value) ? "-" : "", digits[0], n_digits > 1 ? "." : "",
	         digits + 1, n_digits - 1 + shortest.exponent);
}

void nk_print_float(nk_text *out, double value, const nk_print_options *options)
{
	char text[PLAIN_BYTES];
	if (!isfinite(value)) {
		nk_text_append_string(out, isnan(value) ? "NaN" : value < 0 ? "-inf" : "inf");
		return;
	}
	if (options->float_precision > 0) {
		int precision = options->float_precision - 1;
		fixed_digits(text, sizeof text, "%.*f", precision, value);
		if (strlen(text) > 19) {
			fixed_digits(text, sizeof text, "%.*e", precision, value);
			tidy_exponent(text);
		}
		append_number(out, text, options);
		return;
	}
	plain_digits(text, value);
	bool whole = value == trunc(value);
	if (!options->full_floats) {
		double size = fabs(value);
		if (whole && size < 999999) {
			memcpy(text + strlen(text), ".0", 3);
		} else if (strlen(text) > 9) {
			if ((size < 0.000001 || size > 999999) && !options->thousands_separator) {
				fixed_digits(text, sizeof text, "%.*e", 4, value);
				tidy_exponent(text);
			} else {
				fixed_digits(text, sizeof text, "%.*f", 6, value);
				size_t n = strlen(text);
				while (text[n - 1] == '0')
					n--;
				n += text[n - 1] == '.';
				text[n] = 0;
			}
		} else if (whole) {
			scientific_digits(text, value);
		}
	}
	append_number(out, text, options);
}

static void print_integer(nk_text *out, __int128 value, int scale, const nk_print_options *options)
{
	char text[NK_FORMAT_BYTES];
	text[nk_format_decimal(value, scale, text)] = 0;
	append_number(out, text, options);
}

/* ---- Times ---- */

void nk_print_duration(nk_text *out, int64_t value, nk_time_unit unit)
{
	static const char *const unit_names[] = {"ms", "\xc2\xb5s", "ns"};
	int64_t per_second = nk_unit_per_second(unit);
	const struct {
		int64_t size;
		const char *name;
	} parts[] = {
		{86400 * per_second, "d"}, {3600 * per_second, "h"}, {60 * per_second, "m"}, {per_second, "s"}};
	if (value == 0) {
		nk_text_format(out, "0%s", unit_names[unit]);
		return;
	}
	const char *space = "";
	for (int i = 0; i < NK_COUNT(parts); i++) {
		int64_t n = value / parts[i].size;
		if (n == 0)
			continue;
		nk_text_format(out, "%s%lld%s", space, (long long)n, parts[i].name);
		value -= n * parts[i].size;
		space = " ";
	}
	if (value == 0)
		return;
	int coarser = unit; /* the coarsest unit in which the rest is whole */
	for (; coarser > NK_UNIT_MS && value % 1000 == 0; coarser--)
		value /= 1000;
	nk_text_format(out, "%s%lld%s", space, (long long)value, unit_names[coarser]);
}

/* The digits needed of a fraction: none, or 3, 6 or 9. */
static int needed_digits(int64_t nanoseconds)
{
	return nanoseconds % 1000000000 == 0 ? 0
	       : nanoseconds % 1000000 == 0  ? 3
	       : nanoseconds % 1000 == 0     ? 6
	                                     : 9;
}

static void print_time(nk_text *out, int64_t nanoseconds)
{
	char text[NK_FORMAT_BYTES];
	nk_text_append(out, text, nk_format_time(nanoseconds, needed_digits(nanoseconds), text));
}

static void print_datetime(nk_text *out, int64_t value, nk_time_unit unit, const char *time_zone)
{
	int64_t per_second = nk_unit_per_second(unit), seconds = nk_floor_div(value, per_second);
	int64_t nanoseconds = nk_floor_mod(value, per_second) * (1000000000 / per_second);
	const nk_zone *zone = NULL;
	nk_zone_span span = {0};
	if (time_zone && nk_zone_find(time_zone, &zone, NULL) == NK_OK)
		span = nk_zone_at(zone, seconds);
	seconds += span.offset;
	int64_t days = nk_floor_div(seconds, NK_SECONDS_PER_DAY);
	char text[NK_FORMAT_BYTES];
	nk_text_append(out, text, nk_format_date(days, text));
	nk_text_append_char(out, ' ');
	print_time(out, (seconds - days * NK_SECONDS_PER_DAY) * 1000000000 + nanoseconds);
	if (time_zone)
		nk_text_format(out, " %s", zone ? span.abbreviation : time_zone);
}

/* ---- Text and nested values ---- */

int nk_print_string_length(const nk_print_options *options)
{
	return options->string_length == 0  ? STRING_LENGTH
	       : options->string_length < 0 ? INT_MAX
	                                    : options->string_length - 1;
}

static const char *dots(const nk_print_options *options)
{
	return options->ascii_dots ? "..." : "\xe2\x80\xa6";
}

/* Twice as many bytes as code points of a string are shown. */
static void print_binary(nk_text *out, const char *bytes, int64_t n_bytes, const nk_print_options *options)
{
	int64_t n_shown = 2 * (int64_t)nk_print_string_length(options);
	n_shown = NK_MIN(n_shown, n_bytes);
	nk_text_append_string(out, "b\"");
	for (int64_t i = 0; i < n_shown; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		if (byte > 0x20 && byte < 0x7f)
			nk_text_append_char(out, (char)byte);
		else
			nk_text_format(out, "\\x%02x", byte);
	}
	nk_text_append_char(out, '"');
	nk_text_append_string(out, n_shown < n_bytes ? dots(options) : "");
}

static void print_list(nk_text *out, const nk_array *items, int64_t from, int64_t to,
                       const nk_print_options *options)
{
	int64_t n = to - from, n_shown = options->list_items == 0 ? LIST_ITEMS : options->list_items - 1;
	if (options->list_items < 0 || n_shown > n)
		n_shown = n;
	int64_t n_last = n_shown < n && n_shown > 0 ? 1 : 0, n_first = n_shown - n_last;
	nk_text_append_char(out, '[');
	for (int64_t i = 0; i < n_first; i++) {
		nk_text_append_string(out, i ? ", " : "");
		nk_print_value(out, items, from + i, true, options);
	}
	if (n_shown < n)
		nk_text_format(out, "%s%s", n_first ? ", " : "", dots(options));
	if (n_last) {
		nk_text_append_char(out, ' ');
		nk_print_value(out, items, to - 1, true, options);
	}
	nk_text_append_char(out, ']');
}

static void print_struct(nk_text *out, const nk_array *array, int64_t row, const nk_print_options *options)
{
	nk_text_append_char(out, '{');
	for (int i = 0; i < array->n_children; i++) {
		nk_text_append_string(out, i ? "," : "");
		nk_print_value(out, array->children[i], row, true, options);
	}
	nk_text_append_char(out, '}');
}

void nk_print_scalar(nk_text *out, const nk_scalar *scalar, bool quoted, const nk_print_options *options)
{
	const nk_dtype *dtype = scalar->dtype;
	int64_t integer = (int64_t)scalar->integer;
	char text[NK_FORMAT_BYTES];
	if (scalar->is_null) {
		nk_text_append_string(out, "null");
		return;
	}
	switch (dtype->id) {
	case NK_TYPE_BOOLEAN: nk_text_append_string(out, scalar->boolean ? "true" : "false"); break;
	case NK_TYPE_FLOAT32:
	case NK_TYPE_FLOAT64: nk_print_float(out, scalar->floating, options); break;
	case NK_TYPE_STRING:
		nk_text_append_string(out, quoted ? "\"" : "");
		nk_text_append(out, scalar->bytes, scalar->n_bytes);
		nk_text_append_string(out, quoted ? "\"" : "");
		break;
	case NK_TYPE_BINARY: print_binary(out, scalar->bytes, scalar->n_bytes, options); break;
	case NK_TYPE_DATE: nk_text_append(out, text, nk_format_date(integer, text)); break;
	case NK_TYPE_DATETIME: print_datetime(out, integer, dtype->unit, dtype->time_zone); break;
	case NK_TYPE_DURATION: nk_print_duration(out, integer, dtype->unit); break;
	case NK_TYPE_TIME: print_time(out, integer); break;
	case NK_TYPE_DECIMAL: print_integer(out, scalar->integer, dtype->scale, options); break;
	case NK_TYPE_LIST:
	case NK_TYPE_ARRAY:
	case NK_TYPE_STRUCT: nk_print_value(out, scalar->nested, 0, quoted, options); break;
	case NK_TYPE_CATEGORICAL:
	case NK_TYPE_ENUM: {
		int64_t n_bytes;
		const char *bytes = nk_categories_text(dtype->categories, (uint64_t)scalar->integer, &n_bytes);
		nk_text_append_string(out, quoted ? "\"" : "");
		nk_text_append(out, bytes, n_bytes);
		nk_text_append_string(out, quoted ? "\"" : "");
		break;
	}
	default: print_integer(out, scalar->integer, 0, options); break;
	}
}

void nk_print_value(nk_text *out, const nk_array *array, int64_t row, bool quoted,
                    const nk_print_options *options)
{
	nk_scalar value = nk_scalar_read(array, row);
	if (!value.is_null && array->dtype->physical == NK_PHYSICAL_LIST) {
		const int64_t *offsets = (const int64_t *)array->values + nk_array_index(array, row);
		print_list(out, array->children[0], offsets[0], offsets[1], options);
	} else if (!value.is_null && array->dtype->id == NK_TYPE_STRUCT) {
		print_struct(out, array, nk_array_index(array, row), options);
	} else {
		nk_print_scalar(out, &value, quoted, options);
	}
}
