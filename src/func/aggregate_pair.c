/* cov and corr: of rows where both values are there. States: count, both means, squared distances and products of
 * distances, kept up to date row by row (Welford) and merged by Chan's formula, as the variance's are. */
#include <math.h>

#include "func/aggregate.h"

typedef struct pair_state {
	int64_t count;
	double mean_x, mean_y, xx, yy, xy;
} pair_state;

static void fold(pair_state *into, const pair_state *from)
{
	if (from->count == 0)
		return;
	double count = (double)(into->count + from->count), share = (double)from->count / count;
	double dx = from->mean_x - into->mean_x, dy = from->mean_y - into->mean_y;
	double weight = (double)into->count * share;
	into->xx += from->xx + dx * dx * weight;
	into->yy += from->yy + dy * dy * weight;
	into->xy += from->xy + dx * dy * weight;
	into->mean_x += dx * share;
	into->mean_y += dy * share;
	into->count += from->count;
}

/* Four rows at a time: their sums first, then distances from the means of the batch. */
static pair_state of_batch(const double *x, const double *y, const uint8_t *validity, int64_t n)
{
	enum { LANES = 4 };
	double sum_x[LANES] = {0}, sum_y[LANES] = {0}, xx[LANES] = {0}, yy[LANES] = {0}, xy[LANES] = {0};
	pair_state batch = {.count = validity ? nk_bitmap_count(validity, 0, n) : n};
	if (batch.count == 0)
		return batch;
	for (int64_t i = 0; i < n; i++) {
		if (validity && !nk_bitmap_get(validity, i))
			continue;
		sum_x[i % LANES] += x[i];
		sum_y[i % LANES] += y[i];
	}
	batch.mean_x = (sum_x[0] + sum_x[1] + (sum_x[2] + sum_x[3])) / (double)batch.count;
	batch.mean_y = (sum_y[0] + sum_y[1] + (sum_y[2] + sum_y[3])) / (double)batch.count;
	for (int64_t i = 0; i < n; i++) {
		if (validity && !nk_bitmap_get(validity, i))
			continue;
		double dx = x[i] - batch.mean_x, dy = y[i] - batch.mean_y;
		xx[i % LANES] += dx * dx;
		yy[i % LANES] += dy * dy;
		xy[i % LANES] += dx * dy;
	}
	batch.xx = xx[0] + xx[1] + (xx[2] + xx[3]);
	batch.yy = yy[0] + yy[1] + (yy[2] + yy[3]);
	batch.xy = xy[0] + xy[1] + (xy[2] + xy[3]);
	return batch;
}

static nk_status update(const nk_call *call, void *states, const uint32_t *groups, nk_array *const *args,
                        int64_t n_rows, int64_t order, nk_arena *arena, nk_error *err)
{
	(void)order, (void)arena;
	NK_AUTO(nk_array) left = NULL, *right = NULL;
	NK_AUTO(nk_buffer) both = NULL;
	NK_TRY(nk__flat(call, args[0], &left, err));
	NK_TRY(nk__flat(call, args[1], &right, err));
	const double *x = left->values, *y = right->values;
	const uint8_t *validity = left->validity ? left->validity : right->validity;
	if (left->validity && right->validity) {
		NK_TRY(nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), &both, err));
		for (int64_t b = 0; b < nk_bitmap_bytes(n_rows); b++)
			both->bytes[b] = left->validity[b] & right->validity[b];
		validity = both->bytes;
	}
	pair_state *all = states;
	if (!groups) {
		pair_state batch = of_batch(x, y, validity, n_rows);
		fold(all, &batch);
		return NK_OK;
	}
	for (int64_t i = 0; i < n_rows; i++) {
		if (validity && !nk_bitmap_get(validity, i))
			continue;
		pair_state *state = &all[groups[i]];
		double share = 1 / (double)++state->count;
		double dx = x[i] - state->mean_x, dy = y[i] - state->mean_y;
		state->mean_x += dx * share;
		state->mean_y += dy * share;
		double dy_after = y[i] - state->mean_y;
		state->xx += dx * (x[i] - state->mean_x);
		state->yy += dy * dy_after;
		state->xy += dx * dy_after;
	}
	return NK_OK;
}

static nk_status merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                       int64_t n, nk_arena *arena, nk_error *err)
{
	(void)call, (void)arena, (void)err;
	for (int64_t i = 0; i < n; i++)
		fold((pair_state *)states + nk__group(groups, i), (const pair_state *)others + i);
	return NK_OK;
}

static nk_status finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                        nk_error *err)
{
	const pair_state *all = states;
	bool is_correlation = strcmp(call->func->name, "corr") == 0;
	int64_t ddof = nk__agg_flag(call);
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_groups, !is_correlation,
	                      &result, err));
	for (int64_t g = 0; g < n_groups; g++) {
		bool is_valid = is_correlation || all[g].count > ddof;
		double value = is_correlation ? all[g].xy / (sqrt(all[g].xx) * sqrt(all[g].yy))
		                              : all[g].xy / (double)(all[g].count - ddof);
		if (!is_valid) {
			nk_bitmap_clear(nk_array_validity(result), g);
			value = 0;
		}
		if (result->physical == NK_PHYSICAL_F32)
			((float *)nk_array_values(result))[g] = (float)value;
		else
			((double *)nk_array_values(result))[g] = value;
	}
	result->n_nulls = is_correlation ? 0 : -1;
	*out = NK_STEAL(result);
	return NK_OK;
}

static const nk_aggregate pair_aggregate = {sizeof(pair_state), update, merge, finish};

static bool fits_float32(const nk_dtype *dtype)
{
	nk_type_id id = dtype->id;
	return id == NK_TYPE_FLOAT32 || id == NK_TYPE_INT8 || id == NK_TYPE_INT16 || id == NK_TYPE_UINT8 ||
	       id == NK_TYPE_UINT16;
}

static nk_status bind_pair(nk_bind *bind, nk_error *err)
{
	const nk_dtype *x = bind->args[0].dtype, *y = bind->args[1].dtype,
				   *float64 = nk_dtype_of(NK_TYPE_FLOAT64);
	const nk_dtype *float32 = nk_dtype_of(NK_TYPE_FLOAT32);
	int64_t ddof = bind->options && bind->func->options ? bind->options[0].integer : 0;
	bind->casts[0] = bind->casts[1] = float64;
	bind->cast_is_lossy = true;
	bool is_short = (x == float32 && fits_float32(y)) || (y == float32 && fits_float32(x));
	return nk__bind_aggregate(bind, &pair_aggregate, is_short ? float32 : float64, ddof, err);
}

static const nk_option_spec cov_options[] = {
	{"ddof", {.kind = NK_OPTION_INT, .integer = 1}},
	{0},
};

const nk_func nk__funcs_aggregate_pair[] = {
	{
		.name = "cov",
		.args = "x, y",
		.doc = "Covariance as a float, divided by the count less ddof; rows where either is null are left "
			   "out. Null of "
			   "too few.",
		.example = "cov([1, 2, 4], [2, 4, 8]) == [4.666666666666667]",
		.options = cov_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_pair,
	},
	{
		.name = "corr",
		.args = "x, y",
		.doc = "Pearson's correlation as a float; rows where either is null are left out. NaN when either "
			   "does not vary.",
		.example = "corr([1, 2, 4], [2, 4, 8]) == [1.0]",
		.min_args = 2,
		.max_args = 2,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_pair,
	},
	{0},
};
