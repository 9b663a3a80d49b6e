/* From an aggregate to column and segmented kernels; and the aggregates that look at validity and Booleans only:
 * count, len, null_count, any, all. */
#include "func/aggregate.h"

#include "func/words.h"

enum { MAX_ARGS = 2 };

/* States and what they point to live in one arena. */
static nk_status run(const nk_call *call, nk_array *const *args, int64_t n_rows, const uint32_t *groups,
                     int64_t n_groups, nk_array **out, nk_error *err)
{
	const nk_agg_plan *plan = call->data;
	NK_AUTO(nk_arena) arena = nk_arena_new(call->memory);
	if (!arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for aggregation");
	void *states;
	NK_TRY(nk_arena_alloc(arena, n_groups * plan->aggregate->state_size, &states, err));
	NK_TRY(plan->aggregate->update(call, states, groups, args, n_rows, 0, arena, err));
	return plan->aggregate->finish(call, states, n_groups, out, err);
}

nk_status nk__aggregate_column(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	return run(call, args, n_rows, NULL, 1, out, err);
}

nk_status nk__aggregate_segments(const nk_call *call, nk_array *const *args, int64_t n_groups,
                                 const int64_t *offsets, nk_array **out, nk_error *err)
{
	const nk_agg_plan *plan = call->data;
	int64_t first = offsets[0], n_rows = offsets[n_groups] - first;
	NK_AUTO(nk_buffer) groups = NULL;
	nk_array *sliced[MAX_ARGS] = {0};
	NK_ASSERT(plan->n_args <= MAX_ARGS);
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(uint32_t), &groups, err));
	uint32_t *to = (uint32_t *)groups->bytes;
	for (int64_t g = 0; g < n_groups; g++)
		for (int64_t i = offsets[g] - first; i < offsets[g + 1] - first; i++)
			to[i] = (uint32_t)g;
	nk_status status = NK_OK;
	for (int a = 0; a < plan->n_args && status == NK_OK; a++)
		status = nk_array_slice(call->memory, args[a], first, n_rows, &sliced[a], err);
	if (status == NK_OK)
		status = run(call, sliced, n_rows, to, n_groups, out, err);
	for (int a = 0; a < plan->n_args; a++)
		nk_array_unref(sliced[a]);
	return status;
}

nk_status nk__bind_aggregate(nk_bind *bind, const nk_aggregate *aggregate, const nk_dtype *dtype,
                             int64_t flag, nk_error *err)
{
	nk_agg_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (nk_agg_plan){.aggregate = aggregate, .n_args = bind->n_args, .flag = flag};
	bind->data = plan;
	bind->dtype = dtype;
	bind->aggregate = aggregate;
	bind->kernel = nk__aggregate_column;
	bind->segmented = nk__aggregate_segments;
	return NK_OK;
}

nk_status nk__refuse_aggregate(const nk_bind *bind, nk_error *err)
{
	return nk_fail(err, NK_INVALID_OPERATION, "`%s` operation not supported for dtype `%s`", bind->func->name,
	               nk_dtype_short_name(bind->args[0].dtype));
}

/* ---- Counts: one int64 a group ---- */

typedef enum counted { ALL_ROWS, VALID_ROWS, NULL_ROWS } counted;

static nk_status count_update(const nk_call *call, void *states, const uint32_t *groups,
                              nk_array *const *args, int64_t n_rows, int64_t order, nk_arena *arena,
                              nk_error *err)
{
	(void)order, (void)arena, (void)err;
	counted what = (counted)nk__agg_flag(call);
	int64_t *counts = states;
	const nk_array *array = ((const nk_agg_plan *)call->data)->n_args > 0 ? args[0] : NULL;
	bool all = what == ALL_ROWS || (what == VALID_ROWS && !nk__may_have_nulls(array));
	if (!groups) {
		int64_t n_valid = 0;
		for (int64_t i = 0; i < n_rows && !all; i += 64)
			n_valid += __builtin_popcountll(nk__valid_word(array, i, n_rows));
		counts[0] += all ? n_rows : what == VALID_ROWS ? n_valid : n_rows - n_valid;
		return NK_OK;
	}
	if (all) {
		for (int64_t i = 0; i < n_rows; i++)
			counts[groups[i]]++;
		return NK_OK;
	}
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t word = nk__valid_word(array, i, n_rows);
		word = what == NULL_ROWS ? ~word : word;
		for (int64_t j = i; j < n_rows && j < i + 64; j++)
			counts[groups[j]] += (int64_t)((word >> (j - i)) & 1);
	}
	return NK_OK;
}

static nk_status count_merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                             int64_t n, nk_arena *arena, nk_error *err)
{
	(void)call, (void)arena, (void)err;
	int64_t *counts = states;
	const int64_t *from = others;
	for (int64_t i = 0; i < n; i++)
		counts[nk__group(groups, i)] += from[i];
	return NK_OK;
}

static nk_status count_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                              nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	const int64_t *counts = states;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, n_groups, false, &result, err));
	uint32_t *to = nk_array_values(result);
	for (int64_t g = 0; g < n_groups; g++) {
		if (counts[g] > UINT32_MAX)
			return nk_fail(err, NK_COMPUTE, "a count of %lld does not fit the index type UInt32",
			               (long long)counts[g]);
		to[g] = (uint32_t)counts[g];
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static const nk_aggregate count_aggregate = {sizeof(int64_t), count_update, count_merge, count_finish};

static nk_status bind_counted(nk_bind *bind, counted what, nk_error *err)
{
	return nk__bind_aggregate(bind, &count_aggregate, nk_dtype_of(NK_TYPE_UINT32), what, err);
}

static nk_status bind_count(nk_bind *bind, nk_error *err) { return bind_counted(bind, VALID_ROWS, err); }
static nk_status bind_len(nk_bind *bind, nk_error *err) { return bind_counted(bind, ALL_ROWS, err); }
static nk_status bind_null_count(nk_bind *bind, nk_error *err) { return bind_counted(bind, NULL_ROWS, err); }

/* ---- any, all: which of true, false and null a group has met ---- */

enum { MET_TRUE = 1, MET_FALSE = 2, MET_NULL = 4 };
enum { IS_ALL = 1, SEES_NULLS = 2 };

static nk_status met_update(const nk_call *call, void *states, const uint32_t *groups, nk_array *const *args,
                            int64_t n_rows, int64_t order, nk_arena *arena, nk_error *err)
{
	(void)call, (void)order, (void)arena, (void)err;
	uint64_t *met = states;
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t valid = nk__valid_word(args[0], i, n_rows), yes = nk__true_word(args[0], i, n_rows) & valid;
		uint64_t rows = n_rows - i < 64 ? ((uint64_t)1 << (n_rows - i)) - 1 : UINT64_MAX;
		if (!groups) {
			met[0] |= (yes ? MET_TRUE : 0) | (valid & ~yes ? MET_FALSE : 0) | (rows & ~valid ? MET_NULL : 0);
			continue;
		}
		for (int64_t j = i; j < n_rows && j < i + 64; j++) {
			int k = (int)(j - i);
			met[groups[j]] |= (yes >> k) & 1 ? MET_TRUE : (valid >> k) & 1 ? MET_FALSE : MET_NULL;
		}
	}
	return NK_OK;
}

static nk_status met_merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                           int64_t n, nk_arena *arena, nk_error *err)
{
	(void)call, (void)arena, (void)err;
	uint64_t *met = states;
	const uint64_t *from = others;
	for (int64_t i = 0; i < n; i++)
		met[nk__group(groups, i)] |= from[i];
	return NK_OK;
}

static nk_status met_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                            nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	int64_t flag = nk__agg_flag(call);
	const uint64_t *met = states;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_groups, true, &result, err));
	for (int64_t g = 0; g < n_groups; g++) {
		bool is_all = flag & IS_ALL, decided = met[g] & (is_all ? MET_FALSE : MET_TRUE);
		if (decided != is_all)
			nk_bitmap_set(nk_array_values(result), g);
		if (!decided && (flag & SEES_NULLS) && (met[g] & MET_NULL))
			nk_bitmap_clear(nk_array_validity(result), g);
	}
	result->n_nulls = -1;
	*out = NK_STEAL(result);
	return NK_OK;
}

static const nk_aggregate met_aggregate = {sizeof(uint64_t), met_update, met_merge, met_finish};

static nk_status bind_met(nk_bind *bind, int64_t flag, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype, *boolean = nk_dtype_of(NK_TYPE_BOOLEAN);
	if (dtype->id != NK_TYPE_BOOLEAN && dtype->id != NK_TYPE_NULL && !nk_type_is_numeric(dtype->id))
		return nk__refuse_aggregate(bind, err);
	bind->casts[0] = boolean;
	return nk__bind_aggregate(bind, &met_aggregate, boolean,
	                          flag | (bind->options[0].boolean ? 0 : SEES_NULLS), err);
}

static nk_status bind_any(nk_bind *bind, nk_error *err) { return bind_met(bind, 0, err); }
static nk_status bind_all(nk_bind *bind, nk_error *err) { return bind_met(bind, IS_ALL, err); }

static const nk_option_spec ignore_nulls_options[] = {
	{"ignore_nulls", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{0},
};

const nk_func nk__funcs_aggregate[] = {
	{
		.name = "count",
		.args = "x",
		.doc = "How many values there are, nulls left out.",
		.example = "count([1, null, 1]) == [2]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_count,
	},
	{
		.name = "len",
		.args = "x",
		.doc = "How many rows there are, nulls included.",
		.example = "len([1, null, 1]) == [3]",
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.fixed_name = "len",
		.bind = bind_len,
	},
	{
		.name = "null_count",
		.args = "x",
		.doc = "How many nulls there are.",
		.example = "null_count([1, null, 1]) == [1]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_null_count,
	},
	{
		.name = "any",
		.args = "x",
		.doc = "Whether any value is true. With ignore_nulls=False a null leaves the answer open unless a "
			   "true decides it.",
		.example = "any([null, false]) == [false]",
		.options = ignore_nulls_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_any,
	},
	{
		.name = "all",
		.args = "x",
		.doc = "Whether all values are true. With ignore_nulls=False a null leaves the answer open unless a "
			   "false decides it.",
		.example = "all([null, true]) == [true]",
		.options = ignore_nulls_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_all,
	},
	{0},
};
