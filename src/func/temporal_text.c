/* Dates and times as text and back: dt.to_string, str.to_date, str.to_datetime, str.to_time. Formats are those of
 * compute/calendar_text.h.
 *
 * Without a format, the first value that looks like a date says in which order day, month and year come, and whether
 * there is an offset, for all of the column: so these are functions of whole columns. */
#include "func/temporal.h"

#include <stdio.h>

#include "base/text.h"
#include "columnar/format.h"
#include "compute/calendar.h"
#include "compute/text_writer.h"

/* ---- To text ---- */

typedef struct format_plan {
	const char *format; /* NULL: ISO 8601 */
	int64_t n_format;
	bool has_t;         /* between date and time */
	bool is_for_people; /* a Duration as it is printed */
	const nk_zone *zone;
	int64_t per_second;
} format_plan;

static nk_moment moment_of(const format_plan *plan, const nk_array *array, int64_t i, nk_zone_span *last)
{
	if (array->dtype->id == NK_TYPE_DATE)
		return (nk_moment){.days = ((const int32_t *)array->values)[i], .has_date = true};
	int64_t ticks = ((const int64_t *)array->values)[i];
	if (array->dtype->id == NK_TYPE_TIME)
		return (nk_moment){.nanoseconds = ticks, .has_time = true};
	nk_moment moment = {.has_date = true, .has_time = true, .has_zone = plan->zone != NULL};
	int64_t seconds = nk_floor_div(ticks, plan->per_second), fraction = ticks - seconds * plan->per_second;
	if (plan->zone) {
		const nk_zone_span *span = nk_zone_near(plan->zone, seconds, last);
		moment.offset = span->offset;
		moment.zone = span->abbreviation;
		seconds += span->offset;
	}
	moment.days = nk_floor_div(seconds, NK_SECONDS_PER_DAY);
	moment.nanoseconds = (seconds - moment.days * NK_SECONDS_PER_DAY) * NK_NANOSECONDS_PER_SECOND +
	                     fraction * (NK_NANOSECONDS_PER_SECOND / plan->per_second);
	return moment;
}

static nk_status format_iso(const format_plan *plan, const nk_array *array, int64_t i, char *room, int *n,
                            nk_error *err)
{
	const nk_dtype *dtype = array->dtype;
	if (dtype->id == NK_TYPE_DATE) {
		*n = nk_format_date(((const int32_t *)array->values)[i], room);
		return NK_OK;
	}
	int64_t ticks = ((const int64_t *)array->values)[i];
	if (dtype->id == NK_TYPE_DURATION) {
		*n = nk_format_duration(ticks, dtype->unit, room);
		return NK_OK;
	}
	NK_TRY(nk_format_datetime(ticks, dtype->unit, dtype->time_zone, room, n, err));
	char *blank = plan->has_t ? memchr(room, ' ', (size_t)*n) : NULL;
	if (blank)
		*blank = 'T';
	return NK_OK;
}

static nk_status write_for_people(nk_text_writer *writer, const nk_array *array, int64_t i, nk_error *err)
{
	NK_TEXT(text);
	nk_print_duration(&text, ((const int64_t *)array->values)[i], array->dtype->unit);
	NK_TRY(nk_text_finish(&text, err));
	return nk_text_writer_append(writer, text.bytes, text.n_bytes, err);
}

static nk_status cannot_format(const nk_dtype *dtype, const char *format, nk_error *err)
{
	const char *kind = dtype->id == NK_TYPE_DATE   ? "Date"
	                   : dtype->id == NK_TYPE_TIME ? "Time"
	                   : dtype->time_zone          ? "Datetime"
	                                               : "timezone-naive Datetime";
	return nk_fail(err, NK_COMPUTE, "cannot format %s with format '%s'", kind, format);
}

static nk_status to_string_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                  nk_error *err)
{
	const format_plan *plan = call->data;
	const nk_array *array = args[0];
	nk_zone_span last = {0};
	NK_TEXT_WRITER(writer);
	NK_TRY(nk_text_writer_init(&writer, call->memory, call->dtype, n_rows, err));
	for (int64_t i = 0; i < n_rows; i++) {
		char *room;
		if (call->validity && !nk_bitmap_get(call->validity, i)) {
			nk_text_writer_skip(&writer);
		} else if (plan->is_for_people) {
			NK_TRY(write_for_people(&writer, array, i, err));
		} else if (plan->format) {
			NK_TRY(nk_text_writer_room(&writer, nk_moment_bytes_max(plan->n_format), &room, err));
			nk_moment moment = moment_of(plan, array, i, &last);
			char *to = room;
			if (!nk_moment_format(&to, &moment, plan->format, plan->n_format))
				return cannot_format(array->dtype, plan->format, err);
			nk_text_writer_commit(&writer, to - room);
		} else {
			int n = 0;
			NK_TRY(nk_text_writer_room(&writer, NK_FORMAT_BYTES, &room, err));
			NK_TRY(format_iso(plan, array, i, room, &n, err));
			nk_text_writer_commit(&writer, n);
		}
	}
	return nk_text_writer_finish(&writer, NULL, out, err);
}

/* Whether the format asks only for what such values have. */
static nk_status try_format(const nk_bind *bind, const format_plan *plan, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	nk_moment moment = {.has_date = dtype->id != NK_TYPE_TIME,
	                    .has_time = dtype->id != NK_TYPE_DATE,
	                    .zone = "UTC",
	                    .has_zone = plan->zone != NULL};
	char *room, *to;
	NK_TRY(NK_ARENA_NEW(bind->arena, &room, nk_moment_bytes_max(plan->n_format), err));
	to = room;
	return nk_moment_format(&to, &moment, plan->format, plan->n_format)
	           ? NK_OK
	           : cannot_format(dtype, plan->format, err);
}

static nk_status bind_to_string(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	const char *format = bind->options[0].string ? bind->options[0].string : "iso";
	format_plan *plan;
	if (!nk_type_is_temporal(dtype->id))
		return nk__refuse_temporal(bind, "", err);
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (format_plan){.has_t = strcmp(format, "iso:strict") == 0,
	                      .is_for_people = strcmp(format, "polars") == 0};
	bool is_iso = plan->has_t || strcmp(format, "iso") == 0;
	bool is_duration = dtype->id == NK_TYPE_DURATION;
	if (is_duration && !is_iso && !plan->is_for_people)
		return nk_fail(err, NK_INVALID_OPERATION,
		               "format \"%s\" not supported for Duration type (expected one of 'iso' or 'polars')",
		               format);
	if (!is_duration && plan->is_for_people)
		return nk_fail(err, NK_INVALID_OPERATION,
		               "'polars' is not a valid `to_string` format for %s dtype expressions",
		               nk_dtype_short_name(dtype));
	if (dtype->id == NK_TYPE_DATETIME) {
		plan->per_second = nk_unit_per_second(dtype->unit);
		NK_TRY(nk__zone_of(dtype, &plan->zone, err));
	}
	if (!is_iso && !plan->is_for_people)
		plan->format = format;
	else if (is_iso && dtype->id == NK_TYPE_TIME)
		plan->format = "%T%.f";
	if (plan->format) {
		plan->n_format = (int64_t)strlen(plan->format);
		NK_TRY(try_format(bind, plan, err));
	}
	bind->data = plan;
	bind->dtype = nk_dtype_of(NK_TYPE_STRING);
	bind->kernel = to_string_kernel;
	return NK_OK;
}

/* ---- From text ---- */

typedef struct parse_plan {
	nk_type_id kind; /* Date, Datetime or Time */
	const char *format;
	int64_t n_format;
	bool exact, strict;
	bool has_offset; /* text says its offset from UTC: it is an instant whatever the zone */
	bool infers;     /* no format: parsed with nk_moment_infer, in one order */
	bool is_day_first;
	int64_t per_second;
	nk_localiser localiser; /* zone NULL: none is given */
} parse_plan;

static bool fits_kind(const parse_plan *plan, const nk_parsed *parsed)
{
	if (plan->kind == NK_TYPE_TIME)
		return parsed->has_time &&
		       parsed->nanoseconds < NK_SECONDS_PER_DAY * (int64_t)NK_NANOSECONDS_PER_SECOND;
	return parsed->has_date;
}

/* Without a format: dates stand alone, and everything comes in the order and with the offset of the column. */
static bool infer_one(const parse_plan *plan, const char *text, int64_t n, nk_parsed *out)
{
	return nk_moment_infer(text, n, out) && out->is_day_first == plan->is_day_first &&
	       out->has_offset == plan->has_offset && !(plan->kind == NK_TYPE_DATE && out->has_time);
}

static bool parse_one(const parse_plan *plan, const char *text, int64_t n, nk_parsed *out)
{
	int64_t n_used;
	if (plan->infers)
		return infer_one(plan, text, n, out);
	if (plan->exact)
		return nk_moment_parse(text, n, plan->format, plan->n_format, out, &n_used) && n_used == n &&
		       fits_kind(plan, out);
	for (int64_t at = 0; at < n; at++) {
		bool is_char = ((unsigned char)text[at] & 0xc0) != 0x80;
		if (is_char && nk_moment_parse(text + at, n - at, plan->format, plan->n_format, out, &n_used) &&
		    fits_kind(plan, out))
			return true;
	}
	return false;
}

static nk_status conversion_failed(const nk_call *call, const char *text, int64_t n, nk_error *err)
{
	return nk_fail(err, NK_INVALID_OPERATION,
	               "conversion from `str` to `%s` failed for \"%.*s\". You might want to try: setting "
	               "`strict=False`, or "
	               "giving another format",
	               nk_dtype_short_name(call->dtype), (int)NK_MIN(n, (int64_t)100), text);
}

static nk_status put_parsed(parse_plan *plan, const nk_parsed *parsed, nk_ambiguous ambiguous, void *to,
                            int64_t i, bool *is_null, nk_error *err)
{
	if (plan->kind == NK_TYPE_DATE) {
		((int32_t *)to)[i] = (int32_t)parsed->days;
		return NK_OK;
	}
	int64_t *ticks = (int64_t *)to + i;
	if (plan->kind == NK_TYPE_TIME) {
		*ticks = parsed->nanoseconds;
		return NK_OK;
	}
	int64_t seconds = parsed->days * NK_SECONDS_PER_DAY - (plan->has_offset ? parsed->offset : 0);
	int64_t fraction = parsed->nanoseconds / (NK_NANOSECONDS_PER_SECOND / plan->per_second);
	*ticks = (int64_t)((uint64_t)seconds * (uint64_t)plan->per_second + (uint64_t)fraction);
	if (!plan->localiser.zone || plan->has_offset)
		return NK_OK;
	return nk__localise(&plan->localiser, *ticks, ambiguous, false, ticks, is_null, err);
}

/* Rows of text (any of flat or constant) by a plan of the caller's own. */
static nk_status parse_rows(const nk_call *call, parse_plan *plan, nk_array *const *args,
                            const nk_array *ambiguous, int64_t n_rows, nk_array **out, nk_error *err)
{
	const nk_array *array = args[0];
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_rows, true, &result, err));
	result->n_nulls = -1;
	void *to = nk_array_values(result);
	memset(to, 0, (size_t)(n_rows * nk_physical_size(call->dtype->physical)));
	for (int64_t i = 0; i < n_rows; i++) {
		nk_ambiguous how = NK_AMBIGUOUS_RAISE;
		nk_parsed parsed;
		bool is_null = !nk_array_is_valid(array, i) || (ambiguous && !nk_array_is_valid(ambiguous, i));
		if (!is_null) {
			const nk_view *view = (const nk_view *)array->values + nk_array_index(array, i);
			const char *text = nk_view_bytes(view, array->heap);
			if (ambiguous)
				NK_TRY(nk__ambiguous_of((const nk_view *)ambiguous->values + nk_array_index(ambiguous, i),
				                        ambiguous->heap, &how, err));
			is_null = !parse_one(plan, text, view->n_bytes, &parsed);
			if (!is_null)
				NK_TRY(put_parsed(plan, &parsed, how, to, i, &is_null, err));
			if (is_null && plan->strict)
				return conversion_failed(call, text, view->n_bytes, err);
		}
		if (is_null)
			nk_bitmap_clear(nk_array_validity(result), i);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status parse_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	parse_plan plan = *(const parse_plan *)call->data;
	return parse_rows(call, &plan, args, plan.localiser.zone ? args[1] : NULL, n_rows, out, err);
}

/* ---- Without a format ---- */

static bool sniff_format(parse_plan *plan, const char *text, int64_t n, char *room)
{
	static const char *const times[] = {"T%H:%M:%S%.f", "T%H%M%S%.f", "T%H:%M", "T%H%M", " %H:%M:%S%.f",
	                                    " %H%M%S%.f",   " %H:%M",     " %H%M",  ""};
	static const char *const clocks[] = {"%T%.f", "%R"};
	bool is_time = plan->kind == NK_TYPE_TIME, is_date = plan->kind == NK_TYPE_DATE;
	nk_parsed parsed;
	int64_t n_used;
	for (int i = 0; i < (is_time ? NK_COUNT(clocks) : 6 * NK_COUNT(times)); i++) {
		int order = i / (3 * NK_COUNT(times)), separator = i / NK_COUNT(times) % 3,
			time = i % NK_COUNT(times);
		if (is_date && times[time][0])
			continue;
		if (is_time)
			snprintf(room, 64, "%s", clocks[i]);
		else
			snprintf(room, 64, order == 0 ? "%%Y%c%%m%c%%d%s" : "%%d%c%%m%c%%Y%s", "-/."[separator],
			         "-/."[separator], times[time]);
		int64_t n_format = (int64_t)strlen(room);
		if (nk_moment_parse(text, n, room, n_format, &parsed, &n_used) && n_used == n &&
		    fits_kind(plan, &parsed)) {
			plan->format = room;
			plan->n_format = n_format;
			return true;
		}
	}
	return false;
}

/* Takes order and offset, or a format, from the first value that tells. */
static bool sniff_column(parse_plan *plan, const nk_array *array, int64_t n_rows, bool *is_empty, char *room)
{
	int64_t n = array->encoding == NK_CONSTANT ? NK_MIN(n_rows, (int64_t)1) : n_rows;
	*is_empty = true;
	for (int64_t i = 0; i < n; i++) {
		if (!nk_array_is_valid(array, i))
			continue;
		*is_empty = false;
		const nk_view *view = (const nk_view *)array->values + i;
		const char *text = nk_view_bytes(view, array->heap);
		nk_parsed parsed;
		if (plan->kind == NK_TYPE_TIME || !plan->exact) {
			if (sniff_format(plan, text, view->n_bytes, room))
				return true;
		} else if (nk_moment_infer(text, view->n_bytes, &parsed) &&
		           !(plan->kind == NK_TYPE_DATE && parsed.has_time)) {
			plan->infers = true;
			plan->is_day_first = parsed.is_day_first;
			plan->has_offset = parsed.has_offset;
			return true;
		}
	}
	return false;
}

static nk_status infer_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	parse_plan plan = *(const parse_plan *)call->data;
	char room[64];
	bool is_empty;
	if (!sniff_column(&plan, args[0], n_rows, &is_empty, room)) {
		if (is_empty || (!plan.strict && plan.kind != NK_TYPE_DATETIME))
			return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
		return nk_fail(err, NK_COMPUTE,
		               "could not find an appropriate format to parse %s, please define a format",
		               plan.kind == NK_TYPE_TIME       ? "times"
		               : plan.kind == NK_TYPE_DATETIME ? "datetimes"
		                                               : "dates");
	}
	if (plan.has_offset && !plan.localiser.zone && !plan.strict)
		return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
	if (plan.has_offset && !plan.localiser.zone)
		return nk_fail(err, NK_COMPUTE,
		               "`strptime` / `to_datetime` was called with no format and no time zone, but a time "
		               "zone is part of the "
		               "data. Please give a `time_zone`, or a format with '%%z'");
	const nk_array *ambiguous = plan.localiser.zone && !plan.has_offset ? args[1] : NULL;
	return parse_rows(call, &plan, args, ambiguous, n_rows, out, err);
}

/* ---- Binders ---- */

enum { FORMAT, STRICT, EXACT, TIME_UNIT, TIME_ZONE };

static bool asks_offset(const char *format)
{
	static const char *const specifiers[] = {"%z", "%:z", "%::z", "%:::z", "%#z"};
	for (int i = 0; i < NK_COUNT(specifiers); i++)
		if (strstr(format, specifiers[i]))
			return true;
	return strcmp(format, "%+") == 0;
}

static nk_status bind_parse(nk_bind *bind, nk_type_id kind, bool has_format, nk_error *err)
{
	const char *format = bind->options[FORMAT].string;
	parse_plan *plan;
	for (int i = 0; i < bind->n_args; i++)
		if (bind->args[i].dtype->id != NK_TYPE_STRING)
			return nk_fail(err, NK_SCHEMA_MISMATCH,
			               "invalid series dtype: expected `String`, got `%s` (in %s)",
			               nk_dtype_short_name(bind->args[i].dtype), bind->func->name);
	if (has_format && !format)
		return nk_fail(err, NK_TYPE, "`%s` needs a format", bind->func->name);
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (parse_plan){
		.kind = kind, .strict = bind->options[STRICT].boolean, .exact = bind->options[EXACT].boolean};
	if (has_format) {
		plan->format = format;
		plan->n_format = (int64_t)strlen(format);
	}
	bind->data = plan;
	bind->dtype = nk_dtype_of(kind);
	bind->kernel = has_format ? parse_kernel : infer_kernel;
	bind->fallible = plan->strict;
	return NK_OK;
}

static nk_status bind_parse_datetime(nk_bind *bind, bool has_format, nk_error *err)
{
	const char *time_zone = bind->options[TIME_ZONE].string, *format = bind->options[FORMAT].string;
	nk_time_unit unit;
	NK_TRY(nk__time_unit_of(bind, bind->options[TIME_UNIT].string, &unit, err));
	NK_TRY(bind_parse(bind, NK_TYPE_DATE, has_format, err));
	parse_plan *plan = (parse_plan *)bind->data;
	plan->kind = NK_TYPE_DATETIME;
	plan->per_second = nk_unit_per_second(unit);
	if (has_format && (strstr(format, "%H") == NULL) != (strstr(format, "%M") == NULL) &&
	    !strstr(format, "%I"))
		return nk_fail(err, NK_COMPUTE,
		               "invalid format string: please specify either both hour and minute, or neither");
	plan->has_offset = has_format && asks_offset(format);
	if (time_zone)
		NK_TRY(nk_zone_find(time_zone, &plan->localiser.zone, err));
	if (plan->has_offset && !time_zone)
		time_zone = "UTC";
	bind->dtype = nk_dtype_datetime(unit, time_zone);
	if (!bind->dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	if (plan->localiser.zone && bind->n_args < 2)
		return nk_fail(err, NK_TYPE, "`%s` with a time zone needs `ambiguous`", bind->func->name);
	plan->localiser.per_second = plan->per_second;
	plan->localiser.time_zone = time_zone;
	bind->fallible |= plan->localiser.zone != NULL;
	return NK_OK;
}

static nk_status bind_to_date(nk_bind *bind, nk_error *err)
{
	return bind_parse(bind, NK_TYPE_DATE, true, err);
}
static nk_status bind_to_time(nk_bind *bind, nk_error *err)
{
	return bind_parse(bind, NK_TYPE_TIME, true, err);
}
static nk_status bind_to_datetime(nk_bind *bind, nk_error *err)
{
	return bind_parse_datetime(bind, true, err);
}
static nk_status bind_infer_date(nk_bind *bind, nk_error *err)
{
	return bind_parse(bind, NK_TYPE_DATE, false, err);
}
static nk_status bind_infer_time(nk_bind *bind, nk_error *err)
{
	return bind_parse(bind, NK_TYPE_TIME, false, err);
}
static nk_status bind_infer_datetime(nk_bind *bind, nk_error *err)
{
	return bind_parse_datetime(bind, false, err);
}

static const nk_option_spec to_string_options[] = {
	{"format", {.kind = NK_OPTION_STRING, .string = "iso"}},
	{0},
};

static const nk_option_spec parse_options[] = {
	[FORMAT] = {"format", {.kind = NK_OPTION_STRING}},
	[STRICT] = {"strict", {.kind = NK_OPTION_BOOL, .boolean = true}},
	[EXACT] = {"exact", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{0},
};

static const nk_option_spec parse_datetime_options[] = {
	[FORMAT] = {"format", {.kind = NK_OPTION_STRING}},
	[STRICT] = {"strict", {.kind = NK_OPTION_BOOL, .boolean = true}},
	[EXACT] = {"exact", {.kind = NK_OPTION_BOOL, .boolean = true}},
	[TIME_UNIT] = {"time_unit", {.kind = NK_OPTION_STRING, .string = "us"}},
	[TIME_ZONE] = {"time_zone", {.kind = NK_OPTION_STRING}},
	{0},
};

const nk_func nk__funcs_temporal_text[] = {
	{
		.name = "dt.to_string",
		.args = "x",
		.doc = "Dates, times and durations as text: 'iso' or 'iso:strict' (with a T), or a format with the "
			   "specifiers of "
			   "strftime, which durations do not have; 'polars' for durations as they are printed.",
		.example = "dt.to_string(Date [0, null], format='%d.%m.%Y') == ['01.01.1970', null]",
		.options = to_string_options,
		.min_args = 1,
		.max_args = 1,
		.fallible = true,
		.bind = bind_to_string,
	},
	{
		.name = "str.infer_date",
		.args = "x",
		.doc = "Text as Date, with -, / or . between year, month and day, or day, month and year: the order "
			   "of the first value "
			   "that is a date. Other text fails with InvalidOperationError, or is null when not strict.",
		.example = "str.infer_date(['1970-01-02', null]) == Date [1, null]",
		.options = parse_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.order_sensitive = true,
		.bind = bind_infer_date,
	},
	{
		.name = "str.infer_datetime",
		.args = "x, ambiguous",
		.doc = "Text as Datetime, a date and a time like those of ISO 8601; see str.infer_date. Offsets need "
			   "a time zone.",
		.example = "str.infer_datetime(['1970-01-01 00:00:01', null]) == Datetime(us) [1000000, null]",
		.options = parse_datetime_options,
		.min_args = 1,
		.max_args = 2,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.order_sensitive = true,
		.bind = bind_infer_datetime,
	},
	{
		.name = "str.infer_time",
		.args = "x",
		.doc = "Text as Time, with seconds or without, as the first value has them.",
		.example = "str.infer_time(['00:00:01.5', null]) == Time [1500000000, null]",
		.options = parse_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.order_sensitive = true,
		.bind = bind_infer_time,
	},
	{
		.name = "str.to_date",
		.args = "x",
		.doc = "Text as Date by a format of strptime. Text that does not fit fails with "
			   "InvalidOperationError, or is null when "
			   "not strict; unless exact, the format may match anywhere.",
		.example = "str.to_date(['02.01.1970', null], format='%d.%m.%Y') == Date [1, null]",
		.options = parse_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_to_date,
	},
	{
		.name = "str.to_datetime",
		.args = "x, ambiguous",
		.doc = "Text as Datetime by a format of strptime; see str.to_date. With an offset in the format the "
			   "text is an instant, "
			   "else local time of the time zone, if any.",
		.example =
			"str.to_datetime(['1970-01-01 00:01', null], format='%F %R') == Datetime(us) [60000000, null]",
		.options = parse_datetime_options,
		.min_args = 1,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_to_datetime,
	},
	{
		.name = "str.to_time",
		.args = "x",
		.doc = "Text as Time by a format of strptime; see str.to_date.",
		.example = "str.to_time(['00:00:01', null], format='%T') == Time [1000000000, null]",
		.options = parse_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_to_time,
	},
	{0},
};
