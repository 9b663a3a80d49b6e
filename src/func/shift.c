/* Rows moved within their group: shift, and what compares a row with one n before: diff, pct_change. Values
 * of fixed width move as blocks, all else by positions and a gather. */
#include "compute/arith.h"
#include "compute/select.h"
#include "func/ordered.h"
#include "func/supertype.h"
#include "func/words.h"

/* Rows [*first, *last) of segment [from, to) that get no value when rows move `by` down; the others get row
 * - by. */
static void vacated(int64_t from, int64_t to, int64_t by, int64_t *first, int64_t *last)
{
	int64_t n = to - from;
	if (by >= 0) {
		*first = from;
		*last = from + NK_MIN(by, n);
	} else {
		*first = by <= -n ? from : to + by;
		*last = to;
	}
}

static nk_status shift_by_position(nk_memory *memory, nk_array *array, int64_t n_groups,
                                   const int64_t *offsets, const int64_t *by, int step, nk_array **out,
                                   nk_error *err)
{
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(memory, array->n_rows * (int64_t)sizeof(int64_t), &rows, err));
	int64_t *to = (int64_t *)(void *)rows->bytes;
	for (int64_t g = 0; g < n_groups; g++) {
		int64_t first, last, distance = by[g * step];
		vacated(offsets[g], offsets[g + 1], distance, &first, &last);
		for (int64_t i = offsets[g]; i < offsets[g + 1]; i++)
			to[i] = i >= first && i < last ? -1 : i - distance;
	}
	return nk_array_take_optional(memory, array, to, array->n_rows, out, err);
}

/* The rows of an array moved by[g] down within segment g (by[0] in all of them when step is 0); nulls come
 * in. */
static nk_status shift_rows(nk_memory *memory, nk_array *array, int64_t n_groups, const int64_t *offsets,
                            const int64_t *by, int step, nk_array **out, nk_error *err)
{
	int64_t n_rows = array->n_rows, width = 0;
	if (array->physical != NK_PHYSICAL_NONE && array->physical != NK_PHYSICAL_BOOL &&
	    array->physical != NK_PHYSICAL_LIST && array->physical != NK_PHYSICAL_STRUCT)
		width = nk_physical_size(array->physical);
	if (!width || array->encoding != NK_FLAT)
		return shift_by_position(memory, array, n_groups, offsets, by, step, out, err);
	NK_AUTO(nk_buffer) values = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(nk_buffer_new(memory, n_rows * width, &values, err));
	NK_TRY(nk_buffer_new(memory, nk_bitmap_bytes(n_rows), &validity, err));
	memset(validity->bytes, 0xff, (size_t)validity->n_bytes);
	const char *source = array->values;
	char *target = (char *)values->bytes;
	const uint8_t *bits = nk__may_have_nulls(array) ? array->validity : NULL;
	for (int64_t g = 0; g < n_groups; g++) {
		int64_t first, last, from = offsets[g], to = offsets[g + 1], distance = by[g * step];
		if (from == to)
			continue;
		vacated(from, to, distance, &first, &last);
		memset(target + first * width, 0, (size_t)((last - first) * width));
		nk_bitmap_fill(validity->bytes, first, last - first, false);
		int64_t at = first == from ? last : from, n = (to - from) - (last - first);
		if (n <= 0)
			continue;
		memcpy(target + at * width, source + (at - distance) * width, (size_t)(n * width));
		for (int64_t i = at; bits && i < at + n; i++)
			if (!nk_bitmap_get(bits, i - distance))
				nk_bitmap_clear(validity->bytes, i);
	}
	return nk_array_new_flat(array->dtype, array->physical, n_rows, NK_STEAL(values), NK_STEAL(validity), -1,
	                         nk_heap_ref(array->heap), out, err);
}

/* ---- Distances ---- */

/* The argument n: one value for all rows, known now or a value a group later. */
static nk_status bind_distance(nk_bind *bind, nk_error *err)
{
	if (bind->n_args < 2)
		return NK_OK;
	const nk_argument *n = &bind->args[1];
	if (!n->is_scalar && !n->literal)
		return nk_fail(err, NK_SHAPE, "'n' must be a scalar value");
	if (!nk_type_is_numeric(n->dtype->id) && n->dtype->id != NK_TYPE_NULL)
		return nk_fail(err, NK_INVALID_OPERATION, "'n' of `%s` must be an integer, got `%s`",
		               bind->func->name, nk_dtype_short_name(n->dtype));
	bind->casts[1] = nk_dtype_of(NK_TYPE_INT64);
	return NK_OK;
}

/* Its values: one (step 0) or n_groups of them (step 1). n NULL: 1. */
static nk_status distances_of(const nk_call *call, nk_array *n, int64_t n_groups, const int64_t *offsets,
                              nk_buffer **owned, int *step, nk_error *err)
{
	*step = n && n->encoding != NK_CONSTANT && n_groups > 1;
	int64_t n_values = *step ? n_groups : 1;
	NK_AUTO(nk_buffer) values = NULL;
	NK_TRY(nk_buffer_new_zeroed(call->memory, n_values * (int64_t)sizeof(int64_t), &values, err));
	if (!n)
		*(int64_t *)(void *)values->bytes = 1;
	for (int64_t g = 0; n && g < n_values; g++) {
		int64_t row = n->encoding == NK_CONSTANT ? 0 : offsets[g];
		if (*step && offsets[g] == offsets[g + 1])
			continue;
		if (n->encoding != NK_CONSTANT && row >= n->n_rows)
			continue;
		if (!nk_array_is_valid(n, row))
			return nk_fail(err, NK_COMPUTE, "`%s` value 'n' must not be null", call->func->name);
		((int64_t *)(void *)values->bytes)[g] = ((const int64_t *)n->values)[row];
	}
	*owned = NK_STEAL(values);
	return NK_OK;
}

/* ---- shift ---- */

/* Where rows moved in, the fill: the rows of it beside them. */
static nk_status fill_vacated(const nk_call *call, nk_array *array, nk_array *fill, int64_t n_groups,
                              const int64_t *offsets, const int64_t *by, int step, nk_array **out,
                              nk_error *err)
{
	NK_AUTO(nk_array) flat_fill = NULL;
	NK_AUTO(nk_array) both = NULL;
	NK_AUTO(nk_buffer) rows = NULL;
	bool is_one = fill->encoding == NK_CONSTANT;
	if (is_one) {
		NK_AUTO(nk_array) one = NULL;
		NK_TRY(nk_array_new_constant(call->memory, fill, 1, &one, err));
		NK_TRY(nk_array_flatten(call->memory, one, &flat_fill, err));
	} else {
		NK_TRY(nk_array_flatten(call->memory, fill, &flat_fill, err));
	}
	NK_TRY(nk_array_concat(call->memory, (nk_array *[]){array, flat_fill}, 2, &both, err));
	NK_TRY(nk_buffer_new(call->memory, array->n_rows * (int64_t)sizeof(int64_t), &rows, err));
	int64_t *to = (int64_t *)(void *)rows->bytes;
	for (int64_t g = 0; g < n_groups; g++) {
		int64_t first, last, distance = by[g * step];
		vacated(offsets[g], offsets[g + 1], distance, &first, &last);
		for (int64_t i = offsets[g]; i < offsets[g + 1]; i++)
			to[i] = i >= first && i < last ? array->n_rows + (is_one ? 0 : i) : i - distance;
	}
	return nk_array_take_wide(call->memory, both, to, array->n_rows, out, err);
}

static const int *count_of_args(const nk_bind *bind)
{
	static const int counts[] = {0, 1, 2, 3};
	return &counts[bind->n_args];
}

/* The argument n; a call without one moves rows by one. */
static nk_array *distance_of(const nk_call *call, nk_array *const *args)
{
	return *(const int *)call->data > 1 ? args[1] : NULL;
}

static nk_status shift(const nk_call *call, nk_array *const *args, int64_t n_groups, const int64_t *offsets,
                       nk_array **out, nk_error *err)
{
	bool has_fill = *(const int *)call->data > 2;
	NK_AUTO(nk_array) array = NULL;
	NK_AUTO(nk_buffer) distances = NULL;
	int step;
	NK_TRY(distances_of(call, distance_of(call, args), n_groups, offsets, &distances, &step, err));
	const int64_t *by = (const int64_t *)(void *)distances->bytes;
	NK_TRY(nk_array_flatten(call->memory, args[0], &array, err));
	if (has_fill && array->n_rows > 0)
		return fill_vacated(call, array, args[2], n_groups, offsets, by, step, out, err);
	return shift_rows(call->memory, array, n_groups, offsets, by, step, out, err);
}

static nk_status bind_shift(nk_bind *bind, nk_error *err)
{
	NK_TRY(bind_distance(bind, err));
	bind->data = count_of_args(bind);
	bind->dtype = bind->args[0].dtype;
	if (bind->n_args == 3) {
		const nk_dtype *meet =
			nk_supertype_of_arguments(&bind->args[0], &bind->args[2], &bind->cast_is_lossy);
		if (!meet)
			return nk_supertype_fail(bind->args[0].dtype, bind->args[2].dtype, err);
		bind->cast_is_lossy |= meet->id == NK_TYPE_ENUM;
		bind->dtype = bind->casts[0] = bind->casts[2] = meet;
	}
	bind->segmented = shift;
	return NK_OK;
}

/* ---- diff ---- */

/* Whether a difference is that of the stored numbers, with nothing more to it. */
static bool is_plain(const nk_dtype *from, const nk_dtype *to)
{
	return from->physical == to->physical && (nk_type_is_integer(from->id) || nk_type_is_float(from->id) ||
	                                          from->id == NK_TYPE_DATETIME || from->id == NK_TYPE_DURATION);
}

/* One pass, without a shifted copy. */
static nk_status diff_plain(const nk_call *call, const nk_array *array, int64_t n_groups,
                            const int64_t *offsets, const int64_t *by, int step, nk_array **out,
                            nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	int64_t width = nk_physical_size(array->physical);
	nk_arith_loop *subtract = NK_ISA_TABLE(nk__arith)->binary[array->physical][NK_SUB];
	NK_TRY(nk_array_alloc(call->memory, call->dtype, array->physical, array->n_rows, true, &result, err));
	const char *from = array->values;
	char *to = nk_array_values(result);
	uint8_t *known = nk_array_validity(result);
	bool has_nulls = nk__may_have_nulls(array);
	if (has_nulls)
		memcpy(known, array->validity, (size_t)nk_bitmap_bytes(array->n_rows));
	for (int64_t g = 0; g < n_groups; g++) {
		int64_t first, last, begin = offsets[g], end = offsets[g + 1], distance = by[g * step];
		if (begin == end)
			continue;
		vacated(begin, end, distance, &first, &last);
		memset(to + first * width, 0, (size_t)((last - first) * width));
		nk_bitmap_fill(known, first, last - first, false);
		int64_t at = first == begin ? last : begin, n = (end - begin) - (last - first);
		if (n <= 0)
			continue;
		subtract(to + at * width, from + at * width, from + (at - distance) * width, n, NK_VECTOR_VECTOR);
		for (int64_t i = at; has_nulls && i < at + n; i++)
			if (!nk_bitmap_get(array->validity, i - distance))
				nk_bitmap_clear(known, i);
	}
	result->n_nulls = -1;
	*out = NK_STEAL(result);
	return NK_OK;
}

typedef struct difference {
	int n_args; /* first: see distance_of */
	nk_bind sub;
} difference;

static nk_status diff(const nk_call *call, nk_array *const *args, int64_t n_groups, const int64_t *offsets,
                      nk_array **out, nk_error *err)
{
	const nk_bind *sub = &((const difference *)call->data)->sub;
	NK_AUTO(nk_array) array = NULL;
	NK_AUTO(nk_array) before = NULL;
	NK_AUTO(nk_array) result = NULL;
	NK_AUTO(nk_buffer) distances = NULL;
	int step;
	NK_TRY(distances_of(call, distance_of(call, args), n_groups, offsets, &distances, &step, err));
	NK_TRY(nk_array_flatten(call->memory, args[0], &array, err));
	const int64_t *by = (const int64_t *)(void *)distances->bytes;
	if (is_plain(array->dtype, call->dtype))
		return diff_plain(call, array, n_groups, offsets, by, step, out, err);
	NK_TRY(shift_rows(call->memory, array, n_groups, offsets, by, step, &before, err));
	int64_t n_rows = array->n_rows;
	if (array->physical == NK_PHYSICAL_NONE || n_rows == 0)
		return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
	NK_AUTO(nk_buffer) validity = NULL;
	int64_t n_bytes = nk_bitmap_bytes(n_rows);
	NK_TRY(nk_buffer_new(call->memory, n_bytes, &validity, err));
	for (int64_t b = 0; b < n_bytes; b++)
		validity->bytes[b] =
			(before->validity ? before->validity[b] : 0xff) & (array->validity ? array->validity[b] : 0xff);
	nk_call context = {.func = sub->func,
	                   .dtype = sub->dtype,
	                   .options = sub->options,
	                   .data = sub->data,
	                   .memory = call->memory,
	                   .validity = validity->bytes};
	NK_TRY(sub->kernel(&context, (nk_array *[]){array, before}, n_rows, &result, err));
	if (result->encoding != NK_FLAT) {
		nk_array *flat;
		NK_TRY(nk_array_flatten(call->memory, result, &flat, err));
		nk_array_unref(result);
		result = flat;
	}
	for (int64_t b = 0; result->validity && b < n_bytes; b++)
		validity->bytes[b] &= result->validity[b];
	return nk_array_with_validity(result, NK_STEAL(validity), -1, out, err);
}

static nk_status bind_diff(nk_bind *bind, nk_error *err)
{
	NK_TRY(bind_distance(bind, err));
	const nk_dtype *dtype = bind->args[0].dtype;
	switch (dtype->id) {
	case NK_TYPE_UINT8: dtype = nk_dtype_of(NK_TYPE_INT16); break;
	case NK_TYPE_UINT16: dtype = nk_dtype_of(NK_TYPE_INT32); break;
	case NK_TYPE_UINT32:
	case NK_TYPE_UINT64: dtype = nk_dtype_of(NK_TYPE_INT64); break;
	default: break;
	}
	if (nk_type_is_nested(dtype->id) || nk_type_is_textual(dtype->id) || dtype->id == NK_TYPE_BOOLEAN)
		return nk__refuse_dtype(bind, err);
	difference *plan;
	nk_argument *args;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	plan->n_args = bind->n_args;
	nk_bind *sub = &plan->sub;
	NK_TRY(NK_ARENA_NEW(bind->arena, &args, 2, err));
	args[0] = args[1] = (nk_argument){.dtype = dtype};
	*sub = (nk_bind){.func = nk_func_find("sub"),
	                 .args = args,
	                 .n_args = 2,
	                 .arena = bind->arena,
	                 .grouped = bind->grouped};
	NK_TRY(sub->func->bind(sub, err));
	if (sub->casts[0] != sub->casts[1])
		return nk__refuse_dtype(bind, err);
	bind->casts[0] = sub->casts[0] ? sub->casts[0] : dtype;
	bind->cast_is_lossy = true;
	bind->dtype = sub->dtype;
	bind->data = plan;
	bind->fallible = sub->fallible;
	bind->segmented = diff;
	return NK_OK;
}

/* ---- pct_change ---- */

static nk_status pct_change(const nk_call *call, nk_array *const *args, int64_t n_groups,
                            const int64_t *offsets, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) array = NULL;
	NK_AUTO(nk_buffer) distances = NULL;
	NK_AUTO(nk_array) result = NULL;
	int step;
	nk_array *n = distance_of(call, args);
	if (n && n->encoding == NK_CONSTANT && !nk_array_is_valid(n, 0))
		return nk_array_new_null(call->memory, call->dtype, args[0]->n_rows, out, err);
	NK_TRY(distances_of(call, distance_of(call, args), n_groups, offsets, &distances, &step, err));
	NK_TRY(nk_array_flatten(call->memory, args[0], &array, err));
	NK_TRY(shift_rows(call->memory, array, n_groups, offsets, (const int64_t *)(void *)distances->bytes, step,
	                  &result, err));
	if (array->n_rows == 0) {
		*out = NK_STEAL(result);
		return NK_OK;
	}
	/* The shifted copy is ours alone: the result takes its place. */
	if (array->physical == NK_PHYSICAL_F32) {
		const float *from = array->values;
		float *to = nk_array_values(result);
		for (int64_t i = 0; i < array->n_rows; i++)
			to[i] = (from[i] - to[i]) / to[i];
	} else {
		const double *from = array->values;
		double *to = nk_array_values(result);
		for (int64_t i = 0; i < array->n_rows; i++)
			to[i] = (from[i] - to[i]) / to[i];
	}
	for (int64_t b = 0; array->validity && b < nk_bitmap_bytes(array->n_rows); b++)
		nk_array_validity(result)[b] &= array->validity[b];
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_pct_change(nk_bind *bind, nk_error *err)
{
	nk_type_id id = bind->args[0].dtype->id;
	NK_TRY(bind_distance(bind, err));
	if (nk_type_is_nested(id) || id == NK_TYPE_BINARY)
		return nk__refuse_dtype(bind, err);
	bind->dtype = bind->casts[0] = nk_dtype_of(id == NK_TYPE_FLOAT32 ? id : NK_TYPE_FLOAT64);
	bind->cast_is_lossy = true;
	bind->data = count_of_args(bind);
	bind->segmented = pct_change;
	return NK_OK;
}

const nk_func nk__funcs_shift[] = {
	{
		.name = "shift",
		.args = "x, n, fill_value",
		.doc = "The values moved n rows down (up when n is negative); rows without a value are null, or "
			   "fill_value.",
		.example = "shift([1, 2, 3], 1) == [null, 1, 2]",
		.min_args = 1,
		.max_args = 3,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.order_sensitive = true,
		.bind = bind_shift,
	},
	{
		.name = "diff",
		.args = "x, n",
		.doc = "Each value less the one n rows before. Unsigned integers become signed ones, dates and times "
			   "Durations.",
		.example = "diff([1, 4, null, 6], 1) == [null, 3, null, null]",
		.min_args = 1,
		.max_args = 2,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.order_sensitive = true,
		.bind = bind_diff,
	},
	{
		.name = "pct_change",
		.args = "x, n",
		.doc = "The change against n rows before as a share of that value: Float64, or Float32 of Float32.",
		.example = "pct_change([2.0, 3.0, null], 1) == [null, 0.5, null]",
		.min_args = 1,
		.max_args = 2,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.order_sensitive = true,
		.bind = bind_pct_change,
	},
	{0},
};
