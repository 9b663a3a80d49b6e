/* A list for each row: int_ranges, linear_spaces, repeat_by. How long every list is comes first, then the items in
 * one array. */
#include <string.h>

#include "compute/select.h"
#include "func/func.h"
#include "func/words.h"

/* Offsets of lists, which grow row by row. */
static nk_status new_offsets(const nk_call *call, int64_t n_rows, nk_buffer **out, nk_error *err)
{
	NK_TRY(nk_buffer_new(call->memory, (n_rows + 1) * (int64_t)sizeof(int64_t), out, err));
	((int64_t *)(void *)(*out)->bytes)[0] = 0;
	return NK_OK;
}

static bool are_valid(nk_array *const *args, int n_args, int64_t i)
{
	bool valid = true;
	for (int a = 0; a < n_args; a++)
		valid &= nk_array_is_valid(args[a], i);
	return valid;
}

static int64_t whole_at(const nk_array *array, int64_t i)
{
	return ((const int64_t *)array->values)[nk_array_index(array, i)];
}

/* One offset more; fails when the items would not be countable. */
static nk_status next_offset(const nk_call *call, int64_t *offsets, int64_t i, __int128 n, nk_error *err)
{
	if (offsets[i] + n > UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "the lists of `%s` have more than 4294967295 items",
		               call->func->name);
	offsets[i + 1] = offsets[i] + (int64_t)n;
	return NK_OK;
}

static nk_status finish_lists(const nk_call *call, nk_array *const *args, int n_args, int64_t n_rows,
                              nk_buffer *offsets, nk_array *items, nk_array **out, nk_error *err)
{
	nk_buffer *validity = NULL;
	bool has_nulls = false;
	for (int a = 0; a < n_args; a++)
		has_nulls |= nk__may_have_nulls(args[a]);
	if (has_nulls) {
		nk_status status = nk_buffer_new_zeroed(call->memory, nk_bitmap_bytes(n_rows) + 8, &validity, err);
		if (status != NK_OK) {
			nk_buffer_unref(offsets);
			nk_array_unref(items);
			return status;
		}
		for (int64_t i = 0; i < n_rows; i++)
			nk_bitmap_put(validity->bytes, i, are_valid(args, n_args, i));
	}
	return nk_array_new_list(call->dtype, n_rows, offsets, items, validity, has_nulls ? -1 : 0, out, err);
}

/* ---- int_ranges ---- */

static nk_status int_ranges_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                   nk_error *err)
{
	NK_AUTO(nk_buffer) room = NULL;
	NK_AUTO(nk_array) items = NULL;
	NK_TRY(new_offsets(call, n_rows, &room, err));
	int64_t *offsets = (int64_t *)(void *)room->bytes;
	for (int64_t i = 0; i < n_rows; i++) {
		__int128 n = 0;
		if (are_valid(args, 3, i)) {
			__int128 start = whole_at(args[0], i), end = whole_at(args[1], i), step = whole_at(args[2], i);
			if (step == 0)
				return nk_fail(err, NK_INVALID_OPERATION, "step must not be zero");
			__int128 way = step > 0 ? end - start : start - end, stride = step > 0 ? step : -step;
			n = way <= 0 ? 0 : (way + stride - 1) / stride;
		}
		NK_TRY(next_offset(call, offsets, i, n, err));
	}
	NK_TRY(nk_array_alloc(call->memory, nk_dtype_of(NK_TYPE_INT64), NK_PHYSICAL_I64, offsets[n_rows], false,
	                      &items, err));
	int64_t *to = nk_array_values(items);
	for (int64_t i = 0; i < n_rows; i++)
		for (int64_t j = offsets[i], k = 0; j < offsets[i + 1]; j++, k++)
			to[j] = whole_at(args[0], i) + k * whole_at(args[2], i);
	return finish_lists(call, args, 3, n_rows, NK_STEAL(room), NK_STEAL(items), out, err);
}

static nk_status bind_int_ranges(nk_bind *bind, nk_error *err)
{
	for (int i = 0; i < 3; i++) {
		if (!nk_type_is_numeric(bind->args[i].dtype->id) && bind->args[i].dtype->id != NK_TYPE_NULL)
			return nk_fail(err, NK_INVALID_OPERATION, "`int_ranges` takes integers, got `%s`",
			               nk_dtype_short_name(bind->args[i].dtype));
		bind->casts[i] = nk_dtype_of(NK_TYPE_INT64);
	}
	bind->dtype = nk_dtype_list(nk_dtype_of(NK_TYPE_INT64));
	bind->kernel = int_ranges_kernel;
	return NK_OK;
}

/* ---- linear_spaces ---- */

typedef struct space_plan {
	bool has_start, has_end; /* among the values */
	bool is_whole;           /* whole numbers under dates and times: rounded towards zero */
} space_plan;

static void fill_space(const space_plan *plan, double start, double end, int64_t n, void *to,
                       nk_physical physical)
{
	double steps = (double)(n - (plan->has_start && plan->has_end) + (!plan->has_start && !plan->has_end));
	for (int64_t k = 0; k < n; k++) {
		double part = steps > 0 ? (double)(k + !plan->has_start) / steps : 0,
			   value = start + (end - start) * part;
		if (physical == NK_PHYSICAL_F32)
			((float *)to)[k] = (float)value;
		else if (physical == NK_PHYSICAL_F64)
			((double *)to)[k] = value;
		else
			((int64_t *)to)[k] = (int64_t)value;
	}
	if (n > 1 && plan->has_start && plan->has_end && physical == NK_PHYSICAL_F64)
		((double *)to)[n - 1] = end;
}

static double number_at(const nk_array *array, int64_t i)
{
	int64_t at = nk_array_index(array, i);
	return array->physical == NK_PHYSICAL_F32   ? (double)((const float *)array->values)[at]
	       : array->physical == NK_PHYSICAL_F64 ? ((const double *)array->values)[at]
	                                            : (double)((const int64_t *)array->values)[at];
}

static nk_status linear_spaces_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows,
                                      nk_array **out, nk_error *err)
{
	const space_plan *plan = call->data;
	const nk_dtype *item = call->dtype->fields[0].dtype;
	NK_AUTO(nk_buffer) room = NULL;
	NK_AUTO(nk_array) items = NULL;
	NK_TRY(new_offsets(call, n_rows, &room, err));
	int64_t *offsets = (int64_t *)(void *)room->bytes;
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t n = are_valid(args, 3, i) ? whole_at(args[2], i) : 0;
		if (n < 0)
			return nk_fail(err, NK_COMPUTE, "could not parse value '%lld' as a size.", (long long)n);
		NK_TRY(next_offset(call, offsets, i, n, err));
	}
	NK_TRY(nk_array_alloc(call->memory, item, item->physical, offsets[n_rows], false, &items, err));
	char *to = nk_array_values(items);
	for (int64_t i = 0; i < n_rows; i++)
		if (offsets[i + 1] > offsets[i])
			fill_space(plan, number_at(args[0], i), number_at(args[1], i), offsets[i + 1] - offsets[i],
			           to + offsets[i] * nk_physical_size(item->physical), item->physical);
	return finish_lists(call, args, 3, n_rows, NK_STEAL(room), NK_STEAL(items), out, err);
}

static nk_status bind_linear_spaces(nk_bind *bind, nk_error *err)
{
	const nk_dtype *start = bind->args[0].dtype, *end = bind->args[1].dtype,
				   *item = nk_dtype_of(NK_TYPE_FLOAT64);
	const char *closed = bind->options[0].string;
	bool numbers = nk_type_is_numeric(start->id) && nk_type_is_numeric(end->id);
	if (start->id == NK_TYPE_FLOAT32 && end->id == NK_TYPE_FLOAT32)
		item = start;
	if (!numbers && start == end &&
	    (start->id == NK_TYPE_DATETIME || start->id == NK_TYPE_DURATION || start->id == NK_TYPE_TIME))
		item = start;
	else if (!numbers && start == end && start->id == NK_TYPE_DATE)
		item = nk_dtype_datetime(NK_UNIT_US, NULL);
	else if (!numbers)
		return nk_fail(err, NK_INVALID_OPERATION, "'start' and 'end' have incompatible dtypes, got %s and %s",
		               start->text, end->text);
	if (!nk_type_is_integer(bind->args[2].dtype->id) && bind->args[2].dtype->id != NK_TYPE_NULL)
		return nk_fail(err, NK_INVALID_OPERATION, "`num_samples` must be an integer, got `%s`",
		               nk_dtype_short_name(bind->args[2].dtype));
	space_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	bool both = strcmp(closed, "both") == 0;
	*plan = (space_plan){both || strcmp(closed, "left") == 0, both || strcmp(closed, "right") == 0, !numbers};
	bind->casts[0] = bind->casts[1] = item;
	bind->casts[2] = nk_dtype_of(NK_TYPE_INT64);
	bind->dtype = nk_dtype_list(item);
	bind->data = plan;
	bind->kernel = linear_spaces_kernel;
	return NK_OK;
}

/* ---- repeat_by ---- */

static nk_status repeat_by_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                  nk_error *err)
{
	NK_AUTO(nk_buffer) room = NULL;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_AUTO(nk_array) flat = NULL;
	NK_AUTO(nk_array) items = NULL;
	NK_TRY(new_offsets(call, n_rows, &room, err));
	int64_t *offsets = (int64_t *)(void *)room->bytes;
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t n = nk_array_is_valid(args[1], i) ? whole_at(args[1], i) : 0;
		if (n < 0)
			return nk_fail(err, NK_COMPUTE, "`repeat_by` cannot repeat a value %lld times", (long long)n);
		NK_TRY(next_offset(call, offsets, i, n, err));
	}
	NK_TRY(nk_array_flatten(call->memory, args[0], &flat, err));
	NK_TRY(nk_buffer_new(call->memory, offsets[n_rows] * (int64_t)sizeof(int64_t) + 8, &rows, err));
	int64_t *to = (int64_t *)(void *)rows->bytes;
	for (int64_t i = 0; i < n_rows; i++)
		for (int64_t j = offsets[i]; j < offsets[i + 1]; j++)
			to[j] = i;
	NK_TRY(nk_array_take_wide(call->memory, flat, to, offsets[n_rows], &items, err));
	return finish_lists(call, args + 1, 1, n_rows, NK_STEAL(room), NK_STEAL(items), out, err);
}

static nk_status bind_repeat_by(nk_bind *bind, nk_error *err)
{
	if (!nk_type_is_integer(bind->args[1].dtype->id) && bind->args[1].dtype->id != NK_TYPE_NULL)
		return nk_fail(err, NK_INVALID_OPERATION, "`by` of `repeat_by` must be an integer, got `%s`",
		               nk_dtype_short_name(bind->args[1].dtype));
	bind->casts[1] = nk_dtype_of(NK_TYPE_INT64);
	bind->dtype = nk_dtype_list(bind->args[0].dtype);
	bind->kernel = repeat_by_kernel;
	return NK_OK;
}

static const nk_option_spec closed_options[] = {
	{"closed", {.kind = NK_OPTION_STRING, .string = "both"}},
	{0},
};

const nk_func nk__funcs_ranges[] = {
	{
		.name = "int_ranges",
		.args = "start, end, step",
		.doc = "For each row the integers from start on, before end, step apart, as List(Int64). Fails with "
			   "InvalidOperationError for a step of zero.",
		.example = "int_ranges([0, null], [3, 3], [1, 1]) == [[0, 1, 2], null]",
		.min_args = 3,
		.max_args = 3,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_int_ranges,
	},
	{
		.name = "linear_spaces",
		.args = "start, end, num_samples",
		.doc = "For each row so many values at equal distances from start to end, as lists of Float64, "
			   "Float32 of two Float32, "
			   "or of the dtype of dates and times.",
		.example = "linear_spaces([0], [2], [3]) == [[0.0, 1.0, 2.0]]",
		.options = closed_options,
		.min_args = 3,
		.max_args = 3,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_linear_spaces,
	},
	{
		.name = "repeat_by",
		.args = "x, by",
		.doc = "Lists that hold a value as often as another column says; null where that is null.",
		.example = "repeat_by([7, 8], [2, null]) == [[7, 7], null]",
		.min_args = 2,
		.max_args = 2,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_repeat_by,
	},
	{0},
};
