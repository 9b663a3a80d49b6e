/* One function per kind of value, chosen once per column. */
#include "io/csv/cells.h"

#include <stdio.h>
#include <string.h>

#include "columnar/calendar.h"
#include "columnar/float_text.h"
#include "columnar/format.h"
#include "compute/calendar_text.h"

/* ---- Text ---- */

char *nk__csv_put_text(const nk_csv_style *style, const char *text, int64_t n, char *to)
{
	if (style->quoting == NK_QUOTE_NEVER) {
		memcpy(to, text, (size_t)n);
		return to + n;
	}
	bool needs_quotes = style->quoting != NK_QUOTE_NECESSARY || n == 0, has_quote = false;
	char *out = to + 1;
	for (int64_t i = 0; i < n; i++) {
		char c = text[i];
		needs_quotes |= (c == style->separator) | (c == '\n') | (c == '\r');
		has_quote |= c == style->quote;
		out[i] = c;
	}
	if (!needs_quotes && !has_quote) {
		memmove(to, to + 1, (size_t)n);
		return to + n;
	}
	*to = style->quote;
	if (!has_quote) {
		out += n;
	} else {
		for (int64_t i = 0; i < n; i++) {
			*out++ = text[i];
			if (text[i] == style->quote)
				*out++ = style->quote;
		}
	}
	*out++ = style->quote;
	return out;
}

static char *put_view(nk_csv_cells *cells, int64_t row, char *to)
{
	const nk_view *view = (const nk_view *)cells->array->values + row;
	return nk__csv_put_text(cells->style, nk_view_bytes(view, cells->array->heap), view->n_bytes, to);
}

/* ---- Integers ---- */

static char *put_i64(int64_t value, char *to) { return to + nk_format_i64(value, to); }
static char *put_int8(nk_csv_cells *c, int64_t row, char *to)
{
	return put_i64(((const int8_t *)c->array->values)[row], to);
}
static char *put_int16(nk_csv_cells *c, int64_t row, char *to)
{
	return put_i64(((const int16_t *)c->array->values)[row], to);
}
static char *put_int32(nk_csv_cells *c, int64_t row, char *to)
{
	return put_i64(((const int32_t *)c->array->values)[row], to);
}
static char *put_int64(nk_csv_cells *c, int64_t row, char *to)
{
	return put_i64(((const int64_t *)c->array->values)[row], to);
}
static char *put_uint8(nk_csv_cells *c, int64_t row, char *to)
{
	return put_i64(((const uint8_t *)c->array->values)[row], to);
}
static char *put_uint16(nk_csv_cells *c, int64_t row, char *to)
{
	return put_i64(((const uint16_t *)c->array->values)[row], to);
}
static char *put_uint32(nk_csv_cells *c, int64_t row, char *to)
{
	return put_i64(((const uint32_t *)c->array->values)[row], to);
}
static char *put_uint64(nk_csv_cells *c, int64_t row, char *to)
{
	return to + nk_format_u64(((const uint64_t *)c->array->values)[row], to);
}
static char *put_int128(nk_csv_cells *c, int64_t row, char *to)
{
	return to + nk_format_i128(((const __int128 *)c->array->values)[row], to);
}

static char *put_boolean(nk_csv_cells *c, int64_t row, char *to)
{
	bool value = nk_bitmap_get(c->array->values, row);
	memcpy(to, value ? "true" : "false", 5);
	return to + (value ? 4 : 5);
}

static char *put_null(nk_csv_cells *c, int64_t row, char *to)
{
	(void)c;
	(void)row;
	return to;
}

/* ---- Floats and Decimals ---- */

static char *with_comma(const nk_csv_style *style, char *from, char *to)
{
	char *point = style->decimal_comma ? memchr(from, '.', (size_t)(to - from)) : NULL;
	if (point)
		*point = ',';
	return to;
}

static bool put_special(double value, char **to)
{
	if (__builtin_isfinite(value))
		return false;
	const char *text = __builtin_isnan(value) ? "NaN" : value < 0 ? "-inf" : "inf";
	size_t n = strlen(text);
	memcpy(*to, text, n);
	*to += n;
	return true;
}

/* "1.5e-7", "1e16": the shortest digits, or n_decimals of them. */
static char *put_scientific(double value, nk_decimal_float shortest, int n_decimals, char *to)
{
	if (n_decimals >= 0) {
		int n = snprintf(to, (size_t)n_decimals + 32, "%.*e", n_decimals, value);
		char *e = memchr(to, 'e', (size_t)n);
		char digits[8];
		size_t n_digits = (size_t)(to + n - e - 2);
		memcpy(digits, e + 2, n_digits);
		bool is_negative = e[1] == '-';
		size_t skip = 0;
		while (skip + 1 < n_digits && digits[skip] == '0')
			skip++;
		e++;
		if (is_negative)
			*e++ = '-';
		memcpy(e, digits + skip, n_digits - skip);
		return e + n_digits - skip;
	}
	char digits[24];
	int n = nk_format_u64(shortest.digits, digits);
	if (__builtin_signbit(value))
		*to++ = '-';
	*to++ = digits[0];
	if (n > 1) {
		*to++ = '.';
		memcpy(to, digits + 1, (size_t)n - 1);
		to += n - 1;
	}
	*to++ = 'e';
	return put_i64(shortest.digits ? shortest.exponent + n - 1 : 0, to);
}

/* What the C library wrote, with the point of its locale made one. */
static char *fix_point(char *from, char *to)
{
	for (char *at = from; at < to; at++)
		if ((*at < '0' || *at > '9') && *at != '-' && *at != 'e' && *at != '+')
			*at = '.';
	return to;
}

static char *put_float(nk_csv_cells *cells, double value, bool is_single, char *to)
{
	const nk_csv_style *style = cells->style;
	char *from = to;
	if (style->float_scientific == 0 && style->float_precision < 0) {
		to += is_single ? nk_format_f32((float)value, to) : nk_format_f64(value, to);
	} else if (put_special(value, &to)) {
		return to;
	} else if (style->float_scientific > 0) {
		to = fix_point(
			from, put_scientific(value, is_single ? nk_shortest_f32((float)value) : nk_shortest_f64(value),
		                         style->float_precision, to));
	} else if (style->float_precision >= 0) {
		to = fix_point(from,
		               to + snprintf(to, (size_t)cells->n_bytes_max, "%.*f", style->float_precision, value));
	} else {
		to += nk_format_f64_positional(value, to);
	}
	return with_comma(style, from, to);
}

static char *put_float64(nk_csv_cells *c, int64_t row, char *to)
{
	return put_float(c, ((const double *)c->array->values)[row], false, to);
}

static char *put_float32(nk_csv_cells *c, int64_t row, char *to)
{
	return put_float(c, (double)((const float *)c->array->values)[row], true, to);
}

static char *put_decimal(nk_csv_cells *c, int64_t row, char *to)
{
	__int128 value = c->array->physical == NK_PHYSICAL_I64 ? ((const int64_t *)c->array->values)[row]
	                                                       : ((const __int128 *)c->array->values)[row];
	return with_comma(c->style, to, to + nk_format_decimal(value, c->dtype->scale, to));
}

/* ---- Dates and times ---- */

enum { SECONDS_PER_DAY = 86400 };

static nk_moment moment_of(nk_csv_cells *cells, int64_t row)
{
	const nk_dtype *dtype = cells->dtype;
	nk_moment moment = {0};
	if (dtype->id == NK_TYPE_DATE) {
		moment.days = ((const int32_t *)cells->array->values)[row];
		moment.has_date = true;
		return moment;
	}
	int64_t value = ((const int64_t *)cells->array->values)[row];
	moment.has_time = true;
	if (dtype->id == NK_TYPE_TIME) {
		moment.nanoseconds = value;
		return moment;
	}
	int64_t per_second = nk_unit_per_second(dtype->unit), seconds = nk_floor_div(value, per_second);
	int64_t fraction = nk_floor_mod(value, per_second);
	moment.has_date = true;
	if (cells->zone) {
		const nk_zone_span *span = nk_zone_near(cells->zone, seconds, &cells->span);
		moment.offset = span->offset;
		moment.zone = span->abbreviation;
		moment.has_zone = true;
		seconds += span->offset;
	}
	moment.days = nk_floor_div(seconds, SECONDS_PER_DAY);
	moment.nanoseconds =
		(seconds - moment.days * SECONDS_PER_DAY) * 1000000000 + fraction * (1000000000 / per_second);
	return moment;
}

static const char *format_of(const nk_csv_cells *cells)
{
	const nk_csv_style *style = cells->style;
	return cells->dtype->id == NK_TYPE_DATE   ? style->date_format
	       : cells->dtype->id == NK_TYPE_TIME ? style->time_format
	                                          : style->datetime_format;
}

static char *put_formatted(nk_csv_cells *cells, int64_t row, char *to)
{
	const char *format = format_of(cells);
	nk_moment moment = moment_of(cells, row);
	char *from = to;
	return nk_moment_format(&to, &moment, format, (int64_t)strlen(format)) ? to : from;
}

static char *put_date(nk_csv_cells *c, int64_t row, char *to)
{
	return to + nk_format_date(((const int32_t *)c->array->values)[row], to);
}

static char *put_time(nk_csv_cells *c, int64_t row, char *to)
{
	return to + nk_format_time(((const int64_t *)c->array->values)[row], 9, to);
}

static char *put_datetime(nk_csv_cells *cells, int64_t row, char *to)
{
	nk_moment moment = moment_of(cells, row);
	to += nk_format_date(moment.days, to);
	*to++ = 'T';
	to += nk_format_time(moment.nanoseconds,
	                     cells->dtype->unit == NK_UNIT_MS   ? 3
	                     : cells->dtype->unit == NK_UNIT_US ? 6
	                                                        : 9,
	                     to);
	if (!cells->zone)
		return to;
	int32_t offset = moment.offset < 0 ? -moment.offset : moment.offset;
	int hours = offset / 3600, minutes = offset / 60 % 60;
	*to++ = moment.offset < 0 ? '-' : '+';
	*to++ = (char)('0' + hours / 10);
	*to++ = (char)('0' + hours % 10);
	*to++ = (char)('0' + minutes / 10);
	*to++ = (char)('0' + minutes % 10);
	return to;
}

/* A format is tried on a moment before anything is written. */
static nk_status check_format(const nk_csv_cells *cells, const char *format, nk_error *err)
{
	enum { ROOM = 4096 };
	char room[ROOM], *to = room;
	int64_t n = (int64_t)strlen(format);
	nk_type_id id = cells->dtype->id;
	nk_moment sample = {.has_date = id != NK_TYPE_TIME,
	                    .has_time = id != NK_TYPE_DATE,
	                    .has_zone = cells->zone,
	                    .zone = "UTC"};
	if (nk_moment_bytes_max(n) > ROOM)
		return nk_fail(err, NK_COMPUTE, "a format of %lld bytes is too long", (long long)n);
	if (!nk_moment_format(&to, &sample, format, n))
		return nk_fail(err, NK_COMPUTE, "cannot format %s with format '%s'",
		               id == NK_TYPE_DATE   ? "NaiveDate"
		               : id == NK_TYPE_TIME ? "NaiveTime"
		               : cells->zone        ? "DateTime"
		                                    : "NaiveDateTime",
		               format);
	return NK_OK;
}

/* ---- Choosing ---- */

static nk_status choose_moment(nk_csv_cells *cells, nk_error *err)
{
	if (cells->dtype->time_zone)
		NK_TRY(nk_zone_find(cells->dtype->time_zone, &cells->zone, err));
	const char *format = format_of(cells);
	cells->put = cells->dtype->id == NK_TYPE_DATE   ? put_date
	             : cells->dtype->id == NK_TYPE_TIME ? put_time
	                                                : put_datetime;
	if (format) {
		NK_TRY(check_format(cells, format, err));
		cells->put = put_formatted;
		cells->n_bytes_max = nk_moment_bytes_max((int64_t)strlen(format));
	}
	return NK_OK;
}

nk_status nk__csv_cells_init(nk_csv_cells *cells, const nk_csv_style *style, const nk_dtype *dtype,
                             nk_error *err)
{
	enum { FLOAT_BYTES = NK_FORMAT_POSITIONAL_BYTES };
	bool is_number = nk_type_is_numeric(dtype->id), has_comma = false;
	*cells = (nk_csv_cells){.style = style, .dtype = dtype, .n_bytes_max = NK_FORMAT_BYTES};
	switch (dtype->id) {
	case NK_TYPE_NULL: cells->put = put_null; break;
	case NK_TYPE_BOOLEAN: cells->put = put_boolean; break;
	case NK_TYPE_INT8: cells->put = put_int8; break;
	case NK_TYPE_INT16: cells->put = put_int16; break;
	case NK_TYPE_INT32: cells->put = put_int32; break;
	case NK_TYPE_INT64: cells->put = put_int64; break;
	case NK_TYPE_INT128: cells->put = put_int128; break;
	case NK_TYPE_UINT8: cells->put = put_uint8; break;
	case NK_TYPE_UINT16: cells->put = put_uint16; break;
	case NK_TYPE_UINT32: cells->put = put_uint32; break;
	case NK_TYPE_UINT64: cells->put = put_uint64; break;
	case NK_TYPE_FLOAT32:
	case NK_TYPE_FLOAT64:
		cells->put = dtype->id == NK_TYPE_FLOAT64 ? put_float64 : put_float32;
		if (style->float_scientific || style->float_precision >= 0)
			cells->n_bytes_max = FLOAT_BYTES + NK_MAX(style->float_precision, 0);
		has_comma = style->float_precision != 0;
		break;
	case NK_TYPE_DECIMAL:
		cells->put = put_decimal;
		has_comma = dtype->scale > 0;
		break;
	case NK_TYPE_STRING: cells->put = put_view; break;
	case NK_TYPE_DATE:
	case NK_TYPE_TIME:
	case NK_TYPE_DATETIME: NK_TRY(choose_moment(cells, err)); break;
	default:
		if (nk_type_is_nested(dtype->id))
			return nk_fail(err, NK_COMPUTE, "CSV format does not support nested data");
		return nk_fail(err, NK_COMPUTE,
		               "datatype %s cannot be written to CSV\n\nConsider using JSON or a binary format.",
		               nk_dtype_short_name(dtype));
	}
	bool needs_quotes =
		has_comma && style->decimal_comma && style->separator == ',' && style->quoting != NK_QUOTE_NEVER;
	cells->quotes_nulls = style->quoting == NK_QUOTE_ALWAYS || needs_quotes;
	cells->quotes_values = dtype->id != NK_TYPE_STRING &&
	                       (cells->quotes_nulls || (style->quoting == NK_QUOTE_NON_NUMERIC && !is_number));
	return NK_OK;
}
