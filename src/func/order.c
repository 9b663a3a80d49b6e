/* Whole columns in another order or length: sort, arg_sort, unique, reverse, head, tail, slice, shift, and the
 * cumulative functions. Everything but the cumulative ones is positions and a gather, or a slice. */
#include "compute/arith.h"
#include "compute/compare.h"
#include "compute/decimal.h"
#include "compute/group_table.h"
#include "compute/select.h"
#include "compute/sort.h"
#include "func/func.h"
#include "func/words.h"

static nk_status refuse(const nk_bind *bind, nk_error *err)
{
	return nk_fail(err, NK_INVALID_OPERATION, "`%s` operation not supported for dtype `%s`", bind->func->name,
	               nk_dtype_short_name(bind->args[0].dtype));
}

static nk_status bind_same(nk_bind *bind, nk_kernel *kernel)
{
	bind->dtype = bind->args[0].dtype;
	bind->kernel = kernel;
	return NK_OK;
}

/* ---- sort, arg_sort ---- */

static nk_status sorted_rows(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	NK_AUTO(nk_array) rows = NULL;
	if (n_rows >= UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "`%s` takes at most 4294967294 rows", call->func->name);
	nk_sort_key key = {call->options[0].boolean, call->options[1].boolean};
	NK_TRY(nk_array_alloc(call->memory, nk_dtype_of(NK_TYPE_UINT32), NK_PHYSICAL_U32, n_rows, false, &rows,
	                      err));
	NK_TRY(nk_sort_rows(call->memory, args, &key, 1, n_rows, nk_array_values(rows), err));
	*out = NK_STEAL(rows);
	return NK_OK;
}

static nk_status sort_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	NK_AUTO(nk_array) rows = NULL;
	NK_TRY(sorted_rows(call, args, n_rows, &rows, err));
	return nk_array_take(call->memory, args[0], rows->values, n_rows, out, err);
}

static nk_status bind_sort(nk_bind *bind, nk_error *err)
{
	(void)err;
	return bind_same(bind, sort_kernel);
}

static nk_status bind_arg_sort(nk_bind *bind, nk_error *err)
{
	(void)err;
	bind->dtype = nk_dtype_of(NK_TYPE_UINT32);
	bind->kernel = sorted_rows;
	return NK_OK;
}

/* ---- unique ---- */

/* Rows that open a new group, in order. */
static nk_status unique_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	if (args[0]->encoding == NK_CONSTANT || args[0]->physical == NK_PHYSICAL_NONE)
		return nk_array_slice(call->memory, args[0], 0, n_rows < 1 ? n_rows : 1, out, err);
	enum { BLOCK = 4096 };
	NK_AUTO(nk_group_table) table = NULL;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_group_table_new(call->memory, &args[0]->dtype, 1, 0, &table, err));
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(int64_t), &rows, err));
	int64_t *first = (int64_t *)rows->bytes, n_known = 0;
	for (int64_t i = 0; i < n_rows; i += BLOCK) {
		int64_t n = NK_MIN(n_rows - i, (int64_t)BLOCK);
		uint32_t groups[BLOCK];
		NK_AUTO(nk_array) block = NULL;
		NK_TRY(nk_array_slice(call->memory, args[0], i, n, &block, err));
		NK_TRY(nk_group_table_insert(table, &block, n, groups, err));
		for (int64_t j = 0; j < n; j++)
			if (groups[j] == n_known)
				first[n_known++] = i + j;
	}
	return nk_array_take_wide(call->memory, args[0], first, n_known, out, err);
}

static nk_status bind_unique(nk_bind *bind, nk_error *err)
{
	if (nk_type_is_nested(bind->args[0].dtype->id))
		return refuse(bind, err);
	return bind_same(bind, unique_kernel);
}

/* ---- Slices ---- */

/* Polars' slice: a negative offset counts from the end, what lies outside is cut off. */
static nk_status cut(const nk_call *call, nk_array *array, int64_t offset, int64_t length, nk_array **out,
                     nk_error *err)
{
	int64_t n = array->n_rows;
	int64_t from = offset < 0 ? n + offset : offset,
			to = length > INT64_MAX / 2 ? INT64_MAX / 2 : from + length;
	from = from < 0 ? 0 : from > n ? n : from;
	to = to < from ? from : to > n ? n : to;
	return nk_array_slice(call->memory, array, from, to - from, out, err);
}

static nk_status head_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	int64_t n = call->options[0].integer;
	return cut(call, args[0], 0, n < 0 ? NK_MAX(n_rows + n, (int64_t)0) : n, out, err);
}

static nk_status tail_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	int64_t n = call->options[0].integer;
	n = n < 0 ? NK_MAX(n_rows + n, (int64_t)0) : NK_MIN(n, n_rows);
	return cut(call, args[0], n_rows - n, n, out, err);
}

static nk_status slice_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	(void)n_rows;
	return cut(call, args[0], call->options[0].integer, call->options[1].integer, out, err);
}

static nk_status bind_head(nk_bind *bind, nk_error *err)
{
	(void)err;
	return bind_same(bind, head_kernel);
}

static nk_status bind_tail(nk_bind *bind, nk_error *err)
{
	(void)err;
	return bind_same(bind, tail_kernel);
}

static nk_status bind_slice(nk_bind *bind, nk_error *err)
{
	if (bind->options[1].integer < 0)
		return nk_fail(err, NK_OVERFLOW, "`length` must not be negative, got %lld",
		               (long long)bind->options[1].integer);
	return bind_same(bind, slice_kernel);
}

/* ---- reverse, shift ---- */

static nk_status reverse_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(int64_t), &rows, err));
	for (int64_t i = 0; i < n_rows; i++)
		((int64_t *)rows->bytes)[i] = n_rows - 1 - i;
	return nk_array_take_wide(call->memory, args[0], (int64_t *)rows->bytes, n_rows, out, err);
}

static nk_status shift_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	int64_t by = call->options[0].integer;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(int64_t), &rows, err));
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t from;
		bool outside = __builtin_sub_overflow(i, by, &from) || from < 0 || from >= n_rows;
		((int64_t *)rows->bytes)[i] = outside ? -1 : from;
	}
	return nk_array_take_optional(call->memory, args[0], (int64_t *)rows->bytes, n_rows, out, err);
}

static nk_status bind_reverse(nk_bind *bind, nk_error *err)
{
	(void)err;
	return bind_same(bind, reverse_kernel);
}

static nk_status bind_shift(nk_bind *bind, nk_error *err)
{
	(void)err;
	return bind_same(bind, shift_kernel);
}

/* ---- Cumulative ---- */

typedef enum cumulative { CUM_SUM, CUM_PROD, CUM_MIN, CUM_MAX, CUM_COUNT } cumulative;
static const cumulative kinds[] = {CUM_SUM, CUM_PROD, CUM_MIN, CUM_MAX, CUM_COUNT};

static int64_t row_at(int64_t i, int64_t n_rows, bool reversed) { return reversed ? n_rows - 1 - i : i; }

/* Positions of the best value so far; a null stays null and counts for nothing. */
static nk_status cum_extreme(const nk_call *call, nk_array *array, int64_t n_rows, bool greatest,
                             nk_array **out, nk_error *err)
{
	bool reversed = call->options[0].boolean, is_float = nk_type_is_float(array->dtype->id);
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(int64_t), &rows, err));
	int64_t *to = (int64_t *)rows->bytes, best = -1;
	bool best_is_nan = false;
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t row = row_at(i, n_rows, reversed);
		to[row] = -1;
		if (!nk_array_is_valid(array, row))
			continue;
		double value = is_float ? nk_scalar_read(array, row).floating : 0;
		bool nan = value != value;
		int order = best < 0 ? 1 : nk_rows_compare(array, row, array, best) * (greatest ? 1 : -1);
		if (best < 0 || (best_is_nan && !nan) || (!nan && order > 0)) {
			best = row;
			best_is_nan = nan;
		}
		to[row] = best;
	}
	return nk_array_take_optional(call->memory, array, to, n_rows, out, err);
}

static nk_status cum_count(const nk_call *call, const nk_array *array, int64_t n_rows, nk_array **out,
                           nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, n_rows, false, &result, err));
	uint32_t count = 0;
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t row = row_at(i, n_rows, call->options[0].boolean);
		((uint32_t *)nk_array_values(result))[row] = count += nk_array_is_valid(array, row);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

/* Sums and products in the result's own type: the binder cast the argument to it. */
static nk_status cum_fold(const nk_call *call, nk_array *array, int64_t n_rows, bool adds, nk_array **out,
                          nk_error *err)
{
	NK_AUTO(nk_array) flat = NULL;
	NK_AUTO(nk_array) result = NULL;
	bool is_decimal = call->dtype->id == NK_TYPE_DECIMAL;
	if (is_decimal)
		NK_TRY(nk_array_widen_decimal(call->memory, array, &flat, err));
	NK_AUTO(nk_array) values = NULL;
	NK_TRY(nk_array_flatten(call->memory, flat ? flat : array, &values, err));
	nk_physical physical = values->physical;
	bool has_nulls = nk__may_have_nulls(values);
	NK_TRY(nk_array_alloc(call->memory, call->dtype, physical, n_rows, has_nulls, &result, err));
	int width = nk_physical_size(physical);
	nk_arith_loop *loop = NK_ISA_TABLE(nk__arith)->binary[physical][adds ? NK_ADD : NK_MUL];
	__int128 so_far = 0, limit = nk_power_of_ten(38);
	bool started = false;
	char *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t row = row_at(i, n_rows, call->options[0].boolean);
		const char *value = (const char *)values->values + row * width;
		if (!nk_array_is_valid(values, row)) {
			nk_bitmap_clear(nk_array_validity(result), row);
			memset(to + row * width, 0, (size_t)width);
			continue;
		}
		if (started)
			loop(&so_far, &so_far, value, 1, NK_VECTOR_VECTOR);
		else
			memcpy(&so_far, value, (size_t)width);
		started = true;
		if (is_decimal && (so_far >= limit || so_far <= -limit))
			return nk_fail(err, NK_COMPUTE, "overflow in decimal addition in %s", call->func->name);
		memcpy(to + row * width, &so_far, (size_t)width);
	}
	result->n_nulls = has_nulls ? -1 : 0;
	if (is_decimal)
		return nk_decimal_narrow(call->memory, call->dtype, NK_STEAL(result), out, err);
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status cumulative_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                   nk_error *err)
{
	cumulative kind = *(const cumulative *)call->data;
	if (kind == CUM_COUNT)
		return cum_count(call, args[0], n_rows, out, err);
	if (kind == CUM_MIN || kind == CUM_MAX)
		return cum_extreme(call, args[0], n_rows, kind == CUM_MAX, out, err);
	return cum_fold(call, args[0], n_rows, kind == CUM_SUM, out, err);
}

static nk_status bind_cumulative(nk_bind *bind, cumulative kind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype, *to = dtype;
	bool small = dtype->id == NK_TYPE_INT8 || dtype->id == NK_TYPE_INT16 || dtype->id == NK_TYPE_UINT8 ||
	             dtype->id == NK_TYPE_UINT16;
	bool wide = dtype->id == NK_TYPE_INT128 || dtype->id == NK_TYPE_UINT64 || nk_type_is_float(dtype->id);
	bool numeric = nk_type_is_numeric(dtype->id) || dtype->id == NK_TYPE_BOOLEAN;
	bind->data = &kinds[kind];
	bind->kernel = cumulative_kernel;
	switch (kind) {
	case CUM_COUNT: bind->dtype = nk_dtype_of(NK_TYPE_UINT32); return NK_OK;
	case CUM_MIN:
	case CUM_MAX:
		if (nk_type_is_nested(dtype->id) || dtype->id == NK_TYPE_NULL)
			return refuse(bind, err);
		bind->dtype = dtype;
		return NK_OK;
	case CUM_SUM:
		if (!numeric && dtype->id != NK_TYPE_DURATION)
			return refuse(bind, err);
		to = small                          ? nk_dtype_of(NK_TYPE_INT64)
		     : dtype->id == NK_TYPE_BOOLEAN ? nk_dtype_of(NK_TYPE_UINT32)
		     : dtype->id == NK_TYPE_DECIMAL ? nk_dtype_decimal(38, dtype->scale)
		                                    : dtype;
		break;
	case CUM_PROD:
		if (!numeric || dtype->id == NK_TYPE_DECIMAL)
			return refuse(bind, err);
		to = wide ? dtype : nk_dtype_of(NK_TYPE_INT64);
		break;
	}
	bind->dtype = bind->casts[0] = to;
	return NK_OK;
}

static nk_status bind_cum_sum(nk_bind *bind, nk_error *err) { return bind_cumulative(bind, CUM_SUM, err); }
static nk_status bind_cum_prod(nk_bind *bind, nk_error *err) { return bind_cumulative(bind, CUM_PROD, err); }
static nk_status bind_cum_min(nk_bind *bind, nk_error *err) { return bind_cumulative(bind, CUM_MIN, err); }
static nk_status bind_cum_max(nk_bind *bind, nk_error *err) { return bind_cumulative(bind, CUM_MAX, err); }
static nk_status bind_cum_count(nk_bind *bind, nk_error *err)
{
	return bind_cumulative(bind, CUM_COUNT, err);
}

static const nk_option_spec sort_options[] = {
	{"descending", {.kind = NK_OPTION_BOOL}},
	{"nulls_last", {.kind = NK_OPTION_BOOL}},
	{0},
};

static const nk_option_spec unique_options[] = {
	{"maintain_order", {.kind = NK_OPTION_BOOL}},
	{0},
};

static const nk_option_spec count_options[] = {
	{"n", {.kind = NK_OPTION_INT, .integer = 10}},
	{0},
};

static const nk_option_spec shift_options[] = {
	{"n", {.kind = NK_OPTION_INT, .integer = 1}},
	{0},
};

static const nk_option_spec slice_options[] = {
	{"offset", {.kind = NK_OPTION_INT}},
	{"length", {.kind = NK_OPTION_INT, .integer = INT64_MAX}},
	{0},
};

static const nk_option_spec reverse_options[] = {
	{"reverse", {.kind = NK_OPTION_BOOL}},
	{0},
};

const nk_func nk__funcs_order[] = {
	{
		.name = "sort",
		.args = "x",
		.doc = "The values in order, nulls first unless nulls_last.",
		.example = "sort([3, null, 1]) == [null, 1, 3]",
		.options = sort_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_sort,
	},
	{
		.name = "arg_sort",
		.args = "x",
		.doc = "The positions of the values in order, nulls first unless nulls_last.",
		.example = "arg_sort([3, null, 1]) == [1, 2, 0]",
		.options = sort_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_arg_sort,
	},
	{
		.name = "unique",
		.args = "x",
		.doc = "Each value once, in the order of first appearance; null counts as a value.",
		.example = "unique([3, null, 3]) == [3, null]",
		.options = unique_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_unique,
	},
	{
		.name = "head",
		.args = "x",
		.doc = "The first n values; a negative n leaves out the last ones.",
		.example = "head([1, 2, 3], n=2) == [1, 2]",
		.options = count_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_head,
	},
	{
		.name = "limit",
		.args = "x",
		.doc = "The first n values.",
		.example = "limit([1, 2, 3], n=2) == [1, 2]",
		.options = count_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_head,
	},
	{
		.name = "tail",
		.args = "x",
		.doc = "The last n values; a negative n leaves out the first ones.",
		.example = "tail([1, 2, 3], n=2) == [2, 3]",
		.options = count_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_tail,
	},
	{
		.name = "slice",
		.args = "x",
		.doc = "length values from offset on; a negative offset counts from the end.",
		.example = "slice([1, 2, 3], offset=1) == [2, 3]",
		.options = slice_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_slice,
	},
	{
		.name = "reverse",
		.args = "x",
		.doc = "The values from last to first.",
		.example = "reverse([1, 2, 3]) == [3, 2, 1]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_reverse,
	},
	{
		.name = "shift",
		.args = "x",
		.doc = "The values moved n rows down (up when negative); rows without a value are null.",
		.example = "shift([1, 2, 3]) == [null, 1, 2]",
		.options = shift_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_shift,
	},
	{
		.name = "cum_sum",
		.args = "x",
		.doc = "Sum of the values so far; a null stays null and counts for nothing.",
		.example = "cum_sum([1, null, 2]) == [1, null, 3]",
		.options = reverse_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_cum_sum,
	},
	{
		.name = "cum_prod",
		.args = "x",
		.doc = "Product of the values so far; a null stays null and counts for nothing.",
		.example = "cum_prod([2, null, 3]) == [2, null, 6]",
		.options = reverse_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_cum_prod,
	},
	{
		.name = "cum_min",
		.args = "x",
		.doc = "Least value so far; a null stays null, NaN counts only while nothing else was met.",
		.example = "cum_min([2, null, 1]) == [2, null, 1]",
		.options = reverse_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_cum_min,
	},
	{
		.name = "cum_max",
		.args = "x",
		.doc = "Greatest value so far; a null stays null, NaN counts only while nothing else was met.",
		.example = "cum_max([2, null, 1]) == [2, null, 2]",
		.options = reverse_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_cum_max,
	},
	{
		.name = "cum_count",
		.args = "x",
		.doc = "How many values there were so far, nulls left out.",
		.example = "cum_count([2, null, 1]) == [1, 1, 2]",
		.options = reverse_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_cum_count,
	},
	{0},
};
