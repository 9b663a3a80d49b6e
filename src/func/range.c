/* Columns that are made rather than computed: int_range, repeat; and columns of other lengths: append,
 * gather_every, sample, shuffle. Random choices are a function of the seed; without one, a fresh seed is taken each time. */
#include <time.h>

#include "compute/select.h"
#include "func/func.h"
#include "func/supertype.h"

/* ---- int_range, repeat ---- */

static nk_status one_integer(const nk_call *call, const nk_array *array, const char *name, int64_t *out,
                             nk_error *err)
{
	if (array->n_rows != 1)
		return nk_fail(err, NK_COMPUTE, "`%s` must contain exactly one value, got %lld values", name,
		               (long long)array->n_rows);
	if (!nk_array_is_valid(array, 0))
		return nk_fail(err, NK_COMPUTE, "invalid null input for `%s`", call->func->name);
	*out = *(const int64_t *)array->values;
	return NK_OK;
}

static nk_status int_range_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                  nk_error *err)
{
	int64_t start, end, step = call->options[0].integer;
	NK_TRY(one_integer(call, args[0], "start", &start, err));
	NK_TRY(one_integer(call, args[1], "end", &end, err));
	__int128 way = step > 0 ? (__int128)end - start : (__int128)start - end,
			 stride = step > 0 ? step : -(__int128)step;
	n_rows = way <= 0 ? 0 : (int64_t)((way + stride - 1) / stride);
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I64, n_rows, false, &result, err));
	int64_t *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++)
		to[i] = start + i * step;
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_int_range(nk_bind *bind, nk_error *err)
{
	if (bind->options[0].integer == 0)
		return nk_fail(err, NK_INVALID_OPERATION, "step must not be zero");
	bind->casts[0] = bind->casts[1] = bind->dtype = nk_dtype_of(NK_TYPE_INT64);
	bind->kernel = int_range_kernel;
	return NK_OK;
}

static nk_status repeat_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	int64_t n;
	(void)n_rows;
	NK_TRY(one_integer(call, args[1], "n", &n, err));
	if (n < 0)
		return nk_fail(err, NK_COMPUTE, "could not parse value '%lld' as a size.", (long long)n);
	if (args[0]->n_rows != 1)
		return nk_fail(err, NK_COMPUTE, "`value` must contain exactly one value, got %lld values",
		               (long long)args[0]->n_rows);
	return nk_array_new_constant(call->memory, args[0], n, out, err);
}

static nk_status bind_repeat(nk_bind *bind, nk_error *err)
{
	if (!nk_type_is_integer(bind->args[1].dtype->id))
		return nk_fail(err, NK_INVALID_OPERATION, "`n` of `repeat` must be an integer, got `%s`",
		               nk_dtype_short_name(bind->args[1].dtype));
	bind->casts[1] = nk_dtype_of(NK_TYPE_INT64);
	bind->dtype = bind->args[0].dtype;
	bind->kernel = repeat_kernel;
	return NK_OK;
}

/* ---- append, gather_every ---- */

static nk_status append_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	(void)n_rows;
	return nk_array_concat(call->memory, args, 2, out, err);
}

static nk_status bind_append(nk_bind *bind, nk_error *err)
{
	const nk_dtype *left = bind->args[0].dtype, *right = bind->args[1].dtype;
	bool lossy = false;
	if (!bind->options[0].boolean && left != right)
		return nk_fail(err, NK_SCHEMA_MISMATCH, "type %s is incompatible with expected type %s",
		               nk_dtype_short_name(right), nk_dtype_short_name(left));
	const nk_dtype *meet = nk_supertype_of_arguments(&bind->args[0], &bind->args[1], &lossy);
	if (!meet)
		return nk_supertype_fail(left, right, err);
	bind->dtype = bind->casts[0] = bind->casts[1] = meet;
	bind->kernel = append_kernel;
	return NK_OK;
}

static nk_status gather_every_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows,
                                     nk_array **out, nk_error *err)
{
	int64_t step = call->options[0].integer, offset = call->options[1].integer, n = 0;
	int64_t most = offset < n_rows ? (n_rows - offset + step - 1) / step : 0;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(call->memory, most * (int64_t)sizeof(int64_t) + 8, &rows, err));
	for (int64_t i = offset; n < most; i += step)
		((int64_t *)(void *)rows->bytes)[n++] = i;
	return nk_array_take_wide(call->memory, args[0], (int64_t *)(void *)rows->bytes, n, out, err);
}

static nk_status bind_gather_every(nk_bind *bind, nk_error *err)
{
	if (bind->options[0].integer <= 0)
		return nk_fail(err, NK_INVALID_OPERATION, "gather_every(n): n should be positive");
	if (bind->options[1].integer < 0)
		return nk_fail(err, NK_OVERFLOW, "can't convert negative int to unsigned");
	bind->dtype = bind->args[0].dtype;
	bind->kernel = gather_every_kernel;
	return NK_OK;
}

/* ---- sample, shuffle ---- */

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static int64_t random_below(uint64_t *state, int64_t n)
{
	return (int64_t)(((unsigned __int128)next_random(state) * (uint64_t)n) >> 64);
}

static uint64_t seed_of(const nk_option *option)
{
	static uint64_t n_taken;
	if (option->integer != INT64_MIN)
		return (uint64_t)option->integer;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_nsec ^ ((uint64_t)now.tv_sec << 30) ^
	       (__atomic_fetch_add(&n_taken, 1, __ATOMIC_RELAXED) << 50);
}

/* The first n of a random order of the rows: Fisher and Yates, stopped early. */
static nk_status shuffled(const nk_call *call, nk_array *array, int64_t n_rows, int64_t n, uint64_t seed,
                          nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(int64_t) + 8, &rows, err));
	int64_t *to = (int64_t *)(void *)rows->bytes;
	for (int64_t i = 0; i < n_rows; i++)
		to[i] = i;
	for (int64_t i = 0; i < n; i++) {
		int64_t j = i + random_below(&seed, n_rows - i), held = to[i];
		to[i] = to[j];
		to[j] = held;
	}
	return nk_array_take_wide(call->memory, array, to, n, out, err);
}

static nk_status shuffle_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	return shuffled(call, args[0], n_rows, n_rows, seed_of(&call->options[0]), out, err);
}

static nk_status sample_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	double fraction = call->options[1].floating;
	int64_t n = fraction >= 0 ? (int64_t)(fraction * (double)n_rows) : call->options[0].integer;
	uint64_t seed = seed_of(&call->options[4]);
	if (!call->options[2].boolean) {
		if (n > n_rows)
			return nk_fail(err, NK_SHAPE,
			               "cannot take a larger sample than the total population when "
			               "`with_replacement=false` (sample: "
			               "%lld, population: %lld)",
			               (long long)n, (long long)n_rows);
		return shuffled(call, args[0], n_rows, n, seed, out, err);
	}
	if (n_rows == 0)
		n = 0;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(call->memory, n * (int64_t)sizeof(int64_t) + 8, &rows, err));
	for (int64_t i = 0; i < n; i++)
		((int64_t *)(void *)rows->bytes)[i] = random_below(&seed, n_rows);
	return nk_array_take_wide(call->memory, args[0], (int64_t *)(void *)rows->bytes, n, out, err);
}

static nk_status bind_shuffle(nk_bind *bind, nk_error *err)
{
	(void)err;
	bind->dtype = bind->args[0].dtype;
	bind->kernel = shuffle_kernel;
	return NK_OK;
}

static nk_status bind_sample(nk_bind *bind, nk_error *err)
{
	if (bind->options[0].integer < 0)
		return nk_fail(err, NK_OVERFLOW, "can't convert negative int to unsigned");
	bind->dtype = bind->args[0].dtype;
	bind->kernel = sample_kernel;
	return NK_OK;
}

static const nk_option_spec range_options[] = {
	{"step", {.kind = NK_OPTION_INT, .integer = 1}},
	{0},
};

static const nk_option_spec append_options[] = {
	{"upcast", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{0},
};

static const nk_option_spec every_options[] = {
	{"n", {.kind = NK_OPTION_INT, .integer = 1}},
	{"offset", {.kind = NK_OPTION_INT}},
	{0},
};

static const nk_option_spec shuffle_options[] = {
	{"seed", {.kind = NK_OPTION_INT, .integer = INT64_MIN}},
	{0},
};

static const nk_option_spec sample_options[] = {
	{"n", {.kind = NK_OPTION_INT, .integer = 1}},
	{"fraction", {.kind = NK_OPTION_FLOAT, .floating = -1}},
	{"with_replacement", {.kind = NK_OPTION_BOOL}},
	{"shuffle", {.kind = NK_OPTION_BOOL}},
	{"seed", {.kind = NK_OPTION_INT, .integer = INT64_MIN}},
	{0},
};

const nk_func nk__funcs_range[] = {
	{
		.name = "int_range",
		.args = "start, end",
		.doc = "Int64 values from start on, before end, step apart. Fails with ComputeError for null and for "
			   "several values.",
		.example = "int_range([0], [5], step=2) == [0, 2, 4]",
		.options = range_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.unaligned = true,
		.fixed_name = NULL,
		.bind = bind_int_range,
	},
	{
		.name = "repeat",
		.args = "value, n",
		.doc = "A value n times.",
		.example = "repeat([7], [3]) == [7, 7, 7]",
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.unaligned = true,
		.bends = true,
		.bind = bind_repeat,
	},
	{
		.name = "append",
		.args = "x, other",
		.doc = "The values of both, one after the other, in a common dtype; without upcast a different dtype "
			   "fails with "
			   "SchemaError.",
		.example = "append([1], [2, null]) == [1, 2, null]",
		.options = append_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.unaligned = true,
		.bind = bind_append,
	},
	{
		.name = "gather_every",
		.args = "x",
		.doc = "Every nth value, from an offset on.",
		.example = "gather_every([1, 2, 3, 4], n=2, offset=1) == [2, 4]",
		.options = every_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_gather_every,
	},
	{
		.name = "shuffle",
		.args = "x",
		.doc = "The values in random order, always the same with a seed.",
		.example = "shuffle([7, 7]) == [7, 7]",
		.options = shuffle_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.impure = true,
		.order_sensitive = true,
		.bind = bind_shuffle,
	},
	{
		.name = "sample",
		.args = "x",
		.doc = "n values, or a fraction of all, chosen at random; always the same with a seed. Fails with "
			   "ShapeError for more "
			   "than there are, unless with_replacement.",
		.example = "sample([7, 7, 7], n=2) == [7, 7]",
		.options = sample_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.impure = true,
		.fallible = true,
		.order_sensitive = true,
		.bind = bind_sample,
	},
	{0},
};
