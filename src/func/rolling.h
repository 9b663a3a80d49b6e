/* Statistics of windows that move over the rows of a group. Internal to src/func: rolling.c has the
 * functions, the other files the ways to compute them.
 *
 * Windows only ever move forward: their starts and ends ascend. Each way therefore adds every row once and
 * removes it once. Null rows are in no window; a result is null where a window has fewer than min_samples
 * values. */
#ifndef NK_FUNC_ROLLING_H
#define NK_FUNC_ROLLING_H

#include "columnar/array.h"
#include "compute/quantile.h"
#include "func/func.h"

typedef enum nk_rolling_kind {
	NK_ROLLING_SUM,
	NK_ROLLING_MEAN,
	NK_ROLLING_MIN,
	NK_ROLLING_MAX,
	NK_ROLLING_VAR,
	NK_ROLLING_STD,
	NK_ROLLING_SKEW,
	NK_ROLLING_KURTOSIS,
	NK_ROLLING_QUANTILE, /* the median is one */
} nk_rolling_kind;

typedef struct nk_rolling {
	nk_rolling_kind kind;
	int64_t window_size, min_samples;
	bool center;
	int64_t ddof;
	bool bias, fisher;
	double quantile;
	nk_interpolation interpolation;
	const double *weights; /* window_size of them; NULL: none */
	const nk_dtype *input; /* what came, before casts: says what a mean becomes */
	/* Windows of their own, for every row, ascending within a group; NULL: of window_size rows. */
	const int64_t *starts, *ends;
} nk_rolling;

/* Rows [*start, *end) of segment [from, to) are in the window of row i. */
static inline void nk__rolling_window(const nk_rolling *r, int64_t i, int64_t from, int64_t to,
                                      int64_t *start, int64_t *end)
{
	if (r->starts) {
		*start = r->starts[i];
		*end = r->ends[i];
		return;
	}
	if (r->window_size == 0) {
		*start = *end = i;
		return;
	}
	int64_t after = r->center ? r->window_size - r->window_size / 2 : 1, before = r->window_size - after;
	*start = i - from < before ? from : i - before;
	*end = to - i < after ? to : i + after;
}

/* A power of two that holds every window of these rows. */
static inline int64_t nk__rolling_room(const nk_rolling *r, const int64_t *offsets, int64_t n_groups)
{
	int64_t longest = 1, room = 2;
	for (int64_t g = 0; g < n_groups; g++)
		longest = longest < offsets[g + 1] - offsets[g] ? offsets[g + 1] - offsets[g] : longest;
	if (!r->starts && r->window_size < longest)
		longest = r->window_size;
	while (room <= longest)
		room *= 2;
	return room;
}

/* One way of computing: `array` is flat and of the dtype that the binder cast to; `result` has fresh values
 * and all rows valid. */
typedef nk_status nk_rolling_way(const nk_rolling *r, nk_memory *memory, const nk_array *array,
                                 int64_t n_groups, const int64_t *offsets, nk_array *result, nk_error *err);

nk_rolling_way nk__rolling_fold;      /* sum, mean (floats only), min, max: what is fixed in width */
nk_rolling_way nk__rolling_moments;   /* var, std, skew, kurtosis: floats */
nk_rolling_way nk__rolling_quantiles; /* Float64 */
nk_rolling_way nk__rolling_weighted;  /* any but quantiles: Float64 without nulls */

/* A function bound: what rolling.c and rolling_by.c share. */
typedef struct nk_rolling_plan {
	nk_rolling rolling;
	nk_rolling_way *way;
	nk_physical physical; /* of the result as computed */
	const nk_dtype *computed;
} nk_rolling_plan;

/* A plan with the options of the function's kind that all kinds of windows have, and the dtypes for the
 * first argument. */
NK_MUST_CHECK nk_status nk__rolling_bind(nk_bind *bind, nk_rolling_kind kind, nk_rolling_plan **out,
                                         nk_error *err);
/* Compute over a flat array and give the result its dtype. */
NK_MUST_CHECK nk_status nk__rolling_run(const nk_call *call, const nk_rolling_plan *plan,
                                        const nk_rolling *rolling, const nk_array *array, int64_t n_groups,
                                        const int64_t *offsets, nk_array **out, nk_error *err);

#endif
