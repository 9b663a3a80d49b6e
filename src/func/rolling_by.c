/* Statistics of windows by time: the rows whose index lies within a period before a row's own. Rows are
 * sorted by the index first, group by group, unless they are in order; rows without an index get null and
 * are in no window. */
#include "compute/calendar_step.h"
#include "compute/select.h"
#include "compute/sort_segments.h"
#include "func/ordered.h"
#include "func/rolling.h"

typedef struct plan {
	nk_rolling_plan *rolling;
	nk_step step;       /* of temporal indices */
	int64_t n;          /* of integer ones */
	int64_t per_second; /* ticks; 0: integers */
	bool closed_left, closed_right;
} plan;

static int64_t before(const plan *p, int64_t at)
{
	if (!p->per_second)
		return at < INT64_MIN + p->n ? INT64_MIN : at - p->n;
	nk_step back = p->step;
	back.is_negative = true;
	if (nk_step_has_days(&back))
		at = nk_step_add_days(&back, at, p->per_second);
	return at + nk_step_ticks(&back, p->per_second);
}

/* index: ascending in [from, to). */
static void find_windows(const plan *p, const int64_t *index, int64_t from, int64_t to, int64_t *starts,
                         int64_t *ends)
{
	int64_t start = from, end = from;
	for (int64_t i = from; i < to; i++) {
		int64_t least = before(p, index[i]);
		while (end < to && (p->closed_right ? index[end] <= index[i] : index[end] < index[i]))
			end++;
		while (start < end && (p->closed_left ? index[start] < least : index[start] <= least))
			start++;
		starts[i] = start;
		ends[i] = end;
	}
}

static bool is_sorted(const nk_array *index, int64_t n_groups, const int64_t *offsets)
{
	const int64_t *at = index->values;
	if (nk_array_count_nulls(index))
		return false;
	for (int64_t g = 0; g < n_groups; g++)
		for (int64_t i = offsets[g] + 1; i < offsets[g + 1]; i++)
			if (at[i - 1] > at[i])
				return false;
	return true;
}

/* array and index in ascending order, nulls last. */
static nk_status roll_sorted(const nk_call *call, const plan *p, const nk_array *array, const nk_array *index,
                             int64_t n_groups, const int64_t *offsets, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) starts = NULL, *ends = NULL;
	int64_t n_rows = array->n_rows;
	NK_TRY(nk_buffer_new(call->memory, n_rows * 8, &starts, err));
	NK_TRY(nk_buffer_new(call->memory, n_rows * 8, &ends, err));
	nk_rolling rolling = p->rolling->rolling;
	int64_t *from = (int64_t *)(void *)starts->bytes, *to = (int64_t *)(void *)ends->bytes;
	rolling.starts = from;
	rolling.ends = to;
	bool has_nulls = nk_array_count_nulls(index) > 0;
	for (int64_t g = 0; g < n_groups; g++) {
		int64_t end = offsets[g + 1];
		while (has_nulls && end > offsets[g] && !nk_array_is_valid(index, end - 1))
			end--;
		find_windows(p, index->values, offsets[g], end, from, to);
		for (int64_t i = end; i < offsets[g + 1]; i++)
			from[i] = to[i] = end;
	}
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk__rolling_run(call, p->rolling, &rolling, array, n_groups, offsets, &result, err));
	if (has_nulls && result->physical != NK_PHYSICAL_NONE) {
		NK_AUTO(nk_buffer) validity = NULL;
		int64_t n_bytes = nk_bitmap_bytes(n_rows);
		NK_TRY(nk_buffer_new(call->memory, n_bytes, &validity, err));
		for (int64_t b = 0; b < n_bytes; b++)
			validity->bytes[b] = index->validity[b] & (result->validity ? result->validity[b] : 0xff);
		return nk_array_with_validity(result, NK_STEAL(validity), -1, out, err);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status roll_by(const nk_call *call, nk_array *const *args, int64_t n_groups, const int64_t *offsets,
                         nk_array **out, nk_error *err)
{
	const plan *p = call->data;
	NK_AUTO(nk_array) array = NULL, *index = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &array, err));
	NK_TRY(nk_array_flatten(call->memory, args[1], &index, err));
	if (is_sorted(index, n_groups, offsets))
		return roll_sorted(call, p, array, index, n_groups, offsets, out, err);
	NK_AUTO(nk_buffer) sorted = NULL, *places = NULL;
	NK_AUTO(nk_array) values = NULL, *times = NULL, *result = NULL;
	int64_t n_rows = array->n_rows;
	NK_TRY(nk_buffer_new(call->memory, n_rows * 4, &sorted, err));
	NK_TRY(nk_buffer_new(call->memory, n_rows * 4, &places, err));
	uint32_t *rows = (uint32_t *)(void *)sorted->bytes, *back = (uint32_t *)(void *)places->bytes;
	nk_sort_key ascending = {.nulls_last = true};
	NK_TRY(nk_sort_segments(call->memory, &index, &ascending, 1, n_groups, offsets, rows, err));
	for (int64_t i = 0; i < n_rows; i++)
		back[rows[i]] = (uint32_t)i;
	NK_TRY(nk_array_take(call->memory, array, rows, n_rows, &values, err));
	NK_TRY(nk_array_take(call->memory, index, rows, n_rows, &times, err));
	NK_TRY(roll_sorted(call, p, values, times, n_groups, offsets, &result, err));
	return nk_array_take(call->memory, result, back, n_rows, out, err);
}

/* Plain numbers of a window, such as "3i". */
static bool read_count(const char *text, int64_t *out, bool *is_negative)
{
	*is_negative = *text == '-';
	text += *is_negative;
	int64_t n = 0;
	const char *at = text;
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *at - '0', &n))
			return false;
	*out = n;
	return at > text && at[0] == 'i' && at[1] == 0;
}

static nk_status bind_period(nk_bind *bind, plan *p, nk_error *err)
{
	const nk_dtype *dtype = bind->args[1].dtype;
	const char *text = bind->options[nk_func_option(bind->func, "window_size")].string;
	bool is_negative = false, is_count = text && read_count(text, &p->n, &is_negative), is_temporal = false;
	switch (dtype->id) {
	case NK_TYPE_INT32:
	case NK_TYPE_INT64:
	case NK_TYPE_UINT32:
	case NK_TYPE_UINT64: bind->casts[1] = nk_dtype_of(NK_TYPE_INT64); break;
	case NK_TYPE_DATE:
		is_temporal = true;
		bind->casts[1] = nk_dtype_datetime(NK_UNIT_US, NULL);
		p->per_second = 1000000;
		break;
	case NK_TYPE_DATETIME:
		is_temporal = true;
		p->per_second = dtype->unit == NK_UNIT_MS ? 1000 : dtype->unit == NK_UNIT_US ? 1000000 : 1000000000;
		break;
	default:
		return nk_fail(
			err, NK_INVALID_OPERATION,
			"unsupported data type: %s for temporal/index column, expected UInt64, UInt32, Int64, Int32, "
			"Datetime, or Date",
			nk_dtype_short_name(dtype));
	}
	if (!text)
		return nk_fail(err, NK_INVALID_OPERATION, "`%s` needs a `window_size`", bind->func->name);
	if (!is_count) {
		NK_TRY(nk_step_parse(text, (int64_t)strlen(text), &p->step, err));
		is_negative = p->step.is_negative;
	}
	if (is_count && is_temporal)
		return nk_fail(
			err, NK_INVALID_OPERATION,
			"`window_size` duration may not be a parsed integer (i.e. use '2d', not '2i') when working with "
			"a temporal column");
	if (!is_count && !is_temporal)
		return nk_fail(
			err, NK_INVALID_OPERATION,
			"`window_size` duration must be a parsed integer (i.e. use '2i', not '2d') when working with a "
			"numeric column");
	const nk_step *step = &p->step;
	bool is_zero = is_count ? p->n == 0 : !step->months && !step->weeks && !step->days && !step->nanoseconds;
	if (is_negative || is_zero)
		return nk_fail(err, NK_INVALID_OPERATION, "`window_size` must be strictly positive");
	return NK_OK;
}

static nk_status bind_by(nk_bind *bind, nk_rolling_kind kind, nk_error *err)
{
	plan *p;
	NK_TRY(NK_ARENA_NEW(bind->arena, &p, 1, err));
	const char *closed = bind->options[nk_func_option(bind->func, "closed")].string;
	p->closed_left = strcmp(closed, "left") == 0 || strcmp(closed, "both") == 0;
	p->closed_right = strcmp(closed, "right") == 0 || strcmp(closed, "both") == 0;
	if (!p->closed_left && !p->closed_right && strcmp(closed, "none") != 0)
		return nk_fail(err, NK_VALUE, "`closed` must be one of {'left', 'right', 'both', 'none'}, got %s",
		               closed);
	NK_TRY(bind_period(bind, p, err));
	NK_TRY(nk__rolling_bind(bind, kind, &p->rolling, err));
	bind->data = p;
	bind->segmented = roll_by;
	return NK_OK;
}

static nk_status bind_sum(nk_bind *bind, nk_error *err) { return bind_by(bind, NK_ROLLING_SUM, err); }
static nk_status bind_mean(nk_bind *bind, nk_error *err) { return bind_by(bind, NK_ROLLING_MEAN, err); }
static nk_status bind_min(nk_bind *bind, nk_error *err) { return bind_by(bind, NK_ROLLING_MIN, err); }
static nk_status bind_max(nk_bind *bind, nk_error *err) { return bind_by(bind, NK_ROLLING_MAX, err); }
static nk_status bind_var(nk_bind *bind, nk_error *err) { return bind_by(bind, NK_ROLLING_VAR, err); }
static nk_status bind_std(nk_bind *bind, nk_error *err) { return bind_by(bind, NK_ROLLING_STD, err); }
static nk_status bind_quantile(nk_bind *bind, nk_error *err)
{
	return bind_by(bind, NK_ROLLING_QUANTILE, err);
}

#define PERIOD_OPTIONS                                                                                   \
	{"window_size", {.kind = NK_OPTION_STRING}}, {"min_samples", {.kind = NK_OPTION_INT, .integer = 1}}, \
	{                                                                                                    \
		"closed", { .kind = NK_OPTION_STRING, .string = "right" }                                        \
	}

static const nk_option_spec period_options[] = {PERIOD_OPTIONS, {0}};
static const nk_option_spec spread_options[] = {
	PERIOD_OPTIONS, {"ddof", {.kind = NK_OPTION_INT, .integer = 1}}, {0}};
static const nk_option_spec quantile_options[] = {
	PERIOD_OPTIONS,
	{"quantile", {.kind = NK_OPTION_FLOAT, .floating = 0.5}},
	{"interpolation", {.kind = NK_OPTION_STRING, .string = "nearest"}},
	{0}};

const nk_func nk__funcs_rolling_by[] = {
	{
		.name = "rolling_sum_by",
		.args = "x, by",
		.doc = "Sum of the rows whose index is in the window before a row's own, ties included; see "
			   "rolling_sum. The index is an integer (window \"3i\"), a Date or a Datetime (\"2d12h\"), "
			   "in any order; where it is null the result is.",
		.example = "rolling_sum_by([1, 2, 3], [1, 2, 4], window_size=\"2i\") == [1, 3, 3]",
		.options = period_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_sum,
	},
	{
		.name = "rolling_mean_by",
		.args = "x, by",
		.doc = "Mean of a window by index, see rolling_sum_by.",
		.example = "rolling_mean_by([1, 2, 6], [1, 2, 3], window_size=\"2i\") == [1.0, 1.5, 4.0]",
		.options = period_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_mean,
	},
	{
		.name = "rolling_min_by",
		.args = "x, by",
		.doc = "Least value of a window by index, see rolling_sum_by.",
		.example = "rolling_min_by([2, 3, 1], [1, 2, 3], window_size=\"2i\") == [2, 2, 1]",
		.options = period_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_min,
	},
	{
		.name = "rolling_max_by",
		.args = "x, by",
		.doc = "Greatest value of a window by index, see rolling_sum_by.",
		.example = "rolling_max_by([2, 3, 1], [1, 2, 3], window_size=\"2i\") == [2, 3, 3]",
		.options = period_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_max,
	},
	{
		.name = "rolling_var_by",
		.args = "x, by",
		.doc = "Variance of a window by index, see rolling_sum_by.",
		.example = "rolling_var_by([1, 3, 3], [1, 2, 3], window_size=\"2i\") == [null, 2.0, 0.0]",
		.options = spread_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_var,
	},
	{
		.name = "rolling_std_by",
		.args = "x, by",
		.doc = "Standard deviation of a window by index, see rolling_sum_by.",
		.example = "rolling_std_by([1, 1, 3], [1, 2, 3], window_size=\"2i\", ddof=0) == [0.0, 0.0, 1.0]",
		.options = spread_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_std,
	},
	{
		.name = "rolling_median_by",
		.args = "x, by",
		.doc = "Median of a window by index, see rolling_sum_by.",
		.example = "rolling_median_by([1, 3, 8], [1, 2, 3], window_size=\"2i\") == [1.0, 2.0, 5.5]",
		.options = period_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_quantile,
	},
	{
		.name = "rolling_quantile_by",
		.args = "x, by",
		.doc = "A quantile of a window by index, see rolling_sum_by.",
		.example =
			"rolling_quantile_by([1, 3, 8], [1, 2, 3], window_size=\"2i\", quantile=0.0) == [1.0, 1.0, 3.0]",
		.options = quantile_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_quantile,
	},
	{0},
};
