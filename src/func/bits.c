/* Bits of values: counts of ones and zeros, runs at either end, all values combined, the same bits with another sign;
 * and hashes. */
#include "compute/hash.h"
#include "compute/select.h"
#include "func/func.h"
#include "func/words.h"

typedef enum bit_count { ONES, ZEROS, LEADING_ONES, LEADING_ZEROS, TRAILING_ONES, TRAILING_ZEROS } bit_count;
static const bit_count counts[] = {ONES, ZEROS, LEADING_ONES, LEADING_ZEROS, TRAILING_ONES, TRAILING_ZEROS};

/* The words of a value, lowest first; bits above n_bits are zero. */
static void words_of(const nk_array *array, int64_t i, int n_bits, uint64_t words[2])
{
	words[0] = words[1] = 0;
	if (array->physical == NK_PHYSICAL_BOOL)
		words[0] = nk_bitmap_get(array->values, i);
	else
		memcpy(words, (const char *)array->values + i * (n_bits / 8), (size_t)(n_bits / 8));
}

static int count_of(bit_count which, uint64_t words[2], int n_bits)
{
	int low = n_bits < 64 ? n_bits : 64, high = n_bits - low;
	if (which == ZEROS || which == LEADING_ONES || which == TRAILING_ONES) { /* the same of the complement */
		words[0] = ~words[0] & (low == 64 ? UINT64_MAX : ((uint64_t)1 << low) - 1);
		words[1] = high ? ~words[1] : 0;
	}
	if (which == ONES || which == ZEROS)
		return __builtin_popcountll(words[0]) + __builtin_popcountll(words[1]);
	if (which == TRAILING_ONES || which == TRAILING_ZEROS)
		return words[0] ? __builtin_ctzll(words[0]) : words[1] ? 64 + __builtin_ctzll(words[1]) : n_bits;
	if (words[1])
		return __builtin_clzll(words[1]);
	return high + (words[0] ? __builtin_clzll(words[0]) - (64 - low) : low);
}

static nk_status count_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	bit_count which = *(const bit_count *)call->data;
	int n_bits = args[0]->physical == NK_PHYSICAL_BOOL ? 1 : 8 * nk_physical_size(args[0]->physical);
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, n_rows, false, &result, err));
	for (int64_t i = 0; i < n_rows; i++) {
		uint64_t words[2];
		words_of(args[0], nk_array_index(args[0], i), n_bits, words);
		((uint32_t *)nk_array_values(result))[i] = (uint32_t)count_of(which, words, n_bits);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_count(nk_bind *bind, bit_count which, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	if (!nk_type_is_integer(dtype->id) && dtype->id != NK_TYPE_BOOLEAN)
		return nk_fail(err, NK_INVALID_OPERATION, "dtype %s not supported in '%s' operation",
		               nk_dtype_short_name(dtype), bind->func->name + sizeof "bitwise_" - 1);
	bind->dtype = nk_dtype_of(NK_TYPE_UINT32);
	bind->data = &counts[which];
	bind->kernel = count_kernel;
	return NK_OK;
}

static nk_status bind_ones(nk_bind *bind, nk_error *err) { return bind_count(bind, ONES, err); }
static nk_status bind_zeros(nk_bind *bind, nk_error *err) { return bind_count(bind, ZEROS, err); }
static nk_status bind_leading_ones(nk_bind *bind, nk_error *err)
{
	return bind_count(bind, LEADING_ONES, err);
}
static nk_status bind_leading_zeros(nk_bind *bind, nk_error *err)
{
	return bind_count(bind, LEADING_ZEROS, err);
}
static nk_status bind_trailing_ones(nk_bind *bind, nk_error *err)
{
	return bind_count(bind, TRAILING_ONES, err);
}
static nk_status bind_trailing_zeros(nk_bind *bind, nk_error *err)
{
	return bind_count(bind, TRAILING_ZEROS, err);
}

/* ---- All values combined ---- */

typedef enum reduction { ALL_AND, ALL_OR, ALL_XOR } reduction;
static const reduction reductions[] = {ALL_AND, ALL_OR, ALL_XOR};
static const char *const reduction_names[] = {"and_reduce", "or_reduce", "xor_reduce"};

/* Nulls are left out; nothing to combine gives null. */
static nk_status reduce_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	reduction which = *(const reduction *)call->data;
	int n_bits = args[0]->physical == NK_PHYSICAL_BOOL ? 8 : 8 * nk_physical_size(args[0]->physical);
	uint64_t so_far[2] = {0}, words[2];
	int64_t n = 0;
	for (int64_t i = 0; i < n_rows; i++) {
		if (!nk_array_is_valid(args[0], i))
			continue;
		words_of(args[0], nk_array_index(args[0], i), n_bits, words);
		for (int w = 0; w < 2; w++)
			so_far[w] = n == 0             ? words[w]
			            : which == ALL_AND ? so_far[w] & words[w]
			            : which == ALL_OR  ? so_far[w] | words[w]
			                               : so_far[w] ^ words[w];
		n++;
	}
	if (n == 0)
		return nk_array_new_null(call->memory, call->dtype, 1, out, err);
	NK_TRY(nk_array_alloc(call->memory, call->dtype, args[0]->physical, 1, false, out, err));
	memcpy(nk_array_values(*out), so_far, (size_t)(n_bits / 8));
	return NK_OK;
}

static nk_status bind_reduce(nk_bind *bind, reduction which, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	if (!nk_type_is_integer(dtype->id) && !nk_type_is_float(dtype->id) && dtype->id != NK_TYPE_BOOLEAN)
		return nk_fail(err, NK_INVALID_OPERATION, "`%s` operation not supported for dtype `%s`",
		               reduction_names[which], nk_dtype_short_name(dtype));
	bind->dtype = dtype;
	bind->data = &reductions[which];
	bind->kernel = reduce_kernel;
	return NK_OK;
}

static nk_status bind_all_and(nk_bind *bind, nk_error *err) { return bind_reduce(bind, ALL_AND, err); }
static nk_status bind_all_or(nk_bind *bind, nk_error *err) { return bind_reduce(bind, ALL_OR, err); }
static nk_status bind_all_xor(nk_bind *bind, nk_error *err) { return bind_reduce(bind, ALL_XOR, err); }

/* ---- hash, to_physical ---- */

static nk_status hash_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U64, n_rows, false, &result, err));
	uint64_t *hashes = nk_array_values(result), seed = (uint64_t)call->options[0].integer;
	NK_TRY(nk_hash_array(call->memory, args[0], n_rows, hashes, false, err));
	for (int64_t i = 0; seed && i < n_rows; i++)
		hashes[i] = (hashes[i] ^ seed) * 0x9e3779b97f4a7c15;
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_hash(nk_bind *bind, nk_error *err)
{
	if (nk_type_is_nested(bind->args[0].dtype->id))
		return nk_fail(err, NK_INVALID_OPERATION, "`hash` operation not supported for dtype `%s`",
		               nk_dtype_short_name(bind->args[0].dtype));
	bind->dtype = nk_dtype_of(NK_TYPE_UINT64);
	bind->kernel = hash_kernel;
	return NK_OK;
}

static nk_status retype_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	(void)n_rows;
	if (args[0]->dtype == call->dtype) {
		*out = nk_array_ref(args[0]);
		return NK_OK;
	}
	return nk_array_retype(args[0], call->dtype, out, err);
}

static nk_status bind_to_physical(nk_bind *bind, nk_error *err)
{
	(void)err;
	nk_type_id id = bind->args[0].dtype->id;
	bind->dtype = nk_type_is_category(id) ? nk_dtype_of_codes(bind->args[0].dtype)
	              : id == NK_TYPE_DATE    ? nk_dtype_of(NK_TYPE_INT32)
	              : id == NK_TYPE_DATETIME || id == NK_TYPE_DURATION || id == NK_TYPE_TIME
	                  ? nk_dtype_of(NK_TYPE_INT64)
	                  : bind->args[0].dtype;
	bind->kernel = retype_kernel;
	return NK_OK;
}

static const nk_option_spec hash_options[] = {
	{"seed", {.kind = NK_OPTION_INT}},
	{0},
};

const nk_func nk__funcs_bits[] = {
	{
		.name = "bitwise_count_ones",
		.args = "x",
		.doc = "How many bits are 1 in an integer or Boolean, UInt32.",
		.example = "bitwise_count_ones([3, null]) == [2, null]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_ones,
	},
	{
		.name = "bitwise_count_zeros",
		.args = "x",
		.doc = "How many bits are 0 in an integer or Boolean, UInt32.",
		.example = "bitwise_count_zeros([3]) == [62]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_zeros,
	},
	{
		.name = "bitwise_leading_ones",
		.args = "x",
		.doc = "How many of the highest bits are 1 in an integer or Boolean, UInt32.",
		.example = "bitwise_leading_ones([-1]) == [64]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_leading_ones,
	},
	{
		.name = "bitwise_leading_zeros",
		.args = "x",
		.doc = "How many of the highest bits are 0 in an integer or Boolean, UInt32.",
		.example = "bitwise_leading_zeros([1]) == [63]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_leading_zeros,
	},
	{
		.name = "bitwise_trailing_ones",
		.args = "x",
		.doc = "How many of the lowest bits are 1 in an integer or Boolean, UInt32.",
		.example = "bitwise_trailing_ones([3]) == [2]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_trailing_ones,
	},
	{
		.name = "bitwise_trailing_zeros",
		.args = "x",
		.doc = "How many of the lowest bits are 0 in an integer or Boolean, UInt32.",
		.example = "bitwise_trailing_zeros([4]) == [2]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_trailing_zeros,
	},
	{
		.name = "bitwise_and",
		.args = "x",
		.doc = "All values combined by and, bit by bit; nulls are left out.",
		.example = "bitwise_and([6, 3]) == [2]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_all_and,
	},
	{
		.name = "bitwise_or",
		.args = "x",
		.doc = "All values combined by or, bit by bit; nulls are left out.",
		.example = "bitwise_or([6, 3]) == [7]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_all_or,
	},
	{
		.name = "bitwise_xor",
		.args = "x",
		.doc = "All values combined by exclusive or, bit by bit; nulls are left out.",
		.example = "bitwise_xor([6, 3]) == [5]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_all_xor,
	},
	{
		.name = "hash",
		.args = "x",
		.doc = "A hash of each value, UInt64: equal for equal values of one dtype, with one seed, in one "
			   "version.",
		.example = "hash([null]) == UInt64[8799289562868179521]",
		.options = hash_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_hash,
	},
	{
		.name = "to_physical",
		.args = "x",
		.doc =
			"The whole numbers under temporal values: Int32 of Date, Int64 of Datetime, Duration and Time.",
		.example = "to_physical([1]) == [1]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_to_physical,
	},
	{0},
};
