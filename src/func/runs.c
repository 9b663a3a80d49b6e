/* Runs of equal neighbouring values: rle gives length and value of each, rle_id numbers them from 0 within a
 * group. Nulls are equal to one another here, and so are NaNs. */
#include "compute/compare.h"
#include "compute/select.h"
#include "func/ordered.h"

static inline bool same_as_before(const nk_array *array, int64_t row)
{
	return array->physical == NK_PHYSICAL_NONE || nk_rows_equal(array, row - 1, array, row);
}

static nk_status rle_id(const nk_call *call, nk_array *const *args, int64_t n_groups, const int64_t *offsets,
                        nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &array, err));
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, offsets[n_groups], false, out, err));
	uint32_t *ids = nk_array_values(*out);
	for (int64_t g = 0; g < n_groups; g++) {
		uint32_t id = 0;
		for (int64_t i = offsets[g]; i < offsets[g + 1]; i++) {
			id += i > offsets[g] && !same_as_before(array, i);
			ids[i] = id;
		}
	}
	return NK_OK;
}

static nk_status bind_rle_id(nk_bind *bind, nk_error *err)
{
	(void)err;
	bind->dtype = nk_dtype_of(NK_TYPE_UINT32);
	bind->segmented = rle_id;
	return NK_OK;
}

static nk_status rle(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                     nk_error *err)
{
	NK_AUTO(nk_array) array = NULL, *lengths = NULL, *values = NULL;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &array, err));
	NK_TRY(nk_buffer_new(call->memory, (n_rows + 1) * (int64_t)sizeof(int64_t), &rows, err));
	int64_t *starts = (int64_t *)(void *)rows->bytes, n = 0;
	for (int64_t i = 0; i < n_rows; i++)
		if (i == 0 || !same_as_before(array, i))
			starts[n++] = i;
	starts[n] = n_rows;
	NK_TRY(
		nk_array_alloc(call->memory, nk_dtype_of(NK_TYPE_UINT32), NK_PHYSICAL_U32, n, false, &lengths, err));
	for (int64_t i = 0; i < n; i++)
		((uint32_t *)nk_array_values(lengths))[i] = (uint32_t)(starts[i + 1] - starts[i]);
	NK_TRY(nk_array_take_wide(call->memory, array, starts, n, &values, err));
	nk_array *fields[2] = {NK_STEAL(lengths), NULL};
	nk_status status = nk_array_flatten(call->memory, values, &fields[1], err);
	if (status != NK_OK) {
		nk_array_unref(fields[0]);
		return status;
	}
	return nk_array_new_struct(call->dtype, n, fields, NULL, 0, out, err);
}

static nk_status bind_rle(nk_bind *bind, nk_error *err)
{
	nk_field fields[2] = {{"len", nk_dtype_of(NK_TYPE_UINT32)}, {"value", bind->args[0].dtype}};
	bind->dtype = nk_dtype_struct(fields, 2);
	if (!bind->dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	bind->kernel = rle;
	return NK_OK;
}

const nk_func nk__funcs_runs[] = {
	{
		.name = "rle",
		.args = "x",
		.doc = "Runs of equal values: a Struct of \"len\" (UInt32) and \"value\". Nulls are a value, and so "
			   "is NaN.",
		.example = "rle([5, 5, null]) == Struct{\"len\": UInt32, \"value\": Int64}[{2, 5}, {1, null}]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_rle,
	},
	{
		.name = "rle_id",
		.args = "x",
		.doc = "The number of the run of equal values that each row is in, from 0, UInt32.",
		.example = "rle_id([5, 5, null, 5]) == [0, 0, 1, 2]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_rle_id,
	},
	{0},
};
