/* Time zones of Datetimes: another zone for the same instants, the same local times in another zone, and what a zone's
 * offset is made of. */
#include "func/temporal.h"

#include "compute/calendar.h"

/* ---- Local times to instants ---- */

bool nk__ambiguous_parse(const char *text, int64_t n, nk_ambiguous *out)
{
	static const char *const names[] = {"earliest", "latest", "null", "raise"};
	for (int i = 0; i < NK_COUNT(names); i++)
		if (strlen(names[i]) == (size_t)n && memcmp(names[i], text, (size_t)n) == 0) {
			*out = (nk_ambiguous)i;
			return true;
		}
	return false;
}

nk_status nk__ambiguous_of(const nk_view *view, const nk_heap *heap, nk_ambiguous *out, nk_error *err)
{
	const char *bytes = nk_view_bytes(view, heap);
	if (nk__ambiguous_parse(bytes, view->n_bytes, out))
		return NK_OK;
	return nk_fail(err, NK_INVALID_OPERATION,
	               "invalid argument %.*s, expected one of: \"earliest\", \"latest\", \"null\", \"raise\"",
	               (int)NK_MIN(view->n_bytes, 100u), bytes);
}

static nk_status localise_failed(const char *time_zone, int64_t seconds, bool is_ambiguous, nk_error *err)
{
	nk_civil civil = nk_civil_of_days(nk_floor_div(seconds, NK_SECONDS_PER_DAY));
	int of_day = (int)nk_floor_mod(seconds, NK_SECONDS_PER_DAY);
	return nk_fail(err, NK_COMPUTE, "datetime '%04lld-%02d-%02d %02d:%02d:%02d' is %s in time zone '%s'. %s",
	               (long long)civil.year, civil.month, civil.day, of_day / 3600, of_day / 60 % 60,
	               of_day % 60, is_ambiguous ? "ambiguous" : "non-existent", time_zone,
	               is_ambiguous
	                   ? "Please use `ambiguous` to tell how it should be localized."
	                   : "You may be able to use `non_existent='null'` to return `null` in this case.");
}

nk_status nk__localise(nk_localiser *localiser, int64_t local, nk_ambiguous ambiguous, bool nulls_missing,
                       int64_t *out, bool *is_null, nk_error *err)
{
	int64_t per_second = localiser->per_second, seconds = nk_floor_div(local, per_second);
	nk_zone_span *last = &localiser->last;
	int64_t utc[2] = {seconds - last->offset};
	*is_null = false;
	if (utc[0] - NK_SECONDS_PER_DAY < last->from || utc[0] + NK_SECONDS_PER_DAY >= last->until) {
		int n = nk_zone_resolve(localiser->zone, seconds, utc);
		bool raises = n == 0 ? !nulls_missing : n == 2 && ambiguous == NK_AMBIGUOUS_RAISE;
		if (raises)
			return localise_failed(localiser->time_zone, seconds, n == 2, err);
		if (n == 0 || (n == 2 && ambiguous == NK_AMBIGUOUS_NULL)) {
			*is_null = true;
			*out = 0;
			return NK_OK;
		}
		if (n == 2 && ambiguous == NK_AMBIGUOUS_LATEST)
			utc[0] = utc[1];
		*last = nk_zone_at(localiser->zone, utc[0]);
	}
	*out = utc[0] * per_second + nk_floor_mod(local, per_second);
	return NK_OK;
}

/* ---- convert_time_zone ---- */

static nk_status retype_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	(void)n_rows;
	return nk_array_retype(args[0], call->dtype, out, err);
}

static nk_status bind_convert_time_zone(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	const char *name = bind->options[0].string;
	const nk_zone *zone;
	if (dtype->id != NK_TYPE_DATETIME)
		return nk_fail(err, NK_COMPUTE, "expected Datetime, got %s", nk_dtype_short_name(dtype));
	if (!name)
		return nk_fail(err, NK_TYPE, "`dt.convert_time_zone` needs a time zone");
	NK_TRY(nk_zone_find(name, &zone, err));
	bind->dtype = nk_dtype_datetime(dtype->unit, name);
	bind->kernel = retype_kernel;
	return bind->dtype ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
}

/* ---- replace_time_zone ---- */

typedef struct replace_plan {
	const nk_zone *from, *to; /* NULL: local time is UTC */
	int64_t per_second;
	const char *time_zone;
	bool nulls_missing;
	bool has_ambiguous; /* what is in `ambiguous`; else the second argument has it */
	nk_ambiguous ambiguous;
} replace_plan;

/* To no zone: instants as the local times that they are. */
static nk_status to_local_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	const replace_plan *plan = call->data;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I64, n_rows, false, &result, err));
	int64_t *to = nk_array_values(result);
	const int64_t *from = args[0]->values;
	if (args[0]->encoding == NK_FLAT)
		nk_zone_to_local(plan->from, to, from, plan->per_second, n_rows);
	for (int64_t i = 0; i < n_rows && args[0]->encoding != NK_FLAT; i++)
		nk_zone_to_local(plan->from, to + i, from, plan->per_second, 1);
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status replace_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	const replace_plan *plan = call->data;
	nk_localiser localiser = {.zone = plan->to, .per_second = plan->per_second, .time_zone = plan->time_zone};
	nk_ambiguous ambiguous = plan->ambiguous;
	const int64_t *from = args[0]->values;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I64, n_rows, true, &result, err));
	result->n_nulls = -1;
	int64_t *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++) {
		bool is_null = false;
		to[i] = 0;
		if (call->validity && !nk_bitmap_get(call->validity, i))
			continue;
		if (!plan->has_ambiguous) {
			const nk_view *view = (const nk_view *)args[1]->values + nk_array_index(args[1], i);
			NK_TRY(nk__ambiguous_of(view, args[1]->heap, &ambiguous, err));
		}
		int64_t local, ticks = from[nk_array_index(args[0], i)];
		local = *nk__local_ticks(plan->from, plan->per_second, &ticks, 1, &local);
		NK_TRY(nk__localise(&localiser, local, ambiguous, plan->nulls_missing, &to[i], &is_null, err));
		if (is_null)
			nk_bitmap_clear(nk_array_validity(result), i);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status null_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	(void)args;
	return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
}

enum { TIME_ZONE, NON_EXISTENT };

static nk_status bind_replace_time_zone(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	const char *name = bind->options[TIME_ZONE].string, *missing = bind->options[NON_EXISTENT].string;
	const nk_argument *ambiguous = bind->n_args > 1 ? &bind->args[1] : NULL;
	if (dtype->id != NK_TYPE_DATETIME)
		return nk__refuse_temporal(bind, " (expected: Datetime)", err);
	if (strcmp(missing, "raise") != 0 && strcmp(missing, "null") != 0)
		return nk_fail(err, NK_VALUE, "`non_existent` must be one of {'null', 'raise'}, got %s", missing);
	replace_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (replace_plan){
		.per_second = nk_unit_per_second(dtype->unit), .time_zone = name, .ambiguous = NK_AMBIGUOUS_RAISE};
	plan->nulls_missing = missing[0] == 'n';
	NK_TRY(nk__zone_of(dtype, &plan->from, err));
	if (name)
		NK_TRY(nk_zone_find(name, &plan->to, err));
	bind->data = plan;
	bind->dtype = nk_dtype_datetime(dtype->unit, name);
	if (!bind->dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	plan->has_ambiguous = !ambiguous || ambiguous->literal;
	if (ambiguous && ambiguous->dtype->id != NK_TYPE_STRING)
		return nk_fail(err, NK_SCHEMA_MISMATCH, "invalid series dtype: expected `String`, got `%s` (in %s)",
		               nk_dtype_short_name(ambiguous->dtype), bind->func->name);
	if (ambiguous && ambiguous->literal && !ambiguous->literal->is_null &&
	    !nk__ambiguous_parse(ambiguous->literal->bytes, ambiguous->literal->n_bytes, &plan->ambiguous))
		return nk_fail(
			err, NK_INVALID_OPERATION,
			"invalid argument %.*s, expected one of: \"earliest\", \"latest\", \"null\", \"raise\"",
			(int)NK_MIN(ambiguous->literal->n_bytes, (int64_t)100), ambiguous->literal->bytes);
	if (plan->from && strcmp(dtype->time_zone, "UTC") == 0)
		plan->from = NULL;
	if (plan->to && strcmp(name, "UTC") == 0)
		plan->to = NULL;
	if (ambiguous && ambiguous->literal && ambiguous->literal->is_null && (plan->from || plan->to))
		bind->kernel = null_kernel;
	else if (plan->from == plan->to &&
	         (!plan->to || (plan->has_ambiguous && plan->ambiguous == NK_AMBIGUOUS_RAISE)))
		bind->kernel = retype_kernel;
	else
		bind->kernel = plan->to ? replace_kernel : to_local_kernel;
	bind->fallible = bind->kernel == replace_kernel;
	return NK_OK;
}

/* ---- Offsets ---- */

typedef struct offset_plan {
	const nk_zone *zone;
	int64_t per_second;
	bool is_summer; /* its part of the offset is wanted; else the rest */
} offset_plan;

static nk_status offset_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	const offset_plan *plan = call->data;
	const int64_t *from = args[0]->values;
	nk_zone_span last = {0};
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I64, n_rows, false, &result, err));
	int64_t *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++) {
		const nk_zone_span *span = nk_zone_near(plan->zone, nk_floor_div(from[i], plan->per_second), &last);
		to[i] = 1000 * (int64_t)(plan->is_summer ? span->summer_shift : span->offset - span->summer_shift);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_offset(nk_bind *bind, bool is_summer, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	if (dtype->id != NK_TYPE_DATETIME || !dtype->time_zone)
		return nk__refuse_temporal(bind, " (expected: time-zone-aware datetime)", err);
	offset_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (offset_plan){.per_second = nk_unit_per_second(dtype->unit), .is_summer = is_summer};
	NK_TRY(nk__zone_of(dtype, &plan->zone, err));
	bind->data = plan;
	bind->dtype = nk_dtype_duration(NK_UNIT_MS);
	bind->kernel = offset_kernel;
	return NK_OK;
}

static nk_status bind_base_utc_offset(nk_bind *bind, nk_error *err) { return bind_offset(bind, false, err); }
static nk_status bind_dst_offset(nk_bind *bind, nk_error *err) { return bind_offset(bind, true, err); }

static const nk_option_spec convert_options[] = {
	{"time_zone", {.kind = NK_OPTION_STRING}},
	{0},
};

static const nk_option_spec replace_options[] = {
	[TIME_ZONE] = {"time_zone", {.kind = NK_OPTION_STRING}},
	[NON_EXISTENT] = {"non_existent", {.kind = NK_OPTION_STRING, .string = "raise"}},
	{0},
};

const nk_func nk__funcs_temporal_zone[] = {
	{
		.name = "dt.base_utc_offset",
		.args = "x",
		.doc = "What local time is ahead of UTC without summer time, as Duration(ms). The Datetime needs a "
			   "time zone.",
		.example = "dt.base_utc_offset(Datetime(ms, UTC) [0, null]) == Duration(ms) [0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_base_utc_offset,
	},
	{
		.name = "dt.convert_time_zone",
		.args = "x",
		.doc = "The same instants in another time zone; a Datetime without one counts as UTC. An unknown "
			   "zone fails with "
			   "ComputeError.",
		.example =
			"dt.convert_time_zone(Datetime(ms) [0, null], time_zone='UTC') == Datetime(ms, UTC) [0, null]",
		.options = convert_options,
		.min_args = 1,
		.max_args = 1,
		.bind = bind_convert_time_zone,
	},
	{
		.name = "dt.dst_offset",
		.args = "x",
		.doc = "How much of the offset is summer time, as Duration(ms). The Datetime needs a time zone.",
		.example = "dt.dst_offset(Datetime(ms, UTC) [0, null]) == Duration(ms) [0, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_dst_offset,
	},
	{
		.name = "dt.replace_time_zone",
		.args = "x, ambiguous",
		.doc = "The same local times in another time zone, or without one. Local times that clocks show "
			   "twice are taken as "
			   "`ambiguous` says: 'earliest', 'latest', 'null' or 'raise', which is a ComputeError; those "
			   "that clocks skip as "
			   "`non_existent` does: 'null' or 'raise'.",
		.example =
			"dt.replace_time_zone(Datetime(ms) [0, null], time_zone='UTC') == Datetime(ms, UTC) [0, null]",
		.options = replace_options,
		.min_args = 1,
		.max_args = 2,
		.fallible = true,
		.bind = bind_replace_time_zone,
	},
	{0},
};
