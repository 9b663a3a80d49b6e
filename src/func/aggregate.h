/* What the files of aggregation share; internal to src/func.
 *
 * A binder leaves an nk_agg_plan (or a struct that begins with one) in bind->data. From the aggregate in it come the
 * column kernel (one group) and the segmented kernel (groups from offsets), so that a decomposable function is
 * written once. */
#ifndef NK_FUNC_AGGREGATE_H
#define NK_FUNC_AGGREGATE_H

#include "func/func.h"

typedef struct nk_agg_plan {
	const nk_aggregate *aggregate;
	int n_args;
	int64_t flag; /* what the function makes of it: ddof, which extreme, ignore_nulls */
} nk_agg_plan;

/* Sets dtype, aggregate, column kernel, segmented kernel and data. */
NK_MUST_CHECK nk_status nk__bind_aggregate(nk_bind *bind, const nk_aggregate *aggregate,
                                           const nk_dtype *dtype, int64_t flag, nk_error *err);
nk_kernel nk__aggregate_column;
nk_segmented_kernel nk__aggregate_segments;

/* Of dtype Null comes null, whatever is asked. */
extern const nk_aggregate nk__nothing_aggregate;

/* "`sum` operation not supported for dtype `str`" */
nk_status nk__refuse_aggregate(const nk_bind *bind, nk_error *err);

/* A flat array of the same rows; owned. */
static inline nk_status nk__flat(const nk_call *call, nk_array *array, nk_array **out, nk_error *err)
{
	return nk_array_flatten(call->memory, array, out, err);
}

static inline uint32_t nk__group(const uint32_t *groups, int64_t i) { return groups ? groups[i] : 0; }

static inline int64_t nk__agg_flag(const nk_call *call) { return ((const nk_agg_plan *)call->data)->flag; }

#endif
