/* first, last: the value of the row that comes first or last in the query's order, which a state remembers, so that
 * merging in any order gives the same. Columns and segments gather by position instead. */
#include "columnar/builder.h"
#include "compute/decimal.h"
#include "compute/select.h"
#include "func/aggregate.h"

enum { LAST = 1, SKIPS_NULLS = 2 };

typedef struct edge_state {
	int64_t place; /* the row's order plus one; 0: no row yet */
	uint32_t is_valid, n_bytes;
	union {
		char value[16];
		char *bytes; /* text, in the arena */
	};
} edge_state;

static bool replaces(const edge_state *state, int64_t place, int64_t flag)
{
	return state->place == 0 || (flag & LAST ? place >= state->place : place < state->place);
}

static nk_status keep_text(edge_state *state, const char *bytes, uint32_t n_bytes, nk_arena *arena,
                           nk_error *err)
{
	void *room = NULL;
	if (n_bytes > 0) {
		NK_TRY(nk_arena_alloc(arena, n_bytes, &room, err));
		memcpy(room, bytes, n_bytes);
	}
	state->bytes = room;
	state->n_bytes = n_bytes;
	return NK_OK;
}

static nk_status keep(edge_state *state, const nk_array *array, int64_t row, int64_t place, nk_arena *arena,
                      nk_error *err)
{
	state->place = place;
	state->is_valid = nk_array_is_valid(array, row);
	if (!state->is_valid)
		return NK_OK;
	int64_t i = nk_array_index(array, row);
	if (array->physical == NK_PHYSICAL_VIEW) {
		const nk_view *view = (const nk_view *)array->values + i;
		return keep_text(state, nk_view_bytes(view, array->heap), view->n_bytes, arena, err);
	}
	if (array->physical == NK_PHYSICAL_BOOL) {
		state->value[0] = nk_bitmap_get(array->values, i);
		return NK_OK;
	}
	if (array->dtype->id == NK_TYPE_DECIMAL && array->physical == NK_PHYSICAL_I64) {
		__int128 value = ((const int64_t *)array->values)[i];
		memcpy(state->value, &value, sizeof value);
		return NK_OK;
	}
	int width = nk_physical_size(array->physical);
	memcpy(state->value, (const char *)array->values + i * width, (size_t)width);
	return NK_OK;
}

static nk_status edge_update(const nk_call *call, void *states, const uint32_t *groups, nk_array *const *args,
                             int64_t n_rows, int64_t order, nk_arena *arena, nk_error *err)
{
	int64_t flag = nk__agg_flag(call);
	edge_state *all = states;
	if (flag & LAST) {
		/* From the back, so that each group keeps one row a batch. */
		for (int64_t i = n_rows - 1; i >= 0; i--) {
			edge_state *state = &all[nk__group(groups, i)];
			if (order + i + 1 < state->place || ((flag & SKIPS_NULLS) && !nk_array_is_valid(args[0], i)))
				continue;
			NK_TRY(keep(state, args[0], i, order + i + 1, arena, err));
			if (!groups)
				break;
		}
		return NK_OK;
	}
	for (int64_t i = 0; i < n_rows; i++) {
		edge_state *state = &all[nk__group(groups, i)];
		if (!replaces(state, order + i + 1, flag) || ((flag & SKIPS_NULLS) && !nk_array_is_valid(args[0], i)))
			continue;
		NK_TRY(keep(state, args[0], i, order + i + 1, arena, err));
		if (!groups)
			break;
	}
	return NK_OK;
}

static nk_status edge_merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                            int64_t n, nk_arena *arena, nk_error *err)
{
	int64_t flag = nk__agg_flag(call);
	bool is_text = nk_type_is_textual(call->dtype->id);
	const edge_state *from = others;
	for (int64_t i = 0; i < n; i++) {
		edge_state *state = (edge_state *)states + nk__group(groups, i);
		if (from[i].place == 0 || !replaces(state, from[i].place, flag))
			continue;
		*state = from[i];
		if (is_text && state->is_valid)
			NK_TRY(keep_text(state, from[i].bytes, from[i].n_bytes, arena, err));
	}
	return NK_OK;
}

static nk_status edge_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                             nk_error *err)
{
	const edge_state *all = states;
	nk_physical physical = call->dtype->physical;
	if (physical == NK_PHYSICAL_NONE)
		return nk_array_new_null(call->memory, call->dtype, n_groups, out, err);
	if (physical == NK_PHYSICAL_VIEW) {
		NK_AUTO(nk_builder) builder = NULL;
		NK_TRY(nk_builder_new(call->memory, call->dtype, &builder, err));
		for (int64_t g = 0; g < n_groups; g++)
			if (all[g].is_valid)
				NK_TRY(
					nk_builder_append_bytes(builder, all[g].bytes ? all[g].bytes : "", all[g].n_bytes, err));
			else
				NK_TRY(nk_builder_append_null(builder, err));
		return nk_builder_finish(builder, out, err);
	}
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, physical, n_groups, true, &result, err));
	result->n_nulls = -1;
	int width = nk_physical_size(physical);
	for (int64_t g = 0; g < n_groups; g++) {
		if (!all[g].is_valid)
			nk_bitmap_clear(nk_array_validity(result), g);
		if (physical == NK_PHYSICAL_BOOL)
			nk_bitmap_put(nk_array_values(result), g, all[g].is_valid && all[g].value[0]);
		else if (all[g].is_valid)
			memcpy((char *)nk_array_values(result) + g * width, all[g].value, (size_t)width);
		else
			memset((char *)nk_array_values(result) + g * width, 0, (size_t)width);
	}
	if (call->dtype->id == NK_TYPE_DECIMAL)
		return nk_decimal_narrow(call->memory, call->dtype, NK_STEAL(result), out, err);
	*out = NK_STEAL(result);
	return NK_OK;
}

static const nk_aggregate edge_aggregate = {sizeof(edge_state), edge_update, edge_merge, edge_finish};

/* ---- Columns and segments ---- */

static int64_t edge_row(const nk_array *array, int64_t from, int64_t to, int64_t flag)
{
	bool last = flag & LAST;
	for (int64_t i = last ? to - 1 : from; i >= from && i < to; i += last ? -1 : 1)
		if (!(flag & SKIPS_NULLS) || nk_array_is_valid(array, i))
			return i;
	return -1;
}

static nk_status edge_segments(const nk_call *call, nk_array *const *args, int64_t n_groups,
                               const int64_t *offsets, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(call->memory, n_groups * (int64_t)sizeof(int64_t), &rows, err));
	int64_t *to = (int64_t *)rows->bytes;
	for (int64_t g = 0; g < n_groups; g++)
		to[g] = edge_row(args[0], offsets[g], offsets[g + 1], nk__agg_flag(call));
	NK_AUTO(nk_array) taken = NULL;
	NK_TRY(nk_array_take_optional(call->memory, args[0], to, n_groups, &taken, err));
	return nk_array_flatten(call->memory, taken, out, err);
}

static nk_status edge_column(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	return edge_segments(call, args, 1, (int64_t[]){0, n_rows}, out, err);
}

static nk_status bind_edge(nk_bind *bind, int64_t flag, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	flag |= bind->options[0].boolean ? SKIPS_NULLS : 0;
	NK_TRY(nk__bind_aggregate(bind, &edge_aggregate, dtype, flag, err));
	bind->aggregate = nk_type_is_nested(dtype->id) ? NULL : bind->aggregate;
	bind->kernel = edge_column;
	bind->segmented = edge_segments;
	return NK_OK;
}

static nk_status bind_first(nk_bind *bind, nk_error *err) { return bind_edge(bind, 0, err); }
static nk_status bind_last(nk_bind *bind, nk_error *err) { return bind_edge(bind, LAST, err); }

static const nk_option_spec edge_options[] = {
	{"ignore_nulls", {.kind = NK_OPTION_BOOL}},
	{0},
};

const nk_func nk__funcs_aggregate_first[] = {
	{
		.name = "first",
		.args = "x",
		.doc = "The first value, null included unless ignore_nulls; null of no values.",
		.example = "first([1, 2]) == [1]",
		.options = edge_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bends = true,
		.bind = bind_first,
	},
	{
		.name = "last",
		.args = "x",
		.doc = "The last value, null included unless ignore_nulls; null of no values.",
		.example = "last([1, 2]) == [2]",
		.options = edge_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bends = true,
		.bind = bind_last,
	},
	{0},
};
