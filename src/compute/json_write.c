/* One function per kind of value, chosen once. Names of fields are escaped once, with the colon behind them. */
#include "compute/json_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "columnar/calendar.h"
#include "columnar/format.h"
#include "columnar/time_zone.h"
#include "compute/calendar_text.h"

typedef char *(*put_plain)(nk_json_text *how, const nk_array *array, int64_t place, char *to);

struct nk_json_text {
	const nk_dtype *dtype;
	put_plain put; /* at most NK_FORMAT_BYTES bytes; NULL: text or nested */
	const nk_zone *zone;
	nk_zone_span span;
	int n_children;
	nk_json_text **children;
	nk_text *labels; /* of fields */
};

/* ---- Strings ---- */

void nk_json_put_string(nk_text *out, const char *text, int64_t n)
{
	enum { ESCAPED_MAX = 6 };
	static const char digits[] = "0123456789abcdef";
	char *to = nk_text_room(out, n + 2);
	if (!to)
		return;
	char *from = to;
	*to++ = '"';
	bool is_plain = true;
	for (int64_t i = 0; i < n; i++) {
		char c = text[i];
		is_plain &= (uint8_t)c >= 0x20 && c != '"' && c != '\\';
		to[i] = c;
	}
	if (is_plain) {
		to += n;
	} else {
		if (!(from = to = nk_text_room(out, ESCAPED_MAX * n + 2)))
			return;
		*to++ = '"';
		for (int64_t i = 0; i < n; i++) {
			uint8_t c = (uint8_t)text[i];
			char letter = c == '\b'   ? 'b'
			              : c == '\t' ? 't'
			              : c == '\n' ? 'n'
			              : c == '\f' ? 'f'
			              : c == '\r' ? 'r'
			                          : (char)c;
			if (c >= 0x20 && c != '"' && c != '\\') {
				*to++ = (char)c;
			} else if (c < 0x20 && letter == (char)c) {
				memcpy(to, "\\u00", 4);
				to[4] = digits[c >> 4];
				to[5] = digits[c & 15];
				to += ESCAPED_MAX;
			} else {
				*to++ = '\\';
				*to++ = letter;
			}
		}
	}
	*to++ = '"';
	out->n_bytes += to - from;
}

/* ---- Numbers ---- */

#define VALUE(type) (((const type *)array->values)[place])

static char *put_int8(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	(void)how;
	return to + nk_format_i64(VALUE(int8_t), to);
}
static char *put_int16(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	(void)how;
	return to + nk_format_i64(VALUE(int16_t), to);
}
static char *put_int32(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	(void)how;
	return to + nk_format_i64(VALUE(int32_t), to);
}
static char *put_int64(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	(void)how;
	return to + nk_format_i64(VALUE(int64_t), to);
}
static char *put_int128(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	(void)how;
	return to + nk_format_i128(VALUE(__int128), to);
}
static char *put_uint8(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	(void)how;
	return to + nk_format_u64(VALUE(uint8_t), to);
}
static char *put_uint16(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	(void)how;
	return to + nk_format_u64(VALUE(uint16_t), to);
}
static char *put_uint32(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	(void)how;
	return to + nk_format_u64(VALUE(uint32_t), to);
}
static char *put_uint64(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	(void)how;
	return to + nk_format_u64(VALUE(uint64_t), to);
}

static char *put_word(const char *word, char *to)
{
	size_t n = strlen(word);
	memcpy(to, word, n);
	return to + n;
}

static char *put_float64(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	(void)how;
	double value = VALUE(double);
	return isfinite(value) ? to + nk_format_f64(value, to) : put_word("null", to);
}
static char *put_float32(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	(void)how;
	float value = VALUE(float);
	return isfinite(value) ? to + nk_format_f32(value, to) : put_word("null", to);
}

static char *put_boolean(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	(void)how;
	return put_word(nk_bitmap_get(array->values, place) ? "true" : "false", to);
}

static char *put_decimal(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	__int128 value = array->physical == NK_PHYSICAL_I64 ? VALUE(int64_t) : VALUE(__int128);
	*to++ = '"';
	to += nk_format_decimal(value, how->dtype->scale, to);
	*to++ = '"';
	return to;
}

/* ---- Dates and times ---- */

enum { SECONDS_PER_DAY = 86400 };

static char *put_date(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	(void)how;
	*to++ = '"';
	to += nk_format_date(VALUE(int32_t), to);
	*to++ = '"';
	return to;
}

/* The fraction has as many digits as it takes, in groups of three. */
static char *put_clock(int64_t nanoseconds, char *to)
{
	int n_digits = nanoseconds % NK_NANOSECONDS_PER_SECOND == 0 ? 0
	               : nanoseconds % 1000000 == 0                 ? 3
	               : nanoseconds % 1000 == 0                    ? 6
	                                                            : 9;
	return to + nk_format_time(nanoseconds, n_digits, to);
}

static char *put_time(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	(void)how;
	*to++ = '"';
	to = put_clock(VALUE(int64_t), to);
	*to++ = '"';
	return to;
}

static char *put_two(int value, char *to)
{
	*to++ = (char)('0' + value / 10 % 10);
	*to++ = (char)('0' + value % 10);
	return to;
}

static char *put_datetime(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	int64_t value = VALUE(int64_t), per_second = nk_unit_per_second(how->dtype->unit);
	int64_t seconds = nk_floor_div(value, per_second),
			nanoseconds = nk_floor_mod(value, per_second) * (NK_NANOSECONDS_PER_SECOND / per_second);
	int32_t offset = how->zone ? nk_zone_near(how->zone, seconds, &how->span)->offset : 0;
	seconds += offset;
	int64_t days = nk_floor_div(seconds, SECONDS_PER_DAY);
	*to++ = '"';
	to += nk_format_date(days, to);
	*to++ = how->zone ? 'T' : ' ';
	to = put_clock((seconds - days * SECONDS_PER_DAY) * NK_NANOSECONDS_PER_SECOND + nanoseconds, to);
	if (how->zone) {
		int minutes = (offset < 0 ? -offset : offset) / 60;
		*to++ = offset < 0 ? '-' : '+';
		to = put_two(minutes / 60, to);
		*to++ = ':';
		to = put_two(minutes % 60, to);
	}
	*to++ = '"';
	return to;
}

/* Seconds alone, as ISO 8601 allows: "PT3600.5S". */
static char *put_duration(nk_json_text *how, const nk_array *array, int64_t place, char *to)
{
	int64_t value = VALUE(int64_t);
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value,
			 per_second = (uint64_t)nk_unit_per_second(how->dtype->unit);
	if (value == 0)
		return put_word("\"P0D\"", to);
	to = put_word(value < 0 ? "\"-PT" : "\"PT", to);
	to += nk_format_u64(magnitude / per_second, to);
	uint64_t fraction = magnitude % per_second;
	if (fraction) {
		*to++ = '.';
		for (uint64_t unit = per_second / 10; fraction; unit /= 10) {
			*to++ = (char)('0' + fraction / unit);
			fraction %= unit;
		}
	}
	return put_word("S\"", to);
}

/* ---- Values ---- */

static void put_items(nk_json_text *how, const nk_array *array, int64_t place, nk_text *out)
{
	const int64_t *offsets = array->values;
	nk_text_append_char(out, '[');
	for (int64_t i = offsets[place]; i < offsets[place + 1]; i++) {
		if (i > offsets[place])
			nk_text_append_char(out, ',');
		nk_json_put(how->children[0], array->children[0], i, out);
	}
	nk_text_append_char(out, ']');
}

static void put_fields(nk_json_text *how, const nk_array *array, int64_t place, nk_text *out)
{
	if (how->n_children == 0)
		nk_text_append_char(out, '{');
	for (int i = 0; i < how->n_children; i++) {
		nk_text_append(out, how->labels[i].bytes, how->labels[i].n_bytes);
		nk_json_put(how->children[i], array->children[i], place, out);
	}
	nk_text_append_char(out, '}');
}

void nk_json_put(nk_json_text *how, const nk_array *array, int64_t row, nk_text *out)
{
	if (!nk_array_is_valid(array, row)) {
		nk_text_append(out, "null", 4);
		return;
	}
	int64_t place = nk_array_index(array, row);
	if (how->put) {
		char *to = nk_text_room(out, NK_FORMAT_BYTES);
		if (to)
			out->n_bytes += how->put(how, array, place, to) - to;
	} else if (how->dtype->physical == NK_PHYSICAL_VIEW) {
		const nk_view *view = (const nk_view *)array->values + place;
		nk_json_put_string(out, nk_view_bytes(view, array->heap), view->n_bytes);
	} else if (how->dtype->id == NK_TYPE_STRUCT) {
		put_fields(how, array, place, out);
	} else {
		put_items(how, array, place, out);
	}
}

/* ---- Choosing ---- */

static nk_status choose(nk_json_text *how, nk_error *err)
{
	switch (how->dtype->id) {
	case NK_TYPE_BOOLEAN: how->put = put_boolean; break;
	case NK_TYPE_INT8: how->put = put_int8; break;
	case NK_TYPE_INT16: how->put = put_int16; break;
	case NK_TYPE_INT32: how->put = put_int32; break;
	case NK_TYPE_INT64: how->put = put_int64; break;
	case NK_TYPE_INT128: how->put = put_int128; break;
	case NK_TYPE_UINT8: how->put = put_uint8; break;
	case NK_TYPE_UINT16: how->put = put_uint16; break;
	case NK_TYPE_UINT32: how->put = put_uint32; break;
	case NK_TYPE_UINT64: how->put = put_uint64; break;
	case NK_TYPE_FLOAT32: how->put = put_float32; break;
	case NK_TYPE_FLOAT64: how->put = put_float64; break;
	case NK_TYPE_DECIMAL: how->put = put_decimal; break;
	case NK_TYPE_DATE: how->put = put_date; break;
	case NK_TYPE_TIME: how->put = put_time; break;
	case NK_TYPE_DURATION: how->put = put_duration; break;
	case NK_TYPE_DATETIME:
		how->put = put_datetime;
		if (how->dtype->time_zone)
			NK_TRY(nk_zone_find(how->dtype->time_zone, &how->zone, err));
		break;
	case NK_TYPE_NULL:
	case NK_TYPE_STRING:
	case NK_TYPE_LIST:
	case NK_TYPE_ARRAY:
	case NK_TYPE_STRUCT: break;
	default:
		return nk_fail(err, NK_COMPUTE, "datatype %s cannot be written as JSON",
		               nk_dtype_short_name(how->dtype));
	}
	return NK_OK;
}

static nk_status make_children(nk_json_text *how, nk_error *err)
{
	size_t n = (size_t)how->dtype->n_fields + 1;
	how->children = calloc(n, sizeof(nk_json_text *));
	how->labels = calloc(n, sizeof *how->labels);
	if (!how->children || !how->labels)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for fields");
	for (int i = 0; i < how->dtype->n_fields; i++) {
		NK_TRY(nk_json_text_new(how->dtype->fields[i].dtype, &how->children[i], err));
		how->n_children++;
		if (how->dtype->id != NK_TYPE_STRUCT)
			continue;
		const char *name = how->dtype->fields[i].name;
		nk_text_append_char(&how->labels[i], i == 0 ? '{' : ',');
		nk_json_put_string(&how->labels[i], name, (int64_t)strlen(name));
		nk_text_append_char(&how->labels[i], ':');
		NK_TRY(nk_text_finish(&how->labels[i], err));
	}
	return NK_OK;
}

nk_status nk_json_text_new(const nk_dtype *dtype, nk_json_text **out, nk_error *err)
{
	nk_json_text *made = calloc(1, sizeof *made);
	if (!made)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a JSON writer");
	NK_AUTO(nk_json_text) how = made;
	how->dtype = dtype;
	NK_TRY(choose(how, err));
	NK_TRY(make_children(how, err));
	*out = NK_STEAL(how);
	return NK_OK;
}

void nk_json_text_free(nk_json_text *how)
{
	if (!how)
		return;
	for (int i = 0; i < how->n_children; i++)
		nk_json_text_free(how->children[i]);
	for (int i = 0; how->labels && i < how->dtype->n_fields; i++)
		nk_text_release(&how->labels[i]);
	free(how->children);
	free(how->labels);
	free(how);
}
