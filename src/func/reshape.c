/* The same values in another form: Arrays of given dimensions, bits as numbers of another dtype, bytes as numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/nested.h"
#include "func/func.h"

/* ---- reshape ---- */

enum { MOST_DIMENSIONS = 32 };

typedef struct shape_plan {
	int n;
	int64_t sizes[MOST_DIMENSIONS];              /* the first one may be negative: whatever is left */
	const nk_dtype *dtypes[MOST_DIMENSIONS + 1]; /* of the values below each */
	const char *text;
} shape_plan;

static nk_status count_rows(const shape_plan *plan, int64_t n_values, int64_t *out, nk_error *err)
{
	int64_t inner = 1;
	bool has_zero = plan->sizes[0] == 0;
	for (int i = 1; i < plan->n; i++) {
		has_zero |= plan->sizes[i] == 0;
		if (__builtin_mul_overflow(inner, plan->sizes[i], &inner))
			return nk_fail(err, NK_COMPUTE, "an Array of shape (%s) is too large", plan->text);
	}
	bool infers = plan->sizes[0] < 0;
	if (n_values > 0 && has_zero)
		return nk_fail(err, NK_INVALID_OPERATION,
		               "cannot reshape non-empty array into shape containing a zero dimension: (%s)",
		               plan->text);
	if (n_values == 0 && !infers && !has_zero)
		return nk_fail(err, NK_INVALID_OPERATION,
		               "cannot reshape empty array into shape without zero dimension: (%s)", plan->text);
	*out = infers ? (inner ? n_values / inner : 0) : plan->sizes[0];
	int64_t n_wanted;
	if (__builtin_mul_overflow(*out, inner, &n_wanted) || n_wanted != n_values)
		return nk_fail(err, NK_INVALID_OPERATION, "cannot reshape array of size %lld into shape (%s)",
		               (long long)n_values, plan->text);
	return NK_OK;
}

/* The values under all lists. */
static nk_status leaf_values(nk_memory *memory, nk_array *array, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) values = nk_array_ref(array);
	while (values->dtype->physical == NK_PHYSICAL_LIST) {
		NK_LISTS(lists);
		NK_TRY(nk_lists_of(memory, values, &lists, err));
		nk_array_unref(values);
		values = nk_array_ref(lists.items);
	}
	return nk_array_flatten(memory, values, out, err);
}

static nk_status reshape_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	const shape_plan *plan = call->data;
	NK_AUTO(nk_array) made = NULL;
	(void)n_rows;
	int64_t n_arrays;
	NK_TRY(leaf_values(call->memory, args[0], &made, err));
	NK_TRY(count_rows(plan, made->n_rows, &n_arrays, err));
	for (int k = plan->n - 1; k > 0; k--) { /* from the innermost Arrays outwards */
		int64_t n = n_arrays;
		for (int i = 1; i < k; i++)
			n *= plan->sizes[i];
		NK_AUTO(nk_buffer) room = NULL;
		NK_TRY(nk_buffer_new(call->memory, (n + 1) * (int64_t)sizeof(int64_t), &room, err));
		int64_t *offsets = (int64_t *)(void *)room->bytes;
		for (int64_t i = 0; i <= n; i++)
			offsets[i] = i * plan->sizes[k];
		nk_array *outer;
		NK_TRY(nk_array_new_list(plan->dtypes[k], n, NK_STEAL(room), NK_STEAL(made), NULL, 0, &outer, err));
		made = outer;
	}
	*out = NK_STEAL(made);
	return NK_OK;
}

static nk_status bind_reshape(nk_bind *bind, nk_error *err)
{
	shape_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	const char *text = bind->options[0].string ? bind->options[0].string : "";
	int n_inferred = 0;
	for (const char *at = text; *at;) {
		char *end;
		int64_t size = strtoll(at, &end, 10);
		if (end == at || plan->n == MOST_DIMENSIONS)
			return nk_fail(err, NK_INVALID_OPERATION, "invalid dimensions (%s)", text);
		n_inferred += size < 0;
		plan->sizes[plan->n++] = size;
		at = *end == ',' ? end + 1 : end;
	}
	if (plan->n == 0)
		return nk_fail(err, NK_INVALID_OPERATION, "at least one dimension must be specified");
	if (n_inferred > 1)
		return nk_fail(err, NK_INVALID_OPERATION, "can only specify one inferred dimension");
	if (n_inferred == 1 && plan->sizes[0] >= 0)
		return nk_fail(err, NK_INVALID_OPERATION, "can only infer the first dimension");
	char shape[MOST_DIMENSIONS * 24] = "";
	int n_shape = 0;
	for (int i = 0; i < plan->n; i++)
		n_shape += plan->sizes[i] < 0 ? snprintf(shape + n_shape, sizeof shape - (size_t)n_shape,
		                                         "%sinferred", i ? ", " : "")
		                              : snprintf(shape + n_shape, sizeof shape - (size_t)n_shape, "%s%lld",
		                                         i ? ", " : "", (long long)plan->sizes[i]);
	NK_TRY(nk_arena_string(bind->arena, shape, n_shape, &plan->text, err));
	const nk_dtype *dtype = bind->args[0].dtype;
	while (dtype->physical == NK_PHYSICAL_LIST)
		dtype = dtype->fields[0].dtype;
	for (int k = plan->n - 1; k > 0; k--) {
		dtype = plan->dtypes[k] = nk_dtype_array(dtype, plan->sizes[k]);
		if (!dtype)
			return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	}
	bind->dtype = dtype;
	bind->data = plan;
	bind->kernel = reshape_kernel;
	return NK_OK;
}

/* ---- Bits and bytes ---- */

static bool is_plain(const nk_dtype *dtype)
{
	return (nk_type_is_numeric(dtype->id) && dtype->id != NK_TYPE_DECIMAL) || nk_type_is_temporal(dtype->id);
}

static nk_status reinterpret_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows,
                                    nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_rows, false, &result, err));
	size_t width = (size_t)nk_physical_size(call->dtype->physical);
	char *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++)
		memcpy(to + (size_t)i * width,
		       (const char *)args[0]->values + (size_t)nk_array_index(args[0], i) * width, width);
	*out = NK_STEAL(result);
	return NK_OK;
}

enum { SIGNED, DTYPE };

static nk_status bind_reinterpret(nk_bind *bind, nk_error *err)
{
	static const nk_type_id pairs[][2] = {{NK_TYPE_UINT8, NK_TYPE_INT8},
	                                      {NK_TYPE_UINT16, NK_TYPE_INT16},
	                                      {NK_TYPE_UINT32, NK_TYPE_INT32},
	                                      {NK_TYPE_UINT64, NK_TYPE_INT64}};
	const nk_dtype *from = bind->args[0].dtype, *to = bind->options[DTYPE].dtype;
	for (int i = 0; !to && i < NK_COUNT(pairs); i++)
		if (from->id == pairs[i][0] || from->id == pairs[i][1])
			to = nk_dtype_of(pairs[i][bind->options[SIGNED].boolean]);
	if (!to && from->id == NK_TYPE_INT128)
		to = from;
	bool fits = to && is_plain(from) && is_plain(to) &&
	            nk_physical_size(from->physical) == nk_physical_size(to->physical);
	if (!fits)
		return nk_fail(err, NK_COMPUTE, "cannot reinterpret %s as %s", nk_dtype_short_name(from),
		               to ? nk_dtype_short_name(to) : "an integer");
	bind->dtype = to;
	bind->kernel = reinterpret_kernel;
	return NK_OK;
}

static nk_status from_bytes_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                   nk_error *err)
{
	bool is_array = call->dtype->id == NK_TYPE_ARRAY, swaps = *(const bool *)call->data;
	const nk_dtype *item = is_array ? call->dtype->fields[0].dtype : call->dtype;
	int64_t n_items = is_array ? call->dtype->width : 1, width = nk_physical_size(item->physical), n_all;
	if (__builtin_mul_overflow(n_rows, n_items, &n_all))
		return nk_fail(err, NK_COMPUTE, "too many items for Arrays of width %lld", (long long)n_items);
	NK_AUTO(nk_array) items = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(nk_array_alloc(call->memory, item, item->physical, n_all, false, &items, err));
	NK_TRY(nk_buffer_new_zeroed(call->memory, nk_bitmap_bytes(n_rows), &validity, err));
	char *to = nk_array_values(items);
	memset(to, 0, (size_t)(n_all * width));
	for (int64_t i = 0; i < n_rows; i++, to += n_items * width) {
		int64_t at = nk_array_index(args[0], i);
		const nk_view *view = (const nk_view *)args[0]->values + at;
		if (!nk_array_is_valid(args[0], i) || view->n_bytes != n_items * width)
			continue;
		nk_bitmap_set(validity->bytes, i);
		memcpy(to, nk_view_bytes(view, args[0]->heap), (size_t)(n_items * width));
		for (int64_t k = 0; swaps && k < n_items * width; k += width)
			for (int64_t b = 0; b < width / 2; b++) {
				char byte = to[k + b];
				to[k + b] = to[k + width - 1 - b];
				to[k + width - 1 - b] = byte;
			}
	}
	if (!is_array)
		return nk_array_new_flat(item, item->physical, n_rows, nk_buffer_ref(items->values_buffer),
		                         NK_STEAL(validity), -1, NULL, out, err);
	NK_AUTO(nk_buffer) room = NULL;
	NK_TRY(nk_buffer_new(call->memory, (n_rows + 1) * (int64_t)sizeof(int64_t), &room, err));
	for (int64_t i = 0; i <= n_rows; i++)
		((int64_t *)(void *)room->bytes)[i] = i * n_items;
	return nk_array_new_list(call->dtype, n_rows, NK_STEAL(room), NK_STEAL(items), NK_STEAL(validity), -1,
	                         out, err);
}

static nk_status bind_from_bytes(nk_bind *bind, nk_error *err)
{
	static const bool swaps[] = {false, true};
	const nk_dtype *dtype = bind->options[0].dtype;
	const char *order = bind->options[1].string;
	if (bind->args[0].dtype->id != NK_TYPE_BINARY)
		return nk_fail(err, NK_SCHEMA_MISMATCH, "invalid series dtype: expected `Binary`, got `%s`",
		               nk_dtype_short_name(bind->args[0].dtype));
	bool is_big = strcmp(order, "big") == 0;
	if (!is_big && strcmp(order, "little") != 0)
		return nk_fail(err, NK_VALUE, "`endianness` must be one of 'little', 'big', got '%s'", order);
	if (!dtype || !is_plain(dtype->id == NK_TYPE_ARRAY ? dtype->fields[0].dtype : dtype))
		return nk_fail(
			err, NK_INVALID_OPERATION,
			"cannot reinterpret binary to dtype %s. Only numeric or temporal dtype, or an Array of "
			"these, is supported. Hint: to reinterpret to a nested Array, first reinterpret to a linear "
			"Array, and then use reshape",
			dtype ? dtype->text : "(none)");
	bind->dtype = dtype;
	bind->data = &swaps[is_big];
	bind->kernel = from_bytes_kernel;
	return NK_OK;
}

static const nk_option_spec reshape_options[] = {{"dimensions", {.kind = NK_OPTION_STRING}}, {0}};
static const nk_option_spec reinterpret_options[] = {
	{"signed", {.kind = NK_OPTION_BOOL, .boolean = true}}, {"dtype", {.kind = NK_OPTION_DTYPE}}, {0}};
static const nk_option_spec bytes_options[] = {{"dtype", {.kind = NK_OPTION_DTYPE}},
                                               {"endianness", {.kind = NK_OPTION_STRING, .string = "little"}},
                                               {0}};

const nk_func nk__funcs_reshape[] = {
	{
		.name = "reshape",
		.args = "x",
		.doc =
			"All values, those within lists too, as Arrays: rows, then the width at each depth, with commas "
			"between. A negative number of rows is whatever the values give.",
		.example = "reshape([1, 2, 3, 4], dimensions=\"2,2\") == Array(Int64, 2)[[1, 2], [3, 4]]",
		.options = reshape_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_reshape,
	},
	{
		.name = "reinterpret",
		.args = "x",
		.doc = "The same bits as an integer with or without sign, or as a number of the same width.",
		.example = "reinterpret([-1, null], signed=false) == UInt64[18446744073709551615, null]",
		.options = reinterpret_options,
		.min_args = 1,
		.max_args = 1,
		.bind = bind_reinterpret,
	},
	{
		.name = "bin.reinterpret",
		.args = "x",
		.doc = "Bytes as a number or an Array of numbers; null where their count does not fit.",
		.example = "bin.reinterpret(Binary[\"a\", null], dtype=UInt8) == UInt8[97, null]",
		.options = bytes_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_from_bytes,
	},
	{0},
};
