/* Whole columns in another order or length: sort, arg_sort, unique, reverse, head, tail, slice. Each is positions and a
 * gather, or a slice. */
#include "compute/group_table.h"
#include "compute/select.h"
#include "compute/sort.h"
#include "func/func.h"

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
	NK_TRY(nk_sort_rows(call->memory, call->parallel, args, &key, 1, n_rows, nk_array_values(rows), err));
	*out = NK_STEAL(rows);
	return NK_OK;
}

static nk_status sort_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	(void)n_rows;
	nk_sort_key key = {call->options[0].boolean, call->options[1].boolean};
	return nk_sort_array(call->memory, call->parallel, args[0], key, out, err);
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
	(void)err;
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

/* ---- reverse ---- */

static nk_status reverse_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(int64_t), &rows, err));
	for (int64_t i = 0; i < n_rows; i++)
		((int64_t *)rows->bytes)[i] = n_rows - 1 - i;
	return nk_array_take_wide(call->memory, args[0], (int64_t *)rows->bytes, n_rows, out, err);
}

static nk_status bind_reverse(nk_bind *bind, nk_error *err)
{
	(void)err;
	return bind_same(bind, reverse_kernel);
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

static const nk_option_spec slice_options[] = {
	{"offset", {.kind = NK_OPTION_INT}},
	{"length", {.kind = NK_OPTION_INT, .integer = INT64_MAX}},
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
		.bends = true,
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
		.bends = true,
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
		.bends = true,
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
		.bends = true,
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
		.bends = true,
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
		.bends = true,
		.bind = bind_reverse,
	},
	{0},
};
