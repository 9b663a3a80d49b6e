/* Nulls and NaNs: is_null, is_not_null, is_nan, is_not_nan, is_finite, is_infinite, fill_null, fill_nan, coalesce,
 * when, drop_nulls. Choices between arguments are blends by a bitmap; supertypes say what the arguments are cast to
 * first. */
#include "compute/blend.h"
#include "compute/select.h"
#include "func/func.h"
#include "func/supertype.h"
#include "func/words.h"

/* ---- Validity as values ---- */

static nk_status validity_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	bool wants_null = *(const bool *)call->data;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, false, &result, err));
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t rows = n_rows - i < 64 ? ((uint64_t)1 << (n_rows - i)) - 1 : UINT64_MAX;
		uint64_t valid = nk__valid_word(args[0], i, n_rows);
		nk__put_word(nk_array_values(result), i, n_rows, wants_null ? rows & ~valid : valid);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_validity(nk_bind *bind, bool wants_null)
{
	static const bool flags[] = {false, true};
	bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
	bind->data = &flags[wants_null];
	bind->kernel = validity_kernel;
	return NK_OK;
}

static nk_status bind_is_null(nk_bind *bind, nk_error *err)
{
	(void)err;
	return bind_validity(bind, true);
}

static nk_status bind_is_not_null(nk_bind *bind, nk_error *err)
{
	(void)err;
	return bind_validity(bind, false);
}

/* ---- Classes of floats ---- */

typedef enum float_class { NAN_VALUES, NOT_NAN, FINITE, INFINITE } float_class;
static const float_class classes[] = {NAN_VALUES, NOT_NAN, FINITE, INFINITE};

static inline bool belongs(double value, float_class class)
{
	bool nan = value != value, infinite = __builtin_fabs(value) == __builtin_inf();
	return class == NAN_VALUES ? nan
	       : class == NOT_NAN  ? !nan
	       : class == INFINITE ? infinite
	                           : !nan && !infinite;
}

static inline __attribute__((always_inline)) void classify(uint8_t *bits, const nk_array *array,
                                                           int64_t n_rows, float_class class)
{
	const float *floats = array->values;
	const double *doubles = array->values;
	bool narrow = array->physical == NK_PHYSICAL_F32;
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t word = 0;
		for (int64_t j = i; j < n_rows && j < i + 64; j++) {
			int64_t at = nk_array_index(array, j);
			word |= (uint64_t)belongs(narrow ? (double)floats[at] : doubles[at], class) << (j - i);
		}
		nk__put_word(bits, i, n_rows, word);
	}
}

static nk_status class_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	float_class class = *(const float_class *)call->data;
	NK_AUTO(nk_array) result = NULL;
	if (args[0]->physical == NK_PHYSICAL_NONE)
		return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, false, &result, err));
	if (nk_type_is_float(args[0]->dtype->id))
		classify(nk_array_values(result), args[0], n_rows, class);
	else
		nk_bitmap_fill(nk_array_values(result), 0, n_rows, class == NOT_NAN || class == FINITE);
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status refuse(const nk_bind *bind, nk_error *err)
{
	return nk_fail(err, NK_INVALID_OPERATION, "`%s` operation not supported for dtype `%s`", bind->func->name,
	               nk_dtype_short_name(bind->args[0].dtype));
}

static bool is_plain_number(const nk_dtype *dtype)
{
	return nk_type_is_integer(dtype->id) || nk_type_is_float(dtype->id) || dtype->id == NK_TYPE_NULL;
}

static nk_status bind_class(nk_bind *bind, float_class class, nk_error *err)
{
	if (!is_plain_number(bind->args[0].dtype))
		return refuse(bind, err);
	bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
	bind->data = &classes[class];
	bind->kernel = class_kernel;
	return NK_OK;
}

static nk_status bind_is_nan(nk_bind *bind, nk_error *err) { return bind_class(bind, NAN_VALUES, err); }
static nk_status bind_is_not_nan(nk_bind *bind, nk_error *err) { return bind_class(bind, NOT_NAN, err); }
static nk_status bind_is_finite(nk_bind *bind, nk_error *err) { return bind_class(bind, FINITE, err); }
static nk_status bind_is_infinite(nk_bind *bind, nk_error *err) { return bind_class(bind, INFINITE, err); }

/* ---- Choices ---- */

static nk_status when_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	NK_AUTO(nk_buffer) bits = NULL;
	NK_TRY(nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), &bits, err));
	for (int64_t i = 0; i < n_rows; i += 64)
		nk__put_word(bits->bytes, i, n_rows,
		             nk__true_word(args[0], i, n_rows) & nk__valid_word(args[0], i, n_rows));
	return nk_blend(call->memory, call->dtype, bits->bytes, args[1], args[2], n_rows, out, err);
}

static nk_status bind_when(nk_bind *bind, nk_error *err)
{
	const nk_dtype *predicate = bind->args[0].dtype;
	if (predicate->id != NK_TYPE_BOOLEAN && predicate->id != NK_TYPE_NULL)
		return nk_fail(err, NK_INVALID_OPERATION, "invalid predicate in `when`: expected bool, got %s",
		               nk_dtype_short_name(predicate));
	const nk_dtype *meet = nk_supertype_of_arguments(&bind->args[1], &bind->args[2], &bind->cast_is_lossy);
	if (!meet)
		return nk_supertype_fail(bind->args[1].dtype, bind->args[2].dtype, err);
	bind->casts[0] = nk_dtype_of(NK_TYPE_BOOLEAN);
	bind->cast_is_lossy = false; /* a value that the supertype cannot hold fails */
	bind->dtype = bind->casts[1] = bind->casts[2] = meet;
	bind->kernel = when_kernel;
	return NK_OK;
}

/* The first valid value among n arguments. */
static nk_status first_valid(const nk_call *call, nk_array *const *args, int n_args, int64_t n_rows,
                             nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) result = nk_array_ref(args[0]);
	NK_AUTO(nk_buffer) bits = NULL;
	for (int k = 1; k < n_args && nk__may_have_nulls(result); k++) {
		if (!bits)
			NK_TRY(nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), &bits, err));
		for (int64_t i = 0; i < n_rows; i += 64)
			nk__put_word(bits->bytes, i, n_rows, nk__valid_word(result, i, n_rows));
		nk_array *next = NULL;
		NK_TRY(nk_blend(call->memory, call->dtype, bits->bytes, result, args[k], n_rows, &next, err));
		nk_array_unref(result);
		result = next;
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status coalesce_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	return first_valid(call, args, *(const int *)call->data, n_rows, out, err);
}

static nk_status bind_coalesce(nk_bind *bind, nk_error *err)
{
	nk_argument meet = bind->args[0];
	for (int i = 1; i < bind->n_args; i++) {
		const nk_dtype *next = nk_supertype_of_arguments(&meet, &bind->args[i], &bind->cast_is_lossy);
		if (!next)
			return nk_supertype_fail(meet.dtype, bind->args[i].dtype, err);
		meet = nk_argument_meet(&meet, &bind->args[i], next);
	}
	int *n_args;
	NK_TRY(NK_ARENA_NEW(bind->arena, &n_args, 1, err));
	*n_args = bind->n_args;
	bind->cast_is_lossy = false; /* a value that the supertype cannot hold fails */
	for (int i = 0; i < bind->n_args && i < NK_MAX_CASTS; i++)
		bind->casts[i] = meet.dtype;
	bind->dtype = meet.dtype;
	bind->data = n_args;
	bind->kernel = coalesce_kernel;
	return NK_OK;
}

/* Stricter than coalesce about what a bare number may fill, and about values that the result does not hold. */
static nk_status bind_fill_null(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	const nk_argument *value = &bind->args[1];
	bool lossy = false;
	bool is_number = value->is_untyped && nk_type_is_numeric(value->dtype->id);
	if (is_number &&
	    (nk_type_is_temporal(dtype->id) || !nk_supertype_of_arguments(&bind->args[0], value, &lossy)))
		return nk_fail(err, NK_INVALID_OPERATION, "cannot fill %s with %s", nk_dtype_short_name(dtype),
		               nk_dtype_short_name(value->dtype));
	NK_TRY(bind_coalesce(bind, err));
	bind->cast_is_lossy |= bind->dtype->id == NK_TYPE_ENUM; /* a text that is no category fills nothing */
	return NK_OK;
}

static nk_status fill_nan_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	if (!nk_type_is_float(call->dtype->id)) {
		*out = nk_array_ref(args[0]);
		return NK_OK;
	}
	NK_AUTO(nk_buffer) bits = NULL;
	NK_TRY(nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), &bits, err));
	classify(bits->bytes, args[0], n_rows, NAN_VALUES);
	for (int64_t i = 0; i < n_rows; i += 64)
		nk__put_word(bits->bytes, i, n_rows,
		             nk_bitmap_word(bits->bytes, i, n_rows) & nk__valid_word(args[0], i, n_rows));
	return nk_blend(call->memory, call->dtype, bits->bytes, args[1], args[0], n_rows, out, err);
}

static nk_status bind_fill_nan(nk_bind *bind, nk_error *err)
{
	if (!is_plain_number(bind->args[0].dtype) || !is_plain_number(bind->args[1].dtype))
		return refuse(bind, err);
	bind->dtype = bind->args[0].dtype;
	if (nk_type_is_float(bind->dtype->id)) {
		bind->dtype = nk_supertype_of_arguments(&bind->args[0], &bind->args[1], &bind->cast_is_lossy);
		bind->casts[0] = bind->casts[1] = bind->dtype;
	}
	bind->kernel = fill_nan_kernel;
	return NK_OK;
}

static nk_status drop_nulls_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                   nk_error *err)
{
	nk_array *array = args[0];
	if (!nk__may_have_nulls(array)) {
		*out = nk_array_ref(array);
		return NK_OK;
	}
	if (array->encoding == NK_CONSTANT || array->physical == NK_PHYSICAL_NONE)
		return nk_array_slice(call->memory, array, 0, nk_array_is_valid(array, 0) ? n_rows : 0, out, err);
	NK_AUTO(nk_array) mask = NULL;
	NK_AUTO(nk_array) kept = NULL;
	NK_AUTO(nk_buffer) bits = NULL;
	NK_TRY(nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), &bits, err));
	memcpy(bits->bytes, array->validity, (size_t)nk_bitmap_bytes(n_rows));
	NK_TRY(nk_array_new_flat(nk_dtype_of(NK_TYPE_BOOLEAN), NK_PHYSICAL_BOOL, n_rows, NK_STEAL(bits), NULL, 0,
	                         NULL, &mask, err));
	NK_TRY(nk_array_filter(call->memory, array, mask, &kept, err));
	return nk_array_with_validity(kept, NULL, 0, out, err);
}

static nk_status bind_drop_nulls(nk_bind *bind, nk_error *err)
{
	(void)err;
	bind->dtype = bind->args[0].dtype;
	bind->kernel = drop_nulls_kernel;
	return NK_OK;
}

const nk_func nk__funcs_null[] = {
	{
		.name = "is_null",
		.args = "x",
		.doc = "Whether the value is missing. NaN is a value.",
		.example = "is_null([1, null]) == [false, true]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_is_null,
	},
	{
		.name = "is_not_null",
		.args = "x",
		.doc = "Whether there is a value.",
		.example = "is_not_null([1, null]) == [true, false]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_is_not_null,
	},
	{
		.name = "is_nan",
		.args = "x",
		.doc = "Whether a number is NaN; integers never are. Null stays null.",
		.example = "is_nan([1.0, null]) == [false, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_is_nan,
	},
	{
		.name = "is_not_nan",
		.args = "x",
		.doc = "Whether a number is something else than NaN. Null stays null.",
		.example = "is_not_nan([1.0, null]) == [true, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_is_not_nan,
	},
	{
		.name = "is_finite",
		.args = "x",
		.doc = "Whether a number is neither infinite nor NaN. Null stays null.",
		.example = "is_finite([1.0, null]) == [true, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_is_finite,
	},
	{
		.name = "is_infinite",
		.args = "x",
		.doc = "Whether a number is infinite. Null stays null.",
		.example = "is_infinite([1.0, null]) == [false, null]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_is_infinite,
	},
	{
		.name = "fill_null",
		.args = "x, value",
		.doc = "x with its nulls replaced by value, in the dtype both meet in.",
		.example = "fill_null([1, null], 0) == [1, 0]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_fill_null,
	},
	{
		.name = "fill_nan",
		.args = "x, value",
		.doc = "x with its NaNs replaced by value (null is allowed); integers come back as they are.",
		.example = "fill_nan([1.5, null], 0.0) == [1.5, null]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_fill_nan,
	},
	{
		.name = "coalesce",
		.expands_selectors = true,
		.args = "x, *more",
		.doc = "The first value of the row that is not null, in the arguments' supertype.",
		.example = "coalesce([null, 1], [2, 3]) == [2, 1]",
		.min_args = 1,
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_coalesce,
	},
	{
		.name = "when",
		.args = "predicate, then, otherwise",
		.doc =
			"`then` where the predicate is true, else (null included) `otherwise`, in the supertype of both.",
		.example = "when([true, null], [1, 2], [3, 4]) == [1, 4]",
		.min_args = 3,
		.max_args = 3,
		.nulls = NK_NULLS_SEEN,
		.bends = true,
		.bind = bind_when,
	},
	{
		.name = "drop_nulls",
		.args = "x",
		.doc = "The values that are not null, in order.",
		.example = "drop_nulls([1, null, 2]) == [1, 2]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.bends = true,
		.bind = bind_drop_nulls,
	},
	{0},
};
