/* Where a value is: index_of and search_sorted, and values that stand for others: replace and replace_strict. */
#include <string.h>

#include "compute/compare.h"
#include "compute/group_table.h"
#include "compute/select.h"
#include "func/func.h"
#include "func/supertype.h"
#include "func/words.h"

/* ---- index_of ---- */

static nk_status index_of_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	int64_t found = -1;
	bool is_null = args[1]->n_rows == 0 || !nk_array_is_valid(args[1], 0);
	n_rows = args[0]->n_rows;
	for (int64_t i = 0; i < n_rows && found < 0; i++)
		if (is_null ? !nk_array_is_valid(args[0], i)
		            : nk_array_is_valid(args[0], i) && nk_rows_equal(args[0], i, args[1], 0))
			found = i;
	if (found < 0)
		return nk_array_new_null(call->memory, call->dtype, 1, out, err);
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, 1, false, out, err));
	*(uint32_t *)nk_array_values(*out) = (uint32_t)found;
	return NK_OK;
}

/* The element comes to the dtype of the column: another one could not be found. */
static nk_status bind_index_of(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype, *element = bind->args[1].dtype;
	bool fits = element == dtype || (nk_type_is_category(dtype->id) && element->id == NK_TYPE_STRING) ||
	            element->id == NK_TYPE_NULL ||
	            (nk_type_is_integer(element->id) && nk_type_is_numeric(dtype->id)) ||
	            (nk_type_is_float(element->id) && nk_type_is_float(dtype->id)) ||
	            (element->id == dtype->id && nk_supertype(element, dtype) == dtype);
	if (!fits || nk_type_is_nested(dtype->id))
		return nk_fail(err, NK_INVALID_OPERATION, "cannot cast losslessly from %s to %s",
		               nk_dtype_short_name(element), nk_dtype_short_name(dtype));
	bind->casts[1] = dtype;
	bind->dtype = nk_dtype_of(NK_TYPE_UINT32);
	bind->kernel = index_of_kernel;
	return NK_OK;
}

/* ---- search_sorted ---- */

typedef enum side { ANY, LEFT, RIGHT } side;

/* The order of a row of the column against a wanted value: nulls lie at the end where the column's first row, or its
 * last, is null. */
static int order_of(const nk_array *column, int64_t row, const nk_array *wanted, int64_t i, bool descending,
                    bool nulls_last)
{
	bool has = nk_array_is_valid(column, row), wants = nk_array_is_valid(wanted, i);
	if (has && wants)
		return nk_rows_compare(column, row, wanted, i) * (descending ? -1 : 1);
	if (has == wants)
		return 0;
	return has == nulls_last ? -1 : 1;
}

static nk_status search_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	(void)n_rows;
	side where = *(const side *)call->data;
	bool descending = call->options[1].boolean;
	const nk_array *column = args[0];
	int64_t n = column->n_rows, n_wanted = args[1]->n_rows;
	bool nulls_last = n > 0 && !nk_array_is_valid(column, n - 1) && nk_array_is_valid(column, 0);
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, n_wanted, false, &result, err));
	for (int64_t i = 0; i < n_wanted; i++) {
		int64_t from = 0, to = n;
		while (from < to) {
			int64_t middle = from + (to - from) / 2;
			int order = order_of(column, middle, args[1], i, descending, nulls_last);
			if (order < 0 || (order == 0 && where == RIGHT))
				from = middle + 1;
			else
				to = middle;
		}
		((uint32_t *)nk_array_values(result))[i] = (uint32_t)from;
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_search(nk_bind *bind, nk_error *err)
{
	static const side sides[] = {ANY, LEFT, RIGHT};
	const char *text = bind->options[0].string;
	bool lossy = false;
	const nk_dtype *column = bind->args[0].dtype, *wanted = bind->args[1].dtype;
	const nk_dtype *meet = nk_supertype_of_arguments(&bind->args[0], &bind->args[1], &lossy);
	if (!meet || nk_type_is_nested(meet->id) ||
	    ((column->id == NK_TYPE_STRING) != (wanted->id == NK_TYPE_STRING) && column->id != NK_TYPE_NULL &&
	     wanted->id != NK_TYPE_NULL) ||
	    (column != wanted && (nk_type_is_category(column->id) || nk_type_is_category(wanted->id))))
		return nk_fail(err, NK_INVALID_OPERATION,
		               "got invalid or ambiguous dtypes: '[%s, %s]' in expression 'search_sorted'",
		               nk_dtype_short_name(column), nk_dtype_short_name(wanted));
	bind->casts[0] = bind->casts[1] = meet;
	bind->data = &sides[strcmp(text, "left") == 0 ? LEFT : strcmp(text, "right") == 0 ? RIGHT : ANY];
	bind->dtype = nk_dtype_of(NK_TYPE_UINT32);
	bind->kernel = search_kernel;
	return NK_OK;
}

/* ---- replace, replace_strict ---- */

/* The items of row 0 of a List. */
static nk_status items_of(nk_memory *memory, const nk_array *list, nk_array **out, nk_error *err)
{
	const int64_t *offsets = list->values;
	if (list->n_rows == 0)
		return nk_array_slice(memory, list->children[0], 0, 0, out, err);
	return nk_array_slice(memory, list->children[0], offsets[0], offsets[1] - offsets[0], out, err);
}

/* For each row the position of its value among the old ones, or UINT32_MAX. */
static nk_status find_old(const nk_call *call, nk_array *x, nk_array *old, int64_t n_rows,
                          uint32_t *positions, nk_error *err)
{
	NK_AUTO(nk_group_table) table = NULL;
	NK_AUTO(nk_buffer) room = NULL;
	NK_AUTO(nk_array) flat = NULL;
	NK_TRY(nk_group_table_new(call->memory, &old->dtype, 1, old->n_rows, &table, err));
	NK_TRY(nk_buffer_new(call->memory, old->n_rows * (int64_t)sizeof(uint32_t) + 8, &room, err));
	if (old->n_rows)
		NK_TRY(nk_group_table_insert(table, &old, old->n_rows, (uint32_t *)(void *)room->bytes, err));
	if (nk_group_table_n_groups(table) != old->n_rows)
		return nk_fail(err, NK_INVALID_OPERATION, "`old` input for `replace` must not contain duplicates");
	NK_TRY(nk_array_flatten(call->memory, x, &flat, err));
	return n_rows ? nk_group_table_find(table, &flat, n_rows, positions, err) : NK_OK;
}

/* Rows come from one array of the new values, then the default or x itself. */
static nk_status replace_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	const bool *plan = call->data; /* strict; has a default */
	NK_AUTO(nk_array) old = NULL;
	NK_AUTO(nk_array) new = NULL;
	NK_AUTO(nk_array) both = NULL;
	NK_AUTO(nk_buffer) found = NULL;
	NK_AUTO(nk_buffer) rows = NULL;
	for (int i = 1; i <= 2; i++)
		if ((args[i]->encoding != NK_CONSTANT && args[i]->n_rows != 1) || !nk_array_is_valid(args[i], 0))
			return nk_fail(err, NK_INVALID_OPERATION, "`%s` takes one list of old and one of new values",
			               call->func->name);
	NK_TRY(items_of(call->memory, args[1], &old, err));
	NK_TRY(items_of(call->memory, args[2], &new, err));
	int64_t n_old = old->n_rows, n_new = new->n_rows;
	if (n_new != n_old && n_new != 1)
		return nk_fail(err, NK_INVALID_OPERATION,
		               "`new` input for `replace` must have the same length as `old` or have length 1");
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(uint32_t) + 64, &found, err));
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(int64_t) + 64, &rows, err));
	uint32_t *positions = (uint32_t *)(void *)found->bytes;
	int64_t *to = (int64_t *)(void *)rows->bytes;
	NK_TRY(find_old(call, args[0], old, n_rows, positions, err));
	nk_array *rest = plan[1] ? args[3] : plan[0] ? NULL : args[0];
	for (int64_t i = 0; i < n_rows; i++) {
		bool is_known = positions[i] != UINT32_MAX;
		if (!is_known && !rest && nk_array_is_valid(args[0], i))
			return nk_fail(err, NK_INVALID_OPERATION, "incomplete mapping specified for `replace_strict`");
		to[i] = is_known ? (n_new == 1 ? 0 : positions[i]) : rest ? n_new + i : -1;
	}
	NK_AUTO(nk_array) rest_flat = NULL;
	if (rest)
		NK_TRY(nk_array_flatten(call->memory, rest, &rest_flat, err));
	nk_array *parts[] = {new, rest_flat};
	NK_TRY(nk_array_concat(call->memory, parts, rest ? 2 : 1, &both, err));
	return nk_array_take_optional(call->memory, both, to, n_rows, out, err);
}

static nk_status check_lists(const nk_bind *bind, nk_error *err)
{
	if (bind->args[1].dtype->id == NK_TYPE_LIST && bind->args[2].dtype->id == NK_TYPE_LIST)
		return NK_OK;
	return nk_fail(err, NK_INVALID_OPERATION, "`%s` takes lists of old and new values, got %s and %s",
	               bind->func->name, bind->args[1].dtype->text, bind->args[2].dtype->text);
}

static nk_status bind_replace(nk_bind *bind, nk_error *err)
{
	static const bool plan[] = {false, false};
	NK_TRY(check_lists(bind, err));
	bind->dtype = bind->args[0].dtype;
	bind->casts[1] = bind->casts[2] = nk_dtype_list(bind->dtype);
	bind->data = plan;
	bind->kernel = replace_kernel;
	return NK_OK;
}

static nk_status bind_replace_strict(nk_bind *bind, nk_error *err)
{
	static const bool plans[][2] = {{true, false}, {true, true}};
	bool has_default = bind->n_args == 4;
	NK_TRY(check_lists(bind, err));
	bind->casts[1] = nk_dtype_list(bind->args[0].dtype);
	bind->dtype = bind->args[2].dtype->fields[0].dtype;
	if (has_default) {
		bool lossy = false;
		const nk_argument new = {.dtype = bind->dtype};
		const nk_dtype *meet = nk_supertype_of_arguments(&new, &bind->args[3], &lossy);
		if (!meet)
			return nk_supertype_fail(bind->dtype, bind->args[3].dtype, err);
		bind->dtype = meet;
		bind->casts[2] = nk_dtype_list(meet);
		bind->casts[3] = meet;
	}
	bind->data = plans[has_default];
	bind->kernel = replace_kernel;
	return NK_OK;
}

static const nk_option_spec search_options[] = {
	{"side", {.kind = NK_OPTION_STRING, .string = "any"}},
	{"descending", {.kind = NK_OPTION_BOOL}},
	{0},
};

const nk_func nk__funcs_search[] = {
	{
		.name = "index_of",
		.args = "x, element",
		.doc = "Position of the first value that equals the element, UInt32; null when there is none. A null "
			   "element "
			   "looks for null.",
		.example = "index_of([5, 6, 6], [6]) == [1]",
		.min_args = 2,
		.max_args = 2,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.unaligned = true,
		.bind = bind_index_of,
	},
	{
		.name = "search_sorted",
		.args = "x, elements",
		.doc = "Where elements belong among sorted values, UInt32: side says on which side of equal ones.",
		.example = "search_sorted([1, 3, 5], [3, 4]) == [1, 2]",
		.options = search_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.unaligned = true,
		.bind = bind_search,
	},
	{
		.name = "replace",
		.args = "x, old, new",
		.doc = "Values of one list in place of those of another, in the dtype of x. Fails with "
			   "InvalidOperationError when "
			   "old values repeat, or the lists differ in length and there is not just one new value.",
		.example = "replace([1], [[1, 5]], [[7, 8]]) == [7]",
		.min_args = 3,
		.max_args = 3,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_replace,
	},
	{
		.name = "replace_strict",
		.args = "x, old, new, default",
		.doc = "As replace, in the dtype of the new values: other values become the default, or without one "
			   "fail with "
			   "InvalidOperationError.",
		.example = "replace_strict([2], [[1, 2]], [[true, false]]) == [false]",
		.min_args = 3,
		.max_args = 4,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_replace_strict,
	},
	{0},
};
