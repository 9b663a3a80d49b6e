/* min, max, nan_min, nan_max. NaN is skipped unless nothing else is there; the nan_ pair lets it win. Without groups a
 * batch is reduced in vector lanes first. Decimal states are 128 bits wide, so that batches of either width fold into
 * them; text states keep their bytes in the arena, in room that grows by doubling. */
#include "columnar/builder.h"
#include "columnar/categories.h"
#include "compute/decimal.h"
#include "compute/reduce.h"
#include "func/aggregate.h"
#include "func/words.h"

#define T int8_t
#define S int8_t
#define SUFFIX i8
#define IS_FLOAT 0
#include "func/extreme_tmpl.h"
#define T int16_t
#define S int16_t
#define SUFFIX i16
#define IS_FLOAT 0
#include "func/extreme_tmpl.h"
#define T int32_t
#define S int32_t
#define SUFFIX i32
#define IS_FLOAT 0
#include "func/extreme_tmpl.h"
#define T int64_t
#define S int64_t
#define SUFFIX i64
#define IS_FLOAT 0
#include "func/extreme_tmpl.h"
#define T __int128
#define S __int128
#define SUFFIX i128
#define IS_FLOAT 0
#include "func/extreme_tmpl.h"
#define T uint8_t
#define S uint8_t
#define SUFFIX u8
#define IS_FLOAT 0
#include "func/extreme_tmpl.h"
#define T uint16_t
#define S uint16_t
#define SUFFIX u16
#define IS_FLOAT 0
#include "func/extreme_tmpl.h"
#define T uint32_t
#define S uint32_t
#define SUFFIX u32
#define IS_FLOAT 0
#include "func/extreme_tmpl.h"
#define T uint64_t
#define S uint64_t
#define SUFFIX u64
#define IS_FLOAT 0
#include "func/extreme_tmpl.h"
#define T float
#define S float
#define SUFFIX f32
#define IS_FLOAT 1
#include "func/extreme_tmpl.h"
#define T double
#define S double
#define SUFFIX f64
#define IS_FLOAT 1
#include "func/extreme_tmpl.h"
#define T int64_t
#define S __int128
#define SUFFIX narrow
#define IS_FLOAT 0
#define SCAN_ONLY
#include "func/extreme_tmpl.h"

typedef struct extreme_loops {
	int64_t state_size;
	void (*scan)(void *states, const uint32_t *groups, const void *values, const uint8_t *validity, int64_t n,
	             bool greatest, bool poisoned);
	void (*fold)(void *states, const uint32_t *groups, const void *others, int64_t n, bool greatest,
	             bool poisoned);
	void (*finish)(void *values, uint8_t *validity, const void *states, int64_t n);
} extreme_loops;

static const extreme_loops loops[NK_PHYSICAL_N] = {
	[NK_PHYSICAL_BOOL] = {sizeof(state_u8), extreme_u8, fold_u8, finish_u8},
	[NK_PHYSICAL_I8] = {sizeof(state_i8), extreme_i8, fold_i8, finish_i8},
	[NK_PHYSICAL_I16] = {sizeof(state_i16), extreme_i16, fold_i16, finish_i16},
	[NK_PHYSICAL_I32] = {sizeof(state_i32), extreme_i32, fold_i32, finish_i32},
	[NK_PHYSICAL_I64] = {sizeof(state_i64), extreme_i64, fold_i64, finish_i64},
	[NK_PHYSICAL_I128] = {sizeof(state_i128), extreme_i128, fold_i128, finish_i128},
	[NK_PHYSICAL_U8] = {sizeof(state_u8), extreme_u8, fold_u8, finish_u8},
	[NK_PHYSICAL_U16] = {sizeof(state_u16), extreme_u16, fold_u16, finish_u16},
	[NK_PHYSICAL_U32] = {sizeof(state_u32), extreme_u32, fold_u32, finish_u32},
	[NK_PHYSICAL_U64] = {sizeof(state_u64), extreme_u64, fold_u64, finish_u64},
	[NK_PHYSICAL_F32] = {sizeof(state_f32), extreme_f32, fold_f32, finish_f32},
	[NK_PHYSICAL_F64] = {sizeof(state_f64), extreme_f64, fold_f64, finish_f64},
};

enum { GREATEST = 1, POISONED = 2 };

static nk_status extreme_update(const nk_call *call, void *states, const uint32_t *groups,
                                nk_array *const *args, int64_t n_rows, int64_t order, nk_arena *arena,
                                nk_error *err)
{
	(void)order, (void)arena;
	int64_t flag = nk__agg_flag(call);
	bool greatest = flag & GREATEST, poisoned = flag & POISONED;
	NK_AUTO(nk_array) flat = NULL;
	NK_TRY(nk__flat(call, args[0], &flat, err));
	nk_physical physical = flat->physical;
	if (call->dtype->id == NK_TYPE_DECIMAL && physical == NK_PHYSICAL_I64) {
		int64_t best;
		if (groups)
			extreme_narrow(states, groups, flat->values, flat->validity, n_rows, greatest, false);
		else if (NK_ISA_TABLE(nk__reduce)
		             ->extreme[physical][greatest](flat->values, flat->validity, n_rows, &best))
			extreme_narrow(states, NULL, &best, NULL, 1, greatest, false);
		return NK_OK;
	}
	if (physical == NK_PHYSICAL_BOOL) {
		for (int64_t i = 0; i < n_rows; i++) {
			uint8_t value = nk_bitmap_get(flat->values, i);
			if (nk_array_is_valid(flat, i))
				meet_u8((state_u8 *)states + nk__group(groups, i), value, greatest, false);
		}
		return NK_OK;
	}
	bool is_float = nk_type_is_float(call->dtype->id);
	if (groups || (is_float && poisoned)) {
		loops[physical].scan(states, groups, flat->values, flat->validity, n_rows, greatest, poisoned);
		return NK_OK;
	}
	__int128 best = 0;
	if (NK_ISA_TABLE(nk__reduce)->extreme[physical][greatest](flat->values, flat->validity, n_rows, &best))
		loops[physical].scan(states, NULL, &best, NULL, 1, greatest, false);
	else if (is_float) /* NaNs or nothing */
		loops[physical].scan(states, NULL, flat->values, flat->validity, n_rows, greatest, false);
	return NK_OK;
}

static nk_status extreme_merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                               int64_t n, nk_arena *arena, nk_error *err)
{
	(void)arena, (void)err;
	int64_t flag = nk__agg_flag(call);
	loops[call->dtype->physical].fold(states, groups, others, n, flag & GREATEST, flag & POISONED);
	return NK_OK;
}

static nk_status extreme_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                                nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	nk_physical physical = call->dtype->physical;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, physical, n_groups, true, &result, err));
	result->n_nulls = -1;
	uint8_t *validity = nk_array_validity(result);
	if (physical == NK_PHYSICAL_BOOL) {
		const state_u8 *from = states;
		for (int64_t g = 0; g < n_groups; g++) {
			nk_bitmap_put(nk_array_values(result), g, from[g].value);
			nk_bitmap_put(validity, g, from[g].met);
		}
		*out = NK_STEAL(result);
		return NK_OK;
	}
	loops[physical].finish(nk_array_values(result), validity, states, n_groups);
	if (call->dtype->id == NK_TYPE_DECIMAL)
		return nk_decimal_narrow(call->memory, call->dtype, NK_STEAL(result), out, err);
	*out = NK_STEAL(result);
	return NK_OK;
}

/* One aggregate per state size; which loops run is read from the dtype. */
static const nk_aggregate small_extreme = {16, extreme_update, extreme_merge, extreme_finish};
static const nk_aggregate wide_extreme = {32, extreme_update, extreme_merge, extreme_finish};
_Static_assert(sizeof(state_f64) == 16 && sizeof(state_i128) == 32 && sizeof(state_narrow) == 32,
               "sizes of states");

/* ---- Text ---- */

typedef struct text_state {
	char *bytes;
	uint32_t n_bytes, capacity;
	int64_t met;
} text_state;

static nk_status text_meet(text_state *state, const char *bytes, uint32_t n_bytes, bool greatest,
                           nk_arena *arena, nk_error *err)
{
	if (state->met) {
		uint32_t n = n_bytes < state->n_bytes ? n_bytes : state->n_bytes;
		int order = n ? memcmp(bytes, state->bytes, n) : 0;
		order = order ? order : (n_bytes > state->n_bytes) - (n_bytes < state->n_bytes);
		if (greatest ? order <= 0 : order >= 0)
			return NK_OK;
	}
	if (n_bytes > state->capacity) {
		uint32_t capacity = n_bytes < 16 ? 16 : n_bytes < UINT32_MAX / 2 ? 2 * n_bytes : n_bytes;
		void *room;
		NK_TRY(nk_arena_alloc(arena, capacity, &room, err));
		state->bytes = room;
		state->capacity = capacity;
	}
	if (n_bytes > 0)
		memcpy(state->bytes, bytes, n_bytes);
	state->n_bytes = n_bytes;
	state->met = 1;
	return NK_OK;
}

static nk_status text_update(const nk_call *call, void *states, const uint32_t *groups, nk_array *const *args,
                             int64_t n_rows, int64_t order, nk_arena *arena, nk_error *err)
{
	(void)order;
	bool greatest = nk__agg_flag(call) & GREATEST;
	const nk_view *views = args[0]->values;
	for (int64_t i = 0; i < n_rows; i++) {
		if (!nk_array_is_valid(args[0], i))
			continue;
		const nk_view *view = &views[nk_array_index(args[0], i)];
		NK_TRY(text_meet((text_state *)states + nk__group(groups, i), nk_view_bytes(view, args[0]->heap),
		                 view->n_bytes, greatest, arena, err));
	}
	return NK_OK;
}

static nk_status text_merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                            int64_t n, nk_arena *arena, nk_error *err)
{
	bool greatest = nk__agg_flag(call) & GREATEST;
	const text_state *from = others;
	for (int64_t i = 0; i < n; i++)
		if (from[i].met)
			NK_TRY(text_meet((text_state *)states + nk__group(groups, i), from[i].bytes, from[i].n_bytes,
			                 greatest, arena, err));
	return NK_OK;
}

static nk_status text_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                             nk_error *err)
{
	const text_state *from = states;
	NK_AUTO(nk_builder) builder = NULL;
	NK_TRY(nk_builder_new(call->memory, call->dtype, &builder, err));
	for (int64_t g = 0; g < n_groups; g++)
		if (from[g].met)
			NK_TRY(
				nk_builder_append_bytes(builder, from[g].bytes ? from[g].bytes : "", from[g].n_bytes, err));
		else
			NK_TRY(nk_builder_append_null(builder, err));
	return nk_builder_finish(builder, out, err);
}

static const nk_aggregate text_extreme = {sizeof(text_state), text_update, text_merge, text_finish};

/* ---- Categories: codes in the order of their texts ---- */

typedef struct category_state {
	uint64_t code;
	int64_t met;
} category_state;

static void category_meet(const nk_call *call, category_state *state, uint64_t code, bool greatest)
{
	int order = state->met ? nk_categories_compare(call->dtype->categories, code, state->code) : 0;
	if (!state->met || (greatest ? order > 0 : order < 0))
		*state = (category_state){code, 1};
}

static nk_status category_update(const nk_call *call, void *states, const uint32_t *groups,
                                 nk_array *const *args, int64_t n_rows, int64_t order, nk_arena *arena,
                                 nk_error *err)
{
	(void)order, (void)arena, (void)err;
	bool greatest = nk__agg_flag(call) & GREATEST;
	for (int64_t i = 0; i < n_rows; i++)
		if (nk_array_is_valid(args[0], i))
			category_meet(call, (category_state *)states + nk__group(groups, i),
			              nk_category_code(args[0], nk_array_index(args[0], i)), greatest);
	return NK_OK;
}

static nk_status category_merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                                int64_t n, nk_arena *arena, nk_error *err)
{
	(void)arena, (void)err;
	bool greatest = nk__agg_flag(call) & GREATEST;
	const category_state *from = others;
	for (int64_t i = 0; i < n; i++)
		if (from[i].met)
			category_meet(call, (category_state *)states + nk__group(groups, i), from[i].code, greatest);
	return NK_OK;
}

static nk_status category_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                                 nk_error *err)
{
	const category_state *from = states;
	NK_AUTO(nk_builder) builder = NULL;
	NK_TRY(nk_builder_new(call->memory, call->dtype, &builder, err));
	for (int64_t g = 0; g < n_groups; g++)
		if (from[g].met)
			NK_TRY(nk_builder_append_integer(builder, from[g].code, err));
		else
			NK_TRY(nk_builder_append_null(builder, err));
	return nk_builder_finish(builder, out, err);
}

static const nk_aggregate category_extreme = {sizeof(category_state), category_update, category_merge,
                                              category_finish};

/* ---- Binding ---- */

static nk_status bind_extreme(nk_bind *bind, int64_t flag, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	if (nk_type_is_nested(dtype->id))
		return nk__refuse_aggregate(bind, err);
	const nk_aggregate *aggregate = dtype->id == NK_TYPE_NULL             ? &nk__nothing_aggregate
	                                : nk_type_is_textual(dtype->id)       ? &text_extreme
	                                : dtype->id == NK_TYPE_CATEGORICAL    ? &category_extreme
	                                : dtype->physical == NK_PHYSICAL_I128 ? &wide_extreme
	                                                                      : &small_extreme;
	return nk__bind_aggregate(bind, aggregate, dtype, flag, err);
}

static nk_status bind_min(nk_bind *bind, nk_error *err) { return bind_extreme(bind, 0, err); }
static nk_status bind_max(nk_bind *bind, nk_error *err) { return bind_extreme(bind, GREATEST, err); }
static nk_status bind_nan_min(nk_bind *bind, nk_error *err) { return bind_extreme(bind, POISONED, err); }
static nk_status bind_nan_max(nk_bind *bind, nk_error *err)
{
	return bind_extreme(bind, GREATEST | POISONED, err);
}

const nk_func nk__funcs_aggregate_minmax[] = {
	{
		.name = "min",
		.args = "x",
		.doc = "The least value; NaN only where nothing else is there. Null of no values.",
		.example = "min([3, null, 1]) == [1]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bends = true,
		.bind = bind_min,
	},
	{
		.name = "max",
		.args = "x",
		.doc = "The greatest value; NaN only where nothing else is there. Null of no values.",
		.example = "max([3, null, 1]) == [3]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bends = true,
		.bind = bind_max,
	},
	{
		.name = "nan_min",
		.args = "x",
		.doc = "The least value, NaN if there is one.",
		.example = "nan_min([3.0, null, 1.0]) == [1.0]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bends = true,
		.bind = bind_nan_min,
	},
	{
		.name = "nan_max",
		.args = "x",
		.doc = "The greatest value, NaN if there is one.",
		.example = "nan_max([3.0, null, 1.0]) == [3.0]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bends = true,
		.bind = bind_nan_max,
	},
	{0},
};
